"""The bare loop, as a program: reads each note and fills the two full-text tables of notes.

Like Brain's own, the tables have no copy of the text, and write few large pages.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator

LARGE = 700  # characters of a passage, as in Brain
TABLES = {
    "notes": "title, aliases, headings, folder, tags, body",
    "passages": "title, heading, text",
}


def notes(root: str) -> Iterator[str]:
    for folder, _, names in os.walk(root):
        for name in names:
            if name.endswith(".md"):
                yield os.path.join(folder, name)


def passages(text: str) -> Iterator[str]:
    """The text in pieces, cut at line ends."""
    start = 0
    while start < len(text):
        stop = start + LARGE
        if stop < len(text):
            stop = text.rfind("\n", start + 1, stop) + 1 or stop
        yield text[start:stop]
        start = stop


def index(root: str, database: str) -> None:
    """Read each file and insert its text twice, whole and in passages, in one transaction."""
    db = sqlite3.connect(database, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    for table, columns in TABLES.items():
        form = "content = '', tokenize = 'porter unicode61 remove_diacritics 2'"
        db.execute(f"CREATE VIRTUAL TABLE {table} USING fts5 ({columns}, {form})")
        for option, value in (("hashsize", 4_194_304), ("pgsz", 16_000)):
            db.execute(f"INSERT INTO {table} ({table}, rank) VALUES (?, ?)", (option, value))
    db.execute("BEGIN")
    for path in notes(root):
        folder, name = os.path.split(path)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        db.execute("INSERT INTO notes VALUES (?, '', '', ?, '', ?)", (name, folder, text))
        rows = ((name, passage) for passage in passages(text))
        db.executemany("INSERT INTO passages VALUES (?, '', ?)", rows)
    db.execute("COMMIT")
    db.close()


if __name__ == "__main__":
    index(sys.argv[1], sys.argv[2])

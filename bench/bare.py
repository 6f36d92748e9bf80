"""The bare loop, as a program: reads each note and inserts its whole text into FTS5."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator


def notes(root: str) -> Iterator[str]:
    for folder, _, names in os.walk(root):
        for name in names:
            if name.endswith(".md"):
                yield os.path.join(folder, name)


def index(root: str, database: str) -> None:
    """Read each file and insert its whole text into FTS5, in one transaction."""
    db = sqlite3.connect(database, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("CREATE VIRTUAL TABLE notes USING fts5 (path, text)")
    db.execute("BEGIN")
    for path in notes(root):
        with open(path, encoding="utf-8") as file:
            db.execute("INSERT INTO notes VALUES (?, ?)", (path, file.read()))
    db.execute("COMMIT")
    db.close()


if __name__ == "__main__":
    index(sys.argv[1], sys.argv[2])

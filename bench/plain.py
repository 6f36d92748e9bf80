"""Plain FTS5, to compare with: one table, the words joined by OR, bm25."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable

from brain.words import STOP_WORDS

Search = Callable[[str, int], list[str]]


def build(
    texts: Iterable[tuple[str, str]], tokenize: str = "unicode61", stop: bool = False
) -> Search:
    """A search over (id, text) that answers with the best ids; `stop` leaves stop words out."""
    db = sqlite3.connect(":memory:")
    db.execute(f"CREATE VIRTUAL TABLE plain USING fts5 (id UNINDEXED, text, tokenize='{tokenize}')")
    db.executemany("INSERT INTO plain VALUES (?, ?)", texts)
    sql = "SELECT id FROM plain WHERE plain MATCH ? ORDER BY rank LIMIT ?"

    def search(question: str, limit: int) -> list[str]:
        if not (wanted := expression(question, stop)):
            return []
        return [id for (id,) in db.execute(sql, (wanted, limit))]

    return search


def expression(question: str, stop: bool = False) -> str:
    """Every word, quoted, joined by OR."""
    words = list(dict.fromkeys(re.findall(r"\w+", question.lower())))
    loud = [word for word in words if word not in STOP_WORDS] if stop else words
    return " OR ".join(f'"{word}"' for word in loud or words)

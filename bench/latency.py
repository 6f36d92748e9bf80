"""How fast a question is answered at 100,000 passages, next to a bare FTS5 query."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import brain
from bench.__main__ import cpu, lay
from bench.measure import machine
from bench.plain import expression
from bench.scoring import quantile
from brain.api import Brain
from brain.index import fulltext, read
from brain.index.read import Filters

PASSAGES, ASKED = 100_000, 200
SEEN = 2_000  # passages of which the questions are made


def report() -> Iterator[str]:
    """The table, as lines of Markdown."""
    root, state = lay(PASSAGES)
    with brain.open(root, state=state) as opened:
        opened.sync()
        yield from measured(opened)


def measured(opened: Brain) -> Iterator[str]:
    """Ask an open vault everything, in turns with the bare query."""
    questions = asked(opened)
    seconds: dict[str, list[float]] = {name: [] for name in _jobs(opened)}
    for question in questions:
        for name, job in _jobs(opened).items():
            seconds[name].append(cpu(job, question))
    contexts = [cpu(lambda q: opened.context(q, check=False), q) for q in questions]
    yield f"On {machine()}."
    yield f"{fulltext.size(opened.vault.index, 'passages'):,} passages, {len(questions)} questions:"
    yield from ("", "| CPU | p50 | p95 | promised |", "|---|---|---|---|")
    yield _row("the bare query", seconds["bare"])
    yield _row("`search`", seconds["brain"], "p95 < 25 ms")
    shares = [ours / theirs for ours, theirs in zip(seconds["brain"], seconds["bare"], strict=True)]
    middle = quantile(seconds["brain"], 0.5) / quantile(seconds["bare"], 0.5)
    yield f"| p50 of `search` to p50 of the bare query | {middle:.2f} x | | ≤ 3 x |"
    yield f"| `search` to the bare query, by question | {quantile(shares, 0.5):.2f} x | | |"
    yield _row("`recall`", contexts, "< 50 ms")


def _row(what: str, seconds: Sequence[float], promised: str = "") -> str:
    p50, p95 = (quantile(seconds, share) * 1e3 for share in (0.5, 0.95))
    return f"| {what} | {p50:.1f} ms | {p95:.1f} ms | {promised} |"


def _jobs(opened: Brain) -> dict[str, Callable[[str], object]]:
    return {
        "bare": lambda question: bare(opened.vault.index.db, question),
        "brain": lambda question: opened.search(question, check=False),
    }


def bare(db: sqlite3.Connection, question: str) -> object:
    """The same words on the same two tables of notes, joined by OR."""
    found = []
    for table in ("notes", "passages"):
        sql = f"SELECT rowid, bm25({table}_fts) FROM {table}_fts WHERE {table}_fts MATCH ?"
        given = (expression(question, stop=True),)
        found += db.execute(f"{sql} ORDER BY rank LIMIT 10", given).fetchall()
    return found


def asked(opened: Brain, seed: int = 9) -> list[str]:
    """Two to six words of one passage each, in turn a rare one and any."""
    rng = random.Random(seed)
    rows = read.listed(opened.vault.index, Filters(scopes=("sources",)), SEEN)
    words = [some for row in rows if len(set(some := _content(row.text))) > 3]
    common = Counter(word for some in words for word in set(some))
    out = []
    for some in rng.sample(words, min(ASKED, len(words))):
        rare = sorted(set(some), key=lambda word: (common[word], word))[: len(set(some)) // 2]
        drawn = (rng.choice(some if turn % 2 else rare) for turn in range(rng.randint(2, 6)))
        out.append(" ".join(dict.fromkeys(drawn)))
    return out


def _content(text: str) -> list[str]:
    """Words that say something: no small ones, no properties, no code."""
    return [word for word in text.lower().split() if word.isalpha() and len(word) > 4]

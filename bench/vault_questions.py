"""How well Brain finds the notes that answer the questions of people: a vault, and a list of them.

The list is tab-separated: style, question, answering notes separated by `|`, and what else there
is. The notes are copied into an empty vault, and searched through the public API with the default
scopes.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import brain
from bench import ladder, plain, reference
from bench.measure import machine
from bench.scoring import interval
from brain.operations.search import embed

DEPTH = 10
HEAD = "| | hit@1 | hit@5 | hit@10 | MRR@10 | 95 % interval |"
Search = Callable[[str], list[str]]


class Question(NamedTuple):
    style: str
    text: str
    answers: frozenset[str]


def questions(folder: Path) -> list[Question]:
    """Return the questions next to a folder: `help-questions.tsv` for `help-vault`."""
    path = folder.parent / f"{folder.name.removesuffix('-vault')}-questions.tsv"
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line]
    found = [Question(row[0], row[1], frozenset(row[2].split("|"))) for row in rows]
    return [question for question in found if question.style != "style"]


def places(asked: Sequence[Question], search: Search) -> list[int]:
    """Return where the first answering note of each question is, from 1; 0 if it is not there."""
    found = [list(dict.fromkeys(search(question.text)))[:DEPTH] for question in asked]
    return [
        next((at for at, path in enumerate(paths, 1) if path in question.answers), 0)
        for question, paths in zip(asked, found, strict=True)
    ]


def by_brain(root: Path, asked: Sequence[Question]) -> list[int]:
    with brain.open(root, state=root.parent / "state") as opened:
        opened.sync()
        embed(opened.vault)

        def search(question: str) -> list[str]:
            return [hit.row.path for hit in opened.search(question, limit=DEPTH, check=False)]

        return places(asked, search)


def by_plain(folder: Path, asked: Sequence[Question]) -> list[int]:
    """Ask one FTS5 table of whole notes."""
    notes = sorted(path for path in folder.rglob("*.md") if "/." not in path.as_posix())
    texts = [
        (path.relative_to(folder).as_posix(), f"{path.stem}\n{path.read_text(encoding='utf-8')}")
        for path in notes
    ]
    table = plain.build(texts, "porter unicode61 remove_diacritics 2")
    return places(asked, lambda question: table(question, DEPTH))


def report(folder: Path, work: Path, other: Path | None, model: str = "") -> Iterator[str]:
    """All tables, as lines of Markdown; also with this model of a hybrid search, if there is
    one."""
    root = work / "questions" / "vault"
    shutil.rmtree(root.parent, ignore_errors=True)
    shutil.copytree(folder, root)
    (root / "40_Brain").mkdir(exist_ok=True)
    asked = questions(folder)
    yield f"On {machine()}. {len(asked)} questions."
    whole = by_brain(root, asked)
    found = {"**Brain**": whole, "plain FTS5": by_plain(folder, asked)}
    if other:
        found["reference"] = places(asked, reference.notes(other, folder))
    if model:
        with ladder.without([ladder.hybrid(model)], root):
            found["**Brain, hybrid**"] = by_brain(root, asked)
        if other:
            found["reference, hybrid"] = places(asked, reference.notes(other, folder, model))
    for style in ("", *dict.fromkeys(question.style for question in asked)):
        some = [at for at, question in enumerate(asked) if style in ("", question.style)]
        title = f"{style.capitalize() or 'All'}, {len(some)} questions"
        yield from ("", f"#### {title}", "", HEAD, "|---|---|---|---|---|---|")
        yield from (_row(what, [every[at] for at in some]) for what, every in found.items())
    if other:
        yield f"\nBrain minus the reference, MRR@10: {_difference(whole, found['reference'])}."
    if other and model:
        pair = found["**Brain, hybrid**"], found["reference, hybrid"]
        yield f"With meaning: {_difference(*pair)}."
    yield from ("", "| without | MRR@10 | lost |", "|---|---|---|")
    for step in (*ladder.EVERY, *ladder.NOTES):
        with ladder.without([step], root):
            less = by_brain(root, asked)
        yield f"| {step.name} | {_mrr(less):.3f} | {_difference(whole, less)} |"


def _row(what: str, found: Sequence[int]) -> str:
    hits = [sum(0 < at <= depth for at in found) / len(found) for depth in (1, 5, 10)]
    low, high = interval([_reciprocal(at) for at in found])
    cells = [*(f"{hit:.3f}" for hit in hits), f"{_mrr(found):.3f}", f"{low:.3f} to {high:.3f}"]
    return f"| {what} | {' | '.join(cells)} |"


def _difference(one: Sequence[int], other: Sequence[int]) -> str:
    lost = [_reciprocal(a) - _reciprocal(b) for a, b in zip(one, other, strict=True)]
    low, high = interval(lost)
    return f"{sum(lost) / len(lost):+.3f} ({low:+.3f} to {high:+.3f})"


def _reciprocal(place: int) -> float:
    return 1 / place if place else 0.0


def _mrr(found: Sequence[int]) -> float:
    return sum(map(_reciprocal, found)) / len(found)

"""How well Brain finds what was said: LoCoMo's questions, asked of a real vault.

The vault is written, synced and searched through the public API, with nothing bypassed and nothing
set but the scope, the agent and the limit.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import brain
from bench import ladder, locomo, plain, reference
from bench.locomo import Question, Turn
from bench.measure import machine
from bench.scoring import METRICS, Scores, interval, mean, quantile, score
from brain.operations.search import embed

DEPTH = 50
HEAD = "| | R@1 | R@5 | R@10 | R@20 | MRR | nDCG@10 |"
SHOWN = ("R@10", "MRR", "nDCG@10")


class Result(NamedTuple):
    question: Question
    scores: Scores
    cpu: float  # seconds


Ask = Callable[[Question], list[str]]


def ask(questions: Sequence[Question], search: Ask) -> list[Result]:
    """Ask everything and score it."""
    out = []
    for question in questions:
        started = time.process_time()
        keys = search(question)
        cpu = time.process_time() - started
        out.append(Result(question, score(keys, question.evidence), cpu))
    return out


def by_brain(root: Path, questions: Sequence[Question], pooled: bool = False) -> list[Result]:
    """Ask Brain: each question in its own conversation, or in all of them."""
    with brain.open(root, state=root.parent / "state") as vault:
        vault.sync()
        embed(vault.vault)

        def search(question: Question) -> list[str]:
            agent = "" if pooled else question.conversation
            answer = vault.search(question.text, scopes=["sessions"], agent=agent, limit=DEPTH)
            return [f"{hit.row.agent}/{hit.row.ref}" for hit in answer.results]

        return ask(questions, search)


def by_plain(
    turns: Sequence[Turn],
    questions: Sequence[Question],
    pooled: bool = False,
    tokenize: str = "unicode61",
    stop: bool = False,
) -> list[Result]:
    """Ask bare SQLite, where a turn is its speaker and its text."""
    texts: dict[str, list[tuple[str, str]]] = {}
    for turn in turns:
        where = "" if pooled else turn.conversation
        texts.setdefault(where, []).append((turn.key, f"{turn.speaker}: {turn.text}"))
    tables = {name: plain.build(said, tokenize, stop) for name, said in texts.items()}
    return ask(questions, lambda q: tables["" if pooled else q.conversation](q.text, DEPTH))


def by_reference(
    path: Path, turns: Sequence[Turn], questions: Sequence[Question], model: str = ""
) -> list[Result]:
    """Ask the reference, each question in its own conversation."""
    said: dict[str, list[Turn]] = {}
    for turn in turns:
        said.setdefault(turn.conversation, []).append(turn)
    tables = {name: reference.turns(path, some, model) for name, some in said.items()}
    return ask(questions, lambda q: tables[q.conversation](q.text)[:DEPTH])


def report(data: Path, work: Path, other: Path | None = None, model: str = "") -> Iterator[str]:
    """All tables, as lines of Markdown; also with this model of a hybrid search, if there is
    one."""
    root = work / "locomo" / "vault"
    shutil.rmtree(root.parent, ignore_errors=True)
    turns, every = locomo.read(data)
    locomo.lay(root, turns)
    headline = [q for q in every if q.category != locomo.ADVERSARIAL]
    known = sorted({q.conversation for q in every})
    yield f"On {machine()}."
    yield f"{len(turns):,} turns of {len(known)} conversations, {len(headline)} questions with"
    yield f"evidence, and {len(every) - len(headline)} adversarial ones."
    for pooled in (False, True):
        yield from _quality(root, turns, every, pooled, other)
    if model:
        yield from _with_meaning(root, turns, headline, model, other)
    yield from _one_less(root, headline)


def _quality(
    root: Path, turns: Sequence[Turn], every: Sequence[Question], pooled: bool, other: Path | None
) -> Iterator[str]:
    where = "All conversations in one search" if pooled else "Each question in its conversation"
    yield from ("", f"### {where}", "", HEAD, "|---|---|---|---|---|---|---|")
    found = by_brain(root, every, pooled)
    head = _headline(found)
    yield _row("**Brain**", head)
    yield f"| 95 % interval | {' | '.join(_interval(head, metric) for metric in METRICS)} |"
    yield _row("plain FTS5", _headline(by_plain(turns, every, pooled)))
    if other and not pooled:
        yield _row("reference", _headline(by_reference(other, turns, every)))
    for number, name in locomo.CATEGORIES.items():
        some = [one for one in found if one.question.category == number]
        yield _row(f"{name}, {len(some)} questions", some)
    for name in sorted({q.conversation for q in every}):
        some = [one for one in head if one.question.conversation == name]
        yield _row(f"{name}, {len(some)} questions", some)
    cpu = [one.cpu * 1e3 for one in found]
    yield f"\nCPU a question for {DEPTH} results, the vault checked before each: p50"
    yield f"{quantile(cpu, 0.5):.1f} ms, p95 {quantile(cpu, 0.95):.1f} ms."


def _with_meaning(
    root: Path, turns: Sequence[Turn], asked: Sequence[Question], model: str, other: Path | None
) -> Iterator[str]:
    """With `searchProvider: hybrid`, this model and nothing else set."""
    yield from ("", "### With `searchProvider: hybrid`", "", HEAD, "|---|---|---|---|---|---|---|")
    step = ladder.hybrid(model)
    with ladder.without([step], root):
        found = by_brain(root, asked)
        yield _row(f"`{step.name}`", found)
        yield f"| 95 % interval | {' | '.join(_interval(found, metric) for metric in METRICS)} |"
        yield _row(f"`{step.name}`, in all", by_brain(root, asked, pooled=True))
    if other:
        yield _row("reference", by_reference(other, turns, asked, model))


def _headline(found: Sequence[Result]) -> list[Result]:
    return [one for one in found if one.question.category != locomo.ADVERSARIAL]


def _interval(found: Sequence[Result], metric: str) -> str:
    low, high = interval([one.scores[metric] for one in found])
    return f"{low:.3f} to {high:.3f}"


def _row(what: str, found: Sequence[Result], metrics: Sequence[str] = METRICS) -> str:
    scores = [one.scores for one in found]
    return f"| {what} | {' | '.join(f'{mean(scores, metric):.3f}' for metric in metrics)} |"


def _one_less(root: Path, asked: Sequence[Question]) -> Iterator[str]:
    names = sorted({q.conversation for q in asked})
    yield from ("", "### Everything but one", "")
    yield f"| without | R@10 | MRR | nDCG@10 | nDCG@10 lost | {' | '.join(names)} | lost in all |"
    yield f"|---|---|---|---|---|{'---|' * len(names)}---|"
    whole, in_all = by_brain(root, asked), by_brain(root, asked, pooled=True)
    for step in (*ladder.TURNS, *ladder.EVERY):
        with ladder.without([step], root):
            less, less_in_all = by_brain(root, asked), by_brain(root, asked, pooled=True)
        losses = [_lost(whole, less, name) for name in names]
        cells = [_lost(whole, less, interval_too=True), *losses, _lost(in_all, less_in_all)]
        yield _row(step.name, less, SHOWN) + f" {' | '.join(cells)} |"


def _lost(
    whole: Sequence[Result], less: Sequence[Result], name: str = "", interval_too: bool = False
) -> str:
    """How much nDCG@10 falls, in all conversations or in one."""
    pairs = zip(whole, less, strict=True)
    lost = [
        a.scores["nDCG@10"] - b.scores["nDCG@10"]
        for a, b in pairs
        if name in ("", a.question.conversation)
    ]
    said = f"{sum(lost) / len(lost):+.3f}"
    low, high = interval(lost)
    return f"{said} ({low:+.3f} to {high:+.3f})" if interval_too else said

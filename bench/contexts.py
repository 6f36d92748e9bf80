"""How often a context has what answers a question: with its text, or at least by name.

Questions are those of a vault of notes, of LoCoMo's conversations, and of the demo vault
(`demo-questions.tsv`: written from its notes and memories, without running a search). An answer is
the path of a note, or behind `=` words of a memory or item. Within conversations it is a turn.

The reference packs the notes or turns that it ranks by the same policy, with the same counter of
tokens and the same wrapper around each of them.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import brain
from bench import locomo, reference, vault_questions
from bench.measure import machine
from bench.scoring import interval
from brain import new_vault
from brain.context.budget import divide, fit
from brain.context.parts import Package, Part, Passage
from brain.operations import usage
from brain.operations.search import embed
from brain.token_count import estimate

BUDGETS = (500, 1_500, 5_000)
DEMO = Path(__file__).parent / "demo-questions.tsv"
GATE, HYBRID_GATE = 0.1, 0.5  # score that the best note of the reference must have
Asked = Sequence[tuple[str, frozenset[str], str]]  # question, answers, agent


class Given(NamedTuple):
    """What a context has of the answers: their text, or their names."""

    text: bool
    named: bool


Pack = Callable[[str, str, int], Package]


def ask(asked: Asked, pack: Pack, budget: int) -> list[Given]:
    """Ask for a context for each question, and look for an answer in it."""
    return [judge(pack(question, agent, budget), answers) for question, answers, agent in asked]


def judge(package: Package, answers: frozenset[str]) -> Given:
    """Return whether one of these answers is in a package."""
    entries = (*package.warnings, *package.memories, *package.pinned, *package.summaries)
    texts = [f"{part.title}: {part.text}" for part in entries]
    held = {part.path for part in package.notes}
    held |= {passage.id for part in package.notes for passage in part.passages}
    held |= {a for a in answers if a[0] == "=" and any(a[1:] in text for text in texts)}
    named = held | {part.path for part in package.further}
    return Given(bool(held & answers), bool(named & answers))


def by_brain(vault: Any, scopes: Sequence[str] = ()) -> Pack:
    def pack(question: str, agent: str, budget: int) -> Package:
        said = vault.context(question, agent=agent, scopes=scopes, budget=budget, check=False)
        return said.fitted.package

    return pack


def by_reference(path: Path, folder: Path, model: str = "") -> Pack:
    """Return the notes that the reference ranks, packed as Brain packs its own."""
    made = reference.load(path).Notes(folder)
    near = reference.cosines(model, made.given) if model else None

    def pack(question: str, _: str, budget: int) -> Package:
        given = (near(question), reference.NOTES_WEIGHT) if near else ()
        ranked = made.rank(question, *given)[:60]
        gate = HYBRID_GATE if near else GATE
        ranked = ranked if ranked and ranked[0][0] >= gate else []
        notes = [
            Part(
                "n-00000000", "note", "", "", made.paths[note], 0,
                passages=tuple(
                    Passage("n-00000000", 100, _text(*made.pieces[piece][1:]), place=place)
                    for piece in pieces[:2]
                ),
            )
            for place, (_, note, pieces, *_) in enumerate(ranked)
        ]  # fmt: skip
        return fit(Package(question, notes=tuple(notes)), divide(budget), "claude", estimate)[0]

    return pack


def _text(above: str, text: str) -> str:
    """Return a passage of the reference as Brain shows its own, below its last heading."""
    return f"## {above.rpartition(' > ')[2]}\n{text}" if above else text


def turns_by_reference(path: Path, turns: Sequence[locomo.Turn], model: str = "") -> Pack:
    """Return the turns that the reference ranks, packed as Brain packs its own."""
    said: dict[str, list[locomo.Turn]] = {}
    for turn in turns:
        said.setdefault(turn.conversation, []).append(turn)
    ranks = {name: reference.turns(path, some, model) for name, some in said.items()}
    known = {turn.key: turn for turn in turns}

    def pack(question: str, agent: str, budget: int) -> Package:
        sessions: dict[str, Part] = {}
        for place, key in enumerate(ranks[agent](question)[:200]):
            turn = known[key]
            file = f"40_Brain/agents/{agent}/sessions/session_{turn.session}.jsonl"
            part = sessions.get(file) or Part("", "session", "", "", file, 0, created=turn.at)
            line = said[agent].index(turn)
            passage = Passage(turn.id, line, turn.text, turn.speaker, place)
            sessions[file] = part._replace(passages=(*part.passages, passage))
        package = Package(question, notes=tuple(sessions.values()))
        return fit(package, divide(budget), "claude", estimate)[0]

    return pack


def report(
    work: Path, folder: Path | None, data: Path | None, other: Path | None, model: str = ""
) -> Iterator[str]:
    """All tables, as lines of Markdown."""
    yield f"On {machine()}."
    yield from _demo(work, model)
    if folder:
        yield from _help(work, folder, other, model)
    if data:
        yield from _locomo(work, data, other, model)


def _demo(work: Path, model: str) -> Iterator[str]:
    root = work / "demo-context" / "vault"
    shutil.rmtree(root.parent, ignore_errors=True)
    root.parent.mkdir(parents=True)
    new_vault.create_demo(root)
    rows = [line.split("\t") for line in DEMO.read_text(encoding="utf-8").splitlines()[1:]]
    asked = [(question, frozenset(answers.split("|")), "") for question, answers in rows]
    yield from _table("The demo vault", asked, root, (), None, model)


def _help(work: Path, folder: Path, other: Path | None, model: str) -> Iterator[str]:
    root = work / "help-context" / "vault"
    shutil.rmtree(root.parent, ignore_errors=True)
    shutil.copytree(folder, root)
    (root / "40_Brain").mkdir(exist_ok=True)
    asked = [(q.text, q.answers, "") for q in vault_questions.questions(folder)]
    packed = partial(by_reference, other, folder) if other else None
    yield from _table("Questions of people", asked, root, (), packed, model)


def _locomo(work: Path, data: Path, other: Path | None, model: str) -> Iterator[str]:
    root = work / "locomo-context" / "vault"
    shutil.rmtree(root.parent, ignore_errors=True)
    turns, every = locomo.read(data)
    locomo.lay(root, turns)
    asked = [
        (q.text, frozenset(key.partition("/")[2] for key in q.evidence), q.conversation)
        for q in every
        if q.category != locomo.ADVERSARIAL
    ]
    packed = partial(turns_by_reference, other, turns) if other else None
    yield from _table("Conversations", asked, root, ("sessions",), packed, model)


def _table(
    title: str,
    asked: Asked,
    root: Path,
    scopes: Sequence[str],
    other: Callable[[str], Pack] | None,  # the reference with this model, '' for words alone
    model: str,
) -> Iterator[str]:
    yield from ("", f"### {title}, {len(asked)} questions", "")
    columns = [f"{budget:,} with text | {budget:,} by name" for budget in BUDGETS]
    yield f"| | {' | '.join(columns)} |"
    yield f"|---|{'---|' * 2 * len(BUDGETS)}"
    differences: list[str] = []
    for used in ("", model) if model else ("",):
        with_model = f" with `{used.rstrip('/').rpartition('/')[2]}`" if used else ""
        if used:
            settings = f'searchProvider: hybrid\nvectorModel: "{used}"\n'
            (root / "40_Brain" / "brain.yaml").write_text(settings, encoding="utf-8")
        own = _in_vault(root, asked, scopes)
        yield _row(f"**Brain**{with_model}", own)
        if other:
            pack = other(used)
            theirs = [ask(asked, pack, budget) for budget in BUDGETS]
            yield _row(f"reference{with_model}", theirs)
            differences += [
                f"Brain minus the reference{with_model}, {_differences(*each)}."
                for each in zip(BUDGETS, own, theirs, strict=True)
            ]
    yield from ("", *differences) if differences else ()


def _differences(budget: int, own: Sequence[Given], theirs: Sequence[Given]) -> str:
    pairs = list(zip(own, theirs, strict=True))
    text = _difference([float(a.text) - float(b.text) for a, b in pairs])
    named = _difference([float(a.named) - float(b.named) for a, b in pairs])
    return f"{budget:,} tokens: with text {text}, by name {named}"


def _in_vault(root: Path, asked: Asked, scopes: Sequence[str]) -> list[list[Given]]:
    # on a busy machine, contexts become slow and then smaller
    never = patch.object(usage, "why_degraded", lambda _: "")
    with never, brain.open(root, state=root.parent / "state") as vault:
        vault.sync()
        embed(vault.vault)
        return [ask(asked, by_brain(vault, scopes), budget) for budget in BUDGETS]


def _row(what: str, found: Sequence[Sequence[Given]]) -> str:
    cells = []
    for given in found:
        for of in ("text", "named"):
            cells.append(f"{sum(getattr(one, of) for one in given) / len(given):.3f}")
    return f"| {what} | {' | '.join(cells)} |"


def _difference(lost: Sequence[float]) -> str:
    low, high = interval(lost)
    return f"{sum(lost) / len(lost):+.3f} ({low:+.3f} to {high:+.3f})"

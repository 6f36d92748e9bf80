"""How well Brain finds notes that one knows to be there: the demo vault, and a generated one."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import brain
from bench import plain, vault
from bench.known_items import Item, items, notes
from brain import new_vault
from brain.index import read
from brain.index.read import Filters

COUNT, ASKED = 1_500, 300  # notes of the generated vault, and how many are asked for
DRAWS = 10  # times that each of few notes is asked for, with other words of it
LIMIT = 5
CLOCK = datetime(2026, 10, 1, tzinfo=UTC)


class Asked(NamedTuple):
    """An item with the first results of both."""

    item: Item
    brain: list[str]
    plain: list[str]


def report(work: Path) -> Iterator[str]:
    """All tables, as lines of Markdown."""
    for name, lay in (("The demo vault", _demo), ("A generated vault", _generated)):
        root = work / "notes" / "vault"
        shutil.rmtree(root.parent, ignore_errors=True)
        found = ask(root, lay(root))
        yield from ("", f"### {name}", "")
        yield from _table(found)


def _demo(root: Path) -> Mapping[str, Sequence[str]]:
    """Lay the vault. No word of it stands for another."""
    new_vault.create_demo(root)
    return {}


def _generated(root: Path) -> Mapping[str, Sequence[str]]:
    vault.write(root, COUNT)
    words = vault.vocabulary()
    pairs = {word: (f"{word}like",) for word in words[:: len(words) // 200]}
    lines = [f'  - "{word}={other}"\n' for word, (other,) in pairs.items()]
    (root / "40_Brain" / "brain.yaml").write_text("aliases:\n" + "".join(lines), encoding="utf-8")
    return pairs


def ask(root: Path, synonyms: Mapping[str, Sequence[str]]) -> list[Asked]:
    """Ask Brain and plain FTS5 for the same things, over the same pieces of notes."""
    rng = random.Random(3)
    with brain.open(root, state=root.parent / "state", clock=lambda: CLOCK) as opened:
        opened.sync()
        rows = read.listed(opened.vault.index, Filters(superseded=False), -1)
        every = notes(row for row in rows if row.scope == "sources")
        some = rng.sample(every, min(ASKED, len(every)))
        draws = [items(some, synonyms, rng) for _ in range(DRAWS if len(some) < ASKED else 1)]
        wanted = dict.fromkeys(item for drawn in draws for item in drawn)
        bare = plain.build(
            (row.path, "\n".join((row.heading, row.text, row.tags, row.path))) for row in rows
        )

        def paths(item: Item) -> list[str]:
            hits = opened.search(item.question, limit=LIMIT, check=False).results
            return [hit.row.path for hit in hits]

        return [Asked(item, paths(item), bare(item.question, LIMIT)) for item in wanted]


def _table(found: Sequence[Asked]) -> Iterator[str]:
    yield "| asked by | questions | hit@1 | plain FTS5 | hit@5 | plain FTS5 | |"
    yield "|---|---|---|---|---|---|---|"
    for way in dict.fromkeys(one.item.way for one in found):
        some = [one for one in found if one.item.way == way]
        cells = [
            sum(one.item.wanted in results[:depth] for one, results in pairs) / len(some)
            for depth in (1, LIMIT)
            for pairs in ([(o, o.brain) for o in some], [(o, o.plain) for o in some])
        ]
        worse = "**worse**" if cells[0] < cells[1] or cells[2] < cells[3] else ""
        shown = " | ".join(f"{cell:.3f}" for cell in cells)
        yield f"| {way} | {len(some)} | {shown} | {worse} |"


def worse(found: Sequence[Asked]) -> Iterator[str]:
    """Every question of which plain FTS5 puts what is wanted further up."""
    for one in found:
        places = [
            results.index(one.item.wanted) if one.item.wanted in results else LIMIT
            for results in (one.brain, one.plain)
        ]
        if places[0] > places[1]:
            first = one.brain[0] if one.brain else "nothing"
            yield f"{one.item.way}: {one.item.question!r} wants {one.item.wanted}, got {first}"

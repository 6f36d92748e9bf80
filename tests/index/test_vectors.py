"""The vectors that an index holds: made in order, used again, dropped with their model."""

from __future__ import annotations

from pathlib import Path

import pytest

from brain.api import Brain
from brain.index import read, vectors
from brain.index.read import Filters
from brain.operations import find, lookup
from brain.recall import hybrid
from tests import kit
from tests.conftest import MakeVault, OpenBrain
from tests.embed.kit import Hashing


def by_text(brain: Brain) -> dict[str, bytes]:
    """The vector of each chunk, by what the chunk says."""
    held = dict(vectors.after(brain.vault.index, 0))
    rows = read.rows(brain.vault.index, sorted(held))
    return {f"{row.path} {row.text}": held[row.id] for row in rows}


def test_every_chunk_gets_a_vector_and_nothing_is_asked_twice(
    vault: MakeVault, opened: OpenBrain
) -> None:
    brain, model = opened(vault()), Hashing()
    brain.sync()
    assert vectors.count_missing(brain.vault.index) == size(brain) > 5
    assert hybrid.catch_up(brain.vault.index, model) == 0
    assert len(vectors.after(brain.vault.index, 0)) == size(brain)
    asked = len(model.given)
    assert hybrid.catch_up(brain.vault.index, model) == 0
    assert len(model.given) == asked


def test_an_edit_asks_only_for_what_is_new(vault: MakeVault, opened: OpenBrain) -> None:
    lines = [f"- Fact number {n} is about {word}\n" for n, word in enumerate("abcdefgh")]
    root = vault({"40_Brain/MEMORY.md": "".join(lines)})
    brain, model = opened(root), Hashing()
    brain.sync()
    hybrid.catch_up(brain.vault.index, model)
    model.given.clear()
    (root / "40_Brain/MEMORY.md").write_text("".join([*lines, "- The walrus came\n"]))
    brain.sync()
    hybrid.catch_up(brain.vault.index, model)
    assert model.given == ["The walrus came"]
    assert len(vectors.after(brain.vault.index, 0)) == size(brain) == 9


def test_after_edits_the_vectors_are_those_of_a_new_index(
    vault: MakeVault, opened: OpenBrain, tmp_path: Path
) -> None:
    root = vault()
    brain, model = opened(root), Hashing()
    brain.sync()
    hybrid.catch_up(brain.vault.index, model)
    (root / "Architecture.md").write_text("# Architecture\n\nOne vehicle, one file.\n")
    (root / "Notes/Walrus.md").rename(root / "Notes/Seal.md")
    (root / "40_Brain/sessions/2026-01-01.jsonl").write_text(
        kit.TURN + '{"id": "msg_2", "role": "assistant", "content": "In the zoo."}\n'
    )
    (root / "Notes/Café.md").unlink()
    brain.sync()
    hybrid.catch_up(brain.vault.index, model)
    incremental = by_text(brain)
    brain.sync(rebuild=True)
    hybrid.catch_up(brain.vault.index, Hashing())
    assert by_text(brain) == incremental
    assert len(vectors.after(brain.vault.index, 0)) == len(incremental)


def test_what_is_forgotten_for_good_leaves_no_vector(vault: MakeVault, opened: OpenBrain) -> None:
    brain, model = opened(vault()), Hashing()
    brain.sync()
    hybrid.catch_up(brain.vault.index, model)
    (gone,) = read.by_ref(brain.vault.index, "m-7f3k2ab4")
    brain.forget("m-7f3k2ab4", purge=True)
    brain.sync()
    assert gone.id not in dict(vectors.after(brain.vault.index, 0))
    assert len(dict(vectors.after(brain.vault.index, 0))) > 3


def test_another_model_makes_all_of_them_anew(vault: MakeVault, opened: OpenBrain) -> None:
    brain = opened(vault())
    brain.sync()
    hybrid.catch_up(brain.vault.index, Hashing())
    first = vectors.made(brain.vault.index)
    other = Hashing(16)
    other.name = "other"
    hybrid.catch_up(brain.vault.index, other)
    assert {len(row) for _, row in vectors.after(brain.vault.index, 0)} == {16}
    assert len(vectors.after(brain.vault.index, 0)) == size(brain)
    assert vectors.made(brain.vault.index) != first


def test_what_may_not_be_seen_is_not_seen(vault: MakeVault, opened: OpenBrain) -> None:
    brain = opened(vault())
    brain.sync()
    every = [id for id, _ in _ids(brain)]
    own = Filters(scopes=("memory",), owners=("zoo",))
    rows = read.rows(brain.vault.index, list(vectors.seen(brain.vault.index, every, own)))
    assert {(row.agent, row.scope) for row in rows} == {("zoo", "memory")}
    assert list(vectors.seen(brain.vault.index, [*every, 10**9], Filters(owners=()))) == []


def test_what_passes_is_found_however_far_behind_it_stands(
    vault: MakeVault, opened: OpenBrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    brain = opened(vault())
    brain.sync()
    every = [id for id, _ in _ids(brain)]
    own = Filters(scopes=("memory",), owners=("zoo",))
    whole = list(vectors.seen(brain.vault.index, every, own))
    for step in (1, 2, 5):
        monkeypatch.setattr(vectors, "_STEP", step)
        assert list(vectors.seen(brain.vault.index, every, own)) == whole != []
        assert list(vectors.seen(brain.vault.index, every[:step], own)) == [
            id for id in every[:step] if id in whole
        ]


def test_the_order_given_is_the_order_of_what_is_seen(vault: MakeVault, opened: OpenBrain) -> None:
    brain = opened(vault({"a.md": "one\n", "b.md": "two\n", "c.md": "three\n"}))
    brain.sync()
    every = [id for id, _ in _ids(brain)]
    assert list(vectors.seen(brain.vault.index, every[::-1], Filters())) == every[::-1]


def size(brain: Brain) -> int:
    return len(_ids(brain))


def _ids(brain: Brain) -> list[tuple[int, str]]:
    rows = find.entries(brain.vault, lookup.filters(brain.vault, ["all"]), 100)
    return sorted((row.id, row.path) for row in rows)

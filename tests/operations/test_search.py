"""What an open vault says of itself."""

from __future__ import annotations

import pytest

from brain.errors import NotFound
from brain.operations import doctor
from tests.conftest import MakeVault, OpenBrain
from tests.operations.conftest import Made

NOTE = "40_Brain/MEMORY.md"


def test_a_large_memory_is_one_of_many_characters(vault: MakeVault, opened: OpenBrain) -> None:
    """Not of many bytes, of which a character may take four."""
    line = "- セイウチは貝を食べる\n"
    root = vault({NOTE: line * 5, "40_Brain/brain.yaml": f"maxMemorySize: {5 * len(line)}\n"})
    brain = opened(root)
    brain.sync()
    assert doctor.problems(brain.vault) == []
    (root / NOTE).write_text(line * 6)
    brain.sync()
    ((path, problem),) = doctor.problems(brain.vault)
    assert (path, problem.code) == (NOTE, "large-memory")
    assert problem.message == (
        "holds 78 characters, over maxMemorySize (65);"
        " move old parts into a note in 40_Brain/archive, where `--scope archive` finds it"
    )


SIMILAR = """\
- The walrus eats clams ^m-aaaaaaa1
- A walrus eats clams and snails ^m-aaaaaaa2
- Deploys go out on Tuesdays ^m-aaaaaaa3
"""


def test_similar_memories_without_the_entry_itself(made: Made) -> None:
    brain = made({NOTE: SIMILAR, "Walrus.md": "The walrus eats clams\n"})
    found = brain.similar("m-aaaaaaa1")
    assert [result.id for result in found] == ["m-aaaaaaa2"]
    assert found.query == "m-aaaaaaa1"
    assert len(brain.similar("m-aaaaaaa1", limit=1)) == 1
    with pytest.raises(NotFound):
        brain.similar("m-00000000")


def test_memories_of_one_day_are_not_similar(made: Made) -> None:
    lines = ["2026-03-01: Seals bark ^m-aaaaaaa1", "2026-03-01: Deploys are slow ^m-aaaaaaa2"]
    brain = made({NOTE: "".join(f"- {line}\n" for line in [*lines, "2026-03-01 ^m-aaaaaaa3"])})
    assert brain.similar("m-aaaaaaa1").results == []
    assert len(brain.similar("m-aaaaaaa3")) == 2

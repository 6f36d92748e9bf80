"""What an open vault says of itself."""

from __future__ import annotations

from brain.operations import doctor
from tests.conftest import MakeVault, OpenBrain

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
        " move what is old into a note in 40_Brain/archive, where `--scope archive` finds it"
    )

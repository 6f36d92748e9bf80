"""Feedback changes what is found first, and survives the index."""

from __future__ import annotations

import pytest

from brain.api import Brain
from brain.errors import NotFound
from tests import kit
from tests.conftest import MakeVault, OpenBrain
from tests.operations.conftest import NOTE, Made

SAME = "## Facts\n" + "".join(f"- seals bark, says number {n} ^m-0000000{n}\n" for n in range(5))


def order(brain: Brain) -> list[str]:
    return [hit.row.ref[-1] for hit in brain.search("seals", scopes=["memory"]).results]


def test_what_helped_is_found_sooner(made: Made) -> None:
    brain = made({NOTE: SAME})
    assert order(brain) == ["0", "1", "2", "3", "4"]
    brain.reinforce("m-00000003")
    brain.demote("m-00000000")
    assert order(brain) == ["3", "1", "2", "4", "0"]
    brain.vault.index.close()
    (brain.vault.paths.folder / "brain.db").unlink()
    assert order(brain) == ["3", "1", "2", "4", "0"]
    brain.undo()
    assert order(brain) == ["3", "0", "1", "2", "4"]


def test_the_factors_say_so(made: Made) -> None:
    brain = made({NOTE: SAME})
    brain.reinforce("m-00000003")
    hit = brain.search("seals", scopes=["memory"]).results[0]
    assert hit.factors["feedback"] == pytest.approx(2.718281828 ** (0.2 * 3))
    assert hit.factors["recency"] == pytest.approx(1.0)  # from when it was reinforced


def test_a_high_score_is_looked_for_far_down(made: Made) -> None:
    many = "".join(f"- seals seals seals {n} ^m-{n:08d}\n" for n in range(60))
    brain = made({NOTE: f"## Facts\n{many}- a long line with the word seals once ^m-99999999\n"})
    for _ in range(4):
        brain.reinforce("m-99999999")
    assert brain.search("seals", scopes=["memory"], limit=1).results[0].row.ref == "m-99999999"


def test_a_merge_that_is_undone_counts_no_longer(vault: MakeVault, opened: OpenBrain) -> None:
    brain = opened(vault({"40_Brain/MEMORY.md": "## Facts\n- The seal sings\n"}))
    made = brain.remember("The seal sings")
    assert made.outcome == "duplicate"
    assert brain.show(made.id).hits == 1
    brain.undo()
    brain.refresh()
    assert brain.show(made.id).hits == 0
    brain.sync(rebuild=True)
    assert brain.show(made.id).hits == 0


# -- another memory in the same place ------------------------------------------------------------

QUICK = {
    NOTE: "## Facts\n- The seal sings\n",
    "40_Brain/brain.yaml": "holdSeconds: 0\n",
}


def repo(brain: Brain) -> None:
    """Let the vault be in a repository."""
    kit.lay(brain.vault.paths.root, {".git/HEAD": "0" * 40, ".git/logs/HEAD": "begin\n"})


def checkout(brain: Brain, text: str) -> None:
    """Let git replace the note."""
    git = brain.vault.paths.root / ".git"
    with open(git / "logs/HEAD", "a") as log:
        log.write("a b me <me@example.org> 0 +0000\tcheckout: moving from a to b\n")
    (brain.vault.paths.root / NOTE).write_text(text)


def test_a_memory_that_was_deleted_leaves_nothing_to_the_next(made: Made) -> None:
    """Whether or not a sync ran between."""
    brain = made(QUICK)
    repo(brain)
    old = brain.remember("Deploys of the api go out on Tuesdays").id
    brain.reinforce(old)
    brain.refresh()
    checkout(brain, QUICK[NOTE])
    new = brain.remember("Deploys of the web go out on Thursdays").id
    brain.refresh()
    assert brain.show(new).score == 0
    with pytest.raises(NotFound):
        brain.show(old)
    assert [step.op for step in brain.history(new)] == ["remember"]
    assert [step.op for step in brain.history(old)] == ["remember", "reinforce", "removed"]


def test_two_branches_that_are_switched_do_not_mix_their_memories(made: Made) -> None:
    brain = made(QUICK)
    repo(brain)
    path = brain.vault.paths.root / NOTE
    api = brain.remember("Deploys of the api go out on Tuesdays").id
    brain.reinforce(api)
    brain.refresh()
    one = path.read_text()
    checkout(brain, QUICK[NOTE])
    web = brain.remember("Deploys of the web go out on Thursdays").id
    two = path.read_text()
    for text in (two, one, two, one + two.removeprefix(QUICK[NOTE])):
        checkout(brain, text)
        brain.refresh()
    assert [brain.show(ref).score for ref in (api, web)] == [3, 0]
    brain.forget(web, purge=True)
    assert brain.show(api).score == 3

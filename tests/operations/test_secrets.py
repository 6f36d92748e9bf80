"""No secret that is said to Brain is kept anywhere, and the answer tells that it was left out."""

from __future__ import annotations

import os
import stat
import time

import pytest

from brain import events
from brain.access import Actor
from brain.api import Brain
from brain.errors import BadRequest
from brain.sessions import ids
from tests.operations.conftest import NOTE
from tests.store.kit import SECRET

ID = "m-7f3k2ab4"


def holding(brain: Brain, word: str = SECRET) -> list[str]:
    """The files of the vault and of the state folder that hold a word."""
    return sorted(
        path.name
        for folder in (brain.vault.paths.root, brain.vault.paths.state)
        for path in folder.rglob("*")
        if word in path.name or (path.is_file() and word.encode() in path.read_bytes())
    )


@pytest.mark.parametrize("by", ["", "admin", Actor("admin", "admin", session=SECRET)])
def test_not_in_the_name_of_a_session(brain: Brain, by: Actor | str) -> None:
    brain.remember("Seals bark", session=SECRET, by=by)
    brain.reinforce(ID, session=SECRET, by=by)
    brain.context("seals", session=SECRET, by=by)
    again = brain.context("seals", session=SECRET, by=by)
    assert again.round.number == 2
    brain.journal_write()
    brain.sync()
    assert holding(brain) == []


def test_not_in_a_question(brain: Brain) -> None:
    brain.search(f"seals {SECRET}")
    brain.context(f"seals {SECRET}")
    brain.vault.close()
    assert holding(brain) == []
    asked = [
        e.payload["query"] for _, e in events.after(brain.vault.index, 0) if "query" in e.payload
    ]
    assert asked[0].startswith("seals [redacted:")


def test_what_was_asked_is_for_nobody_else(brain: Brain) -> None:
    brain.context("seals")
    path = brain.vault.state.path
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


@pytest.mark.parametrize("where", ["why", "section", "links"])
def test_wherever_it_stood_the_answer_tells(brain: Brain, where: str) -> None:
    said = f"See {SECRET}"
    options = {where: [said] if where == "links" else said}
    shape = brain.remember("Seals bark", **options)  # type: ignore[arg-type]
    assert shape.redacted
    assert SECRET not in str(shape)
    brain.sync()
    assert holding(brain) == []


def test_so_do_other_verbs(brain: Brain) -> None:
    assert brain.update(ID, "Chose DuckDB", why=f"See {SECRET}").redacted
    assert brain.reinforce(ID, why=f"See {SECRET}").redacted
    assert brain.link(ID, f"[[See {SECRET}]]").redacted
    assert brain.move(ID, f"See {SECRET}").redacted
    assert brain.forget(ID, why=f"See {SECRET}").redacted
    assert brain.undo().redacted == []
    assert brain.pin("Deploys go").redacted == []
    assert holding(brain) == []


def test_while_it_waits_the_answer_holds_no_secret_either(brain: Brain) -> None:
    path = brain.vault.paths.root / NOTE
    path.write_text(path.read_text() + "- typ")
    soon = time.time() + 60
    os.utime(path, (soon, soon))
    shape = brain.remember("Seals bark", links=[f"See {SECRET}"])
    assert shape.state == "pending"
    assert SECRET not in str(shape)


@pytest.mark.parametrize("words", [("key", SECRET), (SECRET, "key")])
def test_an_alias_is_no_place_for_one(brain: Brain, words: tuple[str, str]) -> None:
    with pytest.raises(BadRequest) as error:
        brain.alias_add(words[0], words[1:])
    assert SECRET not in str(error.value)
    assert not (brain.vault.paths.root / "40_Brain/brain.yaml").exists()


def test_not_in_the_id_of_a_session(brain: Brain) -> None:
    session = brain.session_start()
    brain.session_append(session.id, "Seals bark")
    for create in (
        lambda: brain.session_start(SECRET),
        lambda: brain.session_append(SECRET, "Seals bark", create=True),
        lambda: brain.session_fork(session.id, new=SECRET),
    ):
        with pytest.raises(BadRequest, match="secret"):
            create()
    assert SECRET not in ids.of_client("claude", SECRET)
    brain.sync()
    assert holding(brain) == []


@pytest.mark.parametrize("given", [{"name": SECRET}, {"name": "zoe", "about": f"Uses {SECRET}"}])
def test_not_in_an_agent(brain: Brain, given: dict[str, str]) -> None:
    with pytest.raises(BadRequest, match="secret") as refused:
        brain.agent_add(**given)
    assert SECRET not in str(refused.value)
    brain.sync()
    assert holding(brain) == []

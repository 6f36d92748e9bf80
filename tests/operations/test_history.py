"""History and audit show the text that a change left, and the text that it replaced."""

from __future__ import annotations

import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from brain.api import Brain
from brain.open_vault import OpenVault
from brain.vault import layout
from tests import kit
from tests.cli.conftest import Run, run
from tests.operations.conftest import NOTE, Made, note

__all__ = ["run"]  # a fixture


def texts(brain: Brain, id: str) -> list[tuple[str, object, object]]:
    found = brain.history(id)
    return [(each.op, each.data.get("before"), each.data.get("text")) for each in found]


def test_an_audit_shows_the_text_that_was_added(brain: Brain) -> None:
    made = brain.remember("Seals bark")
    line = f"- 2026-03-01: Seals bark ^{made.id}"
    assert brain.audit()[0].data["text"] == line
    assert texts(brain, made.id) == [("remember", None, line)]


def test_every_change_has_the_text_before_and_after_it(brain: Brain) -> None:
    made = brain.remember("Seals bark")
    brain.update(made.id, "Seals bark at dawn")
    brain.tag(made.id, ["sea"])
    first, second = (f"- 2026-03-01: Seals {w} ^{made.id}" for w in ("bark", "bark at dawn"))
    third = second.replace(" ^", " #sea ^")
    assert texts(brain, made.id) == [
        ("remember", None, first),
        ("update", first, second),
        ("tag", second, third),
    ]


def test_the_text_of_a_memory_that_is_gone_is_still_there(brain: Brain) -> None:
    made = brain.remember("Seals bark")
    brain.forget(made.id)
    line = f"- 2026-03-01: Seals bark ^{made.id}"
    assert texts(brain, made.id) == [("remember", None, line), ("forget", line, None)]
    assert [each.data.get("text") for each in brain.audit()] == [None, line]


def test_what_a_person_removed_is_shown(brain: Brain) -> None:
    made = brain.remember("Seals bark")
    line = f"- 2026-03-01: Seals bark ^{made.id}"
    path = brain.vault.paths.root / NOTE
    path.write_text(note(brain).replace(f"{line}\n", ""))
    brain.refresh()
    assert texts(brain, made.id) == [("remember", None, line), ("removed", line, None)]


QUICK = {**kit.VAULT, "40_Brain/brain.yaml": "holdSeconds: 0\n"}


def test_what_another_device_forgot_is_no_removed_memory(made: Made, tmp_path: Path) -> None:
    """But a memory that a person removes later by hand is."""
    brain = made(QUICK)
    ref = brain.remember("Seals bark").id
    with kit.open_brain(brain.vault.paths.root, tmp_path / "other") as other:
        other.forget(ref)
        brain.sync()
        assert [each.op for each in brain.history(ref)] == ["remember", "forget", "removed"]
        assert brain.pending() == other.pending() == []
        assert not brain.doctor().problems
        other.undo()
        brain.sync()
    path = brain.vault.paths.root / NOTE
    path.write_text(note(brain).replace(f"- 2026-03-01: Seals bark ^{ref}\n", ""))
    assert [each.id for each in brain.pending()] == [ref]


def test_changes_of_several_devices_are_in_the_order_of_time(made: Made, tmp_path: Path) -> None:
    """Also if a device has not seen the changes of another."""
    brain = made(QUICK)
    copy = shutil.copytree(brain.vault.paths.root, tmp_path / "copy")
    for text in ("Seals bark", "Seals bark at dawn", "Seals bark at noon"):
        first = brain.remember(text)
    found = layout.find(copy, tmp_path / "other")
    with Brain(OpenVault(found, lambda: kit.NOW + timedelta(minutes=1))) as other:
        second = other.remember("Whales sing")
        other.reinforce("m-7f3k2ab4")
    brain.demote("m-7f3k2ab4")
    journal = brain.vault.paths.root / "40_Brain/journal"
    shutil.copytree(copy / "40_Brain/journal", journal, dirs_exist_ok=True)
    brain.sync()
    ids = [each.id for each in brain.audit() if each.op == "remember"]
    assert ids[:2] == [second.id, first.id]
    assert [each.op for each in brain.history("m-7f3k2ab4")] == ["demote", "reinforce"]
    assert brain.undo().of == brain.audit(ops=["reinforce"])[0].event


def test_a_setting_is_shown(brain: Brain) -> None:
    brain.budget(3000)
    brain.budget(4000)
    found = [(each.data.get("before"), each.data.get("text")) for each in brain.audit()]
    three, four = "budgetCeiling: 3000\n", "budgetCeiling: 4000\n"
    assert [tuple(text and text.strip() for text in pair) for pair in found] == [
        (three.strip(), four.strip()),
        (None, three.strip()),
    ]


def test_a_file_that_cannot_be_read_as_it_is_leaves_the_text_out(brain: Brain) -> None:
    brain.budget(3000)
    settings = brain.vault.paths.root / "40_Brain/brain.yaml"
    settings.write_text("budgetCeiling: 1\nbudgetCeiling: 2\n")
    assert "text" not in brain.audit()[-1].data


def test_a_purged_text_is_not_shown(brain: Brain) -> None:
    made = brain.remember("Seals bark")
    brain.update(made.id, "Seals bark at dawn")
    brain.forget(made.id, purge=True)
    assert "bark" not in str([each.data for each in brain.audit()])


def test_in_words(brain: Brain, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    made = brain.remember("Seals bark")
    brain.update(made.id, "Seals bark at dawn")
    brain.close()
    monkeypatch.setenv("BRAIN_STATE", str(brain._vault.paths.state.parent))
    where = ("--vault", brain._vault.paths.root)
    lines = [f"- 2026-03-01: Seals {words} ^{made.id}" for words in ("bark", "bark at dawn")]
    said = run("audit", *where).out
    assert f"  was: {lines[0]}\n  became: {lines[1]}\n" in said
    assert f"  added: {lines[0]}\n" in said
    found = run("history", made.id, "--json", *where).json["records"]
    assert [record["text"] for record in found] == lines

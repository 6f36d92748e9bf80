"""Another vault comes to lie where one was: nothing of the first gets into it."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from brain.store import door
from tests import kit as base
from tests.store import kit
from tests.store.kit import HELD, LINE, NOTE, QUICK, WATCHED, Open, text

OTHER = {NOTE: "# Another\n\n- Theirs\n", "40_Brain/brain.yaml": ""}


def moved_away(root: Path) -> Path:
    """The vault is elsewhere now, and another one in its place."""
    away = root.with_name("away")
    os.rename(root, away)
    base.lay(root, OTHER)
    return away


def back(root: Path, away: Path) -> None:
    shutil.rmtree(root)
    os.rename(away, root)


@pytest.mark.parametrize("how", [{"config": HELD}, {"settle_after": WATCHED}])
@pytest.mark.parametrize("known", [False, True])
def test_nothing_gets_into_the_other_vault(
    opened: Open, root: Path, how: dict[str, Any], known: bool
) -> None:
    """Whether it waited or was written, the first write of this machine to the vault or not; be
    it asked, drained or written to."""
    if known:
        opened().apply([kit.deed("remember", 7)])
    opened(**how).apply([kit.deed("remember", 1)], wait=0)
    moved_away(root)
    store = opened()
    assert store.promised() == {}
    store.drain()
    assert text(root) == OTHER[NOTE]
    assert kit.records(store) == []
    store.apply([kit.adding("Ours", "m-ours0001", section="")])
    store.drain()
    assert "A new thing" not in text(root)
    assert [record.ref for record in kit.records(store)] == ["m-ours0001"]


def test_one_who_has_the_vault_open_notices_it(opened: Open, root: Path) -> None:
    store = opened(HELD)
    store.apply([kit.deed("remember", 1)], wait=0)
    store.config = QUICK
    away = moved_away(root)
    store.drain()
    assert text(root) == OTHER[NOTE]
    back(root, away)
    store.drain()
    assert LINE in text(root)
    assert [record.op for record in kit.records(store)] == ["remember"]


def test_a_promise_waits_for_its_vault(opened: Open, root: Path) -> None:
    opened(HELD).apply([kit.deed("remember", 1)], wait=0)
    away = moved_away(root)
    store = opened()
    store.apply([kit.adding("Ours", "m-ours0001", section="")])
    [entry] = store.pending()
    assert (entry.state, entry.why) == ("blocked", door.AWAY)
    back(root, away)
    opened().drain()
    assert LINE in text(root)
    assert opened().pending() == []


def test_a_promise_can_be_carried_out_in_the_other_vault(opened: Open, root: Path) -> None:
    opened(HELD).apply([kit.deed("remember", 1)], wait=0)
    moved_away(root)
    store = opened()
    [entry] = store.pending()
    store.release(entry.intent.id)
    assert LINE in text(root)
    assert "- Theirs\n" in text(root)
    assert [record.op for record in kit.records(store)] == ["remember"]
    store.drain()
    assert store.log.empty()


def test_a_promise_can_be_dropped(opened: Open, root: Path) -> None:
    opened(HELD).apply([kit.deed("remember", 1)], wait=0)
    moved_away(root)
    store = opened()
    [entry] = store.pending()
    store.release(entry.intent.id, drop=True)
    assert text(root) == OTHER[NOTE]
    assert store.log.empty()


def test_what_is_in_its_note_waits_for_nothing(opened: Open, root: Path) -> None:
    """It is watched over again if the vault is back soon, and else no more."""
    store = opened(settle_after=WATCHED)
    store.apply([kit.deed("remember", 1)])
    away = moved_away(root)
    assert store.pending() == []
    back(root, away)
    store.drain()
    [entry] = store.open()
    assert entry.state == "written"
    store.clock = lambda: time.time() + 100
    moved_away(root)
    store.drain()
    assert store.log.empty()


def test_a_crash_of_another_vault_is_not_cleared_up_here(opened: Open, root: Path) -> None:
    """The log tells of an attempt that was under way when the process was killed."""
    store = opened(HELD)
    store.apply([kit.deed("remember", 1)], wait=0)
    [entry] = store.open()
    did = {entry.intent.deeds[0].id: ["done", "", LINE, "", ""]}
    group = [entry.intent.id]
    store.log.mark(group, "", entry.at, news=["00"], old="11", aside="x", group=group, did=did)
    moved_away(root)
    store = opened()
    store.drain()
    [entry] = store.pending()
    assert entry.state == "blocked"
    assert kit.records(store) == []
    assert text(root) == OTHER[NOTE]


@pytest.mark.parametrize("how", ["copied", "restored"])
def test_a_copy_of_the_vault_is_the_vault(opened: Open, root: Path, how: str) -> None:
    opened().apply([kit.deed("remember", 7)])
    backup = shutil.copytree(root, root.with_name("backup"))
    store = opened(HELD)
    store.apply([kit.deed("remember", 1)], wait=0)
    if how == "copied":
        backup = shutil.copytree(root, root.with_name("copy"))
    shutil.rmtree(root)
    os.rename(backup, root)
    opened().drain()
    assert LINE in text(root)
    assert opened().pending() == []


def test_purged_words_are_not_kept_for_another_vault(opened: Open, root: Path) -> None:
    opened(HELD).apply([kit.deed("remember", 1)], wait=0)
    moved_away(root)
    store = opened()
    assert store.expunge(["m-new00001"])
    assert store.log.empty()

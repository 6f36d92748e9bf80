"""Editors that have the note open, and save into the file that was displaced."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from brain.errors import BrainError
from brain.vault import swap
from tests.store import kit
from tests.store.kit import LINE, NOTE, WATCHED, Open, text


def test_a_late_save_into_the_displaced_file(opened: Open, root: Path) -> None:
    """An editor opened the note before we wrote, and saves in place after."""
    store = opened(settle_after=WATCHED)
    with open(root / NOTE, "r+") as editor:
        store.apply([kit.deed("remember", 1)])
        editor.write(kit.MEMORY.replace("No emoji", "").rstrip() + "\n- from the editor\n")
        editor.flush()
        assert len(kit.temps(root)) == 1
        assert "from the editor" not in text(root)
        store.settle_after = 0.0
        store.drain()
        assert "- from the editor\n" in text(root)
        assert LINE in text(root)
        assert len(kit.temps(root)) == 1  # it is still open
        editor.write("- and more\n")
    store.drain()
    store.drain()
    assert text(root).count("- from the editor\n") == 1
    assert text(root).count("- and more\n") == 1
    assert text(root).count(LINE) == 1
    assert kit.temps(root) == []
    assert store.log.empty()
    assert not list(store.vault.state.glob("bases/*"))


def test_a_late_save_of_records(opened: Open, root: Path) -> None:
    """Lines of JSON cannot be mixed; records can."""
    store = opened(settle_after=WATCHED)
    with open(root / kit.ITEMS, "r+") as editor:
        store.apply([kit.deed("put", 1)])
        editor.write('[{"id": "item_2", "content": "y"}, {"id": "mine", "content": "z"}]\n')
        editor.truncate()
    store.settle_after = 0.0
    store.drain()
    store.drain()
    from brain.formats import records_json

    found = {
        c.ref: c.text for c in records_json.parse("items", (root / kit.ITEMS).read_bytes()).chunks
    }
    assert set(found) == {"item_2", "mine", "item_n1"}
    assert "y" in found["item_2"]
    assert kit.temps(root) == []


def test_a_late_save_that_cannot_be_merged_is_kept_beside_the_note(
    opened: Open, root: Path
) -> None:
    store = opened(settle_after=WATCHED)
    with open(root / kit.ITEMS, "r+") as editor:
        store.apply([kit.deed("put", 1)])
        editor.write("{{{ half of something")
        editor.truncate()
    store.settle_after = 0.0
    store.drain()
    assert "item_n1" in (root / kit.ITEMS).read_text()
    [copy] = kit.conflicts(root)
    assert next(root.rglob(copy)).read_text() == "{{{ half of something"
    assert kit.temps(root) == []


@pytest.mark.parametrize("way", ["rename", "in place"])
def test_a_save_in_the_moment_of_clearing_up(
    opened: Open, root: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """A person saved right before the swap, and we were killed right after it; who clears up gives
    that its place back just when the person saves once more."""
    real, read, numbers = swap.exchange, swap.read, iter("12")

    def save() -> None:
        line = f"- Person {next(numbers)}.\n"
        changed = text(root).replace("## Key Decisions\n", f"## Key Decisions\n{line}")
        saved = root / NOTE if way == "in place" else root / "x.swp"
        saved.write_text(changed)
        saved.rename(root / NOTE)

    def exchange(temp: str, path: str) -> None:
        monkeypatch.setattr(swap, "exchange", real)
        save()
        real(temp, path)

    def killed(path: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(swap, "exchange", exchange)
    monkeypatch.setattr(swap, "read", killed)
    with pytest.raises(KeyboardInterrupt):
        opened().apply([kit.deed("remember", 1)])
    monkeypatch.setattr(swap, "exchange", exchange)
    monkeypatch.setattr(swap, "read", read)
    store = opened()
    store.drain()
    store.drain()
    for line in ("- Person 1.", "- Person 2.", "A new thing 1"):
        assert text(root).count(line) == 1, line
    assert kit.temps(root) == []
    assert store.log.empty()


def test_a_late_save_after_a_promise_was_taken_back(
    opened: Open, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second file could not be written, the first was brought back; an editor has it open."""
    store, write = opened(settle_after=WATCHED), swap.write
    note = str(root / "40_Brain/.brain")

    def full(path: str, data: bytes, *more: Any) -> None:
        if path.startswith(note):
            raise OSError(28, "No space left on device")
        write(path, data, *more)

    monkeypatch.setattr(swap, "write", full)
    with open(root / kit.SESSION, "r+") as editor:
        with pytest.raises(BrainError, match="No space left"):
            store.apply([kit.deed("append", 1), kit.deed("remember", 1)])
        assert "msg_n1" not in (root / kit.SESSION).read_text()
        editor.seek(0, os.SEEK_END)
        editor.write('{"id": "late", "role": "user", "content": "late"}\n')
    store.settle_after = 0.0
    store.drain()
    store.drain()
    assert '"late"' in (root / kit.SESSION).read_text()
    assert "msg_n1" not in (root / kit.SESSION).read_text()
    assert kit.records(store) == []
    assert kit.temps(root) == []
    assert store.log.empty()

"""A journal that cannot be read: it is said, and nothing that it took out comes back."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from brain.errors import BrainError
from brain.index import read
from brain.index.db import Index
from brain.journal import reader
from brain.journal.reader import update_index
from brain.journal.writer import Journal
from brain.operations import doctor
from tests import kit as vaults
from tests.conftest import MakeVault
from tests.journal.kit import device, dump, file, index, put, rebuilt, selected

SECRET = "the password is hunter2"


@pytest.fixture
def known(tmp_path: Path) -> Iterator[Index]:
    with index(tmp_path) as opened:
        yield opened


@contextmanager
def hidden(path: Path) -> Iterator[None]:
    """Moved elsewhere, and a link in its place, which nobody follows."""
    path.rename(path.with_suffix(".elsewhere"))
    path.symlink_to(path.with_suffix(".elsewhere"))
    yield
    path.unlink()
    path.with_suffix(".elsewhere").rename(path)


def purged(tmp_path: Path) -> tuple[Journal, Journal]:
    """One device has words on record that another one has purged."""
    here, there = device(tmp_path, "a"), device(tmp_path, "b")
    put(here, "remember", "m-1", after=SECRET)
    put(here, "reinforce", "m-1")
    put(here, "update", "m-1", before=SECRET, after="nothing")
    put(here, "reinforce", "m-2")
    put(there, "purge", "m-1")
    return here, there


def codes(known: Index) -> list[tuple[str, str]]:
    return [(path.rpartition("/")[2], problem.code) for path, problem in read.problems(known)]


def test_no_words_are_shown_that_it_may_have_purged(tmp_path: Path, known: Index) -> None:
    here, there = purged(tmp_path)
    assert [record.op for record in selected(here, known, refs=["m-1"])] == ["purge"]
    with hidden(file(there)), pytest.raises(BrainError, match=r"2026-03\.jsonl cannot be read"):
        selected(here, known, refs=["m-1"])
    assert [record.op for record in selected(here, known, refs=["m-1"])] == ["purge"]


def test_one_that_is_just_gone_is_none(
    tmp_path: Path, known: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Taken away between the look into its folder and the look into it."""
    here, there = purged(tmp_path)
    with failing(file(there), errno.ENOENT, monkeypatch):
        assert "update" in [record.op for record in selected(here, known, refs=["m-1"])]


def test_what_was_read_of_it_before_still_counts(tmp_path: Path, known: Index) -> None:
    here, there = purged(tmp_path)
    put(there, "reinforce", "m-3")
    update_index(here, known)
    before = read.facts(known, ["m-1", "m-2", "m-3"])
    with hidden(file(there)):
        update_index(here, known)
        assert read.facts(known, list(before)) == before
        assert codes(known) == [("2026-03.jsonl", "journal-unreadable")]
        put(here, "reinforce", "m-3")
        update_index(here, known)
        assert read.facts(known, ["m-3"])["m-3"].score == 6
        assert codes(known) == [("2026-03.jsonl", "journal-unreadable")]
        put(here, "purge", "m-2")  # all is read anew for that
        update_index(here, known)
        found = read.facts(known, ["m-1", "m-2"])
        assert [(one.score, bool(one.purged)) for one in found.values()] == [(0, True)] * 2
    put(there, "reinforce", "m-3")
    update_index(here, known)
    assert codes(known) == []
    assert dump(known) == rebuilt(here, known)


@contextmanager
def failing(path: Path, number: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A disk that does not give this file, which looks as it always did."""
    opened = os.open

    def fails(name: Any, *rest: Any, **more: Any) -> int:
        if os.fspath(name) == str(path):
            raise OSError(number, os.strerror(number))
        return opened(name, *rest, **more)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", fails)
        yield


def test_it_is_read_as_soon_as_it_can_be(
    tmp_path: Path, known: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = purged(tmp_path)
    with failing(file(there), errno.EIO, monkeypatch):
        update_index(here, known)
        assert codes(known) == [("2026-03.jsonl", "journal-unreadable")]
        assert read.facts(known, ["m-2"])["m-2"].score == 3
    update_index(here, known)
    assert codes(known) == []
    assert dump(known) == rebuilt(here, known)
    assert not update_index(here, known)


def test_the_verbs_say_it(vault: MakeVault, tmp_path: Path) -> None:
    root = vault({"40_Brain/MEMORY.md": "# Memory\n", **QUICK})
    with (
        vaults.open_brain(root, tmp_path / "here") as here,
        vaults.open_brain(root, tmp_path / "there") as there,
    ):
        ref = here.remember(SECRET.replace("password", "walrus"), by="admin").id
        here.update(ref, "The walrus is hungry", by="admin")
        there.reinforce(ref)
        with hidden(file(there.vault.journal)):
            for ask in (
                lambda: here.history(ref), here.audit, here.undo,
                lambda: here.forget(ref, purge=True),
            ):  # fmt: skip
                with pytest.raises(BrainError, match=r"cannot be read.*[Mm]ake it readable"):
                    ask()
            assert "hungry" in (root / "40_Brain/MEMORY.md").read_text()  # nothing was begun
            shown = here.show(ref)
            assert shown.provenance.by == "admin"
            assert shown.provenance.since == []
            codes = {problem.code for _, problem in doctor.problems(here.vault)}
            assert "journal-unreadable" in codes
        assert here.forget(ref, purge=True).outcome == "purged"


QUICK = {"40_Brain/brain.yaml": "holdSeconds: 0\n"}


def test_a_disk_that_fails_in_the_middle_of_a_file(
    tmp_path: Path, known: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = device(tmp_path)
    for _ in range(3):
        put(here, "reinforce")
    decode = reader.decode

    def fails(line: bytes) -> Any:
        if b'"seq":3' in line:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return decode(line)

    with monkeypatch.context() as patch:
        patch.setattr(reader, "decode", fails)
        update_index(here, known)
        assert codes(known) == [("2026-03.jsonl", "journal-unreadable")]
    update_index(here, known)
    assert codes(known) == []
    assert read.facts(known, ["m-1"])["m-1"].score == 9

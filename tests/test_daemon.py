"""The daemon with scripted hints: what it does with each, without a watcher and without waiting."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from brain import daemon, lock
from brain.api import Brain
from brain.errors import Busy
from brain.model import Event
from brain.vault import watch
from brain.vault.watch import Hint
from tests import kit


class Play:
    """Runs the daemon on a script: between two hints, something happens to the vault."""

    def __init__(self, brain: Brain) -> None:
        self.brain = brain
        self.root = brain.vault.paths.root
        self.trouble: list[str] = []
        self.heard: list[Event] = []
        brain.events.subscribe(self.heard.append)

    def __call__(self, *script: Hint | set[str] | Callable[[], object]) -> list[str]:
        """The names and paths of the events that these steps led to."""
        self.heard.clear()
        daemon.run(self.brain.vault, threading.Event(), self.trouble.append, self._hints(script))
        return [f"{e.name} {e.payload.get('path', '')}".strip() for e in self.heard]

    def _hints(self, script: tuple[object, ...]) -> Iterator[Hint]:
        for step in script:
            if callable(step):
                step()
            else:
                yield None if step is None else frozenset(step)  # type: ignore[call-overload]

    def write(self, path: str, text: str) -> Callable[[], object]:
        def step() -> None:
            target = self.root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
            kit.outdate(target)

        return step


@pytest.fixture
def play(vault: Callable[..., Path], opened: Callable[..., Brain]) -> Play:
    return Play(opened(vault()))


def test_the_first_scan_is_one_summary_and_the_second_is_silent(play: Play) -> None:
    assert play(None) == ["memory:sync"]
    assert play(None, None, {"Architecture.md", "Notes"}) == []


def test_one_save_is_one_event(play: Play) -> None:
    play(None)
    assert play(play.write("New.md", "new\n"), {"New.md"}, {"New.md"}, None) == [
        "memory:write New.md"
    ]


def test_what_happened_before_is_told_when_it_is_found(play: Play) -> None:
    play(None)
    assert play(play.write("New.md", "new\n"), None) == ["memory:write New.md"]


def test_a_deleted_note_and_a_deleted_folder(play: Play) -> None:
    play(None)
    (play.root / "Architecture.md").unlink()
    assert play({"Architecture.md"}) == ["memory:write Architecture.md"]
    assert [e["text"] for e in play.heard[0].payload["delta"]["removed"]] != []
    for note in (play.root / "Notes").iterdir():
        note.unlink()
    (play.root / "Notes").rmdir()
    assert len(play({"Notes"})) == 3


def test_a_rename_is_no_change(play: Play) -> None:
    play(None)
    (play.root / "Architecture.md").rename(play.root / "Building.md")
    assert play({"Architecture.md", "Building.md"}) == []
    assert kit.found(play.brain, "database one file")[:1] == ["Building.md"]


def test_many_paths_in_one_hint(play: Play) -> None:
    play(None)
    paths = {f"Many/{n}.md" for n in range(watch.LARGE)}
    for path in paths:
        kit.lay(play.root, {path: "walrus\n"})
    assert len(play(paths)) == watch.LARGE


def test_trouble_is_told_once_and_tried_again(play: Play) -> None:
    play(None)
    handle = lock.take(f"{play.brain.vault.index.path}-lock")
    assert handle is not None
    asked = play.brain.vault.sync
    play.brain.vault.sync = lambda only: asked(only, wait=0)  # type: ignore[method-assign,misc]
    play(play.write("New.md", "new\n"), {"New.md"}, {"New.md"})
    assert len(play.trouble) == 1
    assert "Another Brain process" in play.trouble[0]
    os.close(handle)
    assert play(None) == ["memory:write New.md"]


def test_what_could_not_be_followed_is_looked_for_again(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hint that came while another process was writing must not be forgotten."""
    missed: list[threading.Event] = []

    def follow(*args: Any) -> Iterator[Hint]:
        missed.append(args[2])
        yield frozenset({"Architecture.md"})

    monkeypatch.setattr(daemon, "follow", follow)

    def busy(_: object) -> None:
        raise Busy("Another Brain process is writing.")

    monkeypatch.setattr(play.brain.vault, "sync", busy)
    daemon.run(play.brain.vault, threading.Event(), play.trouble.append)
    assert missed[0].is_set()


def test_what_cannot_be_read_ends_nothing(play: Play) -> None:
    """Here the state of this machine."""
    path = Path(play.brain.vault.paths.state_path, "state.db")
    play(None)
    play.brain.vault.state.close()
    path.unlink(missing_ok=True)
    path.mkdir(parents=True)
    play(None, play.write("New.md", "new\n"), {"New.md"})
    assert play.trouble
    assert all("Is a directory" in said for said in play.trouble)
    path.rmdir()
    play(None)
    assert kit.found(play.brain, "new") == ["New.md"]


def test_a_changed_brain_yaml_is_taken_over(play: Play) -> None:
    play(None)
    write = play.write("40_Brain/brain.yaml", "exclude: [Notes]\nsearchLimit: 1\n")
    assert len(play(write, None)) == 3
    assert play.brain.vault.config.searchLimit == 1
    assert kit.found(play.brain, "whiskers") == []


def test_a_broken_brain_yaml_is_told_once_and_the_old_one_holds(play: Play) -> None:
    play(None)
    play(play.write("40_Brain/brain.yaml", "exclude: [Notes]\n"), None)
    heard = play(
        play.write("40_Brain/brain.yaml", "exclude: [Notes\n"),
        None,
        play.write("New.md", "new\n"),
        None,
        {"Notes/Walrus.md"},
        None,
    )
    assert heard == ["memory:write New.md"]
    assert len(play.trouble) == 1
    assert play.trouble[0].startswith("brain.yaml line 1 is not YAML")
    play(play.write("40_Brain/brain.yaml", ""), None)
    assert kit.found(play.brain, "tusks") == ["Notes/Walrus.md"]


def test_another_place_for_the_index_is_taken_over(play: Play, tmp_path: Path) -> None:
    play(None)
    play(play.write("40_Brain/brain.yaml", f"dbPath: {tmp_path}/other.db\n"), None)
    assert (tmp_path / "other.db").exists()
    assert kit.found(play.brain, "tusks") == ["Notes/Walrus.md"]


@pytest.mark.parametrize("how", ["deleted", "damaged", "emptied"])
def test_an_index_that_is_lost_is_filled_whole_by_the_next_hint(play: Play, how: str) -> None:
    play(None)
    database = play.brain.vault.index.path
    if how == "emptied":
        with kit.open_brain(play.root, play.brain.vault.paths.state.parent) as other:
            other.vault.index.rebuild()
    for suffix in ("", "-wal", "-shm"):
        path = Path(f"{database}{suffix}")
        if how == "deleted":
            path.unlink(missing_ok=True)
        elif how == "damaged" and path.exists():
            path.write_bytes(b"x" * 10_000)
    assert play(play.write("New.md", "new walrus\n"), {"New.md"}) == ["events:lost", "memory:sync"]
    assert kit.found(play.brain, "tusks") == ["Notes/Walrus.md"]
    assert play(None) == []


def test_a_vault_that_looks_empty_is_told_once(play: Play) -> None:
    play(None)
    for note in [p for p in play.root.rglob("*") if p.is_file() and "brain.db" not in p.name]:
        note.unlink()
    assert play(None, None, None) == []
    assert len(play.trouble) == 1
    assert "the index was kept" in play.trouble[0]


# -- starting and ending -------------------------------------------------------------------------


def test_stop_ends_it_between_hints(play: Play) -> None:
    stop = threading.Event()

    def hints() -> Iterator[Hint]:
        yield None
        stop.set()
        yield None
        raise AssertionError("went on")

    daemon.run(play.brain.vault, stop, play.trouble.append, hints())
    assert stop.is_set()


def test_stop_ends_it_while_it_reads(play: Play) -> None:
    stop = threading.Event()
    seen: list[int] = []

    def progress(done: int, total: int) -> None:
        seen.append(done)
        if done == 3:
            stop.set()

    play.brain.vault.progress = progress
    daemon.run(play.brain.vault, stop, play.trouble.append, [None, None])
    assert seen == [1, 2, 3]
    assert play.trouble == []
    assert play.brain.vault.progress is progress
    assert play(None) == ["memory:sync"]  # nothing was left half done


def test_one_daemon_a_vault(play: Play, tmp_path: Path, vault: Callable[..., Path]) -> None:
    here = play.brain.vault.paths
    assert lock.holder(f"{here.state_path}/daemon.lock") is None
    with daemon.only_one(here):
        assert lock.holder(f"{here.state_path}/daemon.lock") == os.getpid()
        with (
            pytest.raises(Busy, match=rf"already \(process {os.getpid()}\)"),
            daemon.only_one(here),
        ):
            pass
        other = kit.open_brain(vault(), tmp_path / "state")
        with daemon.only_one(other.vault.paths):
            pass
    assert lock.holder(f"{here.state_path}/daemon.lock") is None
    with daemon.only_one(here):
        pass


def test_asking_who_runs_does_not_keep_a_daemon_from_starting(play: Play) -> None:
    handle = lock.take(play.brain.vault.paths.state / "daemon.lock")
    assert handle is not None
    threading.Timer(0.02, os.close, [handle]).start()
    with daemon.only_one(play.brain.vault.paths):
        pass

"""What the operating system reports, turned into hints, without a process."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from brain.vault import layout, watch
from tests import kit
from tests.kit import until


@pytest.fixture
def place(vault: Callable[..., Path], tmp_path: Path) -> layout.Vault:
    return layout.find(vault(), tmp_path / "state")


def hints(
    place: layout.Vault, monkeypatch: pytest.MonkeyPatch, batches: list[set[str]]
) -> list[watch.Hint]:
    """The hints that a scripted watcher leads to, behind the scan at the start."""
    stop, missed = threading.Event(), threading.Event()

    def play(*_: object) -> Iterator[set[str]]:
        yield set()
        for batch in batches:
            yield {f"{place.root}/{path}" for path in batch}
        stop.set()

    monkeypatch.setattr(watch, "_batches", play)
    first, second, *rest = watch.follow(place, stop, missed)
    assert (first, second) == (None, None)
    return rest


@pytest.mark.parametrize(
    ("batch", "hint"),
    [
        (set(), ()),
        ({"A.md"}, {"A.md"}),
        ({"A.md", "Notes/B.md"}, {"A.md", "Notes/B.md"}),
        ({".obsidian/workspace.json", ".git/index", "A/.b/c.md", ".trash/x.md"}, ()),
        ({"40_Brain/brain.db", "40_Brain/brain.db-wal", "40_Brain/brain.db-shm"}, ()),
        ({"40_Brain/.agent/tasks/tasks.json"}, {"40_Brain/.agent/tasks/tasks.json"}),
        ({"40_Brain/.agent/.hidden"}, ()),
        ({"Notes"}, None),
        ({"40_Brain/.agent"}, None),
        ({"A.md", "Notes/.gitignore"}, None),
        ({".secretsignore"}, None),
        ({"40_Brain/brain.yaml"}, None),
        ({f"{n}.md" for n in range(watch.LARGE + 1)}, None),
        ({f".git/{n}" for n in range(watch.LARGE + 1)}, None),
    ],
)
def test_what_a_change_hints_at(
    place: layout.Vault,
    monkeypatch: pytest.MonkeyPatch,
    batch: set[str],
    hint: set[str] | tuple[()] | None,
) -> None:
    kit.lay(place.root, {"40_Brain/brain.db": "", "40_Brain/.agent/tasks/": ""})
    expected = [] if hint == () else [None if hint is None else frozenset(hint)]
    assert hints(place, monkeypatch, [batch]) == expected


def test_a_deleted_index_is_worth_a_scan(
    place: layout.Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert hints(place, monkeypatch, [{"40_Brain/brain.db"}]) == [None]


def test_scans_come_at_an_interval_and_sooner_after_a_find(
    place: layout.Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each tick is a second; the scans at 0, 1, 3 and 7 find something, those after do not."""
    now = [0.0]
    stop, missed = threading.Event(), threading.Event()
    monkeypatch.setattr(watch.time, "monotonic", lambda: now[0])

    def ticks(*_: object) -> Iterator[set[str]]:
        for now[0] in range(200):
            yield set()
        stop.set()

    monkeypatch.setattr(watch, "_batches", ticks)
    scans = []
    for number, _ in enumerate(watch.follow(place, stop, missed)):
        scans.append(int(now[0]))
        if 1 <= number <= 3:
            missed.set()
    assert scans == [0, 0, 2, 6, 14, 74, 134, 194]


def test_a_hint_that_could_not_be_followed_is_followed_by_a_scan(
    place: layout.Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    stop, missed = threading.Event(), threading.Event()
    monkeypatch.setattr(watch.time, "monotonic", lambda: now[0])

    def ticks(*_: object) -> Iterator[set[str]]:
        for now[0] in range(10):
            yield {f"{place.root}/A.md"} if now[0] == 3 else set()
        stop.set()

    monkeypatch.setattr(watch, "_batches", ticks)
    seen = []
    for hint in watch.follow(place, stop, missed):
        seen.append((int(now[0]), hint))
        if hint is not None:
            missed.set()
    assert seen == [(0, None), (0, None), (3, frozenset({"A.md"})), (4, None)]


def test_without_a_watch_to_be_had_it_polls(
    place: layout.Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def refuse(*_: object, force_polling: bool, **__: object) -> Iterator[set[tuple[int, str]]]:
        asked.append(force_polling)
        if not force_polling:
            raise RuntimeError("OS file watch limit reached")
        yield {(1, f"{place.root}/A.md")}

    monkeypatch.setattr("watchfiles.watch", refuse)
    batches = list(watch._batches(place, threading.Event()))
    assert asked == [False, True]
    assert batches == [{f"{place.root}/A.md"}]


def test_polling_sees_what_changes(place: layout.Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "is_remote", lambda _: True)
    monkeypatch.setattr(watch, "POLL", 50)
    stop = threading.Event()
    batches = watch._batches(place, stop)
    next(batches)
    (place.root / "New.md").write_text("new\n")
    until(lambda: f"{place.root}/New.md" in next(batches))
    stop.set()
    assert list(batches) == []


def test_it_waits_for_a_vault_that_went_away(
    place: layout.Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = place.root.with_name("away")
    place.root.rename(away)
    monkeypatch.setattr(watch, "TICK", 0.01)
    stop, missed = threading.Event(), threading.Event()
    threading.Timer(0.1, away.rename, [place.root]).start()
    follower = watch.follow(place, stop, missed)
    assert next(follower) is None
    assert place.root.exists()
    follower.close()  # type: ignore[attr-defined]


def test_a_root_replaced_while_it_is_looked_at_is_looked_at_again(
    place: layout.Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is held open must be what is compared with later."""
    old, real = place.root.with_name("old"), watch._identity

    def replaced(vault: layout.Vault) -> tuple[int, int] | None:
        if not old.exists():
            place.root.rename(old)
            shutil.copytree(old, place.root)
        return real(vault)

    monkeypatch.setattr(watch, "_identity", replaced)
    with watch._open_root(place) as root:
        assert root is None
    with watch._open_root(place) as root:
        assert root == real(place)

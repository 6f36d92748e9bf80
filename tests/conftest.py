"""Fixtures, as factories. Nothing here sleeps, and no test sees the machine's own state folder."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from brain.api import Brain
from tests import kit

settings.register_profile(
    "brain", deadline=None, max_examples=60, suppress_health_check=list(HealthCheck)
)
settings.load_profile("brain")

MakeVault = Callable[..., Path]
SetZone = Callable[[str], None]
OpenBrain = Callable[..., Brain]
RUN_FOLDER = pytest.StashKey[str]()


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # The run is in the background. It goes on ignoring Ctrl-C, but through a handler, because the
    # processes that tests start would inherit SIG_IGN.
    signal.signal(signal.SIGINT, lambda number, frame: None)
# `timeout` ends a run in this way: it removes its folder then, too.
signal.signal(signal.SIGTERM, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Put the temporary folders of a run, those of its workers too, into one new folder."""
    if not hasattr(config, "workerinput") and not config.option.basetemp:
        config.option.basetemp = tempfile.mkdtemp(prefix="brain-tests-")
        config.stash[RUN_FOLDER] = config.option.basetemp


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove that folder, unless it holds the folders of failed tests."""
    session = config.pluginmanager.get_plugin("session")  # None for `pytest --help`
    if folder := config.stash.get(RUN_FOLDER, None):
        if not (session and session.testsfailed):
            shutil.rmtree(folder)
        elif not os.listdir(folder):
            os.rmdir(folder)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs the software of clients, unless it is asked for."""
    if "clients" not in config.option.markexpr:
        chosen = [item for item in items if not item.get_closest_marker("clients")]
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = chosen


@pytest.fixture
def vault(tmp_path: Path) -> MakeVault:
    """`vault({path: text or bytes})` lays a vault and returns its root."""
    count = 0

    def make(files: Mapping[str, str | bytes] = kit.VAULT, name: str = "") -> Path:
        nonlocal count
        count += 1
        return kit.lay(tmp_path / (name or f"vault{count}"), files)

    return make


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[OpenBrain]:
    """`opened(root)` opens the vault there, at a fixed time; `state` is shared unless given."""
    with ExitStack() as stack:

        def make(root: Path, state: Path | None = None, engine: str = "auto") -> Brain:
            home = state or tmp_path / "state"
            return stack.enter_context(kit.open_brain(root, home, engine=engine))

        yield make


@pytest.fixture
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[SetZone]:
    """`zone("Asia/Tokyo")` sets the clock of this machine to that zone."""

    def put(name: str) -> None:
        monkeypatch.setenv("TZ", name)
        time.tzset()

    yield put
    monkeypatch.undo()
    time.tzset()

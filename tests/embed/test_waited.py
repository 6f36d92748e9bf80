"""A model that somebody waits for: not long, and not again for a minute."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from brain import embed
from brain.embed import PAUSE, Waited, end_pause, without_limit
from brain.embed.command import Command
from brain.errors import NoModel
from brain.state import State
from tests.embed.kit import Sleeper


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embed, "TIMEOUT", 0.05)


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def asked(model: Waited) -> str:
    with pytest.raises(NoModel) as caught:
        model.embed(["x"])
    return str(caught.value)


def test_a_model_that_hangs_is_asked_once_a_minute(tmp_path: Path) -> None:
    sleeper, clock = Sleeper(), Clock()
    said = asked(Waited(sleeper, State(tmp_path), clock))
    assert "took longer than 0.05 s" in said
    assert said.endswith("It is called again in 60 s, or after `brain sync`.")
    clock.now += 17
    said = asked(Waited(sleeper, State(tmp_path), clock))  # another process
    assert said.endswith("failed a moment ago. It is called again in 43 s, or after `brain sync`.")
    assert sleeper.asked == [1]
    clock.now += PAUSE
    assert "took longer" in asked(Waited(sleeper, State(tmp_path), clock))
    assert sleeper.asked == [1, 1]


def test_it_is_asked_again_after_it_is_forgiven_or_changed(tmp_path: Path) -> None:
    sleeper = Sleeper()
    model = Waited(sleeper, State(tmp_path))
    asked(model)
    assert "a moment ago" in asked(model)
    assert "longer" in asked(Waited(Command("sleep 61"), State(tmp_path)))  # another one
    asked(model)
    end_pause(model)
    assert "longer" in asked(model)
    end_pause(sleeper)  # one that was never left alone


def test_what_fails_at_once_may_be_asked_at_once(tmp_path: Path) -> None:
    model = Waited(Command("/nowhere/model"), State(tmp_path))
    assert asked(model) == asked(model)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("held", ["1", "1 2 3", "a b", "1 nan", " "])
def test_whatever_the_state_holds(tmp_path: Path, held: str) -> None:
    State(tmp_path).set_flag("model", held)
    assert "cannot be run" in asked(Waited(Command("/nowhere/model"), State(tmp_path)))


def test_a_clock_that_was_put_back_does_not_keep_it_away(tmp_path: Path) -> None:
    sleeper, clock = Sleeper(), Clock()
    asked(Waited(sleeper, State(tmp_path), clock))
    clock.now -= 1000
    assert "longer" in asked(Waited(sleeper, State(tmp_path), clock))


def test_no_state_folder_is_no_obstacle(tmp_path: Path) -> None:
    assert "longer" in asked(Waited(Sleeper(), State(tmp_path / "nowhere")))


class Mine:
    """Anybody's model, which cannot be told to hurry."""

    def embed(self, texts: Sequence[str]) -> Any:
        return [[1.0] for _ in texts]


def test_the_model_itself_is_what_it_was(tmp_path: Path) -> None:
    mine = Mine()
    model = Waited(mine, State(tmp_path))
    assert model.name == "Mine"
    assert model.embed(["a", "b"]) == [[1.0], [1.0]]
    assert without_limit(model) is mine
    assert without_limit(mine) is mine

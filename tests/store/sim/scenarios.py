"""Named scenarios: each is the shortest run that fails without one rule.

A scenario is a script, the lines that must be in the note at the end, and those that must not.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from tests.store.sim.oracle import tokens
from tests.store.sim.scripts import Script, replay
from tests.store.sim.world import Step


@dataclass
class Scenario:
    windows: dict[str, str]
    steps: list[Step]
    keeps: str = ""
    lacks: str = ""
    text: str = ""

    def __post_init__(self) -> None:
        self.text = self.text or ALL


def line(token: str, words: str = "") -> str:
    """Return a line that resembles no other, unless it is given the same words."""
    name = token.split(".")[0]
    words = words or hashlib.sha256(token.encode()).hexdigest()[:20]
    return f"- {words} ({token})" + (f" ^{name}" if name[0] == "a" else "")


def remember(name: str, plan: dict[int, Any] | None = None) -> Step:
    return ("remember", 0, line(name + ".1"), False, plan or {})


def typed(window: str, name: str, at: int = 2) -> Step:
    return ("type", window, line(name + ".1"), at)


def check(scenario: Scenario, backend: Any, folder: str) -> list[str]:
    """Replay a scenario. Return what is wrong."""
    script = Script(scenario.windows, scenario.text, [*scenario.steps])
    world = replay(script, backend, folder)
    for _ in range(3):
        world.do(("wait", 20))
        world.do(SYNC)
    there = tokens(world.text() or "")
    wrong = [f"{t} is missing" for t in scenario.keeps.split() if t not in there]
    wrong += [f"{t} is there" for t in scenario.lacks.split() if t in there]
    wrong += [f"{t} is there twice" for t in set(there) if there.count(t) > 1]
    return wrong


SYNC: Step = ("sync", 0, {})
# long enough that a text without the new lines does not look half saved
ALL = "# Memory\n\n" + "".join(line(f"p{n}.1") + "\n" for n in range(91, 97))

SCENARIOS = {
    # -- evidence
    "a window reads while Brain is still writing": Scenario(
        {"w0": "rename"},
        [
            # the access time is taken before the exchange: this read must be visible
            remember("a1", {n: [("load", "w0")] for n in range(9, 40)}),
            ("wait", 6),
            remember("a2"),
            typed("w0", "p3"),
            ("save", "w0"),
        ],
        keeps="a1.1 a2.1 p3.1",
    ),
    "a program reads the saved text, not what Brain wrote": Scenario(
        {"w0": "place"},
        [
            ("load", "w0"),
            typed("w0", "p1"),
            remember("a1"),
            ("wait", 6),
            ("undo", "w0"),
            ("save", "w0"),
            ("wait", 1),
            ("read",),
        ],
        keeps="a1.1",
    ),
    "a device brings an old text over a line that an editor saved in place": Scenario(
        {"w0": "place", "device": "rename"},
        [
            remember("a1"),
            ("wait", 1),
            ("load", "w0"),
            ("load", "device"),
            typed("w0", "p1"),
            ("save", "w0"),
            SYNC,
            ("wait", 6),
            typed("device", "p2", 3),
            ("save", "device"),
        ],
        keeps="a1.1 p1.1 p2.1",
    ),
    "two editors save between two looks, and the first one saves again": Scenario(
        {"w0": "rename", "w1": "place"},
        [
            ("load", "w1"),
            typed("w1", "p1"),
            remember("a1"),
            ("wait", 1),
            ("save", "w1"),
            ("load", "w0"),
            ("reword", "w0", "p92.1", line("p92.2")),
            ("save", "w0"),
            SYNC,
            ("wait", 6),
            typed("w1", "p2"),
            ("save", "w1"),
        ],
        keeps="a1.1 p1.1 p2.1 p92.2",
        lacks="p92.1",
    ),
    "an editor saves by rename, a program appends, and the editor saves again": Scenario(
        {"w0": "rename"},
        [
            remember("a1"),
            ("wait", 1),
            ("load", "w0"),
            typed("w0", "p1"),
            ("save", "w0"),
            ("wait", 1),
            ("append", line("p2.1")),
            SYNC,
            ("wait", 6),
            typed("w0", "p3"),
            ("save", "w0"),
        ],
        keeps="a1.1 p1.1 p2.1 p3.1",
    ),
    "a stale window saves over what git brought": Scenario(
        {"w0": "rename"},
        [
            remember("a1"),
            ("wait", 1),
            ("load", "w0"),
            ("reword", "w0", "p91.1", line("p91.2")),
            ("save", "w0"),
            SYNC,
            ("wait", 6),
            remember("a2"),
            ("wait", 6),
            ("checkout", 3),
            SYNC,
            remember("a3"),
            ("wait", 6),
            typed("w0", "p9"),
            ("save", "w0"),
        ],
        keeps="a1.1 a3.1 p91.1 p9.1",
        lacks="a2.1",
    ),
    # -- choice of the base
    "a stale window saves over a line that was appended after the last write": Scenario(
        {"w0": "rename"},
        [
            remember("a1"),
            ("wait", 1),
            ("load", "w0"),
            ("append", line("p1.1")),
            SYNC,
            ("wait", 6),
            typed("w0", "p2"),
            ("save", "w0"),
        ],
        keeps="a1.1 p1.1 p2.1",
    ),
    "a person deletes what an agent deletes as well": Scenario(
        {"w0": "rename"},
        [
            remember("a1"),
            remember("a2"),
            ("wait", 1),
            ("load", "w0"),
            ("delete", "w0", "a1.1"),
            ("forget", 0, "a1", False, {}),
            remember("a3"),
            ("wait", 6),
            ("save", "w0"),
        ],
        keeps="a2.1 a3.1",
        lacks="a1.1",
    ),
    "a second window saves over a rewording and a new line": Scenario(
        {"w0": "place", "w1": "place"},
        [
            remember("a1"),
            ("wait", 1),
            ("load", "w0"),
            ("load", "w1"),
            ("reword", "w0", "p92.1", line("p92.2")),
            typed("w0", "p8"),
            ("save", "w0"),
            SYNC,
            ("wait", 6),
            typed("w1", "p9", 3),
            ("save", "w1"),
        ],
        keeps="a1.1 p91.1 p92.2 p93.1 p8.1 p9.1",
    ),
    "a stale window saves exactly what it loaded": Scenario(
        {"w0": "rename", "w1": "rename"},
        [
            remember("a1"),
            ("wait", 1),
            ("load", "w0"),
            ("load", "w1"),
            typed("w1", "p1"),
            ("save", "w1"),
            ("wait", 1),
            remember("a2"),
            ("load", "w1"),
            ("save", "w1", False, [], True),
            SYNC,
            ("wait", 1),
            ("save", "w0", False, [], True),
        ],
        keeps="a1.1 a2.1 p1.1",
    ),
    "a window deletes the line that it typed": Scenario(
        {"w0": "rename"},
        [
            remember("a1"),
            ("wait", 1),
            ("load", "w0"),
            typed("w0", "p1"),
            ("save", "w0"),
            SYNC,
            ("wait", 2),
            ("delete", "w0", "p1.1"),
            typed("w0", "p2"),
            ("save", "w0"),
        ],
        keeps="a1.1 p2.1",
        lacks="p1.1",
    ),
    "a stale window deletes one of two lines that it saved": Scenario(
        {"w0": "rename"},
        [
            ("load", "w0"),
            remember("a1"),
            typed("w0", "p1"),
            ("save", "w0"),
            SYNC,
            ("wait", 6),
            typed("w0", "p2"),
            typed("w0", "p3"),
            ("save", "w0"),
            SYNC,
            ("wait", 6),
            ("delete", "w0", "p2.1"),
            typed("w0", "p4"),
            ("save", "w0"),
        ],
        keeps="a1.1 p1.1 p3.1 p4.1",
        lacks="p2.1",
    ),
    "a window undoes its own deletion": Scenario(
        {"w0": "rename"},
        [
            remember("a1"),
            ("wait", 1),
            ("load", "w0"),
            ("delete", "w0", "p91.1"),
            ("save", "w0"),
            SYNC,
            ("wait", 6),
            ("undo", "w0"),
            typed("w0", "p1"),
            ("save", "w0"),
        ],
        keeps="a1.1 p91.1 p1.1",
    ),
    "a person deletes three lines at once, twice": Scenario(
        {"w0": "rename"},
        [
            remember("a1"),
            remember("a2"),
            remember("a3"),
            *(
                step
                for _ in range(2)
                for step in (
                    ("wait", 60),
                    ("load", "w0"),
                    ("delete", "w0", "a1.1"),
                    ("delete", "w0", "a2.1"),
                    ("delete", "w0", "a3.1"),
                    ("save", "w0"),
                    SYNC,
                )
            ),
        ],
        lacks="a1.1 a2.1 a3.1",
    ),
    # -- merge
    "two people reword one entry": Scenario(
        {"w0": "rename", "w1": "place"},
        [
            remember("a1"),
            ("wait", 1),
            ("load", "w0"),
            ("load", "w1"),
            ("reword", "w0", "a1.1", line("a1.2")),
            typed("w0", "p1"),
            ("save", "w0"),
            remember("a2"),
            ("wait", 1),
            ("reword", "w1", "a1.1", line("a1.3")),
            ("save", "w1"),
        ],
        keeps="a1.2 a1.3 a2.1 p1.1",
        lacks="a1.1",
    ),
    # -- the holes that the attack found, and the ordinary cases
    "a stale window saves twice, and Brain looks in between": Scenario(
        {"w0": "place"},
        [
            ("load", "w0"),
            remember("a1"),
            ("type", "w0", line("p1.1", "meet Anna on Tuesday"), 3),
            ("save", "w0"),
            ("wait", 1),
            SYNC,
            ("wait", 6.2),
            ("reword", "w0", "p1.1", line("p1.2", "meet Anna on Thursday")),
            ("save", "w0"),
        ],
        keeps="a1.1 p1.2",
        lacks="p1.1",
    ),
    "a stale window saves the same text every two seconds": Scenario(
        {"w0": "rename"},
        [
            ("load", "w0"),
            remember("a1"),
            typed("w0", "p1"),
            *(
                step
                for _ in range(20)
                for step in (("save", "w0", False, [], True), SYNC, ("wait", 2))
            ),
        ],
        keeps="a1.1 p1.1",
    ),
    "a stale window saves the same text again after a minute": Scenario(
        {"w0": "rename"},
        [
            ("load", "w0"),
            remember("a1"),
            typed("w0", "p1"),
            ("save", "w0"),
            SYNC,
            ("wait", 60),
            ("save", "w0", False, [], True),
        ],
        keeps="a1.1 p1.1",
    ),
    "a program reads every write, and a stale window saves the same text again": Scenario(
        {"w0": "place"},
        [
            ("load", "w0"),
            remember("a1"),
            ("read",),
            typed("w0", "p1"),
            ("save", "w0"),
            SYNC,
            ("wait", 6),
            ("read",),
            ("wait", 1),
            ("save", "w0", False, [], True),
        ],
        keeps="a1.1 p1.1",
    ),
    "a stale window pastes a line that it had cut when it saved": Scenario(
        {"w0": "rename"},
        [
            remember("a1"),
            ("wait", 6),
            ("load", "w0"),
            ("wait", 6),
            remember("a2"),
            ("wait", 6),
            ("delete", "w0", "a1.1"),
            typed("w0", "p1"),
            ("save", "w0"),
            ("paste", "w0", 4),
            SYNC,
            ("wait", 6),
            ("save", "w0"),
        ],
        keeps="a1.1 a2.1 p1.1",
    ),
    "a person pastes a deleted line after a program has appended": Scenario(
        {"w0": "rename"},
        [
            remember("a1"),
            remember("a2"),
            ("load", "w0"),
            ("delete", "w0", "a1.1"),
            ("save", "w0"),
            SYNC,
            ("append", line("p1.1")),
            ("load", "w0"),
            SYNC,
            ("paste", "w0", 4),
            ("save", "w0"),
        ],
        keeps="a1.1 a2.1 p1.1",
    ),
    "an editor is slow to save what it typed and undid": Scenario(
        {"w0": "backup"},
        [
            ("load", "w0"),
            remember("a1"),
            ("wait", 6),
            ("reword", "w0", "p91.1", line("p91.2")),
            *(typed("w0", f"p{n}") for n in range(1, 5)),
            ("save", "w0"),
            SYNC,
            ("wait", 6),
            *(("undo", "w0") for _ in range(4)),
            ("save", "w0", False, [("wait", 2.0), SYNC]),
        ],
        keeps="a1.1 p91.2 p92.1",
        lacks="p1.1 p2.1 p3.1 p4.1",
        text=ALL[: ALL.index(line("p93.1"))],
    ),
    "a stale window moves one of its lines": Scenario(
        {"w0": "rename"},
        [
            ("load", "w0"),
            remember("a1"),
            typed("w0", "p1"),
            typed("w0", "p2"),
            ("save", "w0"),
            SYNC,
            ("wait", 600),
            ("move", "w0", "p1.1", 8),
            ("save", "w0"),
        ],
        keeps="a1.1 p1.1 p2.1",
    ),
    "a stale window saves after a checkout, before Brain looks": Scenario(
        {"w0": "rename"},
        [
            ("load", "w0"),
            remember("a1"),
            remember("a2"),
            ("wait", 1),
            ("checkout", 1),
            ("wait", 1),
            typed("w0", "p1"),
            ("save", "w0"),
        ],
        keeps="a1.1 a2.1 p1.1",
    ),
    "a late save through an old descriptor, and another one": Scenario(
        {"w0": "fd"},
        [
            ("load", "w0"),
            remember("a1"),
            typed("w0", "p1"),
            ("save", "w0"),
            ("wait", 5.5),
            ("load", "w0"),
            SYNC,
            typed("w0", "p2"),
            ("save", "w0"),
        ],
        keeps="a1.1 p1.1 p2.1",
    ),
    "a late save that was merged, and a stale window": Scenario(
        {"w0": "fd", "w1": "place"},
        [
            ("load", "w0"),
            remember("a1"),
            typed("w0", "p1"),
            ("save", "w0"),
            ("load", "w1"),
            ("wait", 1),
            SYNC,
            typed("w1", "p2"),
            ("save", "w1"),
        ],
        keeps="a1.1 p1.1 p2.1",
    ),
    "a person deletes one of two new lines": Scenario(
        {"w0": "rename"},
        [
            remember("a1"),
            remember("a2"),
            ("wait", 1),
            ("load", "w0"),
            ("delete", "w0", "a1.1"),
            ("save", "w0"),
        ],
        keeps="a2.1",
        lacks="a1.1",
    ),
    "a person deletes the newest line, twice": Scenario(
        {"w0": "rename"},
        [
            remember("a1"),
            *(
                step
                for _ in range(2)
                for step in (
                    ("wait", 60),
                    ("load", "w0"),
                    ("delete", "w0", "a1.1"),
                    ("save", "w0"),
                    SYNC,
                )
            ),
        ],
        lacks="a1.1",
    ),
    "a person deletes the newest line in place": Scenario(
        {"w0": "place"},
        [
            remember("a1"),
            ("wait", 60),
            ("load", "w0"),
            ("wait", 2),
            ("delete", "w0", "a1.1"),
            ("save", "w0"),
            SYNC,
        ],
        lacks="a1.1",
    ),
    "the clock is set back and forth": Scenario(
        {"w0": "rename"},
        [
            ("load", "w0"),
            remember("a1"),
            ("jump", -7200),
            typed("w0", "p1"),
            ("save", "w0"),
            SYNC,
            ("jump", 14400),
            typed("w0", "p2"),
            ("save", "w0"),
        ],
        keeps="a1.1 p1.1 p2.1",
    ),
    "half a save is seen": Scenario(
        {"w0": "torn"},
        [
            remember("a1"),
            ("load", "w0"),
            typed("w0", "p9", 5),
            ("save", "w0"),
            SYNC,
            remember("a2"),
            ("part", "w0", 40),
            SYNC,
            ("wait", 1),
            ("part", "w0", 1000),
        ],
        keeps="p91.1 p92.1 p93.1 p96.1 p9.1 a1.1 a2.1",
    ),
    "the vault is moved while a write is pending": Scenario(
        {"w0": "rename"},
        [
            ("load", "w0"),
            ("remember", 0, line("a1.1"), True, {}),
            ("relocate",),
            typed("w0", "p1"),
            ("save", "w0"),
        ],
        keeps="a1.1 p1.1",
    ),
}

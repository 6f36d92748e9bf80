"""Run, replay, show and shorten runs of the simulator."""

from __future__ import annotations

import atexit
import importlib
import multiprocessing
import os
import pprint
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.store.sim.director import SETTINGS, Director
from tests.store.sim.world import Step, World

NEVER = (
    "torn", "doubled", "orphaned", "temporary file left", "deleted twice and back",
    "not restorable",
)  # fmt: skip
MINOR = ("came back for good", "gave way")  # reported, and not a failure of a run
USAGE = """usage: python -m tests.store.sim run [SETTING] [RUNS] [SEED] [name=value ...]
       python -m tests.store.sim show SEED [SETTING] [TOKEN]
       python -m tests.store.sim shorten SEED [SETTING] [TOKEN]
       backend=module:name chooses the store; name=value changes the setting"""


@dataclass
class Script:
    """A run as data: the windows with their save styles, the first text, and the steps."""

    windows: dict[str, str]
    text: str
    steps: list[Step] = field(default_factory=list)


def replay(script: Script, backend: Any, folder: str) -> World:
    """Take the steps of a script. Steps that do not apply do nothing."""
    world = World(folder, backend, script.windows, script.text)
    for step in script.steps:
        world.do(step)
    return world


def folder() -> str:
    """Return a new folder in memory, if there is one: a run makes thousands of small writes."""
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    return tempfile.mkdtemp(prefix="brain-sim-", dir=place) + "/world"


@dataclass
class Report:
    stats: Counter[str] = field(default_factory=Counter)
    found: dict[str, list[tuple[int, str]]] = field(default_factory=dict)

    def add(self, seed: int, world: World, violations: list[tuple[str, str]]) -> None:
        self.stats += world.stats
        for kind, what in violations:
            self.found.setdefault(kind, []).append((seed, what))

    def join(self, other: Report) -> None:
        self.stats += other.stats
        for kind, cases in other.found.items():
            self.found.setdefault(kind, []).extend(cases)

    def rate(self, kind: str, of: str) -> float:
        return len(self.found.get(kind, ())) / max(1, self.stats[of])

    def __str__(self) -> str:
        rows = [", ".join(f"{k}: {n}" for k, n in self.stats.items())]
        for kind in sorted(self.found):
            cases = sorted(self.found[kind])
            shown = " ".join(f"{seed}:{what}" for seed, what in cases[:12])
            rows.append(f"  {len(cases):6} {kind}: {shown}")
        return "\n".join(rows)


def runs(backend: Any, setting: dict[str, Any], seeds: range, steps: int = 50) -> Report:
    """Run the seeds one after another."""
    report, place = Report(), folder()
    for seed in seeds:
        director = Director(seed, setting, place, backend)
        report.add(seed, director.world, director.run(steps))
    shutil.rmtree(os.path.dirname(place), ignore_errors=True)
    return report


def load(name: str) -> Any:
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _job(job: tuple[str, dict[str, Any], range, int]) -> Report:
    return runs(load(job[0]), *job[1:])


def many(
    backend: str, setting: dict[str, Any], count: int, first: int, steps: int = 50, jobs: int = 2
) -> Report:
    """Run the seeds in several processes."""
    size = max(1, min(50, count // jobs))
    parts = [range(s, min(s + size, first + count)) for s in range(first, first + count, size)]
    report = Report()
    with multiprocessing.Pool(jobs) as pool:
        for part in pool.imap_unordered(_job, [(backend, setting, p, steps) for p in parts]):
            report.join(part)
    return report


def kills(scenario: Any, backend: Any, place: str) -> Iterator[list[tuple[str, str]]]:
    """Kill the process at every call of the disk layer, in each operation of a scenario. Yield what
    is wrong then: nothing may be torn, doubled or orphaned, and no agent's line lost. (A kill may
    cost the evidence that tells one editor from another.)"""
    for at, step in enumerate(scenario.steps):
        if not isinstance(step[-1], dict):
            continue
        call = 0
        while True:
            call += 1
            killed = (*step[:-1], {**step[-1], call: [("kill",)]})
            steps = [*scenario.steps[:at], killed, *scenario.steps[at + 1 :]]
            world = replay(Script(scenario.windows, scenario.text, steps), backend, place)
            if not world.stats["crashes"]:
                break
            source = world.oracle.source
            yield [
                c
                for c in world.end()
                if c[0] in NEVER or (c[0] not in MINOR and source.get(c[1]) == "agent")
            ]


# -- shorten


def shorten(script: Script, wanted: tuple[str, str], backend: Any) -> Script:
    """Drop steps, interruptions and first lines while the run still fails: the same kind, for the
    same line."""
    place = folder()

    def fails(windows: dict[str, str], text: str, steps: list[Step]) -> bool:
        copy = [_copy(step) for step in steps]
        try:
            found = replay(Script(windows, text, copy), backend, place).end()
        except Exception:
            return False
        return wanted in found

    steps, text, windows = script.steps, script.text, script.windows
    size = max(1, len(steps) // 2)
    while True:
        before = len(steps)
        at = 0
        while at < len(steps):
            less = steps[:at] + steps[at + size :]
            if fails(windows, text, less):
                steps = less
            else:
                at += size
        if size == 1 and len(steps) == before:
            break
        size = max(1, size // 2)
    for i, step in enumerate(steps):
        if isinstance(step[-1], dict):
            for k in list(step[-1]):
                plan = {n: s for n, s in step[-1].items() if n != k}
                less = [*steps[:i], (*step[:-1], plan), *steps[i + 1 :]]
                if fails(windows, text, less):
                    steps, step = less, less[i]
    for line in text.split("\n")[2:-1]:
        less = text.replace(line + "\n", "")
        if fails(windows, less, steps):
            text = less
    names = {a for step in steps for a in _names(step)}
    windows = {name: style for name, style in windows.items() if name in names}
    shutil.rmtree(os.path.dirname(place), ignore_errors=True)
    return Script(windows, text, steps)


def _copy(step: Step) -> Step:
    return (*step[:-1], dict(step[-1])) if isinstance(step[-1], dict) else step


def _names(step: Step) -> list[str]:
    own = [step[1]] if len(step) > 1 and isinstance(step[1], str) else []
    plan = step[-1] if isinstance(step[-1], dict) else {}
    return own + [name for steps in plan.values() for inner in steps for name in _names(inner)]


# -- by hand


def main(arguments: list[str]) -> None:
    options = dict(a.split("=", 1) for a in arguments if "=" in a)
    words = [a for a in arguments if "=" not in a]
    if not words or words[0] not in ("run", "show", "shorten"):
        print(USAGE)
        return
    backend = options.pop("backend", "tests.store.sim.backend:Process")
    steps = int(options.pop("steps", 50))
    names = [w for w in words[1:] if w in SETTINGS]
    rest = [w for w in words[1:] if w not in SETTINGS]
    name = names[0] if names else "three"
    setting = {**SETTINGS[name], **{k: float(v) for k, v in options.items()}}
    setting["windows"], setting["undo"] = int(setting["windows"]), int(setting["undo"])
    if words[0] == "run":
        count, first = (int(n) for n in (rest + ["200", "0"][len(rest) :])[:2])
        start = time.monotonic()
        report = many(backend, setting, count, first, steps)
        print(f"{name}: {count} runs of {steps} steps, {time.monotonic() - start:.0f} s")
        print(report)
        return
    place = folder()
    atexit.register(shutil.rmtree, os.path.dirname(place), ignore_errors=True)
    director = Director(int(rest[0]), setting, place, load(backend))
    world = director.world
    script = Script({n: w.style for n, w in world.windows.items()}, world.past[0], world.steps)
    found = director.run(steps)
    if words[0] == "show":
        show(world, found, rest[1:])
        return
    cases = [case for case in found if case[0] not in MINOR] or found
    wanted = next((case for case in cases if case[1] in rest[1:]), cases[0])
    short = shorten(script, wanted, load(backend))
    world = replay(Script(short.windows, short.text, [*short.steps]), load(backend), place)
    show(world, world.end(), [])
    print("# " + " ".join(wanted) + "\n" + pprint.pformat(short, width=100))


def show(world: World, found: list[tuple[str, str]], wanted: list[str]) -> None:
    print({name: w.style for name, w in world.windows.items()})
    for row in world.trace:
        mark = "  <<<" if any(t in row for t in wanted) else ""
        print(row + mark)
    for kind, what in found:
        print(kind, what)
        for row in world.oracle.fate.get(what, ()):
            print("    ", row)
        if what in world.oracle.lines:
            print("    ", world.oracle.lines[what].text)

"""Random runs: each is determined by its seed and its setting."""

from __future__ import annotations

import random
import re
from typing import Any

from tests.store.sim.editors import STYLES, Window
from tests.store.sim.oracle import entry, tokens
from tests.store.sim.world import DAY, Backend, Step, World

WORDS = (
    "apple river stone cloud meadow tiger window paper candle bridge forest copper violet ladder "
    "pocket silver thunder garden marble orange pepper rocket saddle temple urgent velvet walnut "
    "yellow zephyr anchor basket cactus"
)  # fmt: skip
NAMES = ("Anna", "Bert", "Carla", "Dora", "Emil")
ALL = {
    "windows": 3,
    "watches": 0.7,  # a window reloads when the file changes
    "autosave": 0.3,  # a window saves after each edit
    "daemon": 0.5,  # Brain syncs before a step
    "kill": 0.07,  # per operation
    "race": 0.4,  # per operation: others act inside it
    "device": 0.03,
    "checkout": 0.01,
    "commit": 0.01,
    "resave": 0.01,  # a window saves what it has, changed or not
    "indexer": 0.3,  # a program reads after each change
    "backup": 0.02,  # a program reads now and then
    "jump": 0.01,
    "reboot": 0.003,
    "relocate": 0.005,
    "days": 0.01,
    "append": 0.05,
    "template": 0.3,  # lines that resemble each other
    "undo": 1,
    "torn": 1,
}
EXTRAS = [name for name in ALL if name not in ("windows", "watches", "daemon", "template")]
SETTINGS: dict[str, dict[str, Any]] = {
    "one": {**ALL, "windows": 1},
    "three": ALL,
    "plain": {**ALL, "windows": 1, **dict.fromkeys(EXTRAS, 0)},
    "prototype": {
        **ALL,
        **dict.fromkeys(("autosave", "commit", "indexer", "backup", "jump"), 0),
        **dict.fromkeys(("reboot", "relocate", "days"), 0),
    },
}
WAITS = [0.05, 0.2, 0.5, 1, 2, 2, 6, 6, 40, 600]


class Director:
    """Chooses the steps of a run."""

    def __init__(self, seed: int, setting: dict[str, Any], folder: str, backend: Any) -> None:
        self.random, self.setting = random.Random(seed), setting
        r = self.random
        self.count = 0
        names = [f"w{n}" for n in range(r.randint(1, setting["windows"]))]
        styles = ["place", "place", "torn", "rename", "rename", "backup", "fd"]
        if not setting["torn"]:
            styles.remove("torn")
        windows = {name: r.choice(styles) for name in names}
        self.watches = {name for name in names if r.random() < setting["watches"]}
        self.autosave = {name for name in names if r.random() < setting["autosave"]}
        self.indexer = r.random() < setting["indexer"]
        lines = ["# Memory", "", *(self.line("p") for _ in range(r.randint(1, 6))), ""]
        self.world = World(
            folder, backend, {**windows, "device": "rename"}, "\n".join(lines), self.interrupt
        )
        self.names = names

    def run(self, steps: int) -> list[tuple[str, str]]:
        for _ in range(steps):
            self.step()
        return self.world.end()

    def line(self, kind: str) -> str:
        r = self.random
        self.count += 1
        if r.random() < self.setting["template"]:
            text = f"call {r.choice(NAMES)} on day {r.randint(1, 9)}"
        else:
            text = " ".join(r.choices(WORDS.split(), k=r.randint(3, 6)))
        return f"- {text} ({kind}{self.count}.1)" + (f" ^a{self.count}" if kind == "a" else "")

    def other_words(self, token: str, dissimilar: bool = False) -> str:
        r, lines = self.random, self.world.oracle.lines
        line, name = lines[token].text, entry(token)
        k = 1 + max(int(t.split(".")[1]) for t in lines if entry(t) == name)
        words = line[2 : line.index("(")].split()
        if dissimilar:
            words = r.choices(WORDS.split(), k=4)
        else:
            words[-1] = r.choice(WORDS.split())
            if r.random() < 0.5:
                words.append(r.choice(WORDS.split()))
        id = re.search(r" \^a\d+$", line)
        return f"- {' '.join(words)} ({name}.{k})" + (id[0] if id else "")

    # -- Brain

    def plan(self) -> dict[int, Any]:
        """Choose the calls of the disk layer at which others act, or the process is killed."""
        r, out = self.random, {}
        if r.random() < self.setting["race"]:
            out = {r.randint(1, 40): None for _ in range(r.choice([1, 1, 2]))}
        if r.random() < self.setting["kill"]:
            out[r.randint(1, 40)] = [("kill",)]
        return out

    def brain(self, name: str) -> None:
        r, world = self.random, self.world
        number, held = r.randrange(3), r.random() < 0.2
        if name == "sync":
            world.do(("sync", number, self.plan()))
        elif name == "remember":
            world.do(("remember", number, self.line("a"), held, self.plan()))
        elif ids := world.entries():
            id = r.choice(ids)
            if name == "forget":
                world.do(("forget", number, id, held, self.plan()))
            else:
                old = [t for t in world.oracle.required() if entry(t) == id]
                if old:
                    line = self.other_words(old[-1])
                    world.do(("update", number, id, line, held, self.plan()))

    def interrupt(self, world: World) -> list[Step]:
        """Choose what others do inside an operation."""
        r = self.random
        w = world.windows[r.choice(self.names)]
        if w.rest is not None:
            return [("part", w.name, r.randint(1, len(w.rest)))]
        if world.torn:
            return []
        if r.random() < 0.15:
            return [("load", w.name)] if not w.dirty else [("read",)]
        if w.lines is None:
            return []
        return [*([] if w.dirty else [self.typing(w)]), self.saving(w)]

    # -- windows

    def typing(self, w: Window) -> Step:
        end = len(w.lines) - (w.lines[-1] == "")
        return ("type", w.name, self.line("p"), self.random.choice([end, *w.places()]))

    def saving(self, w: Window) -> Step:
        keep = w.style == "fd" and self.random.random() < 0.3
        gap: list[Step] = []
        if w.style == "backup" and self.random.random() < 0.3:
            gap = [("sync", 0, {})]
            if self.random.random() < 0.1:  # the editor is very slow
                gap.insert(0, ("wait", 2.0))
        return ("save", w.name, keep, gap)

    def edit(self, w: Window) -> None:
        r, do = self.random, self.world.do
        kinds = ["type"] * 5 + ["reword"] * 4 + ["rewrite", "delete", "delete", "move"]
        kind = r.choice(kinds + ["undo", "paste"] * self.setting["undo"])
        if kind == "type":
            return do(self.typing(w))
        if kind == "undo":
            return do(("undo", w.name)) if w.past else None
        if kind == "paste":
            return do(("paste", w.name, r.choice([0, *w.places()]))) if w.cut else None
        if not (places := w.places()):
            return None
        token = tokens(w.lines[r.choice(places)])[0]
        if kind == "delete":
            return do(("delete", w.name, token))
        if kind == "move":
            return do(("move", w.name, token, r.randrange(len(w.lines))))
        return do(("reword", w.name, token, self.other_words(token, kind == "rewrite")))

    def delete_again(self, w: Window) -> None:
        """A person deletes again what came back."""
        if w.dirty or self.world.torn:
            return
        self.world.do(("load", w.name))
        for t in sorted(w.deleted):
            if w._find(t) is not None:
                self.world.stats["deleted again"] += 1
                self.world.do(("delete", w.name, t))
        if w.dirty:
            self.world.do(self.saving(w))

    # -- one step

    def step(self) -> None:
        r, c, world = self.random, self.setting, self.world
        if r.random() < c["days"] and not world.torn:
            world.do(("wait", r.randint(1, 4) * DAY))
        world.do(("wait", r.choice([0.01, 0.05, 0.2] if world.torn else WAITS)))
        if world.torn and r.random() < 0.7:
            return world.do(("part", world.torn.name, r.randint(1, len(world.torn.rest))))
        if (self.indexer and r.random() < 0.8) or r.random() < c["backup"]:
            world.do(("read",))
        for name in self.names:
            w = world.windows[name]
            if name in self.watches and not w.dirty and w.lines is not None and r.random() < 0.7:
                world.do(("load", name))
        if r.random() < c["daemon"]:
            self.brain("sync")
        for name in ("jump", "reboot", "relocate", "commit"):
            if r.random() < c[name]:
                world.do((name, r.choice([-7200, -30, 30, 7200])) if name == "jump" else (name,))
        if r.random() < 0.35:
            return self.brain(r.choice(["remember"] * 3 + ["update", "forget", "sync", "sync"]))
        if r.random() < c["device"]:
            return self.device()
        if r.random() < c["checkout"]:
            world.do(("checkout", r.randint(1, 8)))
            return self.brain("sync") if r.random() < 0.8 else None
        if r.random() < c["append"]:
            return world.do(("append", self.line("p")))
        return self.window(world.windows[r.choice(self.names)])

    def window(self, w: Window) -> None:
        r, world = self.random, self.world
        if w.rest is not None:
            return world.do(("part", w.name, r.randint(1, len(w.rest))))
        if w.lines is None or (r.random() < 0.08 and not w.dirty):
            return world.do(("load", w.name))
        if r.random() < 0.1:
            return self.delete_again(w)
        if r.random() < self.setting["resave"]:
            return world.do((*self.saving(w), True))
        for _ in range(r.choice([1, 1, 1, 2, 3])):
            self.edit(w)
        if w.dirty and (w.name in self.autosave or r.random() < 0.75):
            world.do(self.saving(w))
        return None

    def device(self) -> None:
        """A sync service takes the note, and later brings it back with another line."""
        w = self.world.windows["device"]
        if w.lines is None or self.random.random() < 0.33:
            return self.world.do(("load", "device"))
        self.world.do(self.typing(w))
        return self.world.do(self.saving(w))


__all__ = ["SETTINGS", "STYLES", "Backend", "Director"]

"""Two devices with a copy of the vault each, that deliver notes and journals to each other in any
order, whole or in part, by copying or by git: in the end both know the same, and nothing twice."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from brain import events
from brain.api import Brain
from brain.errors import BrainError
from brain.formats import memory_md
from brain.index import read
from brain.index.db import Index
from brain.model import Write
from brain.new_vault import GITATTRIBUTES, GITIGNORE
from brain.open_vault import OpenVault
from brain.state import Use
from brain.vault import layout
from tests import kit
from tests.journal import kit as journals
from tests.journal.kit import Clock, steady

NOTE = "40_Brain/MEMORY.md"
JOURNAL = "40_Brain/journal"
MARK = re.compile(r"\bx\d+x\b")
REFS = ("m-00000001", "m-00000002", "m-00000003")
VAULT: dict[str, str | bytes] = {
    NOTE: "# Memory\n\n## Key Decisions\n"
    + "".join(f"- Decision {ref[-1]} ^{ref}\n" for ref in REFS)
    + "\n## Facts\n- Nothing here has an id\n- Nor has this\n",
    "40_Brain/brain.yaml": "holdSeconds: 0\nvaultId: v-devices\n",
    "40_Brain/.gitignore": GITIGNORE,
    "40_Brain/.gitattributes": GITATTRIBUTES,
    ".gitattributes": "*.md merge=union\n",  # a person would do that by hand
}
ENV = {
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "PATH": os.environ["PATH"],
    "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@b", "HOME": os.devnull,
}  # fmt: skip
numbers = st.integers(0, 1_000_000)
names = st.sampled_from(["a", "b"])
changes = st.sampled_from(["update", "update", "forget", "pin", "undo", "undo", "purge"])
Dump = list[Any]


class Machine:
    """One device: a vault, a state folder, and what nobody has taken out of its note."""

    def __init__(self, home: Path, name: str, clock: Clock) -> None:
        self.root, self.state, self.clock = home / name / "vault", home / name / "state", clock
        self.note = self.root / NOTE
        self.must: set[str] = set()
        self.had: set[str] = set()  # words that were in the note at some time
        self.shown: set[str] = set()  # words that were there at the last look
        self.past: list[tuple[str, bytes]] = []  # journals as they were
        self.clones = 0

    def open(self) -> None:
        self.brain = Brain(OpenVault(layout.find(self.root, self.state), self.clock))

    def words(self) -> set[str]:
        return set(MARK.findall(self.note.read_text()))

    def journals(self) -> dict[str, bytes]:
        """All files of all journals here, by their path in the journal folder."""
        folder = self.root / JOURNAL
        found = [path for path in sorted(folder.rglob("*.json*")) if path.is_file()]
        return {str(path.relative_to(folder)): path.read_bytes() for path in found}

    def take(self, name: str, data: bytes) -> None:
        """A sync tool writes a file beside and renames it."""
        path = self.root / JOURNAL / name
        path.parent.mkdir(parents=True, exist_ok=True)
        temp = path.with_name(".incoming")
        temp.write_bytes(data)
        os.replace(temp, path)

    def git(self, *args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["git", *args], cwd=self.root, env=ENV, capture_output=True, text=True, check=False
        )

    def commit(self) -> None:
        self.settle()
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "x")

    def merge(self, what: str) -> None:
        """Where git cannot merge (snapshots of a month), a person takes what is here."""
        if self.git("merge", "-q", "-m", "m", what).returncode:
            for path in self.git("diff", "--name-only", "--diff-filter=U").stdout.split("\n"):
                if path and self.git("checkout", "--ours", "--", path).returncode:
                    self.git("rm", "-q", "--", path)
            self.commit()
        assert not self.git("status", "--porcelain").stdout

    def settle(self) -> None:
        assert self.brain.vault.absorb() == []
        assert not self.brain.vault.has_pending()
        self.shown = self.words()
        self.had |= self.shown

    def dump(self) -> Dump:
        return [kit.dump(self.brain.vault.index), journals.dump(self.brain.vault.index)]


class Devices(RuleBasedStateMachine):
    """Whatever is written says a word (x1x, x2x, …) that is looked for later."""

    def __init__(self) -> None:
        super().__init__()
        self.steady = steady()
        self.steady.start()  # the same ids in each run
        fast = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.home = Path(tempfile.mkdtemp(prefix="devices", dir=fast)).resolve()
        self.clock = Clock()
        self.count = 0
        self.seen: dict[tuple[str, int], str] = {}  # which record each number stands for
        a, b = (Machine(self.home, name, self.clock) for name in "ab")
        kit.lay(a.root, VAULT)
        a.git("init", "-q", "-b", "main")
        a.git("add", "-A")
        assert not a.git("commit", "-q", "-m", "first").returncode
        b.root.parent.mkdir()
        assert not a.git("clone", "-q", str(a.root), str(b.root)).returncode
        self.both = {"a": a, "b": b}
        for one in (a, b):
            one.open()
            one.brain.sync()

    def teardown(self) -> None:
        try:
            self.agree()
        finally:
            for one in self.both.values():
                one.brain.close()
            shutil.rmtree(self.home)
            self.steady.stop()

    def _word(self) -> str:
        self.count += 1
        return f"x{self.count}x"

    def _refs(self, one: Machine) -> list[str]:
        entries = memory_md.parse(one.note.read_bytes(), "admin").entries
        return sorted(entry.ref for entry in entries if entry.kind != "note")

    def _ref(self, one: Machine, pick: int) -> str:
        found = self._refs(one)
        return found[pick % len(found)] if found else REFS[pick % 3]

    # -- agents ----------------------------------------------------------------------------------

    @rule(name=names, again=st.booleans())
    def remember(self, name: str, again: bool) -> None:
        """Perhaps what is known already; `again` counts as one more hit."""
        one, word = self.both[name], self._word() if not again else "x0x"
        one.brain.remember(f"An agent says {word}")
        one.must.add(word)

    @rule(name=names, pick=numbers, what=changes)
    def change(self, name: str, pick: int, what: str) -> None:
        one, word = self.both[name], self._word()
        try:
            if what == "update":
                one.brain.update(self._ref(one, pick), f"Updated to {word}")
            elif what == "undo":
                one.brain.undo()
            elif what == "purge":
                one.brain.forget(self._ref(one, pick), purge=True)
            else:
                getattr(one.brain, what)(self._ref(one, pick))
        except BrainError:
            return
        one.must = (one.must | {word} if what == "update" else one.must) & one.words()
        assert what != "update" or word in one.must

    @rule(name=names, pick=numbers, good=st.booleans())
    def judge(self, name: str, pick: int, good: bool) -> None:
        one = self.both[name]
        self._remember_files()
        try:
            ref = self._ref(one, pick)
            one.brain.reinforce(ref) if good else one.brain.demote(ref)
        except BrainError:
            return

    @rule(name=names, pick=numbers, other=numbers)
    def use(self, name: str, pick: int, other: int) -> None:
        one = self.both[name]
        refs = [self._ref(one, pick), self._ref(one, other)]
        now = one.brain.vault.now()
        uses = [Use("hit", ref, last=now) for ref in refs]
        if refs[0] != refs[1]:
            uses.append(Use("used_together", *sorted(refs), last=now))
        one.brain.vault.state.add_uses(uses)

    @rule(name=names, pick=numbers, other=numbers, op=st.sampled_from(["conflict", "resolve"]))
    def dispute(self, name: str, pick: int, other: int, op: str) -> None:
        one = self.both[name]
        data = {"other": self._ref(one, other), "type": "contradictory"}
        one.brain.vault.store.apply([Write(op, self._ref(one, pick), None, data)])

    @rule(name=names)
    def flush(self, name: str) -> None:
        self.both[name].brain.journal_write()

    @rule()
    def a_month_later(self) -> None:
        self.clock.forward(days=31)
        for one in self.both.values():
            one.brain.journal_write()

    # -- people ----------------------------------------------------------------------------------

    @rule(name=names, pick=numbers, how=st.sampled_from(["write", "rewrite", "delete"]))
    def person(self, name: str, pick: int, how: str) -> None:
        """A bullet that has no id keeps its history when it is rewritten."""
        one, word = self.both[name], self._word()
        one.brain.sync()
        text = one.note.read_text()
        bullets = re.findall(r"^- .*\n", text, re.MULTILINE)
        line = bullets[pick % len(bullets)] if bullets else ""
        new = {"write": f"{line}- A person wrote {word}\n", "rewrite": f"- {word} {line[2:]}"}
        if how == "write" and not line:
            text += f"\n{new['write']}"
        text = text.replace(line, new.get(how, ""), 1) if line else text
        one.note.write_text(text)
        one.brain.sync()
        one.must = (one.must | {word}) & one.words()

    # -- how things get from one to the other ----------------------------------------------------

    def _pair(self, name: str) -> tuple[Machine, Machine]:
        return self.both[name], self.both["b" if name == "a" else "a"]

    @rule(name=names, look=st.booleans())
    def send_note(self, name: str, look: bool) -> None:
        """The other's note is replaced, as by a tool for which the newest one wins."""
        one, other = self._pair(name)
        one.settle()
        other.settle()
        temp = other.note.with_name("incoming")
        shutil.copy2(one.note, temp)
        os.replace(temp, other.note)
        removed = other.had - other.shown  # here, so they need not come back with an older text
        other.must = one.must - removed
        if look:
            other.brain.sync()

    @rule(name=names, pick=numbers, part=st.sampled_from([1.0, 1.0, 0.5, 0.9]), twice=st.booleans())
    def send_file(self, name: str, pick: int, part: float, twice: bool) -> None:
        """One month of one device, perhaps not all of it yet."""
        one, other = self._pair(name)
        there = self._others(one, other)
        if there:
            file = sorted(there)[pick % len(there)]
            data = there[file][: int(len(there[file]) * part)]
            for _ in range(1 + twice):
                other.take(file, data)
                other.brain.sync()

    @rule(name=names, pick=numbers, look=st.booleans())
    def send_device(self, name: str, pick: int, look: bool) -> None:
        one, other = self._pair(name)
        there = self._others(one, other)
        devices = sorted({file.partition("/")[0] for file in there})
        for file, data in there.items():
            if file.startswith(devices[pick % len(devices)]):
                other.take(file, data)
        if look:
            other.brain.sync()

    def _others(self, one: Machine, other: Machine) -> dict[str, bytes]:
        """The journals that `one` may send: not what the other one writes itself."""
        self._remember_files()
        own = other.brain.vault.journal.device
        return {file: data for file, data in one.journals().items() if not file.startswith(own)}

    def _remember_files(self) -> None:
        for one in self.both.values():
            files = [pair for pair in one.journals().items() if pair not in one.past]
            one.past = (one.past + files)[-30:]

    @rule(name=names, pick=numbers, own=st.booleans())
    def bring_back(self, name: str, pick: int, own: bool) -> None:
        """An older version of a journal, perhaps of the own one: a backup, or a slow sync tool."""
        one = self.both[name]
        self._remember_files()
        mine = one.brain.vault.journal.device if own else ""
        there = [pair for pair in one.past if pair[0].startswith(mine)]
        if there:
            one.take(*there[pick % len(there)])
            self.judge(name, pick, own)

    @rule(name=names)
    def clone(self, name: str) -> None:
        """The state folder is copied, and the copy used from now on: it is another device."""
        one = self.both[name]
        one.settle()
        one.brain.journal_write()
        before = one.brain.vault.journal.device
        one.brain.close()
        one.clones += 1
        target = one.state.with_name(f"state{one.clones}")
        shutil.copytree(one.state, target)
        one.state = target
        one.open()
        one.brain.vault.store.apply([Write("reinforce", REFS[0], None, {"delta": 3})])
        assert one.brain.vault.journal.device != before

    @rule(name=names)
    def lose_the_index(self, name: str) -> None:
        for path in (self.both[name].root / "40_Brain").glob("brain.db*"):
            path.unlink()

    # -- git -------------------------------------------------------------------------------------

    @rule(name=names)
    def pull(self, name: str) -> None:
        """Commit on both sides and merge: what either has added since is there."""
        other, one = self._pair(name)
        one.commit()
        other.commit()
        assert not one.git("fetch", "-q", str(other.root), "main").returncode
        base = one.git("show", f"{self._base(one)}:{NOTE}").stdout
        new = (one.must | other.must) - set(MARK.findall(base))
        one.merge("FETCH_HEAD")
        one.must = new | (one.must & other.must)
        self.look(name)

    def _base(self, one: Machine) -> str:
        return one.git("merge-base", "HEAD", "FETCH_HEAD").stdout.strip()

    @rule(name=names, back=st.integers(1, 4), pick=numbers)
    def visit_the_past(self, name: str, back: int, pick: int) -> None:
        """Check out an older commit, do something there, and merge that into the present."""
        one = self.both[name]
        one.commit()
        count = int(one.git("rev-list", "--count", "--first-parent", "HEAD").stdout)
        must, at = one.must, f"HEAD~{min(back, count - 1)}"
        assert not one.git("checkout", "-q", at).returncode
        base, one.must = one.words(), one.words()
        self.judge(name, pick, True)
        self.remember(name, False)
        new = one.must - base
        one.commit()
        past = one.git("rev-parse", "HEAD").stdout.strip()
        assert not one.git("checkout", "-q", "main").returncode
        assert must <= one.words()
        one.must = must | new
        one.merge(past)
        self.look(name)

    # -- what always holds -----------------------------------------------------------------------

    @rule(name=names)
    def look(self, name: str) -> None:
        one = self.both[name]
        assert one.must <= one.words(), one.must - one.words()
        self._numbers_hold(one)
        one.brain.sync()
        found, last = one.dump(), events.newest(one.brain.vault.index)
        files = one.journals(), one.note.read_bytes()
        assert one.brain.sync().quiet
        assert (one.journals(), one.note.read_bytes()) == files
        assert (one.dump(), events.newest(one.brain.vault.index)) == (found, last)
        assert self._rebuilt(one) == found

    def _rebuilt(self, one: Machine) -> Dump:
        state = self.home / "fresh"
        vault = one.brain.vault.paths._replace(state_path=str(one.brain.vault.paths.state_path))
        with Brain(OpenVault(vault, self.clock)) as fresh:
            fresh.vault.index = Index(state / "brain.db", vault.folder_path)
            state.mkdir()
            fresh.sync()
            found = [kit.dump(fresh.vault.index), journals.dump(fresh.vault.index)]
        shutil.rmtree(state)
        return found

    def _numbers_hold(self, one: Machine) -> None:
        """No number of a device stands for two records, whoever was copied or restored."""
        for record in _records(one):
            key = record["device"], record["seq"]
            assert self.seen.setdefault(key, record["id"]) == record["id"], key

    @rule()
    def agree(self) -> None:
        """When all has arrived everywhere, both know the same: what a plain sum says."""
        a, b = self.both.values()
        for one in (a, b):
            one.settle()
            one.brain.journal_write()
        self.send_note("a", True)
        for _ in range(6):
            before = a.journals(), b.journals()
            self._exchange(a, b)
            for one in (a, b):
                one.brain.sync()
                one.brain.journal_write()  # when a memory was first seen is known now
            if before == (a.journals(), b.journals()):
                break
        else:
            raise AssertionError("they go on telling each other something new")
        self.look("a")
        self.look("b")
        assert a.dump() == b.dump()
        self._adds_up(a)

    def _exchange(self, a: Machine, b: Machine) -> None:
        """Of two versions of a file the longer one wins, as it would by any sync tool."""
        one, two = a.journals(), b.journals()
        for file in sorted({*one, *two}):
            best = max(one.get(file, b""), two.get(file, b""), key=lambda data: (len(data), data))
            for machine, has in ((a, one), (b, two)):
                if has.get(file) != best:
                    machine.take(file, best)

    def _adds_up(self, one: Machine) -> None:
        scores, hits = _sums(list(_records(one)))
        refs = {*scores, *hits, *self._refs(one)}
        known = read.facts(one.brain.vault.index, refs)
        for ref in refs:
            found = known.get(ref, read.Facts(ref))
            assert (found.score, found.hits) == (scores[ref], hits[ref]), ref


def _records(one: Machine) -> Iterator[dict[str, Any]]:
    for name, data in one.journals().items():
        for line in data.split(b"\n") if name.endswith(".jsonl") else ():
            try:
                record = orjson.loads(line)
            except orjson.JSONDecodeError:
                continue  # not all of it has come
            yield record


def _sums(records: list[dict[str, Any]]) -> tuple[dict[str, float], dict[str, int]]:
    """Score and hits of each id, added up in the plainest way there is."""
    every = {(record["device"], record["seq"]): record for record in records}.values()
    own = {record["ref"] for record in every if record["op"] == "remember"}
    same: dict[str, set[str]] = {}
    for record in every:
        if record["op"] == "alias" and own.isdisjoint((record["ref"], record["old"])):
            group = _of(same, record["ref"]) | _of(same, record["old"])
            same |= dict.fromkeys(group, group)
    gone: dict[str, Any] = {}
    for record in every:
        for ref in (record["ref"], *record["refs"]) if record["op"] == "purge" else ():
            gone |= {one: max(gone.get(one, ()), _key(record)) for one in _of(same, ref)}
    scores: dict[str, float] = defaultdict(float)
    hits: dict[str, int] = defaultdict(int)
    for record in every:
        if record["op"] not in ("alias", "purge") and _key(record) >= gone.get(record["ref"], ()):
            for ref in _of(same, record["ref"]):
                scores[ref] += record.get("delta", 0)
                hits[ref] += _hits(record)
    return scores, hits


def _of(same: dict[str, set[str]], ref: str) -> set[str]:
    return same.get(ref, {ref})


def _key(record: dict[str, Any]) -> tuple[int, str, int]:
    return record["lamport"], record["device"], record["seq"]


def _hits(record: dict[str, Any]) -> int:
    if record["op"] == "undo":
        return -1 if record.get("undid") == "merge" else 0
    return int(record["count"]) if record["op"] == "hit" else int(record["op"] == "merge")


class TestDevices(Devices.TestCase):  # type: ignore[name-defined,misc]
    # the same examples each time, so that no build fails by chance; the long run takes new ones
    settings = settings(max_examples=20, stateful_step_count=30, derandomize=True)


@pytest.mark.stress
class TestLongDevices(Devices.TestCase):  # type: ignore[name-defined,misc]
    settings = settings(max_examples=150, stateful_step_count=50)

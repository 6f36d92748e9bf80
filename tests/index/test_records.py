"""The facts: the same on every machine, in whatever order journals arrive."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from brain.index import read
from brain.index import records as index_records
from brain.index.db import Index
from brain.index.records import group_ids
from brain.journal.codec import encode
from brain.journal.reader import update_index
from brain.journal.writer import Journal
from brain.model import Record
from tests.journal.kit import (
    Clock,
    device,
    dump,
    index,
    links,
    problems,
    put,
    rebuilt,
    selected,
    steady,
)

REFS = ("m-1", "m-2", "m-3", "m-4")
WORDS: dict[str, Any] = {
    "remember": {"confidence": 0.8, "importance": 0.5, "source": "inferred", "session": "s1"},
    "update": {"confidence": 0.9, "before": "a", "after": "b"},
    "reinforce": {"delta": 3},
    "demote": {"delta": -1.5},
    "reject": {},
    "hit": {"count": 2, "last": "2026-02-02T00:00:00.000Z"},
    "merge": {},
    "undo": {"delta": -3, "undid": "reinforce", "of": "e-1"},
    "pin": {},
}
Word = tuple[str, str, str]
ops = st.sampled_from([*WORDS, "alias", "used_together", "conflict", "resolve", "purge"])
words = st.tuples(ops, st.sampled_from(REFS), st.sampled_from(REFS))


def say(journal: Journal, word: Word) -> None:
    op, ref, other = word
    data = WORDS.get(op, {"old": other} if op == "alias" else {"other": other})
    put(journal, op, ref, f"by-{op}", **data)


@pytest.fixture
def known(tmp_path: Path) -> Index:
    return index(tmp_path)


# -- what counts ---------------------------------------------------------------------------------


def of(journal: Journal, known: Index, ref: str = "m-1") -> read.Facts:
    update_index(journal, known)
    return read.facts(known, [ref]).get(ref, read.Facts(ref))


def test_feedback_adds_up(tmp_path: Path, known: Index) -> None:
    clock = Clock()
    here, there = device(tmp_path, "a", clock), device(tmp_path, "b", clock)
    put(here, "remember", by="ann", session="s-7", source="extracted", confidence=0.7, importance=1)
    clock.forward(hours=1)
    put(there, "reinforce", delta=3)
    put(here, "demote", delta=-1)
    put(here, "reinforce")  # the usual +3
    put(there, "reject")
    clock.forward(hours=1)
    put(here, "hit", count=4, last="2026-03-01T13:30:00.000Z")
    assert of(here, known) == read.Facts(
        "m-1", 5.0, 4, 0, 2, 1, 1, "2026-03-01T13:00:00.000Z", "2026-03-01T13:30:00.000Z",
        "2026-03-01T12:00:00.000Z", "ann", "s-7", 0.7, 1.0, "extracted", "",
    )  # fmt: skip


def test_a_duplicate_is_a_hit_and_a_touch_and_no_score(tmp_path: Path, known: Index) -> None:
    journal = device(tmp_path)
    put(journal, "merge")
    found = of(journal, known)
    assert (found.merges, found.hits, found.score) == (1, 1, 0)
    assert found.touched == "2026-03-01T12:00:00.000Z"


def test_taking_feedback_back_leaves_nothing_of_it(tmp_path: Path, known: Index) -> None:
    journal = device(tmp_path)
    put(journal, "reinforce", delta=3.0)
    put(journal, "undo", delta=-3.0, undid="reinforce")
    found = of(journal, known)
    assert (found.score, found.reinforced) == (0, 0)


def test_what_two_devices_take_back_is_taken_back_once(tmp_path: Path, known: Index) -> None:
    journal = device(tmp_path)
    put(journal, "reinforce", delta=3.0)
    put(journal, "merge")
    for _ in range(2):
        put(journal, "undo", delta=-3.0, undid="reinforce", of="e-1")
        update_index(journal, known)
        put(journal, "undo", undid="merge", of="e-2")
    found = of(journal, known)
    assert (found.score, found.reinforced, found.merges, found.hits) == (0, 0, 0, 0)
    known.rebuild()
    assert of(journal, known) == found


def test_what_was_taken_back_can_be_given_and_taken_back_again(
    tmp_path: Path, known: Index
) -> None:
    journal = device(tmp_path)
    given = put(journal, "reinforce", delta=3.0)
    for _ in range(2):
        taken = put(journal, "undo", delta=-3.0, undid="reinforce", of=given.id)
        found = of(journal, known)
        assert (found.score, found.reinforced) == (0, 0)
        put(journal, "undo", delta=3.0, undid="undo", of=taken.id)
        found = of(journal, known)
        assert (found.score, found.reinforced) == (3, 1)


def test_no_count_is_less_than_nothing(tmp_path: Path, known: Index) -> None:
    journal = device(tmp_path)
    put(journal, "undo", undid="merge", of="e-1")
    put(journal, "undo", undid="hit", of="e-2")
    found = of(journal, known)
    assert (found.merges, found.hits) == (0, 0)


def test_fractions_of_a_score_add_up_exactly(tmp_path: Path, known: Index) -> None:
    journal = device(tmp_path)
    for _ in range(10):
        put(journal, "demote", delta=-0.1)
    assert of(journal, known).score == -1


@pytest.mark.parametrize("delta", ["3", None, [], {}, True, 1e300, 10**12])
def test_nonsense_counts_for_nothing(tmp_path: Path, known: Index, delta: Any) -> None:
    journal = device(tmp_path)
    put(journal, "reinforce", delta=delta)
    put(journal, "hit", count=delta, last=delta)
    put(journal, "remember", confidence=delta if delta is not True else "x", source=delta)
    put(journal, "used_together", other=delta)
    put(journal, "conflict", other=delta)
    put(journal, "alias", old=delta if not isinstance(delta, str) else "")
    put(journal, "purge", "", refs=delta)
    put(journal, "reinforce", delta=1)
    found = of(journal, known)
    assert found.reinforced == 2
    assert found.score in (1, 2)
    assert problems(journal) == []


def test_the_first_add_tells_who_and_when(tmp_path: Path, known: Index) -> None:
    clock = Clock()
    journal = device(tmp_path, clock=clock)
    put(journal, "remember", by="ann", confidence=0.5)
    clock.forward(days=3)
    put(journal, "remember", by="bob", confidence=0.6)
    found = of(journal, known)
    assert (found.by, found.created[:10], found.confidence) == ("ann", "2026-03-01", 0.6)


def test_the_later_device_wins_not_the_faster_clock(tmp_path: Path, known: Index) -> None:
    ahead = device(tmp_path, "a", Clock(Clock().now.replace(year=2031)))
    put(ahead, "update")
    put(device(tmp_path, "b"), "update")
    assert of(ahead, known).touched.startswith("2026")


def test_an_entry_is_known_by_each_of_its_ids(tmp_path: Path, known: Index) -> None:
    journal = device(tmp_path)
    put(journal, "reinforce", "m-3")
    put(journal, "alias", "m-2", old="m-3")
    put(journal, "alias", "m-3", old="m-2")  # edited, and back
    put(journal, "reinforce", "m-2")
    assert of(journal, known, "m-2") == of(journal, known, "m-3")
    assert of(journal, known, "m-3").score == 6
    put(journal, "alias", "m-1", old="m-3")
    put(journal, "demote", "m-1")
    assert {of(journal, known, ref).score for ref in REFS[:3]} == {5}
    assert of(journal, known, "m-2").ref == "m-1"
    assert read.all_ids(known, "m-3") == set(REFS[:3])
    assert read.all_ids(known, "m-9") == {"m-9"}


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("added", [["m-1"], ["m-2"], ["m-1", "m-2"]])
def test_an_id_that_an_entry_was_added_with_is_no_other_entrys(
    tmp_path: Path, known: Index, added: list[str], late: bool
) -> None:
    """Journals of before may say so, whatever is read first."""
    here, there = device(tmp_path, "a"), device(tmp_path, "b")
    for ref in [] if late else added:
        put(there, "remember", ref)
        update_index(here, known)
    put(here, "alias", "m-1", old="m-2")
    put(here, "alias", "m-2", old="m-1")
    put(here, "reinforce", "m-2")
    update_index(here, known)
    for ref in added if late else []:
        put(there, "remember", ref)
    assert [of(here, known, ref).score for ref in REFS[:2]] == [0, 3]
    assert read.all_ids(known, "m-1") == {"m-1"}
    assert dump(known) == rebuilt(here, known)
    put(here, "purge", "m-1")
    assert [of(here, known, ref).score for ref in REFS[:2]] == [0, 3]
    assert "reinforce" in [r.op for r in selected(here, known, refs=["m-2"])]
    here.purge(["m-1"])
    put(here, "alias", "m-1", old="m-2")
    assert [of(here, known, ref).score for ref in REFS[:2]] == [0, 3]
    assert "reinforce" in [r.op for r in selected(here, known, refs=["m-2"])]
    assert dump(known) == rebuilt(here, known)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9))))
def test_classes_do_not_depend_on_order(pairs: list[tuple[int, int]]) -> None:
    given_ = [(f"m-{a}", f"m-{b}") for a, b in pairs]
    found = group_ids(given_)
    assert found == group_ids(reversed(given_))
    assert all(found[a] == found[b] for a, b in given_)
    assert all(name == min(ref for ref in found if found[ref] == name) for name in found.values())


# -- purging -------------------------------------------------------------------------------------


def test_purging_forgets_what_was_and_not_what_comes(tmp_path: Path, known: Index) -> None:
    here, there = device(tmp_path, "a"), device(tmp_path, "b")
    put(here, "update", "m-2", before="a secret")
    put(here, "alias", "m-1", old="m-2")
    put(there, "reinforce", "m-1")
    put(there, "used_together", "m-1", other="m-4")
    put(there, "conflict", "m-4", other="m-2")
    put(here, "purge", "m-1")
    found = of(here, known, "m-2")
    assert (found.score, found.touched, found.purged[:4]) == (0, "", "2026")
    assert links(known, "m-4") == []
    assert index_records.conflicts(known) == []
    assert [r.op for r in selected(here, known, refs=["m-1", "m-2"])] == ["purge"]
    put(there, "reinforce", "m-2")
    assert of(here, known, "m-1").score == 3
    assert dump(known) == rebuilt(here, known)


def test_what_an_offline_device_says_later_is_purged_too(tmp_path: Path, known: Index) -> None:
    here, there = device(tmp_path, "a"), device(tmp_path / "offline", "b")
    put(here, "reinforce")
    put(there, "reinforce")
    put(here, "purge")
    update_index(here, known)
    shutil.copytree(tmp_path / "offline/40_Brain/journal", here.folder, dirs_exist_ok=True)
    assert of(here, known).score == 0
    assert dump(known) == rebuilt(here, known)


def test_scrubbing_takes_the_words_out_of_our_own_files(tmp_path: Path, known: Index) -> None:
    clock = Clock()
    here, there = device(tmp_path, "a", clock), device(tmp_path, "b", clock)
    put(here, "remember", "m-1", after="password: hunter2")
    put(here, "reinforce", "m-2")
    clock.forward(days=31)
    put(here, "update", "m-1", before="password: hunter2", after="none")
    theirs = put(there, "update", "m-1", before="hunter2 it was")
    purge = put(here, "purge", "m-1")
    before = of(here, known, "m-2"), len(list(Path(here.folder, here.device).glob("*.jsonl")))
    assert here.purge(["m-1"]) == [f"40_Brain/journal/{theirs.device}/2026-04.jsonl"]
    for path in Path(here.folder, here.device).iterdir():
        assert b"hunter2" not in path.read_bytes()
    assert (of(here, known, "m-2"), len(list(Path(here.folder, here.device).glob("*.jsonl")))) == (
        before
    )
    assert problems(here) == []
    assert here.has([purge.id]) == {purge.id}
    assert put(here, "pin", "m-2").seq == 5
    assert put(device(tmp_path, "a", clock), "pin").device == here.device
    assert here.purge(["m-9"]) == []


# -- the same in any order -----------------------------------------------------------------------


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 2), words), min_size=1, max_size=25),
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 100), st.booleans()), max_size=12),
)
def test_any_delivery_comes_to_the_same_facts(
    tmp_path_factory: pytest.TempPathFactory,
    said: list[tuple[int, Word]],
    pieces: list[tuple[int, int, bool]],
) -> None:
    """Three devices write; their files reach us in pieces, cut anywhere, in any order."""
    root = tmp_path_factory.mktemp("order")
    with steady(), index(root, "known") as known, index(root, "fresh") as fresh:
        journals = [device(root, name) for name in "abc"]
        for number, word in said:
            say(journals[number], word)
        here = device(root / "here", "d")
        source, target = Path(journals[0].folder), Path(here.folder)
        written = sorted(path.relative_to(source) for path in source.glob("*/*.jsonl"))
        for number, percent, look in [*pieces, *((n, 100, True) for n in range(3))]:
            path = written[number % len(written)]
            content = (source / path).read_bytes()
            have = (target / path).stat().st_size if (target / path).exists() else 0
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            (target / path).write_bytes(content[: max(have, len(content) * percent // 100)])
            if look:
                update_index(here, known)
        for path in written:
            (target / path).write_bytes((source / path).read_bytes())
        update_index(here, known)
        assert dump(known) == rebuilt(here, fresh) == rebuilt(journals[0], fresh)


class Machine(RuleBasedStateMachine):
    """Devices write, files are cut, brought back, doubled and lost; after each step the index that
    followed says what one says that was made from nothing."""

    @initialize()
    def start(self) -> None:
        import tempfile

        self.steady = steady()
        self.steady.start()
        self.root = Path(tempfile.mkdtemp())
        self.clock = Clock()
        self.journals = [device(self.root, name, self.clock) for name in "ab"]
        self.known, self.fresh = index(self.root, "known"), index(self.root, "fresh")
        self.backups: list[tuple[Path, bytes]] = []

    @rule(which=st.integers(0, 1), said=st.lists(words, min_size=1, max_size=5))
    def write(self, which: int, said: list[Word]) -> None:
        for word in said:
            say(self.journals[which], word)

    @rule(days=st.sampled_from([1, 40, -3]))
    def time_passes(self, days: int) -> None:
        self.clock.forward(days=days)

    @rule(which=st.integers(0, 1))
    def scrub(self, which: int) -> None:
        self.journals[which].purge(["m-1"])

    @rule(which=st.integers(0, 1))
    def forget_who_one_is(self, which: int) -> None:
        state = self.journals[which].state
        state.close()
        Path(state.path).unlink(missing_ok=True)

    def files(self) -> list[Path]:
        return sorted(Path(self.journals[0].folder).glob("*/*.jsonl"))

    @precondition(lambda self: self.files())
    @rule(which=st.integers(0, 9))
    def back_up(self, which: int) -> None:
        path = self.files()[which % len(self.files())]
        self.backups.append((path, path.read_bytes()))

    @precondition(lambda self: self.backups)
    @rule(which=st.integers(0, 9))
    def restore(self, which: int) -> None:
        path, content = self.backups[which % len(self.backups)]
        path.write_bytes(content)

    @precondition(lambda self: self.files())
    @rule(
        which=st.integers(0, 9),
        percent=st.integers(0, 99),
        how=st.sampled_from(["cut", "double", "flip", "swap", "lose", "garbage"]),
    )
    def damage(self, which: int, percent: int, how: str) -> None:
        path = self.files()[which % len(self.files())]
        content = path.read_bytes()
        at = len(content) * percent // 100
        lines = content.split(b"\n")[:-1]
        if how == "cut":
            content = content[:at]
        elif how == "double":
            content += content[at:]
        elif how == "flip" and content:
            content = content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
        elif how == "swap" and len(lines) > 1:
            lines[0], lines[-1] = lines[-1], lines[0]
            content = b"".join(line + b"\n" for line in lines)
        elif how == "garbage":
            content += b"garbage\n"
        if how == "lose":
            path.unlink()
        else:
            path.write_bytes(content)

    @rule()
    def index_is_lost(self) -> None:
        self.known.rebuild()

    @invariant()
    def rebuilt_is_the_same(self) -> None:
        if not self.files():
            self.known.rebuild()  # that all journals are gone is not believed
        update_index(self.journals[0], self.known)
        assert dump(self.known) == rebuilt(self.journals[1], self.fresh)
        assert not update_index(self.journals[1], self.known)

    def teardown(self) -> None:
        if hasattr(self, "known"):
            self.steady.stop()
            self.known.close()
            self.fresh.close()
            shutil.rmtree(self.root)


Machine.TestCase.settings = settings(max_examples=15, stateful_step_count=15, deadline=None)
test_incremental_equals_rebuilt = Machine.TestCase


def test_nothing_new_costs_no_write(tmp_path: Path, known: Index) -> None:
    journal = device(tmp_path)
    put(journal, "remember")
    assert update_index(journal, known)
    seal = known.path, Path(known.path).stat().st_mtime_ns, Path(known._seal).stat().st_mtime_ns
    assert not update_index(journal, known)
    assert not update_index(device(tmp_path, "b"), known)
    assert seal == (
        known.path,
        Path(known.path).stat().st_mtime_ns,
        Path(known._seal).stat().st_mtime_ns,
    )


def test_facts_outlast_journals_that_are_not_mounted(tmp_path: Path, known: Index) -> None:
    journal = device(tmp_path)
    put(journal, "reinforce")
    update_index(journal, known)
    Path(journal.folder).rename(tmp_path / "elsewhere")
    assert of(journal, known).score == 3
    (tmp_path / "elsewhere").rename(journal.folder)
    assert of(journal, known).score == 3


def test_it_can_be_part_of_a_transaction(tmp_path: Path, known: Index) -> None:
    journal = device(tmp_path)
    put(journal, "reinforce")
    with known.exclusive(), known.transaction():
        assert update_index(journal, known)
    assert read.facts(known, ["m-1"])["m-1"].score == 3


# -- what stands in a file out of place -----------------------------------------------------------


def write(journal: Journal, *given: tuple[str, int, str, dict[str, Any]]) -> None:
    """A file of records, of which these are device, counter, op and data: as sound as any."""
    path = Path(journal.folder, "aaaaaaaa", "2026-03.jsonl")
    path.parent.mkdir(parents=True)
    records = [
        Record(f"e-{seq}", f"2026-03-0{seq}T", name, seq, lamport, "bot", op, "m-1", "", data)
        for seq, (name, lamport, op, data) in enumerate(given, 1)
    ]
    path.write_bytes(encode(records))


def test_a_record_of_another_device_between_ours_is_not_counted(
    tmp_path: Path, known: Index
) -> None:
    journal = device(tmp_path)
    write(
        journal, ("aaaaaaaa", 1, "remember", {}), ("b", 2, "update", {}), ("aaaaaaaa", 3, "pin", {})
    )
    assert of(journal, known).touched == ""
    assert ["belongs to b" in str(row[-1]) for row in dump(known)].count(True) == 1


@pytest.mark.parametrize("op", ["update", "reinforce", "hit"])
def test_the_counter_tells_what_is_last_and_not_the_place(
    tmp_path: Path, known: Index, op: str
) -> None:
    journal = device(tmp_path)
    write(journal, *(("aaaaaaaa", lamport, op, {"why": "x"}) for lamport in (1, 9, 5)))
    found = of(journal, known)
    assert max(found.touched, found.last_hit) == "2026-03-02T"


@pytest.mark.parametrize("numbers", [(1, 2, 2, 3), (1, 2, 4, 5), (2, 1, 3, 4)])
def test_numbers_that_are_not_in_a_row_count_once_each(
    tmp_path: Path, known: Index, numbers: tuple[int, ...]
) -> None:
    journal = device(tmp_path)
    path = Path(journal.folder, "aaaaaaaa", "2026-03.jsonl")
    path.parent.mkdir(parents=True)
    head = ("aaaaaaaa", "bot", "hit", "m-1", "")
    records = [
        Record(f"e-{at}", "2026", head[0], seq, seq, *head[1:], {})
        for at, seq in enumerate(numbers)
    ]
    path.write_bytes(encode(records))
    assert of(journal, known).hits == len(set(numbers))


@pytest.mark.parametrize("seq", ["1", 0, 1.5, None])
def test_a_first_line_without_a_number_is_reported(tmp_path: Path, known: Index, seq: Any) -> None:
    journal = device(tmp_path)
    path = Path(journal.folder, "aaaaaaaa", "2026-03.jsonl")
    path.parent.mkdir(parents=True)
    rest = ("bot", "hit", "m-1", "", {"why": "x"})
    records = [Record("e-1", "2026", "aaaaaaaa", each, 1, *rest) for each in (seq, 2)]
    path.write_bytes(encode(records))
    assert of(journal, known).hits == 1
    assert [problem.line for _, problem in problems(journal)] == [1]


def test_the_parts_of_a_change_are_found_without_reading_every_record(known: Index) -> None:
    asked: list[str] = []
    known.db.set_trace_callback(asked.append)
    list(index_records.select(known, part_of="e-1"))
    known.db.set_trace_callback(None)
    plan = known.db.execute(f"EXPLAIN QUERY PLAN {asked[-1]}").fetchall()
    assert "records_part" in str(plan), plan

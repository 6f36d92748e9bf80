"""Reading: a damaged line is set aside and reported, the rest counts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brain.journal import Journal, Record
from brain.journal.read import Reader, Seen
from tests.journal.kit import Clock, device, file, ids, put


def written(root: Path, count: int = 5) -> tuple[Journal, list[Record], Path]:
    journal = device(root)
    made = [put(journal, "update", f"m-{n}", before="Wal", after="ross 🦭") for n in range(count)]
    return journal, made, file(journal)


def test_a_flipped_bit_costs_the_line_it_is_in(tmp_path: Path) -> None:
    """Anywhere in the file; only where two lines become one do both go."""
    journal, made, path = written(tmp_path, 4)
    whole = path.read_bytes()
    ends = [at for at, byte in enumerate(whole) if byte == 10]
    for place in range(len(whole)):
        hit = sum(end < place for end in ends)
        for bit in {place % 8, 5}:  # 5 is that of upper and lower case
            damaged = bytearray(whole)
            damaged[place] ^= 1 << bit
            path.write_bytes(damaged)
            lost = {hit, hit + 1} if place in ends else {hit}
            kept = [record for n, record in enumerate(made) if n not in lost]
            found = list(journal.records())
            if place == len(whole) - 1:  # the last newline: a line that has none is whole
                assert found in (made, made[:-1])
                continue
            assert found == kept, (place, bit)
            assert {p.code for _, p in journal.problems()} <= {"journal-line", "journal-torn"}
            assert journal.problems(), (place, bit)


@settings(max_examples=60)
@given(st.permutations(range(8)), st.lists(st.integers(0, 7), max_size=6))
def test_lines_that_a_merge_moved_or_doubled_count_once(
    tmp_path_factory: pytest.TempPathFactory, order: list[int], doubled: list[int]
) -> None:
    journal, made, path = written(tmp_path_factory.mktemp("merge"), 8)
    lines = path.read_bytes().split(b"\n")[:-1]
    path.write_bytes(b"".join(lines[n] + b"\n" for n in [*order, *doubled]))
    assert list(journal.records()) == made
    assert list(journal.records(reverse=True)) == made[::-1]
    assert journal.problems() == []


def test_garbage_between_lines_is_reported_with_its_line(tmp_path: Path) -> None:
    journal, made, path = written(tmp_path, 3)
    lines = path.read_bytes().split(b"\n")
    bad = [b"<<<<<<< HEAD", b"{}", b'{"id":1}', b"\xff\xfe", b"", b'"', b'{"sum":"00000000"}']
    path.write_bytes(b"\n".join([lines[0], *bad, *lines[1:]]))
    assert list(journal.records()) == made
    assert [problem.line for _, problem in journal.problems()] == [2, 3, 4, 5, 7, 8]


def test_a_line_of_another_device_does_not_count(tmp_path: Path) -> None:
    journal, made, path = written(tmp_path, 2)
    stranger = path.parent.with_name("zzzzzzzz")
    stranger.mkdir()
    (stranger / path.name).write_bytes(path.read_bytes())
    assert list(journal.records()) == made
    said = [problem.message for _, problem in journal.problems()]
    assert said == [f"belongs to {journal.device} and is not counted"] * 2


def test_files_of_other_names_are_no_journals(tmp_path: Path) -> None:
    journal, made, path = written(tmp_path, 2)
    for name in ("2026-03.sync-conflict-20260301-120000-ABCDEFG.jsonl", "2026-03 (1).jsonl", "x"):
        path.with_name(name).write_bytes(path.read_bytes())
    (path.parent.parent / "Not a device").mkdir()
    (path.parent.parent / "note.md").write_text("hello")
    assert list(journal.records()) == made
    assert journal.problems() == []


def test_a_line_longer_than_any_block_is_read(tmp_path: Path) -> None:
    journal = device(tmp_path)
    made = [put(journal, "add"), put(journal, "update", before="x" * 700_000), put(journal, "pin")]
    assert list(journal.records()) == made
    assert list(journal.records(ref="m-1", reverse=True)) == made[::-1]
    assert journal.problems() == []


def test_reading_goes_on_from_any_line(tmp_path: Path) -> None:
    _, _, path = written(tmp_path, 5)
    whole = path.read_bytes()
    for size in (1, 50, 1 << 16):
        start = Reader(str(path))
        path.write_bytes(whole[: whole.index(b"\n") + 20])
        assert b"".join(start.blocks(size)) == whole[: whole.index(b"\n") + 1]
        path.write_bytes(whole)
        rest = Reader(str(path), start.at, start.line, start.seed, start.mark)
        assert b"".join(rest.blocks(size)) == whole[whole.index(b"\n") + 1 :]
        assert (rest.at, rest.line, rest.odd) == (len(whole), 5, False)


# -- which records -------------------------------------------------------------------------------


def test_records_are_chosen_by_entry_actor_time_and_kind(tmp_path: Path) -> None:
    clock = Clock()
    journal = device(tmp_path, clock=clock)
    made = [put(journal, "add", "m-1", "ann"), put(journal, "add", "m-12", "bob")]
    clock.forward(days=40)
    made += [put(journal, "pin", "m-1", "bob"), put(journal, "hit", "m-2", note='"ref":"m-1"')]
    assert ids(journal.records(ref="m-1")) == ids([made[0], made[2]])
    assert ids(journal.records(ref=["m-1", "m-12"])) == ids(made[:3])
    assert ids(journal.records(by="bob")) == ids(made[1:3])
    assert ids(journal.records(since="2026-03-02")) == ids(made[2:])
    assert ids(journal.records(ops=["add"], reverse=True)) == ids(made[1::-1])


def test_reading_backwards_gives_the_newest_first(tmp_path: Path) -> None:
    clock = Clock()
    here, there = device(tmp_path, "a", clock), device(tmp_path, "b", clock)
    made = []
    for number in range(300):
        made.append(put((here, there)[number % 3 == 0], "hit", f"m-{number}", text="x" * 500))
        if number % 100 == 99:
            clock.forward(days=31)
    assert ids(here.records()) == ids(made)
    assert ids(here.records(reverse=True)) == ids(made[::-1])


def test_the_story_of_an_entry_keeps_both_ends(tmp_path: Path) -> None:
    journal = device(tmp_path)
    made = [put(journal, "add")] + [put(journal, "reinforce") for _ in range(60)]
    put(journal, "hit")
    made.append(put(journal, "update"))
    assert ids(journal.chain(["m-1"])) == ids(made[:20] + made[-20:])


# -- numbers -------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(0, 5))))
def test_numbers_are_met_once(runs: list[tuple[int, int]]) -> None:
    seen, plain = Seen(), set()
    for first, more in runs:
        numbers = set(range(first, first + more + 1))
        assert seen.overlaps(first, first + more) == bool(numbers & plain)
        if numbers & plain:
            for number in sorted(numbers):
                assert seen.add(number) == (number not in plain)
                plain.add(number)
        else:
            seen.run(first, first + more)
            plain |= numbers
    met = {number for first, last in seen.runs for number in range(first, last + 1)}
    assert met == plain
    assert all(a[1] + 1 < b[0] for a, b in zip(seen.runs, seen.runs[1:], strict=False))
    assert Seen.union([*seen.runs, *seen.runs]).runs == seen.runs

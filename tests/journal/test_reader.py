"""Reading: a damaged line is set aside and reported, the rest counts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from zlib import crc32

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brain.journal.codec import HEAD, encode
from brain.journal.reader import Reader, list_files
from brain.journal.writer import Journal
from brain.model import Record
from tests.journal.kit import (
    Clock,
    device,
    file,
    ids,
    index,
    problems,
    put,
    records,
    selected,
)


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
            found = records(journal)
            if place == len(whole) - 1:  # the last newline: a line that has none is whole
                assert found in (made, made[:-1])
                continue
            assert found == kept, (place, bit)
            assert {p.code for _, p in problems(journal)} <= {"journal-line", "journal-torn"}
            assert problems(journal), (place, bit)


@settings(max_examples=60)
@given(st.permutations(range(8)), st.lists(st.integers(0, 7), max_size=6))
def test_lines_that_a_merge_moved_or_doubled_count_once(
    tmp_path_factory: pytest.TempPathFactory, order: list[int], doubled: list[int]
) -> None:
    journal, made, path = written(tmp_path_factory.mktemp("merge"), 8)
    lines = path.read_bytes().split(b"\n")[:-1]
    path.write_bytes(b"".join(lines[n] + b"\n" for n in [*order, *doubled]))
    assert records(journal) == made
    assert problems(journal) == []


def test_garbage_between_lines_is_reported_with_its_line(tmp_path: Path) -> None:
    journal, made, path = written(tmp_path, 3)
    lines = path.read_bytes().split(b"\n")
    bad = [b"<<<<<<< HEAD", b"{}", b'{"id":1}', b"\xff\xfe", b"", b'"', b'{"sum":"00000000"}']
    path.write_bytes(b"\n".join([lines[0], *bad, *lines[1:]]))
    assert records(journal) == made
    assert [problem.line for _, problem in problems(journal)] == [2, 3, 4, 5, 7, 8]


def test_a_line_of_another_device_does_not_count(tmp_path: Path) -> None:
    journal, made, path = written(tmp_path, 2)
    stranger = path.parent.with_name("zzzzzzzz")
    stranger.mkdir()
    (stranger / path.name).write_bytes(path.read_bytes())
    assert records(journal) == made
    said = [problem.message for _, problem in problems(journal)]
    assert said == [f"belongs to {journal.device} and is not counted"] * 2


def test_files_of_other_names_are_no_journals(tmp_path: Path) -> None:
    journal, made, path = written(tmp_path, 2)
    for name in ("2026-03.sync-conflict-20260301-120000-ABCDEFG.jsonl", "2026-03 (1).jsonl", "x"):
        path.with_name(name).write_bytes(path.read_bytes())
    (path.parent.parent / "Not a device").mkdir()
    (path.parent.parent / "note.md").write_text("hello")
    assert records(journal) == made
    assert problems(journal) == []


def test_a_line_longer_than_any_block_is_read(tmp_path: Path) -> None:
    journal = device(tmp_path)
    made = [
        put(journal, "remember"),
        put(journal, "update", before="x" * 700_000),
        put(journal, "pin"),
    ]
    assert records(journal) == made
    assert problems(journal) == []


def test_reading_goes_on_from_any_byte(tmp_path: Path) -> None:
    """A file that arrives in two parts is read as one that was there at once."""
    journal, made, path = written(tmp_path, 5)
    whole = path.read_bytes()
    for cut in range(0, len(whole), 7):
        path.write_bytes(whole[:cut])
        first = Reader(list_files(journal.folder)[0])
        found = list(first)
        path.write_bytes(whole)
        second = Reader(list_files(journal.folder)[0], first.position)
        found += second
        assert found == made, cut
        assert (second.position.offset, second.position.lines) == (len(whole), 5)
        assert second.problems == []


def test_a_line_without_an_end_is_not_read_whole(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("brain.journal.reader._MAX_LINE", 1000)
    journal, made, path = written(tmp_path, 2)
    path.write_bytes(path.read_bytes() + b"x" * 5000 + b"\n")
    assert records(journal) == made
    assert {problem.code for _, problem in problems(journal)} == {"journal-line"}


# -- journals of before 0.1.0 --------------------------------------------------------------------


def chained(made: list[Record]) -> list[bytes]:
    """The lines that older versions wrote: each checksum starts from the one before."""
    out, seed = [], 0
    for record in made:
        body = orjson.dumps({**dict(zip(HEAD, record, strict=False)), **record.data})[:-1]
        total = crc32(body, seed)
        tail = b',"sum":"%08x"}\n' % total
        seed = crc32(tail, total)
        out.append(body + tail)
    return out


def test_old_lines_are_read_and_new_ones_follow_them(tmp_path: Path) -> None:
    journal, made, path = written(tmp_path, 4)
    old = chained(made)
    path.write_bytes(b"".join(old))
    assert (records(journal), problems(journal)) == (made, [])
    (tmp_path / "state-a" / "state.db").unlink()
    more = put(journal, "pin")
    assert records(journal) == [*made, more]
    path.write_bytes(b"".join([*old[:1], b"garbage\n", *old[1:3], *old[1:]]))
    assert records(journal) == [*made, more]
    assert [problem.line for _, problem in problems(journal)] == [2]


def test_a_damaged_old_line_is_reported(tmp_path: Path) -> None:
    journal, made, path = written(tmp_path, 3)
    old = chained(made)
    path.write_bytes(old[0] + old[1].replace(b"Wal", b"Val") + old[2])
    assert [record.seq for record in records(journal)] == [1]
    assert [problem.line for _, problem in problems(journal)] == [2, 3]


# -- which records -------------------------------------------------------------------------------


def test_records_are_chosen_by_entry_actor_time_and_kind(tmp_path: Path) -> None:
    clock = Clock()
    journal = device(tmp_path, clock=clock)
    made = [put(journal, "remember", "m-1", "ann"), put(journal, "remember", "m-12", "bob")]
    clock.forward(days=40)
    made += [put(journal, "pin", "m-1", "bob"), put(journal, "hit", "m-2", note='"ref":"m-1"')]
    with index(tmp_path) as at:
        assert ids(selected(journal, at, refs=["m-1"])) == ids([made[0], made[2]])
        assert ids(selected(journal, at, refs=["m-1", "m-12"])) == ids(made[:3])
        assert ids(selected(journal, at, by="bob")) == ids(made[1:3])
        assert ids(selected(journal, at, since="2026-03-02")) == ids(made[2:])
        assert ids(selected(journal, at, until="2026-03-02")) == ids(made[:2])
        assert ids(selected(journal, at, ids=[made[1].id, "\ud800"])) == [made[1].id]
        assert ids(selected(journal, at, ops=["remember"], newest_first=True)) == ids(made[1::-1])


def test_reading_backwards_gives_the_newest_first(tmp_path: Path) -> None:
    clock = Clock()
    here, there = device(tmp_path, "a", clock), device(tmp_path, "b", clock)
    made = []
    for number in range(300):
        made.append(put((here, there)[number % 3 == 0], "hit", f"m-{number}", text="x" * 500))
        if number % 100 == 99:
            clock.forward(days=31)
    with index(tmp_path) as at:
        assert ids(selected(here, at)) == ids(made)
        assert ids(selected(here, at, newest_first=True)) == ids(made[::-1])


def test_a_line_that_is_nested_too_deeply_is_reported(tmp_path: Path) -> None:
    journal, made, path = written(tmp_path, 2)
    body = encode([made[0]._replace(seq=3)])[:-19] + b',"x":' + b"[" * 300 + b"]" * 300
    path.write_bytes(path.read_bytes() + b'%b,"crc":"%08x"}\n' % (body, crc32(body)))
    assert [problem.line for _, problem in problems(journal)] == [3]
    with index(tmp_path) as at:
        assert ids(selected(journal, at)) == ids(made)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes in folders")
def test_a_pipe_in_a_journal_holds_nobody_up(tmp_path: Path) -> None:
    journal, made, path = written(tmp_path, 2)
    other = path.parent.with_name("zzzzzzzz")
    other.mkdir()
    os.mkfifo(other / path.name)
    more = put(journal, "pin")
    assert records(journal) == [*made, more]
    with index(tmp_path) as at:
        assert ids(selected(journal, at)) == ids([*made, more])

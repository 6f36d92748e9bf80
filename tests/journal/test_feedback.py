"""Feedback that is counted many lines at a time comes out as if each were counted alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brain.journal import feedback, read
from brain.journal.fold import Fold
from brain.journal.line import Record, encode

DEVICE = "aaaaaaaa"
REFS = ["m-1", "m-2", "m-3", "", 'm-"', "m-\\", "m-é", "m-\x7f", 'm-1","path":"', "m 1"]
words = st.sampled_from(["", "bot", "ann", 'a"b', "é", "\u2028", "x\ny"])
numbers = st.sampled_from([3, -1, 0, 1, 2, 2.5, -0.001, 0.1234, 100_000, 10**6, 10**9, True, "3"])
more = st.fixed_dictionaries(
    {},
    optional={
        "delta": numbers,
        "count": numbers,
        "agent": words,
        "session": words,
        "last": st.sampled_from(["2026-02-01T00:00:00.000Z", "2027"]),
        "why": words,
        "undid": st.sampled_from(["hit", "merge", "demote", "add"]),
        "other": st.sampled_from(["m-1", "m-2"]),
        "change": st.just({"op": "hit", "ref": "m-1", "path": "", "delta": 3}),
    },
)
ops = ["hit", "reinforce", "demote", "reject"] * 3 + ["add", "update", "undo", "merge", "alias"]
said = st.tuples(st.sampled_from(ops), st.sampled_from(REFS), words, more | st.just({"delta": 3}))


def recorded(lines: list[tuple[str, str, str, dict[str, Any]]]) -> list[Record]:
    return [
        Record(f"e-{n}", f"2026-03-01T12:00:00.{n:03d}Z", DEVICE, n, 2 * n, by, op, ref, "", data)
        for n, (op, ref, by, data) in enumerate(lines, 1)
    ]


def told(fold: Fold) -> tuple[Any, ...]:
    return fold.tallies, fold.aliases, fold.purges, fold.learned, fold.conflicts, fold.records


@pytest.mark.parametrize("most", [2, 100_000])
@given(lines=st.lists(said, min_size=1, max_size=60))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_counted_together_or_alone(
    lines: list[tuple[str, str, str, dict[str, Any]]],
    most: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(feedback, "_MOST", most)
    monkeypatch.setattr(read.Reader.blocks, "__defaults__", (700,))  # a few lines
    path, records = tmp_path / "2026-03.jsonl", recorded(lines)
    path.write_bytes(encode(records, 0)[0])
    together, alone, seen = Fold(), Fold(), read.Seen()
    file = read.File(DEVICE, "2026-03", str(path), (0, 0, 0, 0))
    together.file(file, read.Reader(str(path)), seen)
    for record in records:
        alone.count(record)
    assert told(together) == told(alone)
    assert seen.runs == [(1, len(lines))]


def test_plain_feedback_is_not_taken_apart() -> None:
    """What agents say of memories all the time, as it stands in a journal."""
    data = {"delta": 3, "agent": "admin", "session": "s-1"}
    hits = [("hit", "m-2", "brain", {"count": 2, "last": at}) for at in ("2026-01", "2026-02")]
    records = recorded([("reinforce", "m-1", "bot", data)] * 9 + hits)
    counted = feedback.Feedback(DEVICE)
    assert counted.take(encode(records, 0)[0].strip()) == (11, [])
    (first, nine), (second, two) = counted.given()
    assert (first["ref"], first["seq"], nine) == ("m-1", 9, 9)
    assert (second["ref"], second["seq"], second["last"], two) == ("m-2", 11, "2026-02", 2)
    assert list(counted.given()) == []

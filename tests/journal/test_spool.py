"""The spool: what was counted is on record once, whenever the flush was cut short."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from brain.errors import BrainError
from brain.index import facts
from brain.index.db import Index
from brain.journal import Journal, Spool, refresh
from tests.journal.kit import Clock, device, index, lines, put

AT = ("2026-03-01T10:00:00.000Z", "2026-03-01T11:00:00.000Z")


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return device(tmp_path)


@pytest.fixture
def spool(journal: Journal) -> Spool:
    return Spool(journal.state)


def fill(spool: Spool) -> None:
    spool.add_hits(["m-1", "m-2"], AT[0])
    spool.add_hits(["m-1"], AT[1])
    spool.add_together(["m-2", "m-1", "m-3"], AT[0])
    spool.add_together(["m-1", "m-2"], AT[1])


def counted(journal: Journal, known: Index) -> tuple[object, ...]:
    """What a person sees of it: hits, and the strongest link."""
    refresh(journal, known)
    found = facts.load(known, ["m-1", "m-2"])
    seen = {ref: (of.hits, of.last_hit) for ref, of in sorted(found.items())}
    return seen, facts.links(known, "m-1")


EXPECTED = (
    {"m-1": (2, AT[1]), "m-2": (1, AT[0])},
    [facts.Learned("m-2", 2.0, AT[1]), facts.Learned("m-3", 1.0, AT[0])],
)


def test_hits_count_before_they_are_flushed_and_after(
    tmp_path: Path, journal: Journal, spool: Spool
) -> None:
    fill(spool)
    with index(tmp_path) as known:
        assert counted(journal, known) == EXPECTED
        assert not Path(journal.folder).exists()  # the vault is as clean as before
        known.rebuild()
        assert counted(journal, known) == EXPECTED
        assert spool.flush(journal) == 5
        assert counted(journal, known) == EXPECTED
        assert spool.flush(journal) == 0
        assert counted(journal, known) == EXPECTED
    ops = [(r.op, r.ref, r.by) for r in journal.records()]
    pairs = [("together", "m-1", "brain")] * 2 + [("together", "m-2", "brain")]
    assert sorted(ops) == [("hit", "m-1", "brain"), ("hit", "m-2", "brain"), *pairs]


def test_waiting_hits_count_for_every_id_of_an_entry(
    tmp_path: Path, journal: Journal, spool: Spool
) -> None:
    put(journal, "alias", "m-1", old="m-2")
    fill(spool)
    with index(tmp_path) as known:
        refresh(journal, known)
        assert facts.load(known, ["m-2"])["m-2"].hits == 3
        assert [link.ref for link in facts.links(known, "m-2")] == ["m-3"]


class Killed(BaseException):
    pass


@pytest.mark.parametrize("moment", ["rename", "append", "fsync", "unlink", "append twice"])
def test_a_flush_that_was_cut_short_counts_once(
    tmp_path: Path,
    journal: Journal,
    spool: Spool,
    moment: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill(spool)

    def killed(*_: object, **__: object) -> None:
        raise Killed

    with index(tmp_path) as known:
        for _ in range(2 if moment == "append twice" else 1):
            with monkeypatch.context() as patch:
                if moment.startswith("append"):
                    patch.setattr(Journal, "append", killed)
                else:
                    patch.setattr(os, moment, killed)
                with pytest.raises(Killed):
                    spool.flush(journal)
            assert counted(device(tmp_path), known) == EXPECTED
        spool.add_hits(["m-4"], AT[1])
        assert Spool(journal.state).due(AT[1]) == (moment != "rename")
        Spool(journal.state).flush(device(tmp_path))
        assert counted(journal, known) == EXPECTED
        assert facts.load(known, ["m-4"])["m-4"].hits == 1
        assert len(lines(journal)) == 6
        known.rebuild()
        assert counted(journal, known) == EXPECTED


def test_a_torn_line_costs_only_itself(journal: Journal, spool: Spool) -> None:
    fill(spool)
    path = Path(spool.state, "spool.jsonl")
    path.write_bytes(path.read_bytes() + b'{"at":"2026')
    assert spool.flush(journal) == 5
    path.write_bytes(b'{"na\n{"at":"2026-03-01","hits":["m-1"]}\n[]\n{"hits":[1,""]}\n')
    assert spool.flush(journal) == 1
    path.write_bytes(b'{"at":"2026-03-02","hits":["m-1"]}\n')
    assert spool.flush(journal) == 1


def test_it_is_due_the_next_day(journal: Journal, spool: Spool) -> None:
    assert not spool.due("2026-03-02T00:00:00.000Z")
    fill(spool)
    assert not spool.due("2026-03-01T23:59:59.000Z")
    assert spool.due("2026-03-02T00:00:00.000Z")
    spool.flush(journal)
    assert not spool.due("2026-03-02T00:00:00.000Z")


def test_flushing_closes_the_months_that_are_over(tmp_path: Path) -> None:
    clock = Clock()
    journal = device(tmp_path, clock=clock)
    put(journal, "add")
    clock.forward(days=31)
    put(journal, "pin")
    Spool(journal.state).flush(journal)
    snapshots = [path.name for path in Path(journal.folder).glob("*/*.json")]
    assert snapshots == ["2026-03.snapshot.json"]


def test_one_that_cannot_be_read_says_so_and_is_in_nobodys_way(
    tmp_path: Path, journal: Journal, spool: Spool
) -> None:
    """Only hits are at stake: a question is answered without them, and a flush leaves it alone."""
    os.makedirs(f"{journal.state}/spool.jsonl")
    assert spool.counted(journal) == []
    with index(tmp_path) as known:
        refresh(journal, known)
    for use in (
        lambda: spool.due(AT[1]),
        lambda: spool.waiting(journal),
        lambda: spool.flush(journal),
        lambda: spool.drop({"m-1": AT[1]}),
        lambda: spool.add_hits(["m-1"], AT[0]),
    ):
        with pytest.raises(BrainError, match=r"spool\.jsonl cannot be used \(Is a directory\)"):
            use()
    assert os.path.isdir(f"{journal.state}/spool.jsonl")

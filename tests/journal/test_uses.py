"""Uses: what was counted is written to the journal once, whenever the writing was cut short."""

from __future__ import annotations

from pathlib import Path

import pytest

from brain.errors import BrainError
from brain.index import read
from brain.index.db import Index
from brain.journal.reader import update_index
from brain.journal.writer import Journal
from brain.state import State, Use
from tests.journal.kit import device, index, lines, links, put, records

AT = ("2026-03-01T10:00:00.000Z", "2026-03-01T11:00:00.000Z")


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return device(tmp_path)


def hits(*refs: str, at: str = AT[0]) -> list[Use]:
    return [Use("hit", ref, last=at) for ref in refs]


def pairs(*refs: tuple[str, str], at: str = AT[0]) -> list[Use]:
    return [Use("used_together", one, other, last=at) for one, other in refs]


def fill(journal: Journal) -> None:
    journal.state.add_uses(hits("m-1", "m-2"))
    journal.state.add_uses(hits("m-1", at=AT[1]))
    journal.state.add_uses(pairs(("m-1", "m-2"), ("m-1", "m-3"), ("m-2", "m-3")))
    journal.state.add_uses(pairs(("m-1", "m-2"), at=AT[1]))


def counted(journal: Journal, known: Index) -> dict[str, tuple[int, str]]:
    """The hits that a person sees."""
    update_index(journal, known)
    found = read.facts(known, ["m-1", "m-2"])
    return {ref: (of.hits, of.last_hit) for ref, of in sorted(found.items())}


def pending(known: Index) -> list[tuple[str, str, int]]:
    return known.db.execute("SELECT ref, other, count FROM pending_uses ORDER BY 1, 2").fetchall()


EXPECTED = {"m-1": (2, AT[1]), "m-2": (1, AT[0])}


def test_uses_count_before_they_are_written_and_after(tmp_path: Path, journal: Journal) -> None:
    fill(journal)
    with index(tmp_path) as known:
        assert counted(journal, known) == EXPECTED
        assert ("m-1", "m-2", 2) in pending(known)
        assert not Path(journal.folder).exists()  # the vault is as clean as before
        known.rebuild()
        assert counted(journal, known) == EXPECTED
        assert journal.write_uses() == 5
        assert counted(journal, known) == EXPECTED
        assert links(known, "m-1") == [("m-2", 2.0, AT[1]), ("m-3", 1.0, AT[0])]
        assert pending(known) == []
        assert journal.write_uses() == 0
        assert counted(journal, known) == EXPECTED
    ops = [(r.op, r.ref, r.by) for r in records(journal)]
    linked = [("used_together", "m-1", "brain")] * 2 + [("used_together", "m-2", "brain")]
    assert sorted(ops) == [("hit", "m-1", "brain"), ("hit", "m-2", "brain"), *linked]


def test_pending_hits_count_for_every_id_of_an_entry(tmp_path: Path, journal: Journal) -> None:
    put(journal, "alias", "m-1", old="m-2")
    fill(journal)
    with index(tmp_path) as known:
        update_index(journal, known)
        assert read.facts(known, ["m-2"])["m-2"].hits == 3


class Killed(BaseException):
    pass


@pytest.mark.parametrize("moment", ["begin", "append", "end", "append twice"])
def test_writing_that_was_cut_short_counts_once(
    tmp_path: Path, journal: Journal, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(journal)

    def killed(*_: object, **__: object) -> None:
        raise Killed

    target = {"begin": (State, "batches"), "end": (State, "end_batch")}
    with index(tmp_path) as known:
        for _ in range(2 if moment == "append twice" else 1):
            with monkeypatch.context() as patch:
                patch.setattr(*target.get(moment, (Journal, "append")), killed)
                with pytest.raises(Killed):
                    journal.write_uses()
            assert counted(device(tmp_path), known) == EXPECTED
        journal.state.add_uses(hits("m-4", at=AT[1]))
        assert device(tmp_path).state.batches()
        device(tmp_path).write_uses()
        assert counted(journal, known) == EXPECTED
        assert read.facts(known, ["m-4"])["m-4"].hits == 1
        assert len(lines(journal)) == 6
        known.rebuild()
        assert counted(journal, known) == EXPECTED


def test_the_last_gap_says_what_did_not_answer(journal: Journal) -> None:
    for at, refs in ((AT[1], ("m-2",)), (AT[0], ("m-1",))):
        journal.state.add_uses([Use("gap", "g-1", "zoo", 1, at, "Who?", refs)])
    [gap] = journal.pending_uses()
    assert gap == Use("gap", "g-1", "zoo", 2, AT[1], "Who?", ("m-2",))
    journal.write_uses()
    [record] = records(journal)
    assert record.data == {
        "query": "Who?", "agent": "zoo", "count": 2, "last": AT[1], "refs": ["m-2"],
    }  # fmt: skip


def test_purged_uses_are_dropped_up_to_a_time(journal: Journal) -> None:
    fill(journal)
    journal.state.drop_uses({"m-1": AT[0]})
    assert [(u.op, u.ref, u.other) for u in journal.pending_uses()] == [
        ("hit", "m-1", ""), ("hit", "m-2", ""), ("used_together", "m-1", "m-2"),
        ("used_together", "m-2", "m-3"),
    ]  # fmt: skip
    journal.state.drop_uses({"m-1": AT[1], "m-2": AT[1]})
    assert journal.pending_uses() == []


def test_a_state_that_cannot_be_used_says_so_and_stops_no_question(
    tmp_path: Path, journal: Journal
) -> None:
    """Only hits are at stake: a question is answered without them."""
    Path(journal.state.path).mkdir(parents=True)
    with index(tmp_path) as known:
        update_index(journal, known)
    for use in (
        journal.state.first_use,
        journal.pending_uses,
        journal.write_uses,
        lambda: journal.state.drop_uses({"m-1": AT[1]}),
        lambda: journal.state.add_uses(hits("m-1")),
    ):
        with pytest.raises(BrainError, match=r"state\.db cannot be used"):
            use()
    assert Path(journal.state.path).is_dir()


def test_the_index_notices_a_new_state(tmp_path: Path, journal: Journal) -> None:
    """The folder was deleted, and as much was counted again as before."""
    with index(tmp_path) as known:
        for ref in ("m-1", "m-2"):
            journal.state.add_uses(hits(ref))
            assert list(counted(journal, known)) == [ref]
            journal.state.close()
            for path in Path(journal.state.folder).iterdir():
                path.unlink()

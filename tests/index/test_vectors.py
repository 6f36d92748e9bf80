"""vectors.db: kept by model and text, swept, purged, and replaced when it is damaged."""

from __future__ import annotations

import os
import sqlite3
import sys
from pathlib import Path

import pytest

from brain.errors import Busy, NoModel
from brain.index import vectors
from brain.index.vectors import Model, Vectors, model_id, text_digest

DAY = 20_000


@pytest.fixture
def kept(tmp_path: Path) -> Vectors:
    return Vectors(str(tmp_path / "state"))


def model(kept: Vectors, key: str = "mine", size: int = 3) -> Model:
    made = Model(model_id(key), key, size, 0.25, DAY)
    kept.save(made)
    return made


def rows(*texts: str) -> list[tuple[bytes, bytes]]:
    return [(text_digest(text), text.encode()[:3]) for text in texts]


@pytest.mark.parametrize("many", [10, 5000])
def test_a_vector_is_found_by_model_and_text(
    kept: Vectors, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "_MANY", many)
    mine, other = model(kept), model(kept, "other")
    texts = [f"{n:03}" for n in range(1000)]
    kept.add(mine, rows(*texts, "not wanted"), DAY)
    kept.add(other, rows("005"), DAY)
    wanted = [text_digest(text) for text in texts]
    assert kept.get(mine, wanted) == dict(rows(*texts))
    assert kept.get(other, wanted) == dict(rows("005"))
    kept.close()
    again = Vectors(os.path.dirname(kept.path))
    assert again.model("mine") == mine
    assert again.get(mine, wanted[:2]) == dict(rows(*texts[:2]))
    assert again.model("nobody's") is None


def test_nothing_is_created_until_it_is_used(kept: Vectors) -> None:
    assert kept.purge(set())
    kept.close()
    assert not os.path.exists(os.path.dirname(kept.path))


def test_only_its_owner_may_read_the_file(kept: Vectors) -> None:
    model(kept)
    if sys.platform != "win32":
        assert os.stat(kept.path).st_mode & 0o777 == 0o600


def test_texts_that_are_gone_lose_their_vectors_after_a_month(kept: Vectors) -> None:
    mine, other = model(kept), model(kept, "other")
    kept.add(mine, rows("kept", "gone"), DAY)
    kept.add(other, rows("kept"), DAY)
    every = [text_digest("kept"), text_digest("gone")]
    for day in range(DAY, DAY + vectors.KEEP + 1, 7):
        kept.sweep(mine, every[:1], day)
    assert set(kept.get(mine, every)) == set(every)
    assert kept.get(other, every)
    kept.sweep(mine, every[:1], DAY + vectors.KEEP + 1)
    assert set(kept.get(mine, every)) == set(every[:1])
    assert kept.get(other, every) == {}  # of a model that was not used meanwhile
    assert kept.model("mine") == mine._replace(swept=DAY + vectors.KEEP + 1)


def test_a_purge_leaves_nothing_of_other_texts(kept: Vectors) -> None:
    mine = model(kept)
    secret = b"\x01WEEVIL\x02" * 4
    kept.add(mine, [(text_digest("kept"), b"abc"), (text_digest("gone"), secret)], DAY)
    files = list(Path(kept.path).parent.iterdir())
    assert any(b"WEEVIL" in file.read_bytes() for file in files)
    assert kept.purge({text_digest("kept")})
    assert not any(b"WEEVIL" in file.read_bytes() for file in files if file.exists())
    assert kept.get(mine, [text_digest("kept")])


def test_a_purge_says_when_another_process_is_reading(kept: Vectors) -> None:
    mine = model(kept)
    kept.add(mine, rows("gone"), DAY)
    reader = sqlite3.connect(kept.path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM vectors").fetchone()
    try:
        assert not kept.purge(set())
    finally:
        reader.close()
    assert kept.purge(set())


def test_dropping_a_model_leaves_the_others(kept: Vectors) -> None:
    mine, other = model(kept), model(kept, "other")
    for each in (mine, other):
        kept.add(each, rows("text"), DAY)
    kept.drop(mine)
    assert kept.model("mine") is None
    assert kept.get(mine, [text_digest("text")]) == {}
    assert kept.get(other, [text_digest("text")])


def test_a_damaged_file_is_replaced(kept: Vectors) -> None:
    mine = model(kept)
    kept.close()
    Path(kept.path).write_bytes(b"no database" * 1000)
    assert kept.model("mine") is None
    kept.save(mine)
    assert kept.model("mine") == mine


def test_a_file_that_is_damaged_while_it_is_open_is_replaced(kept: Vectors) -> None:
    mine = model(kept)
    kept.add(mine, ((text_digest(str(n)), bytes(900)) for n in range(500)), DAY)
    kept.purge({text_digest(str(n)) for n in range(500)})  # everything is in the file itself
    with open(kept.path, "r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 400_000)
    kept.close()
    every = [text_digest(str(n)) for n in range(500)]
    kept.add(mine, [(every[0], b"abc")], DAY)
    kept.get(mine, every)
    kept.add(mine, [(every[1], b"abc")], DAY)
    assert kept.get(mine, every[:2]) == dict.fromkeys(every[:2], b"abc")


def test_a_file_of_another_version_is_replaced(kept: Vectors) -> None:
    mine = model(kept)
    kept._run(lambda db: db.execute("PRAGMA user_version = 99"))
    kept.close()
    assert kept.model("mine") is None
    kept.save(mine)
    assert kept.model("mine") == mine


def test_a_writer_is_not_waited_for_for_ever(
    kept: Vectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "_TIMEOUT", 0.05)
    mine = model(kept)
    writer = sqlite3.connect(kept.path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    try:
        with pytest.raises(Busy):
            kept.add(mine, rows("text"), DAY)
        assert kept.model("mine") == mine  # reading goes on
    finally:
        writer.close()
    kept.add(mine, rows("text"), DAY)


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    with pytest.raises(NoModel, match="cannot be used"):
        Vectors(str(tmp_path / "state")).model("mine")

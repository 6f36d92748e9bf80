"""Incremental equals rebuilt, when only the part of a memory note that changed is parsed."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brain import sync as syncing
from brain.config import Config
from brain.errors import BrainError
from brain.formats import edit, memory_md
from brain.formats.text import derived_id
from brain.index.db import Index
from brain.model import Add, Anchor, Change, Document, Move, Relate, Remove, Retag, Update
from brain.vault import layout
from tests import kit
from tests.formats import strategies

NOTE = "40_Brain/MEMORY.md"
OWNER = "admin"
TEXT = """\
# Memory

## Facts
- one ^m-aaaaaaaa
- two [[Link|alias]]
  more [[Other]]
- three #tag ^m-cccccccc

## Rest

- four [k:: v] ^m-bbbbbbbb
- five [[Far]] 東京 ^m-dddddddd
"""
Step = Callable[[bytes], bytes]


class Pair:
    """An index that parses parts, and one that parses whole notes, of the same vault."""

    def __init__(self, home: Path, engine: str = "auto") -> None:
        self.home, self.engine = home, engine
        self.root = kit.lay(home / "vault", {NOTE: TEXT, "40_Brain/keep.md": "kept\n"})
        self.vault = layout.find(self.root, home / "state")
        self.parts, self.whole = self._index("parts"), self._index("whole")
        self.data = TEXT.encode()
        for index in (self.parts, self.whole):
            kit.sync(self.vault, index, Config())

    def _index(self, name: str) -> Index:
        path = self.home / name
        index = Index(path / "brain.db", str(self.root), engine=self.engine)
        index.check()
        return index

    def close(self) -> None:
        self.parts.close()
        self.whole.close()

    def write(self, data: bytes) -> syncing.Stats:
        """Change the note, update both indexes, and compare them."""
        before, self.data = self.data, data
        (self.root / NOTE).write_bytes(data)
        known = {NOTE: before}
        stats = kit.sync(self.vault, self.parts, Config(), only=[NOTE], known_texts=known)
        whole = kit.sync(self.vault, self.whole, Config(), only=[NOTE])
        assert (stats.deltas, stats.changed) == (whole.deltas, whole.changed)
        assert content(self.parts) == content(self.whole)
        return stats

    def check(self) -> None:
        """Compare both with an index built from nothing."""
        assert self.parts.healthy()
        assert self.whole.healthy()
        self.whole.rebuild()
        kit.sync(self.vault, self.whole, Config())
        assert content(self.parts) == content(self.whole)


def content(index: Index) -> list[Any]:
    """All columns but row ids and stat values, and what full text finds."""
    words = {word for (text,) in index.rows("SELECT text FROM entries") for word in text.split()}
    found = []
    for word in sorted(words):
        for table in ("passages", "entries", "characters"):
            sql = f"""SELECT c.path, c.line, c.ref FROM {table}_fts JOIN entries c
                ON c.id = {table}_fts.rowid WHERE {table}_fts MATCH ? ORDER BY c.path, c.line"""
            quoted = word.replace('"', '""')
            found += index.rows(sql, (f'"{quoted}"',))
    columns = [row[1] for row in index.rows("PRAGMA table_info(entries)") if row[1] not in _IDS]
    entries = index.rows(f"SELECT {', '.join(columns)} FROM entries ORDER BY path, line, start")
    return [*kit.dump(index), *entries, *found]


_IDS = ("id", "file")


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    pair = Pair(tmp_path)
    yield pair
    pair.close()


# -- any edits -----------------------------------------------------------------------------------

numbers = st.integers(0, 1000)
texts = st.sampled_from(["one", "two", "three", "a new thing", "two\nmore", "- odd", "`code"])
sections = st.sampled_from(["Facts", "Rest", "Memory", "Made", "Facts > Sub", ""])


def _lines(pick: int, more: list[str], count: int) -> Step:
    """Replace `count` lines by others."""

    def step(data: bytes) -> bytes:
        lines = data.decode().split("\n")
        at = pick % (len(lines) + 1)
        return "\n".join([*lines[:at], *more, *lines[at + count :]]).encode()

    return step


def _change(pick: int, made: Callable[[str], Change]) -> Step:
    """Change one of the entries as Brain does."""

    def step(data: bytes) -> bytes:
        refs = [c.ref for c in memory_md.parse(data, OWNER).entries if c.kind != "note"] or ["none"]
        try:
            return edit("memory", NOTE, data, [made(refs[pick % len(refs)])], OWNER).data
        except BrainError:
            return data

    return step


changes = st.one_of(
    st.builds(
        lambda pick, text, section: lambda _: Add(NOTE, f"m-new{pick:05d}", text, section),
        numbers, texts, sections,
    ),
    st.builds(lambda text: lambda ref: Update(NOTE, ref, text), texts),
    st.builds(lambda section: lambda ref: Move(NOTE, ref, section), sections),
    st.sampled_from([
        lambda ref: Remove(NOTE, ref),
        lambda ref: Retag(NOTE, ref, ("pinned",)),
        lambda ref: Relate(NOTE, ref, "supersedes", "[[#^m-aaaaaaaa]]"),
        lambda ref: Anchor(NOTE, ref),
    ]),
)  # fmt: skip
PLAIN = [
    *["- one", "- two", "- three", "- one ^m-aaaaaaaa", "- two ^m-bbbbbbbb", "- five [[Far]]", ""],
    *["- new ^m-new00001", "- [[Link]] six", "  more", "## Facts", "## Rest", "### Sub", "words"],
    f"- other ^{derived_id('m', OWNER, 'one', '1')}",
]
plain_lines = st.lists(st.sampled_from(PLAIN), max_size=3)
odd_lines = st.lists(st.sampled_from(strategies.LINES), max_size=2)
steps = st.one_of(
    *[st.builds(_change, numbers, changes)] * 3,
    *[st.builds(_lines, numbers, plain_lines, st.integers(0, 2))] * 4,
    st.builds(_lines, numbers, odd_lines, st.integers(0, 4)),
    st.sampled_from([
        lambda data: b"---\ntags: [x]\n---\n" + data,
        lambda data: data.removeprefix(b"---\ntags: [x]\n---\n"),
        lambda data: data.rstrip(b"\n"),
        lambda data: data + b"\n",
        lambda data: data.replace(b"\n", b"\r\n", 1),
        lambda data: data.replace(b"\r", b""),
        lambda data: data.replace(b"%%", b"").replace(b"$$", b"").replace(b"<", b""),
        lambda data: data.replace(b"```", b"").replace(b"~~~", b""),
    ]),
)  # fmt: skip


def _play(history: list[Step], engine: str) -> None:
    home = Path(tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))
    pair = Pair(home, engine)
    try:
        for step in history:
            pair.write(step(pair.data))
        pair.check()
    finally:
        pair.close()
        shutil.rmtree(home)


def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of notes that are parsed as a whole from now on."""
    paths: list[str] = []
    whole = syncing.parse

    def parse(format: str, path: str, data: bytes, owner: str = "") -> Document:
        paths.append(path)
        return whole(format, path, data, owner)

    monkeypatch.setattr(syncing, "parse", parse)
    return paths


@given(st.lists(steps, min_size=8, max_size=16), st.sampled_from(["auto", "auto", "fts4"]))
@settings(max_examples=60)
def test_parts_give_what_the_whole_note_gives(history: list[Step], engine: str) -> None:
    _play(history, engine)


@pytest.mark.stress
@given(st.lists(steps, max_size=40), st.sampled_from(["auto", "fts4"]))
@settings(max_examples=2000)
def test_parts_give_what_the_whole_note_gives_in_the_long_run(
    history: list[Step], engine: str
) -> None:
    _play(history, engine)


# -- one by one ----------------------------------------------------------------------------------

FIRST = derived_id("m", OWNER, "five", "1")  # the id of the first entry that says `five`


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        pytest.param("- a\n- b ^x\n", "- a\n", "- a ^x\n", id="an id that is written elsewhere"),
        pytest.param("- a ^y\n- a\n- c ^x\n- b ^x\n", "- a\n", "", id="ids that are there twice"),
        pytest.param("- a\n- b\n- five\n", "- a\n", "- five ^y\n", id="words that come again"),
        pytest.param("- five ^y\n- b ^x\n- c ^z\n", "- c ^z\n", "- c ^z\n- five\n", id="a second"),
        pytest.param(
            f"- a ^{FIRST}\n- b\n- five\n", f"- a ^{FIRST}\n", "", id="an id that is free"
        ),
        pytest.param("- a\n- b\n- five\n", "- a\n", f"- a ^{FIRST}\n", id="an id that is taken"),
        pytest.param("- a\r\n- b\n", "- b\n", "- c\n", id="carriage returns"),
        pytest.param("---\nx: [\n---\n- a\n", "- a\n", "- b\n", id="a problem at the top"),
        pytest.param("- a\n", "- a\n", "---\ntags: [t]\n---\n- a\n", id="other frontmatter"),
        pytest.param("- a\n- b\n- c\n", "- b\n", "- b\n```\n", id="an open fence"),
        pytest.param("- a\n- b\n- c\n", "- b\n", "- b %%\n", id="an open comment"),
    ],
)
def test_all_of_a_note_is_parsed_if_need_be(
    text: str, old: str, new: str, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair.write(text.encode())
    whole = parsed(monkeypatch)
    pair.write(text.replace(old, new, 1).encode())
    assert whole == [NOTE, NOTE]  # once for each index
    pair.check()


def test_other_bytes_than_those_in_the_index_do_not_count(pair: Pair) -> None:
    pair.data = TEXT.replace("- two", "- 2").encode()  # which the index never had
    pair.write(TEXT.replace("- one", "- uno").encode())
    pair.check()


def test_a_hard_link_is_reported(pair: Pair) -> None:
    os.link(pair.root / NOTE, pair.home / "linked.md")
    pair.write(TEXT.replace("- one", "- uno").encode())
    pair.check()


@pytest.mark.parametrize("known", [True, False])
def test_entries_that_stay_keep_their_rows(known: bool, pair: Pair) -> None:
    index = pair.parts if known else pair.whole
    before = dict(index.rows("SELECT text, id FROM entries"))
    pair.write(TEXT.replace("- two", "- new ^m-new\n- two").encode())
    after = dict(index.rows("SELECT text, id FROM entries"))
    assert after.pop("new") > max(before.values())
    assert after == before


def test_a_part_is_parsed_alone(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = parsed(monkeypatch)
    stats = pair.write(TEXT.replace("- two", "- new ^m-new\n- two").encode())
    assert whole == [NOTE]  # for the index that is not given the bytes
    assert [delta.added for delta in stats.deltas] == [(("m-new", "new"),)]
    pair.check()


def test_a_new_title_makes_new_rows(pair: Pair) -> None:
    """Vectors are made of the title, too, and belong to a row."""
    before = {id for (id,) in pair.parts.rows("SELECT id FROM entries WHERE path = ?", (NOTE,))}
    pair.write(f"---\ntitle: New\n---\n{TEXT}".encode())
    after = {id for (id,) in pair.parts.rows("SELECT id FROM entries WHERE path = ?", (NOTE,))}
    assert not before & after

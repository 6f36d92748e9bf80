"""A transcript is indexed in pieces: incremental equals rebuilt, and its size does not matter."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brain import sync as syncing
from brain.config import Config
from brain.formats import session_jsonl
from brain.index.db import Index
from brain.vault import layout
from tests import kit
from tests.conftest import MakeVault, OpenBrain

PATH = "40_Brain/sessions/s1.jsonl"


def line(number: int, **fields: str) -> bytes:
    message = {"id": f"m{number}", "role": "user", "content": f"Walrus number {number}", **fields}
    return json.dumps(message).encode() + b"\n"


class Transcript:
    """A transcript in a vault, with an index that follows it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        root = kit.lay(home / "vault", {PATH: b"", "40_Brain/MEMORY.md": "- One\n"})
        self.vault = layout.find(root, home / "state")
        self.path = root / PATH
        self.index = self.new_index("followed")

    def new_index(self, name: str) -> Index:
        index = Index(self.home / name / "brain.db", self.vault.root_path)
        index.check()
        kit.sync(self.vault, index, Config(maxFileSize=1000))
        return index

    def write(self, data: bytes) -> None:
        self.path.write_bytes(data)
        kit.sync(self.vault, self.index, Config(maxFileSize=1000))


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syncing, "PIECE", 200)


PARTS = st.one_of(
    st.builds(line, st.integers(0, 9)),
    st.just(b'{"role": "user", "content": "No id"}\n'),
    st.just(b'{"role": "checkpoint", "messages": 9}\n' * 9),
    st.sampled_from([b'{"torn', b"\n", b"[1]\n", b"\xff\n", b"<<<<<<< ours\n", line(1)[:20]]),
    st.builds(lambda size: line(7, content="w" * size), st.sampled_from([300, 2000])),
)


@given(st.lists(st.lists(PARTS, max_size=6), max_size=4), st.booleans())
@settings(max_examples=40)
def test_incremental_equals_rebuilt(
    small_pieces: None, tmp_path_factory: pytest.TempPathFactory, steps: list[list[bytes]],
    shortened: bool,
) -> None:  # fmt: skip
    transcript = Transcript(tmp_path_factory.mktemp("transcript"))
    data = b""
    for step in steps:
        data += b"".join(step)
        transcript.write(data)
    if shortened:
        transcript.write(data[: len(data) // 2])
    if b"<<<<" not in data:  # a broken file keeps the entries that it had
        assert kit.dump(transcript.index) == kit.dump(transcript.new_index("rebuilt"))


def test_only_the_last_piece_is_parsed_again(
    small_pieces: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transcript = Transcript(tmp_path)
    data = b"".join(map(line, range(100)))
    transcript.write(data)
    parsed: list[int] = []
    parse = session_jsonl.parse

    def noted(data: bytes, *args: object) -> object:
        parsed.append(len(data))
        return parse(data, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(session_jsonl, "parse", noted)
    transcript.write(data + line(100))
    assert 0 < sum(parsed) < 600


def test_a_transcript_over_the_size_limit_is_searched(vault: MakeVault, opened: OpenBrain) -> None:
    root = vault(
        {"40_Brain/brain.yaml": "maxFileSize: 5000\n", PATH: b"".join(map(line, range(200)))}
    )
    with opened(root) as brain:
        found = brain.search('"Walrus number 199"', scopes=["sessions"])
        assert found.results[0].row.line == 200
        brain.session_append("s1", "The penguin came late", create=True)
        assert brain.search("penguin", scopes=["sessions"]).results
        assert brain.doctor().problems == []

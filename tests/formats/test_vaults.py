"""The two test vaults, read whole: what every note says, and that no byte of it gets lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from brain.formats import memory_md, note_md
from brain.model import Document

VAULTS = Path(__file__).parents[1] / "vaults"
NOTES = sorted(path.relative_to(VAULTS).as_posix() for path in VAULTS.rglob("*.md"))


def read(data: bytes, name: str) -> Document:
    stem = name.rpartition("/")[2].removesuffix(".md")
    if stem == "MEMORY":
        return memory_md.parse(data, "admin")
    return (note_md.parse_agent if stem == "AGENT" else note_md.parse)(data, stem)


@pytest.mark.parametrize("name", NOTES)
def test_golden(name: str, check_file) -> None:
    check_file(f"vaults/{name}", read((VAULTS / name).read_bytes(), name))


def test_the_vaults_are_as_messy_as_they_were_checked_in() -> None:
    memory = (VAULTS / "messy/40_Brain/MEMORY.md").read_bytes()
    assert memory.startswith(b"\xef\xbb\xbf---\r\n")
    assert memory.endswith(b"without a newline")
    assert b"\n" not in memory.replace(b"\r\n", b"")
    assert "Cafe\u0301" in memory.decode()
    assert "Caf\u00e9" in memory.decode()

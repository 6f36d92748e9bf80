"""The transcripts say what the commands print; `python -m tests.transcripts` writes them anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.transcripts import FOLDER, play


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_transcript(path: Path, tmp_path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert play(text, tmp_path) == text

"""`python -m tests.transcripts`: play every transcript and write down what is printed now."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from tests.transcripts import FOLDER, play

for path in sorted(FOLDER.glob("*.txt")):
    before = path.read_text(encoding="utf-8")
    with TemporaryDirectory() as home:
        after = play(before, Path(home).resolve())
    if after != before:
        path.write_text(after, encoding="utf-8")
        print(f"{path.name} rewritten")

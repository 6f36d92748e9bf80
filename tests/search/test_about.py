"""Which files an entry is about: one answer, for ranking it and for what it contradicts."""

from __future__ import annotations

import pytest

from brain.formats.inline import mentioned_files


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("Nothing to see", []),
        ("See [[Architecture]] and [[Notes/Walrus|the walrus]]", ["Architecture", "Notes/Walrus"]),
        ("See [[Architecture#Search]] and [[#^m-7f3k2ab4]]", ["Architecture"]),
        ("Edit `src/app/main.py`, not `main.rs`", ["src/app/main.py", "main.rs"]),
        ("Call `print()` 3.14 times, or `3.14`", []),
        ("Use tabs [files:: src/a.py, `b.py`]", ["b.py", "src/a.py"]),
        ("Use tabs [file:: src/a.py]", ["src/a.py"]),
        ("Use tabs [files:: [[Style]], src/a.py]", ["Style", "src/a.py"]),
    ],
)
def test_the_files_that_are_named(text: str, files: list[str]) -> None:
    assert mentioned_files(text) == files

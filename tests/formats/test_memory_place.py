"""The headings of a note are those that markdown-it finds, whichever way they were found."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from brain.formats.memory_place import _parse_headings, outline, scan

LINES = [
    *["# One", "## Two ##", "### Three", " # Indented", "#hash", "- one", "- ```", "* two", "1. a"],
    *[
        "  - nested",
        "    - deeper",
        "\t- tab",
        "words",
        "  words",
        "",
        "",
        "> quote",
        "> ```",
        "---",
    ],
    *["```", "```sh", "````", "~~~", "~~~ a ` b", "``` a `b`", " ```", "    ```", "\t```", "  ~~~"],
    *["- ~~~", "-\t```", "a ``` b", "```\r", "# CR\r", "``", "~~", "`````", "~~~~", "==", "| a |"],
    *["\r# a", "a\r# b", "# a | b", "- a | b", "|---|---|", "--|:-:"],
]
texts = st.lists(st.sampled_from(LINES), max_size=14).map("\n".join)


@given(texts | texts.map(lambda text: text + "\n"))
@example("```\n# a\n```\n# b")
@example("- a\n    ```\n    # b\n# c\n```")
@example("~~~\n```\n# a\n~~~\n# b\n```\n# c\n```")
def test_ascan_finds_what_a_parse_finds(text: str) -> None:
    found = scan(text, 0)
    assert found is None or found == list(_parse_headings(text, 0))


@pytest.mark.parametrize(
    "code",
    ["```\n# no\n```", "~~~ sh\n```\n# no\n~~~~", "- a\n    ```\n    # no\n    ```", "a ``` b"],
)
def test_code_is_no_reason_to_parse(code: str) -> None:
    seen = outline(f"# Memory\n\n{code}\n\n## Facts\n- a\n", 0)
    assert seen.plain
    assert [heading.words for heading in seen.headings] == ["Memory", "Facts"]


@pytest.mark.parametrize(
    "code", ["```\n# hidden", " ```\n# hidden\n ```", "```\n# hidden\n  ```", "<p>\n# hidden\n</p>"]
)
def test_what_is_not_sure_is_parsed(code: str) -> None:
    seen = outline(f"# Memory\n\n{code}\n", 0)
    assert not seen.plain
    assert [heading.words for heading in seen.headings] == ["Memory"]

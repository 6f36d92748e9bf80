"""Odd text for the property tests: what breaks parsers, rather than what people write."""

from __future__ import annotations

from hypothesis import strategies as st

from brain.formats import json_spans

PIECES = [
    *"\n\n\n\n \t\r\0-*+>#|^`~%$[]()<>:!?&\\\"'",
    *["\r\n", "---\n", "...\n", "```", "~~~", "````", "%%", "$$", "[[", "]]", "::", "](", "![["],
    *["- ", "* ", "1. ", "2) ", "- [ ] ", "> ", "# ", "## ", "    ", "\t- ", "  - ", "| a | b |"],
    *["|---|---|\n", "<div>", "</div>", "<!--", "-->", "===\n", "a: b\n", "tags: [x]\n", "- x\n"],
    *["#tag", "#a/b", "#123", "[[note]]", "[[a#^b|c]]", "![[e]]", "[x](y.md)", "[k:: v]"],
    *["(k:: [[v]])", "[supersedes:: [[#^x]]]", " ^id", " ^37066d", "2026-02-01: ", "[^1]: "],
    *["word", "word", "two words", "\u00e9", "e\u0301", "\u65e5\u672c", "\u2028", "\x85", "\ufeff"],
    *["\U0001f9e0", "\u3000", "\xa0", "\ufffd", "<<<<<<< a\n", ">>>>>>> b\n", "\n=======\n"],
]
notes = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)
texts = notes | st.text(st.characters(exclude_categories=["Cs"]), max_size=80)
data = st.binary(max_size=200) | texts.map(str.encode) | notes.map(lambda s: b"---\n" + s.encode())
words = st.text("abc\u00e9\u65e5\u672cz", min_size=1, max_size=8)
prose = st.lists(words, min_size=1, max_size=5).map(" ".join)
# lines of a memory note, many of which change how others read
LINES = [
    *["# One", "## Two", "## Two ##", "### Three", " # Indented", "#hash", "# a | b", "#"],
    *["- one", "- two", "- two", "* star", "+ plus", "1. a", "2. b", "- - -", "-", "- [ ] task"],
    *["- one ^m-aaaaaaaa", "- two ^m-bbbbbbbb", "- 2026-01-02: dated #tag", "- [k:: v] [[Link]]"],
    *["  - nested", "    - deeper", "\t- tab", "words", "  words", "", "", "", "    indented"],
    *["> quote", "> ```", "> - a", "---", "***", "===", "| a | b |", "|---|---|", "- a | b", ":-"],
    *["```", "```sh", "~~~", " ```", "    ```", "- ```", "-\t```", "a ``` b", "``", "- `a", "b` c"],
    *[
        "%%",
        "%% note %%",
        "- a %% b",
        "$$",
        "$$ x $$",
        "<div>",
        "<!-- a",
        "-->",
        "- <!--",
        "</div>",
    ],
    *["[a]: /url", '[a]: /url "', "[^1]: foot", "é 東京", "- é 東京", "* * *", "- \\`", "-     x"],
]


def lines_of(data: bytes, name: str) -> list[tuple[int, int]]:
    """The first and the last line of each record of a list, which may be under this name."""
    text = data.decode("utf-8-sig")
    at = text.index("[", text.index(f'"{name}"') if text.startswith("{") else 0)
    found = json_spans.elements(text, at)
    return [(text.count("\n", 0, a) + 1, text.count("\n", 0, b) + 1) for _, a, b in found]

"""Properties stay the text that was written, and no YAML hurts."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from brain.formats import frontmatter
from tests.formats.strategies import texts

SCALARS = [
    *["b", "b c", "b: c", "b:c", "b:", ":b", "- b", "-b", "-1", "-1: x", "- ", "-", "b #c", "b#c"],
    *[
        "#b",
        "b # c",
        '"b"',
        "'b'",
        '"b" c',
        '"b',
        "b'",
        "'it''s'",
        '"a\\nb"',
        '"b": c',
        "? b",
        "?b",
    ],
    *["|", "|\n  b", ">", ">-\n  b", "~", "null", "true", "on", "10:30", "0x1f", "1e3", "=", "<<"],
    *[
        "&a b",
        "*a",
        "!b c",
        "!!str b",
        "%b",
        "@b",
        "`b`",
        "{b: c}",
        "{}",
        "{b",
        "[b, c]",
        "[]",
        "[ ]",
    ],
    *[
        "[b,]",
        "[b,,c]",
        "[,b]",
        "[b",
        "b]",
        "[- b]",
        "[-b]",
        "[b: c]",
        "[a b, 'c, d']",
        "[[b]]",
        "[?]",
    ],
    *['"[[b]]"', "[[b]] c", "  b", "b  ", "b\t", "\tb", "b\tc", "a\n  b", "\n- b", "\n  - b\n- c"],
    *[
        "\n- b\n  - c",
        "\n  - b\n  - c",
        "\n-\n",
        "\n- - b",
        "\n- b: c",
        "\n- 'b'",
        "\n\n- b\n\n- c",
    ],
    *[
        "\n  b: c",
        "\n b",
        "2026-02-01",
        "http://x/#y",
        "a, b",
        "...",
        "---",
        "b\r",
        "\u00e9",
        "\u65e5",
    ],
    *[
        "\u2028",
        "b\u2028c",
        "b\x85",
        "\x01",
        "\ufeff",
        "\xa0b",
        "b\xa0",
        "\u3000b",
        "\U0001f9e0",
        "\ufffe",
    ],
    *["b\\c", "b,c", "b, c", "b|c", "b>c", "b&c", "b*c *d*", "$b", "(b)", ".b", "/b", "b%", "\x7f"],
]
KEYS = [
    "a",
    "b",
    "a b",
    "a-b",
    "a_b",
    "A1",
    "1",
    "\u00e9",
    "\u65e5\u672c",
    "-a",
    "a ",
    " a",
    '"a"',
    "#a",
]
KEYS += ["?", "a:b", "a#", "<<", "", "on", "\ufeffa", "x" * 999, "x" * 1025, "a\u2028", "a.b"]
SCALAR = st.sampled_from(SCALARS) | st.text(
    st.sampled_from("ab -:#[],'\"\\\t\n?|>&*!%@`{}~\r."), max_size=6
)
LINE = st.builds(
    "{}{}{}".format,
    st.sampled_from(KEYS),
    st.sampled_from([": ", ": ", ": ", ":", ":  ", " : ", ":\t", ""]),
    SCALAR,
)
BLOCK = st.lists(LINE | SCALAR | st.sampled_from(["", " ", "# x"]), max_size=4).map("\n".join)


def base(block: str) -> Any:
    return yaml.load(block, Loader=yaml.BaseLoader)


@given(BLOCK | texts, st.sampled_from(["", "\n", "\r\n"]))
@example("a:\n  - x\n- y", "")
@example("a:\n- x\n  - y", "")
@example("a: [x,,y]", "")
@example("a: x\ty", "")
@example("x" * 1_025 + ": y", "")
def test_the_short_way_reads_what_yaml_reads(block: str, end: str) -> None:
    if end == "\r\n":
        block = block.replace("\n", "\r\n")
    plain = frontmatter.read_plain(block + end)
    if plain is not None:
        assert plain == (base(block + end) or {})


@pytest.mark.parametrize(
    "block",
    [
        "",
        "a: b",
        "a: b\r\nc: d\r\n",
        "a: 10:30\non: yes",
        "a:\nb:   ",
        "a:\n- b\n- c d",
        "a:\n  - b\n\n  - 'c: d'\ne: f",
        'a: "[[b]]"\nc: [d, "e f",]\ng: []',
        "created at: 2026-02-01T10:30:00\nurl: http://x.y/#z",
        "\u65e5\u672c: \u691c\u7d22\ncaf\u00e9: [\u00e9, \u65e5]",
    ],
)
def test_the_short_way_is_taken_for_what_people_write(block: str) -> None:
    assert frontmatter.read_plain(block) == (base(block) or {})


@given(BLOCK | texts)
def test_reading_never_raises_and_keeps_text(block: str) -> None:
    properties, problems = frontmatter.read(block)
    assert all(isinstance(key, str) for key in properties)
    assert all(1 <= problem.line <= block.count("\n") + 3 for problem in problems)
    frontmatter.tags(properties)
    frontmatter.title(properties)
    frontmatter.created(properties)
    frontmatter.as_list(properties.get("a"))


@given(texts, st.sampled_from(["\n", "\r\n"]))
def test_block_and_body_are_the_whole_note(text: str, end: str) -> None:
    note = f"---{end}{text}"
    block, body_at = frontmatter.split(note)
    if body_at:
        assert note[3 + len(end) :].startswith(block)
        assert note[3 + len(end) + len(block) :][:3] in ("---", "...")
        assert note[body_at - 1] == "\n" or body_at == len(note)


@pytest.mark.parametrize(
    ("text", "block", "body"),
    [
        ("---\na: b\n---\nbody", "a: b\n", "body"),
        ("---\na: b\n...\nbody", "a: b\n", "body"),
        ("---  \r\na: b\r\n---\t\r\nbody", "a: b\r\n", "body"),
        ("---\n---\nbody", "", "body"),
        ("---\na: b\n---", "a: b\n", ""),
        ("---\na: b\n----\n---\n", "a: b\n----\n", ""),
        ("---\na: b", "", "---\na: b"),
        (" ---\na: b\n---\n", "", " ---\na: b\n---\n"),
        ("----\na: b\n---\n", "", "----\na: b\n---\n"),
        ("text\n---\na: b\n---\n", "", "text\n---\na: b\n---\n"),
    ],
)
def test_where_the_properties_are(text: str, block: str, body: str) -> None:
    found, body_at = frontmatter.split(text)
    assert (found, text[body_at:]) == (block, body)


@pytest.mark.parametrize(
    ("block", "line", "code"),
    [
        ('ok: 1\na: "b', 3, "frontmatter"),
        ("a: [b\nc: d", 3, "frontmatter"),
        ("just text", 1, "frontmatter"),
        ("- a\n- b", 1, "frontmatter"),
        ("a: b\nc: d\na: e", 4, "duplicate-key"),
        ("\n\na: {b: 1, b: 2}", 4, "duplicate-key"),
        ("a: &x [1]\nb: *x", 1, "frontmatter"),
        ("? [a]\n: b", 2, "frontmatter"),
    ],
)
def test_problems_name_their_line_in_the_note(block: str, line: int, code: str) -> None:
    _, problems = frontmatter.read(block)
    assert [(problem.line, problem.code) for problem in problems] == [(line, code)]


def test_stars_and_ampersands_in_text_are_no_aliases() -> None:
    block = 'a: "see *this* & *that"\nb: [R&D, "*"]\nc: &anchor x\nd: {e: *.md}'
    assert frontmatter.read('a: "x *y* z" # c') == ({"a": "x *y* z"}, [])
    assert frontmatter.read("a: &anchor x # c") == ({"a": "x"}, [])
    assert "aliases" not in frontmatter.refusal(block)


def test_without_the_c_parser_half_surrogates_are_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(yaml, "CBaseLoader", raising=False)
    assert frontmatter.read('a: "\\ud800\\0"') == ({"a": "\ufffd\ufffd"}, [])


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("One Name", ("One Name",)),
        ("a, b c,", ("a", "b c")),
        (["a ", "b, c", "", {"d": "e"}, ["f"]], ("a", "b, c")),
        ("", ()),
        ("null", ()),
        ("~", ()),
        (None, ()),
        ({"a": "b"}, ()),
    ],
)
def test_one_name_or_several(value: Any, names: tuple[str, ...]) -> None:
    assert frontmatter.as_list(value) == names


@pytest.mark.parametrize(
    ("properties", "tags"),
    [
        ({"tags": "a b, #c"}, ("a", "b", "c")),
        ({"tags": ["#a/b/", "a/b", "#", "cafe\u0301"]}, ("a/b", "caf\u00e9")),
        ({"tag": "a"}, ("a",)),
        ({"tags": "", "tag": "a"}, ("a",)),
        ({"tags": "null"}, ()),
        ({"tags": {"a": "b"}}, ()),
        ({}, ()),
    ],
)
def test_tags(properties: dict[str, Any], tags: tuple[str, ...]) -> None:
    assert frontmatter.tags(properties) == tags


@pytest.mark.parametrize(
    ("properties", "created"),
    [
        ({"created": "2026-02-01"}, "2026-02-01"),
        ({"date": "2026-02-01 10:30"}, "2026-02-01 10:30"),
        ({"created": "2026-02-01T10:30:00Z trailing"}, "2026-02-01T10:30:00Z"),
        ({"created": "2026-02-30", "date": "2026-02-01"}, "2026-02-01"),
        ({"created": "yesterday"}, None),
        ({"created": ["2026-02-01"]}, None),
        ({}, None),
    ],
)
def test_created(properties: dict[str, Any], created: str | None) -> None:
    assert frontmatter.created(properties) == created


@pytest.mark.parametrize(
    "block",
    [
        "a: " + "[" * 41,
        "# " + "]" * 30_000 + "\na: " + "[" * 30_000,
        "? " * 50,
        "- ? " * 30,
        "-\t" * 50,
        "".join(" " * i + f"k{i}:\n" for i in range(50)),
        "x" * 64_001,
    ],
)
def test_what_could_hurt_the_parser_is_refused(block: str) -> None:
    assert frontmatter.refusal(block)

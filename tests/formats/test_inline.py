"""Tags, links, fields and block ids, as Obsidian and Dataview take them."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.formats import inline
from tests.formats.strategies import texts


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("#a", ["a"]),
        ("#a #b", ["a", "b"]),
        ("#a/b", ["a/b"]),
        ("#a/b/", ["a/b"]),
        ("#a,", ["a"]),
        ("#a. #b! #c)", ["a", "b", "c"]),
        ("(#x)", ["x"]),
        ("x#y", []),
        ("#123", []),
        ("#1a #a1", ["1a", "a1"]),
        ("#-a_b", ["-a_b"]),
        ("#", []),
        ("#/ #//", []),
        ("# heading", []),
        ("##a", []),
        ("#a#b", ["a"]),
        ("[[#heading]] http://x/#y", []),
        ("&#39;", []),
        ("line\n#b\t#c\r\n#d", ["b", "c", "d"]),
        ("#\u65e5\u672c #\U0001f9e0", ["\u65e5\u672c", "\U0001f9e0"]),
        ("#caf\u00e9 #cafe\u0301", ["caf\u00e9", "caf\u00e9"]),
        ("#a\u2014b #a\u2028b", ["a", "a"]),
    ],
)
def test_tags(text: str, tags: list[str]) -> None:
    assert inline.tags(text) == tags
    spans = [text[start:end] for start, end in inline.tag_spans(text)]
    assert all(span.startswith("#") for span in spans)
    assert len(spans) == len(tags)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[[a]]", [("link", "a", "")]),
        ("[[ a b ]]", [("link", "a b", "")]),
        ("![[a.png|100]]", [("embed", "a.png", "")]),
        ("[[a#b]]", [("link", "a", "b")]),
        ("[[a#b#c|d e]]", [("link", "a", "b#c")]),
        ("[[#^id]]", [("link", "", "^id")]),
        ("[[a\\|b]]", [("link", "a", "")]),
        ("[[a#b\\|c]]", [("link", "a", "b")]),
        ("[[]] [[ ]] [[|x]] [[#]]", []),
        ("[[a\nb]]", []),
        ("[[a]", []),
        ("[[[a]]]", [("link", "a", "")]),
        ("[x](a.md)", [("link", "a.md", "")]),
        ("[x](a%20b.md#c%20d)", [("link", "a b.md", "c d")]),
        ("[x](a%23b.md)", [("link", "a#b.md", "")]),
        ("[x](<a b.md>)", [("link", "a b.md", "")]),
        ("[x](<a (1).md> 'title')", [("link", "a (1).md", "")]),
        ("[x](a(1).md)", [("link", "a(1).md", "")]),
        ('[x](a.md "Title")', [("link", "a.md", "")]),
        ("[x](it's.md)", [("link", "it's.md", "")]),
        ("![x](a.png)", [("embed", "a.png", "")]),
        ("[x](https://a.b/c) [y](mailto:a@b) [z](obsidian://x) [w](//a)", []),
        ("[x](#heading) [y]() [z]( )", []),
        ("[x](\u65e5\u672c.md)", [("link", "\u65e5\u672c.md", "")]),
    ],
)
def test_links(text: str, found: list[tuple[str, str, str]]) -> None:
    assert [tuple(link[1:]) for link in inline.links(text)] == found


@given(st.lists(st.sampled_from(["\n", "[[a]]", "[[b#^c]]", "[x](d#^e)", "[x](d#%5Ef)", "^g "])))
def test_links_to_blocks_are_those_among_all_links(parts: list[str]) -> None:
    text = "".join(parts)
    found = [link for link in inline.links(text, 3) if link.fragment.startswith("^")]
    assert inline.to_blocks(text, 3) == found


@given(st.lists(st.sampled_from(["\n", "[[a]]", "[x](b.md)", "word "]), max_size=30))
def test_links_know_their_line(parts: list[str]) -> None:
    text = "".join(parts)
    found = inline.links(text, line=5)
    for name, written in (("a", "[[a]]"), ("b.md", "](b.md)")):
        lines = [
            5 + row for row, line in enumerate(text.split("\n")) for _ in range(line.count(written))
        ]
        assert [link.line for link in found if link.target == name] == lines


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[a:: b]", {"a": "b"}),
        ("(a:: b)", {"a": "b"}),
        ("[a::b]", {"a": "b"}),
        ("[a:: ]", {"a": ""}),
        ("[two words:: b c]", {"two words": "b c"}),
        ("[\u00e9:: b]", {"\u00e9": "b"}),
        ("[a:: [[b]], [[c|d]]]", {"a": "[[b]], [[c|d]]"}),
        ("[a:: f(), g(x)]", {"a": "f(), g(x)"}),
        ("(a:: f(x) [b])", {"a": "f(x) [b]"}),
        ("[a:: b) c]", {"a": "b) c"}),
        ("[a:: x[0], C++]", {"a": "x[0], C++"}),
        ("[a:: [title](b.md)]", {"a": "[title](b.md)"}),
        ("[a:: x[::2]] [b:: c]", {"a": "x[::2]", "b": "c"}),
        ("[a:: see [b:: c]]", {"b": "c"}),
        ("[a:: x[y[0]]]", {}),
        ("[a:: x[0]", {}),
        ("[a:: b] (c:: d)", {"a": "b", "c": "d"}),
        ("[[a::b]] [a: b] [:: b] [a:: b", {}),
        ("[a:: b\nc]", {}),
    ],
)
def test_fields(text: str, found: dict[str, str]) -> None:
    fields = inline.fields(text)
    assert {field.key: field.value for field in fields} == found
    assert all(text[f.start] in "[(" and text[f.end - 1] in "])" for f in fields)


@given(st.lists(st.sampled_from(["x", " ", ",", "[0]", "[[n]]", "(y)", ")", "`", "a::b"])))
def test_a_field_is_read_as_it_was_written(parts: list[str]) -> None:
    value = "".join(parts)
    (field,) = inline.fields(f"before [key:: {value}] (other:: z) [behind]")[:1]
    assert (field.key, field.value) == ("key", value.strip())


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("a ^37066d", "37066d"),
        ("a ^m-7f3k2ab4  ", "m-7f3k2ab4"),
        ("a ^b\r", "b"),
        ("^b", "b"),
        ("a^b", None),
        ("a ^b c", None),
        ("a ^b_c", None),
        ("a ^", None),
    ],
)
def test_block_ids(text: str, id: str | None) -> None:
    match = inline.BLOCK_ID.search(text)
    assert (match and match.group(1)) == id


@given(texts)
def test_nothing_raises_and_spans_are_in_order(text: str) -> None:
    inline.links(text)
    spans = [(field.start, field.end) for field in inline.fields(text)]
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans))
    assert len(inline.tags(text)) == len(inline.tag_spans(text))
    assert all(tag and not tag.isdigit() for tag in inline.tags(text))

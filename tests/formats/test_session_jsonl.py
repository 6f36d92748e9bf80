"""Sessions: one message a line, read while somebody may still be writing the last one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.formats import session_jsonl
from brain.formats.text import derived_id

SEED = b"""\
{"id":"msg_001","role":"user","content":"Hello","timestamp":"2026-02-05T10:00:00Z"}
{"id":"msg_002","role":"assistant","content":"Hi there!","timestamp":"2026-02-05T10:00:01Z"}
{"id":"tool_001","role":"tool_call","name":"read","input":{"path":"README.md"},"timestamp":"2026-02-05T10:00:02Z"}
{"id":"tool_001","role":"tool_result","content":"# Project...","timestamp":"2026-02-05T10:00:03Z"}
"""
WORDS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
ANY = WORDS | st.integers(-(2**53), 2**53) | st.none() | st.lists(WORDS, max_size=3)
MESSAGES = st.dictionaries(
    st.sampled_from(["id", "role", "content", "timestamp", "name", "input", "model"]), ANY
)


def one(message: Any) -> Any:
    (entry,) = session_jsonl.parse(json.dumps(message).encode(), "s").entries
    return entry


def codes(data: bytes) -> list[tuple[int, str]]:
    return [(problem.line, problem.code) for problem in session_jsonl.parse(data, "s").problems]


def test_the_seeds_example() -> None:
    document = session_jsonl.parse(SEED, "s1")
    assert [(c.ref, c.kind, c.heading, c.text) for c in document.entries] == [
        ("msg_001", "user", "", "Hello"),
        ("msg_002", "assistant", "", "Hi there!"),
        ("tool_001", "tool_call", "read", 'read {"path":"README.md"}'),
        ("tool_001", "tool_result", "", "# Project..."),
    ]
    assert [(c.line, c.end_line) for c in document.entries] == [(1, 1), (2, 2), (3, 3), (4, 4)]
    assert document.entries[0].created == "2026-02-05T10:00:00Z"
    assert document.entries[0].extra == {"session": "s1", "role": "user"}
    assert (document.problems, document.broken) == ((), False)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        ([{"type": "text", "text": "one"}, {"type": "image"}, "two", 3], "one\ntwo"),
        ({"ok": True}, '{"ok":true}'),
    ],
)
def test_content_may_be_text_blocks_or_json(content: Any, text: str) -> None:
    assert one({"id": "a", "role": "user", "content": content}).text == text


def test_a_speaker_is_the_heading_and_unknown_keys_are_kept() -> None:
    entry = one({"role": "user", "name": "Wilco", "content": "x", "model": "m", "timestamp": 5})
    assert entry.heading == "Wilco"
    assert entry.extra == {"session": "s", "role": "user", "model": "m", "timestamp": 5}
    assert entry.created is None


def test_only_a_call_shows_its_input_as_text() -> None:
    call = one({"role": "tool_call", "name": "ls", "content": "look:", "input": {"p": "é"}})
    assert (call.text, call.extra) == (
        'look:\nls {"p":"é"}', {"session": "s", "role": "tool_call"},
    )  # fmt: skip
    said = one({"role": "user", "content": "look", "input": 1})
    assert (said.text, said.extra) == ("look", {"session": "s", "role": "user", "input": 1})


def test_a_message_without_id_gets_one_that_counts_its_occurrence() -> None:
    line = b'{"role":"user","content":"yes"}\n'
    refs = [entry.ref for entry in session_jsonl.parse(line * 2, "s").entries]
    assert refs == [derived_id("t", "s", "user", "yes", str(n)) for n in (1, 2)]
    assert codes(line * 2) == []


def test_a_derived_id_that_was_written_down_is_not_given_again() -> None:
    line = {"role": "user", "content": "yes"}
    written = {"id": derived_id("t", "s", "user", "yes", "1"), **line}
    data = f"{json.dumps(written)}\n{json.dumps(line)}\n".encode()
    refs = [entry.ref for entry in session_jsonl.parse(data, "s").entries]
    assert refs == [derived_id("t", "s", "user", "yes", str(n)) for n in (1, 2)]


def test_the_same_id_and_role_twice_is_a_problem_and_both_are_kept() -> None:
    document = session_jsonl.parse(SEED + SEED[: SEED.index(b"\n") + 1], "s")
    assert [(p.line, p.code) for p in document.problems] == [(5, "duplicate-id")]
    assert len(document.entries) == 5
    assert len({(entry.ref, entry.kind) for entry in document.entries}) == 5


@pytest.mark.parametrize("cut", range(1, 98))
def test_a_torn_last_line_costs_only_itself(cut: int) -> None:
    document = session_jsonl.parse(SEED[: -1 - cut], "s")
    assert len(document.entries) == 3
    assert [(p.line, p.code) for p in document.problems] in ([(4, "torn-line")], [])
    assert bool(document.problems) == (not SEED[: -1 - cut].endswith(b"\n"))
    assert not document.broken


def test_a_line_torn_inside_a_character_is_torn() -> None:
    assert codes('{"content":"é'.encode()[:-1]) == [(1, "torn-line")]


def test_bad_lines_in_the_middle_are_named_and_the_others_load() -> None:
    data = b"""{"content":"a"}
{"content":
{"content":"\xff"}

[1]
null
%s
{"content":"b"}
""" % (b"[" * 100_000)
    document = session_jsonl.parse(data, "s")
    assert [entry.text for entry in document.entries] == ["a", "b"]
    assert [entry.line for entry in document.entries] == [1, 8]
    assert [(p.line, p.code) for p in document.problems] == [
        (2, "json"), (3, "invalid-utf8"), (5, "not-an-object"), (6, "not-an-object"),
        (7, "json-depth"),
    ]  # fmt: skip
    assert not document.broken


def test_lines_that_orjson_alone_would_refuse() -> None:
    data = b'{"content":"cut \\ud83d","n":NaN,"big":%s,"f":1e999}\n' % (b"9" * 5_000)
    (entry,) = session_jsonl.parse(data, "s").entries
    assert entry.text == "cut \ufffd"
    assert entry.extra == {
        "n": None, "big": "9" * 5_000, "f": "1e999", "session": "s", "role": "message",
    }  # fmt: skip
    assert one({"content": "a\0b"}).text == "a\ufffdb"


def test_deep_values_are_refused_and_brackets_in_text_are_not() -> None:
    deep = b'{"content":"x","v":' + b"[" * 300 + b"]" * 300 + b"}\n"
    assert codes(deep) == [(1, "json-depth")]
    assert one({"content": "[{" * 300}).text == "[{" * 300


def test_merge_markers_make_a_session_broken() -> None:
    data = b"<<<<<<< HEAD\n" + SEED + b"=======\n>>>>>>> other\n"
    assert session_jsonl.parse(data, "s").broken
    assert (1, "conflict-markers") in codes(data)


def test_messages_that_say_nothing_make_no_entry() -> None:
    data = b'{"role":"user","content":""}\n{"role":"user"}\n{"role":"tool_call","name":"ls"}\n'
    assert [entry.text for entry in session_jsonl.parse(data, "s").entries] == ["ls"]


@given(
    st.lists(MESSAGES | st.none(), max_size=6), st.booleans(), st.sampled_from(["\n", "\r\n"]),
    st.booleans(), st.booleans(),
)  # fmt: skip
def test_every_message_is_where_it_says(
    messages: list[Any], ascii_only: bool, newline: str, bom: bool, final: bool
) -> None:
    lines = ["" if m is None else json.dumps(m, ensure_ascii=ascii_only) for m in messages]
    text = newline.join(lines) + (newline if final else "")
    data = (b"\xef\xbb\xbf" if bom else b"") + text.encode()
    document = session_jsonl.parse(data, "s")
    for entry in document.entries:
        message = messages[entry.line - 1]
        assert entry.extra is not None
        assert ("model" in message) == ("model" in entry.extra)
        assert message.get("model") == entry.extra.get("model")
    said = [n for n, m in enumerate(messages, 1) if m and _says(m)]
    assert [entry.line for entry in document.entries] == said


def _says(message: dict[str, Any]) -> bool:
    content = message.get("content")
    words = content if isinstance(content, list) else ["" if content is None else str(content)]
    return bool("\n".join(words).strip())


@given(st.binary(), WORDS)
def test_any_bytes_can_be_read(data: bytes, name: str) -> None:
    assert len(session_jsonl.parse(data, name).entries) <= data.count(b"\n") + 1
    assert len(session_jsonl.parse_index(data).entries) <= data.count(b"{")


@given(st.integers(0, len(SEED)), st.integers(0, 9), st.binary(max_size=6))
def test_damage_costs_only_the_lines_it_touches(start: int, gone: int, noise: bytes) -> None:
    data = SEED[:start] + noise + SEED[start + gone :]
    texts = [entry.text for entry in session_jsonl.parse(data, "s").entries]
    whole = session_jsonl.parse(SEED, "s").entries
    first, last = SEED.count(b"\n", 0, start) + 1, SEED.count(b"\n", 0, start + gone) + 1
    for entry in whole:
        if not first <= entry.line <= last:
            assert entry.text in texts


def test_a_file_name_that_is_not_unicode_is_harmless() -> None:
    (entry,) = session_jsonl.parse(b'{"content":"a"}', "s\udcff").entries
    assert entry.extra == {"session": "s\ufffd", "role": "message"}


SESSION = {
    "title": "Locks",
    "summary": "How sessions lock",
    "createdAt": "2026-02-05T10:00:00Z",
    "turns": 4,
}


@pytest.mark.parametrize(
    "index",
    [
        [{"id": "s1", **SESSION}],
        [{"sessionId": "s1", **SESSION}],
        {"sessions": [{"id": "s1", **SESSION}]},
        {"sessions": {"s1": SESSION}},
        {"s1": SESSION},
    ],
)
def test_the_index_may_be_a_list_or_a_mapping(index: Any) -> None:
    data = json.dumps(index, indent=1).encode()
    document = session_jsonl.parse_index(data)
    (entry,) = document.entries
    assert (entry.ref, entry.kind, entry.heading) == ("s1", "session", "Locks")
    assert entry.text == "Locks\nHow sessions lock"
    assert entry.created == "2026-02-05T10:00:00Z"
    assert entry.extra is not None
    assert (entry.extra["session"], entry.extra["turns"]) == ("s1", 4)
    lines = data.decode().split("\n")
    assert lines[entry.line - 1].endswith("{")
    assert lines[entry.end_line - 1].strip() == "}"
    assert '"turns": 4' in lines[entry.end_line - 2]
    assert (document.problems, document.broken) == ((), False)


def test_a_bad_entry_of_the_index_is_named_and_the_others_load() -> None:
    document = session_jsonl.parse_index(b'{"version": 1,\n"s1": {"name": "A"},\n"s2": []}')
    assert [(c.ref, c.text, c.line) for c in document.entries] == [("s1", "A", 2)]
    assert [(p.line, p.code) for p in document.problems] == [
        (1, "not-an-object"), (3, "not-an-object"),
    ]  # fmt: skip


def test_an_index_that_does_not_parse_is_broken() -> None:
    assert session_jsonl.parse_index(b'{"s1": {').broken
    assert not session_jsonl.parse_index(b"").broken

"""Bytes to text and back: nothing raises, nothing moves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.formats.text import BOM, Offsets, decode, derived_id, digest, unspaced_characters
from tests.formats.strategies import data, texts


def codes(raw: bytes) -> list[tuple[int, str]]:
    return [(problem.line, problem.code) for problem in decode(raw)[1]]


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        (b"plain\n", []),
        (BOM + b"a", [(1, "bom")]),
        (b"a\nb\r\nc", [(2, "crlf")]),
        (b"a\rb", [(1, "crlf")]),
        (b"a\n\xff", [(2, "invalid-utf8")]),
        (b"a\n\0", [(2, "nul")]),
        ("a\n\u2028b\n\u2029".encode(), [(2, "line-separator")]),
        (b"x\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> b\n", [(2, "conflict-markers")]),
        (b"<<<<<<< HEAD\r\na\r\n>>>>>>> b\r\n", [(1, "crlf"), (1, "conflict-markers")]),
        (b"a <<<<<<< b >>>>>>>\n", []),
        (b"<<<<<<< only one side\n", []),
        (b"Title\n=======\n", []),
    ],
)
def test_what_is_odd(raw: bytes, found: list[tuple[int, str]]) -> None:
    assert codes(raw) == found


@given(data)
def test_any_bytes_have_a_text_that_sqlite_can_keep(raw: bytes) -> None:
    text, _ = decode(raw)
    assert "\0" not in text
    text.encode()


@given(texts, st.booleans())
def test_offsets_lead_back_to_the_bytes(text: str, bom: bool) -> None:
    raw = BOM * bom + text.encode()
    shown, problems = decode(raw)
    if any(problem.code == "nul" for problem in problems) or text.startswith("\ufeff"):
        return
    offsets = Offsets(shown, BOM if raw.startswith(BOM) else b"")
    for at in range(len(shown) + 1):
        assert raw[len(BOM) * bom : offsets.byte(at)].decode() == shown[:at]
        assert offsets.line(at) == shown.count("\n", 0, at) + 1


def test_ids_are_the_same_on_every_machine() -> None:
    assert derived_id("m", "admin", "Deploys go out on Tuesdays", "1") == "m-6mwctm21"
    assert derived_id("m", "a", "b") != derived_id("m", "ab", "")
    assert derived_id("m", "\udcff").startswith("m-")  # a file name that is not UTF-8


@given(st.text(max_size=20))
def test_ids_are_eight_characters_nobody_misreads(text: str) -> None:
    prefix, _, rest = derived_id("n", text).partition("-")
    assert (prefix, len(rest)) == ("n", 8)
    assert not set(rest) & set("ilouILOU-")


def test_digest_tells_files_apart() -> None:
    assert digest(b"a") == digest(b"a") != digest(b"a\n")
    assert len(digest(b"")) == 16


@pytest.mark.parametrize(
    ("text", "apart"),
    [
        ("plain", ""),
        ("caf\u00e9", ""),
        ("SQLite \u6570\u636e\u5e93", "\u6570 \u636e \u5e93"),
        ("\uac80\uc0c9", "\uac80 \uc0c9"),
        ("\u306e\u30fc\u30c8", "\u306e \u30fc \u30c8"),
        ("\u0e44\u0e17\u0e22", "\u0e44 \u0e17 \u0e22"),
    ],
)
def test_scripts_without_spaces_are_taken_apart(text: str, apart: str) -> None:
    assert unspaced_characters(text) == apart

"""Code and comments are blank, everything keeps its place."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given

from brain.formats.markdown import blank, code_and_comments, mask
from tests.formats.strategies import texts


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("`#a` #b", "#b"),
        ("``a ` #b`` #c", "#c"),
        ("a ` b\n\nc ` d", "a ` b c ` d"),
        ("a ` b\r\n\r\nc ` d", "a ` b c ` d"),
        ("a `b\nc` d", "a d"),
        ("- a ` b\n- c ` d", "- a ` b - c ` d"),
        ("| ` |\n| ` |", "| ` | | ` |"),
        ("a ` b\n# c ` d", "a ` b # c ` d"),
        ("\\`a\\` `b`", "\\`a\\`"),
        ("```\n#a\n```\nb", "b"),
        ("```\n#a\n````\nb", "b"),
        ("````\n```\n````\nb", "b"),
        ("```\n    ```\na\n```\nb", "b"),
        ("```\n#a\n~~~\nb", ""),
        ("~~~\n```\n~~~\nb", "b"),
        ("~~~ `x`\na\n~~~\nb", "b"),
        ("``` not `a` fence", "``` not fence"),
        ("x\n``` `a`\n```\nb", "x ```"),
        ("a ``` b", "a ``` b"),
        ("```\r\n#a\r\n```\r\nb", "b"),
        ("  ```\n  a\n  ```\nb", "b"),
        ("- a\n    ```\n    #b\n\n    c\n    ```\n- d", "- a - d"),
        ("- a\n\t```\n\t#b\n\n\tc\n\t```\n- d", "- a - d"),
        ("- a\n\t```\n\t#b\n- d", "- a - d"),
        ("- ```\n  #a\n  ```\n- b", "- - b"),
        ("- ```\n  #a\n- b", "- - b"),
        ("1. ```\n   #a\n\n   b\nc", "1. c"),
        ("> ```\n> #a\n> ```\n> b", "> > b"),
        ("> ```\n> #a\nb", "> b"),
        ("- > ```\n  > #a\n- b", "- > - b"),
        ("    ```\n    a\nb", "b"),
        ("a %%b%% c", "a c"),
        ("a %%b\nc%% d", "a d"),
        ("a %%b", "a"),
        ("%%a%%%%b%%c", "c"),
        ("`%%` a %%b%%", "a"),
        ("%% a ` b %% c ` d", "c ` d"),
        ("%%\n```\n%%\na", "a"),
        ("```\n%%\n```\na %%b%%", "a"),
        ("100 % sure", "100 % sure"),
    ],
)
def test_what_is_left(text: str, seen: str) -> None:
    assert " ".join(mask(text).split()) == seen


@given(texts)
def test_every_character_keeps_its_place(text: str) -> None:
    masked = mask(text)
    assert len(masked) == len(text)
    assert all(now in (was, " ") for was, now in zip(text, masked, strict=True))
    assert masked.count("\n") == text.count("\n")


@given(texts)
def test_code_and_comments_are_spans_in_order(text: str) -> None:
    code, comments = code_and_comments(text)
    spans = sorted(code + comments)
    assert code == sorted(code)
    assert comments == sorted(comments)
    assert all(start < stop for start, stop in spans)
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans))
    assert blank(text, spans) == mask(text)
    assert all(text.startswith("%%", start) for start, _ in comments)

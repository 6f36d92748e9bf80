"""The steps of a procedure, each with what belongs to it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.context.parts import LEFT_OUT, Package, Part
from brain.context.render import render
from brain.context.triggers import procedure

SUB = "1. fetch the key\n2. open the gate"


@pytest.mark.parametrize(
    ("text", "first", "steps"),
    [
        ("Bake\n1. Mix\n2. Bake", "Bake", ("Mix", "Bake")),
        ("Bake\n1) Mix\n2) Bake", "Bake", ("Mix", "Bake")),
        ("Bake\n- 1. Mix\n- 2. Bake", "Bake", ("Mix", "Bake")),
        ("Bake\n1. Mix\n1. Bake\n1. Eat", "Bake", ("Mix", "Bake", "Eat")),
        ("1. Mix\n2. Bake", "", ("Mix", "Bake")),
        (f"Go\n1. Prepare\n    {SUB.replace(chr(10), chr(10) + '    ')}\n2. Release", "Go",
         (f"Prepare\n{SUB}", "Release")),
        ("Go\n1. Open\n    - carefully\n        - very\n2. Close", "Go",
         ("Open\n- carefully\n    - very", "Close")),
        ("Go\n1. Release\n   and wait\n2. Close", "Go", ("Release\nand wait", "Close")),
        ("Go\n1. Release\nand wait\n2. Close", "Go", ("Release\nand wait", "Close")),
        ("Go\n1. Run\n\n   ```\n   1. x\n   ```\n\n2. Close", "Go",
         ("Run\n\n```\n1. x\n```", "Close")),
        ("Go\n\n- a key\n- a gate\n\n1. Open\n2. Close", "Go\n\n- a key\n- a gate",
         ("Open", "Close")),
        ("To wash: 1. soak 2. rinse", "To wash: 1. soak 2. rinse", ()),
    ],
)  # fmt: skip
def test_steps_keep_what_is_nested_in_them(text: str, first: str, steps: tuple[str, ...]) -> None:
    assert procedure(text) == (first, steps)


@pytest.mark.parametrize(
    "text",
    [
        "Bake\n1. Mix\n2. Bake\n\nServe warm.",
        "Morning\n1. Open\n\nEvening\n1. Close",
        "Bake\n1. Mix\n- a note\n2. Bake",
        "Go on\n3. Mix\n4. Bake",
        "Bake\n1. Mix\n3. Bake",
    ],
)
def test_what_is_more_than_steps_stays_as_it_stands(text: str) -> None:
    assert procedure(text) == (text, ())


@given(st.lists(st.sampled_from(["1. ", "2. ", "- ", "   ", "a", "b", "\n", "\n\n"])).map("".join))
def test_no_word_is_lost_and_none_changes_its_place(text: str) -> None:
    first, steps = procedure(text)
    said = "\n".join((first, *steps))
    assert [char for char in said if char in "ab"] == [char for char in text if char in "ab"]


def test_a_prompt_shows_the_structure() -> None:
    first, steps = procedure(
        f"Go\n1. Prepare\n   {SUB.replace(chr(10), chr(10) + '   ')}\n2. Close"
    )
    piece = Part("m-a", "procedure", "confirmed", first, "a.md", 1, steps=steps)
    shown = ["Go", "1. Prepare", "   1. fetch the key", "   2. open the gate", "2. Close"]
    for format, prefix in (("claude", "  "), ("gemini", "  › "), ("codex", "  | ")):
        text = render(Package("", memories=(piece,)), format)
        assert f"\n{prefix}".join(shown) in text


def test_steps_that_are_left_out_do_not_count_the_others_anew() -> None:
    steps = ("a", LEFT_OUT, LEFT_OUT, LEFT_OUT, "e")
    piece = Part("m-a", "procedure", "confirmed", "Go", "a.md", 1, steps=steps)
    assert "Go\n  | 1. a\n  | …\n  | 5. e\n" in render(Package("", memories=(piece,)), "codex")
    assert '"steps":["a","…","e"]' in render(Package("", memories=(piece,)), "json")

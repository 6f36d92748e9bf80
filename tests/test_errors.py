"""Errors as sentences with a remedy."""

from __future__ import annotations

import pytest

from brain.errors import suggest


@pytest.mark.parametrize(
    ("name", "known", "remedy"),
    [
        ("serch", ["search", "show"], "Did you mean 'search'?"),
        ("SEARCHLIMITS", ["searchLimit", "topK"], "Did you mean 'searchLimit'?"),
        ("limit", ["searchLimit"], "Did you mean 'searchLimit'?"),
        ("recipe", ["Recipe"], "Did you mean 'Recipe'?"),
        ("xyz", ["search", "show"], ""),
        ("search", [], ""),
    ],
)
def test_the_known_name_most_like_the_given_one_is_suggested(name, known, remedy) -> None:
    assert suggest(name, known) == remedy


def test_the_name_is_shown_in_the_given_form() -> None:
    assert suggest("serch", ["search"], "`brain {}`") == "Did you mean `brain search`?"

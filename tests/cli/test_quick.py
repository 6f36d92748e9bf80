"""The short way understands nothing differently from the full parser."""

from __future__ import annotations

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.cli import app, quick

ARGUMENTS = st.lists(
    st.sampled_from(
        ["search", "sync", "list", "--json", "--vault", "-V", "v", "--explain", "-n", "--limit",
         "3", "0", "1001", "x", "sqlite", "--rebuild", "--", "-", "-n5", "--vault=v", "-h", ""]
    ),
    max_size=7,
)  # fmt: skip


def in_full(args: list[str]) -> quick.Wanted:
    """What click makes of the arguments."""
    outer = app.cli.make_context("brain", list(args))
    name, command, rest = app.cli.resolve_command(outer, [*outer._protected_args, *outer.args])
    assert command is not None
    inner = command.make_context(name, rest, parent=outer)
    given = inner.params
    return quick.Wanted(
        command=name or "",
        words=given.get("words", ()),
        vault=given["vault"] or outer.params["vault"],
        as_json=given["as_json"] or outer.params["as_json"],
        explain=given.get("explain", False),
        limit=given.get("limit"),
    )


@given(ARGUMENTS)
def test_what_is_understood_means_the_same_in_full(args: list[str]) -> None:
    wanted = quick.parse(args)
    if wanted is not None:
        assert wanted == in_full(args)


@pytest.mark.parametrize(
    ("args", "wanted"),
    [
        (["sync"], quick.Wanted("sync")),
        (["--json", "sync"], quick.Wanted("sync", as_json=True)),
        (["search", "a", "b"], quick.Wanted("search", ("a", "b"))),
        (["--vault", "v", "search", "a", "-n", "3"], quick.Wanted("search", ("a",), "v", limit=3)),
        (["search", "a", "--explain"], quick.Wanted("search", ("a",), explain=True)),
    ],
)
def test_a_plain_form(args: list[str], wanted: quick.Wanted) -> None:
    assert quick.parse(args) == wanted == in_full(args)


@pytest.mark.parametrize(
    "args",
    [[], ["search"], ["sync", "x"], ["search", "a", "--kind", "fact"], ["list"], ["--help"],
     ["search", "-n", "0", "a"], ["search", "a", "--vault"], ["sync", "--rebuild"]],
)  # fmt: skip
def test_the_rest_is_left_to_the_full_parser(args: list[str]) -> None:
    assert quick.parse(args) is None


def test_a_mistake_is_told_by_the_full_parser() -> None:
    with pytest.raises(click.UsageError):
        in_full(["search"])

"""The short way for the two commands that are run all day: `brain search WORDS` and `brain sync`.

Importing the option parser takes longer than searching. So their plain forms are understood here,
and whatever is not (any other option, a mistake, a question for help) is left to it.
"""

from __future__ import annotations

import os

from brain.cli.output import guarded, learn, opened, print_answer, print_stats
from brain.record import NamedTuple


class Wanted(NamedTuple):
    """A command in its plain form."""

    command: str
    words: tuple[str, ...] = ()
    vault: str | None = None
    as_json: bool = False
    explain: bool = False
    limit: int | None = None


def parse(args: list[str]) -> Wanted | None:
    """What these arguments mean, as the full parser would have it; None if that must say."""
    command, words, options = "", [], Wanted("")
    rest = iter(args)
    for arg in rest:
        if arg == "--json":
            options = options._replace(as_json=True)
        elif arg in ("--vault", "-V"):
            options = options._replace(vault=next(rest, ""))
        elif command == "search" and arg == "--explain":
            options = options._replace(explain=True)
        elif command == "search" and arg in ("--limit", "-n"):
            number = next(rest, "")
            if not (number.isascii() and number.isdigit() and 1 <= int(number) <= 1000):
                return None
            options = options._replace(limit=int(number))
        elif arg.startswith("-") or not arg:
            return None
        elif not command:
            command = arg
        else:
            words.append(arg)
    complete = bool(words) if command == "search" else command == "sync" and not words
    if not complete or options.vault == "":
        return None
    return options._replace(command=command, words=tuple(words))


def run(args: list[str]) -> int | None:
    """The exit code of a command in its plain form; None if it is not in one."""
    wanted = parse(args) if "_BRAIN_COMPLETE" not in os.environ else None
    return None if wanted is None else guarded(lambda: _do(wanted), args)


def _do(wanted: Wanted) -> None:
    with opened(wanted.vault or os.environ.get("BRAIN_VAULT")) as brain:
        if wanted.command == "sync":
            stats = brain.sync()
            learn(brain)
        else:
            question = " ".join(wanted.words)
            answer = brain.search(question, limit=wanted.limit)
    if wanted.command == "sync":
        print_stats(stats, wanted.as_json)
    else:
        print_answer(question, answer, wanted.explain, wanted.as_json)

"""What the steps of a procedure are, each with all that is nested in it."""

from __future__ import annotations

import re
from textwrap import dedent

_STEP = re.compile(r"\s*(?:[-*+]\s+)?(\d{1,3})[.)]\s+(\S.*)")


_BLOCK = re.compile(r"[-*+>#|]|```|~~~")  # what begins so does not go on with a line of words


def procedure(text: str) -> tuple[str, tuple[str, ...]]:
    """(what comes first, the steps): each step with all that is nested in it.

    Where something else than steps follows the first, or they are not counted from 1, the text
    stays as it stands.
    """
    rows = text.expandtabs(4).split("\n")
    start = next((at for at, row in enumerate(rows) if _STEP.match(row)), len(rows))
    steps = _steps(rows[start:])
    return ("\n".join(rows[:start]).rstrip(), steps) if steps else (text, ())


def _steps(rows: list[str]) -> tuple[str, ...]:
    """The steps that these lines are, the first of which is one; none if they are more than that.
    What is nested is indented by two or more."""
    steps: list[list[str]] = []
    numbers: list[int] = []
    before = ""
    for row in rows:
        nested = _indent(row) > _indent(rows[0]) + 1
        if not nested and (match := _STEP.match(row)):
            numbers.append(int(match[1]))
            steps.append([match[2].rstrip()])
        elif not row.strip() or nested or (before.strip() and not _BLOCK.match(row.lstrip())):
            steps[-1].append(row)
        else:
            return ()
        before = row
    counted = numbers in (list(range(1, len(steps) + 1)), [1] * len(steps))
    return tuple(map(_step, steps)) if counted else ()


def _indent(row: str) -> int:
    return len(row) - len(row.lstrip())


def _step(rows: list[str]) -> str:
    return f"{rows[0]}\n{dedent(chr(10).join(rows[1:]))}".rstrip()

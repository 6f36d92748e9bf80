"""The table of kinds, and how headings and tags name them."""

from __future__ import annotations

import pytest

from brain.kinds import DEFAULT_KIND, KINDS, kind_of_headings, kind_of_tags, status_of

RULES = """
correction | .95 | 1.4 | 365 | 365 | Corrections
negative | .90 | 1.4 | 365 | 365 | Never, Avoid, Do not
warning | .85 | 1.4 | 30 | 90 | Warnings, Pitfalls, Gotchas
decision | .90 | 1.3 | 90 | 90 | Key Decisions, Decisions
architecture | .85 | 1.25 | 180 | 180 | Architecture, Design
preference | .90 | 1.2 | 365 | 90 | User Preferences, Preferences
error | .85 | 1.2 | 90 | 60 | Errors, Failures, Lessons
procedure | .80 | 1.15 | 180 | 60 | Procedures, How to, Runbook
convention | .80 | 1.15 | 180 | 180 | Conventions, Style
pattern | .70 | 1.1 | 180 | 90 | Patterns
fact | .60 | 1.0 | 90 | 30 | Project Context, Facts
discovery | .50 | 1.0 | 21 | 30 | Discoveries, Findings
summary | .50 | 0.9 | none | none | Session Summaries
file_change | .40 | 0.8 | 21 | 14 | Changes
task_progress | .40 | 0.8 | 14 | 14 | Progress, Status
"""
ROWS = [line.split(" | ") for line in RULES.strip().split("\n")]


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_the_table_is_the_one_of_the_rules(row: list[str]) -> None:
    name, importance, weight, ttl, half_life, headings = row
    kind = KINDS[name]
    assert (kind.importance, kind.weight) == (float(importance), float(weight))
    days = [None if text == "none" else int(text) for text in (ttl, half_life)]
    assert [kind.ttl, kind.half_life] == days
    assert {kind_of_headings((heading,)) for heading in headings.split(", ")} == {name}
    assert kind_of_headings((name.replace("_", " ").title(),)) == name
    assert kind_of_tags((name,)) == name


def test_there_are_no_other_kinds() -> None:
    assert [row[0] for row in ROWS] == list(KINDS)
    assert DEFAULT_KIND in KINDS


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (("Decisions", "Notes"), "decision"),
        (("Decisions", "Errors"), "error"),
        (("Decisions", "Errors", "2026-02-01"), "error"),
        (("\U0001f9e0 Key Decisions (2026)",), "decision"),
        (("**Never:**",), "negative"),
        (("1. How to",), "procedure"),
        (("Don\u2019t!",), "negative"),
        (("[[Key Decisions]] #db",), "decision"),
        (("DECISIONS",), "decision"),
        (("Undecided",), ""),
        (("Key Decisions of last year",), ""),
        (("2026",), ""),
        ((), ""),
    ],
)
def test_headings(path: tuple[str, ...], kind: str) -> None:
    assert kind_of_headings(path) == kind


@pytest.mark.parametrize(
    ("tags", "kind"),
    [
        (("db", "Decision"), "decision"),
        (("file-change",), "file_change"),
        (("warning", "decision"), "warning"),
        (("decision/db", "decisions"), ""),
        ((), ""),
    ],
)
def test_tags(tags: tuple[str, ...], kind: str) -> None:
    assert kind_of_tags(tags) == kind


@pytest.mark.parametrize(
    ("tags", "status"),
    [
        ((), "confirmed"),
        (("db",), "confirmed"),
        (("candidate",), "candidate"),
        (("candidate", "Pinned"), "pinned"),
    ],
)
def test_status(tags: tuple[str, ...], status: str) -> None:
    assert status_of(tags) == status

"""Write: remember, update, forget, tag, pin, unpin, link, unlink, move, confirm, reinforce,
demote."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from brain.cli.output import Values, View, indented, say
from brain.config import default, to_yaml

if TYPE_CHECKING:
    from brain.operations.results import Changed

OUTCOMES = {
    "added": "Remembered",
    "duplicate": "Known already:",
    "conflict": "Remembered, though it contradicts others:",
    "updated": "Updated",
    "forgotten": "Forgot",
    "purged": "Forgot for good",
    "pinned": "Pinned",
    "unpinned": "Unpinned",
    "confirmed": "Confirmed",
    "linked": "Linked",
    "unlinked": "Unlinked",
    "tagged": "Tagged",
    "moved": "Moved",
    "reinforced": "Reinforced",
    "demoted": "Demoted",
    "resolved": "Resolved",
    "undone": "Undid",
    "unchanged": "Nothing to change:",
}


def print_change(changed: Changed, _: Values) -> None:
    """Print an entry and what happened to it."""
    place = f"{changed.path}:{changed.line}" if changed.line else changed.path
    did = OUTCOMES[changed.outcome]
    if undid := getattr(changed, "undid", ""):
        did = f"{did} {undid} of"
    say(f"{did} {changed.id}  {place}", "bold")
    text = changed.text
    if changed.kind == "setting" and not text:
        text = f"It is not set any more; the default is {to_yaml(default(changed.id))}."
    say(indented(text), lines=True)
    for remark in _remarks(changed):
        say(indented(remark), "dim", lines=True)


def _remarks(changed: Changed) -> list[str]:
    """Return what the user should know besides."""

    from brain.redact import PERSONAL

    def field(name: str) -> Any:
        return getattr(changed, name, None) or ()

    out = []
    if changed.state == "pending":
        out.append("Not in the note yet. `brain pending` says why.")
    if secrets := [rule for rule in changed.redacted if rule not in PERSONAL]:
        out.append(f"Left out, as secrets: {', '.join(secrets)}.")
    if personal := [rule for rule in changed.redacted if rule in PERSONAL]:
        out.append(f"Left out, as personal data: {', '.join(personal)}.")
    if links := field("linked_from"):
        out.append(f"Still linked from {', '.join(links)}.")
    out += [f"May still be in {place}." for place in field("left")]
    out += [f"There is no note {name!r} yet." for name in field("unmade")]
    out += [f"Much like {near.id}: {near.text}" for near in field("near")]
    out += [f"Contradicts {other.id}: {other.text}" for other in field("conflicts")]
    out += [f"Still superseded by {other.id}: {other.text}" for other in field("superseded_by")]
    return out


def _read_text(values: Values) -> None:
    """Read the text from a pipe if none is given."""
    if not values["text"] and not sys.stdin.isatty():
        values["text"] = sys.stdin.read()


def _update(values: Values) -> None:
    """Read the text from a pipe if nothing else is to be changed."""
    if not any(values[name] not in (None, ()) for name in _OTHERS):
        _read_text(values)


def _remember(values: Values) -> None:
    _read_text(values)
    values["date"] = False if values.pop("no_date") else values["date"] or None


_OTHERS = ("tags", "confidence", "importance")  # what `update` changes besides the text
_CHANGE = View(print_change)
_NAMES = ("forget", "tag", "pin", "unpin", "link", "unlink", "move", "confirm", "reinforce")
VIEWS = {
    "remember": View(
        print_change,
        prepare=_remember,
        options=(click.Option(["--no-date"], is_flag=True, help="Begin without a date."),),
    ),
    "update": View(print_change, prepare=_update),
    **dict.fromkeys((*_NAMES, "demote"), _CHANGE),
}

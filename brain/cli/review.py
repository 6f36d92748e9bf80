"""Review: history, audit, undo, revert, conflicts, resolve, gaps, pending."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brain.cli.output import Values, View, indented, note, say, say_entry
from brain.cli.write import print_change
from brain.timestamps import shown

if TYPE_CHECKING:
    from brain.operations.results import ChangeRecord, Conflict, Gaps, PendingWrite, Reverted


_SHOWN = ("session", "source", "importance", "confidence", "delta", "of")


def print_records(records: list[ChangeRecord], _: Values) -> None:
    for record in records:
        did = f"{record.by:<10} {record.op:<9} {record.id:<12}"
        say_entry(f"{shown(record.at)}  {did}", record.event)
        for line in _details(record):
            say(f"  {line}", "dim")
    if not records:
        say("No changes are recorded.")


def _details(record: ChangeRecord) -> list[str]:
    data = record.data
    given = [f"{key} {data[key]}" for key in _SHOWN if data.get(key) is not None]
    out = [", ".join(given)] if given else []
    if record.op == "move":
        out.append(f"from {data.get('section') or 'the beginning'} to {data.get('to')}")
    if "state" in data:
        out.append("not in the note yet; see `brain pending`")
    if data.get("why"):
        out.append(f"because {data['why']}")
    if data.get("before"):
        out += [f"was: {line}" for line in str(data["before"]).split("\n")]
    if data.get("text") and data["text"] != data.get("before"):
        word = "became" if data.get("before") else "added"
        out += [f"{word}: {line}" for line in str(data["text"]).rstrip("\n").split("\n")]
    return out


def print_reverted(reverted: Reverted, options: Values) -> None:
    """Print what was undone, and what was kept."""
    for undone in reverted.undone:
        print_change(undone, options)
    for record in reverted.kept:
        note(f"Kept {record.op} of {record.id} ({record.event}): {record.data['why_not']}")
    say(f"{len(reverted.undone)} undone, {len(reverted.kept)} kept.")


def print_conflicts(found: list[Conflict], _: Values) -> None:
    for conflict in found:
        ended = f", resolved {shown(conflict.resolved)[:10]}" if conflict.resolved else ""
        say(f"{conflict.event}  {conflict.type}, {shown(conflict.at)[:10]}{ended}", "bold")
        for entry in conflict.entries:
            say(indented(f"{entry.id}  {entry.text}"), lines=True)
    if not found:
        say("No conflicts.")


def print_gaps(found: Gaps, _: Values) -> None:
    """Print questions, how often they were asked, and suggested tags."""
    for gap in found.gaps:
        times = "once" if gap.count == 1 else f"{gap.count:,} times"
        now = "" if gap.open else ", and has an answer now"
        say(f"{gap.query}")
        say(f"  asked {times}, last {shown(gap.last)[:10]}{now}", "dim")
    if not found.gaps:
        say("No unanswered questions.")
    for tag in found.tags:
        say(f"{', '.join(tag.ids)} answered {tag.query!r} together; tag them #{tag.tag}?")


def print_pending(found: list[PendingWrite], _: Values) -> None:
    for write in found:
        dropped = "Dropped: " if write.state == "dropped" else ""
        say(f"{dropped}{write.event}  {write.path}  {write.op} {write.id}, by {write.by}")
        for line in filter(None, write.text.split("\n")):
            say(f"  {line}")
        if write.why:
            say(f"  {write.why}", "dim")
    if not any(write.state != "dropped" for write in found):
        say("Nothing is pending.")


VIEWS = {
    "history": View(print_records),
    "audit": View(print_records),
    "undo": View(print_change),
    "revert": View(print_reverted),
    "conflicts": View(print_conflicts),
    "resolve": View(print_change),
    "gaps": View(print_gaps),
    "pending": View(print_pending),
}

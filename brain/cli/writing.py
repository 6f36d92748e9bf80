"""Commands that change memories: remember, update, forget, pin, unpin, confirm, link, unlink, tag,
move."""

from __future__ import annotations

import sys
from typing import Any

import click

from brain.cli.app import Worded, acting, choices, common
from brain.cli.output import opened, say, tell
from brain.formats.links import RELATIONS

DID = {
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


def print_change(shape: dict[str, Any], as_json: bool) -> None:
    """What happened to an entry."""
    if as_json:
        tell(shape)
        return
    place = f"{shape['path']}:{shape['line']}" if shape["line"] else shape["path"]
    did = f"{DID[shape['outcome']]} {shape['undid']} of" if "undid" in shape else ""
    say(f"{did or DID[shape['outcome']]} {shape['id']}  {place}", "bold")
    for line in shape["text"].split("\n"):
        say(f"  {line}")
    for remark in _remarks(shape):
        say(f"  {remark}", "dim")


def _remarks(shape: dict[str, Any]) -> list[str]:
    """What one should know besides."""
    out = []
    if shape["state"] == "pending":
        out.append("Not in the note yet: somebody is typing there. See `brain pending`.")
    if shape["redacted"]:
        out.append(f"Left out, as secrets: {', '.join(shape['redacted'])}.")
    if shape.get("linked_from"):
        out.append(f"Still linked from {', '.join(shape['linked_from'])}.")
    for place in shape.get("left", ()):
        out.append(f"May still be in {place}.")
    for name in shape.get("unmade", ()):
        out.append(f"There is no note {name!r} yet.")
    for near in shape.get("near", ()):
        out.append(f"Much like {near['id']}: {near['text']}")
    for other in shape.get("conflicts", ()):
        out.append(f"Contradicts {other['id']}: {other['text']}")
    for other in shape.get("superseded_by", ()):
        out.append(f"Still superseded by {other['id']}: {other['text']}")
    return out


@click.command("remember", cls=Worded)
@click.argument("text", nargs=-1)
@click.option("--kind", "-k", default="", help="decision, preference, fact, …  [fact]")
@click.option("--tag", "-t", "tags", multiple=True, help="A tag. Repeatable.")
@click.option("--section", "-s", default="", help="The heading it goes under.  [its kind's]")
@click.option("--link", "-l", "links", multiple=True, help="A note or memory. Repeatable.")
@click.option(
    "--supersedes", multiple=True, metavar="ID", help="What it takes the place of. Repeatable."
)
@click.option("--source", default="", help="user_stated, observed, inferred, extracted, …")
@click.option("--confidence", type=click.FloatRange(0, 1), metavar="0..1", help="How sure it is.")
@click.option("--importance", type=click.FloatRange(0, 1), metavar="0..1", help="What it weighs.")
@click.option("--why", default="", help="What it is based on; kept in the journal.")
@click.option("--date", default="", metavar="DATE", help="The day it begins with.  [today]")
@click.option("--no-date", is_flag=True, help="Begin with no day.")
@click.option("--agent", "-a", default="", help="Whose memory.  [admin]")
@acting
@common
def remember_command(
    text: tuple[str, ...],
    date: str,
    no_date: bool,
    vault: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Put TEXT, or what a pipe brings, into an agent's MEMORY.md.

    It goes to the end of its section. What is known already is not written again. Secrets are left
    out.

    \b
    brain remember "Chose SQLite for local-first search" --kind decision --tag db
    brain remember "Deploys go out on Wednesdays" --supersedes m-2b8xq1mz
    git log -1 --format=%s | brain remember --agent zoo --by zoo
    """
    vault, as_json = choices(vault, as_json)
    words = " ".join(text) or ("" if sys.stdin.isatty() else sys.stdin.read())
    with opened(vault) as brain:
        shape = brain.remember(words, date=False if no_date else date or None, **options)
    print_change(shape, as_json)


@click.command("update", cls=Worded)
@click.argument("id")
@click.argument("text", nargs=-1)
@click.option("--tag", "-t", "tags", multiple=True, help="A tag to add. Repeatable.")
@click.option("--confidence", type=click.FloatRange(0, 1), metavar="0..1", help="How sure it is.")
@click.option("--importance", type=click.FloatRange(0, 1), metavar="0..1", help="What it weighs.")
@click.option("--why", default="", help="What it is based on; kept in the journal.")
@acting
@common
def update_command(
    id: str, text: tuple[str, ...], vault: str | None, as_json: bool, **options: Any
) -> None:
    """Give a memory other words. Date, links, tags and id stay, and so does its score.

    \b
    brain update m-7f3k2ab4 "Chose SQLite and FTS5 for local-first search"
    """
    vault, as_json = choices(vault, as_json)
    words = " ".join(text) or ("" if sys.stdin.isatty() else sys.stdin.read())
    with opened(vault) as brain:
        shape = brain.update(id, words, **options)
    print_change(shape, as_json)


@click.command("forget")
@click.argument("id")
@click.option("--purge", is_flag=True, help="Take its words out of all that Brain keeps.")
@click.option("--why", default="", help="The reason; kept in the journal.")
@acting
@common
def forget_command(id: str, vault: str | None, as_json: bool, **options: Any) -> None:
    """Take a memory out of its note, with what is nested in it. `brain undo` brings it back.

    \b
    brain forget m-7f3k2ab4
    brain forget "slug pellets"
    brain forget m-7f3k2ab4 --purge
    """
    vault, as_json = choices(vault, as_json)
    with opened(vault) as brain:
        shape = brain.forget(id, **options)
    print_change(shape, as_json)


@click.command("pin")
@click.argument("id")
@acting
@common
def pin_command(id: str, vault: str | None, as_json: bool, **options: Any) -> None:
    """Make a memory part of every context, by the tag #pinned.

    \b
    brain pin m-7f3k2ab4
    """
    vault, as_json = choices(vault, as_json)
    with opened(vault) as brain:
        shape = brain.pin(id, **options)
    print_change(shape, as_json)


@click.command("unpin")
@click.argument("id")
@acting
@common
def unpin_command(id: str, vault: str | None, as_json: bool, **options: Any) -> None:
    """Take the tag #pinned off a memory.

    \b
    brain unpin m-7f3k2ab4
    """
    vault, as_json = choices(vault, as_json)
    with opened(vault) as brain:
        shape = brain.unpin(id, **options)
    print_change(shape, as_json)


@click.command("confirm")
@click.argument("id")
@acting
@common
def confirm_command(id: str, vault: str | None, as_json: bool, **options: Any) -> None:
    """Take the tag #candidate off a memory: it is to be trusted.

    \b
    brain confirm m-7f3k2ab4
    """
    vault, as_json = choices(vault, as_json)
    with opened(vault) as brain:
        shape = brain.confirm(id, **options)
    print_change(shape, as_json)


@click.command("link")
@click.argument("id")
@click.argument("to")
@click.option(
    "--as",
    "as_",
    default="relates_to",
    show_default=True,
    metavar="RELATION",
    help=f"{', '.join(RELATIONS)}.",
)
@acting
@common
def link_command(id: str, to: str, vault: str | None, as_json: bool, **options: Any) -> None:
    """Link a memory to another one, or to a note.

    \b
    brain link m-7f3k2ab4 m-4t8wq2nd --as supersedes
    brain link m-7f3k2ab4 Architecture
    """
    vault, as_json = choices(vault, as_json)
    with opened(vault) as brain:
        shape = brain.link(id, to, **options)
    print_change(shape, as_json)


@click.command("unlink")
@click.argument("id")
@click.argument("to")
@click.option(
    "--as",
    "as_",
    default="relates_to",
    show_default=True,
    metavar="RELATION",
    help=f"{', '.join(RELATIONS)}.",
)
@acting
@common
def unlink_command(id: str, to: str, vault: str | None, as_json: bool, **options: Any) -> None:
    """Take back what `brain link` did.

    \b
    brain unlink m-7f3k2ab4 m-4t8wq2nd --as supersedes
    """
    vault, as_json = choices(vault, as_json)
    with opened(vault) as brain:
        shape = brain.unlink(id, to, **options)
    print_change(shape, as_json)


@click.command("tag")
@click.argument("id")
@click.argument("tags", nargs=-1)
@click.option("--remove", "-r", multiple=True, metavar="TAG", help="A tag to take off. Repeatable.")
@acting
@common
def tag_command(
    id: str, tags: tuple[str, ...], vault: str | None, as_json: bool, **options: Any
) -> None:
    """Put tags on a memory, and take others off.

    \b
    brain tag m-7f3k2ab4 db sqlite
    brain tag m-7f3k2ab4 --remove draft
    """
    vault, as_json = choices(vault, as_json)
    with opened(vault) as brain:
        shape = brain.tag(id, tags, **options)
    print_change(shape, as_json)


@click.command("move")
@click.argument("id")
@click.argument("section")
@acting
@common
def move_command(id: str, section: str, vault: str | None, as_json: bool, **options: Any) -> None:
    """Move a memory to another section of its note. One that is not there is made.

    \b
    brain move m-7f3k2ab4 "Key Decisions"
    """
    vault, as_json = choices(vault, as_json)
    with opened(vault) as brain:
        shape = brain.move(id, section, **options)
    print_change(shape, as_json)

"""Write: remember, update, edit, forget, tag, pin, unpin, link, unlink, move, confirm, reinforce,
demote."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from brain.cli.output import Values, View, choices, common, indented, note, opened, say, tell, who
from brain.config import default, to_yaml
from brain.errors import BadRequest, BrainError

if TYPE_CHECKING:
    from brain.operations.results import Changed

OUTCOMES = {
    "added": "Remembered",
    "duplicate": "Known already:",
    "conflict": "Remembered, though it contradicts others:",
    "updated": "Updated",
    "forgotten": "Forgot",
    "purged": "Removed permanently:",
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
        text = f"It is no longer set. The default is {to_yaml(default(changed.id))}."
    say(indented(text), lines=True)
    for remark in _remarks(changed):
        say(indented(remark), "dim", lines=True)


def _remarks(changed: Changed) -> list[str]:
    """Return further remarks on a change, such as the places that link to a deleted memory."""
    from brain.redact import PERSONAL

    def field(name: str) -> Any:
        return getattr(changed, name, None) or ()

    out = []
    if (score := getattr(changed, "score", None)) is not None:
        out.append(f"Its score is {score:g} now.")
    if absent := field("absent"):
        tags = ", ".join(f"#{tag.lstrip('#')}" for tag in absent)
        out.append(f"It did not have {tags}.")
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
    out += [f"Similar to {near.id}: {near.text}" for near in field("near")]
    out += [f"Contradicts {other.id}: {other.text}" for other in field("conflicts")]
    out += [f"Still superseded by {other.id}: {other.text}" for other in field("superseded_by")]
    return out


def _read_text(values: Values) -> None:
    """Read the text from a pipe if none is given, or if it is `-`."""
    if values["text"] == "-" or (not values["text"] and not sys.stdin.isatty()):
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


# -- edit ----------------------------------------------------------------------------------------

# The arguments with which an editor opens a file at a line, and waits until the file is closed.
EDITORS = {
    **dict.fromkeys(
        ("vi", "vim", "nvim", "nano", "emacs", "emacsclient", "kak", "micro", "joe", "ne"),
        ("+{line}", "{file}"),
    ),
    **dict.fromkeys(
        ("code", "code-insiders", "codium", "cursor", "windsurf"),
        ("--wait", "--goto", "{file}:{line}"),
    ),
    **dict.fromkeys(("subl", "zed"), ("--wait", "{file}:{line}")),
    **dict.fromkeys(("hx", "helix"), ("{file}:{line}",)),
    "gedit": ("--wait", "+{line}", "{file}"),
    "kate": ("--block", "--line", "{line}", "{file}"),
    "mate": ("--wait", "--line", "{line}", "{file}"),
}


def _edit(id: str, agent: str, by: str, vault: str | None, as_json: bool) -> None:
    """Open an entry in your editor.

    For a memory, the editor shows only this memory. When the editor ends, the new text replaces the
    old one. Tags, links and fields that you deleted are removed. For any other entry, the editor
    opens its file at its line. The editor is VISUAL, else EDITOR, else vi.

    \b
    brain edit m-7f3k2ab4
    EDITOR=nano brain edit "Kitchen Garden.md:12"
    """
    from brain import serialize
    from brain.operations import apply, change, entries, lookup, results, run

    vault, as_json = choices(vault, as_json)
    with opened(vault) as open_vault:
        open_vault.store.refuse_read_only()
        place = run(entries.open_, open_vault, id, agent=agent, by=by)
        row, line = lookup.locate(open_vault, id, lookup.visible(open_vault, by, agent))
        is_memory = line > 0 and lookup.is_memory(row)
        if is_memory:
            open_vault.store.refuse_if_off()
    if not is_memory:
        _run_editor(place.file, line or 1)
        if as_json:
            tell(serialize.document(place))
        return
    file = _temporary_file(row.ref, row.text)
    try:
        _run_editor(file, 1)
        if (text := _read(file)) == row.text:
            changed: Changed = apply.changed(results.entry(row), "unchanged")
        else:
            with opened(vault) as open_vault:
                changed = run(change.rewrite, open_vault, row.ref, text, row.text, by=by)
    except BaseException:
        if _read(file) in ("", row.text):
            os.unlink(file)
        else:
            note(f"Your text is in {file}.")
        raise
    os.unlink(file)
    tell(serialize.document(changed)) if as_json else print_change(changed, {})


def _temporary_file(id: str, text: str) -> str:
    from tempfile import mkstemp

    handle, path = mkstemp(prefix=f"{id}-", suffix=".md")
    with open(handle, "w", encoding="utf-8") as file:
        file.write(f"{text}\n")
    return path


def _read(file: str) -> str:
    with open(file, encoding="utf-8", errors="replace") as edited:
        return edited.read().strip("\n").rstrip()


def _run_editor(file: str, line: int) -> None:
    """Open a file in the user's editor and wait until it ends. Raise BrainError if it fails."""
    import shlex
    import subprocess

    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        words = shlex.split(command)
        name = os.path.basename(words[0]).removesuffix(".exe")
        form = EDITORS.get(name, ("{file}",))
        process = subprocess.Popen([*words, *(each.format(file=file, line=line) for each in form)])
    except (OSError, ValueError, IndexError):
        remedy = "Set EDITOR to the editor that you use."
        raise BadRequest(f"The editor {command!r} cannot be started.", remedy) from None
    while True:
        with suppress(KeyboardInterrupt):  # it is for the editor
            if code := process.wait():
                raise BrainError(f"The editor ended with exit code {code}; nothing was changed.")
            return


edit_command = click.Command(
    "edit",
    callback=_edit,
    help=_edit.__doc__,
    params=[click.Argument(["id"]), *who("agent", "by"), *common()],
)

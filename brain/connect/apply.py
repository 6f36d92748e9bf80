"""Connect a client to a vault, or disconnect it: the steps, and what each did.

Existing content stays. The first time a file is edited, its bytes are kept next to it, as
NAME.brain-backup. Disconnecting restores them if the file is as Brain left it, and else removes
only Brain's part.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from brain.connect import edit
from brain.connect.clients import RULES, Client, Place
from brain.errors import BrainError, Refused
from brain.serve import hook
from brain.vault import files

BACKUP = ".brain-backup"
MOST = 50_000_000  # bytes of a configuration file
SECONDS = 60.0  # for a client's own command line


class Step(NamedTuple):
    """What is done to a file, or by a command: created, edited, removed, run or unchanged."""

    state: str
    what: str


class FileEdit(NamedTuple):
    """How a file gets Brain's part, and loses it. `same` gives a text the part that another text
    has."""

    path: str
    set: Callable[[str], str]
    remove: Callable[[str], str]
    same: Callable[[str, str], str]


def connect(client: Client, command: list[str], place: Place, dry_run: bool = False) -> list[Step]:
    """Let a client start this command, and tell it when to use it."""
    edits = _edits(client, command, place)
    for each in edits:  # nothing is done if one of the files cannot be edited
        _changed(each.path, each.set, _read(each.path) or "")
    config = edits[0]
    program = _program(client, place)
    text = _read(config.path)
    if program and _changed(config.path, config.set, text or "") != text:
        known = text is not None and config.remove(text) != text
        runs = [[program, *client.removes]] if known else []
        runs.append([program, *client.adds, *command])
        steps = [_run(each, place, dry_run) for each in runs]
    else:
        steps = [_set(config, dry_run)]
    return steps + [_set(each, dry_run) for each in edits[1:]]


def disconnect(client: Client, place: Place, dry_run: bool = False) -> list[Step]:
    """Remove what `connect` did."""
    edits = _edits(client, ["brain", "mcp"], place)
    config = edits[0]
    program = _program(client, place)
    text = _read(config.path)
    if program and text is not None and _changed(config.path, config.remove, text) != text:
        steps = [_run([program, *client.removes], place, dry_run)]
    else:
        steps = [_remove(config, dry_run)]
    return steps + [_remove(each, dry_run) for each in edits[1:]]


def is_connected(client: Client, place: Place) -> bool:
    """Return True if the client knows Brain. A file that does not parse does not."""
    config = _edits(client, ["brain", "mcp"], place)[0]
    text = _read(config.path)
    try:
        return text is not None and config.remove(text) != text
    except Refused:
        return False


def _edits(client: Client, command: list[str], place: Place) -> list[FileEdit]:
    """Return what is edited, one edit for each file; the first is that of the server."""
    edits: dict[str, FileEdit] = {}
    for each in (*_server(client, command, place), *_hooks(client, command, place)):
        edits[each.path] = _both(edits[each.path], each) if each.path in edits else each
    return list(edits.values())


def _both(one: FileEdit, other: FileEdit) -> FileEdit:
    """Return two edits of a file as one."""
    return FileEdit(
        one.path,
        lambda text: other.set(one.set(text)),
        lambda text: other.remove(one.remove(text)),
        lambda text, now: other.same(one.same(text, now), now),
    )


def _hooks(client: Client, command: list[str], place: Place) -> Iterator[FileEdit]:
    """Yield the edits that add the hooks of a client, one for each event."""
    if client.hooks is None:
        return
    at = command.index("mcp")
    syntax = client.syntax or edit.Syntax()
    join = subprocess.list2cmdline if place.platform == "win32" else shlex.join
    for event in hook.CLIENTS[client.name].events:
        name = ["hook", client.name, event]
        run = join([*command[:at], *name, *command[at + 1 :]])
        value = {"hooks": [{"type": "command", "command": run, **client.hook}]}
        given: dict[str, Any] = {
            "path": ("hooks", event), "syntax": syntax, "own": partial(_is_own, " ".join(name))
        }  # fmt: skip
        yield FileEdit(
            client.hooks(place), partial(edit.set_item, value=value, **given),
            partial(edit.remove_items, **given), partial(edit.same_item, **given),
        )  # fmt: skip


def _is_own(name: str, value: Any) -> bool:
    """Return True if a value in a list of hooks runs Brain."""
    found = value.get("hooks") if isinstance(value, dict) else None
    runs = [each.get("command") for each in found or () if isinstance(each, dict)]
    return any(isinstance(run, str) and "brain" in run and f" {name} " in f"{run} " for run in runs)


def _server(client: Client, command: list[str], place: Place) -> list[FileEdit]:
    value = client.shape(command)
    path = client.file(place)
    if client.syntax is None:
        config = FileEdit(
            path, partial(edit.set_toml, path=client.path, value=value),
            partial(edit.remove_toml, path=client.path),
            partial(edit.same_toml, path=client.path),
        )  # fmt: skip
    else:
        config = FileEdit(
            path, partial(edit.set_json, path=client.path, value=value, syntax=client.syntax),
            partial(edit.remove_json, path=client.path, syntax=client.syntax),
            partial(edit.same_json, path=client.path, syntax=client.syntax),
        )  # fmt: skip
    if client.rules is None:
        return [config]
    path = client.rules(place)
    if client.own_rules:
        return [config, FileEdit(path, lambda _: RULES, lambda _: "", lambda _, __: RULES)]
    add = partial(edit.set_block, block=RULES)
    return [config, FileEdit(path, add, edit.remove_block, lambda text, _: add(text))]


# -- files -----------------------------------------------------------------------------------------


def _set(change: FileEdit, dry_run: bool) -> Step:
    before = _read(change.path)
    after = _changed(change.path, change.set, before or "")
    if after == before:
        return Step("unchanged", change.path)
    backup = _read(change.path + BACKUP)
    if before is not None and backup is not None and before == change.same(backup, before):
        after = change.set(backup)  # as if it had been connected like this from the start
    if not dry_run:
        if before is not None and backup is None:
            _write(change.path + BACKUP, before, like=change.path)
        _write(change.path, after, like=change.path)
    return Step("created" if before is None else "edited", change.path)


def _remove(change: FileEdit, dry_run: bool) -> Step:
    before = _read(change.path)
    if before is None:
        return Step("unchanged", change.path)
    backup = _read(change.path + BACKUP)
    after = _changed(change.path, change.remove, before)
    is_own = backup is None and before == change.same("", before)
    if backup is not None and before == change.same(backup, before):
        after = backup
    if after == before:
        return Step("unchanged", change.path)
    if not dry_run:
        if is_own:
            os.unlink(change.path)
        else:
            _write(change.path, after, like=change.path)
        if backup is not None and after == backup:
            os.unlink(change.path + BACKUP)
    return Step("removed" if is_own else "edited", change.path)


def _changed(path: str, change: Callable[[str], str], text: str) -> str:
    try:
        return change(text)
    except Refused as error:
        raise Refused(f"{path} was left alone. {error.message}", error.remedy) from None


def _read(path: str) -> str | None:
    """Return the text of a file with all of its bytes; None if there is no such file."""
    try:
        with open(path, "rb") as file:
            return file.read(MOST).decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        remedy = "Save it as UTF-8, then try again."
        raise Refused(f"{path} was left alone. It is not UTF-8.", remedy) from None


def _write(path: str, text: str, like: str) -> None:
    """Replace a file, or what a link points to. It keeps the mode of the file `like`."""
    path = os.path.realpath(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    mode = os.stat(like).st_mode & 0o7777 if os.path.exists(like) else 0o600
    files.write_atomically(path, text.encode())
    os.chmod(path, mode)


# -- the client's own command line -----------------------------------------------------------------


def _program(client: Client, place: Place) -> str:
    """Return the path of the client's own command line; '' if it has none or is not installed."""
    found = client.program and shutil.which(client.program, path=place.env.get("PATH"))
    return found or ""


def _run(command: list[str], place: Place, dry_run: bool) -> Step:
    step = Step("run", " ".join([os.path.basename(command[0]), *command[1:]]))
    if dry_run:
        return step
    try:
        done = subprocess.run(
            command, env={**place.env}, capture_output=True, text=True, timeout=SECONDS,
            stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BrainError(f"`{step.what}` failed: {error}.", "Run it yourself.") from None
    if done.returncode:
        said = " ".join((done.stderr or done.stdout).split())[:300]
        raise BrainError(f"`{step.what}` failed: {said}", "Run it yourself, and see why.")
    return step

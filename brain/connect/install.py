"""Connect a client to a vault, or disconnect it, step by step.

Existing content is kept. Before a file is edited for the first time, it is copied to
NAME.brain-backup. Disconnecting restores this copy if nobody else has edited the file since.
Otherwise it removes only Brain's part.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from brain.connect import edit
from brain.connect.clients import RULES, Client, Place
from brain.errors import BrainError, Refused
from brain.serve import hook
from brain.vault import files

BACKUP = ".brain-backup"
MAX_SIZE = 50_000_000  # bytes of a configuration file
TIMEOUT = 60.0  # seconds for a client's own command line


class Step(NamedTuple):
    """A step of connecting: a file that is created, edited, removed or unchanged, or a command that
    is run."""

    state: str
    target: str  # the path of the file, or the command


class FileEdit(NamedTuple):
    """An edit of a file: `set` adds Brain's part to its text, and `remove` removes it. `copy` adds
    the part that another text has."""

    path: str
    set: Callable[[str], str]
    remove: Callable[[str], str]
    copy: Callable[[str, str], str]


def connect(client: Client, command: list[str], place: Place, dry_run: bool = False) -> list[Step]:
    """Add Brain's MCP server, hooks and instructions to the configuration of a client."""
    edits = _edits(client, command, place)
    for each in edits:  # nothing is done if one of the files cannot be edited
        _changed(each.path, each.set, _read(each.path) or "")
    config = edits[0]
    program = _program(client, place)
    text = _read(config.path)
    if program and _changed(config.path, config.set, text or "") != text:
        has_brain = text is not None and config.remove(text) != text
        commands = [[program, *client.removes]] if has_brain else []
        commands.append([program, *client.adds, *command])
        steps = [_run(each, place, dry_run) for each in commands]
    else:
        steps = [_apply_set(config, dry_run)]
    return steps + [_apply_set(each, dry_run) for each in edits[1:]]


def disconnect(client: Client, place: Place, dry_run: bool = False) -> list[Step]:
    """Remove Brain from the configuration of a client."""
    edits = _edits(client, ["brain", "mcp"], place)
    config = edits[0]
    program = _program(client, place)
    text = _read(config.path)
    if program and text is not None and _changed(config.path, config.remove, text) != text:
        steps = [_run([program, *client.removes], place, dry_run)]
    else:
        steps = [_apply_remove(config, dry_run)]
    steps += [_apply_remove(each, dry_run) for each in edits[1:]]
    if not dry_run:
        for each in edits:
            _remove_empty_folders(os.path.dirname(each.path), place.home)
    return steps


def is_connected(client: Client, place: Place) -> bool:
    """Return True if Brain is in the configuration of the client; False if the configuration does
    not parse."""
    config = _edits(client, ["brain", "mcp"], place)[0]
    text = _read(config.path)
    try:
        return text is not None and config.remove(text) != text
    except Refused:
        return False


def _edits(client: Client, command: list[str], place: Place) -> list[FileEdit]:
    """Return one edit for each file. The first adds the MCP server."""
    edits: dict[str, FileEdit] = {}
    for each in (*_server_and_rules(client, command, place), *_hooks(client, command, place)):
        edits[each.path] = _combine(edits[each.path], each) if each.path in edits else each
    return list(edits.values())


def _combine(one: FileEdit, other: FileEdit) -> FileEdit:
    """Combine two edits of a file."""
    return FileEdit(
        one.path,
        lambda text: other.set(one.set(text)),
        lambda text: other.remove(one.remove(text)),
        lambda text, source: other.copy(one.copy(text, source), source),
    )


def _hooks(client: Client, command: list[str], place: Place) -> Iterator[FileEdit]:
    """Yield the edits that add the hooks of a client, one for each event."""
    if client.hooks is None:
        return
    index = command.index("mcp")
    syntax = client.syntax or edit.Syntax()
    join = subprocess.list2cmdline if place.platform == "win32" else shlex.join
    for event in hook.CLIENTS[client.name].events:
        arguments = ["hook", client.name, event]
        shell_command = join([*command[:index], *arguments, *command[index + 1 :]])
        value = {"hooks": [{"type": "command", "command": shell_command, **client.hook}]}
        options: dict[str, Any] = {
            "path": ("hooks", event), "syntax": syntax,
            "is_own": partial(_is_own, " ".join(arguments)),
        }  # fmt: skip
        yield FileEdit(
            client.hooks(place), partial(edit.set_item, value=value, **options),
            partial(edit.remove_items, **options), partial(edit.copy_item, **options),
        )  # fmt: skip


def _is_own(arguments: str, value: Any) -> bool:
    """Return True if a value in a list of hooks runs this hook of Brain."""
    hooks = value.get("hooks") if isinstance(value, dict) else None
    commands = [each.get("command") for each in hooks or () if isinstance(each, dict)]
    return any(
        isinstance(command, str) and "brain" in command and f" {arguments} " in f"{command} "
        for command in commands
    )


def _server_and_rules(client: Client, command: list[str], place: Place) -> list[FileEdit]:
    value = client.shape(command)
    path = client.file(place)
    if client.syntax is None:
        config = FileEdit(
            path, partial(edit.set_toml, path=client.path, value=value),
            partial(edit.remove_toml, path=client.path),
            partial(edit.copy_toml, path=client.path),
        )  # fmt: skip
    else:
        config = FileEdit(
            path, partial(edit.set_json, path=client.path, value=value, syntax=client.syntax),
            partial(edit.remove_json, path=client.path, syntax=client.syntax),
            partial(edit.copy_json, path=client.path, syntax=client.syntax),
        )  # fmt: skip
    if client.rules is None:
        return [config]
    path = client.rules(place)
    if client.own_rules:
        return [config, FileEdit(path, lambda _: RULES, lambda _: "", lambda _, __: RULES)]
    add = partial(edit.set_block, block=RULES)
    return [config, FileEdit(path, add, edit.remove_block, lambda text, _: add(text))]


# -- files -----------------------------------------------------------------------------------------


def _apply_set(change: FileEdit, dry_run: bool) -> Step:
    before = _read(change.path)
    after = _changed(change.path, change.set, before or "")
    if after == before:
        return Step("unchanged", change.path)
    backup = _read(change.path + BACKUP)
    start = "" if backup is None else backup  # as it was before Brain's first edit
    is_own = before not in (None, "") and before == change.copy(start, before or "")
    if is_own:  # only Brain has edited it: start again
        after = change.set(start)
    if not dry_run:
        if before is not None and backup is None and not is_own:
            _write(change.path + BACKUP, before, like=change.path)
        _write(change.path, after, like=change.path)
    return Step("created" if before is None else "edited", change.path)


def _apply_remove(change: FileEdit, dry_run: bool) -> Step:
    before = _read(change.path)
    if before is None:
        return Step("unchanged", change.path)
    backup = _read(change.path + BACKUP)
    after = _changed(change.path, change.remove, before)
    is_own = backup is None and before == change.copy("", before)
    if backup is not None and before == change.copy(backup, before):
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


def _remove_empty_folders(folder: str, home: str) -> None:
    """Remove a folder in the home folder if it is empty, and then its parents."""
    with suppress(OSError):  # not empty, or not there
        while folder.startswith(f"{home}/"):
            os.rmdir(folder)
            folder = os.path.dirname(folder)


def _changed(path: str, change: Callable[[str], str], text: str) -> str:
    try:
        return change(text)
    except Refused as error:
        raise Refused(f"{path} was left alone. {error.message}", error.remedy) from None


def _read(path: str) -> str | None:
    """Return the text of a file with its line ends and BOM; None if there is no such file."""
    try:
        with open(path, "rb") as file:
            return file.read(MAX_SIZE).decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        remedy = "Save it as UTF-8, then try again."
        raise Refused(f"{path} was left alone. It is not UTF-8.", remedy) from None


def _write(path: str, text: str, like: str) -> None:
    """Replace a file, or the target of a link. The new file gets the mode of the file `like`."""
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
        result = subprocess.run(
            command, env={**place.env}, capture_output=True, text=True, timeout=TIMEOUT,
            stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BrainError(f"`{step.target}` failed: {error}.", "Run it yourself.") from None
    if result.returncode:
        output = " ".join((result.stderr or result.stdout).split())[:300]
        raise BrainError(f"`{step.target}` failed: {output}", "Run it yourself to see why.")
    return step

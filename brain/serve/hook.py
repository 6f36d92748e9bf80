"""Hooks of AI clients: what an event of a client injects into its session, or imports from it.

A hook never fails a prompt: whoever calls this logs an error and prints nothing.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from datetime import UTC, datetime

from brain import access, lock
from brain._tuples import NamedTuple
from brain.context.package import sections
from brain.errors import BadRequest
from brain.formats.text import digest
from brain.open_vault import OpenVault
from brain.operations.context import context
from brain.timestamps import to_utc
from brain.vault import layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    Payload = Mapping[str, Any]

FIRST, LAST = "<brain-context>\n", "\n</brain-context>"
CHARACTERS = 9_000  # that are injected at most; clients cut longer texts, or put them into a file
TWICE = 30.0  # seconds within which the same event of a session is one that two hooks report
LOG, MOST_LOGGED = "hook.log", 200_000  # bytes after which the log is begun again
START, PROMPT, IMPORT = "start", "prompt", "import"


class Hooks(NamedTuple):
    """The hooks of a client: the format of its context, and what each event does. `first` is True
    if the first prompt starts the session; `key` is the member of the answer with the context, if
    the client has its own."""

    format: str
    events: Mapping[str, str]
    first: bool = False
    key: str = ""


_CLAUDE = {
    "SessionStart": START, "UserPromptSubmit": PROMPT, "PreCompact": IMPORT, "SessionEnd": IMPORT
}  # fmt: skip
CLIENTS = {
    "claude-code": Hooks("claude", _CLAUDE),
    "codex": Hooks("codex", _CLAUDE),
    # what SessionStart injects is lost when a session is resumed; PreCompress comes with each turn
    "gemini": Hooks("gemini", {"BeforeAgent": PROMPT, "SessionEnd": IMPORT}, first=True),
    "vscode": Hooks("claude", {"SessionStart": START, "UserPromptSubmit": PROMPT}),
    "cursor": Hooks(
        "claude", {"sessionStart": START, "beforeSubmitPrompt": PROMPT}, key="additional_context"
    ),
}


def answer(
    client: str,
    event: str,
    payload: str,
    *,
    vault: str,
    agent: str,
    environ: Mapping[str, str],
    read_only: bool = False,
) -> str:
    """Return what a client expects on standard output for an event; '' for nothing.

    `payload` is the JSON that the client wrote. `vault` is a path in the vault; '' for the folder
    that the session works in. `agent` is as whom the client acts; '' for the admin. While a daemon
    follows the notes, only the brain folder is checked for changes.
    """
    hooks = CLIENTS.get(client)
    action = hooks.events.get(event) if hooks else None
    if not hooks or not action:
        raise BadRequest(f"There is no hook {event!r} of {client!r}.", f"Clients: {[*CLIENTS]}.")
    given = json.loads(payload)
    if not isinstance(given, dict):
        raise BadRequest("The payload is not a JSON object.", "Only clients call this.")
    place = vault or _text(given, "cwd") or (_texts(given, "workspace_roots") or ["."])[0]
    home = layout.state_home(environ)
    paths = layout.find(place, home)
    if action == IMPORT:
        path = _text(given, "transcript_path")
        if path and not read_only:  # some sessions are not saved
            _import(path, paths.root_path, agent, home)
        return ""
    with OpenVault(paths, read_only=read_only) as opened:
        opened.environ = environ
        opened.watched = bool(lock.holder(f"{paths.state_path}/daemon.lock"))
        text = _injected(opened, hooks, action, given, agent or access.ADMIN)
    return _rendered(hooks, event, action, text) if text else ""


def log(environ: Mapping[str, str], line: str) -> None:
    """Append a line to the log in the state folder, if that is possible."""
    with suppress(OSError), _log(layout.state_home(environ)) as file:
        now = to_utc(datetime.now(UTC))
        file.write(f"{now} {' '.join(line.split())[:1000]}\n".encode(errors="replace"))


def _log(home: str) -> Any:
    os.makedirs(home, 0o700, exist_ok=True)
    path = f"{home}/{LOG}"
    with suppress(FileNotFoundError):
        if os.stat(path).st_size > MOST_LOGGED:
            os.unlink(path)
    return open(path, "ab")


# -- what is injected ------------------------------------------------------------------------------


def _injected(vault: OpenVault, hooks: Hooks, action: str, given: Payload, agent: str) -> str:
    """Return what a session does not know yet; '' for nothing."""
    session = _text(given, "session_id") or _text(given, "conversation_id")
    prompt = _text(given, "prompt") if action == PROMPT else ""
    source = _text(given, "source") if action == START else ""
    if action == PROMPT and not prompt.strip():
        return ""
    now = vault.clock().timestamp()
    own = digest(session.encode(errors="replace")).hex()
    detail = digest(f"{action}\0{source}\0{prompt}".encode(errors="replace")).hex()
    keeps = session and not vault.read_only
    if keeps and not vault.state.claim(f"{own}:{detail}", now, TWICE):
        return ""  # another hook of the same session is faster
    is_start = action == START or (hooks.first and not vault.state.claimed(own))
    if keeps and is_start:
        vault.state.claim(own, now, 0.0)
    shown = [] if is_start else _shown(vault, agent, session, vault.state.claimed(own))
    again = source in ("compact", "clear", "resume")
    found = context(
        vault,
        prompt or _topic(vault, agent, session, given),
        agent=agent,
        session=session,
        tasks=is_start,
        again=again,
        format=hooks.format,
        characters=CHARACTERS - len(FIRST) - len(LAST),
        shown=shown,
        by=agent,
    )
    if not any(parts for _, parts in sections(found.fitted.package)):
        return ""
    # a memory cannot end the block
    text = found.fitted.text
    for tag in ("<brain-context", "</brain-context"):
        text = text.replace(tag, f"‹{tag[1:]}")
    return f"{FIRST}{text}{LAST}"


def _recalls(vault: OpenVault, agent: str, session: str) -> list[dict[str, Any]]:
    """Return the contexts that a session was given, oldest first."""
    known = access.resolve(vault, agent, session).session
    return [recall.value for recall in vault.state.last_recalls(session=known)] if known else []


def _shown(vault: OpenVault, agent: str, session: str, since: float) -> list[str]:
    """Return the ids of all that a session was shown since it started or was compacted."""
    start = to_utc(datetime.fromtimestamp(since, UTC)) if since else ""
    found = [each for each in _recalls(vault, agent, session) if each["at"] >= start]
    return [id for each in found for id in each["shown"]]


def _topic(vault: OpenVault, agent: str, session: str, given: Payload) -> str:
    """Return what a session is about: its last question, else the name of its folder."""
    if _text(given, "source") in ("compact", "resume"):
        for recall in reversed(_recalls(vault, agent, session)):
            return str(recall["query"])
    roots = _texts(given, "workspace_roots")
    folder = _text(given, "cwd") or (roots[0] if roots else "")
    return os.path.basename(folder.rstrip("/\\")) or "project"


def _rendered(hooks: Hooks, event: str, action: str, text: str) -> str:
    answer: dict[str, Any] = {
        "hookSpecificOutput": {"hookEventName": event, "additionalContext": text}
    }
    if hooks.key:
        answer = {hooks.key: text} | ({"continue": True} if action == PROMPT else {})
    return json.dumps(answer)


# -- what is imported ------------------------------------------------------------------------------


def _import(path: str, vault: str, agent: str, home: str) -> None:
    """Import a transcript in a process of its own, since clients end their hooks soon."""
    import subprocess  # takes a while to load

    command = [sys.executable, "-P", "-m", "brain", "session", "import", path, "--vault", vault]
    command += ["--agent", agent] if agent else []
    with _log(home) as file:
        subprocess.Popen(
            command, cwd=vault, start_new_session=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=file,
        )  # fmt: skip


def _text(given: Payload, name: str) -> str:
    value = given.get(name)
    return value if isinstance(value, str) else ""


def _texts(given: Payload, name: str) -> list[str]:
    value = given.get(name)
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []

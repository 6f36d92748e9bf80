"""Hooks of AI clients: for an event in a session, inject a context, or import the session.

A hook never fails a prompt: the caller logs an error and prints nothing.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from datetime import UTC, datetime

from brain import access, actors, lock
from brain._tuples import NamedTuple
from brain.errors import BadRequest, NotFound
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
MAX_CHARACTERS = 9_000  # of an injected text; clients cut longer ones, or put them into a file
REPEATED = 30.0  # seconds within which the same event is answered only once
LOG, MAX_LOG = "hook.log", 200_000  # bytes; a longer log is started again
START, PROMPT, IMPORT = "start", "prompt", "import"


class Hooks(NamedTuple):
    """The hooks of a client: the format of its context, and the action of each event.
    `prompt_starts` is True if the first prompt starts the session. `key` is the member of the
    answer that holds the context, if the client has a format of its own."""

    format: str
    events: Mapping[str, str]
    prompt_starts: bool = False
    key: str = ""


_CLAUDE = {
    "SessionStart": START, "UserPromptSubmit": PROMPT, "PreCompact": IMPORT, "SessionEnd": IMPORT
}  # fmt: skip
CLIENTS = {
    "claude-code": Hooks("claude", _CLAUDE),
    "codex": Hooks("codex", _CLAUDE),
    # what SessionStart injects is lost when a session is resumed; PreCompress comes with each turn
    "gemini": Hooks("gemini", {"BeforeAgent": PROMPT, "SessionEnd": IMPORT}, prompt_starts=True),
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
    """Return the answer to an event, for the standard output of the hook; '' for no answer.

    `payload` is the JSON that the client wrote. `vault` is a path in the vault; '' stands for the
    folder that the session works in. `agent` is the actor; '' stands for the admin. While a daemon
    watches the notes, only the brain folder is checked for changes.
    """
    hooks = CLIENTS.get(client)
    action = hooks.events.get(event) if hooks else None
    if not hooks or not action:
        raise BadRequest(f"There is no hook {event!r} of {client!r}.", f"Clients: {[*CLIENTS]}.")
    given = json.loads(payload)
    if not isinstance(given, dict):
        raise BadRequest("The payload is not a JSON object.", "Only AI clients call this command.")
    start = vault or _text(given, "cwd") or (_texts(given, "workspace_roots") or ["."])[0]
    home = layout.state_home(environ)
    paths = layout.find(start, home)
    if action == IMPORT:
        path = _text(given, "transcript_path")
        if path and not read_only:  # a client gives no path for a session that it does not save
            _import(path, paths.root_path, agent, home)
        return ""
    with OpenVault(paths, read_only=read_only) as opened:
        opened.environ = environ
        opened.watched = bool(lock.holder(f"{paths.state_path}/daemon.lock"))
        text = _context_for(opened, hooks, action, given, agent or access.ADMIN)
    return _rendered(hooks, event, action, text) if text else ""


def log(environ: Mapping[str, str], line: str) -> None:
    """Append a line to the log in the state folder, if that is possible. Secrets are removed."""
    with suppress(OSError), _open_log(layout.state_home(environ)) as file:
        from brain.redact import redact

        line = " ".join(redact(line)[0].split())[:1000]
        file.write(f"{to_utc(datetime.now(UTC))} {line}\n".encode(errors="replace"))


def _open_log(home: str) -> Any:
    os.makedirs(home, 0o700, exist_ok=True)
    path = f"{home}/{LOG}"
    with suppress(FileNotFoundError):
        if os.stat(path).st_size > MAX_LOG:
            os.unlink(path)
    return open(path, "ab")


# -- injecting a context ---------------------------------------------------------------------------


def _context_for(vault: OpenVault, hooks: Hooks, action: str, payload: Payload, agent: str) -> str:
    """Return a context for a session, without entries that the session was shown before; '' if no
    entry is left."""
    session = _text(payload, "session_id") or _text(payload, "conversation_id")
    prompt = _text(payload, "prompt") if action == PROMPT else ""
    source = _text(payload, "source") if action == START else ""
    if action == PROMPT and not prompt.strip():
        return ""
    now = vault.clock().timestamp()
    session_key = digest(session.encode(errors="replace")).hex()
    event_key = digest(f"{action}\0{source}\0{prompt}".encode(errors="replace")).hex()
    has_state = session and not vault.read_only
    if has_state and not vault.state.claim(f"{session_key}:{event_key}", now, REPEATED):
        return ""  # another hook of the same session answers
    is_start = action == START or (hooks.prompt_starts and not vault.state.claimed(session_key))
    if has_state and is_start:
        vault.state.claim(session_key, now, 0.0)
    shown = [] if is_start else _shown_ids(vault, agent, session, vault.state.claimed(session_key))
    again = source in ("compact", "clear", "resume")
    recalled = context(
        vault,
        prompt or _topic(vault, agent, session, payload),
        agent=agent,
        session=session,
        tasks=is_start,
        again=again,
        format=hooks.format,
        characters=MAX_CHARACTERS - len(FIRST) - len(LAST),
        shown=shown,
        by=agent,
    )
    if not any(parts for _, parts in recalled.fitted.package.sections):
        return ""
    # a memory must not end the block
    text = recalled.fitted.text
    for tag in ("<brain-context", "</brain-context"):
        text = text.replace(tag, f"‹{tag[1:]}")
    return f"{FIRST}{text}{LAST}"


def _recalls(vault: OpenVault, agent: str, session: str) -> list[dict[str, Any]]:
    """Return the recalls of a session, oldest first."""
    known = actors.resolve(vault, agent, session).session
    return [recall.value for recall in vault.state.last_recalls(session=known)] if known else []


def _shown_ids(vault: OpenVault, agent: str, session: str, since: float) -> list[str]:
    """Return the ids of the entries that a session was shown since it started or was compacted."""
    start = to_utc(datetime.fromtimestamp(since, UTC)) if since else ""
    recalls = [recall for recall in _recalls(vault, agent, session) if recall["at"] >= start]
    return [id for recall in recalls for id in recall["shown"]]


def _topic(vault: OpenVault, agent: str, session: str, payload: Payload) -> str:
    """Return the topic of a session: its last question, else the name of its folder."""
    if _text(payload, "source") in ("compact", "resume"):
        for recall in reversed(_recalls(vault, agent, session)):
            return str(recall["query"])
    roots = _texts(payload, "workspace_roots")
    folder = _text(payload, "cwd") or (roots[0] if roots else "")
    return os.path.basename(folder.rstrip("/\\")) or "project"


def _rendered(hooks: Hooks, event: str, action: str, text: str) -> str:
    answer: dict[str, Any] = {
        "hookSpecificOutput": {"hookEventName": event, "additionalContext": text}
    }
    if hooks.key:
        answer = {hooks.key: text} | ({"continue": True} if action == PROMPT else {})
    return json.dumps(answer)


# -- importing a transcript ------------------------------------------------------------------------


def _import(path: str, root: str, agent: str, home: str) -> None:
    """Import a transcript in a separate process, because clients soon end their hooks."""
    import subprocess  # takes a while to load

    if not os.path.exists(os.path.join(root, path)):
        raise NotFound(f"There is no transcript {path}.", "Check the settings of the client.")
    command = [sys.executable, "-P", "-m", "brain", "session", "import", path, "--vault", root]
    command += ["--agent", agent] if agent else []
    with _open_log(home) as file:
        subprocess.Popen(
            command, cwd=root, start_new_session=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=file,
        )  # fmt: skip


def _text(payload: Payload, name: str) -> str:
    value = payload.get(name)
    return value if isinstance(value, str) else ""


def _texts(payload: Payload, name: str) -> list[str]:
    value = payload.get(name)
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []

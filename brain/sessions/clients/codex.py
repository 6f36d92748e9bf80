"""Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-….jsonl`.

What was said is read from the events, which hold only what the person typed and the agent answered;
the items repeat it with instructions around it. Calls are read from the items. Ids of messages come
from their time and text: those in the file change when Codex migrates it, and old files have none.
"""

from __future__ import annotations

import os

from brain.sessions.clients import Source, home
from brain.sessions.clients.lines import (
    arguments,
    blocks,
    call,
    derived,
    each,
    event,
    first_values,
    result,
    said,
    stat,
    values,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from brain.sessions.clients import Line

NAME = "codex"
_ROLES = {"UserMessage": "user", "AgentMessage": "assistant"}
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_RESULTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
_NOT_SAID = (  # the beginning of texts that no person typed, in transcripts without events
    *("# AGENTS.md instructions", "<user_instructions>", "<environment_context>"),
    *("<INSTRUCTIONS>", "<turn_aborted>", "<skill>", "<user_shell_command>"),
)


def folders(environ: Mapping[str, str]) -> list[str]:
    """Return the folders of current and archived sessions."""
    base = environ.get("CODEX_HOME") or os.path.join(home(environ), ".codex")
    return [os.path.join(base, name) for name in ("sessions", "archived_sessions")]


def sources(path: str) -> Iterator[Source]:
    """Yield the session of a rollout. Its first line says which it is."""
    value = next(first_values(path), {})
    meta = value.get("payload") if value.get("type") == "session_meta" else None
    if meta is None and "instructions" in value and "type" not in value:
        meta = value  # before the middle of 2025
    if not isinstance(meta, dict) or not isinstance(meta.get("id"), str):
        return
    spawned = _deep(meta, "source", "subagent", "thread_spawn", "parent_thread_id")
    parent = meta.get("parent_thread_id") or spawned
    start = meta.get("subagent_history_start_ordinal")
    yield Source(
        NAME, path, meta["id"],
        cwd=str(meta.get("cwd") or ""),
        parent=str(parent or meta.get("forked_from_id") or ""),
        kind="subagent" if parent else "",
        started=str(meta.get("timestamp") or ""),
        start=start if isinstance(start, int) else 0,
        **stat(path),
    )  # fmt: skip


def read(source: Source, mark: str) -> Iterator[tuple[Line | None, str]]:
    """Yield the lines of a rollout behind a mark."""
    return each(values(source.path, mark), lambda value: _lines(value, source.start))


def _lines(value: Line, start: int) -> Iterator[Line]:
    at, item = str(value.get("timestamp") or ""), value.get("payload")
    ordinal = value.get("ordinal")
    if isinstance(ordinal, int) and ordinal < start:
        return  # what a subagent inherited
    if not isinstance(item, dict):
        yield from _bare(value)
    elif value.get("type") == "event_msg":
        yield from _event(item, at)
    elif value.get("type") == "response_item":
        yield from _tool(item, at)
    elif value.get("type") == "compacted":
        yield event(derived("compacted", at), "compaction", at)


def _event(item: Line, at: str) -> Iterator[Line]:
    kind = item.get("type")
    if kind in ("user_message", "agent_message"):
        role = "user" if kind == "user_message" else "assistant"
        yield from _message(role, str(item.get("message") or ""), at)
    elif kind == "item_completed":
        done = item.get("item") or {}
        if role := _ROLES.get(str(done.get("type")), ""):
            yield from _message(role, blocks(done.get("content")), at)
    elif kind == "thread_rolled_back":
        yield event(derived("rollback", at), "rollback", at, turns=item.get("num_turns"))


def _message(role: str, text: str, at: str) -> Iterator[Line]:
    return said(derived(role, at, text), role, text, at)


def _tool(item: Line, at: str) -> Iterator[Line]:
    kind, id = item.get("type"), str(item.get("call_id") or item.get("id") or "")
    native = derived(str(kind), id, at)
    if kind in _CALLS:
        given = item.get("arguments", item.get("input", item.get("action")))
        yield call(id, str(item.get("name") or "shell"), arguments(given), at, native)
    elif kind in _RESULTS:
        out = arguments(item.get("output"))
        if isinstance(out, dict):
            out = out.get("output") or out.get("content")
        yield result(id, out if isinstance(out, str) else blocks(out), at, native)


def _bare(item: Line) -> Iterator[Line]:
    """Yield a line of a transcript that has no events."""
    at = str(item.get("timestamp") or "")
    if item.get("type") == "message" and item.get("role") in ("user", "assistant"):
        text = blocks(item.get("content"))
        if not text.lstrip().startswith(_NOT_SAID):
            yield from _message(item["role"], text, at)
    else:
        yield from _tool(item, at)


def _deep(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value

"""Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-….jsonl`.

Messages are read from the events, which contain only the words of the person and the agent. The
items repeat these words, mixed with instructions. Calls are read from the items. Ids of messages
are derived from their time and text, because the ids in the file change when Codex migrates it, and
old files have none.
"""

from __future__ import annotations

import os

from brain.sessions.clients import Source, home
from brain.sessions.clients.lines import (
    arguments,
    as_object,
    blocks,
    call,
    derived_id,
    event,
    first_values,
    message_line,
    result,
    stat,
    values,
    with_marks,
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
_NOT_TYPED = (  # the beginnings of texts that no person typed, in transcripts without events
    *("# AGENTS.md instructions", "<user_instructions>", "<environment_context>"),
    *("<INSTRUCTIONS>", "<turn_aborted>", "<skill>", "<user_shell_command>"),
)


def folders(environ: Mapping[str, str]) -> list[str]:
    """Return the folders of current and archived sessions."""
    base = environ.get("CODEX_HOME") or os.path.join(home(environ), ".codex")
    return [os.path.join(base, name) for name in ("sessions", "archived_sessions")]


def sources(path: str) -> Iterator[Source]:
    """Yield the session of a rollout. The first line of the file identifies the session."""
    value = next(first_values(path), {})
    meta = value.get("payload") if value.get("type") == "session_meta" else None
    if meta is None and "instructions" in value and "type" not in value:
        meta = value  # the format until the middle of 2025
    if not isinstance(meta, dict) or not isinstance(meta.get("id"), str):
        return
    spawned = _nested(meta, "source", "subagent", "thread_spawn", "parent_thread_id")
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
    """Yield the lines of a rollout after a mark."""
    return with_marks(values(source.path, mark), lambda value: _lines(value, source.start))


def _lines(value: Line, start: int) -> Iterator[Line]:
    time, item = str(value.get("timestamp") or ""), value.get("payload")
    ordinal = value.get("ordinal")
    if isinstance(ordinal, int) and ordinal < start:
        return  # inherited from the parent
    if not isinstance(item, dict):
        yield from _line_without_events(value)
    elif value.get("type") == "event_msg":
        yield from _event(item, time)
    elif value.get("type") == "response_item":
        yield from _tool(item, time)
    elif value.get("type") == "compacted":
        yield event(derived_id("compacted", time), "compaction", time)


def _event(item: Line, time: str) -> Iterator[Line]:
    kind = item.get("type")
    if kind in ("user_message", "agent_message"):
        role = "user" if kind == "user_message" else "assistant"
        yield from _message(role, str(item.get("message") or ""), time)
    elif kind == "item_completed":
        completed = as_object(item.get("item"))
        if role := _ROLES.get(str(completed.get("type")), ""):
            yield from _message(role, blocks(completed.get("content")), time)
    elif kind == "thread_rolled_back":
        yield event(derived_id("rollback", time), "rollback", time, turns=item.get("num_turns"))


def _message(role: str, text: str, time: str) -> Iterator[Line]:
    return message_line(derived_id(role, time, text), role, text, time)


def _tool(item: Line, time: str) -> Iterator[Line]:
    kind, id = item.get("type"), str(item.get("call_id") or item.get("id") or "")
    native = derived_id(str(kind), id, time)
    if kind in _CALLS:
        input = item.get("arguments", item.get("input", item.get("action")))
        yield call(id, str(item.get("name") or "shell"), arguments(input), time, native)
    elif kind in _RESULTS:
        output = arguments(item.get("output"))
        if isinstance(output, dict):
            output = output.get("output") or output.get("content")
        yield result(id, output if isinstance(output, str) else blocks(output), time, native)


def _line_without_events(item: Line) -> Iterator[Line]:
    """Yield a line of a transcript that has no events."""
    time = str(item.get("timestamp") or "")
    if item.get("type") == "message" and item.get("role") in ("user", "assistant"):
        text = blocks(item.get("content"))
        if not text.lstrip().startswith(_NOT_TYPED):
            yield from _message(item["role"], text, time)
    else:
        yield from _tool(item, time)


def _nested(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value

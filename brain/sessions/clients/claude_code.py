"""Claude Code: `~/.claude/projects/<folder>/<sessionId>.jsonl`, subagents in files of their own.

Each content block is a line. Forks and old resumes copy lines with their uuids. A rewind or an edit
appends lines, so all branches are imported, in the order of the file, each line with its parent.
"""

from __future__ import annotations

import os

from brain.sessions.clients import Source, home
from brain.sessions.clients.lines import (
    as_list,
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

NAME = "claude-code"
_NOT_TYPED = (  # the beginnings of texts in lines of the user that no person typed
    *("<command-name>", "<command-message>", "<command-args>", "<local-command-stdout>"),
    *("<local-command-stderr>", "<local-command-caveat>", "Caveat: The messages below"),
    *("<bash-input>", "<bash-stdout>", "<bash-stderr>", "<task-notification>"),
    *("[Request interrupted by user", "<session-start-hook>", "<user-prompt-submit-hook>"),
    *("<tick>", "<goal>", "<ide_opened_file>", "<ide_selection>"),
)
_SKIPPED = ("isMeta", "isApiErrorMessage", "isCompactSummary", "teamName")


def folders(environ: Mapping[str, str]) -> list[str]:
    """Return the folder of all projects."""
    base = environ.get("CLAUDE_CONFIG_DIR") or os.path.join(home(environ), ".claude")
    return [os.path.join(base, "projects")]


def sources(path: str) -> Iterator[Source]:
    """Yield the session of a transcript."""
    name = os.path.basename(path).removesuffix(".jsonl")
    known = Source(NAME, path, name)
    is_agent = name.startswith("agent-")
    started = ""  # a fork copies lines with their times, but its first line is new
    for value in first_values(path):
        started = started or str(value.get("timestamp") or "")
        if not isinstance(value.get("sessionId"), str):
            continue
        if value.get("type") not in ("user", "assistant") or "uuid" not in value:
            continue
        line = next(_lines(value, is_agent), None)
        if line is None:
            continue
        if is_agent and line["role"] != "user":
            return  # an agent that was only warmed up
        yield known._replace(
            cwd=str(value.get("cwd") or ""),
            parent=value["sessionId"] if is_agent else "",
            kind="subagent" if is_agent else "",
            started=started,
            **stat(path),
        )
        return


def read(source: Source, mark: str) -> Iterator[tuple[Line | None, str]]:
    """Yield the lines of a transcript after a mark."""
    return with_marks(values(source.path, mark), lambda value: _lines(value, bool(source.kind)))


def _lines(value: Line, is_agent: bool) -> Iterator[Line]:
    kind, time, uuid = value.get("type"), str(value.get("timestamp") or ""), str(value.get("uuid"))
    if kind in ("ai-title", "custom-title"):
        title = value.get("aiTitle") or value.get("customTitle")
        if isinstance(title, str):
            yield event(derived_id(title), "title", time, title=title)
    elif kind == "system" and value.get("subtype") == "compact_boundary":
        metadata = as_object(value.get("compactMetadata"))
        yield event(uuid, "compaction", time, trigger=metadata.get("trigger"))
    message = value.get("message")
    if kind == "attachment" and (prompt := _queued_prompt(as_object(value.get("attachment")))):
        kind, message = "user", {"content": prompt}
    if kind not in ("user", "assistant") or not isinstance(message, dict) or "uuid" not in value:
        return
    if any(value.get(name) for name in _SKIPPED) or message.get("model") == "<synthetic>":
        return
    if bool(value.get("isSidechain")) != is_agent:
        return
    parent = str(value.get("parentUuid") or value.get("logicalParentUuid") or "")
    content = message.get("content")
    texts = blocks(_texts(content))
    if not (kind == "user" and texts.lstrip().startswith(_NOT_TYPED)):
        yield from message_line(
            uuid, str(kind), texts, time, parent=parent, model=message.get("model")
        )
    for block in map(as_object, as_list(content)):
        if block.get("type") == "tool_use":
            yield call(
                str(block.get("id")), str(block.get("name")), block.get("input"), time, uuid,
                parent=parent,
            )  # fmt: skip
        elif block.get("type") == "tool_result":
            yield result(
                str(block.get("tool_use_id")), blocks(block.get("content")), time, uuid,
                parent=parent, error=bool(block.get("is_error")),
            )  # fmt: skip


def _queued_prompt(attachment: Line) -> Any:
    """Return the content of a message that a person typed while the agent was working; None for
    other attachments."""
    is_prompt = attachment.get("commandMode", "prompt") == "prompt"
    origin = as_object(attachment.get("origin")).get("kind", "human")
    if attachment.get("type") == "queued_command" and is_prompt and origin == "human":
        return None if attachment.get("isMeta") else attachment.get("prompt")
    return None


def _texts(content: object) -> object:
    """Return the text blocks of a content."""
    if not isinstance(content, list):
        return content
    return [b for b in content if isinstance(b, dict) and b.get("type") == "text"]

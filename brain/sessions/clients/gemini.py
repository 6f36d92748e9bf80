"""Gemini CLI: `~/.gemini/tmp/<project>/chats/session-….jsonl`, older ones `.json`.

The file is a log of changes: a message appears again when its tools are done, and a resume repeats
the whole list with new times and fewer messages. The first appearance of each message counts.
"""

from __future__ import annotations

import json
import os

from brain.sessions.clients import Source, home
from brain.sessions.clients.lines import (
    as_list,
    as_object,
    blocks,
    call,
    event,
    first_values,
    message_line,
    result,
    stat,
    values,
    with_marks,
)
from brain.vault import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from brain.sessions.clients import Line

NAME = "gemini"
_NOT_TYPED = ("<session_context>", "<hook_context>")
_MAX_SIZE = 100_000_000  # bytes of a `.json` transcript, which is read at once


def folders(environ: Mapping[str, str]) -> list[str]:
    """Return the folder of all projects."""
    return [os.path.join(home(environ), ".gemini", "tmp")]


def sources(path: str) -> Iterator[Source]:
    """Yield the session of a transcript. The first record of the file identifies the session."""
    value = next(first_values(path), None) or _document(path)
    if not isinstance(value.get("sessionId"), str) or "projectHash" not in value:
        return
    folder, parent_name = os.path.dirname(path), os.path.basename(os.path.dirname(path))
    is_agent = parent_name != "chats" and os.path.basename(os.path.dirname(folder)) == "chats"
    project = os.path.dirname(os.path.dirname(folder) if is_agent else folder)
    yield Source(
        NAME, path, value["sessionId"],
        cwd=files.text(os.path.join(project, ".project_root")).strip(),
        parent=parent_name if is_agent else "",
        kind="subagent" if is_agent else "",
        started=str(value.get("startTime") or ""),
        **stat(path),
    )  # fmt: skip


def _document(path: str) -> Line:
    """Return a transcript that is one JSON document; {} if it is not one."""
    if not os.path.basename(path).startswith("session-") or not path.endswith(".json"):
        return {}
    try:
        value = json.loads(files.read(path, _MAX_SIZE)[0])
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def read(source: Source, mark: str) -> Iterator[tuple[Line | None, str]]:
    """Yield the lines of a transcript after a mark."""
    if source.path.endswith(".json"):
        new_mark = f"{source.size} {source.changed}"
        values_ = [(_document(source.path), new_mark)] if new_mark != mark else []
    else:
        values_ = values(source.path, mark)  # type: ignore[assignment]
    return with_marks(values_, _lines)


def _lines(value: Line) -> Iterator[Line]:
    changes = value.get("$set")
    messages = value.get("messages")
    if isinstance(changes, dict):
        messages = changes.get("messages")
    if isinstance(messages, list):
        for message in messages:
            if isinstance(message, dict):
                yield from _message(message)
    elif "$rewindTo" in value:
        target = str(value["$rewindTo"])
        yield event(f"rewind-{target}", "rewind", "", to=target)
    else:
        yield from _message(value)


def _message(message: Line) -> Iterator[Line]:
    id, time, kind = message.get("id"), str(message.get("timestamp") or ""), message.get("type")
    if not isinstance(id, str) or kind not in ("user", "gemini"):
        return
    if kind == "user":
        yield from message_line(id, "user", _typed(message), time)
        return
    yield from message_line(
        id, "assistant", blocks(message.get("content")), time, model=message.get("model")
    )
    for each_call in map(as_object, as_list(message.get("toolCalls"))):
        if each_call:
            yield from _tool(each_call, id, time)


def _typed(message: Line) -> str:
    """Return the text that the person typed."""
    content = message.get("displayContent") or message.get("content")
    parts = [content] if isinstance(content, str | dict) else as_list(content)
    texts = [blocks(part) for part in parts]
    return "\n".join(text for text in texts if not text.lstrip().startswith(_NOT_TYPED))


def _tool(tool: Line, message: str, time: str) -> Iterator[Line]:
    id, native = str(tool.get("id") or ""), f"{message}:{tool.get('id')}"
    yield call(
        id, str(tool.get("name")), tool.get("args"), str(tool.get("timestamp") or time), native
    )
    if tool.get("result") is not None:
        yield result(
            id, _output(tool["result"]), str(tool.get("timestamp") or time), native,
            error=tool.get("status") == "error",
        )  # fmt: skip


def _output(result: Any) -> str:
    """Return the output in the responses of a tool."""
    texts = []
    for part in result if isinstance(result, list) else [result]:
        response = as_object(as_object(as_object(part).get("functionResponse")).get("response"))
        text = response.get("output") or response.get("error") if response else blocks(part)
        texts.append(text if isinstance(text, str) else json.dumps(text, ensure_ascii=False))
    return "\n".join(texts)

"""Shared by the clients: marks in files that grow, texts without what was injected, lines."""

from __future__ import annotations

import json
import os
import re
from hashlib import sha256
from itertools import islice

from brain.sessions.transcript import EVENT
from brain.sessions.transcript import lines as lines_of
from brain.vault import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from brain.sessions.clients import Line

MOST_OUTPUT = 2_000  # characters of a tool's output
_HEAD = 4_096  # bytes at the start of a file by which it is recognised
_FIRST = 400  # lines in which a transcript has to say what it is
_INJECTED = re.compile(r"<(brain-context|system-reminder)\b[^>]*>.*?</\1>", re.DOTALL)
_CUT_SHORT = re.compile(r"\A\s*<brain-context\b[^>]*>.*\Z", re.DOTALL)


# -- files that grow -------------------------------------------------------------------------------


def values(path: str, mark: str) -> Iterator[tuple[Line, str]]:
    """Yield the objects of a JSON Lines file behind a mark, each with the mark behind it.

    A mark names the file by its inode and a hash of its beginning. If the client wrote the file
    again, or cut it, all of it is read. A last line that is not complete yet is left for later.
    """
    at = _offset(path, mark)
    inode = os.stat(path).st_ino
    head, size = _head(path, _HEAD), 0
    for value, end in lines_of(path, at):
        if size < _HEAD:
            size = min(end, len(head))
            digest = sha256(head[:size]).hexdigest()[:16]
        yield value, f"{inode} {end} {size} {digest}"


def _offset(path: str, mark: str) -> int:
    """Return where to go on reading; 0 if the mark is of another file."""
    if not mark:
        return 0
    inode, end, size, digest = mark.split(" ")
    st = os.stat(path)
    same = st.st_ino == int(inode) and st.st_size >= int(end)
    if same and sha256(_head(path, int(size))).hexdigest()[:16] == digest:
        return int(end)
    return 0


def _head(path: str, size: int) -> bytes:
    with open(files.open_quietly(path)[0], "rb") as file:
        return file.read(size)


def first_values(path: str) -> Iterator[Line]:
    """Yield the first objects of a JSON Lines file; none if it is not one."""
    if not os.path.isfile(path) or not path.endswith(".jsonl"):
        return
    yield from (value for value, _ in islice(lines_of(path), _FIRST))


def stat(path: str) -> dict[str, Any]:
    """Return the size of a file and when it was changed, as fields of a Source."""
    st = os.stat(path)
    return {"size": st.st_size, "changed": st.st_mtime}


# -- texts and lines -------------------------------------------------------------------------------


def clean(text: str) -> str:
    """Return a text without what Brain or the client injected into it."""
    if "<" in text:
        text = _CUT_SHORT.sub("", _INJECTED.sub("", text))
    return text.strip()


def output(text: str) -> str:
    """Return the output of a tool, cut to 2,000 characters."""
    text = clean(text)
    if len(text) <= MOST_OUTPUT:
        return text
    return f"{text[:MOST_OUTPUT]}\n[{len(text) - MOST_OUTPUT:,} more characters]"


def blocks(content: Any, key: str = "text") -> str:
    """Return the text of a content: a string, a block, or a list of them."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = [content]
    found = (b if isinstance(b, str) else b.get(key) for b in content or () if b)
    return "\n".join(text for text in found if isinstance(text, str))


def derived(*parts: str) -> str:
    """Return an id for a message that has none of its own that stays."""
    return sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()[:20]


def said(id: str, role: str, text: str, at: str, **more: Any) -> Iterator[Line]:
    """Yield a message, unless nothing is left of its text."""
    if text := clean(text):
        yield _line({"id": id, "role": role, "content": text}, at, more)


def call(id: str, name: str, given: Any, at: str, native: str, **more: Any) -> Line:
    """Return the call of a tool. `native` tells it from others, should the id be used again."""
    line = {"id": id, "role": "tool_call", "name": name, "input": _cut(given)}
    return _line(line, at, {"native": native, **more})


def result(id: str, text: str, at: str, native: str, **more: Any) -> Line:
    """Return the result of a tool."""
    line = {"id": id, "role": "tool_result", "content": output(text)}
    return _line(line, at, {"native": native, **more})


def event(id: str, name: str, at: str, **more: Any) -> Line:
    """Return an event of the session."""
    return _line({"id": id, "role": EVENT, "event": name}, at, more)


def _line(line: Line, at: str, more: Line) -> Line:
    line |= {"timestamp": at} if at else {}
    return line | {name: value for name, value in more.items() if value}


def _cut(given: Any) -> Any:
    """Return the input of a call, with its long texts cut."""
    if isinstance(given, str):
        return output(given)
    if isinstance(given, dict):
        return {name: _cut(value) for name, value in given.items()}
    return [_cut(value) for value in given] if isinstance(given, list) else given


def arguments(text: Any) -> Any:
    """Return the arguments of a call that are written as a JSON string."""
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def each(
    found: Iterable[tuple[Line, str]], parse: Callable[[Line], Iterator[Line]]
) -> Iterator[tuple[Line | None, str]]:
    """Yield what `parse` makes of each value, with its mark."""
    for value, mark in found:
        for line in parse(value):
            yield line, ""
        yield None, mark

"""Code that the clients share: marks in growing files, removal of injected text, and lines."""

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

MAX_OUTPUT = 2_000  # characters of a tool's output
_HEAD = 4_096  # bytes at the start of a file by which it is recognised
_MAX_HEADER = 400  # lines in which a transcript must identify itself
_INJECTED = re.compile(r"<(brain-context|system-reminder)\b[^>]*>.*?</\1>", re.DOTALL)
_CUT_SHORT = re.compile(r"\A\s*<brain-context\b[^>]*>.*\Z", re.DOTALL)


# -- files that grow -------------------------------------------------------------------------------


def values(path: str, mark: str) -> Iterator[tuple[Line, str]]:
    """Yield each object that follows `mark` in a JSON Lines file, with a mark for the position
    after that object.

    A mark also identifies the file, by its inode and a hash of its beginning. If the client rewrote
    or shortened the file, all of it is read. An incomplete last line is left for later.
    """
    start = _offset(path, mark)
    inode = os.stat(path).st_ino
    head, size = _head(path, _HEAD), 0
    for value, end in lines_of(path, start):
        if size < _HEAD:
            size = min(end, len(head))
            digest = sha256(head[:size]).hexdigest()[:16]
        yield value, f"{inode} {end} {size} {digest}"


def _offset(path: str, mark: str) -> int:
    """Return the offset of a mark; 0 if the mark belongs to another file."""
    if not mark:
        return 0
    inode, end, size, digest = mark.split(" ")
    st = os.stat(path)
    is_same = st.st_ino == int(inode) and st.st_size >= int(end)
    if is_same and sha256(_head(path, int(size))).hexdigest()[:16] == digest:
        return int(end)
    return 0


def _head(path: str, size: int) -> bytes:
    with open(files.open_quietly(path)[0], "rb") as file:
        return file.read(size)


def first_values(path: str) -> Iterator[Line]:
    """Yield the first objects of a JSON Lines file; none if it is not one."""
    if not os.path.isfile(path) or not path.endswith(".jsonl"):
        return
    yield from (value for value, _ in islice(lines_of(path), _MAX_HEADER))


def stat(path: str) -> dict[str, Any]:
    """Return the size of a file and the time of its last change, as fields of a Source."""
    st = os.stat(path)
    return {"size": st.st_size, "changed": st.st_mtime}


# -- texts and lines -------------------------------------------------------------------------------


def clean(text: str) -> str:
    """Return a text without the parts that Brain or the client injected."""
    if "<" in text:
        text = _CUT_SHORT.sub("", _INJECTED.sub("", text))
    return text.strip()


def output(text: str) -> str:
    """Return the output of a tool, cut to 2,000 characters."""
    text = clean(text)
    if len(text) <= MAX_OUTPUT:
        return text
    return f"{text[:MAX_OUTPUT]}\n[{len(text) - MAX_OUTPUT:,} more characters]"


def blocks(content: Any, key: str = "text") -> str:
    """Return the text of a content: a string, a block, or a list of them."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = [content]
    found = (b if isinstance(b, str) else as_object(b).get(key) for b in as_list(content))
    return "\n".join(text for text in found if isinstance(text, str))


def as_object(value: Any) -> Line:
    """Return a value that should be an object; {} if it is not one."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """Return a value that should be a list; [] if it is not one."""
    return value if isinstance(value, list) else []


def derived_id(*parts: str) -> str:
    """Return an id for a message without a permanent id of its own."""
    return sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()[:20]


def message_line(id: str, role: str, text: str, time: str, **fields: Any) -> Iterator[Line]:
    """Yield a message, unless its text was only injected."""
    if text := clean(text):
        yield _line({"id": id, "role": role, "content": text}, time, fields)


def call(id: str, name: str, input: Any, time: str, native: str, **fields: Any) -> Line:
    """Return the call of a tool. `native` identifies the call if the client uses its id again."""
    line = {"id": id, "role": "tool_call", "name": name, "input": _shorten(input)}
    return _line(line, time, {"native": native, **fields})


def result(id: str, text: str, time: str, native: str, **fields: Any) -> Line:
    """Return the result of a tool."""
    line = {"id": id, "role": "tool_result", "content": output(text)}
    return _line(line, time, {"native": native, **fields})


def event(id: str, name: str, time: str, **fields: Any) -> Line:
    """Return an event of the session."""
    return _line({"id": id, "role": EVENT, "event": name}, time, fields)


def _line(line: Line, time: str, fields: Line) -> Line:
    line |= {"timestamp": time} if time else {}
    return line | {name: value for name, value in fields.items() if value}


def _shorten(input: Any) -> Any:
    """Return the input of a call with long texts shortened."""
    if isinstance(input, str):
        return output(input)
    if isinstance(input, dict):
        return {name: _shorten(value) for name, value in input.items()}
    return [_shorten(value) for value in input] if isinstance(input, list) else input


def arguments(text: Any) -> Any:
    """Parse the arguments of a call if they are a JSON string."""
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def with_marks(
    values_: Iterable[tuple[Line, str]], parse: Callable[[Line], Iterator[Line]]
) -> Iterator[tuple[Line | None, str]]:
    """Yield the lines that `parse` returns for each value, then the mark of the value."""
    for value, mark in values_:
        for line in parse(value):
            yield line, ""
        yield None, mark

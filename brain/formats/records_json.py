"""Read and edit items.json, the typed and cited items of a project, and tasks.json, its tasks.

An edit splices in a value or a record in the style of its neighbours: one line or many, tabs or
spaces, `\\u` or not. Key order, unknown keys, the spelling of numbers and all other bytes stay.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from brain.errors import BadRequest
from brain.formats import json_spans
from brain.formats.json_spans import Reading, Record, elements, members, moment, unshown
from brain.formats.text import BOM, UNSAFE, decode, refused
from brain.model import Applied, Change, Document, Drop, EditedFile, Entry, Link, Put

_INDENT = "  "
_NEW_FILES = {"items": "[]\n", "tasks": '{\n  "tasks": []\n}\n'}
_LEAD = re.compile(r"[ \t]*")


def parse(format: str, data: bytes) -> Document:
    """Read items.json or tasks.json. A record that cannot be read is a problem; the others load."""
    reading = Reading(data, format, format[0])  # an id made from the text begins with i or t
    make = _item if format == "items" else _task
    return reading.document(make(reading, record) for record in reading.records)


def _item(reading: Reading, record: Record) -> Entry:
    value = record.value
    title, content = reading.string(record, "title"), reading.string(record, "content")
    ref = reading.ref(record, value.get("id"), title, content)
    kind = reading.string(record, "type") or "fact"
    tags = _tags(reading, record)
    created = moment(value.get("extractedAt"))
    source = reading.string(record, "sourceFile")
    links = (Link(record.line, "derived_from", source, "", ""),) if source else ()
    shown = {
        "id": ref, "type": kind, "title": title, "content": content, "tags": tags,
        "extractedAt": created,
    }  # fmt: skip
    return Entry(
        ref, kind, "", title, content or title or _other_words(record), tuple(tags),
        record.line, record.end_line, created, links,
        record.start, record.end, unshown(value, shown),
    )  # fmt: skip


def _tags(reading: Reading, record: Record) -> list[str]:
    words = [word for tag in reading.strings(record, "tags") for word in tag.split(",")]
    return list(dict.fromkeys(filter(None, (word.strip().lstrip("#") for word in words))))


def _other_words(record: Record) -> str:
    """Return the texts under keys that Brain does not know, so that a search finds them."""
    known = {"id", "type", "tags", "extractedAt", "sourceFile"}
    return "\n".join(v for k, v in record.value.items() if k not in known and isinstance(v, str))


def _task(reading: Reading, record: Record) -> Entry:
    value = record.value
    milestone = reading.string(record, "milestone")
    description = reading.string(record, "description")
    criteria = reading.strings(record, "acceptance_criteria")
    reading.strings(record, "blocked_by")
    lines = (description or reading.string(record, "title"), *(f"- {each}" for each in criteria))
    text = "\n".join(filter(None, lines))
    ref = reading.ref(record, value.get("id"), milestone, text)
    status = reading.string(record, "status").strip().lower()
    created = moment(value.get("created"))
    shown = {
        "id": ref, "status": status, "description": description,
        "acceptance_criteria": criteria, "created": created,
    }  # fmt: skip
    return Entry(
        ref, "task", status, milestone, text, (), record.line, record.end_line, created, (),
        record.start, record.end, unshown(value, shown),
    )  # fmt: skip


# -- editing ------------------------------------------------------------------------------------


class Style(NamedTuple):
    """The style of an object: `base` indents its brackets, `indent` its members ('': one line)."""

    base: str
    indent: str
    newline: str
    comma: str
    colon: str
    ascii: bool


class _List(NamedTuple):
    """The list of records in a text: its brackets, and (value, start, end) of each element."""

    start: int
    end: int
    found: list[tuple[Any, int, int]]


def edit(format: str, path: str, data: bytes, changes: Sequence[Change]) -> EditedFile:
    """Return items.json or tasks.json after these changes, in order, and the result of each."""
    done = []
    for change in changes:
        data, one = _File(format, path, data).apply(change)
        done.append(one)
    return EditedFile(data, tuple(done))


class _File:
    """A file of records. An edit returns its new bytes."""

    def __init__(self, format: str, path: str, data: bytes) -> None:
        self.format, self.data = format, data
        self.shift = 3 if data.startswith(BOM) else 0
        self.text = decode(data)[0]
        self.document = parse(format, data)
        if self.document.broken:
            problem = next(p for p in self.document.problems if p.code in _STOPS)
            raise refused(path, problem.line, problem.message)

    def apply(self, change: Change) -> tuple[bytes, Applied]:
        entries = self.document.entries
        number = next((n for n, entry in enumerate(entries) if entry.ref == change.ref), -1)
        entry = entries[number] if number >= 0 else None
        previous = entries[number - 1].ref if number > 0 else ""
        if isinstance(change, Drop):
            return self._drop(change, entry, previous)
        if not isinstance(change, Put):
            raise BadRequest(f"{type(change).__name__} is not an edit of {self.format}.json.")
        if entry is None:
            return self._add(change)
        return self._put(change, entry, previous)

    def _char(self, byte: int) -> int:
        return len(self.data[self.shift : byte].decode())

    def _done(
        self, change: Change, at: int, text: str, before: str, after: str, previous: str
    ) -> tuple[bytes, Applied]:
        line = text.count("\n", 0, at) + 1
        outcome = "already" if text == self.text else "done"
        done = Applied(change, outcome, line, before, after, "", previous)
        return self.data[: self.shift] + text.encode(), done

    # -- values ----------------------------------------------------------------------------------

    def _put(self, change: Put, entry: Entry, previous: str) -> tuple[bytes, Applied]:
        start, end = self._char(entry.start), self._char(entry.end)
        record = before = self.text[start:end]
        style = self._style_of(start, end)
        for key, value in json_spans.storable({**change.values, "id": change.ref}).items():
            record = _with(record, key, value, style)
        text = self.text[:start] + record + self.text[end:]
        return self._done(change, start, text, before, record, previous)

    def _style_of(self, start: int, end: int) -> Style:
        """Return the style of the record between two characters."""
        record = self.text[start:end]
        base = _indent_at(self.text, start)
        newline = "\r\n" if "\r\n" in self.text else "\n"
        found = list(members(record, 0))
        colon, comma = ": ", ", "
        indent = ""
        if found:
            first = found[0]
            lead = record[1 : first.key_start]
            if "\n" in lead:
                indent = lead[lead.rfind("\n") + 1 :].removeprefix(base) or _INDENT
            key_end = json.JSONDecoder().raw_decode(record, first.key_start)[1]
            colon = record[key_end : first.start]
            if len(found) > 1 and not indent:
                comma = record[first.end : found[1].key_start]
            elif not indent:
                comma = "," if colon == ":" else ", "
        return Style(base, indent, newline, comma, colon, _is_ascii(self.text))

    # -- records ---------------------------------------------------------------------------------

    def _add(self, change: Put) -> tuple[bytes, Applied]:
        values = {"id": change.ref, **change.values, "id": change.ref}  # noqa: F601 - comes first
        values = json_spans.storable(values)
        if not self.text.strip():
            self.text = _NEW_FILES[self.format]
        there = _list(self.text, self.format)
        entries = self.document.entries
        previous = entries[-1].ref if entries else ""
        objects = [(s, e) for value, s, e in there.found if isinstance(value, dict)]
        style = self._style_of(*objects[-1]) if objects else self._new_style(there)
        record = dumped(values, style)
        if there.found:
            end = there.found[-1][2]
            gap = self._gap(there, style)
            text = f"{self.text[:end]},{gap}{record}{self.text[end:]}"
            return self._done(change, end + 1 + len(gap), text, "", record, previous)
        head = f"[{style.newline}{style.base}"
        inner = f"{head}{record}{style.newline}{_indent_at(self.text, there.start)}]"
        text = self.text[: there.start] + inner + self.text[there.end :]
        return self._done(change, there.start + len(head), text, "", record, "")

    def _gap(self, there: _List, style: Style) -> str:
        """Return the white space before a further element."""
        found = there.found
        if len(found) > 1:
            return self.text[found[-2][2] : found[-1][1]].partition(",")[2]
        lead = self.text[there.start + 1 : found[0][1]]
        if "\n" in lead:
            return style.newline + lead[lead.rfind("\n") + 1 :]
        return style.comma[1:] if not style.indent else " "

    def _new_style(self, there: _List) -> Style:
        """Return the style of the first record of a list: one level deeper than the list."""
        outer = _indent_at(self.text, there.start)
        unit = outer if self.format == "tasks" and outer else _INDENT
        newline = "\r\n" if "\r\n" in self.text else "\n"
        return Style(outer + unit, unit, newline, ", ", ": ", _is_ascii(self.text))

    def _drop(self, change: Drop, entry: Entry | None, previous: str) -> tuple[bytes, Applied]:
        if entry is None:
            return self.data, Applied(change, "missing")
        start, end = self._char(entry.start), self._char(entry.end)
        there = _list(self.text, self.format)
        number = [s for _, s, _ in there.found].index(start)
        if number + 1 < len(there.found):
            cut = start, there.found[number + 1][1]
        elif number:
            cut = there.found[number - 1][2], end
        else:
            cut = there.start + 1, there.end - 1
        text = self.text[: cut[0]] + self.text[cut[1] :]
        return self._done(change, cut[0], text, self.text[start:end], "", previous)


_STOPS = UNSAFE | {"json", "json-depth", "json-shape"}


def _list(text: str, name: str) -> _List:
    """Return the list of records of a text that `json_spans.Reading` could read."""
    at = json_spans.skip(text, 0)
    if text[at] == "{":
        at = [member.start for member in members(text, at) if member.key == name][-1]
    found = list(elements(text, at))
    end = text.index("]", found[-1][2] if found else at) + 1
    return _List(at, end, found)


def _indent_at(text: str, at: int) -> str:
    """Return the indentation of the line of this character."""
    match = _LEAD.match(text, text.rfind("\n", 0, at) + 1)
    return match.group() if match else ""


def _is_ascii(text: str) -> bool:
    """Return True if the file spells letters beyond ASCII as `\\u`."""
    return text.isascii() and "\\u" in text


def _with(record: str, key: str, value: Any, style: Style) -> str:
    """Return a record with this value. An equal value stays as it is spelled."""
    found = list(members(record, 0))
    there = [member for member in found if member.key == key]
    if there:
        member = there[-1]
        if _equal(member.value, value):
            return record
        return record[: member.start] + _value(value, style) + record[member.end :]
    pair = f"{json.dumps(key, ensure_ascii=style.ascii)}{style.colon}{_value(value, style)}"
    if not found:
        return f"{{{pair}}}"
    end = found[-1].end
    gap = style.newline + style.base + style.indent if style.indent else style.comma[1:]
    comma = "," if style.indent else style.comma[:1]
    return f"{record[:end]}{comma}{gap}{pair}{record[end:]}"


def _equal(a: Any, b: Any) -> bool:
    """Return True for equal JSON values: `1` and `1.0` are, `1` and `true` are not."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_equal(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(_equal, a, b))
    return bool(a == b)


def _value(value: Any, style: Style) -> str:
    """Return a value inside a record, one level deeper than its brackets."""
    return dumped(value, style._replace(base=style.base + style.indent))


def dumped(value: Any, style: Style) -> str:
    """Return a value as JSON in this style. Raise BadRequest if JSON cannot hold it."""
    if json_spans.is_deep(value):
        raise BadRequest("The value is nested too deeply.", "Make it flatter.")
    try:
        text = json.dumps(
            value,
            ensure_ascii=style.ascii,
            allow_nan=False,
            indent=style.indent or None,
            separators=(",", style.colon) if style.indent else (style.comma, style.colon),
        )
    except (TypeError, ValueError) as error:
        raise BadRequest(f"JSON cannot hold this value: {error}.") from None
    return text.replace("\n", style.newline + style.base) if style.indent else text

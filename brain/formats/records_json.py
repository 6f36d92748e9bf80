"""Read items.json, the facts of a project with their sources, and tasks.json, the tasks of a
project. Brain does not write these files."""

from __future__ import annotations

from brain.formats.json_spans import Reading, Record, first_time, remaining_members
from brain.model import Document, Entry, Link


def parse(format: str, data: bytes) -> Document:
    """Return the content of an items.json or tasks.json. A record that cannot be read is reported;
    the others are read."""
    reading = Reading(data, format, format[0])  # a derived id begins with i or t
    make = _item if format == "items" else _task
    return reading.document(make(reading, record) for record in reading.records)


def _item(reading: Reading, record: Record) -> Entry:
    value = record.value
    title, content = reading.string(record, "title"), reading.string(record, "content")
    ref = reading.ref(record, value.get("id"), title, content)
    kind = reading.string(record, "type") or "fact"
    tags = _tags(reading, record)
    created = first_time(value.get("extractedAt"))
    source = reading.string(record, "sourceFile")
    links = (Link(record.line, "derived_from", source, ""),) if source else ()
    represented = {
        "id": ref, "type": kind, "title": title, "content": content, "tags": tags,
        "extractedAt": created,
    }  # fmt: skip
    return Entry(
        ref, kind, "", title, content or title or _texts_of_unknown_members(record), tuple(tags),
        record.line, record.end_line, created, links, extra=remaining_members(value, represented),
    )  # fmt: skip


def _tags(reading: Reading, record: Record) -> list[str]:
    words = [word for tag in reading.strings(record, "tags") for word in tag.split(",")]
    return list(dict.fromkeys(filter(None, (word.strip().lstrip("#") for word in words))))


def _texts_of_unknown_members(record: Record) -> str:
    """Return the texts of unknown members, so that a search finds them."""
    known = {"id", "type", "tags", "extractedAt", "sourceFile"}
    return "\n".join(v for k, v in record.value.items() if k not in known and isinstance(v, str))


def _task(reading: Reading, record: Record) -> Entry:
    value = record.value
    milestone = reading.string(record, "milestone")
    description = reading.string(record, "description")
    criteria = reading.strings(record, "acceptance_criteria")
    reading.strings(record, "blocked_by")  # only reports a wrong type
    lines = (description or reading.string(record, "title"), *(f"- {each}" for each in criteria))
    text = "\n".join(filter(None, lines))
    ref = reading.ref(record, value.get("id"), milestone, text)
    status = reading.string(record, "status").strip().lower()
    created = first_time(value.get("created"))
    represented = {
        "id": ref, "status": status, "description": description,
        "acceptance_criteria": criteria, "created": created,
    }  # fmt: skip
    return Entry(
        ref, "task", status, milestone, text, (), record.line, record.end_line, created, (),
        extra=remaining_members(value, represented),
    )  # fmt: skip

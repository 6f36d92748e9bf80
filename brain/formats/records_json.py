"""items.json, the typed and cited items of a project, and tasks.json, its tasks. Brain reads them
and leaves them as they are."""

from __future__ import annotations

from brain.formats.json_spans import Reading, Record, moment, unshown
from brain.model import Document, Entry, Link


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
    links = (Link(record.line, "derived_from", source, ""),) if source else ()
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

"""The knowledge extracted from a project: `items.json`, a list of typed, cited items."""

from __future__ import annotations

from brain.formats.json_doc import Reading, Record, moment, unshown
from brain.model import Chunk, Document, Link


def parse(data: bytes) -> Document:
    """Read the items; whatever is wrong with one of them is a problem and the others load."""
    reading = Reading(data, "items", "i")
    return reading.document(_chunk(reading, record) for record in reading.records)


def _chunk(reading: Reading, record: Record) -> Chunk:
    value = record.value
    title, content = reading.string(record, "title"), reading.string(record, "content")
    ref = reading.ref(record, value.get("id"), title, content)
    kind = reading.string(record, "type") or "fact"
    tags = _tags(reading, record)
    created = moment(value.get("extractedAt"))
    shown = {
        "id": ref, "type": kind, "title": title, "content": content, "tags": tags,
        "extractedAt": created,
    }  # fmt: skip
    return Chunk(
        ref, kind, "", title, content or title or _other_words(record), tuple(tags),
        record.line, record.end_line, created, _links(reading, record),
        record.start, record.end, unshown(value, shown),
    )  # fmt: skip


def _tags(reading: Reading, record: Record) -> list[str]:
    words = [word for tag in reading.strings(record, "tags") for word in tag.split(",")]
    return list(dict.fromkeys(filter(None, (word.strip().lstrip("#") for word in words))))


def _links(reading: Reading, record: Record) -> tuple[Link, ...]:
    source = reading.string(record, "sourceFile")
    return (Link(record.line, "derived_from", source, "", ""),) if source else ()


def _other_words(record: Record) -> str:
    """What another tool wrote under names that Brain does not know: still to be found."""
    known = {"id", "type", "tags", "extractedAt", "sourceFile"}
    return "\n".join(v for k, v in record.value.items() if k not in known and isinstance(v, str))

"""The work that is planned and done: `tasks.json`, an object with a list of tasks."""

from __future__ import annotations

from brain.formats.json_doc import Reading, Record, moment, unshown
from brain.model import Chunk, Document


def parse(data: bytes) -> Document:
    """Read the tasks; whatever is wrong with one of them is a problem and the others load."""
    reading = Reading(data, "tasks", "t")
    return reading.document(_chunk(reading, record) for record in reading.records)


def _chunk(reading: Reading, record: Record) -> Chunk:
    value = record.value
    milestone = reading.string(record, "milestone")
    description = reading.string(record, "description")
    criteria = reading.strings(record, "acceptance_criteria")
    reading.strings(record, "blocked_by")
    text = _text(description or reading.string(record, "title"), criteria)
    ref = reading.ref(record, value.get("id"), milestone, text)
    status = reading.string(record, "status").strip().lower()
    created = moment(value.get("created"))
    shown = {
        "id": ref, "status": status, "description": description,
        "acceptance_criteria": criteria, "created": created,
    }  # fmt: skip
    return Chunk(
        ref, "task", status, milestone, text, (), record.line, record.end_line, created, (),
        record.start, record.end, unshown(value, shown),
    )  # fmt: skip


def _text(description: str, criteria: list[str]) -> str:
    return "\n".join(filter(None, (description, *(f"- {criterion}" for criterion in criteria))))

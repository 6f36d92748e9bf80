"""Convert results to JSON documents, in the shapes of docs/reference/json.md."""

from __future__ import annotations

from brain.open_vault import Freshness
from brain.operations.results import ChangeRecord, Entry, entry
from brain.sync import sync_payload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from brain.context.recall import Excerpt
    from brain.context.scoring import ScoredEntry
    from brain.model import Event, Link
    from brain.operations.results import Answer, Changed, Context, Value
    from brain.operations.search import SearchResult

    Json = dict[str, Any]

ENTRY = tuple(name for name in Entry._fields if name not in ("extra", "links", "more", "freshness"))


def document(value: Any) -> Any:
    """Return the JSON document for the result of any operation."""
    for each in type(value).__mro__:
        if shape := SHAPES.get(each.__name__):
            return shape(value)
    if isinstance(value, dict):
        return {key: document(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [document(inner) for inner in value]
    return value


def _value(value: Value) -> Json:
    return _fields(value, value._fields)


def _fields(value: Value, names: Iterable[str]) -> Json:
    """Return fields as JSON. Optional fields that are None are left out."""
    out: Json = {}
    for name in names:
        inner = getattr(value, name)
        if inner is None and getattr(type(value), name, "") is None:
            continue
        out |= freshness(inner) if isinstance(inner, Freshness) else {name: document(inner)}
    return out


def _entry(value: Entry) -> Json:
    own = [name for name in value._fields if name not in Entry._fields]
    return _entry_fields(value) | _fields(value, ("links", *own, "more", "freshness"))


def _changed(value: Changed) -> Json:
    own = [name for name in value._fields if name not in (*Entry._fields, "state")]
    return {"state": value.state, **_entry_fields(value), **_fields(value, own)}


def _entry_fields(value: Entry) -> Json:
    """Return the fields that every entry has, and the fields of `extra` with other names."""
    out: Json = {name: getattr(value, name) for name in ENTRY}
    out |= {"agent": value.agent or None, "project": value.project or None}
    return out | {key: inner for key, inner in value.extra.items() if key not in out}


def _record(value: ChangeRecord) -> Json:
    head = _fields(value, ChangeRecord._fields[:-1])
    return head | {key: inner for key, inner in value.data.items() if key not in head}


def _link(value: Link) -> Json:
    return {name: getattr(value, name) for name in ("kind", "target", "fragment", "line")}


def freshness(value: Freshness) -> Json:
    """Return the fields for the freshness of a result."""
    return {"fresh": value.fresh, "as_of": value.as_of or None, "stale": list(value.stale)}


# -- search --------------------------------------------------------------------------------------


def answer(value: Answer, explain: bool = False) -> Json:
    """Return the JSON of a search. `explain` adds the factors of each score."""
    return {
        "query": value.query,
        "results": [search_result(result, explain) for result in value.results],
        **freshness(value.freshness),
        "notes": list(value.notes),
    }


def search_result(value: SearchResult, explain: bool = False) -> Json:
    """Return an entry with its score, the best matching line, and a marked snippet."""
    out = _entry_fields(entry(value.row)) | {"line": value.line, "score": value.score}
    out |= {"snippet": value.snippet(), "conflicts": value.conflicts, "also": value.also}
    if explain:
        matched = "beginnings of words" if value.prefix else "whole words"
        out |= {"factors": value.factors, "covered": value.covered}
        out |= {"exact": value.exact, "matched": matched}
    return out


# -- context -------------------------------------------------------------------------------------

# fields of an entry whose score another entry inherits
_SCORE = ("id", "score", "factors", "fitness", "handed", "via")


def context(value: Context) -> Json:
    """Return the text for the prompt, and the fields that explain it."""
    found, fitted = value.recalled, value.fitted
    shown = {*value.shown}
    return {
        "query": value.asked.query,
        "format": value.asked.format,
        "text": fitted.text,
        "tokens": fitted.tokens,
        "budget": fitted.allocation._asdict(),
        "used": fitted.used,
        "left_out": {tier: list(ids) for tier, ids in fitted.left_out.items()},
        "compression": fitted.compression,
        "warnings": [scored(each) | {"trigger": trigger} for each, trigger in found.warnings],
        "pinned": [scored(each) for each in found.pinned],
        "memories": [scored(each) | {"shown": each.id in shown} for each in found.memories],
        "excerpts": [_excerpt(each) | {"shown": each.row.ref in shown} for each in found.excerpts],
        "further": [part.path for part in fitted.package.further],
        "summaries": [_entry_fields(entry(each.row)) for each in found.summaries],
        "tasks": [_entry_fields(entry(each.row)) for each in found.tasks],
        "conflicts": [pair._asdict() for pair in fitted.package.conflicts],
        "considered": found.considered,
        "round": value.round.number,
        "rounds": value.round.most,
        "shown_before": list(value.round.shown),
        "degraded": value.degraded or None,
        **freshness(value.freshness),
        "notes": list(value.notes),
    }


def _excerpt(value: Excerpt) -> Json:
    """Return a passage or turn with its score (or the score of its note) and the factors."""
    return _entry_fields(entry(value.row)) | {"score": value.score, "factors": value.factors}


def scored(value: ScoredEntry) -> Json:
    """Return an entry with its score factors.

    `score` is the product of the score from `factors` and all values of `fitness`, or the `handed`
    score if it is higher. `handed` is the score of the `giver` times the weight and decay of each
    of the `steps`.
    """
    inherited = value.inherited
    out = _entry_fields(entry(value.row)) | {
        "score": value.score,
        "covered": value.coverage,
        "factors": value.search_factors or None,
        "fitness": dict(value.recall_factors),
        "handed": inherited.score if inherited else 0.0,
        "via": inherited.via if inherited else None,
    }
    if inherited:
        steps = [{"weight": weight, "decay": decay} for weight, decay in inherited.steps]
        giver = scored(inherited.origin)
        kept = {key: giver[key] for key in (*_SCORE, "giver") if key in giver}
        out["giver"] = kept | {"steps": steps}
    return out


# -- events --------------------------------------------------------------------------------------


def event(value: Event) -> Json:
    """Return an event as one object."""
    return {"event": value.name, "at": value.at, **value.payload}


SHAPES: dict[str, Callable[[Any], Json]] = {  # by the name of the class, the most special first
    "Answer": answer,
    "Context": context,
    "ChangeRecord": _record,
    "Changed": _changed,
    "Entry": _entry,
    "Value": _value,
    "Event": event,
    "Freshness": freshness,
    "Link": _link,
    "Stats": sync_payload,
}

"""One shape for everything that leaves Brain: CLI `--json`, MCP, HTTP, events and journal."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brain.context.scoring import ScoredEntry
    from brain.delta import Delta
    from brain.index.query import Row
    from brain.model import Event, Link, Problem, Record
    from brain.open_vault import Freshness
    from brain.operations.find import Answer
    from brain.recall.search import Hit
    from brain.sync import Stats
    from brain.verbs.recalling import Context


_SPEAKS = ("id", "score", "factors", "fitness", "handed", "via")  # for an entry in a context


def entry(row: Row) -> dict[str, Any]:
    """A chunk: paths relative to the vault, lines from 1."""
    extra = _read(row.extra)
    out = {
        "id": row.ref,
        "scope": row.scope,
        "kind": row.kind,
        "status": row.status,
        "agent": row.agent or None,
        "project": row.project or None,
        "path": row.path,
        "line": row.line,
        "end_line": row.end_line,
        "title": row.title,
        "heading": row.heading,
        "text": row.text,
        "tags": row.tags.split(),
        "created": row.created,
    }
    return out | {key: value for key, value in extra.items() if key not in out}


def _read(extra: str | None) -> dict[str, Any]:
    if not extra:
        return {}
    import json

    return dict(json.loads(extra))


def hit(found: Hit, explain: bool = False) -> dict[str, Any]:
    """A search result: the entry, at the line that answers, with its score and a marked snippet."""
    out = entry(found.row)
    out["line"] = found.line
    out["score"] = found.score
    out["snippet"] = found.snippet()
    out["conflicts"] = found.conflicts
    if explain:
        out["factors"] = found.factors._asdict()
        out["exact"] = found.exact
        out["matched"] = "beginnings of words" if found.prefix else "whole words"
    return out


def answer(question: str, value: Answer, explain: bool = False) -> dict[str, Any]:
    """What a search says."""
    results = [hit(found, explain) for found in value.results]
    notes = list(value.notes)
    return {"query": question, "results": results, **freshness(value.freshness), "notes": notes}


def context(value: Context) -> dict[str, Any]:
    """What a recall says: the text for the prompt, and all that explains it."""
    found, fitted = value.recalled, value.fitted
    shown = {piece.id for piece in fitted.package.memories}
    return {
        "query": value.asked.query,
        "format": value.asked.format,
        "text": fitted.text,
        "tokens": fitted.tokens,
        "budget": fitted.allocation._asdict(),
        "used": fitted.used,
        "left_out": {tier: list(ids) for tier, ids in fitted.left_out.items()},
        "compression": fitted.compression,
        "warnings": [weighed(one) | {"trigger": said} for one, said in found.warnings],
        "pinned": [weighed(one) for one in found.pinned],
        "memories": [weighed(one) | {"shown": one.row.ref in shown} for one in found.memories],
        "summaries": [entry(one.row) for one in found.summaries],
        "tasks": [entry(one.row) for one in found.tasks],
        "conflicts": [pair._asdict() for pair in fitted.package.conflicts],
        "considered": found.considered,
        "round": value.round.number,
        "rounds": value.round.most,
        "shown_before": list(value.round.shown),
        "degraded": value.degraded or None,
        **freshness(value.freshness),
        "notes": list(value.notes),
    }


def weighed(value: ScoredEntry) -> dict[str, Any]:
    """An entry with all that speaks for it: `score` is the product of what `factors` make and of
    all `fitness`, or what it was `handed` by one that it is tied to, if that is more: the score of
    that `giver`, times weight and decay of all its `steps`."""
    out = entry(value.row)
    out["score"] = value.score
    inherited = value.inherited
    out["factors"] = value.search_factors._asdict() if value.search_factors else None
    out["fitness"] = dict(value.recall_factors)
    out["handed"] = inherited.score if inherited else 0.0
    out["via"] = inherited.via if inherited else None
    if inherited:
        steps = [{"weight": weight, "decay": decay} for weight, decay in inherited.steps]
        out["giver"] = _giver(inherited.origin) | {"steps": steps}
    return out


def _giver(value: ScoredEntry) -> dict[str, Any]:
    """What the score is made of that was handed on."""
    told = weighed(value)
    return {key: told[key] for key in (*_SPEAKS, "giver") if key in told}


def freshness(value: Freshness) -> dict[str, Any]:
    """How far an answer can be trusted; part of every answer."""
    return {"fresh": value.fresh, "as_of": value.as_of or None, "stale": list(value.stale)}


def link(value: Link) -> dict[str, Any]:
    return {
        "kind": value.kind,
        "target": value.target,
        "fragment": value.fragment,
        "line": value.line,
    }


def problem(path: str, value: Problem) -> dict[str, Any]:
    return {"path": path, "line": value.line, "code": value.code, "message": value.message}


def event(value: Event) -> dict[str, Any]:
    return {"event": value.name, "at": value.at, **value.payload}


def delta(value: Delta) -> dict[str, Any]:
    """The payload of `memory:write`. Texts of source passages are cut to their beginning."""
    most = 200 if value.scope == "sources" else 10_000
    changes = {"added": value.added, "changed": value.changed, "removed": value.removed}
    listed = {
        name: [{"id": ref, "text": text[:most]} for ref, text in entries]
        for name, entries in changes.items()
    }
    return {"type": value.scope, "path": value.path, "delta": listed}


def record(value: Record) -> dict[str, Any]:
    """A line of the journal: what was done to which memory, when, by whom, on which device."""
    return {
        "event": value.id,
        "at": value.at,
        "by": value.by,
        "op": value.op,
        "id": value.ref,
        "path": value.path or None,
        "device": value.device,
    } | {key: inner for key, inner in value.data.items() if key not in _TAKEN}


_TAKEN = ("event", "at", "by", "op", "id", "path", "device")


def stats(value: Stats) -> dict[str, Any]:
    return {
        "files": value.files,
        "added": len(value.added),
        "changed": len(value.changed),
        "moved": [{"from": old, "to": new} for old, new in value.moved],
        "removed": len(value.removed),
        "cold": value.cold,
        "seconds": round(value.seconds, 3),
    }


def obsidian_url(vault_name: str, row: Row, heading: str = "") -> str:
    """The address that opens a chunk in Obsidian: its block if it has an id there, else its
    heading."""
    import re
    from urllib.parse import quote

    path = row.path.removesuffix(".md")
    extra = _read(row.extra)
    if extra.get("anchored"):
        path += f"#^{row.ref}"
    elif heading:  # what would end a link is left out, as Obsidian does
        path += "#" + " ".join(re.sub(r"[#^|\[\]\\]|%%", " ", heading).split())
    return f"obsidian://open?vault={quote(vault_name, safe='')}&file={quote(path, safe='')}"

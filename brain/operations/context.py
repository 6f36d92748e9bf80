"""Build the context of a question for an agent, within a budget of tokens."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from functools import partial
from math import ceil

from brain import access, actors, token_count
from brain.access import ADMIN
from brain.context import recall as pipeline
from brain.context import render, triggers
from brain.context.budget import Fitted, allocate, divide, fit
from brain.context.parts import Conflict, Package, Part, Passage
from brain.context.recall import Excerpt, Recalled
from brain.context.scoring import DEFAULT_SCOPES, MAX_MATCHES, Request, ScoredEntry
from brain.errors import BadRequest, BrainError, NoModel
from brain.formats.inline import strip_fields
from brain.operations import entries, lookup, search, usage
from brain.operations.results import Asked, Context
from brain.operations.usage import Round
from brain.search.question import terms
from brain.search.snippet import Words, best_line, body_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from brain.access import Actor
    from brain.config import Config
    from brain.context.budget import Count
    from brain.context.recall import Rerank
    from brain.index.read import Row
    from brain.open_vault import OpenVault

REMAINING = 100_000  # tokens of context that are left, if the caller does not give them
QUESTION, WORD = 10_000, 200  # characters of a question, and of each word in a longer one
SLOW_TOP_K, SLOW_MAX_MATCHES = 5, 100  # limits while recalls are too slow
NO_MATCH = "No match; showing only pinned memories and recent summaries."
NO_CONTENT = "The prompt has no content words, so nothing was searched."


def context(
    vault: OpenVault,
    question: str,
    *,
    files: Iterable[str] = (),
    text: str = "",
    agent: str = "",
    session: str = "",
    scopes: Iterable[str] = (),
    tasks: bool = False,
    again: bool = False,
    format: str = "claude",
    remaining: int = REMAINING,
    budget: int | None = None,
    characters: int = 0,
    shown: Iterable[str] = (),
    rerank: Rerank | None = None,
    check: bool = True,
    by: Actor | str = "",
) -> Context:
    """Return the text that an agent should read before it answers, within a budget of tokens.

    `files` are the open files, and `text` is the text that the agent is working on. `agent` is the
    agent that the context is for: the context contains the memories of this agent and of the admin.
    Every memory in the context gets a hit.

    `remaining` is the number of tokens left in the context window. Brain computes the budget from
    `remaining`, unless `budget` is given. `characters` also limits the length of the text.

    Entries that the `session` was shown before are left out until its topic changes. A client
    passes `again` after the session was compacted, cleared or resumed, so that these entries are
    shown again. Entries in `shown` are left out as well. `check=False` skips the update of the
    index.
    """
    actor = actors.resolve(vault, by, session)
    asked = Asked(
        query=question, files=lookup.words(files), text=text, agent=agent, session=session,
        scopes=lookup.words(scopes), tasks=tasks, again=again, format=format,
        remaining=remaining, budget=budget,
    )  # fmt: skip
    _check(asked)
    freshness = vault.refresh() if check else vault.unchecked()
    started, model_seconds = time.perf_counter(), _model_seconds(vault)
    slow_reason = usage.why_degraded(vault)
    config = vault.config._replace(topK=SLOW_TOP_K) if slow_reason else vault.config
    asked, searched = _shortened(asked)
    current = usage.current_round(vault, asked, actor)
    current = current._replace(shown=tuple(sorted({*current.shown, *shown})))
    request = Request(
        query=asked.query,
        files=asked.files,
        text=searched,
        owners=_owners(vault, asked.agent, actor),
        scopes=lookup.filters(vault, asked.scopes).scopes if asked.scopes else DEFAULT_SCOPES,
        tasks=asked.tasks and (not asked.scopes or "tasks" in asked.scopes),
        max_matches=SLOW_MAX_MATCHES if slow_reason else MAX_MATCHES,
        shown=frozenset((*current.shown, session)),  # leaves out the summary of the session itself
    )
    off_reason = _off_reason(config)
    recalled, notes = Recalled(), list[str]()
    if not off_reason:
        now = vault.clock()
        model, notes = search.model(vault)
        recall = partial(pipeline.recall, vault.index, request, now, config, rerank=rerank)
        try:
            recalled = recall(meaning=model)
        except NoModel as error:
            recalled, notes = recall(), [search.words_alone(error)]
    degraded = slow_reason or (
        "out of time: related entries were not added" if recalled.is_late else ""
    )
    if degraded:
        notes = [*notes, f"Degraded: {degraded}."]
    elif notes:
        degraded = "some passages were not searched by meaning"
    notes = [*recalled.notes, *notes]
    package = _package(asked, recalled, degraded, current, vault.clock())
    # a given budget overrides the settings
    allocation = allocate(remaining, config) if budget is None else divide(budget)
    count, estimated = token_count.counter_or_estimate(config.tokenizer)
    notes += [estimated] if estimated else []
    if characters:
        count = _limited_by_characters(count, allocation.total, characters)
    fitted = fit(package, allocation, format, count, config)
    # the time of the model does not count, because fewer matches would not reduce it
    ms = (time.perf_counter() - started - (_model_seconds(vault) - model_seconds)) * 1000
    if no_answer := off_reason or _reason_for_no_answer(recalled, package, fitted, current):
        notes = [*notes, no_answer]
    found = Context(
        asked=asked, fitted=fitted, recalled=recalled, round=current, degraded=degraded,
        freshness=freshness, notes=tuple(notes),
    )  # fmt: skip
    if not off_reason:
        with suppress(BrainError, OSError):  # a context is more important than its usage
            usage.learn(vault, found, ms, actor)
    return found


def _limited_by_characters(count: Count, total: int, characters: int) -> Count:
    """Return a token counter that also enforces a limit of characters: a longer text counts as more
    than `total` tokens."""
    return lambda text: max(count(text), ceil(len(text) * total / characters))


def _model_seconds(vault: OpenVault) -> float:
    """Return the seconds that the model of a hybrid search has taken in this process."""
    meaning = vault.__dict__.get("meaning")  # without creating it
    return meaning.spent if meaning else 0.0


def _check(asked: Asked) -> None:
    if not asked.query.strip():
        raise BadRequest("The question is empty.", "Give a question or a task.")
    render.find(asked.format)
    for number in (asked.remaining, asked.budget or 0):
        if number < 0:
            raise BadRequest(f"{number} tokens cannot be used.", "Give 0 or more.")


def _off_reason(config: Config) -> str:
    """Return the reason why contexts are off; '' if they are on."""
    if config.memory and config.autoInject:
        return ""
    return f"Contexts are turned off: {'autoInject' if config.memory else 'memory'} is false."


def _reason_for_no_answer(
    recalled: Recalled, package: Package, fitted: Fitted, current: Round
) -> str:
    """Return the reason why a context has no answer to the question; '' if it has one."""
    if not recalled.has_topic and not recalled.warnings:
        return NO_CONTENT
    if any(parts for _, parts in fitted.package.sections):
        known = recalled.memories or recalled.warnings or recalled.tasks
        return "" if known or recalled.is_answered else NO_MATCH
    if any(parts for _, parts in package.sections):
        return f"No memory fits into {fitted.allocation.total:,} tokens."
    if current.shown and recalled.is_answered:
        return "The vault has nothing new about this."
    return "The vault has nothing about this."


def _shortened(asked: Asked) -> tuple[Asked, str]:
    """Return (arguments, text). If the question is very long, only its first distinct words are
    searched for. The whole question is then added to the text, which may trigger warnings."""
    if len(asked.query) <= QUESTION:
        return asked, asked.text
    words = dict.fromkeys(word[:WORD] for word in asked.query.split())
    shortened = " ".join(words)[:QUESTION]
    return asked._replace(query=shortened), f"{asked.query}\n\0\n{asked.text}"


def _owners(vault: OpenVault, agent: str, by: Actor) -> tuple[str, ...] | None:
    """Return the owners of the entries: the agent and the admin, if the actor may read them."""
    readable = access.readable(by)
    if not agent:
        return readable
    access.refuse_unseen(agent, readable)
    of_agent = access.readable(actors.resolve(vault, agent))
    if of_agent is None or readable is None:
        return of_agent if readable is None else readable
    return tuple(owner for owner in of_agent if owner in readable)


# -- parts -----------------------------------------------------------------------------------------


def _package(
    asked: Asked, found: Recalled, degraded: str, current: Round, now: datetime
) -> Package:
    def part(one: ScoredEntry, trigger: str = "") -> Part:
        trigger = trigger or found.triggers.get(one.id, "")
        return _part(one, asked, found.contradictions.get(one.id, []), trigger, now)

    package = Package(
        query=asked.query,
        warnings=tuple(part(one, trigger) for one, trigger in found.warnings),
        pinned=tuple(map(part, found.pinned)),
        bridge=tuple(map(part, found.tasks)),
        memories=tuple(map(part, found.memories)),
        notes=_notes(found.excerpts, asked),
        summaries=tuple(map(part, found.summaries)),
        conflicts=_conflicts(found),
        degraded=degraded,
        shown=frozenset(current.shown),
    )
    is_new = any(parts for _, parts in package.sections)
    return package._replace(round=_round(current, is_new) if found.has_topic else "")


def _round(current: Round, is_new: bool) -> str:
    """Return the line about the round and the entries shown before; '' without a session."""
    if not current.session:
        return ""
    count = sum(not id.endswith(".md") for id in current.shown)  # the paths of notes do not count
    left_out = f" {count} entries shown before are left out." if count > 1 else ""
    left_out = " 1 entry shown before is left out." if count == 1 else left_out
    nothing_new = "" if is_new else " Nothing new."
    return f"{current.number} about this topic.{nothing_new}{left_out}"


def _part(
    one: ScoredEntry, asked: Asked, opposites: list[str], trigger: str, now: datetime
) -> Part:
    row, is_procedure = one.row, one.row.kind == "procedure"
    text = strip_fields(row.text) if row.scope == "memory" else row.text
    text, steps = triggers.procedure(text) if is_procedure else (text, ())
    known = entries.values(row, one.facts, now) if lookup.is_memory(row) else {}
    path, line = _citation(row)
    return Part(
        id=row.ref,
        kind=row.kind,
        status=row.status,
        text=text,
        path=path,
        line=line,
        title=row.heading if row.scope in ("items", "tasks") else "",
        tags=tuple(row.tags.split()),
        created=row.created,
        by=known.get("by", ""),
        source=known.get("source", ""),
        session=known.get("session") or "",
        confidence=known.get("confidence"),
        conflicts=tuple(opposites),
        prerequisites=triggers.field(row, triggers.PREREQUISITES) if is_procedure else "",
        cautions=triggers.field(row, triggers.CAUTIONS) if is_procedure else "",
        steps=steps,
        trigger=trigger,
        tier=_tier(row, one.facts.session, asked),
    )


def _citation(row: Row) -> tuple[str, int]:
    """Return (path, line) of an entry. For an item, it is the place from which it was extracted."""
    extra = json.loads(row.extra) if row.scope == "items" and row.extra else {}
    if isinstance(path := extra.get("sourceFile"), str) and path:
        line = extra.get("lineNumber")
        return path, line if isinstance(line, int) else 0
    return row.path, row.line


def _tier(row: Row, session: str, asked: Asked) -> str:
    if asked.session and asked.session == session:
        return "task"
    return "global" if row.agent in ("", ADMIN) else "project"


def _notes(excerpts: Iterable[Excerpt], asked: Asked) -> tuple[Part, ...]:
    """Return notes with their passages, and sessions with their turns, best first."""
    words = Words(terms(asked.query))
    notes: dict[str, Part] = {}
    for row, _, _, place in excerpts:
        is_turn = row.scope == "sessions"
        text, line = (row.text, row.line) if is_turn else _passage(row, words)
        passage = Passage(row.ref, line, text, row.heading if is_turn else "", place)
        kind = "session" if is_turn else "note"
        note = notes.get(row.path) or Part(
            row.ref, kind, "", "", row.path, 0, title=row.title, created=row.created
        )
        if text:  # a note without text is only named
            note = note._replace(passages=(*note.passages, passage))
        notes[row.path] = note
    return tuple(notes.values())


def _passage(row: Row, words: Words) -> tuple[str, int]:
    """Return (text, line) of a passage. Properties of the note are included only if they match."""
    body = body_at(row.text)
    best, _ = best_line(row.text, words) if body else (0, "")
    top = row.text.count("\n", 0, body)
    if not body or best < top:
        return row.text, row.line
    text = row.text[body:]
    blank = len(text) - len(text.lstrip("\n"))
    return text[blank:], row.line + top + blank


def _conflicts(found: Recalled) -> tuple[Conflict, ...]:
    """Return each pair of contradicting memories once, with both texts."""
    warned = [one for one, _ in found.warnings]
    scored = (*warned, *found.pinned, *found.memories, *found.summaries)
    shown = [one for one in scored if one.row.scope == "memory"]
    texts = {one.row.ref: strip_fields(one.row.text) for one in shown}
    pairs = {
        tuple(sorted((ref, other)))
        for ref, others in found.contradictions.items()
        for other in others
        if ref in texts and other in texts
    }
    return tuple(Conflict(a, b, texts[a], texts[b]) for a, b in sorted(pairs))

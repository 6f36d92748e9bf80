"""The context of a question: what an agent should know before it answers, within a budget."""

from __future__ import annotations

import time
from contextlib import suppress
from functools import partial

from brain import access, tokens
from brain.access import ADMIN
from brain.context import recall as pipeline
from brain.context.recall import Recalled
from brain.context.scoring import DEFAULT_SCOPES, MAX_MATCHES, Request, ScoredEntry
from brain.errors import BadRequest, BrainError, NoModel
from brain.formats.links import strip_fields
from brain.operations import lookup, provenance, semantic, usage
from brain.operations.results import Asked, Context
from brain.operations.usage import Round
from brain.recall import procedures
from brain.recall.budget import Fitted, allocate, divide, fit
from brain.recall.package import Conflict, Package, Piece, sections
from brain.recall.render import FORMATS, render
from brain.search.question import terms
from brain.search.snippet import Words, best_line, body_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from brain.access import Actor
    from brain.config import Config
    from brain.context.recall import Rerank
    from brain.index.read import Row
    from brain.open_vault import OpenVault

REMAINING = 100_000  # tokens of context that are left, where nobody says
QUESTION, WORD = 10_000, 200  # characters of a question, and of a word in a huge one, that count
EXCERPT = 800  # characters of a note that a prompt shows
SLOW_TOP_K, SLOW_MAX_MATCHES = 5, 100  # while the last recalls took too long
UNASKED = "Nothing is known about that; this comes with every context."


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
    format: str = "claude",
    remaining: int = REMAINING,
    budget: int | None = None,
    rerank: Rerank | None = None,
    check: bool = True,
    by: Actor | str = "",
) -> Context:
    """Return what an agent should know about a question, within a budget of tokens.

    `files` are open, `text` is being worked on, `remaining` are the tokens of context that are
    left; `budget` sets the tokens directly. `agent` is for whom: its own memory and the admin's.
    What is returned counts as a hit. `check=False` skips the update of the index.
    """
    actor = access.resolve(vault, by, session)
    asked = Asked(
        query=question, files=lookup.words(files), text=text, agent=agent, session=session,
        scopes=lookup.words(scopes), tasks=tasks, format=format, remaining=remaining,
        budget=budget,
    )  # fmt: skip
    _check(asked)
    freshness = vault.refresh() if check else vault.unchecked()
    started, modelled = time.perf_counter(), _modelled(vault)
    slow = usage.why_degraded(vault)
    config = vault.config._replace(topK=SLOW_TOP_K) if slow else vault.config
    asked, searched = _bounded(asked)
    request = Request(
        query=asked.query,
        files=asked.files,
        text=searched,
        owners=_owners(vault, asked.agent, actor),
        scopes=lookup.filters(vault, asked.scopes).scopes if asked.scopes else DEFAULT_SCOPES,
        tasks=asked.tasks,
        max_matches=SLOW_MAX_MATCHES if slow else MAX_MATCHES,
    )
    off = _off(config)
    recalled, notes = Recalled(), list[str]()
    if not off:
        now = vault.clock()
        model, notes = semantic.model(vault)
        find = partial(pipeline.recall, vault.index, request, now, config, rerank=rerank)
        try:
            recalled = find(meaning=model)
        except NoModel as error:
            recalled, notes = find(), [semantic.words_alone(error)]
    degraded = slow or ("out of time: ties were not followed" if recalled.is_late else "")
    if degraded:
        notes = [*notes, f"Degraded: {degraded}."]
    elif notes:
        degraded = "not all was searched by meaning"
    notes = [*recalled.notes, *notes]
    package = _package(asked, recalled, degraded, vault.clock())
    # a given budget is what the caller wants, whatever the settings say
    allocation = allocate(remaining, config) if budget is None else divide(budget)
    count, estimated = tokens.counting(config.tokenizer)
    notes += [estimated] if estimated else []
    fitted = fit(package, allocation, partial(render, format=format), count, config)
    # to look at less would not make a model any faster
    ms = (time.perf_counter() - started - (_modelled(vault) - modelled)) * 1000
    if nothing := off or _nothing(recalled, package, fitted):
        notes = [*notes, nothing]
    found = Context(
        asked=asked, fitted=fitted, recalled=recalled, round=Round(), degraded=degraded,
        freshness=freshness, notes=tuple(notes),
    )  # fmt: skip
    if off:
        return found
    with suppress(BrainError, OSError):  # what is learned is never in the way
        return found.replace(round=usage.learn(vault, found, ms, actor))
    return found


def _modelled(vault: OpenVault) -> float:
    """The seconds of this process that went to the model of a hybrid search, so far."""
    meaning = vault.__dict__.get("meaning")  # it is not made only to be asked that
    return meaning.spent if meaning else 0.0


def _check(asked: Asked) -> None:
    if not asked.query.strip():
        raise BadRequest("There is nothing to recall for.", "Give a question, or what you do.")
    if asked.format not in FORMATS:
        raise BadRequest(f"There is no format {asked.format!r}.", f"Formats: {', '.join(FORMATS)}.")
    for number in (asked.remaining, asked.budget or 0):
        if number < 0:
            raise BadRequest(f"{number} tokens cannot be used.", "Give 0 or more.")


def _off(config: Config) -> str:
    """Return why contexts are turned off; '' if they are not."""
    if config.memory and config.autoInject:
        return ""
    return f"Contexts are turned off: {'autoInject' if config.memory else 'memory'} is false."


def _nothing(recalled: Recalled, package: Package, fitted: Fitted) -> str:
    """Return why nothing in it was found for the question; '' if something was."""
    if any(pieces for _, pieces in sections(fitted.package)):
        known = recalled.memories or recalled.warnings or recalled.tasks
        return "" if known or recalled.is_answered else UNASKED
    if any(pieces for _, pieces in sections(package)):
        return f"Nothing of what is known fits into {fitted.allocation.total:,} tokens."
    return "Nothing is known about that."


def _bounded(asked: Asked) -> tuple[Asked, str]:
    """(asked, text): of a huge question the first words, each once. All of it is part of the text,
    where warnings are looked for."""
    if len(asked.query) <= QUESTION:
        return asked, asked.text
    words = dict.fromkeys(word[:WORD] for word in asked.query.split())
    kept = " ".join(words)[:QUESTION]
    return asked._replace(query=kept), f"{asked.query}\n\0\n{asked.text}"


def _owners(vault: OpenVault, agent: str, by: Actor) -> tuple[str, ...] | None:
    """Return the owners of the entries: the agent and the admin, as far as `by` may read them."""
    seen = access.readable(by)
    if not agent:
        return seen
    access.refuse_unseen(agent, seen)
    own = access.readable(access.resolve(vault, agent))
    if own is None or seen is None:
        return own if seen is None else seen
    return tuple(owner for owner in own if owner in seen)


# -- pieces ----------------------------------------------------------------------------------------


def _package(asked: Asked, found: Recalled, degraded: str, now: datetime) -> Package:
    def piece(one: ScoredEntry, trigger: str = "") -> Piece:
        return _piece(one, asked, found.contradictions.get(one.row.ref, []), trigger, now)

    return Package(
        asked.query,
        tuple(piece(one, trigger) for one, trigger in found.warnings),
        tuple(map(piece, found.pinned)),
        tuple(map(piece, found.tasks)),
        tuple(map(piece, found.memories)),
        tuple(map(piece, found.summaries)),
        _conflicts(found),
        degraded,
    )


def _piece(
    one: ScoredEntry, asked: Asked, opposites: list[str], trigger: str, now: datetime
) -> Piece:
    row = one.row
    text, line = _shown(row, asked)
    text, steps = procedures.procedure(text) if row.kind == "procedure" else (text, ())
    known = provenance.values(row, one.facts, now) if lookup.is_memory(row) else {}
    speaker, session = _turn(row)
    return Piece(
        row.ref, row.kind, row.status, text, row.path, line, tuple(row.tags.split()),
        row.created, row.agent, known.get("by") or speaker, known.get("source", ""),
        known.get("session") or session, known.get("confidence"), one.score,
        tuple(opposites), steps, trigger, _tier(one, asked),
    )  # fmt: skip


def _turn(row: Row) -> tuple[str, str]:
    """(who said it, in which session); both '' for what is no turn."""
    if row.scope != "sessions" or not row.path.endswith(".jsonl"):
        return "", ""
    return row.heading, row.path.rpartition("/")[2].removesuffix(".jsonl")


def _tier(one: ScoredEntry, asked: Asked) -> str:
    if asked.session and asked.session in (one.facts.session, _turn(one.row)[1]):
        return "task"
    return "global" if one.row.agent in ("", ADMIN) else "project"


def _shown(row: Row, asked: Asked) -> tuple[str, int]:
    """(text, line): an entry as it stands, of a note what stands around the line that answers;
    its properties only if that is one of them."""
    if row.scope == "memory":
        return strip_fields(row.text), row.line
    if row.scope != "sources":
        return row.text, row.line
    lines = row.text.split("\n")
    best, _ = best_line(row.text, Words(terms(asked.query)))
    top = row.text.count("\n", 0, body_at(row.text))
    top = top if top <= best else 0
    first = last = best
    size = len(lines[best])
    while size < EXCERPT and (first > top or last < len(lines) - 1):
        if last < len(lines) - 1:
            last += 1
            size += len(lines[last]) + 1
        if size < EXCERPT and first > top:
            first -= 1
            size += len(lines[first]) + 1
    while first < best and not lines[first].strip():
        first += 1
    return "\n".join(lines[first : last + 1]).rstrip("\n"), row.line + first


def _conflicts(found: Recalled) -> tuple[Conflict, ...]:
    """Each pair once, with what both say."""
    asked = [*(one for one, _ in found.warnings), *found.pinned, *found.memories]
    shown = [one for one in (*asked, *found.summaries) if one.row.scope == "memory"]
    texts = {one.row.ref: strip_fields(one.row.text) for one in shown}
    pairs = {
        tuple(sorted((ref, other)))
        for ref, others in found.contradictions.items()
        for other in others
        if ref in texts and other in texts
    }
    return tuple(Conflict(a, b, texts[a], texts[b]) for a, b in sorted(pairs))

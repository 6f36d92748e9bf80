"""Usage of memories: hits, how long a recall took, what it showed, which questions had no answer
(gaps), and which memories were useful together.

Usage is kept in state.db. A context never fails because usage cannot be written.
"""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from math import ceil

from brain import access, actors, redact
from brain._tuples import NamedTuple
from brain.access import PERSON
from brain.errors import BrainError, NotFound
from brain.formats.text import ALPHABET, digest, one_line
from brain.index import read, records
from brain.operations.results import Gap, Gaps, TagSuggestion
from brain.search.question import terms
from brain.state import Recall, Use, sum_uses
from brain.words import fold, stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Any

    from brain.access import Actor
    from brain.open_vault import OpenVault
    from brain.operations.results import Asked, Context

    State = dict[str, Any]

KEPT = 20  # recalls whose memories may still be found useful together
FEW = 5  # recalls are too few to measure their time
WINDOW = 100  # the number of last recalls whose times decide if recalls are too slow
SLOW_MS, HEALTHY_MS = 300, 200  # too slow above the first, until below the second again
SAME_TOPIC = 0.3  # share of words that a question has in common with the one before
MIN_TAG = 3  # characters of a suggested tag
ROUNDS = 3  # questions that an agent may ask about one message
_WORD = re.compile(r"[^\W_]+")
_DEGRADED = "degraded"  # the flag that is set while recalls are too slow


class Round(NamedTuple):
    """The number of a question about the topic of a session, and all that was shown before it."""

    number: int = 1
    most: int = ROUNDS
    shown: tuple[str, ...] = ()
    session: str = ""


def _recalls(vault: OpenVault) -> list[tuple[int | None, State]]:
    """Return the last recalls of this vault on this machine with their ids, oldest first."""
    with suppress(BrainError):
        return [(recall.id, recall.value) for recall in vault.state.last_recalls(KEPT)]
    return []


def _times(vault: OpenVault) -> list[float]:
    """Return how many milliseconds the last recalls took."""
    with suppress(BrainError):
        return vault.state.recall_times()
    return []


def _is_degraded(vault: OpenVault) -> bool:
    with suppress(BrainError):
        return bool(vault.state.flag(_DEGRADED))
    return False


def why_degraded(vault: OpenVault) -> str:
    """Return why contexts use fewer matches than usual; '' while they are fast enough."""
    if not _is_degraded(vault):
        return ""
    return f"95 % of recalls took up to {p95(_times(vault)):.0f} ms"


def p95(times: list[float]) -> float:
    """Return the time that 95 % of the recalls did not exceed."""
    return sorted(times)[ceil(len(times) * 0.95) - 1] if times else 0.0


def learn(vault: OpenVault, context: Context, ms: float, by: Actor) -> None:
    """Count the entries that a context showed to an actor."""
    asked, now = context.asked, vault.now()
    question = _redacted(vault, asked.query)
    _publish(vault, context)
    recall = {
        "at": now, "query": question, "agent": asked.agent, "session": by.session,
        "by": by.name, "refs": context.refs, "answers": context.answers, "shown": context.shown,
        "round": context.round.number, "before": context.round.shown,
        "tokens": context.fitted.tokens,
        "topic": context.recalled.has_topic,
        "snippet": one_line(_redacted(vault, asked.text)),
    }  # fmt: skip
    if vault.read_only:
        return
    vault.state.add_recall(round(ms, 1), recall, WINDOW)
    times, was_degraded = _times(vault), _is_degraded(vault)
    limit = HEALTHY_MS if was_degraded else SLOW_MS
    degraded = len(times) >= FEW and p95(times) > limit
    if degraded != was_degraded:
        vault.state.set_flag(_DEGRADED, "1" if degraded else "")
    if not vault.paused and (uses := _uses(context, recall)):
        vault.state.add_uses(uses)


def _redacted(vault: OpenVault, question: str) -> str:
    query = question.encode("utf-8", "replace").decode()  # it may contain a lone surrogate
    return redact.redact(query, emails=vault.config.redactEmails)[0]


def _asker(agent: str, by: str) -> str:
    """Return the agent of a question, else the actor; '' for a person."""
    return agent or ("" if by == PERSON.name else by)


def _uses(context: Context, recall: State) -> list[Use]:
    """Return the uses of a recall: hits, rejections, and a question without an answer. Passages are
    not counted, because their ids change with each edit."""
    found, now = context.recalled, recall["at"]
    uses = [Use("hit", ref, last=now) for ref in context.refs]
    uses += [Use("reject", ref, last=now) for ref in found.rejected]
    if found.has_topic and not (found.is_answered or found.warnings):
        uses.append(_gap(recall, now, found.rejected))
    return uses


def _gap(recall: State, now: str, refs: Iterable[str]) -> Use:
    question, asker = recall["query"], _asker(recall["agent"], recall["by"])
    return Use(
        "gap", gap_id(question), asker, 1, now, question, tuple(sorted(refs)),
        recall["session"], recall.get("snippet", ""),
    )  # fmt: skip


def gap_id(question: str) -> str:
    """Return the id of a question. Case and spaces do not change the id."""
    words = " ".join(question.casefold().split()).rstrip("?!. ")
    mark = digest(words.encode("utf-8", "replace"))
    return "g-" + "".join(ALPHABET[byte & 31] for byte in mark[:8])


def _publish(vault: OpenVault, context: Context) -> None:
    """Emit one `memory:read` for each file in the context."""
    found, package = context.recalled, context.fitted.package
    warned = [warning.entry for warning in found.warnings]
    entries = (*warned, *found.pinned, *found.memories, *found.summaries)
    files = {entry.id: (entry.row.scope, entry.row.path) for entry in entries}
    sizes: Counter[tuple[str, str]] = Counter()
    for part in (*package.warnings, *package.pinned, *package.memories, *package.summaries):
        sizes[files.get(part.id, ("memory", part.path))] += len(part.text)
    for part in package.notes:
        scope = "sessions" if part.kind == "session" else "sources"
        sizes[scope, part.path] += sum(len(passage.text) for passage in part.passages)
    for (scope, path), size in sizes.items():
        vault.publish("memory:read", {"type": scope, "path": path, "size": size})


def current_round(vault: OpenVault, asked: Asked, by: Actor) -> Round:
    """Return the number of the question since the topic of its session last changed, and the
    entries that were shown since. `again` starts at 1. A prompt without content words does not
    change the topic."""
    if not by.session:
        return Round()
    asker = (by.name, asked.agent, by.session)
    for _, last in reversed([] if asked.again else _recalls(vault)):
        if (last["by"], last["agent"], last["session"]) != asker or not last.get("topic"):
            continue
        if _similarity(_redacted(vault, asked.query), last["query"]) >= SAME_TOPIC:
            shown = tuple(sorted({*last["before"], *last["shown"]}))
            return Round(last["round"] + 1, ROUNDS, shown, by.session)
        break
    return Round(session=by.session)


def _similarity(one: str, other: str) -> float:
    """Return the share of the words of the shorter question that the other contains."""
    a, b = _stems(one), _stems(other)
    return len(a & b) / min(len(a), len(b)) if a and b else 0.0


def _stems(question: str) -> set[str]:
    return {stem(fold(word)) for term in terms(question) for word in term.words}


def learn_feedback(vault: OpenVault, ref: str, good: bool) -> None:
    """Learn from a memory that was reinforced or demoted. Memories that were useful in the same
    prompt get a learned link. A question had no answer if every memory found for it was demoted."""
    with suppress(BrainError, OSError):
        recall = _mark(vault, ref, "useful" if good else "useless")
        if recall is None:
            return
        now = vault.now()
        if good:
            # ids of passages change with each edit, so learned links do not contain them
            useful = [one for one in recall["useful"][:-1] if ref in recall["refs"]]
            pairs = [sorted((ref, one)) for one in useful if one in recall["refs"]]
            uses = [Use("used_together", one, other, 1, now) for one, other in pairs]
        elif set(recall["useless"]) >= set(recall.get("answers", ())) > set():
            uses = [_gap(recall, now, recall["shown"])]
        else:
            return
        vault.state.add_uses(uses)


def _mark(vault: OpenVault, ref: str, mark: str) -> State | None:
    """Mark a memory in the last recall that showed it, and return this recall. Return None if no
    recall showed the memory, or if it has the mark already."""
    for id, recall in reversed(_recalls(vault)):
        if ref in (recall.get("shown") or recall["refs"]):
            if ref in recall.setdefault(mark, []):
                return None
            recall[mark].append(ref)
            vault.state.change_recall(id, recall)
            return recall
    return None


def forget(vault: OpenVault, refs: Collection[str], texts: Iterable[str]) -> None:
    """Forget the questions that showed these memories, and the questions whose words are all in the
    texts of these memories. Other questions stay."""
    words = {word for text in texts for word in _stems(text)}
    for id, _, recall in vault.state.rows(Recall):
        if {*refs} & {*recall["refs"]} or _stems(recall["query"]) <= words:
            vault.state.delete(Recall, id=id)


def recalls_of(vault: OpenVault, by: Actor) -> list[State]:
    """Return the last recalls on this machine. An agent gets only its own recalls."""
    last = [value for _, value in _recalls(vault)]
    if access.readable(by) is None:
        return last
    return [one for one in last if one["by"] == by.name]


def last_injected(vault: OpenVault, by: Actor) -> State | None:
    """Return the last context on this machine; None if there was none."""
    last = recalls_of(vault, by)
    if not last:
        return None
    one = last[-1]
    gone = [ref for ref in one["refs"] if not read.exact(vault.index, ref)]
    shown = {key: one[key] for key in ("at", "query", "agent", "session", "tokens")}
    return shown | {"refs": one["refs"], "gone": gone}


def health(vault: OpenVault) -> State:
    """Return how long the last recalls took, and whether that is too long."""
    times = _times(vault)
    return {
        "recalls": len(times),
        "p95_ms": p95(times),
        "healthy": len(times) < FEW or p95(times) < HEALTHY_MS,
        "degraded": _is_degraded(vault),
    }


# -- questions that had no answer ------------------------------------------------------------------


def gaps(vault: OpenVault, *, all: bool = False, agent: str = "", by: Actor | str = "") -> Gaps:
    """Return questions that had no answer, the most frequent first. With `all`, also return
    questions that have an answer now. An agent gets only its own questions. Also suggest tags."""
    actor = actors.resolve(vault, by)
    vault.refresh()
    sees_all = access.readable(actor) is None
    found = [
        Gap(
            id=use.ref,
            query=use.text,
            agent=use.other or None,
            count=use.times,
            last=use.last,
            session=use.session or None,
            snippet=use.snippet or one_line(use.text),
            open=not _is_answered(vault, use),
        )
        for use in sum_uses(_all_gaps(vault))
        if (sees_all or use.other == actor.name) and (not agent or use.other == agent)
    ]
    found.sort(key=lambda gap: (-gap.count, gap.last, gap.id, gap.agent or ""))
    return Gaps(gaps=[gap for gap in found if all or gap.open], tags=_suggest_tags(vault, actor))


def _all_gaps(vault: OpenVault) -> list[Use]:
    """Return the gaps in the journal, and the gaps that are not in the journal yet. `other` is the
    asker."""
    found = [
        Use(
            op="gap",
            ref=record.ref,
            other=str(record.data.get("agent", "")),
            times=records.count_of(record),
            last=str(record.data.get("last") or record.at),
            text=str(record.data.get("query", "")),
            refs=tuple(refs) if isinstance(refs := record.data.get("refs"), list) else (),
            session=str(record.data.get("session", "")),
            snippet=str(record.data.get("snippet", "")),
        )
        for record in records.select(vault.index, ops=("gap",))
    ]
    return found + [use for use in vault.journal.pending_uses() if use.op == "gap"]


def _is_answered(vault: OpenVault, gap: Use) -> bool:
    """Return True if the asker would now find an entry that was not rejected before."""
    from brain.context.recall import answer_ids

    owners = None
    if gap.other:
        with suppress(NotFound):  # the agent does not exist any more, so search for all owners
            owners = access.readable(actors.resolve(vault, gap.other))
    found = answer_ids(vault.index, gap.text, owners, vault.clock(), vault.config)
    return not found <= set(gap.refs)


def _suggest_tags(vault: OpenVault, by: Actor) -> list[TagSuggestion]:
    """Suggest a tag for memories that were useful for the same question and share no tag: the
    longest word of the question that all of them contain."""
    from brain.graph.edges import topics

    found: dict[tuple[str, ...], TagSuggestion] = {}
    owners = access.readable(by)
    for recall in recalls_of(vault, by):
        refs = tuple(sorted(recall.get("useful", [])))
        rows = read.by_ids(vault.index, refs, owners) if len(refs) > 1 else {}
        tags = [set(topics(row.tags)) for row in rows.values()]
        if len(rows) < 2 or set.intersection(*tags):
            continue
        words = [fold(word) for term in terms(str(recall["query"])) for word in term.words]
        texts = [{stem(word) for word in _WORD.findall(fold(row.text))} for row in rows.values()]
        common = [w for w in words if len(w) >= MIN_TAG and all(stem(w) in t for t in texts)]
        if tag := max(common, key=len, default=""):
            found[refs] = TagSuggestion(tag=tag, ids=sorted(rows), query=recall["query"])
    return list(found.values())

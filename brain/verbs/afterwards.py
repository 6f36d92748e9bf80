"""What is learned from a recall, once its answer is there: hits, how long it took, what was shown,
which questions had no answer, and what was useful together.

It lies in the machine's state folder (`recall.json`, and the spool that is flushed to the journal)
and is never in the way: what cannot be written is not learned. What was learned of another vault,
which lay here before, is not told here.
"""

from __future__ import annotations

import os
from contextlib import suppress

from brain import access, lock, redact
from brain.access import PERSON
from brain.errors import BrainError, Busy
from brain.index import query
from brain.journal import Spool
from brain.recall.stems import stem
from brain.recall.terms import fold, terms
from brain.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Any

    from brain.access import Actor
    from brain.open_vault import OpenVault
    from brain.verbs.recalling import Context

    State = dict[str, Any]

KEPT = 20  # recalls whose memories may still be found useful together
FEW = 5  # recalls that say nothing about how long they take
ROUNDS = 3  # questions that an agent may ask about one message
_REFS = ("refs", "answers", "useful", "useless")  # of a recall: memories, by id
_WORDS = ("at", "query", "agent", "session", "by")
_FILE, _LOCK = "recall.json", "recall.lock"


class Round(NamedTuple):
    """Which question about the topic of a session this is, and what was shown before."""

    number: int = 1
    most: int = ROUNDS
    shown: tuple[str, ...] = ()


def state(vault: OpenVault) -> State:
    """What is remembered of the last recalls on this machine."""
    import json

    try:
        with open(f"{vault.paths.state_path}/{_FILE}", encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        found = {}
    found = found if isinstance(found, dict) else {}
    if not _is_here(vault, found.get("home")):
        found["last"] = []
    times = [one for one in _listed(found.get("times")) if isinstance(one, int | float)]
    last = [one for one in _listed(found.get("last")) if _is_recall(one)]
    return {"degraded": bool(found.get("degraded")), "times": times, "last": last}


def _is_here(vault: OpenVault, home: Any) -> bool:
    """Was this learned of the vault that lies here? If it has no name, that must have none yet."""
    if home and isinstance(home, str):
        return vault.journal.lies_here(home)
    return not vault.journal.home()


def _home(vault: OpenVault) -> str:
    """The name of this vault, under which things are learned. It gets one if it has none, unless
    nothing is to be written."""
    if not (home := vault.journal.home()) and not vault.paused:
        with suppress(BrainError), vault.store.locked(0.1):
            return vault.journal.home(make=True)
    return home


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_recall(one: Any) -> bool:
    """Is this what `learn` writes? Whatever else is in the file is left out."""
    if not isinstance(one, dict) or not one.keys() >= {*_WORDS, "refs", "tokens"}:
        return False
    lists = [one.get(key, []) for key in _REFS]
    if not all(isinstance(refs, list) for refs in lists):
        return False
    said = [*(one[key] for key in _WORDS), *(ref for refs in lists for ref in refs)]
    return all(isinstance(word, str) for word in said)


def slow(vault: OpenVault) -> str:
    """Why less is looked at than usual; '' while recall is as fast as it should be."""
    known = state(vault)
    if not known["degraded"]:
        return ""
    return f"95 % of recalls took up to {p95(known['times']):.0f} ms"


def p95(times: list[float]) -> float:
    """What 95 % of them do not exceed."""
    return sorted(times)[int(len(times) * 0.95)] if times else 0.0


def _degraded(times: list[float], was: bool, vault: OpenVault) -> bool:
    """Slow is slow until it is healthy again; a few recalls say nothing."""
    if len(times) < FEW:
        return False
    limit = vault.config.sloHealthyMs if was else vault.config.sloDegradeMs
    return p95(times) > limit


def learn(vault: OpenVault, said: Context, ms: float, by: Actor) -> Round:
    """Count what was handed out to an actor, and tell which round this is."""
    asked, now = said.asked, vault.now()
    query = asked.query.encode("utf-8", "replace").decode()  # it may hold half a character
    question, _ = redact.redact(query, emails=vault.config.redactEmails)
    _tell(vault, said)
    handle = lock.take(f"{vault.paths.state_path}/{_LOCK}", 0.1)
    if handle is None:
        return Round()
    try:
        known = state(vault)
        last = known["last"]
        before = [one for one in last if (one["by"], one["agent"]) == (by.name, asked.agent)]
        which = _round(before, by.session, question, vault)
        times = [*known["times"], round(ms, 1)][-vault.config.sloWindow :]
        this = {
            "at": now, "query": question, "agent": asked.agent, "session": by.session,
            "by": by.name, "refs": said.refs, "answers": said.answers, "round": which.number,
            "tokens": said.fitted.tokens,
        }  # fmt: skip
        degraded = _degraded(times, known["degraded"], vault)
        _write(vault, {"times": times, "degraded": degraded, "last": [*last, this][-KEPT:]})
    finally:
        os.close(handle)
    if not vault.paused:
        _spool(vault, said, question, _asker(asked.agent, by.name), now)
    return which


def _asker(agent: str, by: str) -> str:
    """Whose question it is: the agent's for whom it was asked, or who asks; '' for a person's."""
    return agent or ("" if by == PERSON.name else by)


def _spool(vault: OpenVault, said: Context, question: str, asker: str, now: str) -> None:
    spool = Spool(vault.paths.state_path, _home(vault))
    if said.refs:
        spool.add_hits(said.refs, now)
    if said.recalled.rejected:
        spool.add_rejected(said.recalled.rejected, now)
    found = said.recalled
    if found.has_topic and not (found.is_answered or found.warnings):
        spool.add_gap(question, asker, now, found.rejected)


def _tell(vault: OpenVault, said: Context) -> None:
    """One `memory:read` for each file that something was taken from."""
    package = said.fitted.package
    read: dict[tuple[str, str], int] = {}
    known = {one.row.ref: one.row.scope for one in _every(said)}
    for piece in (*package.warnings, *package.pinned, *package.memories, *package.summaries):
        key = known.get(piece.id, "memory"), piece.path
        read[key] = read.get(key, 0) + len(piece.text)
    for (scope, path), size in read.items():
        vault.events.publish(
            vault.now(), "memory:read", {"type": scope, "path": path, "size": size}
        )


def _every(said: Context) -> list[Any]:
    found = said.recalled
    return [*(one for one, _ in found.warnings), *found.pinned, *found.memories, *found.summaries]


def _round(before: list[State], session: str, question: str, vault: OpenVault) -> Round:
    """The questions of this session since its topic last changed."""
    if not session:
        return Round()
    shown: dict[str, None] = {}
    number = 1
    for one in reversed([one for one in before if one["session"] == session]):
        if alike(question, one["query"]) < vault.config.topicChange:
            break
        number += 1
        shown |= dict.fromkeys(one["refs"])
    return Round(number, ROUNDS, tuple(sorted(shown)))


def alike(one: str, other: str) -> float:
    """How many of the words of the shorter question are in the other."""
    a, b = _stems(one), _stems(other)
    return len(a & b) / min(len(a), len(b)) if a and b else 0.0


def _stems(question: str) -> set[str]:
    return {stem(fold(word)) for term in terms(question) for word in term.words}


def _write(vault: OpenVault, value: State) -> None:
    import json

    os.makedirs(vault.paths.state_path, 0o700, exist_ok=True)
    path = f"{vault.paths.state_path}/{_FILE}"
    text = json.dumps({**value, "home": _home(vault)}, ensure_ascii=False)
    with suppress(FileNotFoundError):
        os.unlink(f"{path}.new")
    with open(f"{path}.new", "x", encoding="utf-8", opener=_private) as file:
        file.write(text)
    os.replace(f"{path}.new", path)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def judged(vault: OpenVault, ref: str, good: bool) -> None:
    """A memory was reinforced or demoted. What was useful in one prompt is tied together; a
    question had no answer if every memory was demoted that was found for it."""
    with suppress(BrainError, OSError):
        recent = _mark(vault, ref, "useful" if good else "useless")
        spool = Spool(vault.paths.state_path, _home(vault))
        if recent and good:
            for other in recent["useful"][:-1]:
                spool.add_together([ref, other], vault.now())
        elif recent and set(recent["useless"]) >= set(recent.get("answers", ())) > set():
            asker = _asker(recent["agent"], recent["by"])
            spool.add_gap(recent["query"], asker, vault.now(), recent["refs"])


def _mark(vault: OpenVault, ref: str, how: str) -> State | None:
    """The last recall that handed out this memory, with the new mark; None if it has it already."""
    handle = lock.take(f"{vault.paths.state_path}/{_LOCK}", 0.1)
    if handle is None:
        return None
    try:
        known = state(vault)
        recent = next((o for o in reversed(known["last"]) if ref in o["refs"]), None)
        if recent is None or ref in recent.setdefault(how, []):
            return None
        recent[how].append(ref)
        _write(vault, known)
        return dict(recent)
    finally:
        os.close(handle)


def unlearn(vault: OpenVault, refs: Collection[str], texts: Iterable[str]) -> None:
    """Forget the questions that these memories were handed out for, and those that have no word
    but what the memories said; what else was asked stays."""
    words = {word for text in texts for word in _stems(text)}
    handle = lock.take(f"{vault.paths.state_path}/{_LOCK}", 2.0)
    if handle is None:
        raise Busy("Another Brain process is recalling.", "Try again in a moment.")
    try:
        known = state(vault)
        last = [
            one
            for one in known["last"]
            if not {*refs} & {*one["refs"]} and not _stems(one["query"]) <= words
        ]
        if last != known["last"]:
            _write(vault, known | {"last": last})
    finally:
        os.close(handle)


def seen(vault: OpenVault, by: Actor) -> list[State]:
    """The last recalls on this machine that an actor may know of: an agent, of its own."""
    last: list[State] = state(vault)["last"]
    if access.readable(by) is None:
        return last
    return [one for one in last if one["by"] == by.name]


def last_injected(vault: OpenVault, by: Actor) -> State | None:
    """What was handed out last on this machine."""
    last = seen(vault, by)
    if not last:
        return None
    one = last[-1]
    there = [row.ref for ref in one["refs"] for row in query.by_ref(vault.index, ref)[:1]]
    return {key: one[key] for key in ("at", "query", "agent", "session", "tokens")} | {
        "refs": one["refs"], "gone": [ref for ref in one["refs"] if ref not in there],
    }  # fmt: skip


def health(vault: OpenVault) -> State:
    """How long the last recalls took."""
    known = state(vault)
    times = known["times"]
    return {
        "recalls": len(times),
        "p95_ms": p95(times),
        "healthy": len(times) < FEW or p95(times) < vault.config.sloHealthyMs,
        "degraded": known["degraded"],
    }

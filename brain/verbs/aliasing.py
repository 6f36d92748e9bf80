"""Settings that a command changes: words that mean the same, and how much memory may take."""

from __future__ import annotations

from brain.changes import Configure, Deed
from brain.errors import BadRequest, NotFound
from brain.recall import aliases, budget
from brain.verbs import answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from brain.access import Actor
    from brain.open_vault import OpenVault
    from brain.verbs.answer import Shape

REMAINING = (100_000, 50_000, 20_000, 8_000, 1_000)


def listed(vault: OpenVault) -> dict[str, Any]:
    """The vault's own aliases as they are set, and all that a search goes by."""
    known = aliases.expand(vault.config)
    return {
        "own": list(vault.config.aliases),
        "aliases": {word: list(known[word]) for word in sorted(known)},
    }


def add(vault: OpenVault, word: str, synonyms: Iterable[str], by: Actor) -> Shape:
    """More words that mean the same as `word`; those that are known to already change nothing."""
    synonyms = list(synonyms)
    if rules := answer.redacted(vault, "\n".join([word, *synonyms]))[1]:
        raise BadRequest(
            f"An alias holds no secrets: {', '.join(rules)}.", "Name a word that may be read."
        )
    word, more = _words(word, synonyms)
    if not more:
        raise BadRequest(f"What means the same as {word!r}?", "Name at least one other word.")
    known = aliases.expand(vault.config).get(word, ())
    new = tuple(other for other in more if other not in known)
    return _aliased(vault, word, _more(list(vault.config.aliases), word, new), by)


def _more(entries: list[str], word: str, new: tuple[str, ...]) -> list[str]:
    """The entry of a word with more words, or one that is new."""
    for at, (head, others) in enumerate(map(aliases.split, entries)):
        if head == word and others and new:
            return [*entries[:at], _written(word, (*others, *new)), *entries[at + 1 :]]
    return [*entries, _written(word, new)] if new else entries


def remove(vault: OpenVault, word: str, synonyms: Iterable[str], by: Actor) -> Shape:
    """`word` no longer stands for these, or for none at all; what is built in is switched off."""
    word, less = _words(word, synonyms)
    known = aliases.expand(vault.config).get(word, ())
    if not known or not set(less) <= set(known):
        raise NotFound(f"{'='.join([word, *less])} is no alias.", "See `brain alias list`.")
    gone = less or known
    entries = [new for old in vault.config.aliases if (new := _less(old, word, gone)) is not None]
    if set(_stands_for(vault, entries, word)) & set(gone):
        entries.append(_written(word, ()))
        rest = _stands_for(vault, entries, word)
        kept = tuple(other for other in known if other not in (*gone, *rest))
        entries = _more(entries, word, kept)
    if still := set(_stands_for(vault, entries, word)) & set(gone):
        raise BadRequest(
            f"{word!r} and {sorted(still)[0]!r} stand together in the alias of another word.",
            "See `brain alias list`, and remove it there.",
        )
    return _aliased(vault, word, entries, by)


def _less(entry: str, word: str, gone: tuple[str, ...]) -> str | None:
    """An entry without these; None if nothing is left of it."""
    head, others = aliases.split(entry)
    if head == word:
        kept = tuple(other for other in others if other not in gone)
    elif head in gone:
        kept = tuple(other for other in others if other != word)
    else:
        return entry
    if kept == others:
        return entry
    return _written(head, kept) if kept else None


def _stands_for(vault: OpenVault, entries: list[str], word: str) -> tuple[str, ...]:
    return aliases.expand(vault.config._replace(aliases=tuple(entries))).get(word, ())


def _words(word: str, synonyms: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    """Folded words, each once. BadRequest for what the setting could not hold."""
    given = [word, *synonyms]
    for one in given:
        if not one.strip() or set(one) & set("=,\n"):
            raise BadRequest(f"{one!r} is no word.", "Give words without `=` and commas.")
    head, *others = (aliases.split(one)[0] for one in given)
    return head, tuple(dict.fromkeys(other for other in others if other != head))


def _written(word: str, others: tuple[str, ...]) -> str:
    return f"{word}={', '.join(others)}"


def _aliased(vault: OpenVault, word: str, entries: list[str], by: Actor) -> Shape:
    shape = configure(vault, "aliases", tuple(entries), by)
    return shape | {"word": word, "stands_for": list(_stands_for(vault, shape["value"], word))}


def allocations(vault: OpenVault) -> list[dict[str, int]]:
    """What memory may take of some contexts, part by part."""
    return [
        {"remaining": remaining, **budget.allocate(remaining, vault.config)._asdict()}
        for remaining in REMAINING
    ]


def limit(vault: OpenVault, tokens: int, by: Actor) -> Shape:
    """No context takes more tokens than this."""
    if tokens < 1:
        raise BadRequest("A budget is at least 1 token.", "To hand out nothing, set `autoInject`.")
    return configure(vault, "budgetCeiling", tokens, by)


def configure(vault: OpenVault, name: str, value: Any, by: Actor) -> Shape:
    """A setting of vault.yaml gets a value; an empty list goes. Comments and all else stay."""
    now = getattr(vault.config, name)
    shape: Shape = {"setting": name, "value": list(value) if isinstance(value, tuple) else value}
    if value == now:
        return shape | {"outcome": "unchanged", "state": "unchanged", "event": None}
    path = f"{vault.paths.brain}/brain.yaml"
    change = Configure(path, name, None if value == () else value, now)
    result = answer.applied(vault, [Deed("configure", name, change)], by)[0]
    if result.state == "written":
        vault.reload()
    return shape | {"outcome": "set", "state": result.state, "event": result.deed.id}

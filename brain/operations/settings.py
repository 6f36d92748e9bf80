"""Show settings, and change those that have a command: aliases and the token budget."""

from __future__ import annotations

from brain import actors
from brain.config import SETTINGS, nearest
from brain.context.budget import allocate
from brain.errors import BadRequest, NotFound
from brain.model import Configure, Write
from brain.operations import apply, lookup
from brain.operations.results import AliasChange, Aliases, Budget, SettingChange
from brain.search.question import own_aliases, split_alias

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from brain.access import Actor
    from brain.open_vault import OpenVault

REMAINING = (100_000, 50_000, 20_000, 8_000, 1_000)


def config(vault: OpenVault, name: str = "", *, by: Actor | str = "") -> dict[str, Any]:
    """Return all settings of this vault by name, or only the setting `name`."""
    actors.resolve(vault, by)
    if name and name not in SETTINGS:
        raise NotFound(f"There is no setting {name!r}.", nearest(name))
    chosen = (name,) if name else SETTINGS
    return {key: getattr(vault.config, key) for key in chosen}


def alias_list(vault: OpenVault, *, by: Actor | str = "") -> Aliases:
    """Return the aliases of this vault, and all aliases that a search uses."""
    actors.resolve(vault, by)
    known = own_aliases(vault.config.aliases)
    every = {word: list(known[word]) for word in sorted(known)}
    return Aliases(own=list(vault.config.aliases), aliases=every)


def alias_add(
    vault: OpenVault,
    word: str,
    synonyms: Iterable[str] = (),
    *,
    session: str = "",
    by: Actor | str = "",
) -> AliasChange:
    """Add words that mean the same as `word`."""
    actor = actors.resolve(vault, by, session)
    synonyms = lookup.words(synonyms)
    if rules := apply.redacted(vault, "\n".join([word, *synonyms]))[1]:
        raise BadRequest(
            f"An alias must not contain secrets or personal data: {', '.join(rules)}.",
            "Use another word.",
        )
    word, more = _words(word, synonyms)
    if not more:
        raise BadRequest(f"What means the same as {word!r}?", "Name at least one other word.")
    known = own_aliases(vault.config.aliases).get(word, ())
    new = tuple(other for other in more if other not in known)
    return _set_aliases(vault, word, _with_words(list(vault.config.aliases), word, new), actor)


def _with_words(entries: list[str], word: str, new: tuple[str, ...]) -> list[str]:
    """Return the lines of the setting with the new synonyms of `word`."""
    for index, (head, others) in enumerate(map(split_alias, entries)):
        if head == word and others and new:
            return [*entries[:index], _written(word, (*others, *new)), *entries[index + 1 :]]
    return [*entries, _written(word, new)] if new else entries


def alias_remove(
    vault: OpenVault,
    word: str,
    synonyms: Iterable[str] = (),
    *,
    session: str = "",
    by: Actor | str = "",
) -> AliasChange:
    """Remove these synonyms of `word`, or all of them."""
    actor = actors.resolve(vault, by, session)
    word, less = _words(word, lookup.words(synonyms))
    known = own_aliases(vault.config.aliases).get(word, ())
    if not known or not set(less) <= set(known):
        raise NotFound(f"{'='.join([word, *less])} is not an alias.", "See `brain alias list`.")
    removed = less or known
    lines = (_without_words(line, word, removed) for line in vault.config.aliases)
    entries = [line for line in lines if line is not None]
    if still := {*own_aliases(tuple(entries)).get(word, ())} & {*removed}:
        raise BadRequest(
            f"{word!r} and {sorted(still)[0]!r} are in one alias of another word.",
            "See `brain alias list`, and remove it there.",
        )
    return _set_aliases(vault, word, entries, actor)


def _without_words(entry: str, word: str, removed: tuple[str, ...]) -> str | None:
    """Return a line of the setting without the removed synonyms of `word`; None if nothing is
    left."""
    head, others = split_alias(entry)
    if head == word:
        kept = tuple(other for other in others if other not in removed)
    elif head in removed:
        kept = tuple(other for other in others if other != word)
    else:
        return entry
    if kept == others:
        return entry
    return _written(head, kept) if kept else None


def _words(word: str, synonyms: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    """Return folded words, each once. Raises BadRequest for a word that cannot be stored."""
    given = [word, *synonyms]
    for one in given:
        if not one.strip() or set(one) & set("=,\n"):
            raise BadRequest(f"{one!r} is not a word.", "Give words without `=` and commas.")
    head, *others = (split_alias(one)[0] for one in given)
    return head, tuple(dict.fromkeys(other for other in others if other != head))


def _written(word: str, others: tuple[str, ...]) -> str:
    return f"{word}={', '.join(others)}"


def _set_aliases(vault: OpenVault, word: str, entries: list[str], by: Actor) -> AliasChange:
    change = configure(vault, "aliases", tuple(entries), by)
    stands_for = list(own_aliases(tuple(change.value)).get(word, ()))
    return AliasChange(**vars(change), word=word, stands_for=stands_for)


def budget(
    vault: OpenVault, tokens: int | None = None, *, session: str = "", by: Actor | str = ""
) -> Budget:
    """Return the token limit of a context, and the sizes of its parts for some examples. Set the
    limit if `tokens` is given."""
    actor = actors.resolve(vault, by, session)
    change = None
    if tokens is not None:
        if tokens < 1:
            remedy = "To turn contexts off, set `autoInject: false`."
            raise BadRequest("A budget is at least 1 token.", remedy)
        change = configure(vault, "budgetCeiling", tokens, actor)
    allocations = [
        {"remaining": remaining, **allocate(remaining, vault.config)._asdict()}
        for remaining in REMAINING
    ]
    return Budget(ceiling=vault.config.budgetCeiling, allocations=allocations, change=change)


def configure(vault: OpenVault, name: str, value: Any, by: Actor) -> SettingChange:
    """Set a value in brain.yaml. For an empty list, the setting is removed. All other text in the
    file stays."""
    current = getattr(vault.config, name)
    shown = list(value) if isinstance(value, tuple) else value
    unchanged = SettingChange(
        setting=name, value=shown, outcome="unchanged", state="unchanged", event=None
    )
    if value == current:
        return unchanged
    path = f"{vault.paths.brain}/brain.yaml"
    change = Configure(path, name, None if value == () else value, current)
    result = apply.apply(vault, [Write("config", name, change)], by)[0]
    if result.state == "written":
        vault.reload()
    return unchanged.replace(outcome="set", state=result.state, event=result.write.id)

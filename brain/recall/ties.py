"""What ties memories and items together, and how strongly.

A tie is direct (a link or a typed field that holds the id of another memory, or what was learned),
or it goes by way of something in between: a tag that both carry, a note that both name or that
names both. All of it is in the vault's own text, but what was learned, which is in the journal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from unicodedata import normalize

from brain import kinds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.config import Config

    Owners = tuple[str, ...] | None
    Pair = tuple[str, str]

# how the names of tags, notes and clusters begin here; an item that is called so is no part of it
WAYS = ("#", "[[", "((")
MOST = 100  # ties of one memory, and carriers of a tag or note that is a way
FEW = 10  # so many carriers are never too many
_NO_TOPIC = frozenset({"pinned", "candidate", *kinds.KINDS})


def topics(tags: str) -> Iterator[str]:
    """The tags that say what a memory is about: not those for its kind or its status."""
    for tag in tags.casefold().split():
        if tag.replace("-", "_") not in _NO_TOPIC:
            yield tag


def most(entries: int) -> int:
    """How many may carry a tag, or name a note, that is still a way from one to another: what
    half of all memories share says nothing, and what over MOST share says too little."""
    return min(MOST, max(FEW, entries // 2))


def weights(config: Config) -> dict[str, float]:
    """How strong each kind of tie is."""
    return {
        "has_tag": config.tagEdge,
        "in_cluster": config.clusterEdge,
        "supersedes": config.supersedesEdge,
        "relates_to": config.relatesEdge,
        "link": config.relatesEdge,
        "learned": config.relatesEdge,
        "contradicts": config.otherEdge,
        "derived_from": config.otherEdge,
    }


def weight(strong: Mapping[str, float], kind: str, times: float = 0.0) -> float:
    """How strong a tie is between entries that were put to use together so many times.

    A relation's own weight w stands for one time, and each further one takes the share w of what
    is missing to 1: n times are 1 - (1 - w)^n. What was only learned has no first time.
    """
    own = strong[kind]
    if not times or kind not in ("relates_to", "link", "learned"):
        return own
    return float(1 - (1 - min(1.0, own)) ** (times + (kind != "learned")))


def together(
    learned: Iterable[tuple[str, str, float]], names: Mapping[str, str]
) -> dict[Pair, float]:
    """How often two entries were put to use together, by the ids they go by; of each pair the
    smaller first."""
    found: dict[Pair, float] = {}
    for one, other, strength in sorted(learned):
        low, high = sorted((names.get(one, one), names.get(other, other)))
        if low != high and strength > 0:
            found[low, high] = found.get((low, high), 0.0) + strength
    return found


# -- notes -----------------------------------------------------------------------------------------


def spelled(target: str) -> str:
    """The note that a link names: in any case and Unicode form, with or without `.md` and `../`."""
    name = target.casefold() if target.isascii() else normalize("NFC", target).casefold()
    return name.removesuffix(".md").lstrip("./") or name


def is_note(target: str, fragment: str) -> bool:
    """Does a link that leads to no memory here name a note? One to a memory that is gone, or may
    not be seen, does not."""
    if not fragment.startswith("^"):
        return bool(target)
    return not (fragment.startswith("^m-") or name_of(spelled(target)) in ("", "memory"))


def name_of(note: str) -> str:
    """The name of a note without its folders."""
    return note.rpartition("/")[2]


def longest(spellings: Iterable[str]) -> dict[str, str]:
    """For each spelling the longest that ends in it, by which one note in several spellings is
    known; itself if several notes may be meant."""
    every = sorted(set(spellings), key=lambda note: (-note.count("/"), note))
    found: dict[str, str] = {}
    for note in every:
        ends = {full for full in found.values() if full.endswith(f"/{note}")}
        found[note] = ends.pop() if len(ends) == 1 else note
    return found


def places(spellings: Iterable[str], paths: Iterable[str]) -> dict[str, str]:
    """The note that each spelling means: the exact path, else the one that ends so and lies least
    deep, of several the first. What means no note is left out."""
    called: dict[str, list[str]] = {}
    for path in paths:
        called.setdefault(name_of(spelled(path)), []).append(path)
    found = {}
    for note in spellings:
        fits = [
            (spelled(path) != note, path.count("/"), path)
            for path in called.get(name_of(note), ())
            if f"/{spelled(path)}".endswith(f"/{note}")
        ]
        if fits:
            found[note] = min(fits)[2]
    return found

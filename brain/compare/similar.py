"""Find the memories that are equal to a text, similar to it, or contradict it.

Two texts are the same memory if their prose is equal, or if the share of common words is at least
SAME and the texts have the same numbers, names and denials. One text may have a phrase at another
place, or be in the passive voice. Texts of fewer than FEW words must have equal prose. Links after
the words, dates and filler words do not count.
"""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import normalize

from brain._tuples import NamedTuple
from brain.formats.inline import fingerprint, mentioned_files, prose, without_links
from brain.index import fulltext, read, records, relations
from brain.words import STOP_WORDS, stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from brain.index.db import Index, Owners
    from brain.index.read import Row

MOST_NEAR = 3
MOST_COMPARED, MOST_JUDGED = 30, 12  # memories whose words are compared; checked for contradictions
RELATED = 0.15  # the share of common words that texts that contradict each other must have
EVENTS = frozenset({"summary", "file_change", "task_progress"})  # kinds that contradict nothing
SAME, NEAR, FEW = 0.9, 0.6, 5
MOST_TERMS = 24  # the first words of a long text are enough
_DATE = re.compile(r"\(?\b\d{4}-\d{2}-\d{2}\b\)?")
_NOT = re.compile(r"\b(can)(?:not|'t)\b|\b(wo|\w+)n't\b")
_AND_BE = re.compile(r"(?<=\w)'(?:ve|re|ll|d|m)\b")
_URL = re.compile(r"(?<!\S)https?://\S+")
_HYPHEN = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")
# Stop words between two words whose order matters: "Ana reports to Ben".
_DIRECTED = frozenset(
    "to from over than before after into until on onto in for with by against".split()  # noqa: SIM905
)
_WORD = re.compile(r"[-+]?\d+(?:[.,:]\d+)*%?|[.@#]?\w+(?:['.+#/_:-]+\w+)*[+#]*")
_PLAIN = re.compile(r"[^\W_]+")
# Stop words that change what a sentence says: denials, amounts, conditions, order, persons.
_TELLING = frozenset(
    """
    no nor not only all any both each few many more most much some other own same must should might
    could can over under above below before after until during while if when between than through
    because off out up down further once too he she him her his hers they their your
    """.split()  # noqa: SIM905 - a list of them would fill the page
)
_EMPTY = (STOP_WORDS - _TELLING) | frozenset(
    "get gets got please ever really actually simply basically see note per".split()  # noqa: SIM905
)
_FILLER = re.compile(r"^\s*(?:error|note|warning|reminder|update|tip|decision|fyi)\s*:\s", re.I)
_PASSIVE = re.compile(r"^(.+?) (?:is|are|was|were) (\w+) by (.+)$")
_SEE = re.compile(r"\((?:see|cf\.) [^()]*\)")
_MONTH_DAY = re.compile(
    r"\b((?:Jan|Feb|Mar|Apr|May|Ju[nl]|Aug|Sep|Oct|Nov|Dec)[a-z]*) (\d{1,2})(?:st|nd|rd|th)?\b,?"
)
_PERCENT = re.compile(r"(?<=\d) %")
_SPELLED = {"each": "every"} | {
    word: str(number)
    for number, word in enumerate(
        "two three four five six seven eight nine ten eleven twelve".split(), 2  # noqa: SIM905
    )
}  # fmt: skip
# Words that change the meaning of a sentence, as stems.
_DECISIVE = frozenset(
    map(
        stem,
        """
        not no nor never without only none nothing neither cannot avoid stop disable enable off on
        allow forbid remove add except unless must should may might could can always sometimes
        all any both each every few many most some more he she him her his hers they their your
        """.split(),  # noqa: SIM905
    )
)
_COUNTS = frozenset(
    """
    one fifteen twenty thirty sixty ninety hundred thousand million once twice half first
    second third last daily weekly monthly
    """.split()  # noqa: SIM905
)


class Similar(NamedTuple):
    """The memories that are similar to a text.

    `same` is the memory that is equal to the text, and `lacking` are the links of the text that
    this memory does not have. `near` are at most three similar memories with their similarity, the
    nearest first. `conflict_types` are the types of the contradictions, by the id of the memory. If
    `same` is not None, `near`, `contradicts` and `conflict_types` are empty.
    """

    same: Row | None = None
    lacking: tuple[str, ...] = ()
    near: tuple[tuple[Row, float], ...] = ()
    contradicts: tuple[Row, ...] = ()
    conflict_types: dict[str, str] = {}  # noqa: RUF012 - never changed


def similar(
    index: Index, text: str, *, owners: Owners, kind: str = "", exclude: Collection[str] = ()
) -> Similar:
    """Return the memories of these owners (None: all) that are similar to a text or contradict it.

    Memories with an id in `exclude` are left out. Superseded memories and memories about events
    contradict nothing. A text whose `kind` is an event contradicts nothing either.
    """
    files = _files(text)
    rows = read.by_fingerprint(index, fingerprint(without_links(text)), owners)
    equal = [(row, row.text) for row in rows if row.ref not in exclude]
    if found := _duplicate(equal, files):
        return found
    words = terms(text)
    texts = dict(fulltext.sharing(index, words, owners, MOST_COMPARED)) if words else {}
    scored = {id: similarity(text, other) for id, other in texts.items()}
    conflicts = _conflict_types(text, texts, scored) if kind not in EVENTS else {}
    alike = [id for id, score in scored.items() if score >= NEAR]
    kept = {row.id: row for row in read.rows(index, [*{*alike, *conflicts}])}
    kept = {id: row for id, row in kept.items() if row.ref not in exclude}
    contradicting = _current(index, [kept[id] for id in conflicts if id in kept], owners)
    excluded = {row.id for row in (*rows, *contradicting)}
    alike = [id for id in alike if id in kept and id not in excluded]
    same = [(kept[id], texts[id]) for id in alike if is_same(text, texts[id])]
    if found := _duplicate([pair for pair in same if pair[0].id not in conflicts], files):
        return found
    near = [*((row, 1.0) for row, _ in equal), *((kept[id], scored[id]) for id in alike)]
    near.sort(key=lambda pair: -pair[1])
    types = {row.ref: conflicts[row.id] for row in contradicting}
    return Similar(
        near=tuple(near[:MOST_NEAR]), contradicts=tuple(contradicting), conflict_types=types
    )


def new_contradictions(index: Index, ref: str, text: str, owners: Owners) -> dict[str, str]:
    """Return the types of contradictions with other memories that are not recorded yet, by id. Only
    text that a person typed is compared, because operations compare their own texts."""
    if any(records.select(index, refs=[ref], ops=("remember", "update"))):
        return {}
    kind = next((row.kind for row in read.by_ref(index, ref) if row.ref == ref), "")
    found = similar(index, text, owners=owners, kind=kind, exclude=[ref]).conflict_types
    if not found:
        return {}
    known = {frozenset((one.ref, one.other)) for one in records.conflicts(index, open_only=False)}
    return {other: type for other, type in found.items() if {ref, other} not in known}


def _conflict_types(text: str, texts: dict[int, str], scored: dict[int, float]) -> dict[int, str]:
    """Return the type of the conflict for each of `texts` that contradicts `text`, by row id."""
    related = sorted((id for id in scored if scored[id] >= RELATED), key=lambda id: -scored[id])
    if not related:
        return {}
    from brain.compare.contradictions import conflict_type  # takes 10 ms to load

    found = {id: conflict_type(text, texts[id]) for id in related[:MOST_JUDGED]}
    return {id: type for id, type in found.items() if type}


def _duplicate(equal: list[tuple[Row, str]], files: dict[str, str]) -> Similar | None:
    """Return the equal memory that lacks the fewest of the linked `files` of a text; None if there
    is none.

    The memory and the text are different if each of them links to a file that the other does not.
    """
    found: list[tuple[int, Row, tuple[str, ...]]] = []
    for row, text in equal:
        others = _files(text)
        lacking = tuple(file for key, file in files.items() if key not in others)
        if not lacking or others.keys() <= files.keys():
            found.append((len(lacking), row, lacking))
    if not found:
        return None
    _, row, lacking = min(found, key=lambda each: each[0])
    return Similar(same=row, lacking=lacking)


def _files(text: str) -> dict[str, str]:
    """Return the files that a text mentions, by their folded names."""
    return {file.casefold(): file for file in mentioned_files(text)}


def _current(index: Index, rows: list[Row], owners: Owners) -> list[Row]:
    """Return the rows that are not superseded and do not report an event."""
    superseded = relations.successors(index, [row.ref for row in rows], owners) if rows else {}
    return [row for row in rows if row.ref not in superseded and row.kind not in EVENTS]


# -- comparing two texts -------------------------------------------------------------------------


class Words(NamedTuple):
    """The words of a text for comparison with another text."""

    order: tuple[str, ...]  # the distinct stems
    fixed: frozenset[str]  # the stems that must not differ: numbers, names and denials
    length: int  # the number of all words
    sequence: tuple[str, ...]  # `order` with the stop words that fix the order


def similarity(a: str, b: str) -> float:
    """Return the share of common words among the words of two texts, from 0 to 1."""
    return _jaccard(words(a), words(b))


def is_same(a: str, b: str) -> bool:
    """Return True if the texts are the same memory."""
    a, b = without_links(a), without_links(b)
    if fingerprint(a) == fingerprint(b):
        return True
    one, other = words(a), words(b)
    if min(one.length, other.length) < FEW or _jaccard(one, other) < SAME:
        return False
    differing = set(one.order) ^ set(other.order)
    return not differing & (one.fixed | other.fixed) and _has_same_order(one, other)


def _jaccard(one: Words, other: Words) -> float:
    common = len(set(one.order) & set(other.order))
    total = len(one.order) + len(other.order) - common
    return common / total if total else 1.0


def _has_same_order(one: Words, other: Words) -> bool:
    """Return True if the common words are in the same order, or if one phrase is at another place
    ("In Go, use tabs" and "Use tabs in Go")."""
    common = set(one.sequence) & set(other.sequence)
    first = [word for word in one.sequence if word in common]
    second = [word for word in other.sequence if word in common]
    if first == second:
        return True
    # the equal words at the start and at the end do not count
    differing = [
        index for index, pair in enumerate(zip(first, second, strict=True)) if len({*pair}) > 1
    ]
    first = first[differing[0] : differing[-1] + 1]
    second = second[differing[0] : differing[-1] + 1]
    index = second.index(first[0])
    return second[index:] + second[:index] == first


def terms(text: str) -> list[str]:
    """Return the words of a text for a full-text search, in order."""
    found = dict.fromkeys(_PLAIN.findall(prose(without_links(text)).lower()))
    every = [word for word in found if word not in _EMPTY and len(word) > 1]
    return every[:MOST_TERMS]


@lru_cache(64)  # one text is compared with many
def words(text: str) -> Words:
    """Return the words of a text for comparison, without dates."""
    text = _DATE.sub(" ", normalize("NFKC", prose(without_links(text))))
    text = text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    text = _NOT.sub(lambda match: f"{match[1] or match[2]} not", _FILLER.sub("", text))
    text = _MONTH_DAY.sub(r"\2 \1", _PERCENT.sub("%", _SEE.sub("", text))).strip(" .!")
    text = _HYPHEN.sub("", _URL.sub("", _AND_BE.sub("", text)) or text)
    text = _PASSIVE.sub(r"\3 \2 \1", text)
    order: dict[str, None] = {}
    sequence: dict[str, None] = {}
    fixed: set[str] = set()
    every = _WORD.findall(text)
    for word in every:
        word = word.removesuffix("'s")
        lower = _SPELLED.get(word.casefold(), word.casefold())
        if lower in _EMPTY:
            sequence |= dict.fromkeys({lower} & _DIRECTED)
            continue
        root = stem(lower)
        order[root] = sequence[root] = None
        if word.casefold() != word or not lower.isalpha() or root in _DECISIVE or lower in _COUNTS:
            fixed.add(root)
    return Words(tuple(order), frozenset(fixed), len(every), tuple(sequence))

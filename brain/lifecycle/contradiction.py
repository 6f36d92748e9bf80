"""Whether two texts contradict each other.

A mark in a person's note must be right, so in doubt the answer is no. Sentences are compared by
their content words, in any order. They contradict each other in one of three ways:

- polarity: one denies what the other affirms. All words of the denied clause are in the other
  sentence, so that "not on Fridays" does not contradict a rule for all days;
- order: A comes before B in one, and after B in the other;
- value: exactly one value differs (a number, a day, a name, one of two opposites), and the relation
  has one value at a time.

For all three, the words that only one sentence has may not be matched by words that only the other
has: these are two subjects, or two conditions. Events and relations that may have several values
("supports", "likes") have no value to compare.
"""

from __future__ import annotations

from brain.formats.prose import fingerprint
from brain.formats.stems import stem
from brain.lifecycle.sentence import PREPOSITIONS, UNITS, Sentence, Word, root_of, sentences, stem_set, word_set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_EXTRA = 3  # words that only one sentence has, if a value differs


def contradicts(a: str, b: str) -> bool:
    """Return True if the texts cannot both be true."""
    if fingerprint(a) == fingerprint(b):
        return False
    return any(
        _opposes(one, other)
        for at, one in enumerate(sentences(a))
        for to, other in enumerate(sentences(b))
        # a short sentence may need those before it to be understood
        if one and other and (at == to == 0 or min(len(one.words), len(other.words)) > 3)
    )


def _opposes(one: Sentence, other: Sentence) -> bool:
    one, other = _without_prefixes(one, other), _without_prefixes(other, one)
    return (
        _denies(one, other)
        or _denies(other, one)
        or _reverses(one, other)
        or _revalues(one, other)
    )


def _without_prefixes(one: Sentence, other: Sentence) -> Sentence:
    """Return a sentence with "unstable" read as "not stable" if the other says "stable"."""
    roots = other.roots()
    words = list(one.words)
    for at, word in enumerate(words):
        for prefix in _PREFIXES if word.root not in roots else ():
            rest = word.root.removeprefix(prefix)
            rest = rest if rest in roots else root_of(rest)
            if rest != word.root and len(rest) > 2 and rest in roots:
                words[at] = word._replace(root=rest)
                words = [
                    each._replace(denied=not each.denied) if each.clause == word.clause else each
                    for each in words
                ]
    return one._replace(words=tuple(words))


# -- polarity --------------------------------------------------------------------------------------


def _denies(one: Sentence, other: Sentence) -> bool:
    """Return True if a clause of one sentence denies what the other affirms."""
    affirmed, mine, its = other.roots(denied=False), one.roots(), other.roots()
    if one.optional and _BOUND.isdisjoint(other.every):
        return False
    if other.every & _ONLY or any(
        word.root in _CONDITIONS - mine and root_of(word.after) not in mine for word in other.words
    ):
        return False  # an exception
    if one.past != other.past or (one.past and len(mine & its) < 4):
        return False  # an event does not contradict a rule
    extra = _rest(other, one, values=True)
    for clause in {word.clause for word in one.words if word.denied}:
        denied = [word for word in one.words if word.denied and word.clause == clause]
        missing = [word for word in denied if word.root not in affirmed | _RELATIONS]
        matched = {word.root for word in denied} & affirmed
        if not matched or (len(mine & its) < 2 and not (matched == affirmed and not missing)):
            continue
        if missing and (
            len(matched) < max(2, len(missing))
            or any(_narrows(word, its) for word in missing)
        ):
            continue
        earlier = [word for word in _rest(one, other, values=True) if word.clause <= clause]
        if not _are_apart(earlier, extra, mine & its):
            return True
    return False


def _are_apart(mine: list[Word], its: list[Word], common: set[str]) -> bool:
    """Return True if the words that only one and only the other sentence has name two things.

    They do if they have the same place ("the invoice service", "the shipping service"), narrow a
    common word, or are many. Otherwise they are other words for the same.
    """
    if not mine or not its:
        return False
    if len(mine) + len(its) > len(common):
        return True
    if any(_narrows(word, common) for word in (*mine, *its)):
        return True
    return any(_are_parallel(one, other) for one in mine for other in its)


def _are_parallel(one: Word, other: Word) -> bool:
    if root_of(one.before) == root_of(other.before) or {one.before, other.before} <= _IS:
        return True
    return bool(one.after) and root_of(one.after) == root_of(other.after)


# -- order -----------------------------------------------------------------------------------------


def _reverses(one: Sentence, other: Sentence) -> bool:
    """Return True if one says "A before B", and the other "A after B" or "B before A"."""
    mine, its = _sequence(one), _sequence(other)
    if not mine or not its:
        return False
    every, others = one.roots() - _ORDER, other.roots() - _ORDER
    if (every - others and others - every) or mine[0] & its[0] or mine[1] & its[1]:
        return False
    return bool(mine[0] & its[1] and mine[1] & its[0])


def _sequence(sentence: Sentence) -> tuple[set[str], set[str]] | None:
    """Return the words for what comes first, and for what comes then."""
    marks = [at for at, word in enumerate(sentence.words) if word.root in _ORDER]
    if not marks or sentence.past:
        return None
    at, mark = marks[0], sentence.words[marks[0]]
    left = {word.root for word in sentence.words[:at]}
    right = {word.root for word in sentence.words[at + 1 :] if word.clause == mark.clause}
    # "Before B, A"
    left = left or {word.root for word in sentence.words if word.clause > mark.clause}
    return (left, right) if mark.root == _BEFORE else (right, left)


# -- value -----------------------------------------------------------------------------------------


def _revalues(one: Sentence, other: Sentence) -> bool:
    if one.past or other.past or one.indefinite or other.indefinite:
        return False
    if any(word.denied for word in (*one.words, *other.words)) or _SEVERAL & (one.every | other.every):
        return False
    mine, its = _values(one), _values(other)
    types = [type for type in mine.keys() & its.keys() if _differ(mine[type], its[type])]
    my_words, its_words = _rest(one, other), _rest(other, one)
    common = {word.root for word in one.words if not word.type} & other.roots()
    if not common or (mine.keys() ^ its.keys() and types) or _names(one, other) != _names(other, one):
        return False
    if my_words and its_words and not types:
        return _is_single(one, other, my_words, its_words)
    if len(types) != 1 or len(my_words) + len(its_words) > min(MOST_EXTRA, len(common)):
        return False
    if any(_narrows(word, common) for word in (*my_words, *its_words)):
        return False
    if _are_apart(my_words, its_words, common):
        return False
    return all(
        _is_predicate(value, sentence) and not _is_label(value, sentence)
        for sentence, values in ((one, mine), (other, its))
        for value in values[types[0]]
    )


def _names(one: Sentence, other: Sentence) -> list[str]:
    """Return the names in both sentences, in the order of the first ("from Lyon to Turin")."""
    names = {word.root for word in other.words if word.name}
    return [word.root for word in one.words if word.name and word.root in names and not word.type]


def _values(sentence: Sentence) -> dict[str, list[Word]]:
    found: dict[str, list[Word]] = {}
    for word in sentence.words:
        if word.type:
            found.setdefault(word.type, []).append(word)
    return found


def _differ(one: list[Word], other: list[Word]) -> bool:
    """Return True if the values are not the same, and none of them is only a detail."""
    mine, its = {word.root for word in one}, {word.root for word in other}
    if mine <= its or its <= mine:
        return False
    counted = [_counted(word) for word in (*one, *other)]
    return len({*filter(None, counted)}) < 2 or one[0].type != "number"


def _counted(value: Word) -> str:
    """Return what is counted by a number ("3 retries")."""
    return "" if value.after in PREPOSITIONS or not value.after.endswith("s") else root_of(value.after)


def _rest(one: Sentence, other: Sentence, values: bool = False) -> list[Word]:
    """Return the words that only one sentence has, without values unless `values`."""
    roots = other.roots()
    return [
        word
        for word in one.words
        if (values or not word.type)
        and word.root not in roots | _RELATIONS
        and not any(_is_variant(word.root, other) for other in roots)
    ]


def _is_variant(one: str, other: str) -> bool:
    """Return True if one word begins with the other ("Postgres", "PostgreSQL")."""
    low, high = sorted((one, other), key=len)
    return len(low) > 4 and high.startswith(low)


def _narrows(extra: Word, common: set[str]) -> bool:
    """Return True for a word that only one sentence has and that tells which thing is meant."""
    return extra.before in _NARROWING or root_of(extra.after) in common


def _is_predicate(value: Word, sentence: Sentence) -> bool:
    """Return True unless a value tells which thing is meant ("public repositories", "In May, …")."""
    if value.type in _MEASURES:
        return True
    if value == sentence.words[0]:
        return False
    return value.before in _IS | PREPOSITIONS | _EACH or value.after in PREPOSITIONS | {"", "now"}


def _is_label(value: Word, sentence: Sentence) -> bool:
    """Return True if a number is part of a name ("issue 12"), or one of several ("supports 3.11")."""
    if value.type not in _MEASURES:
        return not _SEVERAL_VALUES.isdisjoint(sentence.every)
    if value.type != "number":
        return False
    if stem(value.before) in _LABELS or (
        not value.after and not _SEVERAL_VALUES.isdisjoint(sentence.every)
    ):
        return True
    if value.after in PREPOSITIONS or not value.after:
        return False
    return root_of(value.before) in sentence.roots() and stem(value.after) not in UNITS


def _is_single(one: Sentence, other: Sentence, mine: list[Word], its: list[Word]) -> bool:
    """Return True if the words in which the sentences differ are names in a relation that has one
    at a time: "X owns …", "… is X", "… lives in X"."""
    if min(len(mine), len(its)) > 1:
        return False
    if all(word.before in _USE and word.after in ("as", "for") for word in (*mine, *its)):
        return True
    if not all(word.name for word in (*mine, *its)):
        return _is_attribute(one, other, mine, its)
    common = one.roots() & other.roots()
    if _SEVERAL_NAMES & one.every & other.every:
        return False
    if common & _SINGLE:
        return True
    return all(_is_complement(words[-1]) for words in (mine, its))


def _is_complement(value: Word) -> bool:
    """Return True for what comes after "is", or after a colon."""
    return not value.after and (value.before in _IS or (not value.before and value.clause > 0))


def _is_attribute(one: Sentence, other: Sentence, mine: list[Word], its: list[Word]) -> bool:
    """Return True for "The default branch is main": one word after "is"."""
    if len(mine) != 1 or len(its) != 1 or not all(map(_is_complement, (*mine, *its))):
        return False
    return not _ATTRIBUTES.isdisjoint(map(stem, one.every & other.every))


# -- words -----------------------------------------------------------------------------------------

_BEFORE = stem("before")
_ORDER = frozenset({_BEFORE, stem("after")})
_PREFIXES = ("un", "in", "im", "ir", "il", "non", "dis", "des", "dé")
_RELATIONS = frozenset({"keep", "write", "access", "eat", "drink"}) | stem_set(
    "support work offer implement contain display appear exist install need"
)
_CONDITIONS = stem_set("when during while until whenever")
_ONLY = word_set("only")
_BOUND = word_set("must always have has needs need required mandatory all every")
_NARROWING = word_set("for of with during in on when from")
_EACH = word_set("every each")
_USE = word_set("use uses using")
_IS = word_set("is are be ist sind est sont es son equals insteadof")
_SEVERAL = word_set("also too another additionally or either can may could usually typically")
_SEVERAL |= word_set("about around approximately roughly nearly almost circa")
_SEVERAL_VALUES = word_set(
    "support supports accept accepts depends expose exposes opens forwards like likes loves enjoys"
    " knows speaks visits include includes contains reads writes exports imports produces handles"
    " offers provides recommends reviews meets sees calls plays describe describes mention mentions cover covers explains publishes published install"
    " installs cache caches unterstützen unterstützt"
)
_SEVERAL_NAMES = _SEVERAL_VALUES | word_set(
    "has have sister brother friend colleague member"
)
_MEASURES = word_set("number clock duration interval size share degrees money date frequency")
_LABELS = stem_set(
    "gate issue pr ticket bug error chapter step page line item task test case build commit"
    " phase part section question number no figure table day week sprint milestone release model"
    " experiment lecture exercise lesson unit group team"
)
_SINGLE = frozenset({"own", "live", "keep", "max", "min", "paint"}) | stem_set(
    "called named hosted formatted encoded configured defined deadline reports married"
    " works capital headquarters license licence birthday address timezone language level"
)
_ATTRIBUTES = stem_set(
    "default limit name owner language license branch level mode status type style theme format"
    " color colour size host region currency unit"
)

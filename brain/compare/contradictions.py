"""Decide whether two texts contradict each other.

A mark in a person's note must be correct, so in doubt the answer is no. Sentences are compared by
their content words, in any order. They contradict each other in one of three ways:

- polarity: one denies what the other affirms. What is denied may not be narrower than what is
  affirmed: "never on Fridays" does not contradict a rule for all days;
- order: A comes before B in one, and after B in the other;
- value: exactly one value differs (a number, a day, one of two opposites, a name), and the relation
  has one value at a time.

Each sentence may have words that the other does not have. If two of these words have the same place
("the invoice service", "the shipping service"), the sentences are about two things. Otherwise, the
words are taken as synonyms. Events, and relations with several values ("supports", "likes"), have
no value to compare.
"""

from __future__ import annotations

from brain.compare.sentence import Sentence, Word, sentences
from brain.compare.vocabulary import PREPOSITIONS, UNITS, root, root_set, stem_set, word_set
from brain.formats.inline import fingerprint
from brain.words import stem

MOST_EXTRA = 3  # most words that only one of two sentences with different values may have
ENOUGH = 4  # fewest common words of two events, if one of them denies the other


def contradicts(a: str, b: str) -> bool:
    """Return True if the texts cannot both be true."""
    return bool(conflict_type(a, b))


def conflict_type(a: str, b: str) -> str:
    """Return `contradictory` if the texts cannot both be true, `ambiguous` if they have two names
    that may or may not stand for the same thing, and '' if they do not contradict each other."""
    if fingerprint(a) == fingerprint(b):
        return ""
    found = {
        _conflict_type(one, other)
        for index, one in enumerate(sentences(a))
        for other_index, other in enumerate(sentences(b))
        # a short sentence may make no sense without the sentences before it
        if one
        and other
        and (index == other_index == 0 or min(len(one.words), len(other.words)) > 3)
    }
    return max(found, key=("", "ambiguous", "contradictory").index, default="")


def _conflict_type(one: Sentence, other: Sentence) -> str:
    one, other = _without_prefixes(one, other), _without_prefixes(other, one)
    if _denies(one, other) or _denies(other, one) or _reverses(one, other):
        return "contradictory"
    return _value_conflict(one, other)


def _without_prefixes(one: Sentence, other: Sentence) -> Sentence:
    """Return the sentence `one`, in which "unstable" is read as "not stable" if `other` contains
    "stable"."""
    known = other.roots()
    for word in one.words:
        if word.root in known or not word.root.startswith(_PREFIXES):
            continue
        rests = {word.root.removeprefix(prefix) for prefix in _PREFIXES}
        for rest in {*rests, *map(root, rests)} & known:
            words = [
                each._replace(denied=each.denied != (each.clause == word.clause))
                for each in one.words
            ]
            words[one.words.index(word)] = words[one.words.index(word)]._replace(root=rest)
            return one._replace(words=tuple(words))
    return one


# -- words of one sentence -------------------------------------------------------------------------


def _extra(one: Sentence, other: Sentence) -> list[Word]:
    """Return the words that only the first sentence has. "PostgreSQL" is the same as "Postgres"."""
    known = other.roots() | _RELATIONS
    return [
        word
        for word in one.words
        if word.root not in known
        and not any(_is_beginning(word.root, each) for each in other.roots())
    ]


def _is_beginning(one: str, other: str) -> bool:
    return min(len(one), len(other)) > 4 and (one.startswith(other) or other.startswith(one))


def _narrows(extra: Word, common: set[str]) -> bool:
    """Return True for a word that specifies a thing ("for guests", "upload timeout")."""
    return extra.before in _NARROWING or root(extra.after) in common


def _are_apart(mine: list[Word], theirs: list[Word], common: set[str]) -> bool:
    """Return True if `mine` and `theirs`, the words that only one of two sentences has, belong to
    two different things."""
    if not mine or not theirs:
        return False
    return (
        len(mine) + len(theirs) > len(common)
        or any(_narrows(word, common) for word in (*mine, *theirs))
        or any(_are_parallel(one, other) for one in mine for other in theirs)
    )


def _are_parallel(one: Word, other: Word) -> bool:
    """Return True if two words are at the same place: after or before the same word."""
    if root(one.before) == root(other.before) or {one.before, other.before} <= _IS:
        return True
    return bool(one.after) and root(one.after) == root(other.after)


# -- polarity --------------------------------------------------------------------------------------


def _denies(one: Sentence, other: Sentence) -> bool:
    """Return True if a clause of the first sentence denies what the other affirms."""
    mine, theirs = one.roots(), other.roots()
    if (one.optional and _BOUND.isdisjoint(other.every)) or _is_exception(other, mine):
        return False
    # an event does not contradict a rule
    if one.past != other.past or (one.past and len(mine & theirs) < ENOUGH):
        return False
    affirmed = one.roots(denied=False)  # "prefer X over X" denies nothing
    denied = [word for word in one.words if word.denied and word.root not in affirmed]
    return any(
        _is_denied([word for word in denied if word.clause == clause], one, other)
        for clause in {word.clause for word in denied}
    )


def _is_exception(sentence: Sentence, known: set[str]) -> bool:
    """Return True for a sentence with a condition that the other sentence does not have. `known`
    are the roots of the other sentence."""
    return "only" in sentence.every or any(
        word.root in _CONDITIONS - known and root(word.after) not in known
        for word in sentence.words
    )


def _is_denied(denied: list[Word], one: Sentence, other: Sentence) -> bool:
    """Return True if the other sentence affirms what a clause of the first denies."""
    affirmed, common = other.roots(denied=False), one.roots() & other.roots()
    missing = [word for word in denied if word.root not in affirmed | _RELATIONS]
    matched = {word.root for word in denied} & affirmed
    earlier = [word for word in _extra(one, other) if word.clause <= denied[0].clause]
    few = len(common) + len(one.verbs & other.verbs) < 2
    if not matched or (few and (missing or matched != affirmed - _RELATIONS)):
        return False
    if missing and len(matched) < max(3, len(missing) + 1):
        return False
    if any(_narrows(word, other.roots()) for word in missing):
        return False
    return not _are_apart(earlier, _extra(other, one), common)


# -- order -----------------------------------------------------------------------------------------


def _reverses(one: Sentence, other: Sentence) -> bool:
    """Return True if one says "A before B", and the other "A after B" or "B before A"."""
    mine, theirs = _sequence(one), _sequence(other)
    if not mine or not theirs:
        return False
    my_roots, their_roots = one.roots() - _ORDER, other.roots() - _ORDER
    if (
        (my_roots - their_roots and their_roots - my_roots)
        or mine[0] & theirs[0]
        or mine[1] & theirs[1]
    ):
        return False
    return bool(mine[0] & theirs[1] and mine[1] & theirs[0])


def _sequence(sentence: Sentence) -> tuple[set[str], set[str]] | None:
    """Return the words of the first and of the second event in a sentence with "before" or
    "after"."""
    marks = [index for index, word in enumerate(sentence.words) if word.root in _ORDER]
    if not marks or sentence.past or sentence.words[marks[0]].denied:
        return None
    index, mark = marks[0], sentence.words[marks[0]]
    left = {word.root for word in sentence.words[:index]}
    right = {word.root for word in sentence.words[index + 1 :] if word.clause == mark.clause}
    # "Before B, A"
    left = left or {word.root for word in sentence.words if word.clause > mark.clause}
    return (left, right) if mark.root == _BEFORE else (right, left)


# -- value -----------------------------------------------------------------------------------------


def _value_conflict(one: Sentence, other: Sentence) -> str:
    """Return the type of the conflict if exactly one value or name differs, else ''."""
    if one.past or other.past or one.indefinite or other.indefinite:
        return ""
    if _VAGUE & (one.every | other.every) or any(
        word.denied for word in (*one.words, *other.words)
    ):
        return ""
    my_words = [word for word in _extra(one, other) if not word.type]
    their_words = [word for word in _extra(other, one) if not word.type]
    mine, theirs = _values(one, my_words), _values(other, their_words)
    types = [type for type in mine.keys() & theirs.keys() if _differ(mine[type], theirs[type])]
    common = {word.root for word in one.words if not word.type} & other.roots()
    if not common - _SINGLE or _names(one, other) != _names(other, one):
        return ""
    if my_words and their_words and not types:
        return "ambiguous" if _is_renamed(one, other, my_words, their_words) else ""
    if len(types) != 1 or mine.keys() != theirs.keys() or _are_apart(my_words, their_words, common):
        return ""
    extra = [*my_words, *their_words]
    if len(extra) > min(MOST_EXTRA, len(common)) or any(_narrows(word, common) for word in extra):
        return ""
    changed = one.changed or other.changed
    single = all(
        _is_single(value, sentence, changed)
        for sentence, values in ((one, mine), (other, theirs))
        for value in values[types[0]]
    )
    return "contradictory" if single else ""


def _values(sentence: Sentence, extra: list[Word]) -> dict[str, list[Word]]:
    """Return the values of a sentence by type, without the numbers after a name that only this
    sentence has ("Apache 2.0")."""
    names = {word.root for word in extra if word.name}
    found: dict[str, list[Word]] = {}
    for word in sentence.words:
        if word.type and not (word.type == "number" and root(word.before) in names):
            found.setdefault(word.type, []).append(word)
    return found


def _differ(one: list[Word], other: list[Word]) -> bool:
    """Return True if neither list of values contains the other, and the same things are counted."""
    mine, theirs = {word.root for word in one}, {word.root for word in other}
    counted = {root(word.after) for word in (*one, *other) if word.after.endswith("s")}
    return not (mine <= theirs or theirs <= mine) and (one[0].type != "number" or len(counted) < 2)


def _names(one: Sentence, other: Sentence) -> list[str]:
    """Return the names in both sentences, in the order of the first one, if the order of names
    matters ("from Lyon to Turin"). Otherwise, return []."""
    if _DIRECTED.isdisjoint(one.every & other.every):
        return []
    names = {word.root for word in other.words if word.name and not word.type}
    return [word.root for word in one.words if word.name and word.root in names]


def _is_single(value: Word, sentence: Sentence, changed: bool) -> bool:
    """Return True if there is one value at a time, and the value does not specify a thing ("public
    repositories", "In May, …", "issue 12"). If `changed`, "on Fridays" is one value, too."""
    several = not _SEVERAL.isdisjoint(sentence.every)
    if value.type == "number":
        if stem(value.before) in _LABELS or (several and not value.after):
            return False
        amount = value.after in _AFTER_AMOUNT or stem(value.after) in UNITS
        return amount or root(value.before) not in sentence.roots()
    if value.type in _MEASURES:
        return True
    if several or (_is_plural(value, sentence) and not changed):
        return False
    if value.before in _WANTED:  # "Use camelCase for variables", "prefers short answers"
        return True
    if value == sentence.words[0]:
        return False
    return value.before in _IS | PREPOSITIONS | {"every", "due"} or value.after in PREPOSITIONS | {
        ""
    }


def _is_plural(value: Word, sentence: Sentence) -> bool:
    """Return True for one of several days ("on Fridays")."""
    return value.type == "day" and any(
        word.endswith("s") and root(word) == value.root for word in sentence.every
    )


def _is_renamed(one: Sentence, other: Sentence, mine: list[Word], theirs: list[Word]) -> bool:
    """Return True if the differing words are names in a relation that has only one name at a time:
    "X owns …", "… is X", "… lives in X", "use X for …"."""
    words = (*mine, *theirs)
    if min(len(mine), len(theirs)) > 1:
        return False
    if all(word.before in _USE and word.after in ("as", "for") for word in words):
        return True
    changed = one.changed or other.changed
    are_complements = all(map(_is_complement, (mine[-1], theirs[-1])))
    if changed and len(words) == 2 and mine[0].before == theirs[0].before in PREPOSITIONS:
        return True  # "Alerts now go to …"
    if not all(word.name for word in words):  # "The default branch is main"
        has_attribute = not _ATTRIBUTES.isdisjoint(map(stem, one.every & other.every))
        return len(words) == 2 and are_complements and has_attribute
    if not (_SEVERAL | _PLURAL).isdisjoint(one.every & other.every):
        return False
    common = one.roots() & other.roots()
    if any(word == sentence.words[0] for sentence in (one, other) for word in words):
        # "Dr. Weber is our dentist", "Our new dentist is Dr. Lang"
        is_same = all(_is_complement(word) or word.after in _IS for word in words)
        return "own" in common or (is_same and (changed or (one.definite and other.definite)))
    is_passive = not _PASSIVE.isdisjoint(one.every & other.every)  # "is written in …"
    return are_complements or is_passive or not _SINGLE.isdisjoint(common)


def _is_complement(value: Word) -> bool:
    """Return True for a word after "is" or after a colon."""
    return not value.after.strip(".0123456789") and (
        value.before in _IS or (not value.before and value.clause > 0)
    )


# -- words -----------------------------------------------------------------------------------------

_BEFORE = stem("before")
_ORDER = frozenset({_BEFORE, stem("after")})
_PREFIXES = ("un", "in", "im", "ir", "il", "non", "dis", "des", "dé")
_IS = word_set("is are be ist sind est sont es son")
_AFTER_AMOUNT = PREPOSITIONS | {"", "minimum", "maximum"}
_DIRECTED = word_set("from to von nach de à")
_USE = word_set("use uses using")
_WANTED = _USE | word_set("want wants prefer prefers require requires needs")
# "The backend is written in …": there is one answer.
_PASSIVE = word_set(
    "written built powered backed processed managed operated compiled signed hashed encrypted"
    " indented versioned provided branched cut generated licensed deployed rendered"
)
_NARROWING = word_set("for of with during in on when from")
_CONDITIONS = stem_set("when during while until whenever")
_BOUND = word_set("must always have has needs need required mandatory all every")
# Words that do not count if only one of the sentences has them.
_RELATIONS = root_set(
    "keep write access eat drink support work offer implement contain display appear exist install"
    " need"
)
_VAGUE = word_set(
    "too another additionally or either can may could usually typically also about around"
    " approximately roughly nearly almost circa"
)
_SEVERAL = word_set(
    "support supports accept accepts depends expose exposes opens forwards like likes loves enjoys"
    " knows speaks visits include includes contains reads writes exports imports produces handles"
    " offers provides recommends reviews meets sees calls plays describe describes mention mentions"
    " cover covers explains publishes published install installs cache caches unterstützen"
    " unterstützt"
)
_PLURAL = word_set("has have sister brother friend colleague member")
_MEASURES = word_set("number clock duration interval size share degrees money date")
_LABELS = stem_set(
    "gate issue pr ticket bug error chapter step page line item task test case build commit phase"
    " part section question number no figure table day week sprint milestone release model"
    " experiment lecture exercise lesson unit group team"
)
_SINGLE = root_set(
    "own live keep max min paint called named hosted formatted encoded due"
    " reports married works capital headquarters license birthday address timezone language level"
)
_ATTRIBUTES = stem_set(
    "default limit name owner language license branch level mode status type style theme format"
    " color colour size host region currency unit"
)

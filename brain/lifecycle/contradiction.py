"""Whether two texts contradict each other.

A mark in a person's note must be right, so in doubt the answer is no. A text is read sentence by
sentence. Two sentences contradict each other in one of three ways:

- polarity: the same words, affirmed in one and denied in the other;
- order: the same words, with the two sides of "A over B" exchanged;
- value: the same words but for the value of an attribute that has only one at a time, such as a
  port, a deadline, an owner or the place where something is stored.

Sentences about the past, guesses, questions and partial statements ("some", "sometimes") are not
compared. Values of relations that may have several ("supports", "likes", "has") are not compared.
"""

from __future__ import annotations

import re

from brain.formats.prose import fingerprint
from brain.formats.stems import stem
from brain.lifecycle.sentence import (
    IS,
    OVER,
    PREPOSITIONS,
    Sentence,
    sentences,
    stem_set,
    word_set,
)
from brain.record import NamedTuple


def contradicts(a: str, b: str) -> bool:
    """Return True if the texts cannot both be true."""
    if fingerprint(a) == fingerprint(b):
        return False
    return any(
        _are_comparable(one, other, at == to == 0) and _opposes(one, other) and _opposes(other, one)
        for at, one in enumerate(sentences(a))
        for to, other in enumerate(sentences(b))
        if one and other
    )


def _are_comparable(one: Sentence, other: Sentence, first: bool) -> bool:
    """Return True unless a short sentence may need those before it to be understood."""
    return first or min(len(one.words), len(other.words)) > 3


def _opposes(one: Sentence, other: Sentence) -> bool:
    return _denies(one, other) or _reverses(one, other) or _revalues(one, other)


# -- polarity --------------------------------------------------------------------------------------


def _denies(one: Sentence, other: Sentence) -> bool:
    if one.past or other.past or len(one.words) < 2:
        return False
    if one.denied == other.denied:
        stative = not IS.isdisjoint(one.all) and _are_opposite(one.words, other.words)
        return stative or _rules_out(one, other)
    if (one.optional and not other.bound) or (other.optional and not one.bound):
        return False
    return _is_rotation(_chosen(one), _chosen(other))


def _are_opposite(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Return True if only one word differs, by a prefix such as `un`, or as `public`, `private`."""
    if len(one) != len(other):
        return False
    differing = [pair for pair in zip(one, other, strict=True) if pair[0] != pair[1]]
    if len(differing) != 1:
        return False
    low, high = sorted(differing[0], key=len)
    return frozenset((low, high)) in _OPPOSITES or (
        len(low) > 3 and high in {prefix + low for prefix in _PREFIXES}
    )


def _is_rotation(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Return True for the same words in the same order, wherever the sentence begins."""
    if sorted(one) != sorted(other):
        return False
    return any(one[at:] + one[:at] == other for at in range(len(one)))


# -- order -----------------------------------------------------------------------------------------


def _chosen(sentence: Sentence) -> tuple[str, ...]:
    """Return the words up to "instead of", or all."""
    words = sentence.words
    return words[: words.index(OVER)] if OVER in words else words


def _rules_out(one: Sentence, other: Sentence) -> bool:
    """Return True if one says "A instead of B" and the other only B."""
    if (OVER in one.words) == (OVER in other.words) or one.denied:
        return False
    chosen, plain = (one, other) if OVER in one.words else (other, one)
    at = chosen.words.index(OVER)
    return at > 1 and (*chosen.words[: at - 1], *chosen.words[at + 1 :]) == plain.words


def _reverses(one: Sentence, other: Sentence) -> bool:
    """Return True if the two sides of "A instead of B" are exchanged."""
    if OVER not in one.words or OVER not in other.words or one.denied != other.denied:
        return False
    at = one.words.index(OVER)
    before, after = one.words[:at], one.words[at + 1 :]
    return any(
        (*before[:-left], *after[:right], OVER, *before[-left:], *after[right:]) == other.words
        for left in range(1, min(3, len(before)) + 1)
        for right in range(1, min(3, len(after)) + 1)
    )


# -- value -----------------------------------------------------------------------------------------


class Value(NamedTuple):
    """The words in which a sentence differs from another, and the common words around them."""

    before: tuple[str, ...]
    words: tuple[str, ...]
    raw: tuple[str, ...]
    after: tuple[str, ...]


def _revalues(one: Sentence, other: Sentence) -> bool:
    if one.denied or other.denied or one.past or other.past or "a" in (one.article, other.article):
        return False
    if _SEVERAL.intersection(one.all) or _SEVERAL.intersection(other.all):
        return False
    mine, its = _difference(one, other), _difference(other, one)
    if not mine.words or not its.words or _are_equal(mine.words, its.words):
        return False
    if all(map(_is_quantity, (*mine.words, *its.words))):
        return _is_one_number(mine, its) or _is_one_attribute(one, other)
    if _is_one_attribute(one, other):
        return True
    if max(len(mine.words), len(its.words)) > 3:
        return False
    return (
        _is_one_value(mine, its, one.article == "the")
        if mine.before
        else _is_one_subject(mine, its)
    )


def _difference(one: Sentence, other: Sentence) -> Value:
    """Return the words of a sentence between those at its beginning and end that both have."""
    shorter = min(len(one.all), len(other.all))
    start = 0
    while start < shorter and _is_equal(one.all[start], other.all[start]):
        start += 1
    stop = 0
    while stop < shorter - start and _is_equal(one.all[-1 - stop], other.all[-1 - stop]):
        stop += 1
    end = len(one.all) - stop
    return Value(one.all[:start], one.all[start:end], one.raw[start:end], one.all[end:])


def _is_equal(one: str, other: str) -> bool:
    if one in IS and other in IS:
        return True
    return one == other or (one.isalpha() and other.isalpha() and stem(one) == stem(other))


def _are_equal(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Return True if the values are one in two spellings (1 minute, 60 seconds; Postgres,
    PostgreSQL), or one is part of the other."""
    if set(one) <= set(other) or set(other) <= set(one):
        return True
    mine, its = _seconds(one), _seconds(other)
    if mine is not None and mine == its:
        return True
    low, high = sorted(("".join(one), "".join(other)), key=len)
    return len(low) > 3 and high.startswith(low) and not _is_number(low)


def _seconds(value: tuple[str, ...]) -> float | None:
    if len(value) != 2 or stem(value[1]) not in _SECONDS:
        return None
    try:
        return float(value[0]) * _SECONDS[stem(value[1])]
    except ValueError:
        return None


def _is_number(word: str) -> bool:
    return any(map(str.isdigit, word))


def _is_quantity(word: str) -> bool:
    return _is_number(word) or stem(word) in _UNITS or stem(word) in _DATES or word in ("of", "de")


def _are_units(mine: Value, its: Value) -> bool:
    """Return True if one number is given in two units (5 MB, 5 GB)."""
    units = all(stem(word) in _UNITS for word in (*mine.words, *its.words))
    return units and bool(mine.before) and _is_number(mine.before[-1])


def _is_one_number(mine: Value, its: Value) -> bool:
    """Return True if numbers are amounts or values of an attribute, not part of a name."""
    if _ABOUT.intersection(mine.before):
        return False
    if not mine.before:
        return bool(IS.intersection(mine.after)) and _is_count(mine) and _is_count(its)
    undated = [word for word in mine.before if stem(word) not in _DATES]
    before, last, stems = " ".join(undated), mine.before[-1], [*map(stem, mine.before)]
    if stems[-1] in _LABELS or (mine.after[:1] and mine.after[0] in _VERBS):
        return False
    if last in ("at", "on") and _PERIODS.intersection(mine.before):
        return True
    if last in IS or any(pattern.search(before) for pattern in (_SINGLE, _WHEN, _USES)):
        return True
    if _are_units(mine, its):
        return True
    if _ATTRIBUTES.intersection(stems) and (stems[-1] in _ATTRIBUTES or last in ("of", "to")):
        return len(stems) > 1 and _PLURAL_VERBS.isdisjoint(stems)
    if any(stem(word) in _DATES for word in mine.words):
        return False
    return _is_count(mine) and _is_count(its)


def _is_count(value: Value) -> bool:
    """Return True for a whole number of things: the number is followed by what is counted."""
    number, *rest = *value.words, *value.after[:1]
    if not number.isdigit() or not rest:
        return False
    if stem(rest[0]) in _UNITS:
        return True
    plural = rest[0] in _PLURALS or (rest[0].isalpha() and rest[0].endswith("s"))
    if not (plural or number == "1") or rest[0] in _VERBS:
        return False
    return not value.before or (len(value.before) > 1 and value.before[-1] not in PREPOSITIONS)


def _is_one_attribute(one: Sentence, other: Sentence) -> bool:
    """Return True for two values of one attribute of one thing, in other words ("port 80")."""
    mine, its = _attribute(one), _attribute(other)
    if mine is None or its is None or mine[1] == its[1]:
        return False
    return (mine[0], mine[2]) == (its[0], its[2]) and bool(mine[2])


def _attribute(sentence: Sentence) -> tuple[str, str, frozenset[str]] | None:
    """Return an attribute, its number, and what has that attribute; None if there is none."""
    every = sentence.all
    for at, word in enumerate(every):
        if stem(word) in _ATTRIBUTES:
            rest = [other for other in every[at + 1 :] if other not in _LIGHT]
            thing = frozenset(sentence.words) - _LIGHT - {stem(word), *rest[:1]}
            numbers = [other for other in every if _is_number(other)]
            if at and rest and numbers == rest[:1] and not _PLURAL_VERBS & thing:
                return stem(word), rest[0], thing
    return None


def _is_one_value(mine: Value, its: Value, definite: bool) -> bool:
    """Return True if what differs is the only value that the words before it can have."""
    before = " ".join(mine.before)
    named = _is_name(mine.raw) and _is_name(its.raw)
    stems = {stem(word) for word in mine.before}
    if not named and len(mine.words) + len(its.words) > 2:
        return False
    if not PREPOSITIONS.isdisjoint((*mine.words, *its.words)):
        return False
    if _SINGLE.search(before) or mine.after[:1] == ("as_the",):
        return True
    if len(mine.after) == 1 and mine.before[-1] in ("use", "uses"):  # "uses the MIT license"
        return named and stem(mine.after[0]) in _ATTRIBUTES
    if mine.after or len(mine.before) < 2 or mine.before[-1] not in (*IS, "is_in"):
        return False
    if mine.before[-1] == "is_in":
        return named and bool(_PLACED & stems)
    if _ATTRIBUTES & stems:
        return True
    return named and definite and not _PERSONS & stems


def _is_one_subject(mine: Value, its: Value) -> bool:
    """Return True if only one can do or be this: "X owns …", "X is the lead of …"."""
    named = _is_name(mine.raw) and _is_name(its.raw)
    return named and bool(_HELD.match(" ".join(mine.after)))


def _is_name(raw: tuple[str, ...]) -> bool:
    return all(word != word.lower() or not word.isalpha() for word in raw)


# -- words -----------------------------------------------------------------------------------------

_OPPOSITES = frozenset(
    frozenset(map(stem, pair.split()))
    for pair in (
        "public private", "manual automatic", "manually automatically", "open closed",
        "internal external", "before after", "high low", "strict lenient",
        "single multiple", "passes fails", "succeeds fails", "uppercase lowercase",
        "ascending descending", "safe dangerous", "slow fast", "free paid",
    )
)  # fmt: skip
_PREFIXES = ("un", "in", "im", "ir", "il", "non", "dis", "a")
_PERIODS = word_set("daily nightly weekly monthly yearly every each annual")
_PLURALS = word_set("children people men women mice")
_VERBS = word_set("is are has does was needs requires runs uses opens means costs takes supports")
_LIGHT = word_set(
    "is are is_the is_in of to on at set use uses us run runs listen listens has have bind binds"
)
_SEVERAL = word_set("also too another additionally or either can may could usually typically")
_ABOUT = word_set("about around approximately roughly nearly almost circa")
_DATES = stem_set(
    "january february april june july august september october november december monday tuesday"
    " wednesday thursday friday saturday sunday januar februar märz mai juni juli oktober dezember"
    " janvier février mars avril juin juillet août septembre octobre novembre décembre enero"
    " febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
    " montag dienstag mittwoch donnerstag freitag samstag sonntag lundi mardi mercredi jeudi"
    " vendredi samedi dimanche lunes martes miércoles jueves viernes sábado domingo"
)
_ATTRIBUTES = stem_set(
    "port deadline default limit maximum minimum timeout size length width budget price owner name"
    " birthday region address timezone quota threshold interval frequency rate cost salary age"
    " favorite favourite capital language license licence headquarters url host hostname version"
    " password username email phone manager lead ceo cto director branch retention ttl"
    " puerto plazo límite échéance délai limite frist standard zeitzone"
)
_LABELS = stem_set(
    "gate issue pr ticket bug error chapter step page line room item task test case build commit"
    " phase part section question number no figure table day week sprint milestone release model"
)
_PERSONS = stem_set(
    "user he she author reviewer sister brother friend colleague child member client"
)
_PLACED = stem_set(
    "office server headquarters datacenter cluster database company conference warehouse event"
    " venue"
)
_PLURAL_VERBS = stem_set("expose open support accept forward block close like visit include")
_HELD = re.compile(
    r"(?:owns|leads|manages|chairs|heads|is in charge of|is responsible for|is_the)\b"
)
_SECONDS = {"ms": 0.001, "second": 1.0, "sec": 1.0, "s": 1.0, "minut": 60.0, "min": 60.0}
_SECONDS |= {"hour": 3600.0, "h": 3600.0, "dai": 86400.0, "d": 86400.0, "week": 604800.0}
_UNITS = frozenset(_SECONDS) | stem_set(
    "month year kb mb gb tb bytes percent px pixel am pm utc cet k time space character column"
    " euro dollar eur usd km kg mg cm retry attempt approval stunden tage minuten wochen jours"
    " heures días horas minutos"
)
# Words after which there is one value at a time, and one time.
_SINGLE = re.compile(
    r"\b(?:answer|reply|respond) in$"
    r"|(?<= )(?:lives? (?:in|at)|resides? in|works (?:at|for|as)|reports to|defaults? to"
    r"|listens? on|points? to|(?:takes? place|happens) (?:on|at|in)|belongs to"
    r"|(?:is|are) (?:hosted|stored|kept|saved|written|formatted|encoded|held|configured|defined)"
    r" (?:in|on|at|with|by|as)"
    r"|is (?:located|based|owned|led|managed|set|headed|licensed) (?:in|on|at|by|to|under)"
    r"|are set to|(?:is|are) (?:called|named)|is married to"
    r"|(?:wohnt|liegt) in|vive en|habite à|est à|está en)$"
)
_WHEN = re.compile(
    r"\b(?:(?:starts?|begins?|ends?|opens|closes|runs?|is due|is scheduled|is|are) (?:at|on)"
    r"|(?:starts?|begins?|ends?|is due|is scheduled) (?:in|by|for)|expires? (?:after|in|on)"
    r"|(?:is|are) due|ist (?:am|um))$"
)
_USES = re.compile(r"\b(?:runs on|uses?|requires?|is on|(?:is|are) pinned to|targets) [\w.+#-]+$")

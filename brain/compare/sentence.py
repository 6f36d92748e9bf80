"""Parse a sentence for comparison with another one.

A sentence is compared by the stems of its content words. Words with the same meaning ("maximum",
"cap") have the same root. A clause with an odd number of denials ("not", "stopped", "disabled") is
denied, except for the subject of "forbids". In "A instead of B", B is denied. Numbers with their
units, dates, times, and words that exclude each other ("public", "private") are values of a type. A
sentence that says nothing definite cannot be compared: a question, a condition, a plan, a guess, or
a partial statement ("some").
"""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import normalize

from brain._tuples import NamedTuple
from brain.compare import vocabulary as vocab
from brain.compare.vocabulary import OVER, PREPOSITIONS, root
from brain.formats.inline import prose, without_links
from brain.words import stem

LONGEST = 400  # characters of a sentence that is compared
MOST = 30  # sentences of a text that are compared


class Word(NamedTuple):
    """A content word, and the words around it, in lower case and without articles."""

    root: str
    type: str  # the type of a value; "" for any other word
    denied: bool
    clause: int
    name: bool  # written as a name or as code
    before: str  # "" at the beginning of a clause
    after: str  # "" at the end of a clause


class Sentence(NamedTuple):
    """The content words of a sentence, and what else is known of it."""

    words: tuple[Word, ...]
    every: frozenset[str]  # all words, in lower case
    verbs: frozenset[str]  # roots of its words that are too vague to be content ("change", "set")
    past: bool
    indefinite: bool  # about one of several: it begins with "a", or says "has a"
    optional: bool  # "need not", "does not have to"
    definite: bool  # "Ana is the …"
    changed: bool  # it says that something is not as before: "now", "our new", "moved"

    def roots(self, denied: bool | None = None) -> set[str]:
        """Return the roots of all words, or only of the words with this value of `denied`."""
        return {word.root for word in self.words if denied in (None, word.denied)}


@lru_cache(64)  # one text is compared with many
def sentences(text: str) -> tuple[Sentence | None, ...]:
    """Return a text without nested lines as one sentence, followed by its sentences if there are
    several. A sentence that cannot be compared is None.
    """
    plain = normalize("NFKC", prose(without_links(text)))
    plain = plain.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").replace("\N{MINUS SIGN}", "-")
    plain = " ".join(_NESTED.split(_TITLE.sub(r"\1", plain), maxsplit=1)[0].split())
    parts = [part for part in _END.split(plain) if part][:MOST]
    return tuple([_sentence(part) for part in (parts if len(parts) == 1 else [plain, *parts])])


def _sentence(part: str) -> Sentence | None:
    if len(part) > LONGEST or part.endswith(("?", ":")):
        return None
    changed = bool(_NEW.search(part))
    part = vocab.rewritten(part)
    clauses = [_WORD.findall(clause) for clause in _CLAUSE.split(part)]
    lower = [word.casefold() for clause in clauses for word in clause]
    if not lower or _INCOMPARABLE.search(part) or not vocab.UNSURE.isdisjoint(lower):
        return None
    moved = not vocab.CHANGES.isdisjoint(map(stem, lower))
    return Sentence(
        words=tuple(
            [word for index, clause in enumerate(clauses) for word in _words(clause, index)]
        ),
        every=frozenset(lower),
        verbs=frozenset(map(root, lower)) & vocab.VERBS,
        past=not moved and (not vocab.EVENTS.isdisjoint(lower) or any(map(_is_past, clauses))),
        indefinite=bool(_INDEFINITE.search(part)),
        optional=bool(_OPTIONAL.search(" ".join(lower))),
        definite=bool(_DEFINITE.search(part)),
        changed=changed or moved,
    )


def _words(raw: list[str], clause: int) -> list[Word]:
    """Return the content words of a clause. A denial applies to all words of the clause, and
    "instead of" applies to the words up to the next preposition."""
    raw = [word for word in raw if word.casefold() not in vocab.SKIPPED]
    lower = [vocab.NUMBERS.get(word.casefold(), word.casefold()) for word in raw]
    denials, is_replaced, asserted = 0, False, 0
    found: list[Word] = []
    for index, word in enumerate(lower):
        before, after = (
            lower[index - 1] if index else "",
            lower[index + 1] if index + 1 < len(lower) else "",
        )
        code = word.startswith("`")
        meaning = word.strip("`") if code else root(word)
        is_replaced = word == OVER or (is_replaced and word not in PREPOSITIONS)
        if word in vocab.DENIALS or meaning in vocab.NEGATIVE:
            denials += 1
            if meaning in vocab.NEGATIVE and word.endswith("s"):  # "the lease forbids dogs"
                asserted = len(found)
        elif code or not (
            word in vocab.EMPTY or _is_vague(raw[index], meaning, index) or _is_unit(word, before)
        ):
            name = code or not word.isalpha() or raw[index] != word
            type, meaning = _value(meaning, raw[index], before, after)
            found.append(Word(meaning, type, is_replaced, clause, name, before, after))
    return [
        word._replace(denied=word.denied != (denials % 2 == 1 and index >= asserted))
        for index, word in enumerate(found)
    ]


def _is_vague(word: str, meaning: str, index: int) -> bool:
    """Return True for a word without a meaning of its own, unless it is a name ("Go")."""
    return meaning in vocab.VAGUE and not (index and word.istitle())


def _is_unit(word: str, before: str) -> bool:
    return before[:1].isdigit() and stem(word) in vocab.UNITS


def _value(meaning: str, word: str, before: str, after: str) -> tuple[str, str]:
    """Return the type of a value, and the value (in seconds for "2 min"). For a word that is not a
    value, return ("", meaning)."""
    if meaning in vocab.TYPES:
        return vocab.TYPES[meaning], vocab.SECONDS.get(meaning, meaning)
    if not meaning[0].isdigit():  # "room B" has a number too
        return "number" if _LETTER.match(word) else "", meaning
    number, unit = meaning.replace(",", ""), stem(after)
    clock = _CLOCK.match(number)
    if clock and (clock[2] or unit in vocab.HOURS or (before in vocab.AT and not unit)):
        return "clock", f"{int(clock[1]) + 12 * (unit == 'pm')}:{clock[2] or '00'}"
    if _DAY.match(word) or not vocab.MONTHS.isdisjoint((stem(before), unit)):
        return "date", number
    type, factor = vocab.UNITS.get(unit, ("number", 1.0))
    if factor != 1.0 and number.replace(".", "", 1).isdecimal():
        number = f"{float(number) * factor:.9g}"
    return "interval" if before in ("every", "each") else type, number


def _is_past(raw: list[str]) -> bool:
    """Return True for an event: a verb in the past, in the active voice."""
    if not vocab.BE.isdisjoint(raw[1:]):
        return False
    for index, word in enumerate(map(str.casefold, raw)):
        if word in vocab.PAST:
            return True
        if word.endswith("ed") and len(word) > 4:
            after = raw[index + 1] if index + 1 < len(raw) else ""
            # "failed jobs" is not about the past, "failed the test" is
            event = not index or after[:1].isdigit() or after in vocab.SKIPPED | PREPOSITIONS
            if event and stem(word) not in vocab.NEGATIVE and stem(word) not in vocab.TYPES:
                return True
    return False


_END = re.compile(r"(?<=[.!?])\s+|;\s+(?!(?:it|they|she|he)\b)")
_TITLE = re.compile(r"\b(Dr|Mrs?|Ms|St|Prof|vs|e\.g|i\.e)\.(?= )")
_NESTED = re.compile(r"\n(?=\s*(?:\n|(?:[-*+]|\d{1,9}[.)])\s))")
_CLAUSE = re.compile(r"[,:;()!\u2013\u2014]+(?:\s|$)|\.\s|\s[-(]+\s?|\s(?:but|while)\s")
_WORD = re.compile(r"`[^`]+`|\d+(?:,\d{3})+\b|[~./@#$]*\w(?:[\w.+#/:@'-]*[\w+#])?|[%°€$]+C?")
# Sentences that cannot be compared: tasks ("TODO: …"), steps ("Disable a plugin"), sentences whose
# subject is in another sentence ("They …"), and "never without".
_INCOMPARABLE = re.compile(
    r"^(?:todo|fixme|idea|wish)\b|^(?:enable|disable|add|remove) an? \w+\W*$|^to [^,]*$"
    r"|\b(?:no|not|never|nobody)\b.*\bwithout\b"
    r"|^(?:they|he|she|it(?! is (?:\w+ )?(?:to|that))|(?:this|that)(?= is\b)) ",
    re.IGNORECASE,
)
_OPTIONAL = re.compile(r"\bnot (?:have|need|required|necessar\w+|always|all|every)\b|\bneed not\b")
_NEW = re.compile(r"\b(?:now|(?:our|my|the|his|her|their|'s) new|jetzt|ahora|maintenant)\b", re.I)
_DEFINITE = re.compile(r"^\w+(?: [A-Z]\w+)? (?:is|are|ist|est|es) (?:the|der|die|le|la|el)\b")
_INDEFINITE = re.compile(
    r"^(?:an?|eine?|une?|una)\b(?! single)|\bha(?:s|ve) an?\b(?! single)", re.IGNORECASE
)
_LETTER = re.compile(r"[A-HJ-Z]$")
_CLOCK = re.compile(r"(\d{1,2})(?::(\d\d))?$")
_DAY = re.compile(r"\d{4}-\d\d-\d\d$|\d{1,2}\.\d{1,2}\.|\d{1,2}(?:st|nd|rd|th)$")

"""Read a question as a person types it: its terms, their other forms and aliases, the speakers and
the times that it names.

The six steps: remove URLs, replace hyphens by spaces, remove other punctuation, remove single
characters, quote every word, and join the words with OR. The exceptions: text in quotes is a
phrase. A `#tag`, a path or an identifier is looked up as one phrase and by its words, and entries
that contain it exactly come first. Characters of scripts without spaces are looked up one by one.
Stop words are used only if there are no other words.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import chain, islice

from brain._tuples import NamedTuple
from brain.config import Config
from brain.formats.text import UNSPACED
from brain.words import FILLERS, STOP_WORDS, bases, fold, forms, is_small_talk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_SMALL = STOP_WORDS | FILLERS
_URL = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]{0,30}://\S+|\b[wW]{3}\.\S+")
_QUOTED = re.compile(r'"([^"]*)"|\u201c([^\u201c\u201d]*)\u201d')
_WORD = re.compile(r"[^\W_]+")
_UNSPACED_RUN = f"[{UNSPACED}]+"  # compiled only when a question needs it
_AROUND = (
    ".,;:!?()[]{}<>'\"`，。、；：！？（）「」"  # characters around a name that are not part of it
)
_BEFORE = _AROUND.replace(".", "")
_SIGNED = re.compile(r"--?[A-Za-z]|\.[A-Za-z]|[A-Za-z]\w*\+\+\Z|[A-Za-z]{1,2}#\Z")  # .env, C++
_NAMED_TAG = re.compile(r"\Atag:#?(?=\w)", re.I)  # as Obsidian searches for a tag
_DOTTED = re.compile(r"[0-9]+(?:\.[0-9]+){2,}")
MAX_TERMS = 64  # terms of a question, and words of a phrase
LONGEST = 200  # characters of a word; a longer one is data

_SHORTENED = re.compile(r"['\u2019](?:s|d|ll|re|ve|m)\b|\b\w*n['\u2019]t\b", re.I)  # she's, don't


class Term(NamedTuple):
    """Adjacent words, in one column ('' for any).

    `exact` is the text as written, for a quotation, a tag, a path or an identifier.
    """

    words: tuple[str, ...]
    column: str = ""
    exact: str = ""


def terms(question: str) -> tuple[Term, ...]:
    """Return the terms of a question; () if it has no words. The time is linear in its length."""
    text = unicodedata.normalize("NFC", question)
    found: list[Term] = []

    def phrase(match: re.Match[str]) -> str:
        found.extend(quoted := _quotation(match.group(1) or match.group(2) or ""))
        return " " if quoted else f" {match.group()[1:-1]} "

    text = _QUOTED.sub(phrase, _URL.sub(" ", text))
    tokens = dict.fromkeys(text.split())
    is_only_token = len(tokens) == 1 and not found
    return _without_stop_words(
        chain(found, *(_token_terms(token, is_only_token) for token in tokens))
    )


def without_quotes(question: str) -> str:
    """Return the question without quotation marks, so that quotations are plain words."""
    return _QUOTED.sub(lambda match: f" {match.group()[1:-1]} ", question)


def _words(text: str) -> Iterator[str]:
    return (word for found in _WORD.finditer(text) if len(word := found.group()) <= LONGEST)


def _quotation(text: str) -> list[Term]:
    """Return the terms of a quotation. A quotation is one phrase. If it contains
    characters of a language without spaces, such as Chinese, they are one term together, and each
    of the remaining words is a term."""
    if not text.isascii() and re.search(_UNSPACED_RUN, text):
        text = text[:LONGEST]
        characters = Term(tuple("".join(re.findall(_UNSPACED_RUN, text))), "spaced", f'"{text}')
        return [characters, *(Term((word,)) for word in _words(re.sub(_UNSPACED_RUN, " ", text)))]
    first = list(islice(_WORD.finditer(text), MAX_TERMS))
    words = tuple(found.group() for found in first)
    if not words or max(map(len, words)) > LONGEST:
        return []
    return [Term(words, exact=f'"{text if len(first) < MAX_TERMS else text[: first[-1].end()]}')]


def _token_terms(token: str, is_only_token: bool) -> Iterator[Term]:
    """Yield the terms of a token: a tag or name, and the words in it."""
    token = _NAMED_TAG.sub("#", token)
    runs = "" if token.isascii() else _UNSPACED_RUN
    if len(token) > LONGEST and not (runs and re.search(runs, token)):
        return
    plain = _SHORTENED.sub("", token)
    if len(token) <= LONGEST and (tag := _tag(plain)):
        yield tag
    text = re.sub(runs, " ", plain) if runs else plain
    for piece in text.split():
        words = list(_words(piece))
        name = piece.rstrip(_AROUND).lstrip(_BEFORE)
        is_name = words and len(piece) <= LONGEST and _is_a_name(name, words, is_only_token)
        if is_name:
            yield Term(tuple(words), exact=name)
        if not is_name or len(words) > 1:
            yield from (Term((word,)) for word in words)
    for run in re.finditer(runs, token) if runs else ():
        yield from (Term(tuple(part), "spaced") for part in _parts(run.group()))


def _tag(token: str) -> Term | None:
    """Return the term for a tag; None for other tokens. `#123` is not a tag in Obsidian."""
    text = token.lstrip(_BEFORE)
    tag = text.strip(f"#{_AROUND}").rstrip("/")
    if not text.startswith("#") or tag.isdigit() or not (words := tuple(_words(tag))):
        return None
    return Term(words, "tags", f"#{tag}")


def _is_a_name(text: str, words: list[str], is_only_token: bool) -> bool:
    """Return True for a path or an identifier. `and/or`, `10:30`, `well-known` and `GitHub` count
    as names only if they are the whole question."""
    if text.startswith("#"):
        return text[1:].isdigit()
    if is_only_token:
        return not text.isalnum() or bool(re.search("[a-z][A-Z]", text))
    if _SIGNED.match(text):
        return True
    if len(words) == 1:
        return bool(re.match("[a-z]+[A-Z]", text))
    if all(word.isdigit() for word in words):
        return "-" in text or bool(_DOTTED.fullmatch(text))
    if "-" in text.replace("->", ""):
        return any(map(str.isdigit, text)) or _is_a_header(words)
    return any(len(word) > 1 and not word.isdigit() for word in words) and not all(
        word.casefold() in _SMALL for word in words
    )


def _is_a_header(words: list[str]) -> bool:
    """Return True for `X-Request-ID`, False for `Sci-Fi`."""
    shouted = any(len(word) > 1 and word.isupper() for word in words)
    return all(word[0].isupper() for word in words) and (shouted or len(words) > 2)


def _parts(run: str) -> Iterator[str]:
    """Yield the whole run and, if it is longer than a word, its pairs of characters."""
    if len(run) <= LONGEST:
        yield run
    if len(run) > 2:
        yield from dict.fromkeys(run[i : i + 2] for i in range(len(run) - 1))


def _without_stop_words(found: Iterable[Term]) -> tuple[Term, ...]:
    """Return the first distinct terms, without single letters, and without stop words unless there
    are no other words."""
    content_terms: dict[Term, None] = {}
    stop_words: dict[Term, None] = {}
    for term in found:
        if term.column or term.exact or len(term.words[0]) > 1:
            is_content = term.exact or term.words[0].casefold() not in _SMALL
            (content_terms if is_content else stop_words)[term] = None
        if len(content_terms) == MAX_TERMS:
            break
    return tuple(content_terms or stop_words)[:MAX_TERMS]


# -- concepts: terms with their other forms and the user's own aliases -----------------------------

ALIAS_WEIGHT = 0.5  # weight of an alias, relative to the word itself
SMALL_TALK_WEIGHT = 0.25  # of a word that says little about a topic, relative to another word
_PIECE = f"[{UNSPACED}]+|[^\\W_{UNSPACED}]+"  # compiled only when an alias needs it


class Concept(NamedTuple):
    """A term of a question and its alternatives, each with its weight. `weight` is that of the
    concept in memories, items and tasks."""

    term: Term
    others: tuple[tuple[str, float], ...] = ()
    weight: float = 1.0

    @property
    def every(self) -> tuple[tuple[Term, float], ...]:
        """The term and its alternatives, each with its weight."""
        return ((self.term, 1.0), *((_term(words), weight) for words, weight in self.others))


def concepts(
    wanted: Sequence[Term], config: Config, question: str, *, irregular: bool = False
) -> list[Concept]:
    """Return the concepts of a question. With `irregular`, irregular forms are alternatives."""
    aliases = own_aliases(config.aliases)
    terms_with_weights: list[tuple[Term, dict[str, float]]] = []
    for term in wanted:
        word = _word(term)
        others = dict.fromkeys(forms(word), 1.0) if irregular and word and not term.column else {}
        if aliases:
            names = (word, *bases(word)) if word else (fold(term.exact),)
            known = (aliases.get(name, ()) for name in names)
            others = {other: ALIAS_WEIGHT for synonyms in known for other in synonyms} | others
        terms_with_weights.append((term, others))
    for head in _aliased_phrases(question, aliases) if aliases else ():
        _add_phrase_aliases(terms_with_weights, head, aliases[head])
    return [
        Concept(term, tuple(others.items()), _weight(term)) for term, others in terms_with_weights
    ]


def _weight(term: Term) -> float:
    """Return the weight of a term in memories, items and tasks, which is low for small talk. In
    notes and conversations, the same words are often what a question is about."""
    is_plain = len(term.words) == 1 and not (term.exact or term.column)
    return SMALL_TALK_WEIGHT if is_plain and is_small_talk(term.words[0]) else 1.0


def _term(words: str) -> Term:
    if not words.isascii() and re.fullmatch(f"[{UNSPACED}]+", words):
        return Term(tuple(words), "spaced")
    return Term(tuple(words.split()))


def _word(term: Term) -> str:
    """Return the folded word, or run of characters, that may have aliases; '' for other terms."""
    if term.column == "spaced":
        return fold("".join(term.words))
    return fold(term.words[0]) if len(term.words) == 1 and not (term.column or term.exact) else ""


@lru_cache(maxsize=8)
def own_aliases(entries: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return the aliases of each folded word. All words in `word=other, words` are equivalent."""
    found: dict[str, dict[str, None]] = {}
    for word, others in map(split_alias, entries):
        group = [word, *others] if word and others else []
        for member in group:
            found.setdefault(member, {}).update(dict.fromkeys(o for o in group if o != member))
    return {word: tuple(others) for word, others in found.items() if others}


def split_alias(entry: str) -> tuple[str, tuple[str, ...]]:
    """Return (word, others) of `word=other, words`, folded, without duplicates."""
    word, _, rest = entry.partition("=")
    word, *others = [fold(" ".join(part.split())) for part in (word, *rest.split(","))]
    return word, tuple(dict.fromkeys(other for other in others if other and other != word))


def _aliased_phrases(question: str, aliases: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the aliased phrases, of several words or characters, that occur in a question."""
    long = [head for head in aliases if not (head.isascii() and head.isalnum())]
    if not long:
        return
    folded = fold(question)
    pieces = [{piece, *bases(piece)} for piece in re.findall(_PIECE, folded)]
    for head in long:
        parts = re.findall(_PIECE, head)
        if re.fullmatch(f"[{UNSPACED}]{{2,}}", head):
            if head in folded:
                yield head
        elif len(parts) > 1 and any(
            all(part in piece for part, piece in zip(parts, pieces[start:], strict=False))
            for start in range(len(pieces) - len(parts) + 1)
        ):
            yield head


def _add_phrase_aliases(
    every: Sequence[tuple[Term, dict[str, float]]], head: str, others: Sequence[str]
) -> None:
    """Divide the weight of the aliases of a phrase among the terms of the question that are part of
    the phrase."""
    parts = set(re.findall(_PIECE, head))
    pairs = {head[start : start + 2] for start in range(len(head) - 1)}
    own_weights = []
    for term, weights in every:
        word = _word(term)
        is_part = word in pairs if term.column == "spaced" else parts & {word, *bases(word)}
        if word and (is_part or word == head):
            own_weights.append(weights)
    for weights in own_weights:
        for other in others:
            weights.setdefault(other, ALIAS_WEIGHT / len(own_weights))


# -- the expected answer ---------------------------------------------------------------------------

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_ASKS_WHEN = re.compile(
    r"\bwhen\b|\A\W*(?:since |until |by )?(?:how long|(?:in |on |at )?(?:what|which) "
    r"(?:date|day|month|year|week|time|season))\b"
)
_MONTH = "|".join(MONTHS)
_DATE = re.compile(
    rf"\b(?P<iso>[12][0-9]{{3}}-[01][0-9](?:-[0-3][0-9])?)\b"
    rf"|\b(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<month>{_MONTH})\b"
    rf"(?:,? (?P<year>(?:19|20)[0-9]{{2}}))?"
    rf"|\b(?P<month2>{_MONTH})\b(?: (?P<day2>[0-9]{{1,2}})(?:st|nd|rd|th)?\b)?"
    rf"(?:,? (?P<year2>(?:19|20)[0-9]{{2}}))?"
    rf"|\b(?:in|of|during|since) (?P<year3>(?:19|20)[0-9]{{2}})\b"
)


class Expected(NamedTuple):
    """Properties that the answer to a question should have."""

    names: frozenset[str] = frozenset()  # folded names of speakers in the question
    time: bool = False  # True if the question asks for a time
    dates: tuple[tuple[str, str, str], ...] = ()  # (year, month, day) in the question, '' for any


def expected(question: str, speakers: Iterable[str]) -> Expected:
    """Return the expected answer of a question, in a vault with these speakers."""
    folded = fold(question)
    words = set(re.findall(r"[^\W_]+", folded)) - STOP_WORDS
    names = {fold(name) for name in speakers}
    named = frozenset(name for name in names if words.intersection(name.split()))
    return Expected(named, bool(_ASKS_WHEN.search(folded)), tuple(_dates(folded)))


def _dates(folded: str) -> list[tuple[str, str, str]]:
    dates = []
    for match in _DATE.finditer(folded):
        if match["iso"]:
            year, month, *day = match["iso"].split("-")
            dates.append((year, month, "".join(day)))
            continue
        name = match["month"] or match["month2"] or ""
        date = match["day"] or match["day2"] or ""
        year = match["year"] or match["year2"] or match["year3"] or ""
        if name != "may" or date or year:  # `may` alone is mostly a verb
            number = f"{MONTHS.index(name) + 1:02}" if name else ""
            dates.append((year, number, date and f"{int(date):02}"))
    return dates

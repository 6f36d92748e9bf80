"""A question as a person types it: the words to look up, whom it names, what time it asks for.

The six steps: URLs go, hyphens become spaces, other punctuation goes, single characters go, every
word is quoted, the words are joined with OR. The exceptions: text in quotes is a phrase; a `#tag`,
a path or an identifier is looked up as one phrase besides its words, and what holds it exactly so
comes first; characters of scripts without spaces count one by one; stop words do not vote when
other words are there.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import chain, islice

from brain._tuples import NamedTuple
from brain.formats.text import UNSPACED
from brain.words import FILLERS, STOP_WORDS, fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SMALL = STOP_WORDS | FILLERS
_URL = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]{0,30}://\S+|\b[wW]{3}\.\S+")
_QUOTED = re.compile(r'"([^"]*)"|\u201c([^\u201c\u201d]*)\u201d')
_WORD = re.compile(r"[^\W_]+")
_RUN = f"[{UNSPACED}]+"  # compiled when a question needs it, which few do
_AROUND = ".,;:!?()[]{}<>'\"`，。、；：！？（）「」"  # no part of the name beside it
_BEFORE = _AROUND.replace(".", "")
_SIGNED = re.compile(r"--?[A-Za-z]|\.[A-Za-z]|[A-Za-z]\w*\+\+\Z|[A-Za-z]{1,2}#\Z")  # .env, C++
_NAMED_TAG = re.compile(r"\Atag:#?(?=\w)", re.I)  # as Obsidian searches for a tag
_DOTTED = re.compile(r"[0-9]+(?:\.[0-9]+){2,}")
MAX_TERMS = 64  # that count of a question, and words of a phrase
LONGEST = 200  # characters: what is longer was not written as a word

_SHORTENED = re.compile(r"['\u2019](?:s|d|ll|re|ve|m)\b|\b\w*n['\u2019]t\b", re.I)  # she's, don't


class Term(NamedTuple):
    """Words that must stand next to each other, in one column ('' for any).

    `exact` is how they were written where that matters: in quotes, as a tag, path or identifier.
    """

    words: tuple[str, ...]
    column: str = ""
    exact: str = ""


def terms(question: str) -> tuple[Term, ...]:
    """What to look up for a question; empty if it holds no word at all. However long it is, that
    takes no more than one look at each character."""
    text = unicodedata.normalize("NFC", question)
    found: list[Term] = []

    def phrase(match: re.Match[str]) -> str:
        found.extend(quoted := _of_quoted(match.group(1) or match.group(2) or ""))
        return " " if quoted else f" {match.group()[1:-1]} "

    text = _QUOTED.sub(phrase, _URL.sub(" ", text))
    tokens = dict.fromkeys(text.split())
    alone = len(tokens) == 1 and not found
    return _without_noise(chain(found, *(_of_token(token, alone) for token in tokens)))


def without_quotes(question: str) -> str:
    """The question with what it quotes as plain words."""
    return _QUOTED.sub(lambda match: f" {match.group()[1:-1]} ", question)


def _words(text: str) -> Iterator[str]:
    return (word for found in _WORD.finditer(text) if len(word := found.group()) <= LONGEST)


def _of_quoted(said: str) -> list[Term]:
    """A phrase. Where it holds a script without spaces, its characters are looked up in a row, and
    its words besides."""
    if not said.isascii() and re.search(_RUN, said):
        said = said[:LONGEST]
        characters = Term(tuple("".join(re.findall(_RUN, said))), "spaced", f'"{said}')
        return [characters, *(Term((word,)) for word in _words(re.sub(_RUN, " ", said)))]
    first = list(islice(_WORD.finditer(said), MAX_TERMS))
    words = tuple(found.group() for found in first)
    if not words or max(map(len, words)) > LONGEST:
        return []
    return [Term(words, exact=f'"{said if len(first) < MAX_TERMS else said[: first[-1].end()]}')]


def _of_token(token: str, alone: bool) -> Iterator[Term]:
    token = _NAMED_TAG.sub("#", token)
    runs = "" if token.isascii() else _RUN
    if len(token) > LONGEST and not (runs and re.search(runs, token)):
        return
    plain = _SHORTENED.sub("", token)
    if len(token) <= LONGEST and (tag := _tag(plain)):
        yield tag
    text = re.sub(runs, " ", plain) if runs else plain
    for piece in text.split():
        words = list(_words(piece))
        said = piece.rstrip(_AROUND).lstrip(_BEFORE)
        name = words and len(piece) <= LONGEST and _is_a_name(said, words, alone)
        if name:
            yield Term(tuple(words), exact=said)
        if not name or len(words) > 1:
            yield from (Term((word,)) for word in words)
    for run in re.finditer(runs, token) if runs else ():
        yield from (Term(tuple(part), "spaced") for part in _parts(run.group()))


def _tag(token: str) -> Term | None:
    """The tag that a token is; `#123` is none, as in Obsidian."""
    said = token.lstrip(_BEFORE)
    tag = said.strip(f"#{_AROUND}").rstrip("/")
    if not said.startswith("#") or tag.isdigit() or not (words := tuple(_words(tag))):
        return None
    return Term(words, "tags", f"#{tag}")


def _is_a_name(said: str, words: list[str], alone: bool) -> bool:
    """Is this a path or an identifier? `and/or`, `10:30`, `well-known` and `GitHub` are none,
    unless one asks for nothing else."""
    if said.startswith("#"):
        return said[1:].isdigit()
    if alone:
        return not said.isalnum() or bool(re.search("[a-z][A-Z]", said))
    if _SIGNED.match(said):
        return True
    if len(words) == 1:
        return bool(re.match("[a-z]+[A-Z]", said))
    if all(word.isdigit() for word in words):
        return "-" in said or bool(_DOTTED.fullmatch(said))
    if "-" in said.replace("->", ""):
        return any(map(str.isdigit, said)) or _is_a_header(words)
    return any(len(word) > 1 and not word.isdigit() for word in words) and not all(
        word.casefold() in _SMALL for word in words
    )


def _is_a_header(words: list[str]) -> bool:
    """`X-Request-ID` is one, `Sci-Fi` is none."""
    shouted = any(len(word) > 1 and word.isupper() for word in words)
    return all(word[0].isupper() for word in words) and (shouted or len(words) > 2)


def _parts(run: str) -> Iterator[str]:
    """The run as it stands and, if it is longer than a word, its pairs of characters."""
    if len(run) <= LONGEST:
        yield run
    if len(run) > 2:
        yield from dict.fromkeys(run[i : i + 2] for i in range(len(run) - 1))


def _without_noise(found: Iterable[Term]) -> tuple[Term, ...]:
    """The first of these, each once; no single letters, and stop words only if all are."""
    loud: dict[Term, None] = {}
    quiet: dict[Term, None] = {}
    for term in found:
        if term.column or term.exact or len(term.words[0]) > 1:
            is_loud = term.exact or term.words[0].casefold() not in _SMALL
            (loud if is_loud else quiet)[term] = None
        if len(loud) == MAX_TERMS:
            break
    return tuple(loud or quiet)[:MAX_TERMS]


# -- what a question says about its answer ---------------------------------------------------------

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_ASKS_WHEN = re.compile(
    r"\W*(?:since |until |by )?(?:when|how long|(?:in |on |at )?(?:what|which) "
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
    """What a question says about its answer."""

    names: frozenset[str] = frozenset()  # folded names of speakers that it mentions
    time: bool = False  # it asks when
    dates: tuple[tuple[str, str, str], ...] = ()  # (year, month, day) that it names, '' for any


def expected(question: str, speakers: Iterable[str]) -> Expected:
    """What to expect of the answer to a question, in a vault where these speak."""
    folded = fold(question)
    words = set(re.findall(r"[^\W_]+", folded)) - STOP_WORDS
    names = {fold(name) for name in speakers}
    named = frozenset(name for name in names if words.intersection(name.split()))
    return Expected(named, bool(_ASKS_WHEN.match(folded)), tuple(_dates(folded)))


def _dates(folded: str) -> list[tuple[str, str, str]]:
    found = []
    for said in _DATE.finditer(folded):
        if said["iso"]:
            year, month, *day = said["iso"].split("-")
            found.append((year, month, "".join(day)))
            continue
        name = said["month"] or said["month2"] or ""
        date = said["day"] or said["day2"] or ""
        year = said["year"] or said["year2"] or said["year3"] or ""
        if name != "may" or date or year:  # which is mostly no month
            number = f"{MONTHS.index(name) + 1:02}" if name else ""
            found.append((year, number, date and f"{int(date):02}"))
    return found

"""A question as a person types it, turned into words that the full-text index can look up.

The six steps: URLs go, hyphens become spaces, other punctuation goes, single characters go, every
word is quoted, the words are joined with OR. The exceptions: text in quotes is a phrase; a `#tag`,
a path or an identifier is looked up as one phrase besides its words; characters of scripts without
spaces count one by one; stop words do not vote when other words are there.
"""

from __future__ import annotations

import re
import unicodedata

from brain.formats.text import UNSPACED
from brain.record import NamedTuple

_URL = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]*://\S+|\b[wW]{3}\.\S+")
_QUOTED = re.compile(r'"([^"]*)"|\u201c([^\u201d]*)\u201d')
_WORD = re.compile(r"[^\W_]+")
_RUN = f"[{UNSPACED}]+"  # compiled when a question needs it, which few do
MAX_TERMS = 64

STOP_WORDS = frozenset(
    """
    a about after all also am an and any are as at be been but by can could did do does for from
    had has have he her him his how i if in into is it its just me my no not of on or our out
    she so some than that the their them then there these they this those to too up us very was
    we were what when where which who whom why will with would you your
    """.split()  # noqa: SIM905 - a list of them would fill the page
)


class Term(NamedTuple):
    """Words that must stand next to each other, in one column ('' for any)."""

    words: tuple[str, ...]
    column: str = ""


def terms(question: str) -> tuple[Term, ...]:
    """What to look up for a question; empty if it holds no word at all."""
    text = unicodedata.normalize("NFC", question)
    found: list[Term] = []

    def phrase(match: re.Match[str]) -> str:
        words = tuple(_WORD.findall(match.group(1) or match.group(2) or ""))
        if len(words) > 1 and (match.group().isascii() or not re.search(_RUN, match.group())):
            found.append(Term(words))
            return " "
        return f" {match.group(1) or match.group(2) or ''} "

    text = _QUOTED.sub(phrase, _URL.sub(" ", text))
    for token in text.split():
        found += _of_token(token)
    return _without_noise(found)


def _of_token(token: str) -> list[Term]:
    found = [] if token.isascii() else re.findall(_RUN, token)
    runs = [Term(tuple(part), "spaced") for run in found for part in _parts(run)]
    words = _WORD.findall(re.sub(_RUN, " ", token) if found else token)
    out = [Term((word,)) for word in words]
    if token.startswith("#") and words:
        out.insert(0, Term(tuple(words), "tags"))
    elif len(words) > 1 and "-" not in token:
        out.insert(0, Term(tuple(words)))  # a path or an identifier
    return out + runs


def _parts(run: str) -> list[str]:
    """The run as it stands and, if it is longer than a word, its pairs of characters."""
    pairs = [run[i : i + 2] for i in range(len(run) - 1)] if len(run) > 2 else []
    return [run, *pairs]


def _without_noise(found: list[Term]) -> tuple[Term, ...]:
    long = [t for t in dict.fromkeys(found) if t.column or len(t.words) > 1 or len(t.words[0]) > 1]
    loud = [t for t in long if t.words[0].casefold() not in STOP_WORDS or len(t.words) > 1]
    return tuple((loud or long)[:MAX_TERMS])


def match(
    wanted: tuple[Term, ...], *, prefix: bool = False, engine: str = "fts5", every: bool = False
) -> str:
    """The terms as an FTS expression for any or for `every` one of them, every word quoted; with
    `prefix`, as beginnings of words.

    FTS4 knows no phrase in one column, wants the star inside of the quotes, and need not know AND.
    """
    star = "*" if prefix else ""
    if engine == "fts4":
        parts = [f'"{" ".join(term.words)}{star}"' for term in wanted]
        return (" " if every else " OR ").join(parts)
    columns = [f"{term.column}:" if term.column else "" for term in wanted]
    parts = [
        f'{column}"{" ".join(term.words)}"{star}'
        for column, term in zip(columns, wanted, strict=True)
    ]
    return (" AND " if every else " OR ").join(parts)


def fold(text: str) -> str:
    """Lower case without accents, one character for each, so that offsets stay true."""
    if text.isascii():
        return text.lower()
    return "".join([char.lower() if char < "\x80" else _fold_char(char) for char in text])


def _fold_char(char: str) -> str:
    folded = unicodedata.normalize("NFD", char)[0].lower()
    return folded if len(folded) == 1 else char

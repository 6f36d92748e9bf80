"""A question as a person types it, turned into words that the full-text index can look up.

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

from brain.formats.text import UNSPACED
from brain.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_URL = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]{0,30}://\S+|\b[wW]{3}\.\S+")
_QUOTED = re.compile(r'"([^"]*)"|\u201c([^\u201c\u201d]*)\u201d')
_WORD = re.compile(r"[^\W_]+")
_RUN = f"[{UNSPACED}]+"  # compiled when a question needs it, which few do
MAX_TERMS = 64  # that count of a question, and words of a phrase
LONGEST = 200  # characters: what is longer was not written as a word

STOP_WORDS = frozenset(
    """
    a about above after again all also am an and any are as at be because been before being below
    between both but by can could did do does doing down during each few for from further had has
    have having he her here hers him his how i if in into is it its itself just many me might more
    most much must my no nor not of off on once only or other our out over own same shall she should
    so some such than that the their them then there these they this those through to too under
    until up us very was we were what when where which while who whom why will with would you your
    """.split()  # noqa: SIM905 - a list of them would fill the page
)
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
        said = match.group(1) or match.group(2) or ""
        words = tuple(islice(_words(said), MAX_TERMS))
        if not words or (not said.isascii() and re.search(_RUN, said)):
            return f" {said} "
        found.append(Term(words, exact=f'"{" ".join(words)}'))
        return " "

    text = _QUOTED.sub(phrase, _URL.sub(" ", text))
    tokens = dict.fromkeys(text.split())
    return _without_noise(chain(found, chain.from_iterable(map(_of_token, tokens))))


def _words(text: str) -> Iterator[str]:
    return (word for found in _WORD.finditer(text) if len(word := found.group()) <= LONGEST)


def _of_token(token: str) -> Iterator[Term]:
    runs = "" if token.isascii() else _RUN
    if len(token) > LONGEST and not (runs and re.search(runs, token)):
        return
    plain = _SHORTENED.sub("", token)
    text = re.sub(runs, " ", plain) if runs else plain
    if len(token) <= LONGEST:
        yield from _as_written(token, plain, list(_words(text)))
    yield from (Term((word,)) for word in _words(text))
    for run in re.finditer(runs, token) if runs else ():
        yield from (Term(tuple(part), "spaced") for part in _parts(run.group()))


def _as_written(token: str, plain: str, words: list[str]) -> Iterator[Term]:
    """A tag, a path or an identifier, besides its words."""
    if token.startswith("#") and words:
        yield Term(tuple(words), "tags", token.strip("#.,;:!?()"))
    elif len(words) > 1 and _is_a_name(plain, words):
        yield Term(tuple(words), exact=plain.strip(".,;:!?()[]{}<>'\"`"))


def _is_a_name(token: str, words: list[str]) -> bool:
    """Is this a path or an identifier? `and/or`, `10:30` and `well-known` are none."""
    if "-" in token:
        return any(char.isdigit() for char in token) and not token.replace("-", "").isalpha()
    return any(len(word) > 1 and not word.isdigit() for word in words) and not all(
        word.casefold() in STOP_WORDS for word in words
    )


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
        if term.column or len(term.words) > 1 or len(term.words[0]) > 1:
            is_loud = len(term.words) > 1 or term.words[0].casefold() not in STOP_WORDS
            (loud if is_loud else quiet)[term] = None
        if len(loud) == MAX_TERMS:
            break
    return tuple(loud or quiet)[:MAX_TERMS]


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


def exactly(term: Term) -> re.Pattern[str]:
    """What a folded text must hold to hold a term exactly as it was written."""
    if term.exact.startswith('"'):
        said = r"[\W_]+".join(re.escape(fold(word)) for word in term.words)
    else:
        said = re.escape(fold(term.exact))
    return re.compile(rf"(?<![^\W_]){said}(?![^\W_])")


def fold(text: str) -> str:
    """Lower case without accents, one character for each, so that offsets stay true."""
    if text.isascii():
        return text.lower()
    return "".join([char.lower() if char < "\x80" else _fold_char(char) for char in text])


def _fold_char(char: str) -> str:
    folded = unicodedata.normalize("NFD", char)[0].lower()
    return folded if len(folded) == 1 else char

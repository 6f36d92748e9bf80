"""Which entries hold a thing exactly as it was written: a quoted text, a tag, a path, an
identifier, or have the id that a question names. They come before all others."""

from __future__ import annotations

import re

from brain._tuples import NamedTuple
from brain.formats.links import tags
from brain.formats.text import UNSPACED
from brain.index import fulltext, read
from brain.index.db import Index
from brain.index.read import Filters
from brain.search.question import LONGEST, MAX_TERMS, Term
from brain.search.retrieve import match
from brain.words import fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_RUN = f"[{UNSPACED}]"
_LETTER = f"[^\\W{UNSPACED}]"  # or digit, or _: what a word goes on with
_WORD = r"[^\W_]+"
_NAME = re.compile(r"[^\W_][\w.-]*[^\W_]")
_MOST = 10_000  # characters of a question in which ids are looked for


def counts(index: Index, question: str, wanted: Sequence[Term], filters: Filters) -> dict[int, int]:
    """Return how many things asked for an entry holds exactly as they were written, by row id. An
    id that the question names counts more than all of them."""
    found: dict[int, int] = {}
    exact = [term for term in wanted if term.exact]
    for term in exact:
        said = exactly(term)
        holding = {
            id
            for id, tags, text in _texts(index, term, said, filters)
            if said.stands_in(fold(tags), fold(text))
        }
        found |= {id: found.get(id, 0) + 1 for id in sorted(holding)}
    named = (*_named(index, question), *_titled(index, question))
    return found | dict.fromkeys(named, len(exact) + 1)


def _texts(
    index: Index, term: Term, said: Exact, filters: Filters
) -> Iterator[tuple[int, str, str]]:
    """Yield (row id, tags, other text) of what may hold a term exactly."""
    if term.column == "spaced":
        tables: tuple[str, ...] = ("characters",)
    else:
        tables = ("notes" if said.is_tag else "passages", "entries", "turns")
    for table in tables:
        expression = match(term, table, engine=index.fts)
        yield from fulltext.texts(index, table, expression, said.some, said.is_tag, filters)
    if re.search(r"[./\\]", said.some):
        yield from fulltext.ends(index, said.some, filters)


def _titled(index: Index, question: str) -> list[int]:
    """Return the row ids of the first passages of notes whose name is the question."""
    name = fold(question.strip(" \t\n?!.\"'[]")).removesuffix(".md")
    words = re.findall(_WORD, name) if len(name) <= LONGEST else []
    found = fulltext.titled(index, " ".join(words)) if words else []
    notes = [
        note
        for note, title, path in found
        if name in (fold(title), fold(path.rpartition("/")[2]).removesuffix(".md"))
    ]
    return list(fulltext.first_passages(index, notes).values())


def _named(index: Index, question: str) -> list[int]:
    """Return the row ids of entries whose id stands in the question: `m-7f3k2ab4`, also as in a
    link or a prompt, `item_1`, `TASK-1`; and of those with a tag that full text knows no word of,
    as `#🚀`."""
    question = question[:_MOST]
    words = (word for word in _NAME.findall(question) if not (word.isalpha() or word.isdigit()))
    ids = list(dict.fromkeys(words))[:MAX_TERMS]
    found = read.called(index, ids) if ids else []
    signs = tags(question) if "#" in question and not question.isascii() else []
    signs = [tag for tag in signs if not re.search(r"\w", tag)]
    return found + [id for tag in signs[:MAX_TERMS] for id in fulltext.tagged(index, tag)]


class Exact(NamedTuple):
    """How a text must read that holds a term exactly as it was written."""

    is_tag: bool
    some: str  # of it, which is looked for first
    pattern: re.Pattern[str]

    def stands_in(self, tags: str, text: str) -> bool:
        """Does it, in these folded tags, or in this folded text with the path of its file behind
        it?"""
        there = tags if self.is_tag else text
        return self.some in there and self.pattern.search(there) is not None


def exactly(term: Term) -> Exact:
    """What a text must hold to hold a term exactly as it was written: all of a tag, of a path or of
    an identifier, not a part of a longer one."""
    said = fold(term.exact)
    if said.startswith('"'):
        return _phrase(said[1:].strip().rstrip(".,;:!?").strip())
    if term.column == "tags":
        return Exact(True, said[1:], re.compile(rf"(?<!\S){re.escape(said[1:])}(?!\S)"))
    name = re.escape(said)
    end_of_path = rf"(?<![^/\n]){name}(?:\.md)?\Z"
    return Exact(False, said, re.compile(f"{_within(said, name)}|{end_of_path}"))


def _phrase(said: str) -> Exact:
    """White space between words stands for whatever divides them."""
    parts = re.findall(r"[^\W_]+|\s+|(?:[^\w\s]|_)+", said)
    some = max((part for part in parts if re.match(_WORD, part)), key=len, default="")
    if parts == [some] or any(part.isspace() for part in parts):
        pattern = "".join(_gap(parts, at) for at in range(len(parts)))
        return Exact(False, some, re.compile(_after(said, "") + pattern + _before(said, "")))
    return Exact(False, said, re.compile(_within(said, re.escape(said))))


def _gap(parts: list[str], at: int) -> str:
    if not parts[at].isspace():
        return re.escape(parts[at])
    beside = parts[at - 1] + parts[at + 1]  # a phrase has no white space at its ends
    return r"[\W_]+" if re.fullmatch(_WORD, beside) else r"\s+"


def _within(said: str, pattern: str) -> str:
    """The pattern, where no word and no path goes on on either side."""
    joints = r"-./\\" if re.search(r"[./\\]", said) else "-"
    return _after(said, joints) + pattern + _before(said, joints)


def _after(said: str, joints: str) -> str:
    joined = f"(?<!{_LETTER}[{joints}])" if joints else ""
    return f"(?<!{_LETTER}){joined}" if not re.match(_RUN, said) else ""


def _before(said: str, joints: str) -> str:
    joined = f"|[{joints}]{_LETTER}" if joints and re.match(_WORD, said[-1:]) else ""
    return f"(?!{_LETTER}{joined})" if not re.match(_RUN, said[-1:]) else ""

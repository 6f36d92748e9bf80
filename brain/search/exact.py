"""Find the entries that contain a quotation, tag, path or identifier of the question exactly as
written, or whose id the question names. Such entries come before all others."""

from __future__ import annotations

import re

from brain._tuples import NamedTuple
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
_LETTER = f"[^\\W{UNSPACED}]"  # also digits and `_`, which continue a word
_WORD = r"[^\W_]+"
_NAME = re.compile(r"[^\W_][\w.-]*[^\W_]")
_MAX_QUESTION = 10_000  # characters of a question in which ids are searched for


def counts(index: Index, question: str, wanted: Sequence[Term], filters: Filters) -> dict[int, int]:
    """Return the number of exact terms that each entry contains as written, by row id. If the
    question names the id or title of an entry, the number is greater than all others."""
    found: dict[int, int] = {}
    exact = [term for term in wanted if term.exact]
    for term in exact:
        pattern = exact_pattern(term)
        matching = {
            id
            for id, tags, text in _texts(index, term, pattern, filters)
            if pattern.occurs_in(fold(tags), fold(text))
        }
        found |= {id: found.get(id, 0) + 1 for id in sorted(matching)}
    ids = (*_entries_by_id(index, question), *_notes_by_title(index, question))
    return found | dict.fromkeys(ids, len(exact) + 1)


def _texts(
    index: Index, term: Term, pattern: ExactPattern, filters: Filters
) -> Iterator[tuple[int, str, str]]:
    """Yield (row id, tags, other text) of the entries that may contain a term exactly."""
    if term.column == "spaced":
        tables: tuple[str, ...] = ("characters",)
    else:
        tables = ("notes" if pattern.is_tag else "passages", "entries", "turns")
    for table in tables:
        expression = match(term, table, engine=index.fts)
        yield from fulltext.texts(index, table, expression, pattern.some, pattern.is_tag, filters)
    if re.search(r"[./\\]", pattern.some):
        yield from fulltext.notes_by_path(index, pattern.some, filters)


def _notes_by_title(index: Index, question: str) -> list[int]:
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


def _entries_by_id(index: Index, question: str) -> list[int]:
    """Return the row ids of entries whose id is in the question (`m-7f3k2ab4`, `item_1`, `TASK-1`),
    and of entries with a tag without letters (`#🚀`), which full text cannot find."""
    question = question[:_MAX_QUESTION]
    words = (word for word in _NAME.findall(question) if not (word.isalpha() or word.isdigit()))
    ids = list(dict.fromkeys(words))[:MAX_TERMS]
    found = read.row_ids(index, ids) if ids else []
    signs: list[str] = []
    if "#" in question and not question.isascii():
        from brain.formats.inline import tags  # takes 2 ms to load

        signs = [tag for tag in tags(question) if not re.search(r"\w", tag)]
    return found + [id for tag in signs[:MAX_TERMS] for id in fulltext.tagged(index, tag)]


class ExactPattern(NamedTuple):
    """The pattern of a term exactly as it was written."""

    is_tag: bool
    some: str  # a part of the term, which is searched for first
    pattern: re.Pattern[str]

    def occurs_in(self, tags: str, text: str) -> bool:
        """Return True if the folded tags match, or the folded text, which ends with the path of the
        file."""
        searched = tags if self.is_tag else text
        return self.some in searched and self.pattern.search(searched) is not None


def exact_pattern(term: Term) -> ExactPattern:
    """Return the pattern of a term exactly as it was written. The pattern matches a whole tag, path
    or identifier, but not a part of a longer one."""
    text = fold(term.exact)
    if text.startswith('"'):
        return _phrase(text[1:].strip().rstrip(".,;:!?").strip())
    if term.column == "tags":
        return ExactPattern(True, text[1:], re.compile(rf"(?<!\S){re.escape(text[1:])}(?!\S)"))
    name = re.escape(text)
    end_of_path = rf"(?<![^/\n]){name}(?:\.md)?\Z"
    return ExactPattern(False, text, re.compile(f"{_within(text, name)}|{end_of_path}"))


def _phrase(text: str) -> ExactPattern:
    """Return the pattern of a quotation. White space in it matches any separator of words."""
    parts = re.findall(r"[^\W_]+|\s+|(?:[^\w\s]|_)+", text)
    some = max((part for part in parts if re.match(_WORD, part)), key=len, default="")
    if parts == [some] or any(part.isspace() for part in parts):
        pattern = "".join(_gap(parts, index) for index in range(len(parts)))
        return ExactPattern(False, some, re.compile(_after(text, "") + pattern + _before(text, "")))
    return ExactPattern(False, text, re.compile(_within(text, re.escape(text))))


def _gap(parts: list[str], index: int) -> str:
    if not parts[index].isspace():
        return re.escape(parts[index])
    neighbours = parts[index - 1] + parts[index + 1]  # a phrase has no white space at its ends
    return r"[\W_]+" if re.fullmatch(_WORD, neighbours) else r"\s+"


def _within(text: str, pattern: str) -> str:
    """Limit a pattern to places where no word or path continues before or after it."""
    joints = r"-./\\" if re.search(r"[./\\]", text) else "-"
    return _after(text, joints) + pattern + _before(text, joints)


def _after(text: str, joints: str) -> str:
    joined = f"(?<!{_LETTER}[{joints}])" if joints else ""
    return f"(?<!{_LETTER}){joined}" if not re.match(_RUN, text) else ""


def _before(text: str, joints: str) -> str:
    joined = f"|[{joints}]{_LETTER}" if joints and re.match(_WORD, text[-1:]) else ""
    return f"(?!{_LETTER}{joined})" if not re.match(_RUN, text[-1:]) else ""

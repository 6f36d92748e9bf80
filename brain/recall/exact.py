"""What holds a thing exactly as it was written: a quoted text, a tag, a path, an identifier."""

from __future__ import annotations

import re

from brain.formats.text import UNSPACED
from brain.recall.terms import Term, fold
from brain.record import NamedTuple

_RUN = f"[{UNSPACED}]"
_LETTER = f"[^\\W{UNSPACED}]"  # or digit, or _: what a word goes on with
_WORD = r"[^\W_]+"


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

"""Which files an entry is about: those it links to, those it names as code, those in its `files`
field; which warnings are set off; and what a procedure's steps are."""

from __future__ import annotations

import re
from textwrap import dedent
from unicodedata import normalize

from brain.formats.links import fields
from brain.formats.mask import mask
from brain.formats.text import UNSPACED
from brain.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from brain.index.query import Row

MOST_TEXT = 1_000_000  # characters of a text that triggers are looked for in, half at either end
_LINK = re.compile(r"\[\[([^\]|#^]+)")
_CODE = re.compile(r"`([^`\s]{1,200})`")
_PATH = re.compile(r"[\w@.~-]*(?:[/\\][\w@.~-]+)+|[\w-]+\.[a-z][a-z0-9]{0,4}", re.I)
_FILES = re.compile(r"\[files?::\s*([^\]]+)\]", re.I)


def files(row: Row) -> list[str]:
    """The files that an entry is about; a note is about itself."""
    found = [said.strip() for said in _LINK.findall(row.text)]
    found += [said for said in _CODE.findall(row.text) if _PATH.fullmatch(said)]
    for field in _FILES.findall(row.text):
        found += [said.strip(" `[]") for said in field.split(",")]
    if row.scope == "sources":
        found.append(row.path)
    return list(dict.fromkeys(name for name in found if name))


class Heard(NamedTuple):
    """What is asked and worked on, made ready to look for triggers in."""

    text: str
    words: frozenset[str]


def heard(*texts: str) -> Heard:
    """These texts in one spelling, and the words in them; of a huge one, of both its ends."""
    text = "\0".join(_spelled(_ends(text)) for text in texts)
    return Heard(text, frozenset(_words(text)))


def triggered(triggers: str, said: Heard) -> str:
    """The first of these words, given with commas between, that stands there; '' if none does."""
    return next((one for one in _each(triggers) if _occurs(_spelled(one), said)), "")


def _each(triggers: str) -> Iterable[str]:
    return (trigger for said in triggers.split(",") if (trigger := said.strip(" `\"'")))


def _ends(text: str) -> str:
    half = MOST_TEXT // 2
    return text if len(text) <= MOST_TEXT else f"{text[:half]}\0{text[-half:]}"


def _spelled(text: str) -> str:
    """In one case, Unicode form and white space."""
    folded = text.lower() if text.isascii() else normalize("NFKC", _folded(text))
    return " ".join(folded.split())


def _folded(text: str) -> str:
    return normalize("NFKC", text).casefold()


def _words(text: str) -> list[str]:
    """The words of a text, and each character of a script that puts no spaces between them."""
    if text.isascii():
        return re.findall(r"\w+", text)
    return re.findall(f"[^\\W{UNSPACED}]+|[{UNSPACED}]", text)


def _occurs(trigger: str, said: Heard) -> bool:
    """Does it stand there, and no word goes on before or behind it?"""
    words = _words(trigger)
    if not said.words.issuperset(words):
        return False
    if words == [trigger]:
        return True
    at = said.text.find(trigger)
    while at >= 0:
        end = at + len(trigger)
        before, behind = said.text[at - 1 : at], said.text[end : end + 1]
        if not (_is_one_word(before, trigger[0]) or _is_one_word(trigger[-1], behind)):
            return True
        at = said.text.find(trigger, at + 1)
    return False


def _is_one_word(one: str, other: str) -> bool:
    """Do these two characters, next to each other, belong to one word?"""
    return bool(re.match(f"[^\\W{UNSPACED}]{{2}}", one + other))


_STEP = re.compile(r"\s*(?:[-*+]\s+)?(\d{1,3})[.)]\s+(\S.*)")
_BLOCK = re.compile(r"[-*+>#|]|```|~~~")  # what begins so does not go on with a line of words


def procedure(text: str) -> tuple[str, tuple[str, ...]]:
    """(what comes first, the steps): each step with all that is nested in it.

    Where something else than steps follows the first, or they are not counted from 1, the text
    stays as it stands.
    """
    rows = text.expandtabs(4).split("\n")
    start = next((at for at, row in enumerate(rows) if _STEP.match(row)), len(rows))
    steps = _steps(rows[start:])
    return ("\n".join(rows[:start]).rstrip(), steps) if steps else (text, ())


def _steps(rows: list[str]) -> tuple[str, ...]:
    """The steps that these lines are, the first of which is one; none if they are more than that.
    What is nested is indented by two or more."""
    steps: list[list[str]] = []
    numbers: list[int] = []
    before = ""
    for row in rows:
        nested = _indent(row) > _indent(rows[0]) + 1
        if not nested and (match := _STEP.match(row)):
            numbers.append(int(match[1]))
            steps.append([match[2].rstrip()])
        elif not row.strip() or nested or (before.strip() and not _BLOCK.match(row.lstrip())):
            steps[-1].append(row)
        else:
            return ()
        before = row
    counted = numbers in (list(range(1, len(steps) + 1)), [1] * len(steps))
    return tuple(map(_step, steps)) if counted else ()


def _indent(row: str) -> int:
    return len(row) - len(row.lstrip())


def _step(rows: list[str]) -> str:
    return f"{rows[0]}\n{dedent(chr(10).join(rows[1:]))}".rstrip()


def without_fields(text: str) -> str:
    """The text without its `[key:: value]` fields, which are for programs."""
    for field in reversed(fields(mask(text))):
        before = text[: field.start].rstrip(" ") if text[field.end :][:1] in ("", "\n", " ") else ""
        text = (before or text[: field.start]) + text[field.end :]
    return text

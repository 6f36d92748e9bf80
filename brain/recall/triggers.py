"""Which warnings are set off: those with a trigger that stands in what is asked or worked on."""

from __future__ import annotations

import re
from unicodedata import normalize

from brain.formats.text import UNSPACED
from brain.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_PART = re.compile(r"(?:\([^()]*+\)|\[[^\[\]]*+\]|\{[^{}]*+\}|[^,])+")  # no comma but in brackets
MOST_TEXT = 1_000_000  # characters of a text that triggers are looked for in, half at either end


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
    return (trigger for said in _PART.findall(triggers) if (trigger := said.strip(" `\"'")))


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

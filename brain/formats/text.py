"""Bytes to text, and back to bytes: the ground every format stands on.

Lines end at `\\n` alone (`str.splitlines` would break on U+2028), a `\\r` stays part of its line,
and offsets can always be turned back into the bytes of the file.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate, pairwise

from brain.errors import Refused
from brain.model import Problem

try:
    from _blake2 import blake2b as blake2b  # hashlib takes it from there, but loads OpenSSL, too
except ImportError:
    from hashlib import blake2b as blake2b

BOM = b"\xef\xbb\xbf"
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base32: no i, l, o, u to misread
UNSAFE = frozenset({"invalid-utf8", "nul", "conflict-markers"})  # problems; an edit could lose text
_PAIRS = [a + b for a in ALPHABET for b in ALPHABET]
_MARKER = re.compile(r"^(?:<{7}|={7}|>{7})(?: .*)?\r?$", re.MULTILINE)
# Chinese, Japanese, Korean, Thai, Lao, Burmese, Khmer: scripts that put no spaces between words
UNSPACED = (
    "\u2e80-\u2fdf\u3040-\u30ff\u3131-\u318e\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\uff66-\uff9f\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\U00020000-\U0002fa1f"
)


def decode(data: bytes) -> tuple[str, list[Problem]]:
    """The text of `data` without its BOM, and what is odd about it.

    Invalid bytes and NULs become U+FFFD in the text that is indexed; the file itself is not
    touched.
    """
    problems: list[Problem] = []
    if data.startswith(BOM):
        data = data[3:]
        problems.append(Problem(1, "bom", "starts with a byte order mark; it is kept"))
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problems.append(
            Problem(line, "invalid-utf8", "is not valid UTF-8 here; save the file as UTF-8")
        )
        text = data.decode(errors="replace")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        problems.append(Problem(line, "nul", "holds a NUL character; is this a text file?"))
        text = text.replace("\0", "\ufffd")
    if "\r" in text:
        line = text.count("\n", 0, text.index("\r")) + 1
        problems.append(Problem(line, "crlf", "has carriage returns; they are kept"))
    if "\u2028" in text or "\u2029" in text:
        where = min(i for i in (text.find("\u2028"), text.find("\u2029")) if i >= 0)
        line = text.count("\n", 0, where) + 1
        problems.append(
            Problem(line, "line-separator", "holds U+2028 or U+2029, which do not end a line here")
        )
    if "<" in text and "<<<<<<<" in text:  # one character is found much faster than seven
        found = list(_MARKER.finditer(text))
        starts = [match.start() for match in found if match[0][0] == "<"]
        if starts and any(match[0][0] == ">" for match in found):
            line = text.count("\n", 0, starts[0]) + 1
            message = "holds unresolved merge markers; resolve them first"
            problems.append(Problem(line, "conflict-markers", message))
    return text, problems


class Offsets:
    """Where the characters of a text are in the file's bytes, and on which line.

    `lead` are the bytes of the file before the text.
    """

    def __init__(self, text: str, lead: bytes = b"") -> None:
        self._text = text
        self._shift, self._lines = len(lead), lead.count(b"\n")
        self._ascii = text.isascii()
        self.starts = [0]
        find = text.find
        at = find("\n")
        while at >= 0:
            self.starts.append(at + 1)
            at = find("\n", at + 1)
        self._bytes = self.starts
        if not self._ascii:
            rows = pairwise(self.starts)
            self._bytes = list(accumulate((len(text[a:b].encode()) for a, b in rows), initial=0))

    def line(self, char: int) -> int:
        """The line, from 1, that holds this character."""
        return self._lines + bisect_right(self.starts, char)

    def byte(self, char: int) -> int:
        """The byte offset in the file of this character."""
        if self._ascii:
            return char + self._shift
        row = bisect_right(self.starts, char) - 1
        within = self._text[self.starts[row] : char]
        return self._bytes[row] + len(within.encode()) + self._shift


def refused(path: str, line: int, message: str) -> Refused:
    """Return the refusal to edit a file because of this line: what is wrong, `; `, what to do."""
    said, _, remedy = message.partition("; ")
    remedy = remedy[:1].upper() + remedy[1:] if remedy else "Mend it by hand, then try again"
    return Refused(f"{path}, line {line}: {said}.", f"{remedy}.")


def digest(data: bytes) -> bytes:
    """Sixteen bytes that stand for a file's content."""
    return blake2b(data, digest_size=16).digest()


def derived_id(prefix: str, *parts: str) -> str:
    """A short id that two machines derive alike: `prefix-` and eight base32 characters."""
    # a file name, unlike a text, may hold half surrogates
    joined = "\0".join(parts).encode(errors="surrogatepass")
    n = int.from_bytes(blake2b(joined, digest_size=5).digest(), "big")
    high, low = n >> 20, n & 0xFFFFF
    return (
        f"{prefix}-{_PAIRS[high >> 10]}{_PAIRS[high & 1023]}{_PAIRS[low >> 10]}{_PAIRS[low & 1023]}"
    )


def spaced(text: str) -> str:
    """The characters of scripts that put no spaces between words, one token each; '' if none.

    The full-text index keeps them in a column of their own, where a phrase of single characters
    finds any substring.
    """
    return "" if text.isascii() else " ".join(re.findall(f"[{UNSPACED}]", text))


def glued(text: str) -> list[str]:
    """Return the words next to such a character without a space between, repeated ones too."""
    word = f"[^\\W_{UNSPACED}]+"
    return re.findall(f"(?<=[{UNSPACED}]){word}|{word}(?=[{UNSPACED}])", text)

"""Convert bytes to text, and offsets in the text to offsets in the file.

Only `\\n` ends a line (`str.splitlines` would also split at U+2028), and a `\\r` is part of its
line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate, pairwise

from brain.errors import Refused
from brain.model import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

try:
    from _blake2 import blake2b as blake2b  # importing hashlib would also load OpenSSL
except ImportError:
    from hashlib import blake2b as blake2b

BOM = b"\xef\xbb\xbf"
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base32, without i, l, o, u
# problems of a file that make every edit unsafe, because it could lose text
UNSAFE = frozenset({"invalid-utf8", "nul", "conflict-markers"})
DAY = r"\d{4}-\d{2}-\d{2}"
CLOCK = r"(?:[T ]\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:?\d{2})?)?"  # the time that may follow a day
_PAIRS = [a + b for a in ALPHABET for b in ALPHABET]
_MARKER = re.compile(r"^(?:<{7}|={7}|>{7})(?: .*)?\r?$", re.MULTILINE)
# Scripts without spaces between words: Chinese, Japanese, Korean, Thai, Lao, Burmese, Khmer
UNSPACED = (
    "\u2e80-\u2fdf\u3040-\u30ff\u3131-\u318e\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\uff66-\uff9f\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\U00020000-\U0002fa1f"
)
ONE_LINE = 200  # characters of a text that are kept with a memory or a question
_UNSTORABLE = re.compile("[\ud800-\udfff\0]")


def decode(data: bytes) -> tuple[str, list[Problem]]:
    """Return the text of a file without its BOM, and the problems of the file.

    Invalid bytes and NULs become U+FFFD in the text. The file itself is not changed.
    """
    problems: list[Problem] = []

    def report(offset: int, code: str, message: str) -> None:
        problems.append(Problem(text.count("\n", 0, offset) + 1, code, message))

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
        report(text.index("\0"), "nul", "contains a NUL character; is this a text file?")
        text = text.replace("\0", "\ufffd")
    if "\r" in text:
        report(text.index("\r"), "crlf", "has carriage returns; they are kept")
    if "\u2028" in text or "\u2029" in text:
        offset = min(offset for offset in (text.find("\u2028"), text.find("\u2029")) if offset >= 0)
        report(offset, "line-separator", "contains U+2028 or U+2029, which do not end a line here")
    if "<" in text and "<<<<<<<" in text:  # one character is found much faster than seven
        found = list(_MARKER.finditer(text))
        starts = [match.start() for match in found if match[0][0] == "<"]
        if starts and any(match[0][0] == ">" for match in found):
            message = "contains unresolved merge markers; resolve them first"
            report(starts[0], "conflict-markers", message)
    return text, problems


def to_text(data: bytes) -> str:
    """Decode any bytes, so that `to_bytes` returns the same bytes."""
    return data.decode("utf-8", "surrogateescape")


def to_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


class Offsets:
    """The lines and the byte offsets in a file for the characters of a text.

    `lead` are the bytes of the file before the text.
    """

    def __init__(self, text: str, lead: bytes = b"") -> None:
        self._text = text
        self._shift, self._lines = len(lead), lead.count(b"\n")
        self._ascii = text.isascii()
        self.starts = [0]
        find = text.find
        newline = find("\n")
        while newline >= 0:
            self.starts.append(newline + 1)
            newline = find("\n", newline + 1)
        self._bytes = self.starts
        if not self._ascii:
            rows = pairwise(self.starts)
            self._bytes = list(accumulate((len(text[a:b].encode()) for a, b in rows), initial=0))

    def line(self, char: int) -> int:
        """Return the line of a character, counted from 1."""
        return self._lines + bisect_right(self.starts, char)

    def byte(self, char: int) -> int:
        """Return the byte offset of a character in the file."""
        if self._ascii:
            return char + self._shift
        row = bisect_right(self.starts, char) - 1
        within = self._text[self.starts[row] : char]
        return self._bytes[row] + len(within.encode()) + self._shift


def newline_near(text: str, offset: int) -> str:
    """Return the line ending of the line at an offset, else of the line before it."""
    newline_at = text.find("\n", offset)
    if newline_at < 0:
        newline_at = text.rfind("\n", 0, offset)
    return "\r\n" if newline_at > 0 and text[newline_at - 1] == "\r" else "\n"


def refused(path: str, line: int, message: str) -> Refused:
    """Return the error for a file that cannot be edited. `message` is `problem; remedy`."""
    problem, _, remedy = message.partition("; ")
    remedy = remedy[:1].upper() + remedy[1:] if remedy else "Fix it by hand, then try again"
    return Refused(f"{path}, line {line}: {problem}.", f"{remedy}.")


def digest(data: bytes) -> bytes:
    """Return a digest of 16 bytes."""
    return bytes(new_digest(data).digest())


def new_digest(data: bytes = b"") -> Any:
    """Return a hash object for a digest of 16 bytes. More data can be added with its `update`."""
    return blake2b(data, digest_size=16)


def derived_id(prefix: str, *parts: str) -> str:
    """Return an id that is the same on every machine: `prefix-` and eight base32 characters."""
    # a file name, unlike a text, may contain lone surrogates
    joined = "\0".join(parts).encode(errors="surrogatepass")
    n = int.from_bytes(blake2b(joined, digest_size=5).digest(), "big")
    high, low = n >> 20, n & 0xFFFFF
    return (
        f"{prefix}-{_PAIRS[high >> 10]}{_PAIRS[high & 1023]}{_PAIRS[low >> 10]}{_PAIRS[low & 1023]}"
    )


def unspaced_characters(text: str) -> str:
    """Return the characters of scripts without spaces between words, separated by spaces.

    The full-text index has a column for these characters, in which a phrase of single characters
    finds any substring.
    """
    return "" if text.isascii() else " ".join(re.findall(f"[{UNSPACED}]", text))


def words_next_to_unspaced(text: str) -> list[str]:
    """Return the words that are next to a character of a script without spaces, with
    repetitions."""
    word = f"[^\\W_{UNSPACED}]+"
    return re.findall(f"(?<=[{UNSPACED}]){word}|{word}(?=[{UNSPACED}])", text)


def one_line(text: str) -> str:
    """Return the beginning of a text in one line."""
    line = " ".join(text[: 10 * ONE_LINE].split())
    return line if len(line) <= ONE_LINE else f"{line[: ONE_LINE - 1].rstrip()}…"


def storable(value: Any) -> Any:
    """Replace lone surrogates and NULs, which SQLite cannot store, by U+FFFD."""
    if isinstance(value, str):
        return _UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, list):
        return [storable(inner) for inner in value]
    if isinstance(value, dict):
        return type(value)({storable(key): storable(inner) for key, inner in value.items()})
    return value

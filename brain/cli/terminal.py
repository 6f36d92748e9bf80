"""Text for a terminal: safe characters, colour, and lines that wrap at words.

A terminal gets lines that fit its width, a pipe gets each line as it is. Colour is used on a
terminal, unless NO_COLOR or CLICOLOR_FORCE says otherwise.
"""

from __future__ import annotations

import os
import re
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

STYLES = {"bold": "\033[1m", "dim": "\033[2m"}
MATCH = ("\ufdd0", "\ufdd1")  # before and after a matched word; never characters of a text
PLAIN_MATCH = ("«", "»")
BOLD_MATCH = (STYLES["bold"], "\033[22m")
NARROW = 24  # columns; a text in less space gets a line of its own
IN_A_PIPE = 100  # columns of a cut text
# Characters that a terminal obeys: commands, new lines, changes of direction. The escapes are those
# of JSON, so that JSON stays the same data.
_UNSAFE = {
    code: f"\\u{code:04x}"
    for code in (
        *range(9), *range(11, 32), *range(127, 160), 0x61C, 0x200E, 0x200F,
        *range(0x2028, 0x202F), *range(0x2066, 0x206A),
    )
} | {ord("\r"): "\\r"}  # fmt: skip
_WIDE = r"\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60"
# A word with the space before it. A character of a script without spaces is a word, together with
# the punctuation after it. The pattern is compiled at its first use, because this takes 3 ms.
_WORD = rf"(\s*)([{_WIDE}][、。，．！？：；）」』】〉》]*|[^\s{_WIDE}]+|$)"
_LEAD = re.compile(r"\s*(?:(?:[-*+]|\d{1,3}[.)]) )?")  # indent and bullet of a line


def safe(text: str, lines: bool = False) -> str:
    """Return a text in which a terminal finds no commands, as one line unless `lines`.

    Control characters and marks that change the direction of the text become escapes like
    `\\u001b`. A tab stays. Everything that is printed goes through this function.
    """
    if text.isprintable():
        return text
    text = text.replace("\r\n", "\n").removesuffix("\r") if lines else text.replace("\n", "\\n")
    return text.translate(_UNSAFE)


def has_colour(stream: TextIO) -> bool:
    """Return True if the output may be coloured. See no-color.org and bixense.com/clicolors."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("CLICOLOR_FORCE", "0") != "0":
        return True
    dumb = os.environ.get("TERM") == "dumb" or os.environ.get("CLICOLOR") == "0"
    return stream.isatty() and not dumb


def width(stream: TextIO | None = None) -> int:
    """Return the columns of the terminal; 0 in a pipe."""
    if not (stream or sys.stdout).isatty():
        return 0
    import shutil

    return shutil.get_terminal_size().columns


def rendered(
    text: str, stream: TextIO, style: str = "", wrap: bool = True, hang: int | None = None
) -> str:
    """Return safe text as the stream shows it: wrapped to its width, with style and matches."""
    colour = has_colour(stream)
    if not colour:
        text = _with_matches(text, PLAIN_MATCH)
    if wrap and (columns := width(stream)):
        text = "\n".join([wrapped(line, columns, hang) for line in text.split("\n")])
    if not colour:
        return text
    text = _with_matches(text, BOLD_MATCH)
    return f"{STYLES[style]}{text}\033[0m" if style else text


def _with_matches(text: str, marks: tuple[str, str]) -> str:
    return text.replace(MATCH[0], marks[0]).replace(MATCH[1], marks[1])


def wrapped(line: str, most: int, hang: int | None = None) -> str:
    """Break a line at words. Further lines are indented by `hang`, else as the first line. A word
    that is wider than a line is not broken, so that it can be copied."""
    if columns(line) <= most:
        return line
    lead = _LEAD.match(line)[0]  # type: ignore[index]
    indent = min(columns(lead) if hang is None else hang, most // 2)
    lines, used = [lead], columns(lead)
    for space, word in re.compile(_WORD).findall(line, len(lead)):
        needed = columns(space) + columns(word)
        if used + needed > most and used > indent:
            lines.append(" " * indent + word)
            used = indent + columns(word)
        else:
            lines[-1] += space + word
            used += needed
    return "\n".join(lines)


def fitted(text: str, before: int = 0) -> str:
    """Return a line, made safe and cut to the space after `before` columns. A cut line ends in
    `…`."""
    text = safe(text)
    terminal = width()
    most = max(NARROW, terminal - before) if terminal else IN_A_PIPE
    if columns(text) <= most:
        return text
    used = 1
    for index, char in enumerate(text):
        used += columns(char)
        if used > most:
            return f"{text[:index].rstrip()}…"
    return text


def columns(text: str) -> int:
    """Return the number of columns that a text takes in a terminal."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(char: str) -> int:
    if char.isascii():
        return 1
    from unicodedata import category, east_asian_width

    if char in MATCH or category(char) in ("Mn", "Me", "Cf"):  # combining, or not visible
        return 0
    return 2 if east_asian_width(char) in "WF" else 1

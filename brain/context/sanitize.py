"""Keep recalled text data: nothing in a memory can pass for the prompt around it.

`clean` removes invisible characters (controls, direction marks, zero-width characters, tags) and
breaks tokens that a model could take for the end of a block or for another speaker. The formats
then escape their special characters, and put a mark before each line of recalled text.
"""

from __future__ import annotations

import re
from functools import lru_cache

MOST, MOST_SHORT = 8000, 200  # characters of a text, and of a name, path or tag
MARK = "›"  # before a line that could be taken for markup

_EMOJI = "[\u203c\u2049\u2100-\u27bf\u2900-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
_INDIC, _ARABIC = "[\u0900-\u0dff]", "[\u0620-\u077f]"
# Few texts need these patterns, so they are compiled when a text needs them.
_BREAK = "\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]"
_SPACE = "[\xa0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]"
# A joiner is kept between two emoji, and where Arabic or Indic letters meet; a variation selector
# behind an emoji. All others here are invisible or unassigned.
_UNSEEN = (
    f"(?<!{_EMOJI})(?<!{_EMOJI}\ufe0f)(?<!{_INDIC})\u200d|\u200d(?!{_EMOJI}|{_INDIC})"
    f"|(?<!{_ARABIC})(?<!{_INDIC})\u200c|\u200c(?!{_ARABIC}|{_INDIC})"
    f"|(?<!{_EMOJI})\ufe0f|[\ufe00-\ufe0e]"
    "|[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5]"
    "|[\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ud800-\uf8ff]"
    "|[\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff]"
    "|[\U00013430-\U00013455\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U0010ffff]"
)
# Characters that are invisible but printable by Python's rules: fillers and variation selectors.
_MARKS = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\ufffc"
) | frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
_PLAIN = re.compile(r"[\w.,:;/#+()'!?@&%~-]*(?: [\w.,:;/#+()'!?@&%~-]+)*", re.ASCII)
_BLANK_LINES = re.compile(r"\n[ \n]*\n")
# The tokens by which chat models mark turns, our own ids and markers, and our own delimiters.
_MISTRAL = "(?:INST|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|AVAILABLE_TOOLS|ARGS|THINK)"
_CONTROL = re.compile(
    rf"<(?=[|｜][\w▁])|(?<=\w[|｜])(?=>)|\[(?=/?{_MISTRAL}\])|\[(?=id:)|\[(?=\s*⚠)|<(?=<\s*/?SYS)"
    r"|<(?=/?s>|/?project_memory)"
    r"|<(?=/?(?:bos|eos|bot|eot|pad|unk|sep|start_of_turn|end_of_turn|system|user|assistant|model)"
    r"(?:_token)?\b)"
    r"|=(?===(?!=)\s*(?:end\s+of\s+)?project\s+memory)",
    re.IGNORECASE,
)
_ROLE = re.compile(
    r"\n(?=(?:[0-9]{1,3}[.)]|[ >#*_`\[(+•‣▪◦·–—-])*+"
    r"(?:human|assistant|system|user|developer|tool|model|ai|instructions?)"
    r"\b[\]) *_`]{0,6}(?:[:：]|\n|$))",
    re.IGNORECASE,
)


def clean(text: str, most: int = MOST) -> str:
    """Return at most about `most` characters of a text, without invisible ones."""
    return _cleaned(text[: 4 * most], len(text), most)


@lru_cache(512)  # a part is rendered alone, to count its tokens, and with the others
def _cleaned(text: str, whole: int, most: int) -> str:
    if not _is_seen(text):
        text = re.sub(_SPACE, " ", re.sub(_BREAK, "\n", text))
        text = re.sub(_UNSEEN, "", text).replace("\t", "    ")
    text = _BLANK_LINES.sub("\n\n", text.strip("\n").rstrip())
    text = _ROLE.sub(f"\n{MARK} ", _CONTROL.sub(r"\g<0> ", text))
    if len(text) <= most and whole <= 4 * most:
        return text
    return f"{text[:most].rstrip()}… [cut here, {whole:,} characters in all]"


def _is_seen(text: str) -> bool:
    """Return True if all characters except spaces and newlines are visible."""
    return text.replace("\n", "").isprintable() and _MARKS.isdisjoint(text)


def short(text: str, most: int = MOST_SHORT) -> str:
    """Return the text in one line, as a name, a path or a quotation."""
    if len(text) <= most and _PLAIN.fullmatch(text):
        return text
    line = clean(" ".join(clean(text[: most + 1], most + 1).split()), most + 1)
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def quoted(text: str, most: int = 120) -> str:
    """Return the text for use between double quotes, which it cannot end."""
    return short(text, most).replace('"', "'")


def lines(text: str, prefix: str) -> str:
    """Return the text with `prefix` before each line but the first."""
    return text.replace("\n", f"\n{prefix}")

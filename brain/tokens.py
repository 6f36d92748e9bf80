"""How many tokens a text is to a model: a quick estimate, or a tokenizer that is installed.

The estimate adds up what each piece of a text costs: words by their length, runs of punctuation,
digits, line breaks, and characters of other scripts one by one. The costs were fitted to nine
public tokenizers (OpenAI, Anthropic, Llama, Qwen, DeepSeek, Mistral) so that the sum is hardly ever
under the largest of their counts. A budget kept by it is kept for all of them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from math import ceil

from brain.errors import BadConfig, BrainError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_WORD = re.compile(r"[A-Z]?[a-z]+")
_CAPITALS = re.compile(r"[A-Z](?![a-z])[A-Z]*")
_MARKS = re.compile(r"[!-/:-@\[-`{-~]+")
_BREAKS = re.compile(r"  +|\n\s*|[\t\r\f\v]")
_CONSONANTS = re.compile(r"[bcdfghjklmnpqrstvwxz]{4}")  # hardly ever within one token
_DIGIT_FIRST = re.compile(r" (?=[0-9])")  # a space is part of the word behind it, not of a number
_AFTER_DIGIT = re.compile(r"[0-9](?=[A-Za-z])")


def _table(*costs: float, beyond: float) -> tuple[float, ...]:
    """What a piece of 0, 1, 2 … characters costs: as given, then so much for each one more."""
    return (0.0, *costs, *(costs[-1] + beyond * more for more in range(1, 60)))


_WORDS = _table(
    *(0.86, 0.86, 0.86, 0.91, 0.91, 0.91, 1.35, 1.95, 2.55, 3.15, 3.41, 4.01, 4.61, 5.21),
    beyond=0.6,
)
_CAPITAL_RUNS = _table(1.68, 1.68, 1.68, 1.7, 2.65, beyond=0.6)
_MARK_RUNS = _table(1.03, 1.23, 1.23, 1.25, 1.9, 3.6, beyond=0.6)
_LINE, _BLANK, _EACH_BLANK = 1.86, 0.45, 0.06
_CLUSTER, _BEFORE_DIGIT, _DIGIT_LETTER = 0.47, 1.46, 0.67
_ASCII = {**dict.fromkeys("0123456789", 0.87), **dict.fromkeys("jqxz", 0.91)}
# What a character costs from here on: (first code point, tokens).
_SCRIPTS = (
    *((0, 0.0), (0x80, 2.1), (0x250, 2.0), (0x370, 1.22), (0x400, 0.63), (0x530, 1.8)),
    *(
        (0x590, 1.05),
        (0x600, 1.1),
        (0x700, 2.1),
        (0x900, 1.29),
        (0x980, 2.04),
        (0xE00, 1.93),
        (0x1100, 2.5),
    ),
    *((0x1E00, 1.2), (0x1F00, 2.5), (0x2000, 1.75), (0x2C00, 2.5), (0x3000, 0.75)),
    *((0x3040, 1.0), (0x3100, 2.5), (0x4E00, 1.52), (0xA000, 2.5), (0xAC00, 1.36)),
    *((0xD7B0, 3.0), (0xFF00, 0.75), (0xFFF0, 3.0), (0x10000, 4.1)),
)
_STARTS = tuple(start for start, _ in _SCRIPTS)


def estimate(text: str) -> int:
    """The tokens of `text`, rather too many than too few; 0 for nothing, never negative."""
    total = sum(text.count(char) * cost for char, cost in _ASCII.items())
    total += _runs(_WORD.findall(text), _WORDS) + _runs(_CAPITALS.findall(text), _CAPITAL_RUNS)
    total += _runs(_MARKS.findall(text), _MARK_RUNS) + _breaks(_BREAKS.findall(text))
    total += _CLUSTER * len(_CONSONANTS.findall(text))
    total += _BEFORE_DIGIT * len(_DIGIT_FIRST.findall(text))
    total += _DIGIT_LETTER * len(_AFTER_DIGIT.findall(text))
    if not text.isascii():
        total += sum(_cost(char) * times for char, times in Counter(text).items())
    return ceil(total)


def _runs(pieces: list[str], costs: tuple[float, ...]) -> float:
    """What pieces cost by their lengths."""
    try:
        return sum(map(costs.__getitem__, map(len, pieces)))
    except IndexError:
        last, beyond = len(costs) - 1, costs[-1] - costs[-2]
        return sum(costs[min(n, last)] + beyond * max(0, n - last) for n in map(len, pieces))


def _breaks(blanks: Iterable[str]) -> float:
    """What white space costs that is more than one space between two words."""
    total = 0.0
    for blank in blanks:
        total += (_LINE if "\n" in blank else _BLANK) + _EACH_BLANK * (len(blank) - 1)
    return total


def _cost(char: str) -> float:
    """What a character beyond ASCII costs; those of ASCII are counted in runs."""
    return _SCRIPTS[bisect_right(_STARTS, ord(char)) - 1][1]


def counter(name: str) -> Callable[[str], int]:
    """What counts tokens for the setting `tokenizer`.

    Raises a BrainError that says what to do if it names a tokenizer that is not here.
    """
    family, _, which = name.partition(":")
    if name == "estimate":
        return estimate
    if family == "tiktoken" and which:
        return _tiktoken(which)
    if family == "tokenizers" and which:
        return _tokenizers(which)
    raise BadConfig(
        f"There is no tokenizer {name!r}.",
        "Set `tokenizer` to `estimate`, `tiktoken:o200k_base` or `tokenizers:` and the path of a"
        " tokenizer.json.",
    )


def _tiktoken(encoding: str) -> Callable[[str], int]:
    try:
        import tiktoken  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        raise _missing("tiktoken") from None
    try:
        encode = tiktoken.get_encoding(encoding).encode_ordinary
    except Exception as error:  # an unknown name, or no network to fetch its words from
        raise _unusable(f"tiktoken:{encoding}", error) from None
    return lambda text: len(encode(_valid(text)))


def _tokenizers(path: str) -> Callable[[str], int]:
    try:
        from tokenizers import (  # type: ignore[import-not-found,unused-ignore]
            Tokenizer,
        )
    except ImportError:
        raise _missing("tokenizers") from None
    try:
        encode = Tokenizer.from_file(path).encode
    except Exception as error:  # the package raises a bare Exception, whatever is wrong
        raise _unusable(f"tokenizers:{path}", error) from None
    return lambda text: len(encode(_valid(text), add_special_tokens=False).ids)


def _valid(text: str) -> str:
    """`text` without lone surrogates, which no tokenizer takes."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _missing(package: str) -> BrainError:
    return BadConfig(
        f"The setting `tokenizer` asks for the package {package}, which is not installed.",
        f"Run `pip install {package}`, or set `tokenizer: estimate`.",
    )


def _unusable(name: str, error: Exception) -> BrainError:
    said = str(error).strip().split("\n")[0].rstrip(".")[:200]
    return BadConfig(
        f"The tokenizer {name!r} cannot be used: {said}.",
        "Name one that is installed, or set `tokenizer: estimate`.",
    )

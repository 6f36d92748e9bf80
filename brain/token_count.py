"""Token counts: a safe estimate, or an exact count by an installed tokenizer.

The estimate is the sum of the costs of words, letters, digits, signs and white space. The costs are
fitted to nine public tokenizers (OpenAI, Anthropic, Llama, Qwen, DeepSeek, Mistral), so that the
sum is almost never less than the largest of their counts. So a budget in estimated tokens holds for
all of them. For English, Markdown and code, the estimate is a quarter to a third too high. A rare
character has the highest cost that is possible.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from math import ceil

from brain.errors import BadConfig, BrainError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_SIGN = r"[!-/:-@\[-`{-~]"
_CONSONANT = "[b-df-hj-np-tv-xzB-DF-HJ-NP-TV-XZ]"
# Tokens for each match in a text. A pattern that began with a lookbehind would be slow.
_COSTS = tuple(
    (tokens, re.compile(pattern))
    for tokens, pattern in (
        (0.92, r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])"),  # a word; fooBar has two words
        (0.5, r"[A-Z](?=[a-z])"),
        (0.45, r"[A-Z](?=[A-Z])"),
        (0.75, r"(?<=[a-z]{7})[a-z]"),  # each letter after the seventh
        (0.8, r"[kvwKVW]"),  # letters and spellings of rare words
        (1.25, r"[jqxzJQXZ]"),
        (1.5, rf"{_CONSONANT}(?={_CONSONANT}{{3}})"),
        (1.6, rf"(?<![A-Za-z]){_CONSONANT}{{2,}}(?![A-Za-z])"),
        (1.0, r"[0-9]"),
        (0.95, rf"{_SIGN}+"),
        (0.5, rf"({_SIGN})(?!\1)(?={_SIGN})"),  # a sign before a different one
        (0.22, r"([-=*#./_])(?=\1)"),  # as in horizontal rules
        (0.5, r"([^\w\s\-=*#./])(?=\1)"),
        (0.95, rf"[\\?|^~&%`](?:(?={_SIGN})|(?<={_SIGN}.))"),  # as in regular expressions
        (1.3, r"\n(?!\n)"),
        (1.0, r"  +"),
        (0.26, r"[\n\t](?=[\n\t])"),
        (0.3, r"(\s)(?=\s)(?!\1)"),
        (0.95, r" (?=[^A-Za-z!-/:-@\[-`{-~ ])(?<=\S )"),  # a space that is not part of a word
        (1.0, r"[\x00-\x08\x0b-\x1f\x7f]"),
    )
)
# The most frequent Chinese characters and Korean syllables that are one token to all nine.
_COMMON = frozenset(
    "一三上下不与业东两个中为主么之也了事二于些产人从他代以们会但位体作你使入全公关其内出分到制前"
    "力加动化北区十南原去发口只可合同名后向员和因国在地场城外多大天头好如子学安定实家对将小就山工"
    "已市常平年度建开当得心性情意成我所手政数文新方无日时明是最月有本机来样次正此民水没治法海点然"
    "物现理生用由的相看种立第等经者而能自行表西要见说起身过还这进通道部都里重长门间院面高가개경고"
    "그기나는니다도되드들러력로를리보사서성세수스습시식아어에여오요용으은을음의이인일입자정제지크"
    "터트하한할해"
)
# Tokens for each other character, from a code point on. 4 stands for the number of UTF-8 bytes.
_SCRIPTS = (
    *((0, 4), (0x370, 1.2), (0x400, 0.7), (0x460, 4), (0x590, 1.25), (0x700, 4), (0x900, 1.25)),
    *((0x980, 4), (0xE00, 2), (0xE80, 4), (0x2010, 1), (0x2040, 4), (0x2500, 1), (0x2580, 4)),
    *((0x3000, 1), (0x3020, 4), (0x3040, 1.2), (0x3100, 4), (0xFF00, 1), (0xFF60, 4)),
)


def estimate(text: str) -> int:
    """Return the estimated number of tokens of a text. The estimate is almost never too low."""
    if not text:
        return 0
    total = 2 + sum(tokens * len(pattern.findall(text)) for tokens, pattern in _COSTS)
    if not text.isascii():
        characters = Counter(char for char in text if char > "\x7f")
        total += sum(_char_cost(char) * count for char, count in characters.items())
    return ceil(total)


def _char_cost(char: str) -> float:
    """Return the estimated tokens of a character that is not ASCII."""
    if char in _COMMON:
        return 0.95
    if "\u4e00" <= char < "\ua000" and b"" < char.encode("gb2312", "ignore") < b"\xd8":
        return 2.1  # the first level of GB 2312: the characters of everyday Chinese
    if "\uac00" <= char < "\ud7a4" and len(char.encode("euc_kr")) == 2:
        return 2.0  # the syllables of everyday Korean
    cost = _SCRIPTS[bisect_right(_SCRIPTS, (ord(char), 4)) - 1][1]
    return min(cost, len(char.encode("utf-8", "surrogatepass")))


def counter_or_estimate(name: str) -> tuple[Callable[[str], int], str]:
    """Return the counter for the setting `tokenizer`, and a warning or ''.

    If the tokenizer is not installed, return the estimate and a warning: settings are synced
    between machines, but packages are not.
    """
    try:
        return counter(name), ""
    except BadConfig as error:
        return estimate, f"Tokens are estimated. {error}"


def counter(name: str) -> Callable[[str], int]:
    """Return the counter that the setting `tokenizer` names. Raise BadConfig if the name is unknown
    or its package is not installed."""
    family, _, model = name.partition(":")
    if name == "estimate":
        return estimate
    if family == "tiktoken" and model:
        return _tiktoken(model)
    if family == "tokenizers" and model:
        return _tokenizers(model)
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
    except Exception as error:  # an unknown name, or no network to download the vocabulary
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
    except Exception as error:  # the package raises plain `Exception`, never a subclass
        raise _unusable(f"tokenizers:{path}", error) from None
    return lambda text: len(encode(_valid(text), add_special_tokens=False).ids)


def _valid(text: str) -> str:
    """Return the text without lone surrogates, which no tokenizer accepts."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _missing(package: str) -> BrainError:
    return BadConfig(
        f"The setting `tokenizer` needs the package {package}, which is not installed.",
        f"Run `pip install {package}`, or set `tokenizer: estimate`.",
    )


def _unusable(name: str, error: Exception) -> BrainError:
    reason = str(error).strip().split("\n")[0].rstrip(".")[:200]
    return BadConfig(
        f"The tokenizer {name!r} cannot be used: {reason}.",
        "Set an installed tokenizer, or set `tokenizer: estimate`.",
    )

"""How many tokens a text is to a model: a quick estimate, or a tokenizer that is installed.

The estimate cuts a text into pieces as tokenizers do, and adds up what each costs: usual words one
token, others by how usual their letters are behind one another, runs of punctuation, digits, white
space, and characters beyond ASCII one by one. The costs were fitted to nine public tokenizers
(OpenAI, Anthropic, Llama, Qwen, DeepSeek, Mistral) so that the sum is not under the largest of
their counts. A budget kept by it is kept for all of them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from functools import lru_cache
from itertools import pairwise, product
from math import ceil, sqrt

from brain.errors import BadConfig, BrainError
from brain.usual_words import WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_PIECE = re.compile(
    r"[ _]?[A-Z]?[a-z]+|[ _]?[A-Z]+(?![a-z])| ?[!-/:-@\[-`{-~]+|[0-9]+|\s*\n|\s+(?!\S)|\s"
    r"|[\x00-\x08\x0e-\x1b\x7f]"
)
_LONG = 40  # characters; a piece that is longer hardly comes twice
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
# How unusual a letter is: a row for each letter before it, the last for the start of a word.
_PAIRS = {
    pair: 0.15 * int(digit) - 0.2
    for pair, digit in zip(
        product(_LETTERS + "^", _LETTERS),
        """
        52205414363021717100433305 35552655446166258334277527 46451671491256377240368627
        67753767578577579535677747 56424546787443856223854238 46652366286355258343387638
        56662751578464569345578847 47762776586655478542668837 33101106664120016200626252
        46631776664655366614467757 66642766577663768736866948 46631678476376469633468819
        34641858485335437635568639 46322527573454458621557638 33215214551110428021231336
        36641553585157348231487538 57735776596367854443067757 37421436493544368533556618
        78673674585677658733587939 57552672498557569434575729 41211326365011517000666346
        37650755386656378745666837 46641772386563258225784547 56554677686538648733777437
        87775878898765779835886968 45741664575655678744564725 88867888998789989857998979
        """.replace(" ", "").replace("\n", ""),
        strict=True,
    )
}
_USUAL = frozenset(WORDS.split())
# What all the nine know as one token.
_KNOWN = frozenset(
    """
    あいうえおかがきくけこさしすせそただちっつてでとどなにのはばまみめもやよらりるれわをんアィイ
    ウェエオカキクグコサシジスセタッテデトドパフブプマムメュョラリルレロン一万三上下不与专业东两
    个中为主么义之也书了事二于五些交产京人今从他付代以们件价任份企会传但位体何余作你使例供保信修
    值停像元先入全公共关其具内册再写出击分列则初利别到制前力功加务动動包化北区十华单南即历原去县
    参及反发取变口只可台右号司合同名后向否含启告员周命和品哈商器四回因国图土在地场型城基報場增处
    备复外多大天失头好如始子字存学安完定实客家容密对导将小少尔就局展山州工左已市布常平年并广序库
    应店度建开式引张当录形影径待後得微心必志态思性总息您情意感成我或户所手打技投报拉持指按换据排
    接推提播支收改放政效数整文料断新方族无日时明易星是時景更最月有服期未本机权束条来板构果查标样
    格案模次止正此步段每比民水求江没治法注活流海消清游源点然片版物特率环现理生用由电画界登的目直
    相省看真知码确示社票种科秒称移程空立站章端符第等简算管类系素索约级线组经结给统编网置老考者而
    联能自至色节英藏行表装西要见规视角解言計计认议记论设证评试话该语误说请读调象责败费资起超路身
    车转载辑输达过运近还这进连述退送选通速造道部都配释里重量金错长開間関门闭问间队阳陆限院除集需
    非面音页项题首验高黑가간개게경고과구그기나내는니다당대도동되된드들라래러력로료를름리만면문미
    번보복부분사산상색서성세소수스습시식아야어에여열오와요용우원위으은을음의이인일입자작장재전정
    제주지째치크터트하한할해호화환
    """
    "\u2010\u2011\u2013\u2014\u2015\u2018\u2019\u201c\u201d\u201e\u2020\u2022\u2026"
    "\u3000\u3001\u3002\u300c\u300d\u3010\u3011\u30fb\u30fc\uff01\uff08\uff09\uff0c\uff0d\uff0e"
    "\uff0f\uff10\uff11\uff12\uff13\uff14\uff15\uff16\uff17\uff18\uff19\uff1a\uff1b\uff1e\uff1f\uff5e"
) - {" ", "\n"}
# What any other character costs from here on: (first code point, tokens).
_SCRIPTS = (
    *((0, 0.0), (0x80, 1.0), (0x180, 1.3), (0x370, 1.19), (0x400, 0.55), (0x530, 1.65)),
    *((0x590, 0.95), (0x600, 0.91), (0x700, 2.1), (0x900, 1.17), (0x980, 2.03), (0xE00, 1.8)),
    *((0xE80, 1.95), (0x1100, 2.5), (0x1E00, 1.4), (0x1F00, 2.5), (0x2000, 1.48), (0x2070, 3.0)),
    *((0x2190, 1.8), (0x2500, 1.0), (0x25A0, 3.0), (0x3000, 2.2), (0x3040, 2.1), (0x3100, 3.0)),
    *((0x3200, 4.0), (0x3400, 3.0), (0xFF00, 2.0), (0xFF5F, 3.0), (0x10000, 4.0)),
)
_STARTS = tuple(start for start, _ in _SCRIPTS)


def estimate(text: str) -> int:
    """The tokens of `text`, rather too many than too few; 0 for nothing, never negative."""
    if not text:
        return 0
    total = doubt = 0.0
    for piece, times in Counter(_PIECE.findall(text)).items():
        cost, unsure = _piece(piece) if len(piece) <= _LONG else _cost(piece)
        total += cost * times
        doubt += (unsure * times) ** 2  # an unusual word that comes often is often wrong
    if not text.isascii():
        total += sum(_char(char) * times for char, times in Counter(text).items())
    return ceil(total + sqrt(doubt) + 0.25 * sqrt(len(text)) + 1.75)


def _cost(piece: str) -> tuple[float, float]:
    """What a piece costs, and how far that may be wrong."""
    if piece.isspace():
        return _blank(piece), 0.0
    if piece.isdigit() or piece < " ":
        return float(len(piece)), 0.0
    body = piece.lstrip(" _")
    if not body.isalpha():
        return _marks(piece.lstrip(" "))
    word = body.lower()
    usual = word in _USUAL
    odd = sum(map(_PAIRS.__getitem__, zip("^" + word, word, strict=False)))
    odd = min(odd, 0.5) if usual else odd + 0.3 * (len(word) > 3)
    if body.isupper():
        return _capitals(len(body), odd) + (0.64 if piece[0] == "_" else 0.0), 0.45
    joined = 0.0 if piece[0] == " " else (1.57 if piece[0] == "_" else 0.2) + 0.2 * max(0, odd - 1)
    proper = 0.68 * max(0.0, odd - 1) if body[0] < "a" else 0.0
    short = 0.74 * max(0.0, odd - 1.4) if len(body) < 4 else 0.0
    cost = 0.91 + joined + proper + short + 1.81 * max(0.0, odd - 2)
    return cost, 0.05 if usual else 0.15 if odd < 1.2 else 0.45


_piece = lru_cache(8192)(_cost)


def _capitals(length: int, odd: float) -> float:
    more = 0.77 + 0.22 * (length - 3) if length > 3 else 0.51 if length == 1 else 0.0
    return 0.8 + more + 0.87 * max(0.0, odd - 1)


def _marks(run: str) -> tuple[float, float]:
    """Signs that change cost most, those that rule lines least."""
    changes = sum(one != other for one, other in pairwise(run))
    rules = sum(one == other and one in "-=*#./_" for one, other in pairwise(run))
    others = len(run) - 1 - changes - rules
    first = 1.45 if len(run) > 3 else 1.0
    change = 1.05 if rules else 0.65  # rules of some lengths are more than one token
    cost = first + change * max(0, changes - 1) + 0.05 * rules + 0.44 * others
    if changes:
        seldom = sum(map(run.count, "\\?|^~&%`"))  # next to others, but in patterns
        cost += 0.3 * (seldom + (rules > 0))
    return cost, 0.37 if changes > 1 else 0.15


def _blank(blank: str) -> float:
    """White space that is more than the space before a word."""
    if "\n" in blank:
        return 1.13 + 0.1 * (blank.count("\n") - 1) + (0.9 if "\r" in blank else 0.0)
    return 1.0


@lru_cache(8192)
def _char(char: str) -> float:
    """What a character beyond ASCII costs; those of ASCII are counted in pieces."""
    if char in _KNOWN:
        return 0.9
    if "\u4e00" <= char < "\ua000":
        return 2.4 if _leads(char, "gb2312", 0xD8) else 2.6 if _leads(char, "big5", 0xC9) else 3.0
    if "\uac00" <= char < "\ud7a4":
        return 2.4 if len(char.encode("euc_kr")) == 2 else 3.0  # the others are spelled out
    return _SCRIPTS[bisect_right(_STARTS, ord(char)) - 1][1]


def _leads(char: str, encoding: str, end: int) -> bool:
    """Whether a character is among the common ones, with which its country's encoding begins."""
    return b"" < char.encode(encoding, "ignore") < bytes((end,))


def counting(name: str) -> tuple[Callable[[str], int], str]:
    """What counts tokens for the setting `tokenizer`, and ''; where it names one that is not here,
    the estimate, and what a person should know of that. The settings travel between machines, and
    packages do not."""
    try:
        return counter(name), ""
    except BadConfig as error:
        return estimate, f"Tokens are estimated. {error}"


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

"""Secrets without a format: what is called a secret, and what looks like noise.

A value behind a word such as `password` counts from 3.5 bits a character on; without such a word,
32 characters and 4.5 bits are asked for, and that it is no address, path, digest, id, link or name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import log2

from brain.redact.formats import NOISE, compiled

NAMED_BITS, BARE_BITS = 3.5, 4.5

# All of these are searched for in the text in small letters.
_NAME = (
    r"(?a)(?:pass(?:word|wd|phrase|code|wort)|pwd|kennwort|contrase[ñn]a|senha|mot de passe|пароль"
    r"|密码|パスワード|secret|token|credential|(?:(?<=[ _.-])|(?<=[a-z]))key)"
    r"(?P<tail>[\w.-]{0,40})"
)
_SEPARATOR = (
    r"""\\?["'`\])*]{0,3}(?:[ ](?:for|of|to|on|in|at)(?:[ ][\w.@-]{1,30}){1,3})?"""
    r"""(?:[ \t]{0,3}:[ \t]{0,2}[a-z][\w.\[\]| ]{0,30}(?=[ \t]{0,2}=))?"""  # password: str = …
    r"""(?:[ \t]{0,8}(?:=>|:=|==?|::?|[>：是は]|\|(?=[ \t])|,(?=[ \t]{0,3}\\?["'`]))"""
    r"""|[ \t]{1,3}is(?=[ \t:]):?|(?=[ \t]))[ \t]{0,8}(?:[bfru@]{1,2}(?=["'`]))?"""
)
_KEY_OF = (
    r"(?:api|access|account|app|auth|client|encryption|licen[cs]e|master|private|secret|session"
    r"|shared|signing|storage|webhook)[ _.-]?$"
)
_OTHER = (
    r"^(?:i[sz]|ary|less|ly)|(?:file|path|ur[il]|names?|ids?|types?|len|length|counts?|sizes?|ttl|expir\w*|policy|fields?"
    r"|headers?|env|var|version|limits?|budget|endpoint|hash(?:es)?|at|hints?|manager|bucket)$"
)

_VALUE = (
    r"""\\?(?P<quote>["'`])(?P<quoted>(?:(?!(?P=quote))[\0!-\[\]-~]){8,200})"""
    r"""|(?P<plain>[\0!#-&(-;=?-\[\]-_a-~]{8,200})"""
)
_STAND_IN = (
    r"\$\{?[A-Za-z_]|\$\(|%\w+%$|\{\{|[<\[*]|(?:your|my|some|the)[-_ ]"
    r"|.*(?:[xX]{4}|\.{3}|…|[Ee]xample|EXAMPLE|[Cc]hange-?me|placeholder)"
)
_WORDS = r"[a-z_.,:;=/-]+$"
_DATE = r"\d{4}-\d\d-\d\d(?:[T ]|$)"
_CODE = r"\(|.*[A-Za-z_.]{3}[(\[]|[\w.]+\(\)|\w+[,&;]\w+="
_PATH = r"~?/|\.{1,2}/|[A-Za-z]:[\\/]|\\\\|[\w+.-]{2,20}:"
_LOWER_NAME = r"[a-z][a-z0-9]*(?:[-_.:/][a-z0-9]+)+$"
_CONSTANT = r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$"
_CAMEL = r"[A-Za-z_][A-Za-z_.-]*\d{0,4}$"
_PLAIN_SHAPES = (_WORDS, _STAND_IN, _DATE, _CONSTANT)
_WORD = r"[A-Z]?[a-z]{3,}|[A-Z]{3,}(?![a-z])"
_SAYABLE = r"(?i)(?=.*[aeiouy])(?!.*[^aeiouy]{4})"

_PIECE = rf"""[^\s"'`,;(){{}}<>\[\]|]{{{NOISE},}}"""
_RUN = rf"(?a)[\w+/.~-]{{{NOISE},}}={{0,2}}"
_MIXED = r"(?=.*[a-z])(?=.*[A-Z])(?=.*\d)"
_DIGEST = r"(?i:sha-?\d{1,3}|md5|h1|blake\w+)[-:=]$"
_PUBLIC = r"AAAA[A-Z][23]|Qm[1-9A-HJ-NP-Za-km-z]{44}$|sha\d{3}-"
_ID = r"[0-9A-Fa-f]+$|[0-7][0-9A-HJKMNP-TV-Z]{25}$|[a-z]{1,8}$|[A-Z][a-z]{2,}$|\d+$"
_DATA = r"data:(?:image|font|audio|video|application)/[\w.+;=-]{1,80},$"
_LINKED = (
    r"\[\[[^\[\]\n]{1,500}+\]\]|\]\([^()\s]{1,2000}+\)|<[a-z]{2,10}:[^<>\s]{1,2000}+>"
    r"|-----BEGIN (?![A-Z0-9 ]*PRIVATE)[A-Z0-9 ]{1,40}-----[^-]*+"
)


def entropy(text: str) -> float:
    """Shannon's bits a character."""
    size = len(text)
    return -sum(n / size * log2(n / size) for n in map(text.count, set(text)))


def named(text: str, lower: str) -> Iterator[tuple[int, int]]:
    """The values that stand behind the name of a secret and look like one."""
    done = 0
    for name in compiled(_NAME).finditer(lower):
        if name.start() < done or not _calls(lower, name):
            continue
        separator = compiled(_SEPARATOR).match(lower, name.end())
        if not separator or (separator[0].isspace() and not _is_option(lower, name.start())):
            continue
        if span := _value(text, name, separator.end()):
            yield span
            done = span[1]


def _calls(lower: str, name: re.Match[str]) -> bool:
    """Is this the name of a secret: an `api_key` but no `key`, a `token` but no `token_url`?"""
    before = lower[max(0, name.start() - 12) : name.start()]
    if name[0].startswith("key") and not compiled(_KEY_OF).search(before):
        return False
    return not compiled(_OTHER).search(name["tail"])


def _is_option(lower: str, start: int) -> bool:
    """`--db-password value`: only an option has its value behind a space."""
    return lower.startswith("-", lower.rfind(" ", max(0, start - 40), start) + 1)


def _value(text: str, name: re.Match[str], at: int) -> tuple[int, int] | None:
    match = compiled(_VALUE).match(text, at)
    if not match:
        return None
    group = "plain" if match["quoted"] is None else "quoted"
    start, value = match.start(group), match[group]
    if group == "plain":
        if "?" in text[max(0, start - 500) : start].rpartition(" ")[2]:
            value = value.partition("&")[0]
        value = value if "(" in value else value.rstrip(".,;:)]}")
    return (start, start + len(value)) if telling(value, name[0], group) else None


def telling(value: str, name: str, group: str = "quoted") -> bool:
    """Does a value look like a secret, if something called `name` holds it?"""
    if len(value) < 12 or "\0" in value or any(_is(shape, value) for shape in _PLAIN_SHAPES):
        return False
    if group == "plain" and _is(_CODE, value):
        return False
    if _is(_PATH, value) and (_worded(value) or value.count("/") > 2 or "://" in value):
        return False
    if (_is(_LOWER_NAME, value) or _is(_CAMEL, value)) and _worded(value):
        human = not name.startswith(("token", "key", "secret", "cred"))
        if not (human and _is(_MIXED, value)):
            return False
    return entropy(value) >= NAMED_BITS


def _is(shape: str, text: str) -> bool:
    return compiled(shape).match(text) is not None


def _worded(text: str) -> bool:
    """Is it made of words that can be said, as names and paths are?"""
    said = sum(len(word) for word in compiled(_WORD).findall(text) if _is(_SAYABLE, word))
    return said >= 0.6 * sum(map(str.isalnum, text))


def bare(text: str, taken: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The long runs that look like noise, in pieces where nothing else was found."""
    linked: list[tuple[int, int]] | None = None
    for piece in compiled(_PIECE).finditer(text):
        if not _is(_MIXED, piece[0]) or _harmless(text, piece) or _meets(piece.span(), taken):
            continue
        linked = [m.span() for m in compiled(_LINKED).finditer(text)] if linked is None else linked
        if not _meets(piece.span(), linked):
            for run in compiled(_RUN).finditer(text, piece.start(), piece.end()):
                if _noise(run[0].rstrip("."), text[max(0, run.start() - 8) : run.start()]):
                    yield run.start(), run.start() + len(run[0].rstrip("."))


def _harmless(text: str, piece: re.Match[str]) -> bool:
    """An address, a path, a block id, a picture's data, or what was redacted before."""
    word = piece[0]
    if "://" in word or "\0" in word or word.startswith(("www.", "^", "#", "@")):
        return True
    before = text[max(0, piece.start() - 100) : piece.start()]
    return bool(before.endswith("base64,") and compiled(_DATA).search(before))


def _noise(run: str, before: str) -> bool:
    if len(run) < NOISE or not _is(_MIXED, run) or compiled(_DIGEST).search(before):
        return False
    if _is(_PUBLIC, run) or all(_is(_ID, part) for part in re.split(r"[-_./+~]", run.strip("="))):
        return False
    return not _worded(run) and not _path(run) and entropy(run) >= BARE_BITS


def _path(run: str) -> bool:
    """Slashes between names, and not now and then one, as in base64."""
    parts = run.split("/")
    if len(parts) == 1:
        return False
    if run[0] in "/.~" or "." in run or any(p.islower() and _is(_SAYABLE, p) for p in parts):
        return True
    return len(parts) > 1 + len(run) // 12


def _meets(span: tuple[int, int], others: list[tuple[int, int]]) -> bool:
    """Does a span touch one of the others, which are in order?"""
    from bisect import bisect_left

    at = bisect_left(others, span[1], key=lambda other: other[0])
    return at > 0 and others[at - 1][1] > span[0]

"""Secrets without a provider's format or a place: known by their name, or because they look like
noise.

By name: a value behind a word such as `token` counts from 12 characters on if it is not made of
words. Behind `password`, in many languages, one that a person made up counts too: letters with a
digit.

Noise: 32 characters and 4.5 bits are needed, and that it is not an address, path, digest, id, link
or name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from math import log2

from brain.redact.judge import (
    SAYABLE,
    SIGN,
    TERM,
    is_name,
    is_random,
    is_word,
    made_up,
    matches,
    worded,
)
from brain.redact.rules import NOISE, compiled

# -- what hides a secret from the rules, and what must be hidden from them -------------------------

_UNSEEN = "[\0\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]+"
_DONE = r"\[redacted:[a-z0-9-]{1,30}\]"


def lift(text: str) -> tuple[str, Callable[[int], int]]:
    """Return the text without characters that nobody sees (a zero-width space inside a key), and a
    function from an offset in it to the offset in the text."""
    if not compiled(_UNSEEN).search(text):
        return text, lambda at: at
    kept: list[int] = []
    at = 0
    for match in compiled(_UNSEEN).finditer(text):
        kept += range(at, match.start())
        at = match.end()
    kept += range(at, len(text))
    return compiled(_UNSEEN).sub("", text), kept.__getitem__


def cover(text: str) -> str:
    """Return the text with NULs for what was redacted before: no rule matches them and they do not
    end a word, so that redacting twice changes nothing."""
    return compiled(_DONE).sub(lambda match: "\0" * len(match[0]), text)


# -- by name ---------------------------------------------------------------------------------------

# All of these are searched for in the text in small letters.
_NAME = (
    r"(?a)(?:(?P<typed>pass(?:word|wd|phrase|code|wort|ord)|pwd|(?<![a-z])(?:pw|pass)(?![a-z])"
    r"|kennwort|contrase[ñn]a|senha|mot de passe|wachtwoord|adgangskode|lösenord|salasana|hasło"
    r"|heslo|jelszó|parola|şifre|mật khẩu|пароль|密[码碼]|パスワード|비밀번호)"
    r"|secret|token|credential|(?:(?<=[ _.-])|(?<=[a-z]))key)"
    r"(?P<tail>(?<![码碼ド호])[\w.-]{0,40}|)"
)
_CLOSED = r"""\\?["'`\])*]{0,3}"""
_QUOTED_NEXT = r"""(?:[bfru@]{1,2}(?=["'`]))?"""
_SEPARATOR = (
    _CLOSED + r"""(?:[ ](?:for|of|to|on|in|at|für|von|pour|para|del?|per|voor)"""
    r"""(?:[ ][\w.@-]{1,30}){1,3})?"""
    # password: str = …
    r"""(?:[ \t]{0,3}:[ \t]{0,2}[a-z][\w.\[\]| ]{0,30}(?=[ \t]{1,2}=|=["']))?"""
    r"""(?:[ \t]{0,8}(?:=>|:=|==?|::?|[>：]|[是为為は][：:]?|\|(?=[ \t])|,(?=[ \t]{0,3}\\?["'`]))"""
    r"""|(?P<member>,?\s{1,20}\\?["']?value\\?["']?[ \t]{0,2}[=:]))"""
    r"""(?:\*\*?(?=[ \t]))?[ \t]{0,8}""" + _QUOTED_NEXT
)
# Between a name and its value in a sentence: a verb, a dash or a space.
_SPOKEN = (
    _CLOSED
    + r"""(?P<verb>[는은]|[ \t]{1,3}(?:is|was|to|ist|war|lautet|es|est|este|è|é|är|er|jest"""
    r"""|on|je|là|это|[-–—])(?=[ \t:])(?:[ ](?:now|jetzt|nun|ahora|maintenant))?:?)?"""
    r"""(?:[ \t]{1,3}|(?<=[码碼ド호]))"""
)
_KEY_OF = (
    r"(?:api|access|account|admin|app|application|auth|client|consumer|database|db|deploy"
    r"|encryption|integration|licen[cs]e|master|priv|private|secret|security|server|service|session"
    r"|shared|signing|storage|subscription|user|webhook|write)[ _.-]?$"
)
# Keys of tables and of caches are no secrets; any other counts if its value looks like a key.
_OPEN_KEY = (
    r"(?:public|pub|primary|foreign|unique|sort|partition|cache|hash|host|row|index|object|s3"
    r"|redis|group|map|dict|idempotency|ssh|gpg|pgp|signature|lookup|routing|config|answer"
    r"|the|a)[ _.-]?$"
)
_OTHER = (
    r"^(?:i[sz]|ary|less|ly|board)|(?:file|path|ur[il]|names?|ids?|types?|len|length|counts?|sizes?|ttl"
    r"|expir\w*|policy|fields?|headers?|env|var|version|limits?|budget|endpoint|hash(?:es)?|at|hints?"
    r"|manager|bucket|fingerprint)$"
)

_MOST = 100  # a longer value is judged by its beginning
_VALUE = (
    r"""(?P<bold>\*{1,3}|__)?(?:"""
    rf"""\\?(?P<quote>["'`])(?P<quoted>(?:(?!(?P=quote))[\0!-\[\]-~]){{6,{_MOST}}})"""
    rf"""|[“”„‟«‘’‚「『](?P<curly>[\0!-\[\]-~]{{6,{_MOST}}})"""
    rf"""|<(?P<angle>[\0!-;=?-\[\]-~]{{6,{_MOST}}})>"""
    rf"""|(?P<plain>[\0!#-&(-;=?-\[\]-_a-~]{{6,{_MOST}}}))"""
)
_INNER = r"(?i)(?:pass(?:word|wd)?|pwd?|secret|token|key)[=:]"
_REST = r"[!#-&(-;=?-\[\]-_a-~]*+"
_STAND_IN = (
    r"\$\{|\$\(|\$[A-Za-z_]\w*(?![\w!#%^&*@+=~?$])|%\w+%$|\{\{"
    r"|\{\w+[:}]|[<\[*]|(?:your|my|some|the)[-_ ]"
    r"|.*(?:[xX]{4}|\.{3}|…|[Ee]xample|EXAMPLE|[Cc]hange-?me|placeholder)"
)
_DATE = r"\d{4}-\d\d-\d\d(?:[T ]|$)|\d{8}T\d{6}"
_CODE = r"\(|.*[A-Za-z_.]{3}[(\[]|[\w.]+\(\)|\w+[,&;]\w+=|os\.environ"
_SIGNS = r"(?:[^!@#$%^*]*[!@#$%^*]){3}"
_PATH = r"~?/|\.{1,2}/|[A-Za-z]:[\\/]|\\\\|[\w+.-]{2,20}:"
_KEY = r"(?a)[\w+/=.~-]+$"
_CONSTANT = r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$"


def named(text: str, lower: str) -> Iterator[tuple[int, int]]:
    """The values that stand behind the name of a secret and look like one."""
    done = 0
    for name in compiled(_NAME).finditer(lower):
        if name.start() < done or compiled(_OTHER).search(name["tail"]):
            continue
        span = None
        if separator := compiled(_SEPARATOR).match(lower, name.end()):
            span = _secret(text, lower, name, separator)
        if not span and (separator := compiled(_SPOKEN).match(lower, name.end())):
            span = _spoken(text, lower, name, separator)
        if span:
            yield span
            done = span[1]


def _secret(
    text: str, lower: str, name: re.Match[str], separator: re.Match[str]
) -> tuple[int, int] | None:
    """Where the value stands, if it is one that such a name has."""
    if not (value := _value(text, separator.end())):
        return None
    start, word, group = value
    between = separator[0].strip(" \t*")
    if name["typed"] == "pass":
        # pass it on to …; a second pass: Turbo5
        signed = compiled(SIGN).search(word) or (between == "=" and len(word) >= 8)
        sure = (made_up(word) and signed) or (is_random(word, 12) and matches(_MIXED, word))
        return _span(text, value) if between in (":", "=") and sure else None
    if _random(word, group, _least(lower, name)) or (name["typed"] and made_up(word)):
        return _span(text, value)
    # `password=` and a word: a password, unless it is the argument of a call
    tight = name["typed"] == name[0] and (separator[0] == "=" or separator["member"])
    if not tight or group == "angle" or len(word) < 8 or not word.isalpha() or matches(TERM, word):
        return None
    call = "(" in text[max(0, start - 200) : start].rpartition("\n")[2]
    return None if call else _span(text, value)


def _spoken(
    text: str, lower: str, name: re.Match[str], separator: re.Match[str]
) -> tuple[int, int] | None:
    """Where the value stands in `the password is …`, `password …` or `--password …`."""
    option = not separator["verb"] and _is_option(lower, name.start())
    if name["typed"] == "pass" or (name["tail"] and not (separator["verb"] or option)):
        return None
    if not (value := _value(text, separator.end())):
        return None
    _, word, group = value
    sure = option or bool(separator["verb"])
    if name["typed"] and made_up(word, alone=not sure):
        return _span(text, value)
    least = _least(lower, name)
    if not sure:
        least = max(least, 20) if matches(_KEY, word) else _MOST + 1
    return _span(text, value) if _random(word, group, least) else None


def _least(lower: str, name: re.Match[str]) -> int:
    """How long a random value must be behind this name; an `api_key` is sure, a `key` is not."""
    if not name[0].startswith("key"):
        return 12
    before = lower[max(0, name.start() - 12) : name.start()]
    if compiled(_KEY_OF).search(before):
        return 12
    return _MOST + 1 if compiled(_OPEN_KEY).search(before) else 16


def _is_option(lower: str, start: int) -> bool:
    """`--db-password value`: only an option has its value behind a space."""
    return lower.startswith("-", lower.rfind(" ", max(0, start - 40), start) + 1)


def _value(text: str, at: int) -> tuple[int, str, str] | None:
    """What stands there: from where on, the word, and how it is quoted. None for a stand-in."""
    match = compiled(_VALUE).match(text, at)
    if not match or "\0" in match[0]:
        return None
    group = next(each for each in ("plain", "quoted", "curly", "angle") if match[each] is not None)
    start, value = match.start(group), match[group]
    if inner := compiled(_INNER).search(value):  # judged by its own name: each piece once
        value = value[: inner.start()]
        if len(value) < 6:
            return None
    if group == "plain" and len(value) < _MOST:
        if "?" in text[max(0, start - 500) : start].rpartition(" ")[2]:
            value = value.partition("&")[0]
        value = value if "(" in value else value.rstrip(".,;:)]}")
        value = value.rstrip("*_") if match["bold"] or value.endswith("**") else value
    if any(matches(shape, value) for shape in (_STAND_IN, _DATE, _CONSTANT)):
        return None
    return start, value, "plain" if match["quote"] == "`" else group


def _span(text: str, value: tuple[int, str, str]) -> tuple[int, int]:
    """The value from start to end, also if it is longer than what was judged."""
    start, word, _ = value
    end = start + len(word)
    if len(word) < _MOST:
        return start, end
    rest = compiled(_REST).match(text, end)
    return start, rest.end() if rest else end


def _random(value: str, group: str, least: int) -> bool:
    """Does a value look like a key, and not like code or a path?"""
    if not is_random(value, least):
        return False
    if group == "plain" and matches(_CODE, value) and not matches(_SIGNS, value):
        return False
    if not matches(_PATH, value):
        return True
    parts = value.lower().split("/")
    return not (worded(value) or "://" in value or any(len(p) > 3 and is_word(p) for p in parts))


# -- noise -----------------------------------------------------------------------------------------

BARE_BITS = 4.5
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


def bare(text: str, taken: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The long runs that look like noise, in pieces where nothing else was found."""
    linked: list[tuple[int, int]] | None = None
    for piece in compiled(_PIECE).finditer(text):
        if not matches(_MIXED, piece[0]) or _harmless(text, piece) or _meets(piece.span(), taken):
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
    if len(run) < NOISE or not matches(_MIXED, run) or compiled(_DIGEST).search(before):
        return False
    if matches(_PUBLIC, run) or all(
        matches(_ID, part) for part in re.split(r"[-_./+~]", run.strip("="))
    ):
        return False
    return not worded(run) and not is_name(run) and not _path(run) and entropy(run) >= BARE_BITS


def _path(run: str) -> bool:
    """Slashes between names, and not now and then one, as in base64."""
    parts = run.split("/")
    if len(parts) == 1:
        return False
    if run[0] in "/.~" or "." in run or any(p.islower() and matches(SAYABLE, p) for p in parts):
        return True
    return len(parts) > 1 + len(run) // 12


def _meets(span: tuple[int, int], others: list[tuple[int, int]]) -> bool:
    """Does a span touch one of the others, which are in order?"""
    from bisect import bisect_left

    at = bisect_left(others, span[1], key=lambda other: other[0])
    return at > 0 and others[at - 1][1] > span[0]

"""Secrets without a provider's format: known by their place, by their name, or because they look
like noise.

By place: in an address, a header, a connection string, a PEM block. Only the secret part is
replaced, so that the text still says which server was meant.

By name: a value behind a word such as `token` counts from 3.5 bits a character on. Behind
`password`, in many languages, one that a person made up counts too: with a digit and a sign, or a
capital letter.

Noise: 32 characters and 4.5 bits are needed, and that it is not an address, path, digest, id, link
or name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from math import log2

from brain.redact.rules import NOISE, compiled

Span = tuple[str, int, int]

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


# -- by place --------------------------------------------------------------------------------------

_BETWEEN = r"(?:\\[nrt]|[\s\"',+>#*|\\])"  # the lines of a key, also inside a string or a quote
_PEM = (
    r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
    rf"(?:{_BETWEEN}|(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset):[^\n\\]*+"
    r"|[A-Za-z0-9+/=]{16,}+)*+"  # a key that was cut off ends with its last line
    rf"(?:(?:[A-Za-z0-9+/=]{{1,15}}+{_BETWEEN}*+)++(?=-----END))?"
    r"(?:-----END [A-Z0-9 ]{1,60}-----)?"
)
_PUTTY = rf"Private-Lines: \d+{_BETWEEN}++(?P<secret>(?:[A-Za-z0-9+/=]{{16,}}+{_BETWEEN}*+)++)"
_ADDRESS = (
    r"(?<![A-Za-z0-9\0])[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@\"'<>\0]{0,100}:"
    r"(?P<secret>[^\s/\"'<>]{1,256})@(?=[\w\[%$({-])"
)
_HEADER = (
    r"(?a)(?i:authorization)\\?[\"'\])]{0,2}[ \t]{0,4}[:=,][ \t]{0,4}\\?[\"'`]?"
    r"(?:(?i:bearer|basic|token|digest|apikey|negotiate|key)[ \t]{1,4})?"
    r"(?P<secret>[\w+/=.~%-]{8,4000})"
)
_BEARER = r"(?a)\b[Bb]earer[ \t]{1,4}(?P<secret>[\w+/.~-]{20,4000}={0,2})"
_CURL = r"(?:^|[\s\"'])(?:-u|--user)[ =]{0,2}[\"']?[^\s:\"'\0]{1,100}:(?P<secret>[^\s\"']{1,200})"
_DSN = r"(?<![A-Za-z0-9_\0])(?:password|pwd)=(?P<secret>[^;\s\"'`&,)]{1,200})"
_DSN_PEER = (
    r"(?a)\b(?:server|data source|host|hostname|dbname|database|initial catalog|user id|uid|user"
    r"|username)[ ]?="
)
_NETRC = r"(?a:\b)login\s{1,4}\S{1,100}\s{1,4}password\s{1,4}(?P<secret>\S{1,200})"
# Letters of scripts without spaces between words (Thai to Burmese, Khmer, kana, Han), the signs
# between their sentences, and the letters of Korean, which hang a word's case on anything.
_DENSE = (
    r"\u0e00-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u312f\u3190-\ua4cf"
    r"\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_SIGNS = r"\u2014\u2018-\u201f\u2026\u3000-\u3004\u3008-\u303f\uff00-\uff65"
_HANGUL = r"\u1100-\u11ff\u3130-\u318f\uac00-\ud7ff"
# How far a secret goes that is not ASCII: prose may go on behind it without a space.
_TO_PROSE = rf"[^{_DENSE}{_HANGUL}{_SIGNS}]+"
_TO_HOST = rf"{_TO_PROSE}(?=@)|[^{_SIGNS}]+(?=@)"
_EMPTY_VALUE = (
    r"(?i)[<{\[*]|\$[A-Z_({]|%[A-Z_(]|(?:pass(?:word|wd)?|pwd?|secret|x{3,}|\.{3}|…|your\W?\w*|token|none"
    r"|null|true|false|required|optional)$"
)


def placed(text: str, lower: str) -> Iterator[Span]:
    """Each rule that the text gives reason for; `lower` is the text in small letters."""
    if "-----BEGIN" in text:
        for match in compiled(_PEM).finditer(text):
            yield "private-key", match.start(), match.start() + len(match[0].rstrip(" \r\n\t\"',+"))
    if "private-lines" in lower:
        yield from _secrets("private-key", _PUTTY, text)
    if "://" in text and "@" in text:
        yield from _secrets("url", _ADDRESS, text)
    if "authorization" in lower:
        yield from _secrets("authorization", _HEADER, text)
    if "earer " in text:
        yield from _secrets("bearer", _BEARER, text)
    if "curl" in lower:
        yield from _secrets("curl-user", _CURL, text)
    if "password" in lower or "pwd" in lower:
        yield from _connections(text, lower)
    if "login" in lower:
        yield from _secrets("netrc", _NETRC, text)


def _secrets(rule: str, pattern: str, text: str) -> Iterator[Span]:
    for start, end in _held(pattern, text):
        secret = text[start:end]
        if "\0" in secret or compiled(_EMPTY_VALUE).match(secret):
            continue
        if rule in ("authorization", "bearer") and not _coded(secret):
            continue
        yield rule, start, end


def _held(pattern: str, text: str) -> Iterator[tuple[int, int]]:
    """Where each secret stands that the pattern finds, without the prose behind it."""
    at = 0
    while match := compiled(pattern).search(text, at):
        (start, end), at = match.span("secret"), match.end()
        if not match["secret"].isascii():
            shape = _TO_HOST if pattern == _ADDRESS else _TO_PROSE
            own = compiled(shape).match(text, start, at)
            end = own.end() if own else start
            at = max(end, start + 1)
        if end > start:
            yield start, end


def _coded(secret: str) -> bool:
    """Letters and digits, or padding: not a word of a sentence, nor the name of a variable."""
    plain = secret.strip("=")
    if secret != plain:
        return True
    mixed = not plain.isupper() and not plain.islower() and not plain.istitle()
    return any(map(str.isdigit, plain)) or (mixed and plain.isalpha())


def _connections(text: str, lower: str) -> Iterator[Span]:
    """`Server=…;Password=…` and `host=… password=…`, on one line."""
    for start, end in _held(_DSN, lower):
        if "\0" in lower[start:end] or compiled(_EMPTY_VALUE).match(text, start, end):
            continue
        before = lower[max(0, start - 300) : start].rpartition("\n")[2]
        after = lower[end : end + 300].partition("\n")[0]
        if compiled(_DSN_PEER).search(before) or compiled(_DSN_PEER).search(after):
            yield "connection-string", start, end


# -- by name, and noise ----------------------------------------------------------------------------

NAMED_BITS, TYPED_BITS, BARE_BITS = 3.5, 3.0, 4.5

# All of these are searched for in the text in small letters.
_NAME = (
    r"(?a)(?:(?P<typed>pass(?:word|wd|phrase|code|wort|ord)|pwd|(?<![a-z])(?:pw|pass)(?![a-z])"
    r"|kennwort|contrase[ñn]a|senha|mot de passe|wachtwoord|adgangskode|lösenord|salasana|hasło"
    r"|heslo|jelszó|parola|şifre|mật khẩu|пароль|密[码碼]|パスワード|비밀번호)"
    r"|secret|token|credential|(?:(?<=[ _.-])|(?<=[a-z]))key)"
    r"(?P<tail>[\w.-]{0,40})"
)
_SEPARATOR = (
    r"""\\?["'`\])*]{0,3}(?:[ ](?:for|of|to|on|in|at|für|von|pour|para|del?|per|voor)"""
    r"""(?:[ ][\w.@-]{1,30}){1,3})?"""
    r"""(?:[ \t]{0,3}:[ \t]{0,2}[a-z][\w.\[\]| ]{0,30}(?=[ \t]{0,2}=))?"""  # password: str = …
    r"""(?:[ \t]{0,8}(?:=>|:=|==?|::?|[>：是は]|\|(?=[ \t])|,(?=[ \t]{0,3}\\?["'`]))"""
    r"""|[ \t]{1,3}(?:is|was|ist|war|lautet|es|est|è|é|är|er|jest)(?=[ \t:])(?:[ ]now)?:?"""
    r"""|(?=[ \t]))(?:\*\*?(?=[ \t]))?[ \t]{0,8}(?:[bfru@]{1,2}(?=["'`]))?"""
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
    r"""\\?(?P<quote>["'`])(?P<quoted>(?:(?!(?P=quote))[\0!-\[\]-~]){6,200})"""
    r"""|(?P<plain>[\0!#-&(-;=?-\[\]-_a-~]{6,200})"""
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
_WORD = r"[A-Z]?[a-z]{3,}|[A-Z]{3,}(?![a-z])"
_SIGN = r"[!$%^&*?+~#@=]"
_NO_PASSWORD = (
    r"[#^][\w/-]+$|\S+@[\w-]+\.[\w.]+$|v?\d+(?:\.\d+)+|\d+\W?[a-z]+$|.*[()\[\]{}<>|\\/,;:]"
)
_TERM = (
    r"(?i).*(?:pass|pwd|secret|hash|crypt|argon|pbkdf|sha-?\d|md5|base64|oauth|value|text|string"
    r"|null|none|undefined|unknown|required|optional|enabled|disabled|hidden|redacted)"
)
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
        if span := _secret(text, name, separator):
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


def _secret(text: str, name: re.Match[str], separator: re.Match[str]) -> tuple[int, int] | None:
    """Where the value stands, if it is one that such a name has."""
    value = _value(text, separator.end())
    if not value or any(_is(shape, value[1]) for shape in (_STAND_IN, _DATE, _CONSTANT)):
        return None
    start, word, group = value
    span, between = (start, start + len(word)), separator[0].strip(" \t*")
    if name["typed"] == "pass" and between not in (":", "="):  # pass it on to …
        return None
    if name["typed"] != "pass" and _telling(word, name, group):
        return span
    if name["typed"] and _made_up(word, name["typed"], between):
        return span
    # `password=` and a word: a password, unless it is the argument of a call
    tight = name["typed"] == name[0] and separator[0] == "="
    call = "(" in text[max(0, start - 200) : start].rpartition("\n")[2]
    plain = len(word) >= 8 and word.isalpha() and not _is(_TERM, word)
    return span if tight and plain and not call else None


def _value(text: str, at: int) -> tuple[int, str, str] | None:
    """What stands there: from where on, the word, and whether it is in quotes."""
    match = compiled(_VALUE).match(text, at)
    if not match or "\0" in match[0]:
        return None
    group = "plain" if match["quoted"] is None else "quoted"
    start, value = match.start(group), match[group]
    if group == "plain":
        if "?" in text[max(0, start - 500) : start].rpartition(" ")[2]:
            value = value.partition("&")[0]
        value = value if "(" in value else value.rstrip(".,;:)]}")
    return start, value, group


def _telling(value: str, name: re.Match[str], group: str) -> bool:
    """Does a value look like a secret, if something of that name holds it?"""
    if len(value) < 12 or _is(_WORDS, value):
        return False
    if group == "plain" and _is(_CODE, value):
        return False
    if _is(_PATH, value) and (_worded(value) or value.count("/") > 2 or "://" in value):
        return False
    named = _is(_LOWER_NAME, value) or _is(_CAMEL, value)
    mixed = name["typed"] and _is(_MIXED, value)
    if named and not mixed and (_worded(value) or _is(_TERM, value)):
        return False
    return entropy(value) >= (TYPED_BITS if name["typed"] else NAMED_BITS)


def _made_up(value: str, name: str, between: str) -> bool:
    """Is this a password as people make them: letters, a digit, and a sign or a capital?"""
    if _is(_NO_PASSWORD, value) or not (
        any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    ):
        return False
    if compiled(_SIGN).search(value):
        return True
    if _is(_TERM, value) or len(value) < 8:
        return False
    if name == "pass" and between == ":":  # a second pass: Turbo5
        return len(value) >= 12 and _is(_MIXED, value) and not _worded(value)
    if value.islower() or value.isupper():
        return len(value) >= 10 and value.isalnum() and between in (":", "=")
    return True


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

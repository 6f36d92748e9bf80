"""What belongs to a person: addresses, cards, bank accounts, social security numbers.

Telephone numbers are left alone: they look like too many other numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from brain.redact.formats import DENSE, HANGUL, compiled

# What stands before the @, read backwards, and what stands behind it.
_LOCAL = r"[_+-]*+(?:[A-Za-z0-9]++[._%+'-]++)*[A-Za-z0-9]++(?![._%+@\0/-])"
_TOP = r"[A-Za-z]{2,24}(?![A-Za-z0-9-])|(?i:xn)--[A-Za-z0-9-]{2,59}+"
_DOMAIN = rf"@(?:[A-Za-z0-9][A-Za-z0-9-]{{0,62}}+\.){{1,8}}(?P<top>{_TOP})(?![@\0])"
_LONGEST = 65

# The same in all scripts; these take long to compile.
_LATIN = r"A-Za-z0-9\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0300-\u036f\u1e00-\u1eff"
# Other scripts with spaces between words, without the signs that end a sentence in them.
_OTHER = (
    r"\u0250-\u02af\u0370-\u037d\u037f-\u0386\u0388-\u0559\u0560-\u0588\u0591-\u060b\u0610-\u061a"
    r"\u0620-\u06d3\u06d5-\u0963\u0966-\u0dff\u10a0-\u10ff\u1200-\u1360\u1369-\u167f\u1800-\u1dff"
    r"\u1f00-\u1fff\u2c00-\u2dff\ua4d0-\uabff"
) + HANGUL
_SPACED = _LATIN + _OTHER
# Where no space is set, a name cannot be told from the prose before it: four characters go, unless
# the last of them is one that ends no name.
_WIDE_LOCAL = (
    rf"(?![的是以用在到或及给給从從看はがを])[_+-]*+(?:(?:[{_SPACED}]++|[{DENSE}]++)[._%+'-]++)*"
    rf"(?:[{_SPACED}]++(?![._%+@\0/-])|[{DENSE}]{{1,4}}+(?![@\0/]))"
)
_LABEL = "|".join(rf"[{c}][{c}-]{{0,62}}+\." for c in (_LATIN, _OTHER + "0-9", DENSE + "0-9"))
_TITLE = r"[\u0386-\u03ab\u0400-\u042f][\u03ac-\u03ce\u0430-\u045f]"  # a sentence that begins
_ENDINGS = (
    "中国|中國|公司|网络|網絡|网站|网址|网店|商城|商店|商标|集团|在线|中文网|香港|台湾|台灣|澳门|澳門"
    "|新加坡|我爱你|手机|移动|世界|信息|机构|组织机构|企业|政务|公益|健康|娱乐|游戏|时尚|购物|餐厅|慈善"
    "|佛山|广东|招聘|微博|みんな|コム|クラウド|ストア|グーグル|アマゾン|ไทย|คอม|ລາວ|한국|닷컴|닷넷"
)
_WIDE_DOMAIN = (
    rf"@(?>{_LABEL}){{1,8}}(?P<top>{_TOP}|{_ENDINGS}"
    rf"|(?!{_TITLE})[{_OTHER}]{{2,24}}(?![{_OTHER}]))(?![@\0])"
)
_PLAIN_TOP = r"[a-z]{2}$|(?:com|net|org|edu|gov|info|biz|xyz|top|vip|club|site|online|example)$"
_NO_DOMAIN = frozenset(
    (
        *("service", "socket", "timer", "target", "mount", "slice", "scope", "path", "device"),
        *("png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "ico", "pdf", "md", "txt", "json"),
        *("js", "ts", "tsx", "jsx", "css", "scss", "html", "py", "rb", "go", "rs", "java", "kt"),
        *("cpp", "hpp", "sh", "yaml", "yml", "toml", "lock", "tgz", "zip", "gz", "exe", "dll"),
        *("local", "internal", "lan"),
    )
)
_REMOTE_USER = ("git@", "hg@", "svn@", "gitea@", "forgejo@", "aur@")
_REMOTE_PATH = r":[\w~.-]*/|:~"
_REMOTE = (
    r"://[^\s/?#]{0,300}$|(?a:\b(?:ssh|scp|sftp|mosh|rsync|ssh-copy-id|sshfs)\b)[^\n|;&]{0,80}$"
)
_REMOTE_WORDS = ("://", "ssh", "scp", "sftp", "mosh", "rsync")
_CARD = (
    r"(?<![\d.\0-])(?:\d{14,16}|\d{4}([ -])\d{4}\1\d{4}\1\d{4}|\d{4}([ -])\d{6}\2\d{4,5})"
    r"(?![\d\0-])"
)
_ISSUER = (
    r"4\d{15}$|5[1-5]\d{14}$|2(?:2[2-9]|[3-6]|7[01])\d{13,14}$|3[47]\d{13}$|3(?:0[0-5]|[68]\d)\d{11}$"
    r"|6(?:011|5\d\d|4[4-9]\d)\d{12}$|35\d{14}$"
)
_IBAN = (
    r"(?<![A-Za-z0-9\0])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9\0])"
)
_IBAN_LENGTHS = {
    code[:2]: int(code[2:])
    for code in (
        *("AD24", "AE23", "AT20", "BE16", "BG22", "BR29", "CH21", "CY28", "CZ24", "DE22", "DK18"),
        *("EE20", "ES24", "FI18", "FR27", "GB22", "GR27", "HR21", "HU28", "IE22", "IL23", "IS26"),
        *("IT27", "LI21", "LT20", "LU20", "LV21", "MC27", "MT31", "NL18", "NO15", "PL28", "PT25"),
        *("RO24", "SA24", "SE24", "SI19", "SK24", "SM27", "TR26", "UA29"),
    )
}
_SSN = (
    r"(?a)(?i:\bssn\b|social security(?: (?:no|number|nr))?)[^\w\n]{1,10}(?:is )?"
    r"((?!000|666|9)\d{3}([- ]?)(?!00)\d\d\2(?!0000)\d{4})(?!\d)"
)
_DIGITS = r"\d[\d -]{12}|[A-Z]{2}\d\d [A-Z0-9]{4}|[A-Z]{2}\d\d[A-Z0-9]{11}"

Span = tuple[str, int, int]


def addresses(text: str) -> Iterator[Span]:
    """Email addresses; not remotes of git and ssh, units of systemd, or pictures `@2x.png`."""
    at = text.find("@")
    while at >= 0:
        before, behind = text[max(0, at - _LONGEST - 1) : at], text[at : at + 600].split(None, 1)[0]
        if "." in behind and (span := _address(text, at, before, behind)):
            yield "email", *span
        at = text.find("@", at + 1)


def _address(text: str, at: int, before: str, behind: str) -> tuple[int, int] | None:
    """Where the address with this @ stands, if it is one."""
    plain = text.isascii() or (behind.isascii() and "".join(before.split()[-1:]).isascii())
    domain = compiled(_DOMAIN if plain else _WIDE_DOMAIN).match(text, at)
    local = domain and compiled(_LOCAL if plain else _WIDE_LOCAL).match(before[::-1])
    if not domain or not local or local.end() > _LONGEST:
        return None
    start, end = at - local.end(), domain.end()
    other = _is_other(text, start, domain) or _is_remote(text, start, end)
    return None if other else (start, end)


def _is_other(text: str, start: int, domain: re.Match[str]) -> bool:
    """A picture, a unit, a repository; or, behind dense prose, a decorator `@app.route`."""
    top = domain["top"].lower()
    if top in _NO_DOMAIN or text.startswith(_REMOTE_USER, start):
        return True
    if not top.isascii() or text[domain.start() - 1].isascii():
        return False
    if not compiled(rf"[{DENSE}]").match(text, domain.start() - 1):
        return False
    return not compiled(_PLAIN_TOP).match(top) or text.startswith(("_", "("), domain.end())


def _is_remote(text: str, start: int, end: int) -> bool:
    """`scp a user@host:/path`, or a part of `https://user@host`."""
    if compiled(_REMOTE_PATH).match(text, end):
        return True
    before = text[max(0, start - 400) : start]
    told = any(word in before for word in _REMOTE_WORDS)
    return told and compiled(_REMOTE).search(before) is not None


def numbers(text: str) -> Iterator[Span]:
    """Numbers of cards and accounts, whose check digits fit, and social security numbers."""
    if compiled(_DIGITS).search(text):
        for match in compiled(_CARD).finditer(text):
            digits = re.sub(r"\D", "", match[0])
            if compiled(_ISSUER).match(digits) and _luhn(digits):
                yield "card", *match.span()
        for match in compiled(_IBAN).finditer(text):
            end = match.start() + _iban(match[0])
            if end > match.start():
                yield "iban", match.start(), end
    if "ssn" in (lower := text.lower()) or "social security" in lower:
        yield from (("ssn", *match.span(1)) for match in compiled(_SSN).finditer(text))


def _luhn(digits: str) -> bool:
    odd, even = digits[-1::-2], digits[-2::-2]
    return (sum(map(int, odd)) + sum(sum(divmod(2 * int(d), 10)) for d in even)) % 10 == 0


def _iban(text: str) -> int:
    """How many characters of the text are an account number; 0 if its check digits do not fit."""
    size = _IBAN_LENGTHS.get(text[:2], 0)
    compact = text.replace(" ", "")
    if not size or len(compact) < size:
        return 0
    end = len(text)
    while len(text[:end].replace(" ", "")) > size:
        end -= 1
    account = compact[4:size] + compact[:4]
    value = int("".join(str(int(c, 36)) for c in account)) % 97
    return len(text[:end].rstrip()) if value == 1 else 0

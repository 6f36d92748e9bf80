"""Find personal data: email addresses, cards, bank accounts, and social security numbers.

Telephone numbers are not searched for, because too many other numbers look like them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from brain.redact.rules import compiled

# Latin letters with and without accents, and digits. Addresses with other letters before the @ are
# rare, and scripts without spaces do not separate a name from the prose before it.
_LATIN = r"A-Za-z0-9\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0300-\u036f\u1e00-\u1eff"
# The part before the @, reversed.
_LOCAL = rf"[_+-]*+(?:[{_LATIN}]++[._%+'-]++)*[{_LATIN}]++(?![._%+@\0/-])"
_MAX_LOCAL = 65  # the 64 characters that may be before the @, and one more
# A label has either no Latin letters or only these, because prose may follow without a space.
_LABEL = rf"(?:[{_LATIN}][{_LATIN}-]{{0,62}}+|[^\W_{_LATIN}][^\W_{_LATIN}]{{0,62}}+)\."
_TOP = r"[A-Za-z]{2,24}(?![A-Za-z0-9-])|(?i:xn)--[A-Za-z0-9-]{2,59}+"
_DOMAIN = rf"@(?:{_LABEL}){{1,8}}(?P<top>{_TOP})(?![@\0])"
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
_BITLOCKER = r"(?<![\d-])\d{6}(?:-\d{6}){7}(?![\d-])"
_DIGITS = r"\d[\d -]{12}|[A-Z]{2}\d\d [A-Z0-9]{4}|[A-Z]{2}\d\d[A-Z0-9]{11}"

Span = tuple[str, int, int]


def addresses(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of email addresses. Remotes of git and ssh, units of systemd and names of
    images (`@2x.png`) do not count."""
    offset = text.find("@")
    while offset >= 0:
        before, after = (
            text[max(0, offset - _MAX_LOCAL - 1) : offset],
            text[offset : offset + 600].split(None, 1)[0],
        )
        if "." in after and (span := _address(text, offset, before)):
            yield span
        offset = text.find("@", offset + 1)


def _address(text: str, offset: int, before: str) -> tuple[int, int] | None:
    """Return the span of the address around the @ at this offset, or None."""
    domain = compiled(_DOMAIN).match(text, offset)
    local = domain and compiled(_LOCAL).match(before[::-1])
    if not domain or not local or local.end() > _MAX_LOCAL:
        return None
    start, end = offset - local.end(), domain.end()
    if domain["top"].lower() in _NO_DOMAIN or text.startswith(_REMOTE_USER, start):
        return None  # an image, a unit or a repository
    return None if _is_remote(text, start, end) else (start, end)


def _is_remote(text: str, start: int, end: int) -> bool:
    """Return True for `user@host` in a command such as `scp` or in a URL."""
    if compiled(_REMOTE_PATH).match(text, end):
        return True
    before = text[max(0, start - 400) : start]
    likely = any(word in before for word in _REMOTE_WORDS)
    return likely and compiled(_REMOTE).search(before) is not None


def numbers(text: str) -> Iterator[Span]:
    """Yield the numbers of cards and accounts with valid check digits, social security numbers, and
    the recovery keys of BitLocker."""
    yield from (("recovery-key", *match.span()) for match in compiled(_BITLOCKER).finditer(text))
    if compiled(_DIGITS).search(text):
        for match in compiled(_CARD).finditer(text):
            digits = re.sub(r"\D", "", match[0])
            if compiled(_ISSUER).match(digits) and _is_luhn_valid(digits):
                yield "card", *match.span()
        for match in compiled(_IBAN).finditer(text):
            end = match.start() + _iban_length(match[0])
            if end > match.start():
                yield "iban", match.start(), end
    if "ssn" in (lower := text.lower()) or "social security" in lower:
        yield from (("ssn", *match.span(1)) for match in compiled(_SSN).finditer(text))


def _is_luhn_valid(digits: str) -> bool:
    odd, even = digits[-1::-2], digits[-2::-2]
    return (sum(map(int, odd)) + sum(sum(divmod(2 * int(d), 10)) for d in even)) % 10 == 0


def _iban_length(text: str) -> int:
    """Return the length of the account number; 0 if its check digits are wrong."""
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

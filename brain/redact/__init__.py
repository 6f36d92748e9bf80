"""Replace secrets and personal data by `[redacted:rule]` in texts that Brain writes or sends.

Text that a person typed into a note is never rewritten: `brain doctor` only reports where `find`
found secrets. The most certain rules come first: key formats of providers, keys after a provider's
name, passwords in addresses and headers, values after words such as `password`, and finally text
that looks random. The time is linear in the length of the text. A second call changes nothing. No
error is raised.
"""

from __future__ import annotations

from brain._tuples import NamedTuple
from brain.redact import detect, personal, places, rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WORDS = (
    *("pass", "pw", "p/w", "psk", "secret", "token", "key", "_pat", "-pat", "_salt", "-salt"),
    *("credential", "kennwort", "contrase", "senha", "schlüssel", "chiave", "clave", "clé"),
    *("токен", "ключ", "密钥", "密鑰", "令牌", "トークン", "토큰"),
    *("wachtwoord", "adgangskode", "lösenord", "salasana", "hasło", "heslo", "jelszó", "parola"),
    *("şifre", "mật khẩu", "пароль", "密码", "密碼", "パスワード", "비밀번호"),
)
GUESSED = ("keyword", "token", "entropy")  # rules that guess, by a word or by random characters
PERSONAL = ("email", "card", "iban", "ssn")  # rules that find personal data, not secrets
_SMALL = {letter: letter + 32 for letter in range(ord("A"), ord("Z") + 1)}


class Found(NamedTuple):
    """The span of a secret in a text, and the rule that found it. The secret itself is not
    stored."""

    rule: str
    start: int
    end: int


def redact(text: str, *, emails: bool = True) -> tuple[str, list[Found]]:
    """Return the text with each secret replaced by `[redacted:rule]`, and the spans of the
    secrets."""
    found = find(text, emails=emails)
    if not found:
        return text, found
    parts, position = [], 0
    for rule, start, end in found:
        parts += [text[position:start], f"[redacted:{rule}]"]
        position = end
    return "".join([*parts, text[position:]]), found


def find(text: str, *, emails: bool = True) -> list[Found]:
    """Return the secrets in the text, in order, without overlaps."""
    if len(text) < 6:  # `a@b.de`
        return []
    if text.isascii() and "\0" not in text and "[redacted:" not in text:
        return _scan(text, emails)
    found = _scan(detect.mask_redacted(text), emails)
    visible_text, original_offset = detect.strip_invisible(text)
    if visible_text != text:
        visible = _scan(detect.mask_redacted(visible_text), emails)
        visible = [
            Found(rule, original_offset(start), original_offset(end - 1) + 1)
            for rule, start, end in visible
        ]
        found += [secret for secret in visible if not _includes_word(text, secret, found)]
    return _merged(found)


def _includes_word(text: str, guess: Found, found: list[Found]) -> bool:
    """Return True if a guessed secret is a word, an invisible character, and then a key that
    another rule found."""
    return guess.rule in ("token", "entropy") and any(
        other.rule not in GUESSED
        and other.end == guess.end
        and text[guess.start : other.start - 1].isalpha()
        for other in found
    )


def redact_value(value: Any, *, emails: bool = True) -> Any:
    """Return a copy of a JSON value with all texts redacted. A key such as `password` makes its
    value a secret."""
    holder_of_root = [value]
    todo: list[tuple[Any, Any]] = [(holder_of_root, 0)]
    while todo:
        holder, key = todo.pop()
        content = holder[key]
        if isinstance(content, str):
            holder[key] = _redact_member(key, content, emails)
        elif isinstance(content, dict):
            holder[key] = copy = {
                redact(name, emails=emails)[0] if isinstance(name, str) else name: each
                for name, each in content.items()
            }
            todo += [(copy, name) for name in copy]
        elif isinstance(content, list):
            holder[key] = items = list(content)
            todo += [(items, index) for index in range(len(items))]
        elif isinstance(content, tuple):  # JSON has no tuples, so they are never nested deeply
            holder[key] = tuple(redact_value(each, emails=emails) for each in content)
    return holder_of_root[0]


def _redact_member(key: Any, text: str, emails: bool) -> str:
    """Return the redacted text of an object's member. The key can make the whole text a secret."""
    name = key.lower() if isinstance(key, str) and " " not in text and len(text) <= 200 else ""
    if any(word in name for word in (*WORDS, *rules.NAMED)):
        lead = f'{key}: "'
        whole = (len(lead), len(lead) + len(text))
        for rule, *span in find(f'{lead}{text}"', emails=emails):
            if tuple(span) == whole:
                return f"[redacted:{rule}]"
    return redact(text, emails=emails)[0]


def _scan(text: str, emails: bool) -> list[Found]:
    """Apply all rules to a text, the most certain ones first, and merge overlapping secrets."""
    lower = _lower(text)
    long_words = [word for word in text.split() if len(word) >= rules.MIN_KEY]
    found: list[Found] = []
    for rule in rules.rules_with_hints(" ".join(long_words), lower) if long_words else ():
        found += (Found(rule.name, *span) for span in rules.spans(rule, text, lower))
    has_mark = text.count(":") >= 4 or any(map(lower.__contains__, places.MARKS))
    if has_mark and not text.isidentifier():  # a single word has no place
        found += (Found(*span) for span in places.find(text, lower))
    if sum(map(text.count, "0123456789")) >= 13 or "ssn" in lower or "social se" in lower:
        found += (Found(*span) for span in personal.numbers(text))
    if emails and "@" in text:
        found += (Found("email", *span) for span in personal.addresses(text))
    if any(map(lower.__contains__, WORDS)):
        found += (Found("keyword", *span) for span in detect.by_name(text, lower))
        found += (Found("keyword", *span) for span in detect.by_column(text, lower))
    longest = max(map(len, long_words), default=0)
    if longest >= rules.MIN_PREFIXED_KEY:
        found += (Found("token", *span) for span in detect.prefixed(text))
    if longest >= rules.MIN_RANDOM:
        taken = sorted((hit.start, hit.end) for hit in found)
        found += (Found("entropy", *span) for span in detect.random_runs(text, taken))
    return _merged(found)


def _lower(text: str) -> str:
    """Return the text in lower case with the same length. If a letter would become two letters,
    only ASCII letters are changed."""
    lower = text.lower()
    return lower if len(lower) == len(text) else text.translate(_SMALL)


def _merged(found: list[Found]) -> list[Found]:
    """Sort the secrets, and merge overlapping ones under the most certain rule."""
    merged: list[tuple[int, Found]] = []
    for rank, hit in sorted(enumerate(found), key=lambda pair: (pair[1].start, pair[0])):
        if merged and hit.start < merged[-1][1].end:
            best, last = merged[-1]
            name = last.rule if best <= rank else hit.rule
            merged[-1] = min(best, rank), Found(name, last.start, max(last.end, hit.end))
        else:
            merged.append((rank, hit))
    return [hit for _, hit in merged]

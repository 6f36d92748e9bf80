"""Replace secrets and personal data in what Brain writes or sends by `[redacted:rule]`.

What a person typed into a note is never rewritten; `brain doctor` only reports where `find` found
something. The order is: formats of providers, keys after a provider's name, passwords in addresses
and headers, values after words such as `password`, and last what looks random. The time is linear
in the length of the text. Redacting twice changes nothing more. Nothing is raised.
"""

from __future__ import annotations

from brain._tuples import NamedTuple
from brain.redact import detect, personal, places, rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WORDS = (
    *("pass", "pw", "secret", "token", "key", "_pat", "-pat", "credential", "kennwort"),
    *("contrase", "senha"),
    *("wachtwoord", "adgangskode", "lösenord", "salasana", "hasło", "heslo", "jelszó", "parola"),
    *("şifre", "mật khẩu", "пароль", "密码", "密碼", "パスワード", "비밀번호"),
)
GUESSED = ("keyword", "token", "entropy")
PERSONAL = ("email", "card", "iban", "ssn")  # rules that find personal data, not secrets
_SMALL = {letter: letter + 32 for letter in range(ord("A"), ord("Z") + 1)}


class Found(NamedTuple):
    """A secret at `start` to `end` of the text. The secret itself is not kept."""

    rule: str
    start: int
    end: int


def redact(text: str, *, emails: bool = True) -> tuple[str, list[Found]]:
    """Return the text with `[redacted:rule]` for each secret, and the secrets that were found."""
    found = find(text, emails=emails)
    if not found:
        return text, found
    parts, at = [], 0
    for rule, start, end in found:
        parts += [text[at:start], f"[redacted:{rule}]"]
        at = end
    return "".join([*parts, text[at:]]), found


def find(text: str, *, emails: bool = True) -> list[Found]:
    """Return the secrets in the text, in order, without overlaps."""
    if len(text) < 6:  # `a@b.de`
        return []
    if text.isascii() and "\0" not in text and "[redacted:" not in text:
        return _scan(text, emails)
    found = _scan(detect.cover(text), emails)
    plain, back = detect.lift(text)
    if plain != text:
        seen = _scan(detect.cover(plain), emails)
        seen = [Found(rule, back(start), back(end - 1) + 1) for rule, start, end in seen]
        found += [hit for hit in seen if not _takes_a_word(text, hit, found)]
    return _merged(found)


def _takes_a_word(text: str, hit: Found, found: list[Found]) -> bool:
    """Return True if this looks random only because a word and an invisible character precede a
    key."""
    return hit.rule in ("token", "entropy") and any(
        sure.rule not in GUESSED
        and sure.end == hit.end
        and text[hit.start : sure.start - 1].isalpha()
        for sure in found
    )


def redact_value(value: Any, *, emails: bool = True) -> Any:
    """Return a copy of a JSON value with every text redacted; a key such as `password` counts."""
    root = [value]
    todo: list[tuple[Any, Any]] = [(root, 0)]
    while todo:
        holder, key = todo.pop()
        inner = holder[key]
        if isinstance(inner, str):
            holder[key] = _redact_member(key, inner, emails)
        elif isinstance(inner, dict):
            holder[key] = copy = {
                redact(name, emails=emails)[0] if isinstance(name, str) else name: each
                for name, each in inner.items()
            }
            todo += [(copy, name) for name in copy]
        elif isinstance(inner, list):
            holder[key] = items = list(inner)
            todo += [(items, at) for at in range(len(items))]
        elif isinstance(inner, tuple):  # never from JSON, hence never deep
            holder[key] = tuple(redact_value(each, emails=emails) for each in inner)
    return root[0]


def _redact_member(key: Any, text: str, emails: bool) -> str:
    """Return the text of an object's member, redacted by its content and by its key."""
    name = key.lower() if isinstance(key, str) and " " not in text and len(text) <= 200 else ""
    if any(word in name for word in (*WORDS, *rules.NAMED)):
        lead = f'{key}: "'
        whole = (len(lead), len(lead) + len(text))
        for rule, *span in find(f'{lead}{text}"', emails=emails):
            if tuple(span) == whole:
                return f"[redacted:{rule}]"
    return redact(text, emails=emails)[0]


def _scan(text: str, emails: bool) -> list[Found]:
    """Return what the rules find, the most certain rules first, overlaps merged."""
    lower = _lower(text)
    long = [word for word in text.split() if len(word) >= rules.SHORTEST]
    found: list[Found] = []
    for rule in rules.hinted(" ".join(long), lower) if long else ():
        found += (Found(rule.name, *span) for span in rules.spans(rule, text, lower))
    if text.count(":") >= 4 or any(mark in lower for mark in places.MARKS):
        found += (Found(*span) for span in places.find(text, lower))
    if sum(map(text.count, "0123456789")) >= 13 or "ssn" in lower or "social se" in lower:
        found += (Found(*span) for span in personal.numbers(text))
    if emails and "@" in text:
        found += (Found("email", *span) for span in personal.addresses(text))
    if any(word in lower for word in WORDS):
        found += (Found("keyword", *span) for span in detect.by_name(text, lower))
    longest = max(map(len, long), default=0)
    if longest >= rules.PREFIXED_KEY:
        found += (Found("token", *span) for span in detect.prefixed(text))
    if longest >= rules.NOISE:
        taken = sorted((hit.start, hit.end) for hit in found)
        found += (Found("entropy", *span) for span in detect.random_runs(text, taken))
    return _merged(found)


def _lower(text: str) -> str:
    """Return the text in lower case with the same length. A few letters would become two."""
    lower = text.lower()
    return lower if len(lower) == len(text) else text.translate(_SMALL)


def _merged(found: list[Found]) -> list[Found]:
    """Return the secrets in order. Overlapping ones are merged under the most certain rule."""
    out: list[tuple[int, Found]] = []
    for rank, hit in sorted(enumerate(found), key=lambda pair: (pair[1].start, pair[0])):
        if out and hit.start < out[-1][1].end:
            best, last = out[-1]
            name = last.rule if best <= rank else hit.rule
            out[-1] = min(best, rank), Found(name, last.start, max(last.end, hit.end))
        else:
            out.append((rank, hit))
    return [hit for _, hit in out]

"""Secrets and personal data are taken out of what Brain writes or sends: `[redacted:rule]`.

What a person typed into a note is never rewritten; `find` tells `brain doctor` where to look. The
order is: formats of providers, keys behind a provider's name, passwords in addresses and headers,
values behind words such as `password`, and last what looks like noise. Time grows with the text's
length and nothing else; a text redacted twice is as after the first time; nothing is raised.
"""

from __future__ import annotations

from brain.record import NamedTuple
from brain.redact import formats
from brain.redact.rules import NAMED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MARKS = ("-----begin", "private-lines", "authorization", "bearer ", "curl", "password", "pwd")
WORDS = (
    *("pass", "pw", "secret", "token", "key", "credential", "kennwort", "contrase", "senha"),
    *("wachtwoord", "adgangskode", "lösenord", "salasana", "hasło", "heslo", "jelszó", "parola"),
    *("şifre", "mật khẩu", "пароль", "密码", "密碼", "パスワード", "비밀번호"),
)
GUESSED = ("keyword", "entropy")
_SMALL = {letter: letter + 32 for letter in range(ord("A"), ord("Z") + 1)}


class Found(NamedTuple):
    """A secret stands at `start` to `end` of the text; the secret itself is kept nowhere."""

    rule: str
    start: int
    end: int


def redact(text: str, *, emails: bool = True) -> tuple[str, list[Found]]:
    """The text with each secret replaced by `[redacted:rule]`, and where they stood."""
    found = find(text, emails=emails)
    if not found:
        return text, found
    parts, at = [], 0
    for rule, start, end in found:
        parts += [text[at:start], f"[redacted:{rule}]"]
        at = end
    return "".join([*parts, text[at:]]), found


def find(text: str, *, emails: bool = True) -> list[Found]:
    """Where secrets stand in the text, in order, without overlaps."""
    if len(text) < 6:  # `a@b.de`
        return []
    if text.isascii() and "\0" not in text and "[redacted:" not in text:
        return _scan(text, emails)
    from brain.redact import veil

    found = _scan(veil.cover(text), emails)
    plain, back = veil.lift(text)
    if plain != text:
        seen = _scan(veil.cover(plain), emails)
        seen = [Found(rule, back(start), back(end - 1) + 1) for rule, start, end in seen]
        found += [hit for hit in seen if not _takes_a_word(text, hit, found)]
    return _merged(found)


def _takes_a_word(text: str, hit: Found, found: list[Found]) -> bool:
    """Is this only noise because a word stands before a key, with something unseen in between?"""
    return hit.rule == "entropy" and any(
        sure.rule not in GUESSED
        and sure.end == hit.end
        and text[hit.start : sure.start - 1].isalpha()
        for sure in found
    )


def redact_value(value: Any, *, emails: bool = True) -> Any:
    """A copy of a JSON value with every text in it redacted; a key such as `password` counts."""
    root = [value]
    todo: list[tuple[Any, Any]] = [(root, 0)]
    while todo:
        holder, key = todo.pop()
        inner = holder[key]
        if isinstance(inner, str):
            holder[key] = _redact_member(key, inner, emails)
        elif isinstance(inner, dict):
            holder[key] = copy = {_redact_key(name, emails): each for name, each in inner.items()}
            todo += [(copy, name) for name in copy]
        elif isinstance(inner, list):
            holder[key] = items = list(inner)
            todo += [(items, at) for at in range(len(items))]
        elif isinstance(inner, tuple):  # never from JSON, hence never deep
            holder[key] = tuple(redact_value(each, emails=emails) for each in inner)
    return root[0]


def _redact_key(key: Any, emails: bool) -> Any:
    return redact(key, emails=emails)[0] if isinstance(key, str) else key


def _redact_member(key: Any, text: str, emails: bool) -> str:
    """A text by what it says and by the key it stands under."""
    if isinstance(key, str) and " " not in text and len(text) <= 200 and _calls(key.lower()):
        lead = f'{key}: "'
        whole = (len(lead), len(lead) + len(text))
        for rule, *span in find(f'{lead}{text}"', emails=emails):
            if tuple(span) == whole:
                return f"[redacted:{rule}]"
    return redact(text, emails=emails)[0]


def _calls(key: str) -> bool:
    """Can what stands under this key be a secret by its name alone?"""
    return any(word in key for word in WORDS) or any(name in key for name in NAMED)


def _scan(text: str, emails: bool) -> list[Found]:
    """Everything that any rule finds, the surest rules first, overlaps made one."""
    lower = _lower(text)
    long = [word for word in text.split() if len(word) >= formats.SHORTEST]
    found = _formats(text, lower, " ".join(long)) if long else []
    if any(mark in lower for mark in MARKS) or ("://" in text and "@" in text):
        from brain.redact import places

        found += (Found(*span) for span in places.find(text, lower))
    found += _personal(text, lower, emails)
    noisy = max(map(len, long), default=0) >= formats.NOISE
    return _merged(found + _guesses(text, lower, noisy, found))


def _lower(text: str) -> str:
    """The text in small letters, each where it stood: a few letters would become two."""
    lower = text.lower()
    return lower if len(lower) == len(text) else text.translate(_SMALL)


def _formats(text: str, lower: str, long: str) -> list[Found]:
    """What the rules find whose hints are in the long words of the text."""
    return [
        Found(rule.name, start, end)
        for rule in formats.hinted(long, lower)
        for start, end in formats.spans(rule, text, lower)
    ]


def _personal(text: str, lower: str, emails: bool) -> list[Found]:
    numbers = sum(map(text.count, "0123456789")) >= 13 or "ssn" in lower or "social se" in lower
    if not numbers and not (emails and "@" in text):
        return []
    from brain.redact import personal

    spans = [*(personal.numbers(text) if numbers else ())]
    spans += personal.addresses(text) if emails else ()
    return [Found(*span) for span in spans]


def _guesses(text: str, lower: str, noisy: bool, found: list[Found]) -> list[Found]:
    more: list[Found] = []
    if any(word in lower for word in WORDS):
        from brain.redact import guess

        more += (Found("keyword", *span) for span in guess.named(text, lower))
    if noisy:
        from brain.redact import guess

        taken = sorted((hit.start, hit.end) for hit in found + more)
        more += (Found("entropy", *span) for span in guess.bare(text, taken))
    return more


def _merged(found: list[Found]) -> list[Found]:
    """In order and without overlaps; what overlaps has the name of the surest rule."""
    out: list[tuple[int, Found]] = []
    for rank, hit in sorted(enumerate(found), key=lambda pair: (pair[1].start, pair[0])):
        if out and hit.start < out[-1][1].end:
            best, last = out[-1]
            name = last.rule if best <= rank else hit.rule
            out[-1] = min(best, rank), Found(name, last.start, max(last.end, hit.end))
        else:
            out.append((rank, hit))
    return [hit for _, hit in out]

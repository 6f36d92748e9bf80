"""Secrets and personal data are taken out of what Brain writes or sends: `[redacted:rule]`.

What a person typed into a note is never rewritten; `find` tells `brain doctor` where to look. The
order is: formats of providers, keys behind a provider's name, passwords in addresses and headers,
values behind words such as `password`, and last what looks like noise. Time grows with the text's
length and nothing else; a text redacted twice is as after the first time; nothing is raised.
"""

from __future__ import annotations

from brain.record import NamedTuple
from brain.redact import formats

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SHORTEST = 15  # no provider's key is shorter than this
BARE_LENGTH = 32  # nor what is taken for noise than this
MARKS = ("-----begin", "authorization", "bearer ", "curl", "password", "pwd")
WORDS = (
    *("pass", "pwd", "secret", "token", "key", "credential", "kennwort", "contrase", "senha"),
    *("пароль", "密码", "パスワード"),
)
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
    if text.isascii() and "\0" not in text and "[redacted:" not in text:
        return _scan(text, emails)
    from brain.redact import veil

    found = _scan(veil.cover(text), emails)
    plain, back = veil.lift(text)
    if plain != text:
        seen = _scan(veil.cover(plain), emails)
        found += (Found(rule, back(start), back(end - 1) + 1) for rule, start, end in seen)
    return _merged(found)


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
            holder[key] = copy = {_text(name, emails): each for name, each in inner.items()}
            todo += [(copy, name) for name in copy]
        elif isinstance(inner, list):
            holder[key] = items = list(inner)
            todo += [(items, at) for at in range(len(items))]
        elif isinstance(inner, tuple):  # never from JSON, hence never deep
            holder[key] = tuple(redact_value(each, emails=emails) for each in inner)
    return root[0]


def _text(name: Any, emails: bool) -> Any:
    return redact(name, emails=emails)[0] if isinstance(name, str) else name


def _redact_member(key: Any, text: str, emails: bool) -> str:
    """A text by what it says and by the key it stands under."""
    if isinstance(key, str) and " " not in text and len(text) <= 200:
        lead = f'{key}: "'
        found = [hit for hit in find(f'{lead}{text}"', emails=emails) if hit.start >= len(lead)]
        if len(found) == 1 and (found[0].start, found[0].end) == (len(lead), len(lead) + len(text)):
            return f"[redacted:{found[0].rule}]"
    return redact(text, emails=emails)[0]


def _scan(text: str, emails: bool) -> list[Found]:
    """Everything that any rule finds, the surest rules first, overlaps made one."""
    lower = _lower(text)
    longest = max(map(len, text.split()), default=0)
    found = _formats(text, lower) if longest >= SHORTEST else []
    if any(mark in lower for mark in MARKS) or ("://" in text and "@" in text):
        from brain.redact import places

        found += (Found(*span) for span in places.find(text, lower))
    if not text.isalpha():
        found += _personal(text, emails)
    return _merged(found + _guesses(text, lower, longest, found))


def _lower(text: str) -> str:
    """The text in small letters, each where it stood: a few letters would become two."""
    lower = text.lower()
    return lower if len(lower) == len(text) else text.translate(_SMALL)


def _formats(text: str, lower: str) -> list[Found]:
    return [
        Found(rule.name, start, end)
        for rule in formats.hinted(text, lower)
        for start, end in formats.spans(rule, text, lower)
    ]


def _personal(text: str, emails: bool) -> list[Found]:
    wanted = sum(map(text.count, "0123456789")) > 8
    if not wanted and not (emails and "@" in text):
        return []
    from brain.redact import personal

    spans = [*(personal.numbers(text) if wanted else ())]
    spans += personal.addresses(text) if emails else ()
    return [Found(*span) for span in spans]


def _guesses(text: str, lower: str, longest: int, found: list[Found]) -> list[Found]:
    more: list[Found] = []
    if any(word in lower for word in WORDS):
        from brain.redact import guess

        more += (Found("keyword", *span) for span in guess.named(text, lower))
    if longest >= BARE_LENGTH:
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

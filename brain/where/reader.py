"""A filter as it is typed, read by recursive descent."""

from __future__ import annotations

import re
from typing import NoReturn

from brain.errors import BadRequest
from brain.where.compare import DEEPEST, OPS, Compare, Group, compare, known, together

_TOKEN = re.compile(
    r"""\s*(?:(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?P<op>[<>!=]=|!~|[<>=~])|(?P<mark>[(),])"""
    r"""|(?P<word>[^\s()<>=!~,"']+))"""
)
_EXAMPLE = "Such as `importance>=0.7 and kind in (decision, fact)`."


def read(text: str) -> Compare | Group:
    """The tree of a filter; raises BadRequest that says where it stops making sense."""
    reader = _Reader(text)
    tree = reader.either()
    if reader.kind:
        reader.fail("expected `and`, `or` or the end")
    return tree


class _Reader:
    """The words of a filter, one ahead: `kind` and `word` are the next, '' at the end."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.start, self.depth = text, 0, 0, 0
        self.kind = self.word = ""
        self.step()

    def step(self) -> str:
        """Past the next word; returns it."""
        gone, match = self.word, _TOKEN.match(self.text, self.at)
        self.kind, self.word, self.start = "", "", len(self.text)
        if match:
            self.kind, self.at = str(match.lastgroup), match.end()
            self.word, self.start = match[self.kind], match.start(self.kind)
        elif rest := self.text[self.at :].strip():
            self.start = self.text.rindex(rest)
            self.fail("this cannot be read")
        return gone

    def fail(self, wanted: str) -> NoReturn:
        rest = self.text[self.start : self.start + 20]
        place = f"at character {self.start + 1}, before {rest!r}" if rest else "at the end"
        raise BadRequest(f"The filter is not clear: {wanted} {place}.", _EXAMPLE)

    def takes(self, *words: str) -> bool:
        """Past the next word if it is one of these, and not in quotes."""
        found = self.kind != "string" and self.word.lower() in words
        if found:
            self.step()
        return found

    def either(self) -> Compare | Group:
        parts = [self.both()]
        while self.takes("or"):
            parts.append(self.both())
        return parts[0] if len(parts) == 1 else Group("or", tuple(parts))

    def both(self) -> Compare | Group:
        parts = [self.one()]
        while self.takes("and"):
            parts.append(self.one())
        return together(parts)

    def one(self) -> Compare | Group:
        self.depth += 1
        if self.depth > DEEPEST:
            self.fail("there are too many parentheses")
        if self.takes("not"):
            made: Compare | Group = Group("not", (self.one(),))
        elif self.takes("("):
            made = self.either()
            if not self.takes(")"):
                self.fail("expected `)`")
        else:
            made = self.comparison()
        self.depth -= 1
        return made

    def comparison(self) -> Compare:
        if self.kind != "word":
            self.fail("expected a field")
        field = known(self.word, f" (at character {self.start + 1} of the filter)")
        self.step()
        op = "not in" if self.takes("not") else self.word.lower()
        if op == "not in" and self.word.lower() != "in":
            self.fail("expected `in`")
        if op not in OPS or self.kind == "string":
            self.fail(f"expected one of {' '.join(OPS)}")
        self.step()
        at = self.start
        value = self.listed() if op in ("in", "not in") else self.value()
        return compare(field, op, value, f" (at character {at + 1} of the filter)")

    def value(self) -> str | None:
        if self.kind not in ("word", "string"):
            self.fail("expected a value")
        quoted, word = self.kind == "string", self.step()
        if quoted:
            return re.sub(r"\\(.)", r"\1", word[1:-1])
        return None if word.lower() in ("null", "none") else word

    def listed(self) -> list[str | None]:
        if not self.takes("("):
            self.fail("expected `(`")
        values = [self.value()]
        while self.takes(","):
            values.append(self.value())
        if not self.takes(")"):
            self.fail("expected `,` or `)`")
        return values

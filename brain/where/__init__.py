"""The language of filters: `importance>=0.7 and (kind=decision or tags=db) and not status=pinned`.

| written | means |
|---|---|
| `=` `!=` `>` `>=` `<` `<=` | numbers as numbers, the rest as words without regard to case |
| `created>=2026-02` | dates by as much of them as is given: February is `created=2026-02` |
| `tags=db`, `tags has db` | the tag, or one nested in it |
| `text~frost` | contains |
| `kind in (decision, fact)` | one of these |
| `project=null` | has none |
| `and` `or` `not` `( )` | as usual; `and` binds tighter |

What an entry lacks is not equal to anything and neither more nor less.
"""

from __future__ import annotations

from brain.errors import BadRequest
from brain.record import NamedTuple
from brain.where.compare import Compare, Group, asked, get, holds, known, sortable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any


class Where(NamedTuple):
    """A filter, ready to be asked."""

    tree: Compare | Group

    def matches(self, entry: Mapping[str, Any]) -> bool:
        return holds(self.tree, entry)

    def asked(self, field: str) -> list[str]:
        """The words that a field is compared with."""
        return list(asked(self.tree, field))


class Order(NamedTuple):
    """Fields to sort by, each ascending or not, the first the most important."""

    keys: tuple[tuple[str, bool], ...]

    def sort(self, entries: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """The entries in order; those without a value come last, either way."""
        out = list(entries)
        for field, ascending in reversed(self.keys):
            out = _sorted(out, field, ascending)
        return out


def _sorted(entries: list[Mapping[str, Any]], field: str, up: bool) -> list[Mapping[str, Any]]:
    given = [entry for entry in entries if get(entry, field) is not None]
    given.sort(key=lambda entry: sortable(field, get(entry, field)), reverse=not up)
    return given + [entry for entry in entries if get(entry, field) is None]


def parse(text: str) -> Where:
    """A filter from its text; raises BadRequest that says where it stops making sense."""
    from brain.where.reader import read

    return Where(read(text))


def order(text: str) -> Order:
    """`importance` sorts from the most down, `-importance` from the least up; commas add more."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words:
        raise BadRequest("An order needs a field.", "Such as `created` or `-importance`.")
    return Order(tuple((known(word.removeprefix("-").strip()), word[0] == "-") for word in words))

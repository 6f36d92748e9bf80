"""The part of MEMORY.md that has to be parsed after a change.

A cut is the start of a line that begins a block, whatever is above it: a bullet or heading that is
not indented, outside of code, comments, formulas and HTML. The texts above and below a cut can be
parsed separately, if the headings above the lower text are known. So only the text between the last
cut before a change and the first cut after it has to be parsed again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from brain.formats import frontmatter
from brain.formats.memory_md import MAX_CHARS, MAX_LINES, drafts, with_ids
from brain.formats.memory_place import Heading, has, scan
from brain.formats.text import Offsets, decode
from brain.model import Document, Part

# a line is no cut if the next line may be the second line of a table, whose first line it then is
_CUT = re.compile(r"^(?:[-*+]|(#{1,6})) +(?=\S).*+(?!\n {0,3}(?:[|:]|-[^ \n]))", re.MULTILINE)


def changed_part(before: bytes, after: bytes, owner: str = "") -> tuple[Document, Part] | None:
    """Return a document with the entries of the changed part, and the part itself. Return None if
    the whole note has to be parsed.

    The ids of the entries are correct if no entry outside of the part has the same id or words.
    """
    (old, old_problems), (new, new_problems) = decode(before), decode(after)
    properties, body_at, _ = frontmatter.properties_of(new)
    common = new.rfind("\n", 0, _common_length(old, new, 0, 1)) + 1  # end of the equal first lines
    if old_problems or new_problems or _is_long(old) or _is_long(new):
        return None
    if body_at != frontmatter.split(old)[1] or body_at > common:
        return None
    start = _cut_before(old, new, body_at, common)
    end = _cut_after(old, new, len(new) - _common_length(old, new, common, -1))
    head, old_part, new_part = new[:start], old[start : len(old) - len(new) + end], new[start:end]
    if not all(map(is_plain, (head, old_part, new_part))):
        return None
    above, old_headings, new_headings = scan(head, body_at), scan(old_part, 0), scan(new_part, 0)
    if above is None or old_headings is None or new_headings is None:
        return None
    level = _level_at(new, end)
    if _applicable_headings([*above, *old_headings], level) != _applicable_headings(
        [*above, *new_headings], level
    ):
        return None
    lead, tags = head.encode(), frontmatter.tags(properties)
    removed = drafts(old_part, _applicable_headings(above), tags, Offsets(old_part, lead))
    added = drafts(new_part, _applicable_headings(above), tags, Offsets(new_part, lead))
    (old_entries, old_repeated), (entries, new_repeated) = (
        with_ids(removed, owner),
        with_ids(added, owner),
    )
    if old_repeated or new_repeated:
        return None
    old_counts, new_counts = (
        Counter(draft.words for draft in drafts_) for drafts_ in (removed, added)
    )
    derived = [draft.words for draft in added if not draft.entry.ref]
    document = Document(
        entries=tuple(entries),
        title=frontmatter.title(properties),
        properties=properties,
        created=frontmatter.created(properties),
    )
    part = Part(
        start=len(lead),
        stop=len(lead) + len(old_part.encode()),
        lines=new_part.count("\n") - old_part.count("\n"),
        size=len(after) - len(before),
        refs=tuple(entry.ref for entry in old_entries),
        words=tuple({*(old_counts - new_counts), *(new_counts - old_counts), *derived}),
        derived=bool(derived),
    )
    return document, part


def part_around(text: str, offset: int) -> tuple[int, int, list[tuple[int, str]]] | None:
    """Return the start and end of a part with the entry at an offset and some entries before and
    after it, and the headings above the part. Return None if the part cannot be parsed alone."""
    body_at = frontmatter.split(text)[1]
    start = end = text.find("\n", offset) + 1 or len(text)
    for _ in range(3):
        start = _cut_before(text, text, body_at, start)
        end = _cut_after(text, text, end + 1)
    headings = scan(text[:start], body_at)
    if headings is None or not is_plain(text[:end]):
        return None
    return start, end, _applicable_headings(headings)


def is_plain(text: str) -> bool:
    """Return True if the text has neither comments nor formulas, which could hide other text."""
    return not has(text, "%%") and not has(text, "$$")


def _is_long(text: str) -> bool:
    return len(text) > MAX_CHARS or text.count("\n") > MAX_LINES


def _common_length(old: str, new: str, excluded: int, step: int) -> int:
    """Return the length of the common start (`step` 1) or end (`step` -1) of two texts. The first
    `excluded` characters do not belong to a common end."""
    low, high = 0, min(len(old), len(new)) - excluded
    while low < high:
        middle = (low + high + 1) // 2
        if step > 0:
            equal = old[low:middle] == new[low:middle]
        else:
            equal = (
                old[len(old) - middle : len(old) - low] == new[len(new) - middle : len(new) - low]
            )
        low, high = (middle, high) if equal else (low, middle - 1)
    return low


def _cut_before(old: str, new: str, body_at: int, stop: int) -> int:
    """Return the last offset before `stop` that is a cut in both texts, else the body's start."""
    while stop > body_at:
        start = max(new.rfind("\n", 0, stop - 1) + 1, body_at)
        if _CUT.match(new, start) and _CUT.match(old, start):
            return start
        stop = start
    return body_at


def _cut_after(old: str, new: str, offset: int) -> int:
    """Return the first cut of the new text at or after an offset that starts a line in the old
    text, too; else the end of the new text."""
    shift = len(old) - len(new)
    cuts = (match.start() for match in _CUT.finditer(new, offset))
    return next((cut for cut in cuts if old.startswith("\n", cut + shift - 1)), len(new))


def _level_at(text: str, offset: int) -> int:
    """Return the level of the heading at an offset: 7 for a bullet, 0 at the end of the text."""
    match = _CUT.match(text, offset)
    if match is None:
        return 0  # the end of the text
    return len(match[1]) if match[1] else 7


def _applicable_headings(headings: Iterable[Heading], level: int = 7) -> list[tuple[int, str]]:
    """Return the levels and words of those headings that are above a block of the given level at
    the end of the text. The level is 1 to 6 for a heading, and 7 for any other block."""
    path: list[tuple[int, str]] = []
    for heading in headings:
        path = [pair for pair in path if pair[0] < heading.level]
        path.append((heading.level, heading.words))
    return [pair for pair in path if pair[0] < level]

"""The part of MEMORY.md that has to be parsed after a change.

A cut is the start of a line that begins a block whatever is above it: a bullet or a heading that is
not indented, outside of code, comments, formulas and HTML. The text above a cut reads the same with
and without the text below it. The text below reads the same under the same headings. So only the
text between the last cut before a change and the first cut after it has to be parsed again.
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

# not above what may be the second line of a table, which makes any line the first one
_CUT = re.compile(r"^(?:[-*+]|(#{1,6})) +(?=\S).*+(?!\n {0,3}(?:[|:]|-[^ \n]))", re.MULTILINE)


def changed(before: bytes, after: bytes, owner: str = "") -> tuple[Document, Part] | None:
    """Return a document with the entries of the part that changed, and this part.

    The ids of these entries are right if no entry of another part has the same id or words. None if
    the whole note has to be parsed.
    """
    (old, odd), (new, odd_now) = decode(before), decode(after)
    properties, body_at, _ = frontmatter.properties_of(new)
    same = new.rfind("\n", 0, _common_length(old, new, 0, 1)) + 1  # of whole lines
    if odd or odd_now or _is_long(old) or _is_long(new):
        return None
    if body_at != frontmatter.split(old)[1] or body_at > same:
        return None
    start = _cut_before(old, new, body_at, same)
    end = _cut_after(old, new, len(new) - _common_length(old, new, same, -1))
    head, was, now = new[:start], old[start : len(old) - len(new) + end], new[start:end]
    if not all(map(is_plain, (head, was, now))):
        return None
    above, gone, came = scan(head, body_at), scan(was, 0), scan(now, 0)
    if above is None or gone is None or came is None:
        return None
    level = _level(new, end)
    if _path([*above, *gone], level) != _path([*above, *came], level):
        return None
    lead, tags = head.encode(), frontmatter.tags(properties)
    removed = drafts(was, _path(above), tags, Offsets(was, lead))
    added = drafts(now, _path(above), tags, Offsets(now, lead))
    (earlier, twice), (entries, twice_now) = with_ids(removed, owner), with_ids(added, owner)
    if twice or twice_now:
        return None
    counts, counts_now = (Counter(draft.words for draft in some) for some in (removed, added))
    derived = [draft.words for draft in added if not draft.entry.ref]
    document = Document(
        entries=tuple(entries),
        title=frontmatter.title(properties),
        properties=properties,
        created=frontmatter.created(properties),
    )
    part = Part(
        start=len(lead),
        stop=len(lead) + len(was.encode()),
        lines=now.count("\n") - was.count("\n"),
        size=len(after) - len(before),
        refs=tuple(entry.ref for entry in earlier),
        words=tuple({*(counts - counts_now), *(counts_now - counts), *derived}),
        derived=bool(derived),
    )
    return document, part


def around(text: str, at: int) -> tuple[int, int, list[tuple[int, str]]] | None:
    """Return the cuts between which the entry at this place can be edited alone, with some entries
    before and after it, and the headings above this part of the note."""
    body_at = frontmatter.split(text)[1]
    start = end = text.find("\n", at) + 1 or len(text)
    for _ in range(3):
        start = _cut_before(text, text, body_at, start)
        end = _cut_after(text, text, end + 1)
    headings = scan(text[:start], body_at)
    if headings is None or not is_plain(text[:end]):
        return None
    return start, end, _path(headings)


def is_plain(text: str) -> bool:
    """Return True if the text has neither comments nor formulas, which can hide anything."""
    return not has(text, "%%") and not has(text, "$$")


def _is_long(text: str) -> bool:
    return len(text) > MAX_CHARS or text.count("\n") > MAX_LINES


def _common_length(old: str, new: str, least: int, step: int) -> int:
    """Return the number of characters that two texts have in common at their start (step 1) or at
    their end (step -1), without the first `least`."""
    low, high = 0, min(len(old), len(new)) - least
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
    """Return the last cut of both texts before this line, or the start of the body."""
    while stop > body_at:
        start = max(new.rfind("\n", 0, stop - 1) + 1, body_at)
        if _CUT.match(new, start) and _CUT.match(old, start):
            return start
        stop = start
    return body_at


def _cut_after(old: str, new: str, at: int) -> int:
    """Return the first cut from this place of the new text on, or its end."""
    shift = len(old) - len(new)
    cuts = (match.start() for match in _CUT.finditer(new, at))
    return next((cut for cut in cuts if old.startswith("\n", cut + shift - 1)), len(new))


def _level(text: str, at: int) -> int:
    """Return the level of what starts here: only headings above it matter."""
    match = _CUT.match(text, at)
    if match is None:
        return 0  # the end of the text
    return len(match[1]) if match[1] else 7


def _path(headings: Iterable[Heading], level: int = 7) -> list[tuple[int, str]]:
    """Return the level and the words of the headings that apply after the last of them."""
    path: list[tuple[int, str]] = []
    for heading in headings:
        path = [pair for pair in path if pair[0] < heading.level]
        path.append((heading.level, heading.words))
    return [pair for pair in path if pair[0] < level]

"""The words of an entry, without the markup around them.

The list marker, checkbox, date, fields, block id, and the tags before and after the sentence do not
count as words. The texts of links, of tags inside the sentence and of code do.
"""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import normalize

from brain.formats.links import FIELD, tag_spans
from brain.formats.markdown import mask
from brain.formats.text import CLOCK, DAY, blake2b

_LEAD = re.compile(
    r"\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(?:\[[^\[\]\n]\]\s+)?"
    rf"(?:{DAY}{CLOCK}(?:\s*[:,]|(?=\s|$)))?"
)
_BLOCK_ID = re.compile(r"(?:^|[ \t])\^[A-Za-z0-9-]+[ \t]*$", re.MULTILINE)
_CODE = re.compile(r"(`+[^`]*`+)")
_LINK = re.compile(r"!?\[\[[^\[\]\n]*\]\]")
_WIKILINK = re.compile(r"!?\[\[(?:[^\[\]|\n]*\|)?([^\[\]|\n]*)\]\]")
# words that leave a sentence unfinished: a tag or link after such a word belongs to the sentence
_UNFINISHED = frozenset(
    """
    a an the is are was were be been being am to of in on at by for with from as into and or that
    this these those it its we our i you has have had will would please over than not
    no never use uses used using via without about like called named prefer avoid versus vs
    chose choose adopt adopted dropped needs need between per
    """.split()  # noqa: SIM905 - a list of strings would fill the page
)
_QUOTES = str.maketrans(
    {"\N{RIGHT SINGLE QUOTATION MARK}": "'", "\N{LEFT SINGLE QUOTATION MARK}": "'"}
)
_AROUND, _AFTER = '*"\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}', ".,;:!…"


def prose(text: str) -> str:
    """Return the words of an entry as they are written; the whole entry if it has none."""
    start = _LEAD.match(text)
    words = _BLOCK_ID.sub("", text[start.end() :] if start else text)
    if "`" in words:
        parts = _CODE.split(words)
        parts[::2] = [_plain(part) for part in parts[::2]]
        words = "".join(parts)
    else:
        words = _plain(words)
    words = untagged(words)
    return words if words.strip() else text


def _plain(text: str) -> str:
    """Return a text without fields and without the brackets of links."""
    if "::" in text:
        text = FIELD.sub("", text)
    return _WIKILINK.sub(r"\1", text) if "[[" in text else text


def without_links(text: str) -> str:
    """Return an entry without its fields and without the links and tags around its words. Return
    the text unchanged if it has no wikilink, or no other words."""
    words = untagged(FIELD.sub("", text), remove_links=True) if "[[" in text else text
    return words if words.strip() else text


def untagged(text: str, remove_links: bool = False) -> str:
    """Return a text without the tags before and after its words. With `remove_links`, the links
    there are removed, too.

    A tag among the words, or one that completes the sentence ("We use #redis"), counts as a word.
    """
    if "#" not in text and not remove_links:
        return text
    lines = zip(text.split("\n"), mask(text).split("\n"), strict=True)
    return "\n".join(
        [_untagged_line(line, tag_spans(masked), remove_links) for line, masked in lines]
    )


def _untagged_line(line: str, spans: list[tuple[int, int]], remove_links: bool) -> str:
    if remove_links:
        spans = sorted([*spans, *(match.span() for match in _LINK.finditer(line))])
    start, stop, trailing = 0, len(line), []
    while spans and not line[spans[-1][1] : stop].strip():
        trailing.append(spans.pop())
        stop = trailing[-1][0]
    words_before = line[:stop].split()
    # the tag completes the sentence
    if trailing and words_before and words_before[-1].casefold() in _UNFINISHED:
        spans.append(trailing[-1])
        stop = trailing[-1][1]
    while spans and not line[start : spans[0][0]].strip():
        start = spans.pop(0)[1]
    text = line[start:stop]
    for position, _ in reversed(spans):
        if line[position] == "#":
            text = text[: position - start] + text[position - start + 1 :]
    return text


@lru_cache(64)  # one text is compared with many
def fingerprint(text: str) -> str:
    """Return 16 hexadecimal digits that are equal for equal words.

    Case, white space, emphasis, quotation marks and the punctuation after a word do not count.
    """
    words = normalize("NFC", prose(text)).lower().translate(_QUOTES).split()
    joined = " ".join([word.strip(_AROUND).rstrip(_AFTER).strip(_AROUND) or word for word in words])
    return blake2b(joined.encode(errors="surrogatepass"), digest_size=8).hexdigest()

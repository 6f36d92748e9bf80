"""The words of an entry, without the markup around them.

List marker, checkbox, date, fields and block id are not words, nor are tags before and after the
sentence. The words of links, and of tags inside the sentence, count. Code counts as it is.
"""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import normalize

from brain.formats.links import FIELD, tag_spans
from brain.formats.markdown import mask
from brain.formats.text import blake2b

_LEAD = re.compile(
    r"\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(?:\[[^\[\]\n]\]\s+)?"
    r"(?:\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:?\d{2})?)?"
    r"(?:\s*[:,]|(?=\s|$)))?"
)
_BLOCK_ID = re.compile(r"(?:^|[ \t])\^[A-Za-z0-9-]+[ \t]*$", re.MULTILINE)
_CODE = re.compile(r"(`+[^`]*`+)")
_LINK = re.compile(r"!?\[\[[^\[\]\n]*\]\]")
_WIKILINK = re.compile(r"!?\[\[(?:[^\[\]|\n]*\|)?([^\[\]|\n]*)\]\]")
# words that do not end a sentence: a tag or link after one of them belongs to the sentence
_OPEN = frozenset(
    """
    a an the is are was were be been being am to of in on at by for with from as into and or that
    this these those it its we our i you has have had will would please over than not
    no never use uses used using via without about like called named prefer avoid versus vs
    chose choose adopt adopted dropped needs need between per
    """.split()  # noqa: SIM905 - a list of them would fill the page
)
_QUOTES = str.maketrans(
    {"\N{RIGHT SINGLE QUOTATION MARK}": "'", "\N{LEFT SINGLE QUOTATION MARK}": "'"}
)
_AROUND, _AFTER = '*"\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}', ".,;:!…"


def prose(text: str) -> str:
    """Return the words of an entry as written; the whole entry if it has none."""
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


def _plain(words: str) -> str:
    """Return the words without fields and without the brackets of links."""
    if "::" in words:
        words = FIELD.sub("", words)
    return _WIKILINK.sub(r"\1", words) if "[[" in words else words


def without_links(text: str) -> str:
    """Return an entry without the links after its words; unchanged if it has no other words."""
    words = untagged(FIELD.sub("", text), links=True) if "[[" in text else text
    return words if words.strip() else text


def untagged(words: str, links: bool = False) -> str:
    """Return the words without the tags before and after them, and without such links if `links`.

    A tag among the words is one of them. So is a tag that completes the sentence ("We use #redis").
    """
    if "#" not in words and not links:
        return words
    lines = zip(words.split("\n"), mask(words).split("\n"), strict=True)
    return "\n".join([_untagged(line, tag_spans(masked), links) for line, masked in lines])


def _untagged(line: str, spans: list[tuple[int, int]], links: bool) -> str:
    if links:
        spans = sorted([*spans, *(match.span() for match in _LINK.finditer(line))])
    start, stop, behind = 0, len(line), []
    while spans and not line[spans[-1][1] : stop].strip():
        behind.append(spans.pop())
        stop = behind[-1][0]
    before = line[:stop].split()
    if behind and before and before[-1].casefold() in _OPEN:  # the tag completes the sentence
        spans.append(behind[-1])
        stop = behind[-1][1]
    while spans and not line[start : spans[0][0]].strip():
        start = spans.pop(0)[1]
    words = line[start:stop]
    for at, _ in reversed(spans):
        if line[at] == "#":
            words = words[: at - start] + words[at - start + 1 :]
    return words


@lru_cache(64)  # one text is compared with many
def fingerprint(text: str) -> str:
    """Return 16 hexadecimal digits that are equal for equal words.

    Case, white space, emphasis, quotation marks and the punctuation after a word do not count.
    """
    words = normalize("NFC", prose(text)).lower().translate(_QUOTES).split()
    joined = " ".join([word.strip(_AROUND).rstrip(_AFTER).strip(_AROUND) or word for word in words])
    return blake2b(joined.encode(errors="surrogatepass"), digest_size=8).hexdigest()

"""Obsidian's inline syntax (wikilinks, embeds, tags, inline fields, block ids), and the words of an
entry without it.

The functions that find this syntax read masked text, in which code and comments are blank.
`strip_fields`, `mentioned_files` and the functions below them read an entry as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from unicodedata import normalize

from brain._tuples import NamedTuple
from brain.formats.markdown import blank, mask
from brain.formats.text import CLOCK, DAY, blake2b
from brain.model import Link

WIKILINK = re.compile(r"\[\[([^\[\]\n]+)\]\]")
MARKDOWN_LINK = re.compile(r"\]\((?:<([^<>\n]++)>[^()\n]*+|((?:[^()<>\n]++|\([^()<>\n]*+\))++))\)")
TAG = re.compile(
    r"#(?:(?<=[\s(]#)|(?<=\A#))"
    r"([^\s\u2000-\u206F\u2E00-\u2E7F'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\]+)"
)
_KEY = r"(\w[\w \-/]*?)::[ \t]*+"
# square brackets may contain links and one more pair, as in `arr[0]`, but no other field
_INNER = r"\[\[[^\[\]\n]*+\]\]|\[(?!\w[\w \-/]*+::)[^\[\]\n]*+\]"
FIELD = re.compile(
    rf"(?<!\[)\[{_KEY}((?:{_INNER}|[^\[\]\n]++)*+)\]"
    rf"|\({_KEY}((?:[^()\n]++|\([^()\n]*+\))*+)\)"
)
BLOCK_ID = re.compile(r"(?:^|[ \t])\^([A-Za-z0-9-]+)[ \t]*\r?$", re.MULTILINE)
_NOT_IN_VAULT = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|#|$")
_LINKED_NOTE = re.compile(r"\[\[([^\]|#^]+)")
_CODE = re.compile(r"`([^`\s]{1,200})`")
_PATH = re.compile(r"[\w@.~-]*(?:[/\\][\w@.~-]+)+|[\w-]+\.[a-z][a-z0-9]{0,4}", re.I)
_FILES_FIELD = re.compile(r"\[files?::\s*((?:\[\[[^\[\]]*\]\]|[^\]])+)\]", re.I)
_MAX_LABEL = 300  # characters of the label of an image


class Field(NamedTuple):
    """An inline field, `[key:: value]` or `(key:: value)`. `start` to `end` includes the
    brackets."""

    start: int
    end: int
    key: str
    value: str


def tags(masked: str) -> list[str]:
    """Return the tags in order, in NFC and without `#`. `#123` is not a tag in Obsidian."""
    if "#" not in masked:
        return []
    if not (words := TAG.findall(masked)):
        return words
    words = [word.rstrip("/") for word in words if not word.isdigit()]
    if not masked.isascii():
        words = [normalize("NFC", word) for word in words]
    return [word for word in words if word]


def tag_spans(masked: str) -> list[tuple[int, int]]:
    """Return (start, end) of each tag, including its `#`."""
    found = [(match.span(), match.group(1)) for match in TAG.finditer(masked)]
    return [span for span, word in found if not word.isdigit() and word.rstrip("/")]


def wikilink(inner: str, kind: str, line: int) -> Link:
    """Parse `note#heading|alias` or `note#^block|alias`. The alias is ignored."""
    address, bar, _ = inner.partition("|")
    address = address.rstrip("\\") if bar else address  # tables escape the bar
    target, _, fragment = address.partition("#")
    return Link(line, kind, target.strip(), fragment.strip())


def links(masked: str, line: int = 1) -> list[Link]:
    """Return the wikilinks and embeds, then the Markdown links to files of the vault. `line` is the
    number of the first line."""
    return [*_wikilinks(masked, line), *_markdown_links(masked, line)]


def to_blocks(masked: str, line: int = 1) -> list[Link]:
    """Return the links to a block, such as `[[note#^id]]`."""
    if "^" not in masked and "%5" not in masked:  # a Markdown link may encode the `^`
        return []
    return [link for link in links(masked, line) if link.fragment[:1] == "^"]


def _wikilinks(masked: str, line: int) -> Iterator[Link]:
    position = 0
    for match in WIKILINK.finditer(masked):
        line += masked.count("\n", position, match.start())
        position = match.start()
        kind = "embed" if masked[position - 1 : position] == "!" else "link"
        link = wikilink(match.group(1), kind, line)
        if link.target or link.fragment:
            yield link


def _markdown_links(masked: str, line: int) -> Iterator[Link]:
    position = 0
    for match in MARKDOWN_LINK.finditer(masked):
        target = match.group(1) or _without_title(match.group(2))
        if _NOT_IN_VAULT.match(target):
            continue
        line += masked.count("\n", position, match.start())
        position = match.start()
        label = masked.rfind("[", max(0, position - _MAX_LABEL), position)
        kind = "embed" if label > 0 and masked[label - 1] == "!" else "link"
        path, _, fragment = target.partition("#")
        from urllib.parse import unquote  # takes 2 ms to load, and a search does not need it

        yield Link(line, kind, unquote(path), unquote(fragment))


def _without_title(target: str) -> str:
    """Return the address of a Markdown link without the `"title"` after it."""
    target = target.strip()
    if target.endswith(('"', "'")):
        address, quote, _ = target[:-1].rpartition(target[-1])
        if quote and address.endswith((" ", "\t")):
            return address.rstrip()
    return target


def fields(masked: str) -> list[Field]:
    """Return the inline fields in order."""
    if "::" not in masked:
        return []
    found = []
    for match in FIELD.finditer(masked):
        key, value = match.group(1, 2) if match.group(1) else match.group(3, 4)
        found.append(Field(match.start(), match.end(), key.strip(), value.strip()))
    return found


def split_fields(masked: str) -> tuple[list[Field], str]:
    """Return the inline fields, and the text with blanks in place of the fields."""
    found = fields(masked)
    return found, blank(masked, [(field.start, field.end) for field in found])


def field_name(key: str) -> str:
    """Return the key of a field for comparison: `relates_to` for `Relates to`."""
    return key.casefold().replace(" ", "_").replace("-", "_")


def strip_fields(text: str) -> str:
    """Return the text without its inline fields."""
    for field in reversed(fields(mask(text))):
        before, after = text[: field.start], text[field.end :]
        if after[:1] in ("", "\n", " "):  # remove the space before the field, too
            before = before.rstrip(" ") or before
        text = before + after
    return text


def mentioned_files(text: str) -> list[str]:
    """Return the files in links, in code and in `files` fields of a text."""
    if "[" not in text and "`" not in text:
        return []
    files = [target.strip() for target in _LINKED_NOTE.findall(text)]
    files += [code for code in _CODE.findall(text) if _PATH.fullmatch(code)]
    for field in _FILES_FIELD.findall(text):
        files += [file.strip(" `[]") for file in field.split(",")]
    return list(dict.fromkeys(file for file in files if file))


# -- the words of an entry -------------------------------------------------------------------------
# The list marker, checkbox, date, fields and block id are not words. Neither are tags before and
# after the sentence. The words of links, of tags inside the sentence and of code are words.

_LEAD = re.compile(
    r"\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(?:\[[^\[\]\n]\]\s+)?"
    rf"(?:{DAY}{CLOCK}(?:\s*[:,]|(?=\s|$)))?"
)
_CODE_SPAN = re.compile(r"(`+[^`]*`+)")
_ANY_LINK = re.compile(r"!?\[\[[^\[\]\n]*\]\]")
_SHOWN = re.compile(r"!?\[\[(?:[^\[\]|\n]*\|)?([^\[\]|\n]*)\]\]")
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
    words = BLOCK_ID.sub("", text[start.end() :] if start else text)
    if "`" in words:
        parts = _CODE_SPAN.split(words)
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
    return _SHOWN.sub(r"\1", text) if "[[" in text else text


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
        spans = sorted([*spans, *(match.span() for match in _ANY_LINK.finditer(line))])
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

"""Edits of brain.yaml: one setting gets a value or goes, and no other line changes.

Comments, blank lines, the order and the newlines stay. What was made is read again before it is
handed out: exactly that one setting differs, or the edit is refused.
"""

from __future__ import annotations

import re

from brain import config
from brain.changes import Change, Configure, Done, Edited
from brain.errors import BadConfig, Refused
from brain.formats import config_yaml
from brain.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

NAME = "brain.yaml"
_BOM = "\ufeff"
_ITEM = re.compile(r"[ \t]*- +")


class _Place(NamedTuple):
    """Where a setting stands in a text: its key, the end of its colon, its value's node and end."""

    key: int
    colon: int
    node: Any
    end: int
    line: int


def edit(path: str, data: bytes, changes: Sequence[Change]) -> Edited:
    """brain.yaml after these changes, in order, and what became of each."""
    done = []
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused(f"{path} is not UTF-8.", "Save it as UTF-8.") from None
    for change in changes:
        if not isinstance(change, Configure):
            raise Refused(f"Brain does not write entries into {path}.", "It holds settings only.")
        text, one = _apply(text, change)
        done.append(one)
    return Edited(text.encode("utf-8"), tuple(done))


def _apply(text: str, change: Configure) -> tuple[str, Done]:
    """`changed` if the setting is neither what the change makes of it nor what it expects."""
    now, before = getattr(_parsed(text), change.ref), lines_of(text, change.ref)
    gone = change.value is None
    if not before if gone else now == change.value:
        return text, _done(text, change, "already", before)
    if now != change.expect:
        return text, _done(text, change, "changed", before)
    text = remove(text, change.ref) if gone else put(text, change.ref, change.value, change.lines)
    return text, _done(text, change, "done", before)


def _done(text: str, change: Configure, outcome: str, before: str) -> Done:
    after = lines_of(text, change.ref)
    line = text[: text.find(after)].count("\n") + 1 if after else 0
    return Done(change, outcome, line, before, after)


def put(text: str, key: str, value: Any, lines: str = "") -> str:
    """`text` with one setting as given, written as `lines` if these say so; no line changes but
    those of that setting.

    Raises Refused, naming the line, for a text that cannot be edited safely.
    """
    bom, text = _opened(text)
    place = _find(text, key)
    if place is None:
        choices = [_behind_its_comment(text, key, value), _at_the_end(text, key, value)]
    elif isinstance(value, tuple) and _is_block_list(text, place.node):
        choices = [_in_list(text, place.node.value, value)]
    else:
        choices = [_in_place(text, place, config.to_yaml(value))]
    if place and lines:
        start, end = _line(text, place.key)[0], _line(text, place.end)[1]
        last = re.search(r"\r?\n?\Z", text[start:end])
        choices.insert(0, text[:start] + lines + (last[0] if last else "") + text[end:])
    expected = _parsed(text)._replace(**{key: value})
    return bom + _checked([new for new in choices if new], expected, place)


def remove(text: str, key: str) -> str:
    """`text` without a setting: the default holds. Comments between the lines of a list stay."""
    bom, text = _opened(text)
    place = _find(text, key)
    if place is None:
        return bom + text
    start, end = _line(text, place.key)[0], _line(text, place.end)[1]
    lines = re.findall(r"[^\n]*\n|[^\n]+", text[start:end])
    kept = "".join(line for line in lines if line.lstrip().startswith("#"))
    expected = _parsed(text)._replace(**{key: config.default(key)})
    return bom + _checked([text[:start] + kept + text[end:]], expected, place)


def lines_of(text: str, key: str) -> str:
    """The lines in which a setting stands, '' if it does not."""
    text = _opened(text)[1]
    place = _find(text, key)
    if place is None:
        return ""
    return text[_line(text, place.key)[0] : _line(text, place.end)[1]].rstrip("\r\n")


def _opened(text: str) -> tuple[str, str]:
    return (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)


def _checked(choices: Sequence[str], expected: config.Config, place: _Place | None) -> str:
    """The first that reads as it should."""
    for new in choices:
        try:
            if config_yaml.parse(new)[0] == expected:
                return new
        except BadConfig:
            continue
    where = f" line {place.line}" if place else ""
    raise Refused(f"{NAME}{where} is written in a way that Brain cannot edit.", "Edit it by hand.")


# -- where a setting stands ------------------------------------------------------------------------


def _parsed(text: str) -> config.Config:
    try:
        return config_yaml.parse(_opened(text)[1])[0]
    except BadConfig as error:
        raise Refused(error.message, error.remedy) from None


def _find(text: str, key: str) -> _Place | None:
    """The one place of a setting. Refused for a text in which it cannot be told."""
    try:
        root = config_yaml.compose(text)
    except BadConfig as error:
        raise Refused(error.message, error.remedy) from None
    if root is None:
        return None
    _refuse_special(text, root)
    found = [pair for pair in config_yaml.pairs(root) if pair[0].value == key]
    if len(found) > 1:
        line = found[1][0].start_mark.line + 1
        raise Refused(f"{NAME} line {line} sets {key} a second time.", "Delete one of them.")
    return _placed(text, *found[0]) if found else None


def _placed(text: str, key: Any, node: Any) -> _Place:
    """A block's own end is where the next one begins; where its last word ends is meant."""
    colon = text.index(":", key.end_mark.index) + 1
    last = node
    while last.id != "scalar" and last.value and not last.flow_style:
        last = last.value[-1] if last.id == "sequence" else last.value[-1][1]
    end = max(colon, len(text[: last.end_mark.index].rstrip()))
    return _Place(key.start_mark.index, colon, node, end, key.start_mark.line + 1)


def _refuse_special(text: str, root: Any) -> None:
    import yaml

    nested = [node for key, node in root.value if config_yaml.is_block(key, node)]
    if any(node.flow_style for node in (root, *nested)):
        raise Refused(
            f"{NAME} has its settings in braces, which Brain does not edit.",
            "Write one `key: value` a line.",
        )
    for token in yaml.scan(text, Loader=yaml.SafeLoader):
        if isinstance(token, yaml.AnchorToken | yaml.AliasToken | yaml.TagToken):
            line = token.start_mark.line + 1
            raise Refused(
                f"{NAME} line {line} holds an anchor or a tag, which Brain does not edit.",
                "Write the value itself.",
            )


def _line(text: str, at: int) -> tuple[int, int]:
    """Start and end, newline included, of the line that holds an offset."""
    end = text.find("\n", at)
    return text.rfind("\n", 0, at) + 1, len(text) if end < 0 else end + 1


# -- how it is changed -----------------------------------------------------------------------------


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _in_place(text: str, place: _Place, value: str) -> str:
    """The value alone is replaced; a comment behind it stays."""
    old = text[place.colon : place.end]
    if "\n" in old and "#" in old:
        raise Refused(
            f"{NAME} line {place.line}: there may be a comment inside of this value.",
            "Write it on one line, or edit it by hand.",
        )
    return f"{text[: place.colon]} {value}{text[place.end :]}"


def _is_block_list(text: str, node: Any) -> bool:
    """Is this a list with a `- word` on each line?"""
    if node.id != "sequence" or node.flow_style or not node.value:
        return False
    starts = [item.start_mark.index for item in node.value]
    leads = [text[_line(text, at)[0] : at] for at in starts]
    return all(map(_ITEM.fullmatch, leads)) and all(
        item.id == "scalar" and item.start_mark.line == item.end_mark.line for item in node.value
    )


def _in_list(text: str, items: list[Any], value: tuple[str, ...]) -> str:
    """Items change in their lines, go with them, or come behind the last."""
    words = [item.value for item in items]
    stay = [word in value for word in words]
    if tuple(word for word, kept in zip(words, stay, strict=True) if kept) != value:
        stay = [at < len(value) for at in range(len(words))]
    new = iter(value)
    pairs = [(item, next(new) if kept else None) for item, kept in zip(items, stay, strict=True)]
    text = _with_items(text, items[-1], list(new))
    for item, word in reversed(pairs):
        start, end = item.start_mark.index, item.end_mark.index
        if word is None:
            start, end = _line(text, start)
            text = text[:start] + text[end:]
        elif word != item.value:
            text = text[:start] + _quoted(word) + text[end:]
    return text


def _with_items(text: str, last: Any, words: list[str]) -> str:
    """More items, written like the last one."""
    if not words:
        return text
    start, end = _line(text, last.start_mark.index)
    lead, newline = text[start : last.start_mark.index], _newline(text)
    gap = "" if text[:end].endswith("\n") else newline
    more = "".join(f"{lead}{_quoted(word)}{newline}" for word in words)
    return text[:end] + gap + more + text[end:]


def _quoted(word: str) -> str:
    return config.to_yaml((word,))[1:-1]


def _behind_its_comment(text: str, key: str, value: Any) -> str:
    """Behind the line that tells the default, `# key: …`, as `brain init` writes it."""
    found = list(re.finditer(rf"(?m)^# {re.escape(key)}:.*\n", text))
    if len(found) != 1:
        return ""
    at = found[0].end()
    return f"{text[:at]}{key}: {config.to_yaml(value)}{_newline(text)}{text[at:]}"


def _at_the_end(text: str, key: str, value: Any) -> str:
    gap = _newline(text) if text and not text.endswith("\n") else ""
    return f"{text}{gap}{key}: {config.to_yaml(value)}{_newline(text)}"

"""Edits of configuration files of other programs: one member is added, replaced or removed.

Only the bytes of this member change. Comments, order and layout are kept. A file that does not
parse is refused.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from brain.errors import Refused

_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING = re.compile(r'"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])')
_SPACE = re.compile(r"\s*")
IsOwn = Callable[[Any], bool]  # True for a value that Brain added
BEGIN, END = "<!-- brain: begin -->", "<!-- brain: end -->"


class Syntax(NamedTuple):
    """Extensions of JSON that a client accepts."""

    comments: bool = False
    trailing_commas: bool = False


class Member(NamedTuple):
    """A member of an object, or a value of a list: its key, and offsets in the text."""

    key: str
    start: int
    value: int
    end: int


# -- JSON ------------------------------------------------------------------------------------------


def parse_json(text: str, syntax: Syntax) -> Any:
    """Return the object in a text. Raises Refused if the client could not read it as an object."""
    try:
        found = json.loads(_blank(text, syntax).removeprefix("\ufeff").strip() or "{}")
    except ValueError as error:
        raise Refused(f"It is not valid JSON: {error}.", "Fix the file, then try again.") from None
    if not isinstance(found, dict):
        raise Refused("It is not a JSON object.", "Fix the file, then try again.")
    return found


def set_json(text: str, path: tuple[str, ...], value: Any, syntax: Syntax) -> str:
    """Return the text with this value at this path. Missing objects on the path are created."""
    before = parse_json(text, syntax)
    if _contains(_value_at(before, path), value):
        return text
    if _value_at(before, path) is not None:
        text = remove_json(text, path, syntax)
    if not text.strip("\ufeff \t\r\n"):
        text += "{}\n"
    plain = _blank(text, syntax)
    start = plain.index("{")
    for depth, key in enumerate(path):
        members = {member.key: member for member in _members(plain, start)}
        if key not in members or depth == len(path) - 1:
            nested: Any = value
            for name in reversed(path[depth + 1 :]):
                nested = {name: nested}
            text = _with_member(text, plain, start, key, nested)
            break
        start = members[key].value
    return _checked(text, _with_value(before, path, value), syntax)


def remove_json(text: str, path: tuple[str, ...], syntax: Syntax) -> str:
    """Return the text without the value at this path."""
    before = parse_json(text, syntax)
    if _value_at(before, path) is None:
        return text
    plain = _blank(text, syntax)
    members = _members(plain, _offset_of(plain, path[:-1]))
    index = next(index for index, each in enumerate(members) if each.key == path[-1])
    text = _without_member(text, plain, members, index)
    return _checked(text, _with_value(before, path, None), syntax)


def _without_member(text: str, plain: str, members: list[Member], index: int) -> str:
    """Return the text without the member at this index, and without its comma."""
    member = members[index]
    start = len(text[: member.start].rstrip())
    end = member.end
    space = _SPACE.match(_blank(text, Syntax(comments=True)), end)
    comma_at = space.end() if space else end
    cuts = [(start, end)]
    if text[comma_at : comma_at + 1] == ",":
        cuts = [(start, end), (comma_at, comma_at + 1)]
    elif index:
        previous_comma = plain.rindex(",", members[index - 1].end, member.start)
        cuts = [(previous_comma, previous_comma + 1), (max(start, previous_comma + 1), end)]
    for cut_from, cut_to in reversed(cuts):
        text = text[:cut_from] + text[cut_to:]
    return text


def copy_json(text: str, source: str, path: tuple[str, ...], syntax: Syntax) -> str:
    """Return the text with the value that another text has at this path."""
    value = _value_at(parse_json(source, syntax), path)
    return text if value is None else set_json(text, path, value, syntax)


def set_item(text: str, path: tuple[str, ...], value: Any, is_own: IsOwn, syntax: Syntax) -> str:
    """Return the text with this value in the list at a path. The value replaces Brain's own
    values."""
    items_before = _items(text, path, syntax)
    if [each for each in items_before if is_own(each)] == [value]:
        return text
    text = remove_items(text, path, is_own, syntax)
    before = parse_json(text, syntax)
    items = _value_at(before, path)
    if items is None:
        return set_json(text, path, [value], syntax)
    plain = _blank(text, syntax)
    text = _with_member(text, plain, _offset_of(plain, path), None, value)
    return _checked(text, _with_value(before, path, [*items, value]), syntax)


def remove_items(text: str, path: tuple[str, ...], is_own: IsOwn, syntax: Syntax) -> str:
    """Return the text without Brain's own values in the list at a path. If no other value is left,
    the list is removed."""
    items = _items(text, path, syntax)
    others = [each for each in items if not is_own(each)]
    if len(others) == len(items):
        return text
    if not others:
        return remove_json(text, path, syntax)
    before = parse_json(text, syntax)
    for index in reversed([index for index, each in enumerate(items) if is_own(each)]):
        plain = _blank(text, syntax)
        text = _without_member(text, plain, _members(plain, _offset_of(plain, path)), index)
    return _checked(text, _with_value(before, path, others), syntax)


def copy_item(text: str, source: str, path: tuple[str, ...], is_own: IsOwn, syntax: Syntax) -> str:
    """Return the text with Brain's own value that another text has in the list at a path."""
    own_items = [each for each in _items(source, path, syntax) if is_own(each)]
    return set_item(text, path, own_items[0], is_own, syntax) if own_items else text


def _items(text: str, path: tuple[str, ...], syntax: Syntax) -> list[Any]:
    items = _value_at(parse_json(text, syntax), path)
    if items is not None and not isinstance(items, list):
        raise Refused(f"{path[-1]!r} is not a list.", "Fix the file, then try again.")
    return items or []


def _offset_of(plain: str, path: tuple[str, ...]) -> int:
    """Return the offset at which the value at a path begins."""
    start = plain.index("{")
    for key in path:
        start = next(each.value for each in _members(plain, start) if each.key == key)
    return start


def _value_at(value: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        if not isinstance(value, dict):
            raise Refused(f"{key!r} is not in an object.", "Fix the file, then try again.")
        if key not in value:
            return None
        value = value[key]
        if value is None:
            raise Refused(f"{key!r} is null.", "Fix the file, then try again.")
    return value


def _contains(found: Any, value: Any) -> bool:
    """Return True if an entry has all members of `value`. It may have more, such as a timeout."""
    if not isinstance(value, dict):
        return bool(found == value)
    return isinstance(found, dict) and all(found.get(key) == each for key, each in value.items())


def _with_value(found: dict[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    """Return a copy with this value at a path; without a value there if `value` is None."""
    key, rest = path[0], path[1:]
    if rest:
        return {**found, key: _with_value(found.get(key) or {}, rest, value)}
    if value is None:
        return {name: each for name, each in found.items() if name != key}
    return {**found, key: value}


def _checked(text: str, expected: Any, syntax: Syntax) -> str:
    if parse_json(text, syntax) != expected:
        raise Refused("It cannot be edited safely.", "Add Brain to it by hand.")
    return text


def _blank(text: str, syntax: Syntax) -> str:
    """Return the text with spaces in place of comments and trailing commas."""

    def spaces(match: re.Match[str]) -> str:
        return match[0] if match[0].startswith('"') else re.sub(r"[^\n]", " ", match[0])

    if syntax.comments:
        text = _COMMENT.sub(spaces, text)
    return _TRAILING.sub(spaces, text) if syntax.trailing_commas else text


def _members(plain: str, start: int) -> list[Member]:
    """Return the members of the object, or the values of the list, that begins at `start`."""
    decoder, out = json.JSONDecoder(), []
    is_list = plain[start] == "["
    position = _skip_space(plain, start + 1)
    while plain[position] not in "]}":
        key, value_start = "", position
        if not is_list:
            key, key_end = decoder.raw_decode(plain, position)
            value_start = _skip_space(plain, _skip_space(plain, key_end) + 1)
        _, value_end = decoder.raw_decode(plain, value_start)
        out.append(Member(key, position, value_start, value_end))
        position = _skip_space(plain, value_end)
        position = _skip_space(plain, position + 1) if plain[position] == "," else position
    return out


def _skip_space(plain: str, offset: int) -> int:
    space = _SPACE.match(plain, offset)
    return space.end() if space else offset


def _with_member(text: str, plain: str, start: int, key: str | None, value: Any) -> str:
    """Return the text with a new last member in the object that begins at `start`. A list gets a
    new last value, and the key is None."""
    newline = "\r\n" if "\r\n" in text else "\n"
    members = _members(plain, start)
    outer = _indent(text, start)
    unit = _indent_unit(text)
    if not members:
        end = plain.index("}" if plain[start] == "{" else "]", start)
        position = len(text[:end].rstrip())  # after a comment, if there is one
        added = _member(key, value, outer + unit, unit, newline)
        return f"{text[:position]}{newline}{added}{newline}{outer}{text[end:]}"
    last = members[-1]
    after = _skip_space(_blank(text, Syntax(comments=True)), last.end)
    has_comma = text[after : after + 1] == ","
    if "\n" not in text[start : members[0].start]:  # all in one line
        position = after + 1 if has_comma else last.end
        compact = json.dumps([value] if key is None else {key: value}, ensure_ascii=False)[1:-1]
        return text[:position] + (" " if has_comma else ", ") + compact + text[position:]
    added = newline + _member(key, value, _indent(text, last.start), unit, newline)
    position = after + 1 if has_comma else last.end
    tail = text.find("\n", position)
    if tail < 0 or plain[position:tail].strip():
        tail = position
    elif text[tail - 1] == "\r":
        tail -= 1
    comma = "" if has_comma else ","
    return text[:position] + comma + text[position:tail] + added + text[tail:]


def _member(key: str | None, value: Any, indent: str, unit: str, newline: str) -> str:
    whole = [value] if key is None else {key: value}
    lines = json.dumps(whole, ensure_ascii=False, indent=unit).split("\n")[1:-1]
    return newline.join(indent + line.removeprefix(unit) for line in lines)


def _indent(text: str, offset: int) -> str:
    """Return the indentation of the line that contains this offset."""
    start = text.rfind("\n", 0, offset) + 1
    line = text[start:]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _indent_unit(text: str) -> str:
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "


# -- TOML ------------------------------------------------------------------------------------------


def parse_toml(text: str) -> dict[str, Any]:
    """Return the tables in a text. Raises Refused if it does not parse."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise Refused(f"It is not valid TOML: {error}.", "Fix the file, then try again.") from None


def set_toml(text: str, path: tuple[str, ...], value: dict[str, Any]) -> str:
    """Return the text with this table at the end. Its values are strings and lists."""
    before = parse_toml(text)
    if _contains(_value_at(before, path), value):
        return text
    if _value_at(before, path) is not None:
        text = remove_toml(text, path)
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text.strip() else newline if text.endswith("\n") else newline * 2
    rows = [f"{name} = {json.dumps(each, ensure_ascii=False)}" for name, each in value.items()]
    text += gap + newline.join([f"[{'.'.join(path)}]", *rows, ""])
    return _checked_toml(text, _with_value(before, path, value))


def copy_toml(text: str, source: str, path: tuple[str, ...]) -> str:
    """Return the text with the table that another text has at this path."""
    value = _value_at(parse_toml(source), path)
    return text if value is None else set_toml(text, path, value)


def remove_toml(text: str, path: tuple[str, ...]) -> str:
    """Return the text without this table and its subtables."""
    before = parse_toml(text)
    if _value_at(before, path) is None:
        return text
    name = r"\s*\.\s*".join(f"[\"']?{re.escape(key)}[\"']?" for key in path)
    header = rf"(?:^\r?\n)?^[ \t]*\[\s*{name}\s*(?:\.[^\]]*)?\][^\n]*\n?"
    own = re.compile(rf"{header}(?:^[ \t]*[^\s#\[][^\n]*\n?)*", re.MULTILINE)
    rest = _with_value(before, path, None)
    for match in reversed(list(own.finditer(text))):
        without = text[: match.start()] + text[match.end() :]
        with suppress(tomllib.TOMLDecodeError):
            if _with_value(tomllib.loads(without.removeprefix("\ufeff")), path, None) == rest:
                text = without  # otherwise the match was part of a string
    return _checked_toml(text, rest)


def _checked_toml(text: str, expected: dict[str, Any]) -> str:
    found = parse_toml(text)
    if found != expected and {**found, "mcp_servers": found.get("mcp_servers", {})} != expected:
        raise Refused("It cannot be edited safely.", "Add Brain to it by hand.")
    return text


# -- Markdown --------------------------------------------------------------------------------------


def set_block(text: str, block: str) -> str:
    """Return the text with this block as Brain's only block, at the end."""
    own = f"{BEGIN}\n{block.strip()}\n{END}\n"
    if own in text:
        return text
    text = remove_block(text)
    gap = "" if not text.strip() else "\n" if text.endswith("\n") else "\n\n"
    return text + gap + own


def remove_block(text: str) -> str:
    """Return the text without Brain's block."""
    return re.sub(rf"\n?{re.escape(BEGIN)}.*?{re.escape(END)}\n?", "", text, flags=re.DOTALL)

"""Edits of configuration files of other programs: one member is added, replaced or removed.

Only its own bytes change. Comments, order and layout stay. A file that does not parse is refused.
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
    """What a client accepts in its JSON."""

    comments: bool = False
    trailing_commas: bool = False


class Member(NamedTuple):
    """A member of an object, by its places in the text."""

    key: str
    start: int
    value: int
    end: int


# -- JSON ------------------------------------------------------------------------------------------


def parse_json(text: str, syntax: Syntax) -> Any:
    """Return what a text says. Raises Refused if it is not an object the client could read."""
    try:
        found = json.loads(_blank(text, syntax).removeprefix("\ufeff").strip() or "{}")
    except ValueError as error:
        raise Refused(f"It is not valid JSON: {error}.", "Fix the file, then try again.") from None
    if not isinstance(found, dict):
        raise Refused("It is not a JSON object.", "Fix the file, then try again.")
    return found


def set_json(text: str, path: tuple[str, ...], value: Any, syntax: Syntax) -> str:
    """Return the text with this value at this path; objects on the way are created."""
    before = parse_json(text, syntax)
    if _has(_at(before, path), value):
        return text
    if _at(before, path) is not None:
        text = remove_json(text, path, syntax)
    if not text.strip("\ufeff \t\r\n"):
        text += "{}\n"
    plain = _blank(text, syntax)
    start = plain.index("{")
    for depth, key in enumerate(path):
        members = {member.key: member for member in _members(plain, start)}
        if key not in members or depth == len(path) - 1:
            inner: Any = value
            for name in reversed(path[depth + 1 :]):
                inner = {name: inner}
            text = _add(text, plain, start, key, inner)
            break
        start = members[key].value
    return _checked(text, _with(before, path, value), syntax)


def remove_json(text: str, path: tuple[str, ...], syntax: Syntax) -> str:
    """Return the text without what is at this path. Nothing else is removed."""
    before = parse_json(text, syntax)
    if _at(before, path) is None:
        return text
    plain = _blank(text, syntax)
    members = _members(plain, _start(plain, path[:-1]))
    at = next(at for at, each in enumerate(members) if each.key == path[-1])
    text = _cut(text, plain, members, at)
    return _checked(text, _with(before, path, None), syntax)


def _cut(text: str, plain: str, members: list[Member], at: int) -> str:
    """Return the text without one of these members, and without its comma."""
    own = members[at]
    first = len(text[: own.start].rstrip())
    last = own.end
    rest = _SPACE.match(_blank(text, Syntax(comments=True)), last)
    comma = rest.end() if rest else last
    cuts = [(first, last)]
    if text[comma : comma + 1] == ",":
        cuts = [(first, last), (comma, comma + 1)]
    elif at:
        before_own = plain.rindex(",", members[at - 1].end, own.start)
        cuts = [(before_own, before_own + 1), (max(first, before_own + 1), last)]
    for cut_from, cut_to in reversed(cuts):
        text = text[:cut_from] + text[cut_to:]
    return text


def same_json(text: str, now: str, path: tuple[str, ...], syntax: Syntax) -> str:
    """Return the text with the value that another text has at this path."""
    value = _at(parse_json(now, syntax), path)
    return text if value is None else set_json(text, path, value, syntax)


def set_item(text: str, path: tuple[str, ...], value: Any, own: IsOwn, syntax: Syntax) -> str:
    """Return the text with this value in the list at a path, in place of Brain's own one."""
    found = _items(text, path, syntax)
    if [each for each in found if own(each)] == [value]:
        return text
    text = remove_items(text, path, own, syntax)
    before = parse_json(text, syntax)
    items = _at(before, path)
    if items is None:
        return set_json(text, path, [value], syntax)
    plain = _blank(text, syntax)
    text = _add(text, plain, _start(plain, path), None, value)
    return _checked(text, _with(before, path, [*items, value]), syntax)


def remove_items(text: str, path: tuple[str, ...], own: IsOwn, syntax: Syntax) -> str:
    """Return the text without Brain's own values in the list at a path. A list that has no other
    is removed."""
    items = _items(text, path, syntax)
    kept = [each for each in items if not own(each)]
    if len(kept) == len(items):
        return text
    if not kept:
        return remove_json(text, path, syntax)
    before = parse_json(text, syntax)
    for at in reversed([at for at, each in enumerate(items) if own(each)]):
        plain = _blank(text, syntax)
        text = _cut(text, plain, _members(plain, _start(plain, path)), at)
    return _checked(text, _with(before, path, kept), syntax)


def same_item(text: str, now: str, path: tuple[str, ...], own: IsOwn, syntax: Syntax) -> str:
    """Return the text with Brain's own value that another text has in the list at a path."""
    found = [each for each in _items(now, path, syntax) if own(each)]
    return set_item(text, path, found[0], own, syntax) if found else text


def _items(text: str, path: tuple[str, ...], syntax: Syntax) -> list[Any]:
    found = _at(parse_json(text, syntax), path)
    if found is not None and not isinstance(found, list):
        raise Refused(f"{path[-1]!r} is not a list.", "Fix the file, then try again.")
    return found or []


def _start(plain: str, path: tuple[str, ...]) -> int:
    """Return where the value at a path begins."""
    start = plain.index("{")
    for key in path:
        start = next(each.value for each in _members(plain, start) if each.key == key)
    return start


def _at(found: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        if not isinstance(found, dict):
            raise Refused(f"{key!r} is not in an object.", "Fix the file, then try again.")
        found = found.get(key)
        if found is None:
            return None
    return found


def _has(found: Any, value: Any) -> bool:
    """Return True if an entry says all of this. It may say more, such as a timeout."""
    if not isinstance(value, dict):
        return bool(found == value)
    return isinstance(found, dict) and all(found.get(key) == each for key, each in value.items())


def _with(found: dict[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    """Return a copy with another value at a path; None removes it."""
    key, rest = path[0], path[1:]
    if rest:
        return {**found, key: _with(found.get(key) or {}, rest, value)}
    if value is None:
        return {name: each for name, each in found.items() if name != key}
    return {**found, key: value}


def _checked(text: str, expected: Any, syntax: Syntax) -> str:
    if parse_json(text, syntax) != expected:
        raise Refused("It cannot be edited safely.", "Add Brain to it by hand.")
    return text


def _blank(text: str, syntax: Syntax) -> str:
    """Return the text with spaces in place of what JSON itself does not have."""

    def spaces(match: re.Match[str]) -> str:
        return match[0] if match[0].startswith('"') else re.sub(r"[^\n]", " ", match[0])

    if syntax.comments:
        text = _COMMENT.sub(spaces, text)
    return _TRAILING.sub(spaces, text) if syntax.trailing_commas else text


def _members(plain: str, start: int) -> list[Member]:
    """Return the members of the object that begins here, or the values of the list."""
    decoder, out = json.JSONDecoder(), []
    is_list = plain[start] == "["
    at = _skip(plain, start + 1)
    while plain[at] not in "]}":
        key, value = "", at
        if not is_list:
            key, end = decoder.raw_decode(plain, at)
            value = _skip(plain, _skip(plain, end) + 1)
        _, stop = decoder.raw_decode(plain, value)
        out.append(Member(key, at, value, stop))
        at = _skip(plain, stop)
        at = _skip(plain, at + 1) if plain[at] == "," else at
    return out


def _skip(plain: str, at: int) -> int:
    found = _SPACE.match(plain, at)
    return found.end() if found else at


def _add(text: str, plain: str, start: int, key: str | None, value: Any) -> str:
    """Return the text with a new last member in the object that begins at `start`, or with a new
    last value in the list there, without a key."""
    line = "\r\n" if "\r\n" in text else "\n"
    members = _members(plain, start)
    outer = _indent(text, start)
    unit = _unit(text)
    if not members:
        end = plain.index("}" if plain[start] == "{" else "]", start)
        at = len(text[:end].rstrip())  # behind a comment, if there is one
        own = _member(key, value, outer + unit, unit, line)
        return f"{text[:at]}{line}{own}{line}{outer}{text[end:]}"
    last = members[-1]
    after = _skip(_blank(text, Syntax(comments=True)), last.end)
    has_comma = text[after : after + 1] == ","
    if "\n" not in text[start : members[0].start]:  # all in one line
        at = after + 1 if has_comma else last.end
        compact = json.dumps([value] if key is None else {key: value}, ensure_ascii=False)[1:-1]
        return text[:at] + (" " if has_comma else ", ") + compact + text[at:]
    own = line + _member(key, value, _indent(text, last.start), unit, line)
    at = after + 1 if has_comma else last.end
    tail = text.find("\n", at)
    if tail < 0 or plain[at:tail].strip():
        tail = at
    elif text[tail - 1] == "\r":
        tail -= 1
    comma = "" if has_comma else ","
    return text[:at] + comma + text[at:tail] + own + text[tail:]


def _member(key: str | None, value: Any, indent: str, unit: str, line: str) -> str:
    whole = [value] if key is None else {key: value}
    shown = json.dumps(whole, ensure_ascii=False, indent=unit).split("\n")[1:-1]
    return line.join(indent + each.removeprefix(unit) for each in shown)


def _indent(text: str, at: int) -> str:
    """Return the white space that the line of this place begins with."""
    start = text.rfind("\n", 0, at) + 1
    line = text[start:]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "


# -- TOML ------------------------------------------------------------------------------------------


def parse_toml(text: str) -> dict[str, Any]:
    """Return what a text says. Raises Refused if it does not parse."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise Refused(f"It is not valid TOML: {error}.", "Fix the file, then try again.") from None


def set_toml(text: str, path: tuple[str, ...], value: dict[str, Any]) -> str:
    """Return the text with this table of texts and lists at the end."""
    before = parse_toml(text)
    if _has(_at(before, path), value):
        return text
    if _at(before, path) is not None:
        text = remove_toml(text, path)
    line = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text.strip() else line if text.endswith("\n") else line * 2
    rows = [f"{name} = {json.dumps(each, ensure_ascii=False)}" for name, each in value.items()]
    text += gap + line.join([f"[{'.'.join(path)}]", *rows, ""])
    return _checked_toml(text, _with(before, path, value))


def same_toml(text: str, now: str, path: tuple[str, ...]) -> str:
    """Return the text with the table that another text has at this path."""
    value = _at(parse_toml(now), path)
    return text if value is None else set_toml(text, path, value)


def remove_toml(text: str, path: tuple[str, ...]) -> str:
    """Return the text without this table and those in it."""
    before = parse_toml(text)
    if _at(before, path) is None:
        return text
    name = r"\s*\.\s*".join(f"[\"']?{re.escape(key)}[\"']?" for key in path)
    header = rf"(?:^\r?\n)?^[ \t]*\[\s*{name}\s*(?:\.[^\]]*)?\][^\n]*\n?"
    own = re.compile(rf"{header}(?:^[ \t]*[^\s#\[][^\n]*\n?)*", re.MULTILINE)
    rest = _with(before, path, None)
    for match in reversed(list(own.finditer(text))):
        without = text[: match.start()] + text[match.end() :]
        with suppress(tomllib.TOMLDecodeError):
            if _with(tomllib.loads(without.removeprefix("\ufeff")), path, None) == rest:
                text = without  # else it was part of a string
    return _checked_toml(text, rest)


def _checked_toml(text: str, expected: dict[str, Any]) -> str:
    found = parse_toml(text)
    if found != expected and {**found, "mcp_servers": found.get("mcp_servers", {})} != expected:
        raise Refused("It cannot be edited safely.", "Add Brain to it by hand.")
    return text


# -- Markdown --------------------------------------------------------------------------------------


def set_block(text: str, block: str) -> str:
    """Return the text with Brain's block at the end, or in its place if it has one."""
    own = f"{BEGIN}\n{block.strip()}\n{END}\n"
    if own in text:
        return text
    text = remove_block(text)
    gap = "" if not text.strip() else "\n" if text.endswith("\n") else "\n\n"
    return text + gap + own


def remove_block(text: str) -> str:
    """Return the text without Brain's block."""
    return re.sub(rf"\n?{re.escape(BEGIN)}.*?{re.escape(END)}\n?", "", text, flags=re.DOTALL)

"""Read brain.yaml, and edit one setting without changing other lines.

Keys are flat camelCase. The keys of a nested `memory:` block count as top-level keys. An unknown
key causes a warning, which names the most similar known key. A value of the wrong type raises
BadConfig with its line, because a setting such as `exclude` must not be ignored silently.

An edit keeps comments, blank lines, the order and the newlines. The edited text is parsed before it
is returned. If a setting other than the edited one differs, the edit is refused.
"""

from __future__ import annotations

import re

from brain import config
from brain._tuples import NamedTuple
from brain.config import SETTINGS, Config
from brain.errors import BadConfig, Refused
from brain.model import Applied, Configure, EditedFile, Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from brain.model import Change

NAME = "brain.yaml"
MAX_CHARS = 64_000
MUST_BE = {
    bool: "true or false",
    int: "a whole number above 0",
    float: "a number of 0 or more",
    tuple: "a list of words",
}
_BOM = "\ufeff"
_ITEM = re.compile(r"[ \t]*- +")


def parse(text: str) -> tuple[Config, list[Problem]]:
    """Return the settings in a brain.yaml, and warnings about unknown keys.

    Raise BadConfig, with the line, if the text is not YAML or a value is not valid.
    """
    set_lines = [line for line in text.split("\n") if line.strip() and line.lstrip()[0] != "#"]
    if not set_lines:
        return config.DEFAULTS, []
    # most vaults set only their id; this avoids PyYAML, which takes long to load
    if len(set_lines) == 1 and (id := re.fullmatch(r"vaultId: (v-[0-9a-z]+)", set_lines[0])):
        return config.DEFAULTS._replace(vaultId=id[1]), []
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for name, node in _pairs(_compose(text)):
        key, line = str(name.value), name.start_mark.line + 1
        if key not in SETTINGS:
            message = f"unknown setting {key!r}. {config.nearest(key)}"
            problems.append(Problem(line, "unknown-setting", message))
            continue
        if key in values:
            problems.append(Problem(line, "duplicate-setting", f"sets {key} a second time"))
        if not _is_null(node):
            values[key] = _checked_value(key, node, line)
    return Config(**values), problems


def _compose(text: str) -> Any:
    """Return the YAML node of the settings; None if the text has no settings. Raise BadConfig if
    the text is not a YAML mapping."""
    import yaml

    from brain.formats.frontmatter import MAX_DEPTH, bracket_depth

    if len(text) > MAX_CHARS:
        raise BadConfig(f"{NAME} is over {MAX_CHARS:,} characters.", "Shorten it.")
    if bracket_depth(text) > MAX_DEPTH:  # the time of PyYAML is quadratic in the depth
        raise BadConfig(f"{NAME} is nested too deeply.", "See `brain config`.")
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except RecursionError:
        raise BadConfig(f"{NAME} is nested too deeply.", "See `brain config`.") from None
    except yaml.YAMLError as error:
        raise _not_yaml(text, error) from None
    if root is None or _is_null(root):
        return None
    if not isinstance(root, yaml.MappingNode):
        raise BadConfig(
            f"{NAME} line {root.start_mark.line + 1} must be a `key: value` line.",
            "See `brain config` for the keys.",
        )
    return root


def _pairs(root: Any) -> list[tuple[Any, Any]]:
    """Return the nodes (key, value) of each setting, including settings in a `memory:` block."""
    found: list[tuple[Any, Any]] = []
    for key, node in root.value if root else ():
        found += node.value if _is_block(key, node) else [(key, node)]
    return found


def _is_block(key: Any, node: Any) -> bool:
    """Return True for a block `memory:` of settings, False for the setting `memory: true`."""
    return bool(key.value == "memory" and node.id == "mapping")


def _is_null(node: Any) -> bool:
    """Return True for `key:` without a value, which stands for the default."""
    return bool(node.tag == "tag:yaml.org,2002:null")


def _not_yaml(text: str, error: Any) -> BadConfig:
    if reason := getattr(error, "reason", None):  # a character that YAML forbids
        problem, line = reason, text.count("\n", 0, error.position)
    else:
        # PyYAML reports a line without a colon as an error in the next line
        is_incomplete = "simple key" in (error.context or "")
        problem, line = (
            error.problem,
            (error.context_mark if is_incomplete else error.problem_mark).line,
        )
    line = min(line, text.rstrip().count("\n")) + 1
    return BadConfig(
        f"{NAME} line {line} is not YAML: {problem}.",
        "Correct the line. Globs need quotes.",
    )


def _checked_value(key: str, node: Any, line: int) -> Any:
    """Return a value with the type of its setting. Raise BadConfig if it is not valid."""
    wanted, spec = config.default(key), SETTINGS[key]
    try:
        if spec.mapping and node.id == "mapping":
            return _mapping_value(key, node)
        value = _convert(node, wanted)
    except (ValueError, KeyError):
        raise _invalid_value(key, node, line, MUST_BE.get(type(wanted), "a word")) from None
    for item in [node] if isinstance(node.value, str) else node.value:
        line = line if item is node else item.start_mark.line + 1
        if spec.choices and item.value not in spec.choices:
            raise _invalid_value(key, item, line, f"one of {', '.join(spec.choices)}")
        if spec.fits and not spec.fits(item.value):
            raise _invalid_value(key, item, line, spec.must)
    return value


def _mapping_value(key: str, node: Any) -> tuple[str, ...]:
    """Return a mapping as a tuple of texts `name=value`. Raise ValueError if a name or value is not
    a scalar, and BadConfig if the setting does not allow a pair."""
    pairs = []
    for name, value in node.value:
        pairs.append(f"{_word(name)}={_word(value)}")
        if "=" in name.value or not SETTINGS[key].fits(pairs[-1]):  # type: ignore[misc]
            raise _invalid_value(key, value, value.start_mark.line + 1, SETTINGS[key].must)
    return tuple(pairs)


def _invalid_value(key: str, node: Any, line: int, must: str) -> BadConfig:
    found = f", not {node.value!r}" if isinstance(node.value, str) else ""
    return BadConfig(
        f"{NAME} line {line}: {key} must be {must}{found}.",
        "Fix the line, or delete it to use the default.",
    )


def _convert(node: Any, wanted: Any) -> Any:
    """Return the value of a node in the type of `wanted`. Raise ValueError or KeyError if the node
    has another type."""
    if isinstance(wanted, tuple):
        return tuple(map(_word, [node] if isinstance(node.value, str) else node.value))
    word = _word(node)
    if isinstance(wanted, bool):
        return {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}[
            word.casefold()
        ]
    if isinstance(wanted, int | float):
        number = type(wanted)(word)
        if not (1 if isinstance(wanted, int) else 0) <= number < float("inf"):
            raise ValueError
        return number
    return word


def _word(node: Any) -> str:
    """Return the text of a plain value. Raise ValueError for a list or a block."""
    value = getattr(node, "value", None)  # a mapping contains pairs, which have no `value`
    if not isinstance(value, str):
        raise ValueError
    return value


# -- edits -----------------------------------------------------------------------------------------


class _Place(NamedTuple):
    """The place of a setting in a text. All but `node` and `line` are offsets."""

    key: int
    after_colon: int
    node: Any  # the YAML node of the value
    end: int  # the end of the value
    line: int  # the line of the key


def edit(path: str, data: bytes, changes: Sequence[Change]) -> EditedFile:
    """Apply changes to brain.yaml in order. Return the new bytes, and the result of each change."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused(f"{path} is not UTF-8.", "Save it as UTF-8.") from None
    done = []
    for change in changes:
        if not isinstance(change, Configure):
            raise Refused(
                f"Brain does not write entries into {path}.", "It contains only settings."
            )
        text, outcome, before = _apply(text, change)
        done.append(Applied(change, outcome, before, lines_of(text, change.ref)))
    return EditedFile(text.encode("utf-8"), tuple(done))


def _apply(text: str, change: Configure) -> tuple[str, str, str]:
    """Return the new text, the outcome, and the old lines of the setting.

    The outcome is `changed` if the setting has neither the new nor the expected value.
    """
    current, before = getattr(_parse(_split_bom(text)[1]), change.ref), lines_of(text, change.ref)
    is_removal = change.value is None
    is_done = not before if is_removal else current == change.value
    if is_done:
        return text, "already", before
    if current != change.expect:
        return text, "changed", before
    text = (
        remove(text, change.ref)
        if is_removal
        else put(text, change.ref, change.value, change.lines)
    )
    return text, "done", before


def put(text: str, key: str, value: Any, lines: str = "") -> str:
    """Return the text with the setting `key` set to `value`.

    If `lines` set the key to the same value, they are inserted as they are. Raise Refused, with the
    line, if the text cannot be edited safely.
    """
    bom, text = _split_bom(text)
    place = _find(text, key)
    if place is None:
        candidates = [
            _with_line_after_comment(text, key, value),
            _with_line_at_end(text, key, value),
        ]
    elif isinstance(value, tuple) and _is_block_list(text, place.node):
        candidates = [_with_list(text, place.node.value, value)]
    else:
        candidates = [_with_value(text, place, config.to_yaml(value))]
    if place and lines:
        start, end = _line(text, place.key)[0], _line(text, place.end)[1]
        last = re.search(r"\r?\n?\Z", text[start:end])
        candidates.insert(0, text[:start] + lines + (last[0] if last else "") + text[end:])
    expected = _parse(text)._replace(**{key: value})
    return bom + _first_valid([new for new in candidates if new], expected, place)


def remove(text: str, key: str) -> str:
    """Return the text without a setting. Comments between the lines of the setting are kept."""
    bom, text = _split_bom(text)
    place = _find(text, key)
    if place is None:
        return bom + text
    start, end = _line(text, place.key)[0], _line(text, place.end)[1]
    lines = re.findall(r"[^\n]*\n|[^\n]+", text[start:end])
    comments = "".join(line for line in lines if line.lstrip().startswith("#"))
    expected = _parse(text)._replace(**{key: config.default(key)})
    return bom + _first_valid([text[:start] + comments + text[end:]], expected, place)


def lines_of(text: str, key: str) -> str:
    """Return the lines of a setting; '' if it is not set."""
    text = _split_bom(text)[1]
    place = _find(text, key)
    if place is None:
        return ""
    return text[_line(text, place.key)[0] : _line(text, place.end)[1]].rstrip("\r\n")


def _split_bom(text: str) -> tuple[str, str]:
    return (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)


def _first_valid(candidates: Sequence[str], expected: Config, place: _Place | None) -> str:
    """Return the first candidate that has the expected settings. Raise Refused if none has them."""
    for new in candidates:
        try:
            if parse(new)[0] == expected:
                return new
        except BadConfig:
            continue
    where = f" line {place.line}" if place else ""
    raise Refused(f"{NAME}{where} is written in a way that Brain cannot edit.", "Edit it by hand.")


def _parse(text: str) -> Config:
    try:
        return parse(text)[0]
    except BadConfig as error:
        raise Refused(error.message, error.remedy) from None


def _find(text: str, key: str) -> _Place | None:
    """Return the place of a setting; None if it is not set. Raise Refused if it is set twice."""
    try:
        root = _compose(text)
    except BadConfig as error:
        raise Refused(error.message, error.remedy) from None
    if root is None:
        return None
    _refuse_unsupported(text, root)
    found = [pair for pair in _pairs(root) if pair[0].value == key]
    if not found:
        return None
    name, node = found[0]
    if len(found) > 1:
        line = found[1][0].start_mark.line + 1
        raise Refused(f"{NAME} line {line} sets {key} a second time.", "Delete one of them.")
    after_colon = text.index(":", name.end_mark.index) + 1
    last = node  # PyYAML ends a block at the next key, so find the last word of the block
    while last.id != "scalar" and last.value and not last.flow_style:
        last = last.value[-1] if last.id == "sequence" else last.value[-1][1]
    end = max(after_colon, len(text[: last.end_mark.index].rstrip()))
    return _Place(name.start_mark.index, after_colon, node, end, name.start_mark.line + 1)


def _refuse_unsupported(text: str, root: Any) -> None:
    import yaml

    nested = [node for key, node in root.value if _is_block(key, node)]
    if any(node.flow_style for node in (root, *nested)):
        raise Refused(
            f"{NAME} has its settings in braces, which Brain does not edit.",
            "Write one `key: value` per line.",
        )
    for token in yaml.scan(text, Loader=yaml.SafeLoader):
        if isinstance(token, yaml.AnchorToken | yaml.AliasToken | yaml.TagToken):
            line = token.start_mark.line + 1
            raise Refused(
                f"{NAME} line {line} contains an anchor or a tag, which Brain does not edit.",
                "Write the value itself.",
            )


def _line(text: str, offset: int) -> tuple[int, int]:
    """Return the start and end of the line that contains an offset, including its newline."""
    end = text.find("\n", offset)
    return text.rfind("\n", 0, offset) + 1, len(text) if end < 0 else end + 1


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _with_value(text: str, place: _Place, value: str) -> str:
    """Return the text with another value. A comment after the value is kept."""
    old = text[place.after_colon : place.end]
    if "\n" in old and "#" in old:
        raise Refused(
            f"{NAME} line {place.line}: there may be a comment inside this value.",
            "Write it on one line, or edit it by hand.",
        )
    return f"{text[: place.after_colon]} {value}{text[place.end :]}"


def _is_block_list(text: str, node: Any) -> bool:
    """Return True for a list with one `- word` per line."""
    if node.id != "sequence" or node.flow_style or not node.value:
        return False
    starts = [item.start_mark.index for item in node.value]
    leads = [text[_line(text, start)[0] : start] for start in starts]
    return all(map(_ITEM.fullmatch, leads)) and all(
        item.id == "scalar" and item.start_mark.line == item.end_mark.line for item in node.value
    )


def _with_list(text: str, items: list[Any], value: tuple[str, ...]) -> str:
    """Return the text with the words of `value` as the items of a list.

    The lines of removed items are removed, and new items are added after the last one. If the other
    items are not in the order of `value`, the items are replaced in their lines.
    """
    words = [item.value for item in items]
    is_kept = [word in value for word in words]
    if tuple(word for word, keep in zip(words, is_kept, strict=True) if keep) != value:
        is_kept = [index < len(value) for index in range(len(words))]
    new = iter(value)
    pairs = [(item, next(new) if keep else None) for item, keep in zip(items, is_kept, strict=True)]
    if added := list(new):  # in the style of the last item
        start, end = _line(text, items[-1].start_mark.index)
        lead, newline = text[start : items[-1].start_mark.index], _newline(text)
        gap = "" if text[:end].endswith("\n") else newline
        lines = "".join(f"{lead}{_quoted(word)}{newline}" for word in added)
        text = text[:end] + gap + lines + text[end:]
    for item, word in reversed(pairs):
        start, end = item.start_mark.index, item.end_mark.index
        if word is None:
            start, end = _line(text, start)
            text = text[:start] + text[end:]
        elif word != item.value:
            text = text[:start] + _quoted(word) + text[end:]
    return text


def _quoted(word: str) -> str:
    return config.to_yaml((word,))[1:-1]


def _with_line_after_comment(text: str, key: str, value: Any) -> str:
    """Return the text with the setting after the line `# key: …` that `brain init` writes; '' if
    the text does not have exactly one such line."""
    found = list(re.finditer(rf"(?m)^# {re.escape(key)}:.*\n", text))
    if len(found) != 1:
        return ""
    offset = found[0].end()
    return f"{text[:offset]}{key}: {config.to_yaml(value)}{_newline(text)}{text[offset:]}"


def _with_line_at_end(text: str, key: str, value: Any) -> str:
    gap = _newline(text) if text and not text.endswith("\n") else ""
    return f"{text}{gap}{key}: {config.to_yaml(value)}{_newline(text)}"

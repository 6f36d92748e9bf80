"""Patterns of ignore files, and globs of the settings. This module does not read files."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from itertools import groupby

from brain._tuples import NamedTuple

# Patterns are compiled when they are first used, because most vaults need none of them.
LITERAL = r"[^*?\[\\]*"
_ITEM = r"(?:\\.|[^\\\]])(?:-(?:\\.|[^\\\]]))?"
TOKEN = (
    r"(?s)\\(?P<escaped>.)"
    r"|(?P<deep>(?:\A|(?<=/))\*\*+(?:/|\Z|(?=\\/)))"
    r"|(?P<star>\*+)"
    r"|(?P<one>\?)"
    rf"|\[(?P<negated>[!^]?+)(?P<members>(?:\](?:-(?:\\.|[^\\\]]))?)?+(?:\[:[^\]]*:\]|{_ITEM})*+)\]"
    r"|(?P<invalid>[\\\[])"
    r"|(?P<plain>[^*?\[\\]+)"
)
MEMBER = r"(?s)\[:([^\]]*):\]|\\?(.)(?:-\\?(.))?"
CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": r"\x21-\x7e",
    "lower": "a-z",
    "print": r"\x20-\x7e",
    "punct": r"\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e",
    "space": r" \t\n\r",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}
STAR, FOLDERS, ANYTHING = "[^/]*", "(?:.*/)?", ".*"
LAZY = {STAR: "[^/]*?", FOLDERS: "(?:.*?/)??", ANYTHING: ".*?"}


class Pattern(NamedTuple):
    """A line of an ignore file. `body` is the line without `!` and without outer slashes."""

    body: str
    ignore: bool
    folders_only: bool
    anchored: bool


class Run(NamedTuple):
    """Successive patterns with the same verdict: True to ignore a file, False to include it again.
    The order of these patterns does not matter."""

    verdict: bool
    names: frozenset[str]
    endings: tuple[str, ...]
    paths: dict[str, set[str]]  # folder to names
    roots: tuple[str, ...]  # `wild` matches only in these folders
    wild: Callable[[str], object]

    def hits(self, folder: str, names: Collection[str]) -> set[str]:
        """Return the names in `folder` ("" or "a/b/") that a pattern matches."""
        found = set(self.names.intersection(names))
        if self.endings:
            found.update([n for n in names if n.endswith(self.endings)])
        if folder in self.paths:
            found.update(self.paths[folder].intersection(names))
        if folder.startswith(self.roots):
            found.update([n for n in names if self.wild(folder + n)])
        return found


class Rules(NamedTuple):
    """A compiled ignore file. The last run comes first, because the last matching line decides."""

    files: tuple[Run, ...]
    folders: tuple[Run, ...]


Chain = tuple[tuple[str, Rules], ...]


def parse(text: str) -> Rules | None:
    """Parse a `.gitignore` or `.secretsignore`. Return None if it has no pattern. Never raises.

    The rules are the same as in git on Linux: case matters, and a malformed pattern matches
    nothing. The only difference is that `?` and `[…]` match a character, where git matches a byte.
    """
    lines = text.removeprefix("\ufeff").split("\n")
    patterns = [p for line in lines if (p := _parse_line(line.removesuffix("\r")))]
    if not patterns:
        return None
    return Rules(_runs(p for p in patterns if not p.folders_only), _runs(patterns))


def ignored_names(
    chain: Chain, folder: str, names: Collection[str], is_dir: bool = False
) -> set[str]:
    """Return the names in `folder` ("" or "a/b/") that the ignore files in it or above it exclude.
    The deepest file with a matching pattern decides.

    `chain` contains the ignore files from shallow to deep, each with the path of its folder. All of
    these folders must be `folder` or contain it. The folders above a name are not checked: the
    caller must not enter an ignored folder.
    """
    out: set[str] = set()
    for prefix, rules in reversed(chain):
        relative = folder[len(prefix) :]
        for run in rules.folders if is_dir else rules.files:
            if hits := run.hits(relative, names):
                names = [n for n in names if n not in hits]
                out.update(hits if run.verdict else ())
    return out


def globs(patterns: Iterable[str]) -> re.Pattern[str] | None:
    """Compile globs of the settings to one regex, for `.match(path)` on a path in the vault. Return
    None if no glob can match. Never raises.

    The wildcards are those of gitignore, and a glob without a slash matches at any depth. A glob
    that ends in a plain name or a slash also matches everything in that folder: `Templates`,
    `Templates/`.
    """
    parsed = (_pattern(text.strip().removeprefix("./"), True) for text in patterns)
    return _union([p for p in parsed if p], with_content=True)


def _parse_line(line: str) -> Pattern | None:
    if not line or line[0] == "#":
        return None
    text = line.rstrip(" ")
    if text != line and (len(text) - len(text.rstrip("\\"))) % 2:
        text += " "  # the space after a backslash counts
    return _pattern(text[1:], False) if text[:1] == "!" else _pattern(text, True)


def _pattern(text: str, ignore: bool) -> Pattern | None:
    body = text.removesuffix("/")
    folders_only = body != text
    if body.startswith("**/") and "/" not in body[3:]:
        body = body[3:]  # `**/x` means `x`, and a plain name needs no regex
    anchored = "/" in body
    return Pattern(body.removeprefix("/"), ignore, folders_only, anchored) if body else None


def _runs(patterns: Iterable[Pattern]) -> tuple[Run, ...]:
    runs = [_compile_run(verdict, run) for verdict, run in groupby(patterns, lambda p: p.ignore)]
    return tuple(reversed(runs))


def _compile_run(verdict: bool, patterns: Iterable[Pattern]) -> Run:
    """Return a run of patterns. Plain names, plain paths and `*.ext` are matched without a
    regex."""
    names: set[str] = set()
    endings: list[str] = []
    paths: dict[str, set[str]] = {}
    wild: list[Pattern] = []
    for p in patterns:
        if not re.fullmatch(LITERAL, p.body):
            ending = not p.anchored and p.body[0] == "*" and re.fullmatch(LITERAL, p.body[1:])
            endings.append(p.body[1:]) if ending else wild.append(p)
        elif p.anchored:
            folder, slash, name = p.body.rpartition("/")
            paths.setdefault(folder + slash, set()).add(name)
        else:
            names.add(p.body)
    regex = _union(wild)
    roots = tuple({_root(p) for p in wild}) if regex else ()
    match = regex.match if regex else bool
    return Run(verdict, frozenset(names), tuple(endings), paths, roots, match)


def _root(pattern: Pattern) -> str:
    head = re.match(LITERAL, pattern.body) if pattern.anchored else None
    return head[0][: head[0].rfind("/") + 1] if head else ""


def _union(patterns: list[Pattern], with_content: bool = False) -> re.Pattern[str] | None:
    """Return one regex for all patterns; None if no pattern is valid. If `with_content`, the regex
    also matches everything in a matching folder."""
    names: list[str] = []
    sources: list[str] = []
    for p in patterns:
        source = _regex(p.body)
        if source is not None:
            (sources if p.anchored else names).append(
                source + (_content_suffix(p) if with_content else "")
            )
    if names:
        # without content, a name is the last part of the path, so `+` may prevent backtracking
        sources.append(f"{FOLDERS}{'' if with_content else '+'}(?:{'|'.join(names)})")
    return re.compile(f"(?s:{'|'.join(sources)})\\Z") if sources else None


def _content_suffix(pattern: Pattern) -> str:
    if pattern.folders_only:
        return "/.+"
    return "(?:/.+)?" if re.fullmatch(LITERAL, pattern.body.rpartition("/")[2]) else ""


def _regex(body: str) -> str | None:
    """Return a pattern as a regex that does not backtrack from star to star. Return None if the
    pattern matches nothing.

    As in git, a `**` directly after the literal beginning needs no slash before it.
    """
    literal = re.match(LITERAL, body)
    head = literal[0] if literal else ""
    out, star, deep = [re.escape(head)], 0, 0
    for token in re.finditer(TOKEN, body[len(head) :]):
        if token["star"]:
            star = _append_wildcard(out, star, STAR)
        elif token["deep"]:
            star, deep = (
                0,
                _append_wildcard(out, deep, FOLDERS if token[0][-1] == "/" else ANYTHING),
            )
        elif (piece := _piece(token)) is None:
            return None
        else:
            out.append(piece)
            star = 0 if "/" in token[0] else star
    return "".join(out)


def _append_wildcard(out: list[str], previous: int, wildcard: str) -> int:
    """Append a wildcard and return its index. Make the wildcard at index `previous` atomic: it
    never has to match more, because the new one matches any text after it."""
    if previous:
        out[previous:] = [f"(?>{LAZY[out[previous]]}{''.join(out[previous + 1 :])})"]
    out.append(wildcard)
    return len(out) - 1


def _piece(token: re.Match[str]) -> str | None:
    if token["one"]:
        return "[^/]"
    if token["members"]:
        members = _members(token["members"])
        return members and (f"[^/{members}]" if token["negated"] else f"(?!/)[{members}]")
    return None if token["invalid"] else re.escape(token["escaped"] or token["plain"])


def _members(text: str) -> str | None:
    members = []
    for name, low, high in re.findall(MEMBER, text):
        if low:  # in a reversed range, git matches only the first character
            members.append(re.escape(low) + (f"-{re.escape(high)}" if high > low else ""))
        elif name in CLASSES:
            members.append(CLASSES[name])
        else:
            return None
    return "".join(members)

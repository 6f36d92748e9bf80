"""Ignore files and globs: patterns of the files that are not indexed. Nothing is read here."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from itertools import groupby

from brain._tuples import NamedTuple

# Kept as text: most vaults need none of these, and `re` compiles each once, when it is first used.
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
    """One line of an ignore file; `body` has neither `!` nor outer slashes."""

    body: str
    ignore: bool
    folders_only: bool
    anchored: bool


class Run(NamedTuple):
    """Neighbouring patterns of one verdict, among which order does not matter."""

    verdict: bool
    names: frozenset[str]
    endings: tuple[str, ...]
    paths: dict[str, set[str]]  # folder to names
    roots: tuple[str, ...]  # outside of these folders `wild` matches nothing
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
    """A compiled ignore file; its last run comes first, since the last matching line decides."""

    files: tuple[Run, ...]
    folders: tuple[Run, ...]


Chain = tuple[tuple[str, Rules], ...]


def parse(text: str) -> Rules | None:
    """The rules of a `.gitignore` or `.secretsignore`; None when it has no pattern. Never raises.

    Read as git on Linux reads it, case-sensitive, except that `?` and `[…]` match a character
    where git matches a byte. A malformed pattern matches nothing, as in git.
    """
    lines = text.removeprefix("\ufeff").split("\n")
    patterns = [p for line in lines if (p := _line(line.removesuffix("\r")))]
    if not patterns:
        return None
    return Rules(_runs(p for p in patterns if not p.folders_only), _runs(patterns))


def ignored_names(
    chain: Chain, folder: str, names: Collection[str], is_dir: bool = False
) -> set[str]:
    """Those of the names in `folder` ("" or "a/b/") that the ignore files on the way to it exclude;
    the deepest that speaks decides.

    `chain` goes from shallow to deep, each with the path of its folder. `folder` must be inside
    every one of them. Only the names are judged: that the content of an ignored folder is ignored
    too is up to the walker, which does not enter it.
    """
    out: set[str] = set()
    for prefix, rules in reversed(chain):
        inside = folder[len(prefix) :]
        for run in rules.folders if is_dir else rules.files:
            if hits := run.hits(inside, names):
                names = [n for n in names if n not in hits]
                out.update(hits if run.verdict else ())
    return out


def globs(patterns: Iterable[str]) -> re.Pattern[str] | None:
    """One regex for what any of these globs of the settings matches, for `.match(path)` on a
    vault-relative path; None when none of them can match. Never raises.

    The wildcards are gitignore's, and a glob without a slash matches at any depth. One that ends
    in a plain name or a slash also means all that is in that folder: `Templates`, `Templates/`.
    """
    parsed = (_pattern(text.strip().removeprefix("./"), True) for text in patterns)
    return _union([p for p in parsed if p], inside=True)


def _line(line: str) -> Pattern | None:
    if not line or line[0] == "#":
        return None
    text = line.rstrip(" ")
    if text != line and (len(text) - len(text.rstrip("\\"))) % 2:
        text += " "  # a backslash keeps this one
    return _pattern(text[1:], False) if text[:1] == "!" else _pattern(text, True)


def _pattern(text: str, ignore: bool) -> Pattern | None:
    body = text.removesuffix("/")
    folders_only = body != text
    if body.startswith("**/") and "/" not in body[3:]:
        body = body[3:]  # `**/x` means `x`, and for a plain name no regex is needed
    anchored = "/" in body
    return Pattern(body.removeprefix("/"), ignore, folders_only, anchored) if body else None


def _runs(patterns: Iterable[Pattern]) -> tuple[Run, ...]:
    runs = [_run(verdict, run) for verdict, run in groupby(patterns, lambda p: p.ignore)]
    return tuple(reversed(runs))


def _run(verdict: bool, patterns: Iterable[Pattern]) -> Run:
    """Plain names, `*.ext` and plain paths without a regex; one regex for whatever is left."""
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


def _union(patterns: list[Pattern], inside: bool = False) -> re.Pattern[str] | None:
    """One regex for any of the patterns; with `inside`, also for what is in a folder so named."""
    names: list[str] = []
    found: list[str] = []
    for p in patterns:
        source = _source(p.body)
        if source is not None:
            (found if p.anchored else names).append(source + (_inside(p) if inside else ""))
    if names:
        # without `inside` a name is the last part of the path, so this never has to try again
        found.append(f"{FOLDERS}{'' if inside else '+'}(?:{'|'.join(names)})")
    return re.compile(f"(?s:{'|'.join(found)})\\Z") if found else None


def _inside(pattern: Pattern) -> str:
    if pattern.folders_only:
        return "/.+"
    return "(?:/.+)?" if re.fullmatch(LITERAL, pattern.body.rpartition("/")[2]) else ""


def _source(body: str) -> str | None:
    """The pattern as a regex that does not backtrack from star to star; None: matches nothing.

    As in git, a `**` right after the literal beginning is special without a slash before it.
    """
    literal = re.match(LITERAL, body)
    head = literal[0] if literal else ""
    out, star, deep = [re.escape(head)], 0, 0
    for token in re.finditer(TOKEN, body[len(head) :]):
        if token["star"]:
            star = _wildcard(out, star, STAR)
        elif token["deep"]:
            star, deep = 0, _wildcard(out, deep, FOLDERS if token[0][-1] == "/" else ANYTHING)
        elif (piece := _piece(token)) is None:
            return None
        else:
            out.append(piece)
            star = 0 if "/" in token[0] else star
    return "".join(out)


def _wildcard(out: list[str], before: int, wildcard: str) -> int:
    """Append a wildcard; the one at `before` need not try again, for this one takes any rest."""
    if before:
        out[before:] = [f"(?>{LAZY[out[before]]}{''.join(out[before + 1 :])})"]
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
    found = []
    for name, low, high in re.findall(MEMBER, text):
        if low:  # of a range upside down git matches the first
            found.append(re.escape(low) + (f"-{re.escape(high)}" if high > low else ""))
        elif name in CLASSES:
            found.append(CLASSES[name])
        else:
            return None
    return "".join(found)

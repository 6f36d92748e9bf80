"""Ignore files mean what git says they mean."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from brain.vault.ignore import (
    Chain,
    Rules,
    globs,
    ignored_names,
    parse,
)


def verdict_of(rules: Rules, path: str, is_dir: bool) -> bool | None:
    """True: ignored, False: re-included, None: no line matches."""
    at = path.rfind("/") + 1
    folder, name = path[:at], (path[at:],)
    runs = rules.folders if is_dir else rules.files
    return next((run.verdict for run in runs if run.hits(folder, name)), None)


@pytest.mark.parametrize(
    "text", ["", "\n\n", "# a comment\n", "   \n", "/\n!\n", "\ufeff# x\r\n\r\n"]
)
def test_a_file_without_patterns_is_none(text: str) -> None:
    assert parse(text) is None


@pytest.mark.parametrize(
    ("text", "path", "is_dir", "verdict"),
    [
        ("secret.md", "secret.md", False, True),
        ("secret.md", "deep/down/secret.md", False, True),
        ("secret.md", "secret.md.bak", False, None),
        ("Secret.md", "secret.md", False, None),
        ("\ufeffa.md\r\nb.md", "a.md", False, True),
        ("/top.md", "top.md", False, True),
        ("/top.md", "a/top.md", False, None),
        ("a/b.md", "a/b.md", False, True),
        ("a/b.md", "x/a/b.md", False, None),
        ("build/", "build", True, True),
        ("build/", "build", False, None),
        ("build/", "x/build", True, True),
        ("*.log", "x/y.log", False, True),
        ("*", "anything", False, True),
        ("a*c", "abbc", False, True),
        ("a*c", "ab/c", False, None),
        ("x/*.md", "x/a.md", False, True),
        ("x/*.md", "x/y/a.md", False, None),
        ("n?te.md", "note.md", False, True),
        ("n?te.md", "nöte.md", False, True),
        ("[a-c].md", "b.md", False, True),
        ("[!a-c].md", "b.md", False, None),
        ("[^a-c].md", "d.md", False, True),
        ("[[:digit:]]*.md", "1st.md", False, True),
        ("**/old", "old", True, True),
        ("**/old/x.md", "a/b/old/x.md", False, True),
        ("x/**", "x/y/z.md", False, True),
        ("x/**", "x", True, None),
        ("a/**/b", "a/b", False, True),
        ("a/**/b", "a/x/y/b", False, True),
        ("a/**/b", "ab", False, None),
        ("trailing.md   ", "trailing.md", False, True),
        ("kept\\ ", "kept ", False, True),
        ("\\#tag.md", "#tag.md", False, True),
        ("\\!bang.md", "!bang.md", False, True),
        ("*.md\n!keep.md", "keep.md", False, False),
        ("*.md\n!keep.md\nkeep.md", "keep.md", False, True),
        ("!keep.md\n*.md", "keep.md", False, True),
        ("[", "[", False, None),
        ("a\\", "a\\", False, None),
        ("[z-a]x", "zx", False, True),
        ("[[:nonsense:]]", "n", False, None),
    ],
)
def test_a_line_of_an_ignore_file(text: str, path: str, is_dir: bool, verdict: bool | None) -> None:
    rules = parse(text)
    assert rules
    assert verdict_of(rules, path, is_dir) is verdict


def test_the_deeper_ignore_file_wins() -> None:
    outer, inner = parse("*.md\n"), parse("!keep.md\n")
    assert outer
    assert inner
    chain: Chain = (("", outer), ("notes/", inner))
    assert ignored_names(chain, "notes/", ["keep.md", "other.md"]) == {"other.md"}
    assert ignored_names((), "notes/", ["keep.md", "other.md"]) == set()


def test_many_stars_do_not_hang() -> None:
    rules = parse("*a*a*a*a*a*a*a*a*a*b\n/**/a/**/a/**/a/**/a/**/a/**/a/**/c\n")
    assert rules
    assert verdict_of(rules, "a" * 255, False) is None
    assert verdict_of(rules, "a/" * 500 + "b", False) is None


# -- the same answers as git --------------------------------------------------------------------

NAMES = ("a", "b", "ab", "a.md", "b.md", "#a", "!b", "a b", "é", "a]", "-", "\\", "B")
FOLDERS = ("", "a/", "a/b/", "a/b/ab/", "ab/", "ab/a/", "ab/a/b/", "é/", "b/")
TREE = {folder: [folder + name for name in NAMES] for folder in FOLDERS}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git repository with TREE in it; the tests write its ignore files."""
    root = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", root], check=True)
    for folder in FOLDERS:
        (root / folder).mkdir(exist_ok=True)
        for path in TREE[folder]:
            if path + "/" not in TREE:
                (root / path).touch()
    return root


def according_to_git(root: Path, paths: list[str]) -> set[str]:
    asked = subprocess.run(
        ["git", "-c", "core.excludesFile=", "check-ignore", "--no-index", "-z", "--stdin"],
        cwd=root,
        input="\0".join(paths).encode(),
        capture_output=True,
        check=False,
    )
    assert asked.returncode in (0, 1), asked.stderr
    return set(asked.stdout.decode().split("\0")) - {""}


def according_to_us(files: dict[str, str], folder: str = "", chain: Chain = ()) -> Iterator[str]:
    """The ignored paths; an ignored folder is not entered, all in it is ignored."""
    if rules := parse(files.get(folder, "")):
        chain = (*chain, (folder, rules))
    names = [n for n in NAMES if folder + n + "/" not in TREE]
    out = ignored_names(chain, folder, names)
    out |= ignored_names(chain, folder, set(NAMES) - set(names), is_dir=True)
    for path in TREE[folder]:
        below, name = path + "/", path.removeprefix(folder)
        alone = ignored_names(chain, folder, [name], is_dir=below in TREE)
        assert alone == {name} & out
        if name in out:
            yield path
            yield from (p for paths in TREE.values() for p in paths if p.startswith(below))
        elif below in TREE:
            yield from according_to_us(files, below, chain)


ODD = (
    r"a b ab .md * ** *** / / **/ /** /**/ ? [ab] [!a] [^b] [a-b] [b-a] []a] [!]a] [--a] [\]-b] "
    r"[a/] [[:alpha:]] [[:upper:]-] [[:no:]] [[:a] [a- [ ] \ \a \* \\ \/ - ! # é B"
)
PIECES = st.sampled_from([*ODD.split(), " ", "\\ "])
LINES = st.tuples(
    st.sampled_from(["", "", "", "!", "!", "/", "#", "\\!", "\\#", "**/", " "]),
    st.lists(PIECES, max_size=6).map("".join),
    st.sampled_from(["", "", "", "/", " ", "  ", "\\ ", "\r", "/**", "*"]),
).map("".join)
TEXTS = st.lists(LINES, max_size=6).map("\n".join)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@example({"": "/ab**/b\n"})
@example({"": "/a**\n!/a**/\n"})
@example({"": "a/**/b/**/ab\n**/**/a\n"})
@example({"": "*\n!*/\n!*.md", "a/": "*.md\n!b.md", "a/b/": "!*"})
@example({"": "a*b*\n*a*b*.md\n"})
@given(st.dictionaries(st.sampled_from(FOLDERS[:6]), TEXTS, min_size=1))
def test_git_agrees(repository: Path, files: dict[str, str]) -> None:
    for folder in FOLDERS:
        (repository / folder / ".gitignore").write_bytes(files.get(folder, "").encode())
    # `?` and `[` are a byte to git and a character to us
    bytewise = any("?" in text or "[" in text for text in files.values())
    asked = {p for paths in TREE.values() for p in paths if not (bytewise and "é" in p)}
    assert asked & set(according_to_us(files)) == according_to_git(repository, sorted(asked))


@settings(deadline=None)
@given(st.text() | TEXTS)
def test_no_text_raises(text: str) -> None:
    if rules := parse(text):
        verdict_of(rules, "a/b.md", False)
        verdict_of(rules, "a", True)
    if regex := globs([text]):
        regex.match("a/b.md")


# -- globs of the settings ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "hits", "misses"),
    [
        ("**/*.md", ["a.md", "x/y/a.md"], ["a.txt", "a.md/b.txt"]),
        ("*.txt", ["a.txt", "x/a.txt"], ["a.txt.md"]),
        ("Templates/**", ["Templates/a.md", "Templates/x/a.md"], ["Templates", "x/Templates/a.md"]),
        ("Templates", ["Templates/a.md", "x/Templates/y/a.md", "Templates"], ["Templates.md"]),
        ("Templates/", ["Templates/a.md", "x/Templates/y/a.md"], ["Templates", "Templates.md"]),
        ("/Daily", ["Daily/a.md"], ["x/Daily/a.md"]),
        ("./a/b.md", ["a/b.md"], ["x/a/b.md"]),
        ("Daily/*", ["Daily/a.md"], ["Daily/x/a.md"]),
        ("20??-*.md", ["2024-05.md", "x/2024-05.md"], ["24-05.md"]),
        ("#tag.md", ["#tag.md"], ["tag.md"]),
        ("", [], ["", "a"]),
        ("[", [], ["["]),
    ],
)
def test_a_glob(pattern: str, hits: list[str], misses: list[str]) -> None:
    regex = globs([pattern])
    assert [p for p in hits if not (regex and regex.match(p))] == []
    assert [p for p in misses if regex and regex.match(p)] == []


def test_globs_combine() -> None:
    assert globs([]) is None
    assert globs(["", "["]) is None
    both = globs(["*.txt", "Templates/**"])
    assert both
    assert [p for p in ("a.txt", "Templates/a.md", "a.md") if both.match(p)] == [
        "a.txt",
        "Templates/a.md",
    ]


# -- names --------------------------------------------------------------------------------------

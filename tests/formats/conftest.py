"""Goldens: `python -m pytest tests/formats --update-golden` writes them anew; review the diff."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from brain.model import Document, Entry

GOLDEN = Path(__file__).parent / "golden"
VAULTS = Path(__file__).parents[1] / "vaults"


class Case(NamedTuple):
    """One case of a file of them: a title, an input, what it is read as."""

    file: Path
    title: str
    before: str
    after: str


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden files anew")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        name = metafunc.module.__name__.rpartition("test_")[2]
        cases = _cases(GOLDEN / f"{name}.txt")
        metafunc.parametrize("case", cases, ids=[case.title for case in cases])


def _cases(file: Path) -> list[Case]:
    """`title`, `.`, input, `.`, rendering, `.`, each on lines of its own."""
    parts: list[list[str]] = [[]]
    for line in file.read_bytes().decode().removesuffix("\n").split("\n"):
        if line == ".":
            parts.append([])
        else:
            parts[-1].append(line)
    assert len(parts) % 3 == 1, f"{file} is not made of title, input and rendering"
    texts = ["\n".join(part) for part in parts[:-1]]
    triples = zip(texts[::3], texts[1::3], texts[2::3], strict=True)
    return [Case(file, title.strip(), before, after) for title, before, after in triples]


def _write(cases: list[Case]) -> None:
    text = "\n".join(f"{case.title}\n.\n{case.before}\n.\n{case.after}\n.\n" for case in cases)
    cases[0].file.write_bytes(text.encode())


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden", default=False))


@pytest.fixture
def check_case(update: bool) -> Callable[[Case, Document | str], None]:
    """Compare a document, or what a test shows of it, with its case, or write the case anew."""

    def check(case: Case, document: Document | str) -> None:
        got = document if isinstance(document, str) else render(document)
        if not update:
            assert got == case.after
            return
        cases = _cases(case.file)
        _write([c._replace(after=got) if c.title == case.title else c for c in cases])

    return check


@pytest.fixture
def check_file(update: bool) -> Callable[[str, Document], None]:
    """Compare a document with golden/`name`, or write that file anew."""

    def check(name: str, document: Document) -> None:
        file = GOLDEN / f"{name}.txt"
        if update:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(f"{render(document)}\n".encode())
        assert file.read_bytes().decode() == f"{render(document)}\n"

    return check


def render(document: Document) -> str:
    """What was read, for a person to check."""
    said = {
        "title": document.title,
        "aliases": ", ".join(document.aliases),
        "created": document.created,
        "broken": "yes" if document.broken else "",
    }
    lines = [f"{key}: {value}" for key, value in said.items() if value]
    lines += [f"property {key}: {value!r}" for key, value in document.properties.items()]
    lines += [f"problem: line {p.line}, {p.code}: {p.message}" for p in document.problems]
    return "\n".join([*lines, *map(_entry_of, document.entries)])


def _entry_of(entry: Entry) -> str:
    words = filter(None, (entry.kind, entry.status, entry.ref, entry.created))
    lines = [f"[{entry.line}-{entry.end_line}] {' '.join(words)}"]
    if entry.heading:
        lines.append(f"  under {entry.heading}")
    if entry.tags:
        lines.append(f"  tags {' '.join(f'#{tag}' for tag in entry.tags)}")
    for link in entry.links:
        lines.append(f"  line {link.line} {link.kind} {'|'.join(link[2:])}")
    lines += [f"  {key} {value}" for key, value in (entry.extra or {}).items()]
    return "\n".join([*lines, *(f"  > {ascii_breaks(line)}" for line in entry.text.split("\n"))])


def ascii_breaks(line: str) -> str:
    """Show what an editor would hide or break a line at."""
    odd = "\r\t\x0b\x0c\x85\u2028\u2029\ufeff\u0301"
    return "".join([f"\\u{ord(char):04x}" if char in odd else char for char in line])

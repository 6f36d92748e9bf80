"""The docs are true: generated parts are up to date, examples print what they say, links lead
somewhere, and no module, problem, event, command or dependency is forgotten."""

from __future__ import annotations

import ast
import json
import re
import sqlite3
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from brain import new_vault
from brain.cli.main import COMMANDS
from brain.cli.maintain import HARMLESS
from tests.generate import PLAYED, ROOT, WHOLE, page

PAGES = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")]
PAGES += [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "plugins" / "README.md"]
LINK = re.compile(r"(?<!!)\[[^\]\[]*\]\(([^)\s]+)\)")


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def has_fts5() -> bool:
    with sqlite3.connect(":memory:") as db:
        found = ("ENABLE_FTS5",) in db.execute("PRAGMA compile_options").fetchall()
    db.close()
    return found


@pytest.mark.parametrize("name", [*WHOLE, *PLAYED])
def test_generated_parts_and_examples_are_up_to_date(name):
    if (name in PLAYED or name.endswith(".svg")) and not has_fts5():
        pytest.skip("the examples were ranked by FTS5")
    assert page(name) == read(name), "out of date: run `make docs` and read the diff"


def test_every_page_with_an_example_is_played():
    for path in PAGES:
        if re.search(r"^```console\n\$ ", path.read_text(encoding="utf-8"), re.MULTILINE):
            assert str(path.relative_to(ROOT)) in PLAYED


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_relative_link_leads_somewhere(path):
    for target in LINK.findall(_prose(path.read_text(encoding="utf-8"))):
        if "://" in target:
            continue
        name, _, fragment = target.partition("#")
        found = (path.parent / name).resolve() if name else path
        assert found.exists(), target
        if fragment:
            assert fragment in _anchors(found.read_text(encoding="utf-8")), target


def _prose(text: str) -> str:
    text = re.sub(r"^(````?).*?^\1", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", text)


def _anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", _prose_keeping_code(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-") for words in headings}


def _prose_keeping_code(text: str) -> str:
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


def test_the_architecture_names_every_module():
    named = re.findall(r"^- `(brain/[\w/]+\.py)`", read("docs/explanation/architecture.md"), re.M)
    assert sorted(named) == sorted(
        path.relative_to(ROOT).as_posix() for path in (ROOT / "brain").rglob("*.py")
    )


def test_the_commands_in_the_architecture_go_through_what_exists():
    page = read("docs/explanation/architecture.md")
    walks = page[page.index("## A search") : page.index("## Rules that a test checks")]
    names = set(re.findall(r"`([\w./]+)`", walks)) - {"state.db"}
    code = "\n".join(path.read_text() for path in (ROOT / "brain").rglob("*.py"))
    modules = {name for name in names if (ROOT / "brain" / name).exists()}
    parts = {part for name in names - modules for part in name.split(".")}
    assert len(modules) > 20
    assert {p for p in parts if not re.search(rf"^ *(?:class|def) {p}\b", code, re.M)} == set()


def test_the_architecture_shows_every_folder():
    tree = re.findall(r"^  (\w+)/ ", read("docs/explanation/architecture.md"), re.M)
    folders = {path.parent.name for path in (ROOT / "brain").glob("*/__init__.py")}
    assert sorted(tree) == sorted(folders)


def test_the_how_to_guides_are_listed():
    folder = ROOT / "docs" / "how-to"
    listed = re.findall(r"\]\(([\w-]+\.md)\)", (folder / "README.md").read_text())
    assert sorted(listed) == sorted(p.name for p in folder.glob("*.md") if p.name != "README.md")


def test_the_readme_stays_short():
    assert len(read("README.md").splitlines()) <= 120


def test_the_table_of_problems_lists_exactly_those_in_the_code():
    text = read("docs/reference/formats.md")
    rows = re.findall(r"^\| `([\w-]+)` \| (.*)$", text[text.index("\n## Problems") :], re.MULTILINE)
    assert [code for code, _ in rows] == sorted(_codes())
    assert {code for code, words in rows if "*Harmless.*" in words} == set(HARMLESS)


def _codes() -> set[str]:
    """The second argument of whatever makes a problem."""
    makers = {"Problem", "JsonError", "report", "refuse"}
    return {
        part.value
        for call in _calls()
        if _name(call) in makers and len(call.args) > 1
        for part in ast.walk(call.args[1])  # one code, or one of two: "a" if … else "b"
        if isinstance(part, ast.Constant)
    }


def test_the_events_are_those_in_the_code():
    published = {
        part.value
        for call in _calls()
        if _name(call) in ("publish", "Event")
        for part in call.args[:2]  # the name comes first in `publish`, and second in `Event`
        if isinstance(part, ast.Constant)
    }
    rows = re.findall(r"^\| `(memory:\w+)`", read("docs/reference/events.md"), re.MULTILINE)
    assert sorted(rows) == sorted(published)


def _calls() -> Iterator[ast.Call]:
    for path in (ROOT / "brain").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                yield node


def _name(call: ast.Call) -> str:
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def test_the_json_of_every_command_is_documented():
    headings = " ".join(re.findall(r"^## (.*)$", read("docs/reference/json.md"), re.MULTILINE))
    assert [name for name in COMMANDS if f"brain {name}" not in headings] == []


def test_every_dependency_has_its_reason_and_is_used_where_it_says():
    project = tomllib.loads(read("pyproject.toml"))["project"]
    wanted = [re.split(r"[<>=]", dependency)[0] for dependency in project["dependencies"]]
    page = read("docs/decisions/0001-dependencies.md")
    rows = dict(re.findall(r"^\| `([\w-]+)` \| (`[^|]*`) \|", page, re.MULTILINE))
    assert sorted(rows) == sorted(wanted)
    for name, places in rows.items():
        assert set(re.findall(r"`([^`]*)`", places)) == set(_users(IMPORTED_AS.get(name, name)))


IMPORTED_AS = {
    "markdown-it-py": "markdown_it",
    "python-frontmatter": "frontmatter",
    "pyyaml": "yaml",
    "sqlite-fts4": "sqlite_fts4",
}


def _users(package: str) -> Iterator[str]:
    """The modules that import a package; all of `brain/cli/` as one."""
    for path in (ROOT / "brain").rglob("*.py"):
        if re.search(rf"^\s*(?:from|import) {package}\b", path.read_text("utf-8"), re.MULTILINE):
            name = path.relative_to(ROOT).as_posix()
            yield "brain/cli/" if name.startswith("brain/cli/") else name


def test_every_decision_is_listed():
    folder = ROOT / "docs" / "decisions"
    listed = re.findall(r"\]\((\d{4}-[\w-]+\.md)\)", (folder / "README.md").read_text())
    assert listed == sorted(path.name for path in folder.glob("0*.md"))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_folder_of_a_certain_machine_is_mentioned(path):
    text = path.read_text(encoding="utf-8").replace("/home/you", "")
    assert not re.search(r"/(?:home|root|work|Users|opt)/", text)


def test_the_hook_on_the_page_for_agents_prints_a_context(tmp_path, monkeypatch):
    vault = tmp_path / "Notes"
    new_vault.create_demo(vault)
    (vault / "40_Brain/agents/claude").mkdir(parents=True)
    (vault / "40_Brain/agents/claude/AGENT.md").write_text("---\ntype: project\n---\n")
    (script,) = re.findall(
        r"^```py\n(.*?)^```", read("docs/how-to/use-with-an-agent.md"), re.M | re.S
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    given = json.dumps({"session_id": "s-1", "prompt": "may I use slug pellets?"})
    said = subprocess.run(
        [sys.executable, "-c", script], input=given, capture_output=True, text=True, check=False
    )
    assert (said.returncode, said.stderr) == (0, "")
    assert "Never suggest slug pellets" in said.stdout


def test_the_welcome_note_names_commands_that_exist():
    welcome = Path(ROOT / "vault_template" / "Welcome.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^brain (\w+)", welcome, re.MULTILINE)) <= set(COMMANDS)

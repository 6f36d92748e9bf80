"""The directions of imports, and what stays light."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path
from types import FrameType

import pytest

import brain
from brain import new_vault

PACKAGE = Path(brain.__file__).parent
# From the ground up: a module imports only from its own layer or one below it.
LAYERS = (
    ("errors", "_tuples", "words"),
    ("model",),
    (
        "config",
        "kinds",
        "importance",
        "lock",
        "timestamps",
        "redact",
        "filter_expr",
        "token_count",
    ),
    ("formats",),
    ("vault", "index", "state"),
    ("access", "events", "journal", "compare", "embed"),
    ("sync",),
    ("store",),
    ("search",),
    ("graph",),
    ("context",),
    ("open_vault",),
    ("actors",),
    ("sessions",),
    ("operations",),
    ("serialize",),
    ("api", "new_vault"),
    ("daemon",),
    ("serve", "connect"),
    ("cli",),
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
APART = (("vault", "index"), ("index", "vault"))
HEAVY = ("yaml", "markdown_it", "watchfiles", "jsonlines", "orjson", "frontmatter", "numpy", "mcp")
PURE = (
    "errors",
    "model",
    "config",
    "kinds",
    "importance",
    "redact",
    "filter_expr",
    "merge",
    "token_count",
)
PURE += ("_tuples", "words", "formats", "compare")
IO = ("os", "io", "sqlite3", "subprocess", "socket", "tempfile", "shutil", "pathlib", "watchfiles")


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).with_suffix("").as_posix()
        if name not in ("__init__", "__main__") and "vault_template" not in name:
            yield name.removesuffix("/__init__"), path


def imports(path: Path, types: bool = False) -> Iterator[str]:
    """The modules that a file imports when it runs, also inside functions; or those for types."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if (id(node) in for_types) != types:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
            if not str(node.module).startswith("brain"):
                yield str(node.module)


def part(name: str) -> str:
    return name.split("/")[0]


def test_every_module_has_its_layer() -> None:
    assert {part(name) for name, _ in modules()} <= set(LEVEL)


@pytest.mark.parametrize("types", [False, True])
def test_imports_point_one_way(types: bool) -> None:
    wrong = []
    for name, path in modules():
        here = part(name)
        for target in imports(path, types):
            if target.startswith("brain."):
                there = target.split(".")[1]
                if there == "__version__":
                    continue
                if LEVEL[there] > LEVEL[here] or (here, there) in APART:
                    wrong.append(f"brain/{name}.py imports {target}")
    assert wrong == []


def test_no_modules_import_each_other() -> None:
    """Also not through others, and not inside functions."""
    paths = dict(modules())
    inside = {
        name: {module_of(target, paths) for target in imports(path)} - {name}
        for name, path in paths.items()
    }
    while leaves := {name for name, targets in inside.items() if not targets & inside.keys()}:
        inside = {name: targets for name, targets in inside.items() if name not in leaves}
    assert inside == {}


def module_of(target: str, known: Collection[str]) -> str:
    """The module of the package that an import names, or of which it takes a name."""
    parts = target.split(".")[1:]
    paths = ("/".join(parts[:count]) for count in range(len(parts), 0, -1))
    return next((path for path in paths if path in known), "")


def test_a_package_needs_no_other_for_types_that_needs_it() -> None:
    paths = dict(modules())
    both = {
        (part(name), part(module_of(target, paths)))
        for name, path in paths.items()
        for types in (False, True)
        for target in imports(path, types)
        if target.startswith("brain.") and module_of(target, paths)
    }
    assert [pair for pair in both if pair[0] < pair[1] and pair[::-1] in both] == []


@pytest.mark.parametrize(
    ("module", "homes"),
    [
        ("sqlite3", {"index", "sessions", "state"}),
        ("click", {"cli"}),
        ("mcp.server.mcpserver", {"serve"}),
    ],
)
def test_a_library_has_its_homes(module: str, homes: set[str]) -> None:
    users = {part(name) for name, path in modules() if module in imports(path)}
    assert users == homes


def test_nothing_calls_back_into_the_facade() -> None:
    """`brain/__init__.py` imports it for the user, when it is first used."""
    targets = {target for _, path in modules() for target in imports(path)}
    assert [target for target in targets if f"{target}.".startswith("brain.api.")] == []


def test_the_rules_are_pure() -> None:
    for name, path in modules():
        if part(name) in PURE:
            used = {target.split(".")[0] for target in imports(path)}
            assert not used & set(IO), f"brain/{name}.py does I/O"
            calls = {
                node.func.id
                for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            }
            assert not calls & {"open", "print", "input"}, f"brain/{name}.py does I/O"


def test_only_the_cli_prints_and_reads_the_environment() -> None:
    """`brain.open()` asks where the state folder is, unless it is told."""
    for name, path in modules():
        if part(name) != "cli":
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"\bprint\(", text)  # a fingerprint( is none
            assert text.count("os.environ") == (1 if name == "api" else 0), name


def loaded(*lines: str, state: Path, also: tuple[str, ...] = ()) -> set[str]:
    """Which of the heavy modules, and of these, are loaded in the end."""
    code = "\n".join([*lines, "import sys; print(*sys.modules)"])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"BRAIN_STATE": str(state)},
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    return set(done.stdout.split("\n")[-2].split()) & {
        *HEAVY,
        *also,
        "brain.api",
        "brain.formats.memory_md",
    }


def test_the_command_line_is_light(tmp_path: Path) -> None:
    also = ("brain.open_vault",)
    ask = ("import brain", "import brain.cli.main")
    assert loaded(*ask, state=tmp_path, also=also) == set()


@pytest.mark.parametrize(
    ("args", "unneeded"),
    [
        (["search", "frost"], ("brain.formats.inline", "brain.operations.context")),
        (["sync"], ("brain.search.ranking",)),
    ],
)
def test_a_question_to_an_unchanged_vault_is_light(
    args: list[str], unneeded: tuple[str, ...], tmp_path: Path
) -> None:
    new_vault.create_demo(tmp_path / "demo")
    args = [*args, "--vault", str(tmp_path / "demo")]
    ask = ("from brain.cli import main", f"main.run({args!r})")
    loaded(*ask, state=tmp_path / "state")
    also = ("dataclasses", "brain.serialize", "brain.operations.change", *unneeded)
    assert loaded(*ask, state=tmp_path / "state", also=also) == set()


def calls(run: Callable[[], object]) -> set[tuple[str, str]]:
    """The pairs of modules of the package of which one calls the other while this runs."""
    found: set[tuple[str, str]] = set()

    def module(frame: FrameType | None) -> str:
        path = frame.f_code.co_filename if frame else ""
        return path if path.startswith(str(PACKAGE)) else ""

    def profile(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and (here := module(frame)) and frame.f_code.co_name != "<module>":
            caller = frame.f_back
            while caller and not module(caller):
                caller = caller.f_back
            found.add((module(caller), here))

    sys.setprofile(profile)
    try:
        run()
    finally:
        sys.setprofile(None)
    return {(there, here) for there, here in found if there != here}


def test_a_question_and_a_write_enter_few_modules(tmp_path: Path) -> None:
    """So that a reader can follow them. No two modules call each other."""
    new_vault.create_demo(tmp_path / "demo")
    with brain.open(tmp_path / "demo", state=tmp_path / "state") as opened:
        opened.sync()
        opened.search("sqlite notes")
        opened.context("may I use slug pellets?")
        opened.remember("The compost heap is turned in March.")
        for most, run in (
            (35, partial(opened.search, "frost dates of the valley")),
            (45, partial(opened.remember, "The hazel is cut back every third winter.")),
            (55, partial(opened.context, "when is the last frost in the valley?")),
        ):
            pairs = calls(run)
            assert len({here for _, here in pairs}) <= most, sorted({here for _, here in pairs})
            assert {pair for pair in pairs if pair[::-1] in pairs} == set()


def test_the_facade_is_what_it_says() -> None:
    assert all(hasattr(brain, name) for name in brain.__all__)
    with pytest.raises(AttributeError):
        _ = brain.nothing  # type: ignore[attr-defined]

"""Ids and names from outside: none of them leads out of the vault, and none changes a file."""

from __future__ import annotations

import asyncio
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from brain.errors import BadRequest, NotFound
from brain.open_vault import OpenVault
from brain.serve.mcp import META, server
from brain.serve.tools import TOOLS
from brain.serve.vault_thread import Worker
from brain.vault import layout
from tests import kit
from tests.surfaces.cases import FILES

SECRET = "xyzzyplugh"
UP = ("..", "%2e%2e", "%252e%252e", "..%c0%af", "．．", "..\\", "....//", "..;", "\u202e..", "..\0")
TARGETS = ("outside.md", "etc/passwd", "40_Brain/brain.db", ".git/config", "outside.md:1")
RESERVED = ("CON", "PRN", "AUX", "NUL", "COM1", "LPT9", "con.md", "nul.txt", "aux:1", "CLOCK$")
SHAPES = (
    "", ".", "..", "/", "//", "\\", "~", "~root", "-", "--help", "-rf", "*", "?", "[", "]", "[id:]",
    "[id:]]", "^", "[[#^]]", "[[../../outside#^x]]", "m-", "m-%", "m-_", "m-' OR '1'='1", "m-\"",
    "'; DROP TABLE entries; --", "1 OR 1=1", "NULL", "None", "null", "undefined", "true", "0", "-1",
    "NaN", "${HOME}", "$(id)", "`id`", "{{7*7}}", "%s%n", "%00", "\\x00", "file:///etc/passwd",
    "http://localhost/", "brain://memory/../../outside", "obsidian://open?vault=x",
    "data:text/plain,x", "\\\\server\\share", "C:\\Windows\\win.ini", "/proc/self/environ",
    "/dev/stdin", "outside.md", "../outside.md", "m-" + "a" * 10_000, "a/" * 5_000,
    "m-7f3k2ab4\n- injected", "m-7f3k2ab4; rm -rf", "m-7f3k2ab4/../x",
    "ｍ-7f3k2ab4", "М-7f3k2ab4", "m‐7f3k2ab4", "m-7f3k2ab4\u200bx", "\ufeffm-x", "\u2028", "\u0085",
)  # fmt: skip
CONTROL = [f"m-{chr(code)}{chr(code)}" for code in (*range(1, 32), *range(127, 160))]
BIDI = [f"{chr(code)}m-{chr(code)}" for code in (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F))]
BIDI += [f"m-{chr(code)}" for code in (*range(0x2066, 0x206A), *range(0xE0020, 0xE0030))]
TRAVERSAL = [
    f"{start}{(up + '/') * depth}{target}"
    for up, depth, target, start in product(UP, (1, 3), TARGETS, ("", "40_Brain/"))
]
HOSTILE = list(dict.fromkeys([*TRAVERSAL, *SHAPES, *RESERVED, *CONTROL, *BIDI]))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = kit.lay(tmp_path / "vault", FILES)
    for path in (tmp_path / "outside.md", tmp_path / "etc" / "passwd"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"- {SECRET} ^m-7f3k2ab5\n")
    return root


def worker(root: Path, agent: str) -> Worker:
    made = Worker(partial(OpenVault, layout.find(root, root.parent / "state")), agent)
    made.start()
    return made


def test_there_are_enough() -> None:
    assert len(HOSTILE) >= 300


def test_hostile_ids_are_refused_by_every_tool(root: Path) -> None:
    tools = [tool for tool in TOOLS if any(each.name == "id" for each in tool.arguments)]
    used = worker(root, "claude")

    async def ask() -> list[tuple[str, str, Any]]:
        out = []
        async with Client(server(used)) as client:
            await client.call_tool("memory_list", {})  # the index is there
            before = kit.snapshot(root)
            for at, id in enumerate(HOSTILE):
                # each id through one tool, and each tool with ids of each sort
                tool = tools[at % len(tools)]
                needed = {each.name: id for each in tool.arguments if each.required}
                given = needed | ({"add": ["x"]} if tool.name == "memory_tag" else {})
                given |= {"content": "x"} if tool.name == "memory_update" else {}
                out.append((tool.name, id, await client.call_tool(tool.name, given)))
            after = kit.snapshot(root)
        changed = {path for path in before | after if before.get(path) != after.get(path)}
        assert not {path for path in changed if "brain.db" not in path}
        return out

    try:
        answers = asyncio.run(ask())
    finally:
        used.close()
    for tool, id, answer in answers:
        assert answer.is_error, (tool, id)
        assert answer.meta[META]["error"] in ("NotFound", "BadRequest", "Ambiguous"), (tool, id)
        text = answer.content[0].text
        assert SECRET not in text
        assert not any(ord(c) < 32 and c != "\n" for c in text)
        assert not {*text} & {
            chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
        }


ADDRESSES = ("brain://memory/../global", "brain://../agent", "brain://note/x", "brain://",
             "file:///etc/passwd", "brain://agent%2f..")  # fmt: skip


@pytest.mark.parametrize("uri", ADDRESSES)
def test_hostile_addresses_are_refused(root: Path, uri: str) -> None:
    used = worker(root, "claude")

    async def ask() -> str:
        async with Client(server(used)) as client:
            try:
                return str(await client.read_resource(uri))
            except Exception as error:  # the SDK's
                return f"refused: {error}"

    try:
        assert asyncio.run(ask()).startswith("refused")
    finally:
        used.close()


def test_hostile_names_of_agents_are_refused(root: Path) -> None:
    names = [*TRAVERSAL[:40], *RESERVED, *(shape for shape in SHAPES if shape), *BIDI]
    with OpenVault(layout.find(root, root.parent / "state")) as vault:
        from brain import actors

        for name in names:
            with pytest.raises((NotFound, BadRequest)):
                actors.resolve(vault, name)

"""Cases for every operation of the registry, written once and put through every surface."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from brain.operations import OPERATIONS, Operation
from brain.operations.parameters import HIDDEN, parameter
from brain.serve.tools import TOOLS, Tool, options
from tests import kit

DECISION = "m-7f3k2ab4"
DEPLOYS = "m-d3p1oys2"
FILES = {
    **kit.VAULT,
    "40_Brain/MEMORY.md": kit.MEMORY.replace("#pinned", f"#pinned ^{DEPLOYS}"),
    "40_Brain/brain.yaml": 'vaultId: "v-tjtv5yrgqkde"\n',
    "40_Brain/journal/": "",
    "40_Brain/agents/claude/AGENT.md": "---\ntype: project\n---\nWrites code.\n",
    "40_Brain/agents/claude/MEMORY.md": "- Tests run with pytest #tools ^m-c1aud3aa\n",
    "40_Brain/agents/helper/AGENT.md": "---\ntype: skill\n---\n",
}
OWN = "m-c1aud3aa"
WHEN = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)?")
NEW_ID = re.compile(r"\b(?:[ems]-|msg_)[0-9a-z]{8,12}\b")
TIMED = ("seconds", "p95_ms", "daemon", "index")


class Case(NamedTuple):
    """An operation with arguments, and who calls it."""

    operation: str
    given: dict[str, Any]
    by: str = "admin"

    def __str__(self) -> str:
        words = [f"{name}={value}" for name, value in self.given.items()]
        return " ".join([self.operation, *words, f"by={self.by}"])[:80]


CASES = [
    Case("config", {}, ""),
    Case("config", {"name": "searchLimit"}, ""),
    Case("config", {"name": "serchLimit"}, ""),
    Case("budget", {}, ""),
    Case("budget", {"tokens": 3000}, ""),
    Case("alias list", {}, ""),
    Case("alias add", {"word": "auth", "synonyms": ["login"]}, ""),
    Case("alias remove", {"word": "auth"}, ""),
    Case("agent list", {}),
    Case("agent list", {}, "claude"),
    Case("agent add", {"name": "tester", "about": "Tests."}, ""),
    Case("agent add", {"name": "tester"}),
    Case("agent register", {"name": "claude", "type": "admin"}, ""),
    Case("search", {"question": "walrus"}),
    Case("search", {"question": "walrus"}, "claude"),
    Case("search", {"question": "walrus"}, "helper"),
    Case("search", {"question": "walrs", "limit": 3}),
    Case("search", {"question": "sqlite search", "kinds": ["decision"], "tags": ["db"]}),
    Case("search", {"question": "walrus", "scopes": ["all"], "since": "2020-01-01"}),
    Case("search", {"question": "walrus", "scopes": ["nowhere"]}),
    Case("search", {"question": " "}),
    Case("context", {"question": "how do we search?", "format": "codex"}),
    Case("context", {"question": "walrus", "files": ["src/a.py"], "tasks": True, "budget": 900,
                     "format": "codex"}, "claude"),
    Case("context", {"question": "walrus", "format": "codex"}, "helper"),
    Case("show", {"id": DECISION}),
    Case("show", {"id": "nothing like that"}),
    Case("list", {"limit": 20}),
    Case("list", {"limit": 20}, "claude"),
    Case("list", {"kinds": ["decision"], "order": "importance", "limit": 1}),
    Case("list", {"where": "status=pinned", "limit": 20}),
    Case("list", {"where": "status=", "limit": 20}),
    Case("list", {"scopes": ("tasks",), "limit": 20}),
    Case("list", {"scopes": ("tasks",), "where": "status=open", "limit": 20}, "claude"),
    Case("list", {"scopes": ("items",), "project": "zoo", "kinds": ["fact"], "limit": 20}),
    Case("similar", {"id": DECISION}),
    Case("similar", {"id": DECISION, "limit": 1}, "claude"),
    Case("similar", {"id": "m-00000000"}),
    Case("open", {"id": DECISION}),
    Case("graph", {"id": DECISION}),
    Case("remember", {"text": "Walruses sleep on ice", "agent": "admin"}),
    Case("remember", {"text": "Use ruff", "kind": "convention", "tags": ["tools", "lint"],
                      "source": "user_stated", "why": "asked", "agent": "claude"}, "claude"),
    Case("remember", {"text": "Tests run with pytest", "agent": "claude"}, "claude"),
    Case("remember", {"text": "The key is ghp_" + "a1B2" * 9, "agent": "claude"}, "claude"),
    Case("remember", {"text": "Walruses sleep", "agent": "admin"}, "claude"),
    Case("remember", {"text": "x", "kind": "thing", "agent": "claude"}, "claude"),
    Case("remember", {"text": "Deploys never go out on Tuesdays", "agent": "admin",
                      "supersedes": [DEPLOYS]}),
    Case("update", {"id": DECISION, "text": "Chose SQLite and FTS5"}),
    Case("update", {"id": OWN, "tags": ["testing"], "replace": True}, "claude"),
    Case("update", {"id": DECISION, "text": "No"}, "claude"),
    Case("update", {"id": OWN, "importance": 0.9}, "claude"),
    Case("forget", {"id": DECISION, "why": "wrong"}),
    Case("forget", {"id": "40_Brain/projects/zoo/agent/MEMORY.md:1"}, "claude"),
    Case("tag", {"id": OWN, "add": ["ci"], "remove": ["tools"]}, "claude"),
    Case("tag", {"id": OWN}, "claude"),
    Case("pin", {"id": OWN}, "claude"),
    Case("pin", {"id": DEPLOYS}),
    Case("unpin", {"id": DEPLOYS}),
    Case("link", {"id": OWN, "to": "Architecture"}, "claude"),
    Case("link", {"id": DECISION, "to": DEPLOYS, "as_": "derived_from"}),
    Case("link", {"id": OWN, "to": "No such note"}, "claude"),
    Case("unlink", {"id": OWN, "to": "Architecture"}, "claude"),
    Case("move", {"id": OWN, "section": "Tools"}, "claude"),
    Case("confirm", {"id": OWN}, "claude"),
    Case("reinforce", {"id": OWN, "why": "it helped"}, "claude"),
    Case("reinforce", {"id": DECISION}, "claude"),
    Case("demote", {"id": DECISION}),
    Case("demote", {"id": "m-00000000"}),
    Case("session start", {"id": "s-1", "title": "Fix it", "agent": "claude"}, "claude"),
    Case("session append", {"id": "s-1", "text": "Where are the tests?", "role": "user",
                            "message": "msg_1", "create": True, "agent": "claude"}, "claude"),
    Case("session append", {"id": "../s", "text": "x", "create": True, "agent": "claude"},
         "claude"),
    Case("session append", {"id": "s-1", "text": "x"}),
    Case("session show", {"id": "2026-01-01"}),
    Case("session list", {}),
    Case("session list", {}, "claude"),
    Case("session end", {"id": "2026-01-01"}),
    Case("session fork", {"id": "2026-01-01", "new": "s-2"}),
    Case("session archive", {"id": "2026-01-01"}),
    Case("session import", {"paths": ["nothing.jsonl"]}),
    Case("history", {"id": DECISION}),
    Case("audit", {}),
    Case("undo", {}, ""),
    Case("revert", {"agent": "claude", "since": "2h"}, ""),
    Case("conflicts", {}),
    Case("resolve", {"id": DECISION}),
    Case("gaps", {}),
    Case("pending", {}),
    Case("status", {}, ""),
    Case("doctor", {}, ""),
    Case("sync", {}, ""),
    Case("journal write", {}, ""),
    Case("pause", {}, ""),
    Case("resume", {}, ""),
]  # fmt: skip


def operation(name: str) -> Operation:
    return next(each for each in OPERATIONS if each.name == name)


def arguments(case: Case) -> dict[str, Any]:
    """The arguments of the operation, with the actor where it has one."""
    takes = inspect.signature(operation(case.operation).load()).parameters
    return case.given | ({"by": case.by} if "by" in takes else {})


def command_line(case: Case) -> list[str]:
    """The arguments as the command line takes them, from the table of parameters."""
    named: list[str] = []
    placed: list[str] = []
    given = arguments(case)
    signature = inspect.signature(operation(case.operation).load())
    for name in signature.parameters:
        value = given.get(name)
        if name in HIDDEN or value in (None, False, ""):
            continue
        about = parameter(case.operation, name)
        values = [value] if isinstance(value, str | int | float) else list(value)
        if about.argument:
            placed += [str(each) for each in values]
        else:
            flag = (about.flags or (f"--{name.replace('_', '-')}",))[0]
            named += [flag] if value is True else [a for v in values for a in (flag, str(v))]
    return [*case.operation.split(), *named, "--", *placed]


def tool_call(case: Case) -> tuple[Tool, dict[str, Any]] | None:
    """The tool, and its arguments, that mean the same as this case; None if there is none."""
    for tool in TOOLS:
        argument, value, other = tool.other
        if case.operation not in (tool.operation, other):
            continue
        values = {
            a.name: case.given[a.parameter] for a in tool.arguments if a.parameter in case.given
        }
        if case.operation == other:
            values[argument] = value
        if tool.name == "memory_store" and case.given["agent"] != case.by:
            values["scope"] = "global"
        if options(tool, values, case.by) == {**case.given, "by": case.by}:
            return tool, values
    return None


def normal(value: Any) -> Any:
    """A document without what differs from run to run: times, new ids, tiny fractions."""
    text = json.dumps(_plain(value), ensure_ascii=False)
    names: dict[str, str] = {}
    known = str(FILES)

    def named(match: re.Match[str]) -> str:
        if match[0] in known:
            return match[0]
        return names.setdefault(match[0], f"{match[0][0]}-new{len(names)}")

    return json.loads(NEW_ID.sub(named, WHEN.sub("TIME", text)))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items() if key not in TIMED}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return round(value, 3) if isinstance(value, float) else value

"""The tools that an agent gets, one row each: its operation, description and arguments.

The MCP server, its reference and the contract tests are derived from this table. Descriptions are
part of every prompt of an agent, so each word costs.
"""

from __future__ import annotations

from brain import operations
from brain._tuples import NamedTuple
from brain.access import ADMIN
from brain.operations import Operation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class Argument(NamedTuple):
    """An argument of a tool. `parameter` is the parameter of the operation that gets the value; ''
    if the server itself uses the value."""

    name: str
    parameter: str
    type: str  # string, boolean, integer, number, or strings for a list
    meaning: str = ""
    required: bool = False
    choices: tuple[str, ...] = ()


class Tool(NamedTuple):
    """A tool. `fixed` are arguments of the operation that a call cannot change, and `defaults` are
    arguments that it can change. `other` is (argument, value, operation): if the argument has this
    value, this operation is called instead."""

    name: str
    operation: str
    title: str
    description: str
    arguments: tuple[Argument, ...]
    fixed: Mapping[str, Any] = {}
    defaults: Mapping[str, Any] = {}
    other: tuple[str, bool, str] = ("", False, "")
    read_only: bool = False
    destructive: bool = False
    repeatable: bool = False  # a second call changes nothing more
    always: bool = False  # Claude Code shows other tools only after a search for them

    @property
    def needs_confirmation(self) -> bool:
        """True if the tool may change global memory, which the user has to confirm."""
        return any(argument.name == "confirm" for argument in self.arguments)


_ID = Argument("id", "id", "string", "Its id, as in [id:…].", required=True)
_WHY = Argument("why", "why", "string", "The reason.")
_CONFIRM = Argument("confirm", "", "boolean", "The user agreed to change global memory.")
_LIMIT = Argument("limit", "limit", "integer", "Maximum number of results.")
_PROJECT = Argument("project", "project", "string", "Only entries of this project.")
_SINCE = Argument("since", "since", "string", "From this day on: 2026-02-01.")

TOOLS = (
    Tool(
        "memory_store", "remember", "Store a memory",
        "Store one lasting fact, decision, preference or correction, in a full sentence that is"
        " clear without this conversation. What is known already is not stored twice. Secrets are"
        " left out.",
        (
            Argument("content", "text", "string", "The sentence.", required=True),
            Argument("tags", "tags", "strings", "Keywords, with synonyms to find it by."),
            Argument("kind", "kind", "string", "decision, preference, correction, warning,"
                     " procedure, error, fact, …"),
            Argument("scope", "", "string", "global: for all projects.",
                     choices=("project", "global")),
            Argument("links", "links", "strings", "Notes or memory ids it is about."),
            Argument("supersedes", "supersedes", "strings", "Ids of memories it replaces."),
            Argument("source", "source", "string", "user_stated, user_corrected, observed or"
                     " inferred."),
            Argument("session", "session", "string", "Id of this conversation."),
            _WHY, _CONFIRM,
        ),
        always=True,
    ),
    Tool(
        "memory_query", "search", "Search memory",
        "Search memories, tasks, knowledge and notes. Give keywords and synonyms, not a question:"
        ' "auth login token", not "how do users log in?". Ask again with other words if'
        " needed, up to three times. Reinforce what helped.",
        (
            Argument("query", "question", "string", 'Keywords. "…" is a phrase.', required=True),
            _LIMIT,
            Argument("kinds", "kinds", "strings"),
            Argument("tags", "tags", "strings"),
            Argument("scopes", "scopes", "strings", "memory, items, tasks, sources (notes),"
                     " sessions, archive or all."),
            _PROJECT, _SINCE,
        ),
        read_only=True, always=True,
    ),
    Tool(
        "memory_context", "context", "Recall for a task",
        "Recall what matters for a task before you start: warnings, pinned memories, the best"
        " matches and related entries, within a token limit.",
        (
            Argument("query", "question", "string", "The task or question.", required=True),
            Argument("files", "files", "strings", "Paths of open files."),
            Argument("tasks", "tasks", "boolean", "Include open tasks."),
            Argument("budget", "budget", "integer", "Tokens."),
            Argument("session", "session", "string", "Id of this conversation; nothing is shown"
                     " twice in it."),
        ),
        fixed={"format": "codex"}, read_only=True, always=True,
    ),
    Tool(
        "memory_reinforce", "reinforce", "Report a useful memory",
        "Report that a memory helped you. It will be found sooner.", (_ID, _WHY), always=True,
    ),
    Tool(
        "memory_demote", "demote", "Report a bad memory",
        "Report that a memory was wrong, stale or irrelevant. If you know what is true, use"
        " memory_update.", (_ID, _WHY), always=True,
    ),
    Tool(
        "memory_update", "update", "Correct a memory",
        "Correct a memory in place. Its id and score stay.",
        (
            _ID,
            Argument("content", "text", "string", "The new sentence. Default: as it is."),
            Argument("tags", "tags", "strings", "Replace its tags."),
            Argument("importance", "importance", "number", "0 to 1."),
            Argument("confidence", "confidence", "number", "0 to 1."),
            _WHY, _CONFIRM,
        ),
        destructive=True, repeatable=True, always=True,
    ),
    Tool(
        "memory_tag", "tag", "Tag a memory", "Add tags to a memory, or remove some.",
        (
            _ID,
            Argument("add", "add", "strings"),
            Argument("remove", "remove", "strings"),
            _CONFIRM,
        ),
        repeatable=True,
    ),
    Tool(
        "memory_forget", "forget", "Delete a memory",
        "Delete a memory that should not exist. If it only changed, use memory_update.",
        (_ID, _WHY, _CONFIRM), destructive=True,
    ),
    Tool(
        "memory_pin", "pin", "Pin a memory",
        "Include a memory in every context, or stop doing so. Pin only what always matters.",
        (_ID, Argument("pinned", "", "boolean", "false: unpin."), _CONFIRM),
        other=("pinned", False, "unpin"), repeatable=True,
    ),
    Tool(
        "memory_link", "link", "Link memories", "Link a memory to another memory or a note.",
        (
            _ID,
            Argument("to", "to", "string", "A memory's id or a note's name.", required=True),
            Argument("relation", "as_", "string",
                     choices=("relates_to", "supersedes", "contradicts", "derived_from")),
            Argument("remove", "", "boolean", "Remove the link."),
            _CONFIRM,
        ),
        other=("remove", True, "unlink"), repeatable=True,
    ),
    Tool(
        "memory_list", "list", "List memories",
        "List memories without a query, newest first.",
        (
            Argument("kinds", "kinds", "strings"),
            Argument("tags", "tags", "strings"),
            _PROJECT, _SINCE,
            Argument("until", "until", "string", "Up to this day."),
            Argument("where", "where", "string", "Filter: importance>=0.7 and status=pinned."),
            Argument("order", "order", "string", "A field. -created: oldest first."),
            _LIMIT,
            Argument("offset", "offset", "integer", "Number of results to skip."),
        ),
        defaults={"limit": 20}, read_only=True,
    ),
    Tool(
        "memory_similar", "similar", "Find similar memories",
        "Find the memories that are most like one, before you change or merge it.",
        (_ID, _LIMIT), read_only=True,
    ),
    Tool(
        "task_list", "list", "List tasks", "List the tasks of the vault.",
        (
            Argument("where", "where", "string", "Filter: status=open."),
            _PROJECT, _LIMIT,
        ),
        fixed={"scopes": ("tasks",)}, defaults={"limit": 20}, read_only=True,
    ),
    Tool(
        "session_append", "session append", "Append to a session",
        "Append a message of this conversation to its session, where later searches find it.",
        (
            Argument("session", "id", "string", "Id of the conversation.", required=True),
            Argument("content", "text", "string", "The text of the message.", required=True),
            Argument("role", "role", "string",
                     choices=("user", "assistant", "system", "tool_call", "tool_result")),
            Argument("name", "name", "string", "The speaker or the tool."),
            Argument("message", "message", "string", "Id of the message, if it may be repeated."),
        ),
        fixed={"create": True},
    ),
    Tool(
        "project_knowledge", "list", "List what is known of a project",
        "List the facts, decisions and procedures that were extracted from a project's files.",
        (
            _PROJECT,
            Argument("types", "kinds", "strings", "fact, decision, procedure, …"),
            Argument("tags", "tags", "strings"),
            _LIMIT,
            Argument("offset", "offset", "integer", "Number of results to skip."),
        ),
        fixed={"scopes": ("items",)}, defaults={"limit": 20}, read_only=True,
    ),
)  # fmt: skip
BY_NAME = {tool.name: tool for tool in TOOLS}


def schema(tool: Tool) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments."""
    out: dict[str, Any] = {
        "type": "object",
        "properties": {argument.name: _property(argument) for argument in tool.arguments},
    }
    if required := [argument.name for argument in tool.arguments if argument.required]:
        out["required"] = required
    return out


def _property(argument: Argument) -> dict[str, Any]:
    out: dict[str, Any] = {"type": argument.type}
    if argument.type == "strings":
        out = {"type": "array", "items": {"type": "string"}}
    if argument.choices:
        out["enum"] = list(argument.choices)
    if argument.meaning:
        out["description"] = argument.meaning
    return out


def operation(tool: Tool, values: Mapping[str, Any]) -> Operation:
    """Return the operation for a call with these values."""
    argument, value, other = tool.other
    name = other if other and values.get(argument) is value else tool.operation
    return next(each for each in operations.OPERATIONS if each.name == name)


def options(tool: Tool, values: Mapping[str, Any], agent: str) -> dict[str, Any]:
    """Return the arguments for the operation. The agent that calls the tool is the actor."""
    given = {
        argument.parameter: values[argument.name]
        for argument in tool.arguments
        if argument.parameter and values.get(argument.name) is not None
    }
    if tool.name == "memory_store":
        given["agent"] = ADMIN if values.get("scope") == "global" else agent
    if tool.name == "session_append":
        given["agent"] = agent
    if tool.name == "memory_update" and values.get("tags") is not None:
        given["replace"] = True
    return {**tool.defaults, **given, **tool.fixed, "by": agent}

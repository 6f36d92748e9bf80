"""The registry of operations: everything a user can do, one function per operation.

The Python interface, the commands, `brain --help` and the references are derived from the registry.
To add an operation, write its function, add it here and to `brain.api`, and add a view of its
result to the module of its group in `brain.cli`.
"""

from __future__ import annotations

from brain._tuples import NamedTuple
from brain.errors import IndexDamaged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Concatenate, ParamSpec, TypeVar

    from brain.open_vault import OpenVault

    P = ParamSpec("P")
    R = TypeVar("R")

GROUPS = ("set up", "connect", "find", "write", "sessions", "review", "maintain")


class Operation(NamedTuple):
    """An operation. `name` is its name on the command line; in Python, spaces are underscores.

    `home` is the module of the function, followed by `:` and the name of the function if this is
    not the name of the operation. `key` is the name of a plain result, such as a list, in JSON.
    """

    name: str
    home: str
    group: str
    summary: str
    details: str = ""
    examples: tuple[str, ...] = ()
    key: str = ""

    @property
    def method(self) -> str:
        """The name in Python."""
        return self.name.replace(" ", "_")

    def load(self) -> Callable[..., Any]:
        """Import the module of the function, and return the function."""
        from importlib import import_module

        module, _, function = self.home.partition(":")
        found: Callable[..., Any] = getattr(
            import_module(f"brain.{module}"), function or self.method
        )
        return found


def run(
    operation: Callable[Concatenate[OpenVault, P], R],
    vault: OpenVault,
    *args: P.args,
    **options: P.kwargs,
) -> R:
    """Run an operation. If the index is damaged and the operation has not written anything yet,
    rebuild the index and run the operation again."""
    writes = vault.writes
    try:
        try:
            return operation(vault, *args, **options)
        except IndexDamaged as error:
            if vault.writes != writes:
                raise
            vault.index.damaged(error)
            vault.sync()
            return operation(vault, *args, **options)
    finally:
        if vault.events.listeners:
            vault.write_events()


# fmt: off
OPERATIONS = (
    # -- set up -----------------------------------------------------------------------------------
    Operation("config", "operations.settings", "set up", "Show the settings, or one of them.",
              "To change a setting, edit brain.yaml.",
              ("brain config", "brain config exclude")),
    Operation("budget", "operations.settings", "set up",
              "Show or set the token limit of a context.",
              "`brain context --budget` overrides this limit.",
              ("brain budget", "brain budget 3000")),
    Operation("alias list", "operations.settings", "set up", "List words that mean the same.",
              examples=("brain alias list",)),
    Operation("alias add", "operations.settings", "set up",
              "Add words that mean the same as WORD.",
              "A search for one of the words finds the others. The words are stored in"
              " brain.yaml, as `auth=authentication, login`.",
              ("brain alias add auth login sign-in",)),
    Operation("alias remove", "operations.settings", "set up",
              "Remove synonyms of WORD, or all of them.", "",
              ("brain alias remove auth login", "brain alias remove db")),
    Operation("agent list", "operations.agents", "set up",
              "List the agents of this vault, with their types.",
              examples=("brain agent list",), key="agents"),
    Operation("agent add", "operations.agents", "set up", "Create an agent.",
              "The agent gets a folder with an AGENT.md, in agents/ or in the project with the"
              " same name. Its MEMORY.md is created with its first memory.",
              ('brain agent add claude --about "Writes code."',
               "brain agent add linter --type skill")),
    Operation("agent register", "operations.agents", "set up",
              "Set the highest type that an agent may have on this machine.",
              "The types are admin (the highest), project and skill. The type of an agent is the"
              " lower of this type and the type in its AGENT.md. An"
              " agent that is not registered is at most a project agent. Only the agent whose"
              " AGENT.md is directly in 40_Brain/ needs no registration to be an admin. The"
              " registry is not synced.",
              ("brain agent register claude --type admin",)),
    # -- find -------------------------------------------------------------------------------------
    Operation("search", "operations.search", "find", "Search memories, tasks and notes.",
              "Transcripts and the archive are searched only on request. Put a phrase in quotes"
              ' inside the quotes of the shell: brain search \'"local first"\'.',
              ("brain search sqlite",
               'brain search "deploy tuesday" --kind decision --explain',
               "brain search frost --scope sessions --scope sources --since 2026-01-01")),
    Operation("context", "operations.context", "find",
              "Print what an agent should know before it answers.",
              "The context contains warnings, pinned memories and the best matches, within a"
              " token limit.",
              ('brain context "how do we deploy?"',
               'brain context "fix the importer" --file src/import.py --format gemini',
               'git diff | brain context "review this" --text -')),
    Operation("show", "operations.entries", "find", "Show one entry in full.",
              "ID is the id that a search prints, the beginning of an id, PATH:LINE, or words"
              " that only one memory contains. For a memory, the output includes its score and"
              " its origin.",
              ("brain show m-7f3k2ab4",
               'brain show "10_Projects/Garden Planner/Architecture.md:12"')),
    Operation("list", "operations.entries:list_", "find", "List entries, newest first.",
              "Without --scope, only memories are listed. FILTER is made of comparisons with ="
              " != > >= < <= ~ (contains) or `in (…)`. Combine them with and, or, not. Sorting"
              " puts the highest value first; a `-` before the field reverses this.",
              ("brain list",
               "brain list --kind decision --since 2026-01-01",
               "brain list --where 'importance>=0.7 and tags=db' --order confidence",
               "brain list --scope tasks --json")),
    Operation("similar", "operations.search", "find",
              "List the memories that are most similar to an entry.",
              examples=("brain similar m-7f3k2ab4",)),
    Operation("open", "operations.entries:open_", "find",
              "Print the links that open an entry in Obsidian or an editor.",
              examples=("brain open m-7f3k2ab4", 'xdg-open "$(brain open m-7f3k2ab4 | head -1)"')),
    Operation("graph", "operations.graph", "find", "Show how memories are connected.",
              "Without ID, all memories are shown in clusters. With ID, only the entries that are"
              " connected to this entry are shown. Memories are connected by links, by common tags"
              " and notes, and by being useful together. It is one step from a memory to its tag,"
              " and another step from the tag to another memory. To open a canvas in Obsidian,"
              " store it in the vault.",
              ("brain graph",
               "brain graph m-7f3k2ab4",
               'brain graph --format canvas > "Memory Map.canvas"')),
    # -- write ------------------------------------------------------------------------------------
    Operation("remember", "operations.remember", "write", "Store a memory.",
              "The memory is TEXT, or standard input. It is added to the MEMORY.md of an agent, at"
              " the end of the section for its kind. A memory that already exists is not stored"
              " again. Secrets are left out.",
              ('brain remember "Chose SQLite for local-first search" --kind decision --tag db',
               'brain remember "Deploys go out on Wednesdays" --supersedes m-2b8xq1mz',
               "git log -1 --format=%s | brain remember --agent zoo --by zoo")),
    Operation("update", "operations.change", "write",
              "Reword a memory, or change its importance or confidence.",
              "The memory keeps its date, links, tags, id and score. Without TEXT, it also keeps"
              " its words.",
              ('brain update m-7f3k2ab4 "Chose SQLite and FTS5 for local-first search"',
               "brain update m-7f3k2ab4 --importance 0.9 --tag db",
               "brain update m-7f3k2ab4 --tag db --replace")),
    Operation("forget", "operations.change", "write", "Delete a memory.",
              "The lines nested in the memory are deleted, too. `brain undo` restores them all.",
              ("brain forget m-7f3k2ab4",
               'brain forget "slug pellets"',
               "brain forget m-7f3k2ab4 --purge")),
    Operation("tag", "operations.change", "write", "Add tags to a memory, or remove them.",
              examples=("brain tag m-7f3k2ab4 db sqlite", "brain tag m-7f3k2ab4 --remove draft")),
    Operation("pin", "operations.change", "write", "Include a memory in every context.",
              "The memory gets the tag #pinned.",
              ("brain pin m-7f3k2ab4",)),
    Operation("unpin", "operations.change", "write", "Stop including a memory in every context.",
              "The tag #pinned is removed.",
              ("brain unpin m-7f3k2ab4",)),
    Operation("link", "operations.change", "write", "Link a memory to another memory or a note.",
              examples=("brain link m-7f3k2ab4 m-4t8wq2nd --as supersedes",
                        "brain link m-7f3k2ab4 Architecture")),
    Operation("unlink", "operations.change", "write", "Remove a link.",
              examples=("brain unlink m-7f3k2ab4 m-4t8wq2nd --as supersedes",)),
    Operation("move", "operations.change", "write",
              "Move a memory to another section of its note.",
              "A section that does not exist is created.",
              ('brain move m-7f3k2ab4 "Key Decisions"',)),
    Operation("confirm", "operations.change", "write", "Mark a memory as trusted.",
              "The tag #candidate is removed.",
              ("brain confirm m-7f3k2ab4",)),
    Operation("reinforce", "operations.change", "write", "Report that a memory was useful.",
              "The score of the memory rises by 3, so that searches rank the memory higher.",
              ("brain reinforce m-7f3k2ab4",)),
    Operation("demote", "operations.change", "write", "Report that a memory was wrong or useless.",
              "The score of the memory falls by 1.",
              ('brain demote m-7f3k2ab4 --why "moved to Postgres"',)),
    # -- sessions ---------------------------------------------------------------------------------
    Operation("session start", "operations.session", "sessions", "Start a session.",
              "The transcript of the session is a file in the folder of the agent, in sessions/.",
              ("brain session start",
               'brain session start --agent claude --title "Fix the build"')),
    Operation("session append", "operations.session", "sessions", "Append a message to a session.",
              "Secrets are removed.",
              ('brain session append s-4jk2q8xw1z "Where are the tests?"',
               "brain session append s-4jk2q8xw1z --role tool_call --name read"
               " --input '{\"path\": \"README.md\"}'")),
    Operation("session show", "operations.session", "sessions", "Show a session and its messages.",
              examples=("brain session show s-4jk2q8xw1z",)),
    Operation("session list", "operations.session", "sessions", "List sessions, the latest first.",
              examples=("brain session list", "brain session list --all --agent claude"),
              key="sessions"),
    Operation("session end", "operations.session", "sessions", "End a session.",
              "A later message reopens the session.",
              ('brain session end s-4jk2q8xw1z --summary "The build works again."',)),
    Operation("session fork", "operations.session", "sessions", "Copy a session to a new one.",
              "A tool call is copied only together with its result.",
              ("brain session fork s-4jk2q8xw1z",
               "brain session fork s-4jk2q8xw1z --message msg-7f3k2ab4q1")),
    Operation("session archive", "operations.session", "sessions",
              "Move old sessions to the archive, or a given one.",
              "A search with `--scope archive` finds archived sessions.",
              ("brain session archive", "brain session archive s-4jk2q8xw1z"), key="sessions"),
    Operation("session import", "operations.session_import", "sessions",
              "Import conversations of Claude Code, Codex, Gemini CLI and OpenCode.",
              "If you import again, only new messages are added. Secrets are removed, and tool"
              " output is cut to 2,000 characters. A session belongs to the project that contains"
              " its working folder (see the setting `projects`). Other sessions belong to the"
              " agent of the client: claude, codex, gemini or opencode. A session that was deleted"
              " from the vault stays deleted.",
              ("brain session import", "brain session import --since 2026-02-01 --project garden",
               "brain session import ~/.claude/projects --follow")),
    # -- review -----------------------------------------------------------------------------------
    Operation("history", "operations.history", "review",
              "Show the changes of one memory, oldest first.",
              "This also works for a deleted memory.",
              ("brain history m-7f3k2ab4",), key="records"),
    Operation("audit", "operations.history", "review",
              "Show all changes and who made them, newest first.",
              examples=("brain audit --since 1d",
                        "brain audit --who zoo --op remember --op update"),
              key="records"),
    Operation("undo", "operations.undo", "review", "Undo the last change, or a given one.",
              "`brain audit` shows the ids of changes. If the entry was edited since, nothing is"
              " undone and the difference is shown.",
              ("brain undo", "brain undo e-4jk2q8xw1z")),
    Operation("revert", "operations.undo", "review",
              "Undo everything an agent did since a given time.",
              "If an entry was edited after a change, the change is kept and listed.",
              ("brain revert --agent garden-planner --since 2h",)),
    Operation("conflicts", "operations.conflicts", "review",
              "List memories that contradict each other.",
              examples=("brain conflicts",), key="conflicts"),
    Operation("resolve", "operations.conflicts", "review", "Settle a conflict.",
              "ID is the event of the conflict, which `brain conflicts` prints, or one of its"
              " memories.",
              ("brain conflicts", "brain resolve e-4jk2q8xw1z",
               "brain resolve e-4jk2q8xw1z --keep m-7f3k2ab4")),
    Operation("gaps", "operations.usage", "review", "List questions that had no answer.",
              "The output also suggests tags for memories that were useful together.",
              ("brain gaps", "brain gaps --all --json")),
    Operation("pending", "operations.pending", "review",
              "List writes that are not in their note yet, and why.",
              "A write waits while a person types in the note, or while git is at work. Memories"
              " that a person removed from a note are also listed for one day. `brain undo`"
              " restores them.",
              ("brain pending", "brain pending --drop e-4jk2q8xw1z"), key="pending"),
    # -- maintain ---------------------------------------------------------------------------------
    Operation("status", "operations.doctor", "maintain",
              "Show what is indexed, and whether the index is up to date.",
              examples=("brain status", "brain status --json")),
    Operation("doctor", "operations.doctor", "maintain", "Check the index and the files.",
              "The command lists files with errors, secrets in memory notes, pending writes, and"
              " temporary files that were left next to notes. If the index is damaged, it is"
              " rebuilt. Only --fix changes notes. The exit code is 1 if there is something to"
              " fix.",
              ("brain doctor", "brain doctor --all --json", "brain doctor --fix")),
    Operation("sync", "operations.doctor", "maintain", "Update the index.",
              "The command only reads notes. Each search also updates the index. Use this command"
              " to see what changed, or to rebuild the index.",
              ("brain sync", "brain sync --rebuild")),
    Operation("journal write", "operations.pending", "maintain",
              "Write usage counts to the journal.",
              "The counts say which memories were used, which were used together, and when memories"
              " without a date were first seen. Brain also writes the counts once a day.",
              ("brain journal write",), key="records"),
    Operation("pause", "operations.pending", "maintain", "Stop all writing on this machine.",
              "Searching still works. `brain resume` allows writing again.",
              ("brain pause",), key="paused"),
    Operation("resume", "operations.pending", "maintain",
              "Allow writing again and write what is pending.",
              examples=("brain resume",), key="paused"),
)
# fmt: on

"""The parameters of operations: their meaning, and their form on the command line."""

from __future__ import annotations

from brain._tuples import NamedTuple
from brain.model import RELATIONS, SCOPES


class Parameter(NamedTuple):
    """A parameter. `flags` replace `--name`. An `argument` has no flag. If `words`, several words
    are joined by spaces. `least` and `most` limit a number."""

    meaning: str
    flags: tuple[str, ...] = ()
    metavar: str = ""
    argument: bool = False
    required: bool = False
    words: bool = False
    least: int | None = None
    most: int | None = None


HIDDEN = ("vault", "check", "rerank", "only", "fields", "characters", "shown")  # only in Python
_TIME = "Start: a date (2026-02-01) or an age (2h, 7d)."

# By name. The key `operation.name` is for one operation only, and `session.name` for all operations
# on sessions.
PARAMETERS = {
    "id": Parameter("An id, PATH:LINE, or words that only one memory has.", argument=True),
    "search.question": Parameter(
        "Words to look for.", metavar="WORDS...", argument=True, words=True, required=True
    ),
    "context.question": Parameter(
        "A question or a task.", argument=True, words=True, required=True
    ),
    "text": Parameter("The text.", argument=True, words=True),
    # filters
    "scopes": Parameter(
        f"One of {', '.join(SCOPES)}, notes, all. Repeatable.", ("--scope", "-s"), "SCOPE"
    ),
    "kinds": Parameter(
        "Only entries of this kind: decision, task, … Repeatable.", ("--kind", "-k"), "KIND"
    ),
    "tags": Parameter(
        "Only entries with this tag or a tag nested in it. Repeatable.", ("--tag", "-t"), "TAG"
    ),
    "agent": Parameter("Only memory of this agent.", ("--agent", "-a"), "NAME"),
    "project": Parameter("Only entries of this project.", ("--project", "-p"), "NAME"),
    "since": Parameter(
        "Only entries since a date (2026-02-01) or an age (2h, 7d).", metavar="TIME"
    ),
    "until": Parameter("Only entries up to a date or an age.", metavar="TIME"),
    "passages": Parameter("List all passages of a note that match, not only the best one."),
    "superseded": Parameter("Include memories that another memory replaces."),
    "limit": Parameter("Number of results.", ("--limit", "-n"), "N", least=1, most=100_000),
    "search.limit": Parameter(
        "Number of results.  [default: the setting searchLimit]",
        ("--limit", "-n"),
        "N",
        least=1,
        most=1000,
    ),
    "offset": Parameter("Number of entries to skip.", metavar="N", least=0),
    "where": Parameter("Filter: importance>=0.7 and kind=…", ("--where", "-w"), "FILTER"),
    "order": Parameter("Order: importance, -created, …", ("--order", "-o"), "FIELD"),
    # who
    "by": Parameter("The actor: an agent, or you.  [default: you]", metavar="NAME"),
    "session": Parameter("The id of the current session.", metavar="ID"),
    # context
    "files": Parameter("A file that is open. Repeatable.", ("--file",), "PATH"),
    "context.text": Parameter(
        "The text that the agent is working on; `-` reads standard input.", metavar="TEXT"
    ),
    "context.agent": Parameter(
        "The agent that the context is for.  [default: all agents]", ("--agent", "-a"), "NAME"
    ),
    "context.scopes": Parameter(
        "What to search. Repeatable.  [default: memory, items, sources]", ("--scope", "-s"), "SCOPE"
    ),
    "tasks": Parameter("Include open tasks."),
    "again": Parameter("Also show entries that the session was shown before."),
    "context.format": Parameter("claude, gemini, codex, opencode or json.", metavar="FORMAT"),
    "remaining": Parameter("Tokens that the agent has left.", metavar="N"),
    "budget": Parameter(
        "Tokens to use, regardless of --remaining and `brain budget`.", metavar="N"
    ),
    # graph
    "graph.id": Parameter("An entry or a note.", argument=True),
    "format": Parameter("json, or canvas for Obsidian.", metavar="FORMAT"),
    "depth": Parameter(
        "The number of steps from ID.  [default: the setting cascadeDepth]",
        ("--depth", "-d"),
        "N",
        least=1,
        most=10,
    ),
    # remember and change
    "kind": Parameter("decision, preference, fact, …  [default: fact]", ("--kind", "-k"), "KIND"),
    "remember.tags": Parameter("A tag. Repeatable.", ("--tag", "-t"), "TAG"),
    "update.tags": Parameter("A tag to add. Repeatable.", ("--tag", "-t"), "TAG"),
    "replace": Parameter("Remove all other tags. Kind and status stay."),
    "section": Parameter("A heading of the note.", argument=True),
    "remember.section": Parameter(
        "The heading for the memory.  [default: the heading of its kind]", metavar="HEADING"
    ),
    "links": Parameter("A note or memory to link to. Repeatable.", ("--link", "-l"), "TARGET"),
    "supersedes": Parameter("A memory that the new one replaces. Repeatable.", metavar="ID"),
    "source": Parameter("user_stated, observed, inferred, extracted, …", metavar="SOURCE"),
    "confidence": Parameter(
        "The confidence of the memory, from 0 to 1.", metavar="N", least=0, most=1
    ),
    "importance": Parameter(
        "The importance of the memory, from 0 to 1.", metavar="N", least=0, most=1
    ),
    "why": Parameter("The reason, for the journal.", metavar="TEXT"),
    "messages": Parameter(
        "The messages of the session that the memory comes from.", metavar="N[-N]"
    ),
    "snippet": Parameter(
        "The text that was being discussed. Only its beginning is stored.", metavar="TEXT"
    ),
    "date": Parameter("The date that the memory begins with.  [default: today]", metavar="DATE"),
    "remember.agent": Parameter(
        "The owner of the memory.  [default: admin]", ("--agent", "-a"), "NAME"
    ),
    "purge": Parameter("Remove the text of the memory from all files of Brain."),
    "to": Parameter("A memory or a note.", argument=True),
    "as_": Parameter(f"{', '.join(RELATIONS)}.", ("--as",), "RELATION"),
    "weight": Parameter(
        "The weight of the link, from 0 to 1.  [default: by relation]", metavar="N", least=0, most=1
    ),
    "add": Parameter("Tags to add.", argument=True, metavar="[TAGS]..."),
    "remove": Parameter("A tag to remove. Repeatable.", ("--remove", "-r"), "TAG"),
    # review
    "audit.id": Parameter("Only changes of this memory.", metavar="ID"),
    "audit.agent": Parameter("Only changes of this agent's memory.", ("--agent", "-a"), "NAME"),
    "audit.since": Parameter(_TIME, metavar="TIME"),
    "audit.until": Parameter("End: a date or an age.", metavar="TIME"),
    "who": Parameter("Only changes by this agent, or `person`.", metavar="NAME"),
    "ops": Parameter("Only remember, forget, update, pin, … Repeatable.", ("--op",), "NAME"),
    "event": Parameter(
        "The id of a change, as `brain audit` prints it.  [default: the last change]", argument=True
    ),
    "force": Parameter("Undo even if an entry was edited since."),
    "undo.agent": Parameter(
        "Undo the last change of this agent's memory.", ("--agent", "-a"), "NAME"
    ),
    "revert.agent": Parameter(
        "The agent whose changes to undo.", ("--agent", "-a"), "NAME", required=True
    ),
    "revert.since": Parameter(_TIME, metavar="TIME", required=True),
    "keep": Parameter("The memory to keep. It supersedes the other memory.", metavar="ID"),
    "conflicts.all": Parameter("Include resolved and superseded conflicts."),
    "gaps.all": Parameter("Include questions that have an answer now."),
    "gaps.agent": Parameter("Only questions for this agent.", ("--agent", "-a"), "NAME"),
    "drop": Parameter("Discard the pending write of this event.", metavar="EVENT"),
    # sessions
    "session start.id": Parameter("The id of the session.  [default: a new id]", argument=True),
    "session append.id": Parameter("The id of a session.", argument=True),
    "session.id": Parameter("The id of a session, or its beginning.", argument=True),
    "session archive.id": Parameter(
        "The id of a session, or its beginning.  [default: all old ones]", argument=True
    ),
    "title": Parameter("The title of the session.  [default: the first prompt]", metavar="TEXT"),
    "cwd": Parameter("The working folder of the session.", metavar="PATH"),
    "session append.text": Parameter("The text of the message.", argument=True, words=True),
    "role": Parameter("user, assistant, system, tool_call or tool_result.", metavar="ROLE"),
    "session append.name": Parameter("The speaker, or the tool.", metavar="NAME"),
    "input": Parameter("The input of a tool call, as JSON.", metavar="JSON"),
    "session append.message": Parameter(
        "The id of the message.  [default: a new one]", metavar="ID"
    ),
    "create": Parameter("Create the session if there is none with this id."),
    "at": Parameter("The time of the message.  [default: now]", metavar="TIME"),
    "session fork.message": Parameter("Copy up to this message.  [default: all]", metavar="ID"),
    "new": Parameter("The id of the copy.  [default: a new one]", metavar="ID"),
    "summary": Parameter("A summary, which searches find.", metavar="TEXT"),
    "session list.all": Parameter("Include archived sessions."),
    "session.since": Parameter(
        "Only sessions that were active since this date or age.", metavar="TIME"
    ),
    "session list.limit": Parameter(
        "Number of sessions.", ("--limit", "-n"), "N", least=1, most=100_000
    ),
    "session show.limit": Parameter(
        "Number of messages, counted from the end.", ("--limit", "-n"), "N", least=1, most=1_000_000
    ),
    "session list.agent": Parameter("Only sessions of this agent.", ("--agent", "-a"), "NAME"),
    "session.agent": Parameter("The agent whose session it is.", ("--agent", "-a"), "NAME"),
    "session archive.agent": Parameter("Only sessions of this agent.", ("--agent", "-a"), "NAME"),
    "paths": Parameter(
        "Transcripts, or folders with transcripts.  [default: the folders of the clients]",
        metavar="[PATH]...",
        argument=True,
    ),
    "session import.agent": Parameter(
        "The agent that gets sessions without a project.  [default: the agent of the client]",
        ("--agent", "-a"),
        "NAME",
    ),
    "session import.again": Parameter("Import sessions again that were deleted from the vault."),
    "session import.project": Parameter(
        "Only sessions that belong to this project or agent.", ("--project", "-p"), "NAME"
    ),
    "yes": Parameter("Import without asking, whatever the size.", ("--yes", "-y")),
    # settings and maintenance
    "name": Parameter("A setting.", argument=True),
    "agent add.name": Parameter("The name of the agent and of its folder.", argument=True),
    "agent register.name": Parameter("An agent of this vault.", argument=True),
    "type": Parameter("admin, project or skill.", metavar="TYPE"),
    "agent register.type": Parameter(
        "admin, project or skill.  [default: the type in its AGENT.md]", metavar="TYPE"
    ),
    "about": Parameter("The purpose of the agent.", metavar="TEXT"),
    "tokens": Parameter("Tokens.", argument=True),
    "word": Parameter("A word.", argument=True),
    "synonyms": Parameter("Words that mean the same.", argument=True),
    "fix": Parameter("Merge temporary files that were left next to notes."),
    "rebuild": Parameter("Discard the index and read everything again."),
    "accept_loss": Parameter("Accept that nearly all files are gone."),
}


def parameter(operation: str, name: str) -> Parameter:
    """Return the description of a parameter of an operation."""
    group = operation.partition(" ")[0]
    places = (f"{operation}.{name}", f"{group}.{name}", name)
    return next(PARAMETERS[place] for place in places if place in PARAMETERS)

"""Report the state of the vault, check it, and update the index."""

from __future__ import annotations

import os

from brain import access, actors, lock
from brain.formats.text import decode
from brain.index import read
from brain.index.read import Filters
from brain.model import Problem
from brain.operations import lookup
from brain.operations.results import Diagnosis, FileProblem, Status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from brain.access import Actor
    from brain.open_vault import OpenVault
    from brain.sync import Stats

Found = tuple[str, Problem]


def doctor_problems(vault: OpenVault) -> list[Found]:
    """Return the problems that only `brain doctor` checks: secrets in memory notes, pending writes,
    removed memories, temporary files, a journal that cannot be written, disks without an atomic
    exchange of files, and a missing tokenizer."""
    notes = _memory_notes(vault)
    return [
        *_secrets(vault, notes), *_pending(vault), *_removed(vault),
        *_orphans(vault, _folders(notes)), *_journal(vault), *_not_atomic(vault, notes),
        *_tokenizer(vault),
    ]  # fmt: skip


def _memory_notes(vault: OpenVault) -> list[str]:
    """Return the notes with memories, including those in the archive."""
    rows = read.listed(vault.index, Filters(scopes=("memory", "archive")), -1)
    return list(dict.fromkeys(row.path for row in rows if row.path.endswith(".md")))


def _folders(notes: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(map(os.path.dirname, notes)))


def large_memories(vault: OpenVault) -> list[Found]:
    """Return memory notes with more characters than `maxMemorySize`."""
    limit, found = vault.config.maxMemorySize, []
    for path in read.large_memories(vault.index, limit):
        size = len(decode(vault.read(path))[0])
        if size > limit:
            message = f"holds {size:,} characters, over maxMemorySize ({limit:,}); move old parts"
            message += (
                f" into a note in {vault.paths.brain}/archive, where `--scope archive` finds it"
            )
            found.append((path, Problem(0, "large-memory", message)))
    return found


def _secrets(vault: OpenVault, paths: Iterable[str]) -> Iterator[Found]:
    from brain.redact import PERSONAL, find

    for path in paths:
        text, _ = decode(vault.read(path))
        for found in find(text, emails=vault.config.redactEmails):
            line = text.count("\n", 0, found.start) + 1
            rest = f"({found.rule}); Brain leaves what a person wrote as it is"
            if found.rule in PERSONAL:
                yield path, Problem(line, "personal", f"looks like personal data {rest}")
            else:
                yield path, Problem(line, "secret", f"looks like a secret {rest}")


def _orphans(vault: OpenVault, folders: Iterable[str]) -> Iterator[Found]:
    """Yield temporary files next to notes that are not from a write of this machine."""
    for orphan in vault.store.orphans(folders):
        content = "nothing new; `brain doctor --fix` deletes it"
        if count := len(orphan.lines):
            content = f"{count} lines that {orphan.path} lacks; `brain doctor --fix` merges them"
        yield orphan.name, Problem(0, "orphaned", f"is a temporary file that contains {content}")


def _removed(vault: OpenVault) -> Iterator[Found]:
    """Yield the memories that a person removed in the last day."""
    from brain.operations.pending import removed

    for one in removed(vault):
        who = "git" if one.by == "git" else "a person"
        message = f"no longer contains {one.id}, which {who} removed; {one.why}"
        yield one.path, Problem(0, "removed", message)


def _pending(vault: OpenVault) -> Iterator[Found]:
    for write in vault.store.pending():
        why = f": {write.why}" if write.why else ""
        message = f"{write.write.op} of {write.write.ref} is not written yet{why}"
        yield write.path, Problem(0, "pending", message)


def _journal(vault: OpenVault) -> Iterator[Found]:
    path = f"{vault.paths.folder_path}/journal"
    if os.path.lexists(path) and not os.path.isdir(path):
        message = "is not a folder, so that no change can be recorded; move it away"
        yield f"{vault.paths.brain}/journal", Problem(0, "no-journal", message)


def _not_atomic(vault: OpenVault, paths: Iterable[str]) -> Iterator[Found]:
    from brain.vault import exchange

    for path in paths:
        if not exchange.is_atomic(os.path.dirname(f"{vault.paths.root_path}/{path}")):
            message = "is on a disk where files cannot be exchanged in one step"
            yield path, Problem(0, "no-exchange", message)


def _tokenizer(vault: OpenVault) -> Iterator[Found]:
    from brain import token_count

    _, message = token_count.counter_or_estimate(vault.config.tokenizer)
    if message:
        yield f"{vault.paths.brain}/brain.yaml", Problem(0, "tokenizer", message)


def problems(vault: OpenVault) -> list[Found]:
    """Return the problems of indexed files and of brain.yaml."""
    found = read.problems(vault.index)
    found += [(f"{vault.paths.brain}/brain.yaml", problem) for problem in vault.warnings]
    return sorted([*found, *large_memories(vault)])


def doctor(
    vault: OpenVault, *, fix: bool = False, agent: str = "", by: Actor | str = ""
) -> Diagnosis:
    """Check the index and the files, and report unreadable files, secrets in memory notes, and
    pending writes. A damaged index is rebuilt. `fix` merges temporary files that were left next to
    notes. Nothing else is changed."""
    freshness = vault.refresh()
    if fix:
        access.require_admin(actors.resolve(vault, by), "fix the vault")
        vault.store.refuse_if_off()
        _fix(vault)
    visible = lookup.visible(vault, by, agent)
    healthy = vault.index.healthy()
    if not healthy:
        vault.sync(rebuild=True)
    found = [
        FileProblem(path=path, line=problem.line, code=problem.code, message=problem.message)
        for path, problem in sorted([*problems(vault), *doctor_problems(vault)])
        if visible is None or vault.owner(path) in visible
    ]
    return Diagnosis(healthy=healthy, paused=vault.paused, problems=found, freshness=freshness)


def _fix(vault: OpenVault) -> None:
    """Merge the temporary files that state.db does not list."""
    with vault.writing():
        for orphan in list(vault.store.orphans(_folders(_memory_notes(vault)))):
            vault.store.adopt(orphan)
    vault.refresh()


def status(vault: OpenVault, *, agent: str = "", by: Actor | str = "") -> Status:
    """Return the number of entries in the index, whether the index is up to date, and information
    about the last recall. An agent sees only what it may read."""
    from brain.index import records
    from brain.operations import usage

    freshness = vault.refresh()
    actor = actors.resolve(vault, by)
    owners = lookup.visible(vault, actor, agent)
    agents = read.agents(vault.index)
    return Status(
        vault=vault.paths.root_path,
        brain=vault.paths.brain,
        index=vault.index.path,
        engine=vault.index.fts,
        healthy=vault.index.healthy(quick=True),
        scopes=read.counts(vault.index, owners),
        kinds=read.counts_of_kinds(vault.index, owners),
        agents=[each for each in agents if owners is None or each["agent"] in owners],
        problems=len(problems(vault)) if owners is None else 0,
        paused=vault.paused,
        counters=records.counters(vault.index) if owners is None else None,
        recall=usage.health(vault),
        last_injected=usage.last_injected(vault, actor),
        freshness=freshness,
        daemon=lock.holder(f"{vault.paths.state_path}/daemon.lock"),
    )


def sync(
    vault: OpenVault,
    only: Iterable[str] | None = None,
    *,
    rebuild: bool = False,
    accept_loss: bool = False,
    by: Actor | str = "",
) -> Stats:
    """Update the index from the files, or only from the paths in `only`. Return what changed.

    `rebuild` starts with an empty index. `accept_loss` accepts that nearly all files are missing.
    """
    # the result counts all files, also those that an agent may not read
    access.require_admin(actors.resolve(vault, by), "sync the vault; each question does that")
    return vault.sync(only, rebuild=rebuild, accept_loss=accept_loss)

"""Files into the index: walk, compare, read what changed, parse, store, forget what is gone.

Stat values only save reading; the digest decides. Nothing in the vault is written. A sync that
finds nothing new makes no write, no event, no row.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby

from brain.config import Config
from brain.errors import VaultLooksEmpty
from brain.formats.text import digest
from brain.index import put
from brain.index.db import Index
from brain.index.put import Entry, Known, Stat
from brain.model import Document, Problem
from brain.vault import files
from brain.vault.layout import Role, Vault
from brain.vault.scan import CODES, Scan, scan

BATCH_FILES, BATCH_BYTES = 500, 4_000_000  # held in memory at once
BATCHES_A_COMMIT = 20  # in one transaction: each commit makes full text merge its segments
FEW = 100  # below this many files a sudden loss is believed

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Delta:
    """How the entries of one brain file changed; each is (id, text)."""

    path: str
    scope: str
    added: tuple[tuple[str, str], ...] = ()
    changed: tuple[tuple[str, str], ...] = ()
    removed: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class Stats:
    """What a sync did."""

    files: int = 0
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    moved: list[tuple[str, str]] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    deltas: list[Delta] = field(default_factory=list)
    cold: bool = False
    seconds: float = 0.0

    @property
    def quiet(self) -> bool:
        """Did nothing change?"""
        return not (self.added or self.changed or self.moved or self.removed)


@dataclass(slots=True)
class Plan:
    """What a walk says must be done: paths to read, and known files that are not there any more."""

    read: list[str]
    gone: dict[str, Known]


def sync(
    vault: Vault,
    index: Index,
    config: Config,
    *,
    only: Iterable[str] | None = None,
    wait: float = 30.0,
    progress: Progress | None = None,
    accept_loss: bool = False,
) -> Stats:
    """Bring the index in step with the vault, or with these paths of it and all below them.

    Raises Busy if another process is still writing after `wait` seconds, and VaultLooksEmpty,
    having changed nothing, when nearly everything vanished at once and `accept_loss` is not given.
    """
    started = time.monotonic()
    paths = None if only is None else set(only)
    found = scan(vault, config, paths)
    plan = _plan(found, put.known(index.db, paths))
    stats = Stats(files=len(found.stats))
    if plan.read or plan.gone or _problems_differ(index, found, paths):
        with index.exclusive(wait):
            known = put.known(index.db, paths)  # another process may have been faster
            if not accept_loss:
                _refuse_loss(vault, found, known, whole=paths is None)
            stats.cold = not known and paths is None
            _carry_out(
                _Job(vault, index, config, found, progress), _plan(found, known), known, stats
            )
            if _problems_differ(index, found, paths):
                with index.transaction() as db:
                    put.replace_problems(db, CODES, paths, found.problems)
    stats.seconds = time.monotonic() - started
    return stats


@dataclass(frozen=True, slots=True)
class _Job:
    """What every step of one sync needs."""

    vault: Vault
    index: Index
    config: Config
    found: Scan
    progress: Progress | None


def _plan(found: Scan, known: dict[str, Known]) -> Plan:
    read = []
    for path, st in found.stats.items():
        was = known.get(path)
        if was is None:
            read.append(path)
            continue
        old = was.stat
        if (
            st.st_mtime_ns != old.mtime_ns
            or st.st_size != old.size
            or st.st_ctime_ns != old.ctime_ns
            or st.st_ino != old.inode
            or old.racy
        ):
            read.append(path)
    gone = {path: was for path, was in known.items() if path not in found.stats}
    return Plan(read, gone)


def _refuse_loss(vault: Vault, found: Scan, known: dict[str, Known], whole: bool) -> None:
    """A vault that is unmounted or half-synced must not empty the index."""
    here, before = len(found.stats), len(known)
    lost = whole and before and (not here or (before >= FEW and here * 10 < before))
    if lost or not vault.folder.is_dir():
        raise VaultLooksEmpty(
            f"{vault.root} holds {here} of the {before} files it held before; the index was kept.",
            "Is it mounted and fully synced? If it is meant to be so: `brain sync --accept-loss`.",
        )


def _carry_out(job: _Job, plan: Plan, known: dict[str, Known], stats: Stats) -> None:
    homeless: dict[bytes, list[str]] = {}
    for path, was in plan.gone.items():
        homeless.setdefault(was.digest, []).append(path)
    touched: list[tuple[int, Stat]] = []
    batches = _batches(_read(job, plan, known, homeless, stats, touched))
    for _, group in groupby(enumerate(batches), lambda pair: pair[0] // BATCHES_A_COMMIT):
        with job.index.transaction():
            for _, batch in group:
                if not stats.cold:
                    stats.deltas += [d for entry in batch if (d := _delta(job.index, entry))]
                put.store(job.index, batch)
    left = [(was.id, path) for path, was in plan.gone.items() if path not in _moved_from(stats)]
    if left or touched:
        with job.index.transaction() as db:
            put.touch(db, touched)
            stats.deltas += [d for id, path in left if (d := _loss(job.index, id, path))]
            put.forget(job.index, left)
    stats.removed = [path for _, path in left]


def _moved_from(stats: Stats) -> set[str]:
    return {old for old, _ in stats.moved}


def _read(
    job: _Job,
    plan: Plan,
    known: dict[str, Known],
    homeless: dict[bytes, list[str]],
    stats: Stats,
    touched: list[tuple[int, Stat]],
) -> Iterator[Entry]:
    """Read, digest and parse what the plan names. What turns out unchanged goes to `touched`."""
    root, limit = str(job.vault.root), job.config.maxFileSize
    for number, path in enumerate(plan.read, 1):
        if job.progress:
            job.progress(number, len(plan.read))
        role, was = job.found.role(path), known.get(path)
        seen = time.time_ns()
        try:
            data, st = files.read(root, path, limit)
        except OSError as error:
            if not isinstance(error, FileNotFoundError):
                job.found.refuse(path, "unreadable", f"cannot be read: {error.strerror or error}")
            continue  # gone or locked meanwhile: what was known of it stays until the next walk
        stat = Stat.of(st, seen)
        mark = digest(data)
        id = was.id if was else None
        if was and was.digest == mark:
            if was.stat._replace(seen_ns=0) != stat._replace(seen_ns=0):
                touched.append((was.id, stat))
            continue
        if was:
            stats.changed.append(path)
        elif homeless.get(mark):
            old = homeless[mark].pop()
            id = plan.gone[old].id
            stats.moved.append((old, path))
        else:
            stats.added.append(path)
        document = parse(role, path, data)
        if st.st_nlink > 1:
            linked = Problem(
                0, "hard-link", f"has {st.st_nlink} hard links; Brain will not write to it"
            )
            document = replace(document, problems=(*document.problems, linked))
        yield Entry(id, path, stat, mark, role.scope, role.agent, role.project, document)


def _batches(entries: Iterator[Entry]) -> Iterator[list[Entry]]:
    batch: list[Entry] = []
    size = 0
    for entry in entries:
        batch.append(entry)
        size += entry.stat.size
        if len(batch) >= BATCH_FILES or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def parse(role: Role, path: str, data: bytes) -> Document:
    """Read a file by the format its place in the vault gives it."""
    name = path.rpartition("/")[2].rpartition(".")[0]
    if role.format == "note":
        from brain.formats import note_md

        return note_md.parse(data, name)
    if role.format == "memory":
        from brain.formats import memory_md

        return memory_md.parse(data, role.agent)
    if role.format == "agent":
        from brain.formats import agent_md

        return agent_md.parse(data, name)
    if role.format == "items":
        from brain.formats import items_json

        return items_json.parse(data)
    if role.format == "tasks":
        from brain.formats import tasks_json

        return tasks_json.parse(data)
    from brain.formats import session_jsonl

    if role.format == "session":
        return session_jsonl.parse(data, name)
    return session_jsonl.parse_index(data)


def _delta(index: Index, entry: Entry) -> Delta | None:
    """How the entries of this file are about to change; None if they are not."""
    if entry.document.broken and entry.id is not None:
        return None
    before = put.entries(index.db, entry.id) if entry.id is not None else {}
    after: dict[str, str] = {}
    for chunk in entry.document.chunks:
        after.setdefault(chunk.ref, chunk.text)
    return _compare(entry.path, entry.scope, before, after)


def _loss(index: Index, id: int, path: str) -> Delta | None:
    return _compare(path, put.scope_of(index.db, id), put.entries(index.db, id), {})


def _compare(path: str, scope: str, before: dict[str, str], after: dict[str, str]) -> Delta | None:
    """Same id, other text: changed. An entry whose id comes from its text and that was edited
    in place counts as changed too."""
    changed = [ref for ref in after if ref in before and before[ref] != after[ref]]
    added = [ref for ref in after if ref not in before]
    removed = [ref for ref in before if ref not in after]
    if added and removed:
        from difflib import SequenceMatcher

        matcher = SequenceMatcher(None, list(before), list(after), autojunk=False)
        for code, a1, a2, b1, b2 in matcher.get_opcodes():
            if code == "replace" and a2 - a1 == b2 - b1:
                edited = list(after)[b1:b2]
                changed += edited
                added = [ref for ref in added if ref not in edited]
                removed = [ref for ref in removed if ref not in list(before)[a1:a2]]
    if not (added or changed or removed):
        return None
    return Delta(
        path,
        scope,
        tuple((ref, after[ref]) for ref in added),
        tuple((ref, after[ref]) for ref in changed),
        tuple((ref, before[ref]) for ref in removed),
    )


def _problems_differ(index: Index, found: Scan, paths: set[str] | None) -> bool:
    return put.problems_of(index.db, CODES, paths) != sorted(found.problems)

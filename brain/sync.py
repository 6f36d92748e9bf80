"""Files into the index: walk, compare, read what changed, parse, store, forget what is gone.

Stat values only save reading; the digest decides. Nothing in the vault is written. A sync that
finds nothing new makes no write, no event, no row.
"""

from __future__ import annotations

import marshal
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby

from brain import delta
from brain.config import Config
from brain.delta import Delta
from brain.errors import VaultLooksEmpty
from brain.formats import parse
from brain.formats.text import digest
from brain.index import put, query
from brain.index.db import Index
from brain.index.put import Entry, Known, Stat
from brain.model import Problem
from brain.record import NamedTuple
from brain.vault import files
from brain.vault.layout import Vault
from brain.vault.scan import CODES, Scan, scan

BATCH_FILES, BATCH_BYTES = 500, 4_000_000  # held in memory at once
BATCHES_A_COMMIT = 20  # in one transaction: each commit makes full text merge its segments
FEW = 100  # below this many files a sudden loss is believed

Progress = Callable[[int, int], None]
Edit = Callable[[bytes], bytes]


class Stats:
    """What a sync did."""

    def __init__(self, files: int = 0, cold: bool = False) -> None:
        self.files = files
        self.cold = cold
        self.added: list[str] = []
        self.changed: list[str] = []
        self.moved: list[tuple[str, str]] = []
        self.removed: list[str] = []
        self.deltas: list[Delta] = []
        self.seconds = 0.0

    @property
    def quiet(self) -> bool:
        """Did nothing change?"""
        return not (self.added or self.changed or self.moved or self.removed)


class Plan(NamedTuple):
    """What a walk says must be done: paths to read, those of them that need it only because they
    were last read right after a change, and known files that are not there any more."""

    read: list[str]
    racy: list[str]
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
    promised: Mapping[str, Edit] | None = None,
    before: Callable[[list[Delta]], None] | None = None,
) -> Stats:
    """Bring the index in step with the vault, or with these paths of it and all below them.

    An index that has not seen the whole vault yet is filled from the whole vault. A file with
    changes that are `promised` and not written yet is indexed as if they were. `before` is told how
    entries changed, before the index says so for good; what it raises leaves the index as it was.
    Raises Busy if another process is still writing after `wait` seconds, and VaultLooksEmpty,
    having changed nothing, when nearly everything vanished at once and `accept_loss` is not given.
    """
    started = time.monotonic()
    cold = not index.whole
    found = scan(vault, config, None if cold or only is None else set(only))
    paths = found.paths
    stats = Stats(files=len(found.stats), cold=cold)
    if not promised and _nothing_new(index, found, cold):
        stats.seconds = time.monotonic() - started
        return stats
    known = put.known(index, paths)
    plan = _plan(found, known, promised or {})
    due = plan.read or plan.gone or cold or _problems_differ(index, found)
    due = due or any(_edited(vault, config, path, known[path]) for path in plan.racy)
    if due:
        with index.exclusive(wait):
            # made anew: another process may have been faster
            job = _Job(vault, index, config, found, stats, promised or {})
            job.progress, job.before = progress, before
            if not accept_loss:
                _refuse_loss(job)
            _carry_out(job)
    stats.seconds = time.monotonic() - started
    return stats


def _nothing_new(index: Index, found: Scan, cold: bool) -> bool:
    """The usual case, told quickly; when in doubt, False."""
    if cold or found.paths is not None:
        return False
    same = put.unchanged(index, _walk(found), found.stats)
    return same and not _problems_differ(index, found)


def _walk(found: Scan) -> str:
    """What stands for all that a walk found."""
    paths = "\0".join(found.stats).encode()
    stamps = marshal.dumps(list(found.stats.values()), 2)  # 2: the same bytes for the same values
    return digest(paths + stamps).hex()


class _Job:
    """One sync at work."""

    def __init__(
        self,
        vault: Vault,
        index: Index,
        config: Config,
        found: Scan,
        stats: Stats,
        promised: Mapping[str, Edit],
    ) -> None:
        self.vault, self.index, self.config = vault, index, config
        self.found, self.stats = found, stats
        self.progress: Progress | None = None
        self.before: Callable[[list[Delta]], None] | None = None
        self.promised = promised
        self.known = put.known(index, found.paths)
        self.plan = _plan(found, self.known, promised)
        self.homeless: dict[bytes, list[str]] = {}  # known files that are gone
        self.same: list[tuple[str, Known, Stat, int]] = []  # read for nothing


def _plan(found: Scan, known: dict[str, Known], promised: Mapping[str, Edit]) -> Plan:
    read: list[str] = []
    racy: list[str] = []
    for path, stamp in found.stats.items():
        was = known.get(path)
        if was is None or was.stat[:4] != stamp or path in promised:
            read.append(path)
        elif was.stat.racy:
            racy.append(path)
    gone = {path: was for path, was in known.items() if path not in found.stats}
    if found.unseen:
        gone = {path: was for path, was in gone.items() if not found.may_hold(path)}
    return Plan(read, racy, gone)


def _edited(vault: Vault, config: Config, path: str, was: Known) -> bool:
    """Does a file hold something else than before, though its stat values are the same?"""
    try:
        data, _ = files.read(f"{vault.root_path}/{path}", config.maxFileSize)
    except OSError:
        return True
    return digest(data) != was.digest


def _refuse_loss(job: _Job) -> None:
    """A vault that is unmounted or half-synced must not empty the index, and a brain folder that
    is so must not empty it of memories; unless there was a single one of its files, which may well
    have been deleted. What was not looked at counts as there."""
    vault, found, known = job.vault, job.found, job.known
    if not os.path.isdir(vault.folder_path):
        raise _loss_of(vault.root_path, len(found.stats), len(known))
    if not job.plan.gone and found.stats:
        return
    rest = 0 if found.paths is None else query.files(job.index) - len(known)
    here, before = len(found.stats) + rest, len(known) + rest
    if before and (not here or (before >= FEW and here * 10 < before)):
        raise _loss_of(vault.root_path, here, before)
    if found.paths is None or vault.brain in found.paths:
        inside = f"{vault.brain}/"
        memories = {path for path in known if path.startswith(inside)}
        left = any(path.startswith(inside) for path in found.stats)
        if len(memories) > 1 and memories <= job.plan.gone.keys() and not left:
            raise _loss_of(vault.folder_path, 0, len(memories))


def _loss_of(folder: str, here: int, before: int) -> VaultLooksEmpty:
    return VaultLooksEmpty(
        f"{folder} holds {here} of the {before} files it held before; the index was kept.",
        "Is it mounted and fully synced? If it is meant to be so: `brain sync --accept-loss`.",
    )


def _carry_out(job: _Job) -> None:
    """Read and store what the plan names, batch by batch, then forget what is gone."""
    stats = job.stats
    for path, was in job.plan.gone.items():
        job.homeless.setdefault(was.digest, []).append(path)
    batches = _batches(_read(job))
    for _, group in groupby(enumerate(batches), lambda pair: pair[0] // BATCHES_A_COMMIT):
        with job.index.transaction():
            if not stats.cold:
                put.finish(job.index, "")
            deltas: list[Delta] = []
            for _, batch in group:
                if not stats.cold:
                    deltas += [d for entry in batch if (d := delta.of(job.index, entry))]
                put.store(job.index, batch)
            if job.before and deltas:
                job.before(deltas)
        stats.deltas += deltas
    moved = {old for old, _ in stats.moved}
    left = [(was.id, path) for path, was in job.plan.gone.items() if path not in moved]
    stats.removed = [path for _, path in left]
    restat = any(was.stat[:4] != stat[:4] for _, was, stat, _ in job.same)
    if not stats.quiet or stats.cold or restat or _problems_differ(job.index, job.found):
        with job.index.transaction():
            _settle(job, left)


def _settle(job: _Job, left: list[tuple[int, str]]) -> None:
    """What is written besides the entries. A file that was read for nothing because it had been
    changed the moment before is noted as read again, now that something is written anyway."""
    db = job.index.db
    job.stats.deltas += [d for id, path in left if (d := delta.loss(job.index, id, path))]
    put.forget(job.index, left)
    put.set_problems(db, [(old, ()) for old, _ in job.stats.moved])
    put.touch(db, [(was.id, stat) for _, was, stat, _ in job.same])
    for path, was, stat, links in job.same:
        if was.stat.ctime_ns != stat.ctime_ns:  # as a new hard link makes it
            put.replace_problems(db, ["hard-link"], [path], _hard_link(path, links))
    put.replace_problems(db, CODES, job.found.paths, sorted(set(job.found.problems)))
    put.finish(job.index, _walk(job.found) if job.found.paths is None else "")


def _read(job: _Job) -> Iterator[Entry]:
    """Read, digest and parse what the plan names. What turns out unchanged goes to `job.same`."""
    root, limit, paths = job.vault.root_path, job.config.maxFileSize, job.plan.read + job.plan.racy
    for number, path in enumerate(paths, 1):
        if job.progress:
            job.progress(number, len(paths))
        seen = time.time_ns()
        try:
            data, st = files.read(f"{root}/{path}", limit)
        except FileNotFoundError:
            continue  # gone meanwhile: what was known of it stays until the next walk
        except OSError as error:
            job.found.missed(path, "read", error)
            continue
        stat = Stat.of(st, seen)
        if path in job.promised:
            data = job.promised[path](data)
            stat = stat._replace(inode=-1)  # so that it is read again
        mark, was = digest(data), job.known.get(path)
        if was and was.digest == mark:
            job.same.append((path, was, stat, st.st_nlink))
            continue
        role = job.found.role(path)
        document = parse(role.format, path, data, role.agent)
        if st.st_nlink > 1:
            linked = [problem for _, problem in _hard_link(path, st.st_nlink)]
            document = document._replace(problems=(*document.problems, *linked))
        id = _identity(job, path, mark)
        yield Entry(id, path, stat, mark, role.scope, role.agent, role.project, document)


def _identity(job: _Job, path: str, mark: bytes) -> int | None:
    """The row of a changed or moved file, None for a new one; counts it as what it is."""
    if was := job.known.get(path):
        job.stats.changed.append(path)
        return was.id
    if job.homeless.get(mark):
        old = job.homeless[mark].pop()
        job.stats.moved.append((old, path))
        return job.plan.gone[old].id
    job.stats.added.append(path)
    return None


def _hard_link(path: str, links: int) -> list[tuple[str, Problem]]:
    if links < 2:
        return []
    return [(path, Problem(0, "hard-link", f"has {links} hard links; Brain will not write to it"))]


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


def _problems_differ(index: Index, found: Scan) -> bool:
    return put.problems_of(index, CODES, found.paths) != sorted(set(found.problems))

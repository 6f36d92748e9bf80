"""Update the index from the files: walk, compare, read and parse changed files, store them, and
remove missing files.

Stat values only save reading; the digest decides whether a file has changed. A sync does not write
to the vault. If it finds no change, it does not write at all.
"""

from __future__ import annotations

import marshal
import os
import time
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from functools import partial
from itertools import groupby

from brain._tuples import NamedTuple
from brain.config import Config
from brain.errors import VaultLooksEmpty
from brain.formats import parse
from brain.formats.text import digest, new_digest
from brain.index import read, write
from brain.index.db import Index
from brain.index.read import Known, Stat
from brain.index.write import ParsedFile
from brain.model import Document, Entry, Part, Problem
from brain.vault import files
from brain.vault.layout import Vault
from brain.vault.scan import CODES, Scan, scan

BATCH_FILES, BATCH_BYTES = 200, 4_000_000  # that are in memory at once
PIECE = 1_000_000  # bytes of a transcript that are parsed at once
BATCHES_A_COMMIT = 50  # per transaction, because full text merges its segments at each commit
FEW = 100  # files; if there were fewer, a sudden loss is accepted
SHORT = 200  # characters of a text of a note or session in an event
_NO_END = 1 << 62  # after the end of any file
MANY = 10_000  # pairs of entries; with more, renamed entries are not searched for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from io import BufferedReader
    from typing import Any

NOTHING: Mapping[str, Any] = {}  # never changed
Progress = Callable[[int, int], None]
Edit = Callable[[bytes], bytes]


class Delta(NamedTuple):
    """The changes of the entries of a brain file. Each entry is (id, text)."""

    path: str
    scope: str
    added: tuple[tuple[str, str], ...] = ()
    changed: tuple[tuple[str, str], ...] = ()
    removed: tuple[tuple[str, str], ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()  # (old id, new id) of changed entries


class Stats:
    """The result of a sync."""

    def __init__(self) -> None:
        self.files = 0
        self.cold = False
        self.added: list[str] = []
        self.changed: list[str] = []
        self.moved: list[tuple[str, str]] = []
        self.removed: list[str] = []
        self.deltas: list[Delta] = []
        self.seconds = 0.0

    def __repr__(self) -> str:
        lists = {name: getattr(self, name) for name in ("added", "changed", "moved", "removed")}
        counts = [f"{len(paths)} {name}" for name, paths in lists.items() if paths]
        return f"Stats({', '.join([f'{self.files} files', *counts])})"

    @property
    def quiet(self) -> bool:
        """True if nothing changed."""
        return not (self.added or self.changed or self.moved or self.removed)


def sync(
    vault: Vault,
    index: Index,
    config: Config,
    stats: Stats,
    *,
    only: Iterable[str] | None = None,
    wait: float = 30.0,
    progress: Progress | None = None,
    accept_loss: bool = False,
    promised: Mapping[str, Edit] = NOTHING,
    heads: Mapping[str, bytes] = NOTHING,
    known_texts: Mapping[str, bytes] = NOTHING,
) -> Generator[list[Delta], None, None]:
    """Update the index from the whole vault or, if `only` is given, from these paths and everything
    below them. `stats` gets the result.

    Yield the changes of entries in the transaction that stores the changes. If the caller closes
    the iterator at that point, they are not stored. An index without a completed sync is filled
    from the whole vault. A file with pending writes (`promised`) is indexed as if these were
    written. For each path in `heads`, the given bytes are indexed instead of the file, which may be
    missing because another process is replacing it. If the indexed text of a memory note is among
    `known_texts`, only the changed part is parsed and stored, with the same result.

    Raise Busy if another process is still writing after `wait` seconds. Raise VaultLooksEmpty
    before any change if nearly all files are missing and `accept_loss` is not given.
    """
    started = time.monotonic()
    cold = not index.whole
    found = scan(vault, config, None if cold or only is None else set(only))
    stats.files, stats.cold = len(found.stats), cold
    if promised or heads or not _nothing_new(vault, index, found, cold):
        new_job = partial(_Job, vault, index, config, found, stats, promised, heads, known_texts)
        if new_job().is_due():
            with index.exclusive(wait):
                job = new_job()  # again: another process may have been faster
                if not accept_loss:
                    _refuse_loss(job)
                yield from _run(job, progress)
    stats.seconds = time.monotonic() - started


def _nothing_new(vault: Vault, index: Index, found: Scan, cold: bool) -> bool:
    """Return True if a quick check shows that nothing changed. In doubt, return False."""
    if cold or found.paths is not None or not read.unchanged(index, _walk(found), found.stats):
        return False
    if any(_is_edited(vault, path, mark) for path, mark in read.racy(index)):
        return False
    return not _problems_differ(index, found)


def _is_edited(vault: Vault, path: str, mark: bytes) -> bool:
    """Return True if the content of a file does not have this digest."""
    try:
        file, st = files.open_regular(f"{vault.root_path}/{path}")
        with file:
            return _digests(file, st.st_size)[0] != mark
    except OSError:
        return True


def _walk(found: Scan) -> str:
    """Return a digest of the result of a walk."""
    paths = "\0".join(found.stats).encode()
    stamps = marshal.dumps(list(found.stats.values()), 2)  # 2: the same bytes for the same values
    return digest(paths + stamps).hex()


class _Job:
    """The plan of one sync: the differences between a walk and the index."""

    def __init__(
        self,
        vault: Vault,
        index: Index,
        config: Config,
        found: Scan,
        stats: Stats,
        promised: Mapping[str, Edit],
        heads: Mapping[str, bytes],
        known_texts: Mapping[str, bytes],
    ) -> None:
        self.vault, self.index, self.config = vault, index, config
        self.found, self.stats = found, stats
        self.promised, self.heads = promised, heads
        self.known_texts = known_texts
        self.known = read.known(index, found.paths)
        self.read: list[str] = []
        self.racy: list[str] = []  # to read again, because they were read too soon after a change
        for path, stamp in found.stats.items():
            was = self.known.get(path)
            if was is None or was.stat[:4] != stamp or path in promised or path in heads:
                self.read.append(path)
            elif was.stat.racy:
                self.racy.append(path)
        missing_heads = [path for path in heads if self._is_missing(path)]
        self.read += missing_heads
        self.present = {*found.stats, *missing_heads}
        self.missing = {path: was for path, was in self.known.items() if path not in self.present}
        if found.unseen:
            self.missing = {p: was for p, was in self.missing.items() if not found.may_hold(p)}
        self.missing_by_digest: dict[bytes, list[str]] = {}
        for path, was in self.missing.items():
            self.missing_by_digest.setdefault(was.digest, []).append(path)
        # files that were read and had not changed
        self.unchanged: list[tuple[str, Known, Stat, int]] = []

    def _is_missing(self, path: str) -> bool:
        """Return True for a written file that the walk did not find, because it is being
        replaced."""
        role = self.vault.role(path)
        if path in self.found.stats or not self.found.covers(path) or not role:
            return False
        self.found.roles[path] = role
        return path in self.known or not os.path.lexists(f"{self.vault.root_path}/{path}")

    def text_to_index(self, path: str, data: bytes) -> bytes:
        """Return the text to index for a file with this content."""
        if path in self.heads:
            return self.heads[path]
        return self.promised[path](data) if path in self.promised else data

    def is_due(self) -> bool:
        """Return True if the index has to be changed."""
        if self.read or self.missing or self.stats.cold or _problems_differ(self.index, self.found):
            return True
        return any(_is_edited(self.vault, path, self.known[path].digest) for path in self.racy)


def _refuse_loss(job: _Job) -> None:
    """Raise VaultLooksEmpty if the vault or its brain folder seems to be unmounted or half synced.

    The loss of a single file is accepted, because a person may have deleted it. Paths that were not
    walked count as present."""
    vault, found, known = job.vault, job.found, job.known
    if not os.path.isdir(vault.folder_path):
        raise _loss_of(vault.root_path, len(found.stats), len(known))
    if not job.missing and job.present:
        return
    rest = 0 if found.paths is None else read.file_count(job.index) - len(known)
    here, before = len(job.present) + rest, len(known) + rest
    if before and (not here or (before >= FEW and here * 10 < before)):
        raise _loss_of(vault.root_path, here, before)
    if found.paths is None or vault.brain in found.paths:
        inside = f"{vault.brain}/"
        memories = {path for path in known if path.startswith(inside)}
        left = any(path.startswith(inside) for path in found.stats)
        if len(memories) > 1 and memories <= job.missing.keys() and not left:
            raise _loss_of(vault.folder_path, 0, len(memories))


def _loss_of(folder: str, here: int, before: int) -> VaultLooksEmpty:
    return VaultLooksEmpty(
        f"{folder} has {here} of the {before} files it had before; the index was kept.",
        "Mount or sync the vault. If the files were deleted on purpose, run"
        " `brain sync --accept-loss`.",
    )


def _run(job: _Job, progress: Progress | None) -> Iterator[list[Delta]]:
    """Read and store changed files in batches, then remove the rows of missing files."""
    stats = job.stats
    batches = _batches(_read(job, progress))
    for _, group in groupby(enumerate(batches), lambda pair: pair[0] // BATCHES_A_COMMIT):
        with job.index.transaction():
            if not stats.cold:
                write.finish(job.index, "")
            for _, batch in group:
                deltas = [] if stats.cold else [_delta(job.index, parsed) for parsed in batch]
                write.store(job.index, batch)
                if found := [delta for delta in deltas if delta]:
                    yield found
                    # the deltas of a session may be as long as the session
                    stats.deltas += [delta for delta in found if delta.scope != "sessions"]
    moved = {old for old, _ in stats.moved}
    left = [(was.id, path) for path, was in job.missing.items() if path not in moved]
    stats.removed = [path for _, path in left]
    restat = any(was.stat[:4] != stat[:4] for _, was, stat, _ in job.unchanged)
    if not stats.quiet or stats.cold or restat or _problems_differ(job.index, job.found):
        with job.index.transaction():
            yield from _settle(job, left)


def _settle(job: _Job, left: list[tuple[int, str]]) -> Iterator[list[Delta]]:
    """Remove missing files, and write problems and the new stat values of unchanged files."""
    index, db = job.index, job.index.db
    deltas: list[Delta] = []
    for id, path in left:
        texts = {ref: was.text for ref, was in read.entries_of(index, id).items()}
        if gone := compare(path, read.scope_of(index, id), texts, {}):
            deltas.append(gone)
    if deltas:
        yield deltas
    job.stats.deltas += deltas
    write.forget(job.index, left)
    write.set_problems(db, [(old, ()) for old, _ in job.stats.moved])
    write.touch(db, [(was.id, stat) for _, was, stat, _ in job.unchanged])
    for path, was, stat, links in job.unchanged:
        if was.stat.ctime_ns != stat.ctime_ns:  # a new hard link changes the ctime
            write.replace_problems(db, ["hard-link"], [path], _hard_link(path, links))
    write.replace_problems(db, CODES, job.found.paths, sorted(set(job.found.problems)))
    write.finish(job.index, _walk(job.found) if job.found.paths is None else "")


def _read(job: _Job, progress: Progress | None) -> Iterator[ParsedFile]:
    """Read, digest and parse the files of the job. Add unchanged files to `job.unchanged`."""
    root, limit, paths = job.vault.root_path, job.config.maxFileSize, job.read + job.racy
    for number, path in enumerate(paths, 1):
        if progress:
            progress(number, len(paths))
        seen = time.time_ns()
        if job.found.role(path).format == "session":
            yield from _transcript(job, path, seen)
            continue
        try:
            data, st = files.read(f"{root}/{path}", limit)
            stat, links = Stat.from_result(st, seen), st.st_nlink
        except FileNotFoundError:
            if path not in job.promised and path not in job.heads:
                continue  # deleted meanwhile: its rows are kept until the next walk
            data, stat, links = b"", Stat(0, 0, 0, -1), 1
        except OSError as error:
            job.found.missed(path, "read", error)
            continue
        if (indexed := job.text_to_index(path, data)) != data:
            data = indexed
            stat = stat._replace(inode=-1)  # so that the next sync reads it again
        mark, was = digest(data), job.known.get(path)
        if was and was.digest == mark:
            job.unchanged.append((path, was, stat, links))
            continue
        role = job.found.role(path)
        id = _identity(job, path, mark)
        head = id, path, stat, mark, role.scope, role.agent, role.project
        in_parts = role.format == "memory" and links == 1
        if in_parts and (part := _part(job, ParsedFile(*head, Document()), data)):
            yield part
            continue
        document = parse(role.format, path, data, role.agent)
        if links > 1:
            linked = [problem for _, problem in _hard_link(path, links)]
            document = document._replace(problems=(*document.problems, *linked))
        yield ParsedFile(*head, document, None)


def _transcript(job: _Job, path: str, seen: int) -> Iterator[ParsedFile]:
    """Read a transcript of any size in pieces. If lines were only appended, begin with the last
    piece that is in the index. A line over `maxFileSize` is cut, so that it is not read."""
    from brain.formats import session_jsonl

    role, was, limit = job.found.role(path), job.known.get(path), job.config.maxFileSize
    last = read.last_piece(job.index, was.id, path) if was else 0
    try:
        file, st = files.open_regular(f"{job.vault.root_path}/{path}")
    except FileNotFoundError:
        return
    except OSError as error:
        job.found.missed(path, "read", error)
        return
    with file:
        mark, before, newlines = _digests(file, st.st_size, was.stat.size if was else 0, last)
        stat, links = Stat.from_result(st, seen), st.st_nlink
        if was and was.digest == mark:
            job.unchanged.append((path, was, stat, links))
            return
        id = _identity(job, path, mark)
        is_longer = was is not None and before == was.digest
        start, line = (last, newlines + 1) if is_longer else (0, 1)
        problems = tuple(problem for _, problem in _hard_link(path, links))
        name, is_last = path.rpartition("/")[2].rpartition(".")[0], False
        file.seek(start)
        while not is_last:
            data = (file.read(PIECE) + file.readline(limit))[: st.st_size - start]
            stop = start + len(data)
            document = session_jsonl.parse(data, name, start, line)
            problems += document.problems
            is_last = not data or stop >= st.st_size or document.broken
            part = Part(start, _NO_END if is_last else stop, 0, 0, (), (), False)
            yield ParsedFile(
                id, path, stat if is_last else Stat(len(data), 0, 0, -1), mark if is_last else b"",
                role.scope, role.agent, role.project, document._replace(problems=problems),
                None if is_last and not start else part,
            )  # fmt: skip
            start, line = stop, line + data.count(b"\n")
            id = id or job.index.value("SELECT id FROM files WHERE path = ?", (path,))


def _digests(
    file: BufferedReader, size: int, size_before: int = 0, start: int = 0
) -> tuple[bytes, bytes, int]:
    """Return the digest of the first `size` bytes of a file, the digest of its first `size_before`
    bytes (b"" if it has fewer), and the number of newlines before `start`."""
    found, before, newlines = new_digest(), b"", 0
    for end in (start, max(start, size_before), size):
        while (offset := file.tell()) < end and (data := file.read(min(PIECE, end - offset))):
            found.update(data)
            newlines += data.count(b"\n") if end == start else 0
        if file.tell() == size_before:
            before = found.digest()
    return found.digest(), before, newlines


def _part(job: _Job, parsed: ParsedFile, data: bytes) -> ParsedFile | None:
    """Return the part of a memory note that changed; None if the whole note has to be parsed."""
    was, text = job.known.get(parsed.path), job.known_texts.get(parsed.path)
    if was is None or text is None or digest(text) != was.digest:
        return None
    from brain.formats import memory_md

    found = memory_md.changed_part(text, data, parsed.agent)
    if found is None:
        return None
    parsed = parsed._replace(document=found[0], part=found[1])
    return parsed if write.can_replace(job.index, parsed) else None


def _identity(job: _Job, path: str, mark: bytes) -> int | None:
    """Return the row id of a changed or moved file; None for a new file. Count the file in
    `job.stats`."""
    if was := job.known.get(path):
        job.stats.changed.append(path)
        return was.id
    if job.missing_by_digest.get(mark):
        old = job.missing_by_digest[mark].pop()
        job.stats.moved.append((old, path))
        return job.missing[old].id
    job.stats.added.append(path)
    return None


def _hard_link(path: str, links: int) -> list[tuple[str, Problem]]:
    if links < 2:
        return []
    return [(path, Problem(0, "hard-link", f"has {links} hard links; Brain will not write to it"))]


def _batches(parsed_files: Iterator[ParsedFile]) -> Iterator[list[ParsedFile]]:
    batch: list[ParsedFile] = []
    size = 0
    for parsed in parsed_files:
        batch.append(parsed)
        size += parsed.stat.size
        has_new_id = parsed.id is None and parsed.part is not None
        if len(batch) >= BATCH_FILES or size >= BATCH_BYTES or has_new_id:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _problems_differ(index: Index, found: Scan) -> bool:
    return read.problems_of(index, CODES, found.paths) != sorted(set(found.problems))


# -- the changes of the entries of a file ----------------------------------------------------------


def _delta(index: Index, parsed: ParsedFile) -> Delta | None:
    """Return the changes of the entries of a file; None if there are none."""
    if parsed.document.broken and parsed.id is not None:
        return None
    before = read.entries_of(index, parsed.id, parsed.part) if parsed.id is not None else {}
    after: dict[str, Entry] = {}
    for entry in parsed.document.entries:
        after.setdefault(entry.ref, entry)
    path, scope = parsed.path, parsed.scope
    old = {ref: was.text for ref, was in before.items()}
    new = {ref: entry.text for ref, entry in after.items()}
    if scope != "memory":
        return compare(path, scope, old, new)
    headings = {ref: entry.heading[: write.MAX_HEADING] for ref, entry in after.items()}
    moved = {ref for ref, was in before.items() if headings.get(ref, was.heading) != was.heading}
    written = {ref for ref, was in before.items() if was.written}
    written |= {ref for ref, entry in after.items() if (entry.extra or {}).get("anchored")}
    return compare(path, scope, old, new, written, moved)


def compare(
    path: str,
    scope: str,
    before: dict[str, str],
    after: dict[str, str],
    written: Collection[str] = (),
    moved: Collection[str] = (),
) -> Delta | None:
    """Return the difference between two states of a file; None if there is none.

    An entry is changed if its text differs or if it was `moved`. An entry with a derived id that
    was edited in place is also changed, and gets a new id. An entry whose id is `written` in the
    note never gets a new id."""
    both = [ref for ref in after if ref in before]
    changed = [ref for ref in both if before[ref] != after[ref] or ref in moved]
    added = [ref for ref in after if ref not in before]
    removed = [ref for ref in before if ref not in after]
    renamed: dict[str, str] = {}
    if added and removed:
        from difflib import SequenceMatcher

        matcher = SequenceMatcher(None, list(before), list(after), autojunk=False)
        for code, a1, a2, b1, b2 in matcher.get_opcodes():
            if code == "replace":
                old = [(ref, before[ref]) for ref in list(before)[a1:a2] if ref not in after]
                new = [(ref, after[ref]) for ref in list(after)[b1:b2] if ref not in before]
                pairs = _pairs(old, new, written)
                renamed |= pairs
                changed += [ref for ref in after if ref in pairs]
                added = [ref for ref in added if ref not in pairs]
                removed = [ref for ref in removed if ref not in pairs.values()]
    if not (added or changed or removed):
        return None
    return Delta(
        path,
        scope,
        tuple((ref, after[ref]) for ref in added),
        tuple((ref, after[ref]) for ref in changed),
        tuple((ref, before[ref]) for ref in removed),
        tuple((was, ref) for ref, was in renamed.items()),
    )


def _pairs(
    old: list[tuple[str, str]], new: list[tuple[str, str]], written: Collection[str]
) -> dict[str, str]:
    """Return {new id: old id} of entries, given as (id, text), that were edited in place. If a
    person added an id (`written`), the old entry is the one with the same text."""
    by_text = {text: was for was, text in old if was not in written}
    named = {ref: by_text.pop(text) for ref, text in new if ref in written and text in by_text}
    taken = {*written, *named.values()}
    return named | _edited_pairs(
        [each for each in old if each[0] not in taken],
        [each for each in new if each[0] not in taken],
    )


def _edited_pairs(old: list[tuple[str, str]], new: list[tuple[str, str]]) -> dict[str, str]:
    """Return {new id: old id} of entries without written ids: in order if the lists have the same
    length, else the pairs that share at least half of their words."""
    if len(old) == len(new):
        return {ref: was for (ref, _), (was, _) in zip(new, old, strict=True)}
    if len(old) * len(new) > MANY:
        return {}
    words = {ref: set(text.casefold().split()) for ref, text in (*old, *new)}
    alike = [
        (-2 * len(words[ref] & words[was]) / (len(words[ref]) + len(words[was]) or 1), b, a)
        for a, (was, _) in enumerate(old)
        for b, (ref, _) in enumerate(new)
    ]
    pairs: dict[str, str] = {}
    for likeness, b, a in sorted(alike):
        ref, was = new[b][0], old[a][0]
        if likeness <= -0.5 and ref not in pairs and was not in pairs.values():
            pairs[ref] = was
    return pairs


# -- events --------------------------------------------------------------------------------------


def write_payload(delta: Delta) -> dict[str, Any]:
    """Return the payload of `memory:write`. Texts of notes and sessions are shortened."""
    max_length = SHORT if delta.scope in ("sources", "sessions") else 10_000
    changes = {"added": delta.added, "changed": delta.changed, "removed": delta.removed}
    entries_by_change = {
        name: [{"id": ref, "text": text[:max_length]} for ref, text in entries]
        for name, entries in changes.items()
    }
    return {"type": delta.scope, "path": delta.path, "delta": entries_by_change}


def sync_payload(stats: Stats) -> dict[str, Any]:
    """Return the payload of `memory:sync`: the counts of a sync."""
    return {
        "files": stats.files,
        "added": len(stats.added),
        "changed": len(stats.changed),
        "moved": [{"from": old, "to": new} for old, new in stats.moved],
        "removed": len(stats.removed),
        "cold": stats.cold,
        "seconds": round(stats.seconds, 3),
    }

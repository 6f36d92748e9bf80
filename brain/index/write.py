"""Add and remove the rows of files: the only statements that change files and entries."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Sequence
from itertools import chain

from brain._tuples import NamedTuple
from brain.formats.text import unspaced_characters, words_next_to_unspaced
from brain.index.db import FULL_TEXTS, Index, each, marks
from brain.model import Document, Part, Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brain.model import Link

    # the row of an entry, its links, and its columns of full text
    NewEntry = tuple[tuple[Any, ...], tuple[Link, ...], tuple[str, ...]]

FINE_SLACK, COARSE_SLACK = 20_000_000, 2_500_000_000  # ns: ext4 and its kind; FAT counts in 2 s


class Stat(NamedTuple):
    """The stat values of a file, and when it was last read."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    seen_ns: int = 0

    @classmethod
    def from_result(cls, st: os.stat_result, seen_ns: int) -> Stat:
        return cls(st.st_size, st.st_mtime_ns, st.st_ctime_ns, st.st_ino, seen_ns)

    @property
    def racy(self) -> bool:
        """True if the file was read so soon after a change that another one could have the same
        times."""
        slack = FINE_SLACK if self.ctime_ns % 1_000_000_000 else COARSE_SLACK
        return self.ctime_ns > self.seen_ns - slack


class Known(NamedTuple):
    """A file as the index has it: enough to decide if it must be read again."""

    id: int
    stat: Stat
    digest: bytes


class ParsedFile(NamedTuple):
    """A file that was read and is to be stored; `id` is None for one not seen before.

    With a `part`, the document has only the entries of this part of a known file.
    """

    id: int | None
    path: str
    stat: Stat
    digest: bytes
    scope: str
    agent: str
    project: str
    document: Document
    part: Part | None = None


def known(index: Index, paths: Iterable[str] | None = None) -> dict[str, Known]:
    """Return the files in the index by path: all, or these paths and all below them."""
    sql = "SELECT path, id, size, mtime_ns, ctime_ns, inode, seen_ns, digest FROM files WHERE"
    return {row[0]: Known(row[1], Stat(*row[2:7]), row[7]) for row in _each(index, sql, paths)}


def unchanged(index: Index, walk: str, stamps: dict[str, tuple[int, int, int, int]]) -> bool:
    """Return True if these are all known files, each unchanged since it was read, and none was read
    so soon after a change that it must be read again. This is much faster than a comparison with
    `known`, above all if the same walk was the last one that led to a write."""
    if index.value("SELECT 1 FROM meta WHERE key = 'whole' AND value = ?", (walk,)):
        return True
    if _any_racy(index):
        return False
    rows = index.rows("SELECT path, size, mtime_ns, ctime_ns, inode FROM files")
    return {path: tuple(stamp) for path, *stamp in rows} == stamps


def _any_racy(index: Index) -> bool:
    slack = f"iif(ctime_ns % 1000000000, {FINE_SLACK}, {COARSE_SLACK})"
    sql = f"SELECT 1 FROM files WHERE ctime_ns > seen_ns - {slack} LIMIT 1"
    return index.value(sql) is not None


_BELOW = "(path = ? OR (path >= ? AND path < ?))"


def _each(index: Index, sql: str, paths: Iterable[str] | None) -> Iterable[tuple[Any, ...]]:
    """Return the rows for these paths and all below them, path by path: one condition for a
    thousand of them would be too deep for SQLite."""
    if paths is None:
        return index.rows(f"{sql} 1")
    return chain.from_iterable(index.rows(f"{sql} {_BELOW}", _below(p)) for p in sorted(paths))


def _below(path: str) -> tuple[str, str, str]:
    """Return the values for _BELOW ('0' is the character after '/')."""
    name = storable(path)
    return name, f"{name}/", f"{name}0"


def storable(path: str) -> str:
    """Return a path as the index stores it: bytes that are not UTF-8 are escaped."""
    return path if path.isascii() else path.encode("utf-8", "backslashreplace").decode()


def scope_of(index: Index, file: int) -> str:
    """Return the scope of a known file."""
    return str(index.value("SELECT scope FROM files WHERE id = ?", (file,)))


def entries(index: Index, file: int, part: Part | None = None) -> dict[str, str]:
    """Return the texts of a file's entries by id, in order; of two with one id the first."""
    where, values = _inside(file, part)
    sql = f"SELECT ref, text FROM entries WHERE {where} ORDER BY line DESC, id DESC"
    return dict(reversed(index.rows(sql, values)))


def headings(index: Index, file: int, part: Part | None = None) -> dict[str, str]:
    """Return the headings above a file's entries, by id."""
    where, values = _inside(file, part)
    return dict(index.rows(f"SELECT ref, heading FROM entries WHERE {where}", values))


def written_ids(index: Index, file: int, part: Part | None = None) -> list[str]:
    """Return the ids that are written in a memory note."""
    where, values = _inside(file, part)
    sql = f"SELECT ref FROM entries WHERE {where} AND {_WRITTEN}"
    return [ref for (ref,) in index.rows(sql, values)]


_WRITTEN = "json_extract(extra, '$.anchored') IS NOT NULL"


def _inside(file: int, part: Part | None) -> tuple[str, tuple[int, ...]]:
    """Return a condition on the entries of a file, or of a part of it, and its values."""
    if part is None:
        return "file = ?", (file,)
    return "file = ? AND start >= ? AND start < ?", (file, part.start, part.stop)


def can_replace(index: Index, parsed: ParsedFile) -> bool:
    """Return True if the rest of a file stays as it is when this part of it is replaced.

    An id that is derived from words depends on all entries: it counts those with the same words and
    avoids the ids of others. A problem may have its reason anywhere.
    """
    part = parsed.part
    if part is None or index.value("SELECT 1 FROM problems WHERE path = ?", (parsed.path,)):
        return False
    role = index.rows("SELECT scope, agent, project, stale FROM files WHERE id = ?", (parsed.id,))
    if role != [(parsed.scope, parsed.agent, parsed.project, "")]:
        return False
    inside, values = _inside(parsed.id or 0, part)
    before = index.rows(f"SELECT ref FROM entries WHERE {inside} ORDER BY start", values)
    outside = "+file = ? AND NOT (start >= ? AND start < ?)"  # +: to be found by ref if possible
    refs = {entry.ref for entry in parsed.document.entries}
    sql = f"SELECT 1 FROM entries WHERE {outside} AND ref IN"
    if [ref for (ref,) in before] != list(part.refs) or any(each(index.db, sql, refs, values)):
        return False
    outside = outside.removeprefix("+")
    sql = f"SELECT 1 FROM entries WHERE {outside} AND NOT {_WRITTEN} LIMIT 1"
    others_derived = index.value(sql, values) is not None
    if not (others_derived or part.derived):
        return True
    if others_derived and not refs.issuperset(part.refs):
        return False
    texts = [text for (text,) in index.rows(f"SELECT text FROM entries WHERE {outside}", values)]
    if len(texts) * len(part.words) > _MANY:
        return False
    wanted = [sorted(words.split(), key=len, reverse=True) for words in part.words]
    return not any(all(word in text for word in words) for words in wanted for text in texts)


_MANY = 1_000_000  # pairs of entries; to compare more takes longer than to parse the file


def store(index: Index, batch: Sequence[ParsedFile]) -> None:
    """Replace the rows of these files.

    A broken file that was known before keeps its old entries and is marked stale.
    """
    db = index.db
    next_file = _next_id(db, "files")
    next_entry = _next_id(db, "entries")
    files, entries, links, notes = [], [], [], []
    texts: dict[str, list[tuple[Any, ...]]] = {}
    for parsed in batch:
        file_id = parsed.id
        if file_id is None:
            file_id, next_file = next_file, next_file + 1
        document = parsed.document
        kept = document.broken and parsed.id is not None
        stale = document.problems[0].message if kept else ""
        names, headings, tags = _fields(parsed)
        files.append(
            (file_id, parsed.path, *parsed.stat, parsed.digest, parsed.scope, parsed.agent,
             parsed.project, document.title, names, headings, tags, document.created, stale)
        )  # fmt: skip
        if parsed.id is not None:
            _unlist_note(index, parsed.id)
        if kept:
            _relabel(index, parsed)
            continue
        rows = _entry_rows(file_id, parsed)
        if parsed.id is not None:
            rows = _replace(index, parsed, rows)
        listed = texts.setdefault(_sort(parsed.scope), [])
        for row, its_links, columns in rows:
            entries.append((next_entry, *row))
            listed.append((next_entry, *columns))
            links += [(next_entry, seq, *link) for seq, link in enumerate(its_links)]
            next_entry += 1
        if parsed.scope == "sources":
            folder = parsed.path[: parsed.path.rfind("/") + 1]
            body = "\n".join([entry.text for entry in document.entries])
            notes.append((file_id, document.title, names, headings, folder, tags, body))
    db.executemany(_UPSERT_FILE, files)
    db.executemany(f"INSERT INTO entries VALUES {marks(23)}", entries)
    db.executemany("INSERT INTO links VALUES (?, ?, ?, ?, ?, ?)", links)
    for table, some in (*texts.items(), ("notes", notes)):  # not read back: that is slow
        _list(index, table, some)
    _list_characters(index, [(row[0], *row[-4:]) for row in entries])
    set_problems(db, [(parsed.path, parsed.document.problems) for parsed in batch])


def _sort(scope: str) -> str:
    """Return the table of full text that has the entries of the files of a scope."""
    return {"sources": "passages", "sessions": "turns"}.get(scope, "entries")


def _fields(parsed: ParsedFile) -> tuple[str, str, str]:
    """Return aliases, headings and tags of a note, as full text has them."""
    if parsed.scope != "sources":
        return "", "", ""
    document = parsed.document
    stem = parsed.path.rpartition("/")[2].removesuffix(".md")
    names = (*document.aliases, stem) if stem != document.title else document.aliases
    tags = dict.fromkeys(tag for entry in document.entries for tag in entry.tags)
    return "\n".join(names), "\n".join(document.headings), " ".join(tags)


def _replace(index: Index, parsed: ParsedFile, rows: list[NewEntry]) -> list[NewEntry]:
    """Remove the rows of a known file, or of a part of it, that are not among these, and move the
    others to where they are now. Return the rows that are missing."""
    db, (where, values) = index.db, _inside(parsed.id or 0, parsed.part)
    role = index.rows("SELECT title, scope FROM files WHERE id = ?", (parsed.id,))
    if parsed.scope == "sessions" or role != [(parsed.document.title, parsed.scope)]:
        _clear(index, where, [values])  # ids of turns are in a row; and titles are in full text
        return rows
    links: dict[int, list[tuple[Any, ...]]] = {}
    sql = f"SELECT * FROM links WHERE entry IN (SELECT id FROM entries WHERE {where})"
    for id, _, *link in db.execute(sql, values):
        links.setdefault(id, []).append(tuple(link))
    old = db.execute(f"SELECT * FROM entries WHERE {where}", values).fetchall()
    known = {_content(row, links.get(id, ())): (id, row[_PLACED]) for id, *row in old}
    gone = {id for id, *_ in old}
    missing: list[NewEntry] = []
    moved: list[tuple[int, ...]] = []
    for entry in rows:
        row, its_links, _ = entry
        id, place = known.pop(_content(row, its_links), (0, []))
        if not id:
            missing.append(entry)
            continue
        gone.discard(id)
        if place != list(row[_PLACED]):
            moved.append((*row[_PLACED], id, row[_PLACED.start] - place[0]))
    _clear(index, "id = ?", [(id,) for id in gone])
    if parsed.part:
        _shift(db, parsed.id or 0, parsed.part)
    sql = "UPDATE entries SET line = ?, end_line = ?, start = ?, stop = ? WHERE id = ?"
    db.executemany(sql, [row[:5] for row in moved])
    sql = "UPDATE links SET line = line + ? WHERE entry = ?"
    db.executemany(sql, [(lines, id) for *_, id, lines in moved if lines])
    return missing


def _shift(db: sqlite3.Connection, file: int, part: Part) -> None:
    """Move the rows behind a part of a file that has another length now."""
    lines, size, behind = part.lines, part.size, "file = ? AND start >= ?"
    if lines:
        some = f"entry IN (SELECT id FROM entries WHERE {behind})"
        db.execute(f"UPDATE links SET line = line + ? WHERE {some}", (lines, file, part.stop))
    if lines or size:
        db.execute(
            "UPDATE entries SET line = line + ?, end_line = end_line + ?, start = start + ?,"
            f" stop = stop + ? WHERE {behind}",
            (lines, lines, size, size, file, part.stop),
        )


def _content(row: Sequence[Any], links: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return all of an entry except its place."""
    line = row[_PLACED.start]
    pointed = [(link[0] - line, *link[1:]) for link in links]
    return (*row[: _PLACED.start], *row[_PLACED.stop :], *pointed)


_PLACED = slice(8, 12)  # line, end_line, start and stop in the row of an entry, without its id
_UPSERT_FILE = f"""
    INSERT INTO files VALUES {marks(17)}
    ON CONFLICT (id) DO UPDATE SET
        path = excluded.path, size = excluded.size, mtime_ns = excluded.mtime_ns,
        ctime_ns = excluded.ctime_ns, inode = excluded.inode, seen_ns = excluded.seen_ns,
        digest = excluded.digest, scope = excluded.scope, agent = excluded.agent,
        project = excluded.project, stale = excluded.stale,
        title = iif(excluded.stale = '', excluded.title, title),
        aliases = iif(excluded.stale = '', excluded.aliases, aliases),
        headings = iif(excluded.stale = '', excluded.headings, headings),
        tags = iif(excluded.stale = '', excluded.tags, tags),
        created = iif(excluded.stale = '', excluded.created, created)
"""


HEADING = 1_000  # characters: every passage of a note repeats the headings above it


def _entry_rows(file: int, parsed: ParsedFile) -> list[NewEntry]:
    """Return the rows of the entries of a file, without their ids."""
    _, path, _, _, scope, agent, project, document, _ = parsed
    is_note, is_memory, is_session = (scope == name for name in ("sources", "memory", "sessions"))
    siblings = len(document.entries) if is_session else 1
    table = _sort(scope)
    found: list[NewEntry] = []
    for at, entry in enumerate(document.entries):
        (ref, kind, status, heading, text, tags, line, end_line, created, links, start, end, extra,
         lead) = entry  # fmt: skip
        heading, words = heading[:HEADING], f" {' '.join(tags)} " if tags else ""
        its_scope, fingerprint = scope, None
        columns: tuple[str, ...] = (text,)
        if is_note:
            start = end = at
            columns = document.title, heading, text[lead:]
        elif not is_session:
            source = (extra or {}).get("sourceFile", "")
            columns = text, words, path, heading, f"{kind} {source}"
        if is_memory and kind == "note":
            its_scope = "sources"  # what is not a memory, such as a table, is found like any note
        elif is_memory:
            from brain.formats import plain_text  # not needed to search

            fingerprint = plain_text.fingerprint(plain_text.without_links(text))
        row = (
            file, its_scope, agent, project, kind, status, created, ref, line, end_line, start, end,
            _json(extra) if extra else None, at if is_session else 0, siblings, lead, table,
            fingerprint, heading, text, words, path,
        )  # fmt: skip
        found.append((row, links, columns))
    return found


def _json(extra: dict[str, Any]) -> str:
    import json  # which few notes need

    return json.dumps(extra, ensure_ascii=False)


def touch(db: sqlite3.Connection, seen: Iterable[tuple[int, Stat]]) -> None:
    """Store new stat values of files whose content did not change."""
    db.executemany(
        "UPDATE files SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ?, seen_ns = ?"
        " WHERE id = ?",
        [(*stat, id) for id, stat in seen],
    )


def finish(index: Index, walk: str) -> None:
    """Record that the index has the whole vault, as this walk found it ('' without a walk).

    A walk is not recorded while a file has to be read again whatever its times are.
    """
    value = "" if walk and _any_racy(index) else walk
    index.db.execute("INSERT OR REPLACE INTO meta VALUES ('whole', ?)", (value,))


def forget(index: Index, gone: Sequence[tuple[int, str]]) -> None:
    """Remove files, given as (id, path), with all their rows."""
    db = index.db
    for id, _ in gone:
        _unlist_note(index, id)
    _clear(index, "file = ?", [(id,) for id, _ in gone])
    db.executemany("DELETE FROM files WHERE id = ?", [(id,) for id, _ in gone])
    db.executemany("DELETE FROM problems WHERE path = ?", [(path,) for _, path in gone])


def set_problems(db: sqlite3.Connection, found: Sequence[tuple[str, tuple[Problem, ...]]]) -> None:
    """Replace the problems of these paths."""
    db.executemany("DELETE FROM problems WHERE path = ?", [(path,) for path, _ in found])
    rows = [(path, *problem) for path, problems in found for problem in problems]
    db.executemany("INSERT INTO problems VALUES (?, ?, ?, ?)", rows)


def problems_of(
    index: Index, codes: Iterable[str], paths: Iterable[str] | None
) -> list[tuple[str, Problem]]:
    """Return the stored problems with these codes, of these paths and all below them, in order."""
    sql = f"SELECT path, line, code, message FROM problems WHERE {_has_code(codes)} AND"
    return sorted({(path, Problem(*problem)) for path, *problem in _each(index, sql, paths)})


def replace_problems(
    db: sqlite3.Connection,
    codes: Iterable[str],
    paths: Iterable[str] | None,
    found: Iterable[tuple[str, Problem]],
) -> None:
    """Make `found` the problems with these codes, of these paths and all below them."""
    sql = f"DELETE FROM problems WHERE {_has_code(codes)} AND"
    if paths is None:
        db.execute(f"{sql} 1")
    else:
        db.executemany(f"{sql} {_BELOW}", map(_below, paths))
    rows = [(path, *problem) for path, problem in found]
    db.executemany("INSERT INTO problems VALUES (?, ?, ?, ?)", rows)


def _has_code(codes: Iterable[str]) -> str:
    """Return a condition on codes, which need no quoting."""
    return "code IN ({})".format(", ".join(f"'{code}'" for code in sorted(codes)))


def _clear(index: Index, where: str, values: Sequence[tuple[int, ...]]) -> None:
    """Remove entries: those that meet this condition with each of the values."""
    db = index.db
    _unlist(index, where, values)
    sql = f"DELETE FROM links WHERE entry IN (SELECT id FROM entries WHERE {where})"
    db.executemany(sql, values)
    db.executemany(f"DELETE FROM entries WHERE {where}", values)


def _list(index: Index, table: str, rows: list[tuple[Any, ...]]) -> None:
    """Add rows to a table of full text, given as their ids and its columns."""
    columns = FULL_TEXTS[table]
    sql = f"INSERT INTO {table}_fts (rowid, {', '.join(columns)}) VALUES {marks(1 + len(columns))}"
    index.db.executemany(sql, rows)


def _list_characters(index: Index, rows: list[tuple[Any, ...]]) -> None:
    """Add the characters of scripts without spaces to full text, given as an id and texts."""
    apart = [
        (id, _apart("\n".join((heading, text, tags, path))))
        for id, heading, text, tags, path in rows
        if not (text.isascii() and heading.isascii() and tags.isascii() and path.isascii())
    ]
    _list(index, "characters", [row for row in apart if row[1]])


def _apart(text: str) -> str:
    """Return the characters of scripts without spaces, the words that are attached to them, and a 0
    for each other word, so that the length counts as it is; '' without such characters."""
    characters = unspaced_characters(text)
    return (
        " ".join([characters, *words_next_to_unspaced(text), *("0" for _ in text.split())])
        if characters
        else ""
    )


def _unlist(index: Index, where: str, values: Sequence[tuple[int, ...]]) -> None:
    """Remove such entries from full text, while their old values can be read."""
    some = f"(SELECT id FROM entries WHERE {where})"
    index.db.executemany(f"DELETE FROM characters_fts WHERE rowid IN {some}", values)
    for table, view in _VIEWS.items():
        _unlist_rows(index, table, view, f"id IN {some}", values)


def _unlist_note(index: Index, file: int) -> None:
    """Remove a note from full text, while its passages can be read."""
    _unlist_rows(index, "notes", "note_texts", "id = ?", [(file,)])


_VIEWS = {"passages": "passage_texts", "turns": "turn_texts", "entries": "entry_texts"}


def _unlist_rows(
    index: Index, table: str, view: str, where: str, values: Sequence[tuple[int, ...]]
) -> None:
    if index.fts == "fts4":
        sql = f"DELETE FROM {table}_fts WHERE docid IN (SELECT id FROM {view} WHERE {where})"
    else:
        columns = ", ".join(FULL_TEXTS[table])
        sql = f"""INSERT INTO {table}_fts ({table}_fts, rowid, {columns})
            SELECT 'delete', id, {columns} FROM {view} WHERE {where}"""
    index.db.executemany(sql, values)


def _relabel(index: Index, parsed: ParsedFile) -> None:
    """Give the kept entries of a broken file its present path and owner. The file is not a note,
    because any text can be parsed as a note."""
    db, file, scope, table = index.db, parsed.id or 0, parsed.scope, _sort(parsed.scope)
    _unlist(index, "file = ?", [(file,)])
    db.execute(
        "UPDATE entries SET path = ?, agent = ?, project = ?, sort = ?,"
        " scope = iif(kind = 'note' AND ? = 'memory', 'sources', ?) WHERE file = ?",
        (parsed.path, parsed.agent, parsed.project, table, scope, scope, file),
    )
    sql = f"""SELECT id, {", ".join(FULL_TEXTS[table])} FROM {_VIEWS[table]}
        WHERE id IN (SELECT id FROM entries WHERE file = ?)"""
    _list(index, table, db.execute(sql, (file,)).fetchall())
    sql = "SELECT id, heading, text, tags, path FROM entries WHERE file = ?"
    _list_characters(index, db.execute(sql, (file,)).fetchall())


def _next_id(db: sqlite3.Connection, table: str) -> int:
    row = db.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
    return int(row[0]) + 1 if row else 1

"""Add and remove the rows of files: the only statements that change files and entries."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from brain._tuples import NamedTuple
from brain.formats.text import unspaced_characters, words_next_to_unspaced
from brain.index.db import FULL_TEXTS, Index, each, marks
from brain.index.read import BELOW, WRITTEN, Stat, below, has_code, in_part
from brain.model import Document, Part, Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brain.model import Link

    # the row of an entry, its links, and its columns of full text
    NewEntry = tuple[tuple[Any, ...], tuple[Link, ...], tuple[str, ...]]


class ParsedFile(NamedTuple):
    """A file to store. `id` is None for a new file.

    If there is a `part`, the document has only the entries of this part of the file.
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


def can_replace(index: Index, parsed: ParsedFile) -> bool:
    """Return True if replacing the rows of this part of a file does not affect its other rows.

    An id that is derived from words depends on all entries, because it counts entries with the same
    words and differs from all other ids. The reason for a problem may be anywhere in the file.
    """
    part = parsed.part
    if part is None or index.value("SELECT 1 FROM problems WHERE path = ?", (parsed.path,)):
        return False
    role = index.rows("SELECT scope, agent, project, stale FROM files WHERE id = ?", (parsed.id,))
    if role != [(parsed.scope, parsed.agent, parsed.project, "")]:
        return False
    condition, values = in_part(parsed.id or 0, part)
    before = index.rows(f"SELECT ref FROM entries WHERE {condition} ORDER BY start", values)
    # the + makes SQLite use the index on ref
    outside = "+file = ? AND NOT (start >= ? AND start < ?)"
    refs = {entry.ref for entry in parsed.document.entries}
    sql = f"SELECT 1 FROM entries WHERE {outside} AND ref IN"
    if [ref for (ref,) in before] != list(part.refs) or any(each(index.db, sql, refs, values)):
        return False
    outside = outside.removeprefix("+")
    sql = f"SELECT 1 FROM entries WHERE {outside} AND NOT {WRITTEN} LIMIT 1"
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


_MANY = 1_000_000  # pairs of a text and words; to compare more takes longer than to parse the file


def store(index: Index, batch: Sequence[ParsedFile]) -> None:
    """Replace the rows of these files.

    A broken file that was indexed before keeps its old entries and is marked as stale.
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
        keeps_entries = document.broken and parsed.id is not None
        stale = document.problems[0].message if keeps_entries else ""
        names, headings, tags = _note_columns(parsed)
        files.append(
            (file_id, parsed.path, *parsed.stat, parsed.digest, parsed.scope, parsed.agent,
             parsed.project, document.title, names, headings, tags, document.created, stale)
        )  # fmt: skip
        if parsed.id is not None:
            _remove_note_from_full_text(index, parsed.id)
        if keeps_entries:
            _update_owner(index, parsed)
            continue
        rows = _entry_rows(file_id, parsed)
        if parsed.id is not None:
            rows = _replace(index, parsed, rows)
        table_rows_of_scope = texts.setdefault(_full_text_table(parsed.scope), [])
        for row, its_links, columns in rows:
            entries.append((next_entry, *row))
            table_rows_of_scope.append((next_entry, *columns))
            links += [(next_entry, seq, *link) for seq, link in enumerate(its_links)]
            next_entry += 1
        if parsed.scope == "sources":
            folder = parsed.path[: parsed.path.rfind("/") + 1]
            body = "\n".join([entry.text for entry in document.entries])
            notes.append((file_id, document.title, names, headings, folder, tags, body))
    db.executemany(_UPSERT_FILE, files)
    db.executemany(f"INSERT INTO entries VALUES {marks(23)}", entries)
    db.executemany("INSERT INTO links VALUES (?, ?, ?, ?, ?, ?)", links)
    for table, table_rows in (*texts.items(), ("notes", notes)):
        _add_to_full_text(index, table, table_rows)
    _add_characters(index, [(row[0], *row[-4:]) for row in entries])
    set_problems(db, [(parsed.path, parsed.document.problems) for parsed in batch])


def _full_text_table(scope: str) -> str:
    """Return the full-text table for the entries of a scope."""
    return {"sources": "passages", "sessions": "turns"}.get(scope, "entries")


def _note_columns(parsed: ParsedFile) -> tuple[str, str, str]:
    """Return the aliases, headings and tags of a note for the full text."""
    if parsed.scope != "sources":
        return "", "", ""
    document = parsed.document
    stem = parsed.path.rpartition("/")[2].removesuffix(".md")
    names = (*document.aliases, stem) if stem != document.title else document.aliases
    tags = dict.fromkeys(tag for entry in document.entries for tag in entry.tags)
    return "\n".join(names), "\n".join(document.headings), " ".join(tags)


def _replace(index: Index, parsed: ParsedFile, rows: list[NewEntry]) -> list[NewEntry]:
    """Remove the old rows of a file, or of a part of it, that are not among `rows`, and update the
    positions of the other old rows. Return the rows to add."""
    db, (where, values) = index.db, in_part(parsed.id or 0, parsed.part)
    role = index.rows("SELECT title, scope FROM files WHERE id = ?", (parsed.id,))
    if parsed.scope == "sessions" or role != [(parsed.document.title, parsed.scope)]:
        # ids of turns must be consecutive, and full text contains titles
        _delete_entries(index, where, [values])
        return rows
    links: dict[int, list[tuple[Any, ...]]] = {}
    sql = f"SELECT * FROM links WHERE entry IN (SELECT id FROM entries WHERE {where})"
    for id, _, *link in db.execute(sql, values):
        links.setdefault(id, []).append(tuple(link))
    old = db.execute(f"SELECT * FROM entries WHERE {where}", values).fetchall()
    known = {_content(row, links.get(id, ())): (id, row[_POSITION]) for id, *row in old}
    removed = {id for id, *_ in old}
    missing: list[NewEntry] = []
    moved: list[tuple[int, ...]] = []
    for entry in rows:
        row, its_links, _ = entry
        id, position = known.pop(_content(row, its_links), (0, []))
        if not id:
            missing.append(entry)
            continue
        removed.discard(id)
        if position != list(row[_POSITION]):
            moved.append((*row[_POSITION], id, row[_POSITION.start] - position[0]))
    _delete_entries(index, "id = ?", [(id,) for id in removed])
    if parsed.part:
        _shift_positions(db, parsed.id or 0, parsed.part)
    sql = "UPDATE entries SET line = ?, end_line = ?, start = ?, stop = ? WHERE id = ?"
    db.executemany(sql, [row[:5] for row in moved])
    sql = "UPDATE links SET line = line + ? WHERE entry = ?"
    db.executemany(sql, [(lines, id) for *_, id, lines in moved if lines])
    return missing


def _shift_positions(db: sqlite3.Connection, file: int, part: Part) -> None:
    """Update the positions of the rows after a part of a file whose length has changed."""
    lines, size, is_after = part.lines, part.size, "file = ? AND start >= ?"
    if lines:
        is_linked = f"entry IN (SELECT id FROM entries WHERE {is_after})"
        db.execute(f"UPDATE links SET line = line + ? WHERE {is_linked}", (lines, file, part.stop))
    if lines or size:
        db.execute(
            "UPDATE entries SET line = line + ?, end_line = end_line + ?, start = start + ?,"
            f" stop = stop + ? WHERE {is_after}",
            (lines, lines, size, size, file, part.stop),
        )


def _content(row: Sequence[Any], links: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return the content of an entry without its position, for comparison."""
    line = row[_POSITION.start]
    relative_links = [(link[0] - line, *link[1:]) for link in links]
    return (*row[: _POSITION.start], *row[_POSITION.stop :], *relative_links)


_POSITION = slice(8, 12)  # line, end_line, start and stop in the row of an entry, without its id
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


MAX_HEADING = 1_000  # characters, because every passage repeats the headings above it


def _entry_rows(file: int, parsed: ParsedFile) -> list[NewEntry]:
    """Return the rows of the entries of a file, without their ids."""
    _, path, _, _, scope, agent, project, document, _ = parsed
    is_note, is_memory, is_session = (scope == name for name in ("sources", "memory", "sessions"))
    siblings = len(document.entries) if is_session else 1
    table = _full_text_table(scope)
    rows: list[NewEntry] = []
    for number, entry in enumerate(document.entries):
        (ref, kind, status, heading, text, tags, line, end_line, created, links, start, end, extra,
         lead) = entry  # fmt: skip
        heading, words = heading[:MAX_HEADING], f" {' '.join(tags)} " if tags else ""
        its_scope, fingerprint = scope, None
        columns: tuple[str, ...] = (text,)
        if is_note:
            start = end = number
            columns = document.title, heading, text[lead:]
        elif is_session:
            start = end = parsed.part.start if parsed.part else 0
        else:
            source = (extra or {}).get("sourceFile", "")
            columns = text, words, path, heading, f"{kind} {source}"
        if is_memory and kind == "note":
            its_scope = "sources"  # a table, for example, is not a memory
        elif is_memory:
            from brain.formats import inline  # a search does not need it

            fingerprint = inline.fingerprint(inline.without_links(text))
        row = (
            file, its_scope, agent, project, kind, status, created, ref, line, end_line, start, end,
            _json(extra) if extra else None, number if is_session else 0, siblings, lead, table,
            fingerprint, heading, text, words, path,
        )  # fmt: skip
        rows.append((row, links, columns))
    return rows


def _json(extra: dict[str, Any]) -> str:
    import json  # only a few notes need it

    return json.dumps(extra, ensure_ascii=False)


def touch(db: sqlite3.Connection, seen: Iterable[tuple[int, Stat]]) -> None:
    """Store new stat values of files whose content did not change."""
    db.executemany(
        "UPDATE files SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ?, seen_ns = ?"
        " WHERE id = ?",
        [(*stat, id) for id, stat in seen],
    )


def finish(index: Index, walk: str) -> None:
    """Record that the index contains the whole vault, with the digest of the walk ('' for none)."""
    index.db.execute("INSERT OR REPLACE INTO meta VALUES ('whole', ?)", (walk,))


def forget(index: Index, gone: Sequence[tuple[int, str]]) -> None:
    """Remove files, given as (id, path), with all their rows."""
    db = index.db
    for id, _ in gone:
        _remove_note_from_full_text(index, id)
    _delete_entries(index, "file = ?", [(id,) for id, _ in gone])
    db.executemany("DELETE FROM files WHERE id = ?", [(id,) for id, _ in gone])
    db.executemany("DELETE FROM problems WHERE path = ?", [(path,) for _, path in gone])


def set_problems(db: sqlite3.Connection, found: Sequence[tuple[str, tuple[Problem, ...]]]) -> None:
    """Replace the problems of these paths."""
    db.executemany("DELETE FROM problems WHERE path = ?", [(path,) for path, _ in found])
    last = dict(found)  # if a file comes in pieces, the last has the problems of all pieces
    rows = [(path, *problem) for path, problems in last.items() for problem in problems]
    db.executemany("INSERT INTO problems VALUES (?, ?, ?, ?)", rows)


def replace_problems(
    db: sqlite3.Connection,
    codes: Iterable[str],
    paths: Iterable[str] | None,
    found: Iterable[tuple[str, Problem]],
) -> None:
    """Replace the problems with these codes at and below these paths."""
    sql = f"DELETE FROM problems WHERE {has_code(codes)} AND"
    if paths is None:
        db.execute(f"{sql} 1")
    else:
        db.executemany(f"{sql} {BELOW}", map(below, paths))
    rows = [(path, *problem) for path, problem in found]
    db.executemany("INSERT INTO problems VALUES (?, ?, ?, ?)", rows)


def _delete_entries(index: Index, where: str, values: Sequence[tuple[int, ...]]) -> None:
    """Remove the entries that meet a condition, for each tuple of values."""
    db = index.db
    _remove_from_full_text(index, where, values)
    sql = f"DELETE FROM links WHERE entry IN (SELECT id FROM entries WHERE {where})"
    db.executemany(sql, values)
    db.executemany(f"DELETE FROM entries WHERE {where}", values)


def _add_to_full_text(index: Index, table: str, rows: list[tuple[Any, ...]]) -> None:
    """Add rows to a full-text table, given as (id, *columns)."""
    columns = FULL_TEXTS[table]
    sql = f"INSERT INTO {table}_fts (rowid, {', '.join(columns)}) VALUES {marks(1 + len(columns))}"
    index.db.executemany(sql, rows)


def _add_characters(index: Index, rows: list[tuple[Any, ...]]) -> None:
    """Add the characters of scripts without spaces to full text. Rows are (id, heading, text, tags,
    path)."""
    characters_by_id = [
        (id, _characters_text("\n".join((heading, text, tags, path))))
        for id, heading, text, tags, path in rows
        if not (text.isascii() and heading.isascii() and tags.isascii() and path.isascii())
    ]
    _add_to_full_text(index, "characters", [row for row in characters_by_id if row[1]])


def _characters_text(text: str) -> str:
    """Return the characters of scripts without spaces, the words next to them, and a 0 for each
    word of the text, so that bm25 uses the length of the text; '' without such characters."""
    characters = unspaced_characters(text)
    return (
        " ".join([characters, *words_next_to_unspaced(text), *("0" for _ in text.split())])
        if characters
        else ""
    )


def _remove_from_full_text(index: Index, where: str, values: Sequence[tuple[int, ...]]) -> None:
    """Remove entries from full text, before they are deleted."""
    selected = f"(SELECT id FROM entries WHERE {where})"
    index.db.executemany(f"DELETE FROM characters_fts WHERE rowid IN {selected}", values)
    for table, view in _VIEWS.items():
        _remove_full_text_rows(index, table, view, f"id IN {selected}", values)


def _remove_note_from_full_text(index: Index, file: int) -> None:
    """Remove a note from full text, before its passages are deleted."""
    _remove_full_text_rows(index, "notes", "note_texts", "id = ?", [(file,)])


_VIEWS = {"passages": "passage_texts", "turns": "turn_texts", "entries": "entry_texts"}


def _remove_full_text_rows(
    index: Index, table: str, view: str, where: str, values: Sequence[tuple[int, ...]]
) -> None:
    if index.fts == "fts4":
        sql = f"DELETE FROM {table}_fts WHERE docid IN (SELECT id FROM {view} WHERE {where})"
    else:
        columns = ", ".join(FULL_TEXTS[table])
        sql = f"""INSERT INTO {table}_fts ({table}_fts, rowid, {columns})
            SELECT 'delete', id, {columns} FROM {view} WHERE {where}"""
    index.db.executemany(sql, values)


def _update_owner(index: Index, parsed: ParsedFile) -> None:
    """Update the path and owner of the kept entries of a broken file. The file is not a plain note,
    because plain notes are never broken."""
    db, file, scope, table = index.db, parsed.id or 0, parsed.scope, _full_text_table(parsed.scope)
    _remove_from_full_text(index, "file = ?", [(file,)])
    db.execute(
        "UPDATE entries SET path = ?, agent = ?, project = ?, sort = ?,"
        " scope = iif(kind = 'note' AND ? = 'memory', 'sources', ?) WHERE file = ?",
        (parsed.path, parsed.agent, parsed.project, table, scope, scope, file),
    )
    sql = f"""SELECT id, {", ".join(FULL_TEXTS[table])} FROM {_VIEWS[table]}
        WHERE id IN (SELECT id FROM entries WHERE file = ?)"""
    _add_to_full_text(index, table, db.execute(sql, (file,)).fetchall())
    sql = "SELECT id, heading, text, tags, path FROM entries WHERE file = ?"
    _add_characters(index, db.execute(sql, (file,)).fetchall())


def _next_id(db: sqlite3.Connection, table: str) -> int:
    row = db.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
    return int(row[0]) + 1 if row else 1

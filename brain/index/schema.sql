-- The tables of brain.db. The database is a cache: it can be built again from the vault and state.db,
-- except for the last events.
-- Only write.py changes files and entries. There are no foreign keys, so it removes the rows that
-- refer to a row before the row itself. records.py writes the content of the journals, and events.py
-- the events. vectors.py has its own file.
-- There are no migrations: db.SCHEMA_VERSION changes with this file, and another version is rebuilt.

-- Facts about this index: the vault and the version of Brain that it was built for, the full-text
-- engine, and `whole` when a sync of the whole vault has been finished.
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- One row per indexed file. The stat columns only save time: the digest decides whether a file has
-- changed.
CREATE TABLE files (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    path     TEXT    NOT NULL UNIQUE,  -- relative to the vault, with '/'
    size     INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    inode    INTEGER NOT NULL,
    seen_ns  INTEGER NOT NULL,         -- the clock when the file was read
    digest   BLOB    NOT NULL,
    scope    TEXT    NOT NULL,
    agent    TEXT    NOT NULL,         -- '' where no agent owns it
    project  TEXT    NOT NULL,
    title    TEXT    NOT NULL,
    aliases  TEXT    NOT NULL,         -- other names of a note, one a line
    headings TEXT    NOT NULL,         -- of a note, one a line
    tags     TEXT    NOT NULL,         -- of a note and all its passages
    created  TEXT,                     -- what the note itself claims; else mtime_ns counts
    stale    TEXT    NOT NULL          -- why the rows below are older than the file, else ''
);
CREATE INDEX files_stale ON files (path) WHERE stale != '';
CREATE INDEX files_tied ON files (id) WHERE scope IN ('memory', 'items');
CREATE INDEX files_owned ON files (id, agent, scope) WHERE agent NOT IN ('', 'admin');

-- One row per entry: a memory, an item, a task, a turn, a passage of a note.
-- AUTOINCREMENT, so that a row id is never used again for another text.
CREATE TABLE entries (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    file     INTEGER NOT NULL,         -- files.id
    scope    TEXT    NOT NULL,
    agent    TEXT    NOT NULL,
    project  TEXT    NOT NULL,
    kind     TEXT    NOT NULL,
    status   TEXT    NOT NULL,
    created  TEXT,                     -- NULL: as the file
    ref      TEXT    NOT NULL,         -- the id a person or an agent uses
    line     INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    start    INTEGER NOT NULL,         -- byte span in a memory note; of a passage, its number
    stop     INTEGER NOT NULL,
    extra    TEXT,                     -- JSON: what only this kind of entry has
    place    INTEGER NOT NULL,         -- of a turn in its session, from 0
    siblings INTEGER NOT NULL,         -- how many turns that session has, with ids in a row
    lead     INTEGER NOT NULL,         -- characters of properties before the text of a note
    sort     TEXT    NOT NULL,         -- its table of full text: passages, turns or entries
    fingerprint TEXT,                  -- of the words of a memory without links; else NULL
    heading  TEXT    NOT NULL,
    text     TEXT    NOT NULL,
    tags     TEXT    NOT NULL,         -- ' a b/c ', as written, spaces around each
    path     TEXT    NOT NULL          -- of the file, for full text
);
CREATE INDEX entries_file ON entries (file, start);
CREATE INDEX entries_note ON entries (id, file);  -- the note of a passage, without reading its text
CREATE INDEX entries_ref ON entries (ref);
CREATE INDEX entries_fingerprint ON entries (fingerprint) WHERE fingerprint IS NOT NULL;
CREATE INDEX entries_speaker ON entries (heading, agent, file) WHERE scope = 'sessions';
CREATE INDEX entries_owned ON entries (id, agent, sort) WHERE agent NOT IN ('', 'admin');
CREATE INDEX entries_pinned ON entries (agent) WHERE scope = 'memory' AND status = 'pinned';
CREATE INDEX entries_negative ON entries (agent) WHERE scope = 'memory' AND kind = 'negative';
CREATE INDEX entries_procedure ON entries (agent) WHERE scope = 'memory' AND kind = 'procedure';
CREATE INDEX entries_summary ON entries (agent) WHERE kind IN ('summary', 'session');
CREATE INDEX entries_task ON entries (agent) WHERE kind = 'task';

-- The links of an entry, in order. For passages of notes, only the links to blocks.
CREATE TABLE links (
    entry    INTEGER NOT NULL,         -- entries.id
    seq      INTEGER NOT NULL,
    line     INTEGER NOT NULL,
    kind     TEXT    NOT NULL,         -- link, embed, supersedes, contradicts, …
    target   TEXT    NOT NULL,         -- '' points into the same note
    fragment TEXT    NOT NULL,         -- heading, or ^block
    PRIMARY KEY (entry, seq)
) WITHOUT ROWID;
CREATE INDEX links_superseded ON links (fragment) WHERE kind = 'supersedes';
CREATE INDEX links_contradicted ON links (fragment) WHERE kind = 'contradicts';
CREATE INDEX links_fragment ON links (fragment);

-- The problems that `brain doctor` shows. Their files need not be in `files`.
CREATE TABLE problems (
    path    TEXT    NOT NULL,
    line    INTEGER NOT NULL,
    code    TEXT    NOT NULL,
    message TEXT    NOT NULL
);
CREATE INDEX problems_path ON problems (path);
CREATE INDEX problems_unread ON problems (path) WHERE code = 'unreadable';

-- The last few memory events, so that a process can follow the events of other processes.
CREATE TABLE events (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    at      TEXT NOT NULL,
    name    TEXT NOT NULL,
    payload TEXT NOT NULL
);

-- The position up to which each journal file was read. The stat columns only save time.
CREATE TABLE journals (
    path     TEXT PRIMARY KEY,         -- device/month, or 'uses' for those of this machine
    size     INTEGER NOT NULL,         -- of the whole file; with the next three, a stat
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    inode    INTEGER NOT NULL,
    offset   INTEGER NOT NULL,         -- the end of the last line that was read
    lines    INTEGER NOT NULL,         -- newlines before `offset`
    crc      INTEGER NOT NULL,         -- checksum of all bytes before `offset`
    last     INTEGER NOT NULL          -- checksum of the last valid line; -1 if there is none
) WITHOUT ROWID;

-- The records in the journals of all devices. records.py defines their meaning.
CREATE TABLE records (
    device  TEXT    NOT NULL,
    seq     INTEGER NOT NULL,
    lamport INTEGER NOT NULL,
    id      TEXT    NOT NULL,
    at      TEXT    NOT NULL,
    by      TEXT    NOT NULL,
    op      TEXT    NOT NULL,
    ref     TEXT    NOT NULL,          -- the id of the entry
    path    TEXT    NOT NULL,
    data    TEXT    NOT NULL,          -- JSON
    purged  INTEGER NOT NULL DEFAULT 0,  -- 1: from before a purge, kept because it relates ids
    PRIMARY KEY (device, seq)
) WITHOUT ROWID;
CREATE INDEX records_ref ON records (ref, lamport);
CREATE INDEX records_id ON records (id);
CREATE INDEX records_op ON records (op);
CREATE INDEX records_at ON records (at);
CREATE INDEX records_part ON records (lamport) WHERE instr(data, '"part_of":');

-- The sums of an entry's records; one row for all ids that the entry has had.
CREATE TABLE facts (
    ref        TEXT PRIMARY KEY,       -- the smallest of its ids
    score      REAL    NOT NULL,       -- as reinforced and demoted; clamped when ranking
    hits       INTEGER NOT NULL,
    merges     INTEGER NOT NULL,       -- duplicates that were remembered again
    reinforced INTEGER NOT NULL,
    demoted    INTEGER NOT NULL,
    rejected   INTEGER NOT NULL,
    touched    TEXT    NOT NULL,       -- last reinforced or updated; '' for never
    last_hit   TEXT    NOT NULL,
    created    TEXT    NOT NULL,       -- when it was added, or a sync first saw it; '' if unknown
    by         TEXT    NOT NULL,       -- who added it
    session    TEXT    NOT NULL,
    confidence REAL,                   -- as given when it was remembered
    importance REAL,
    source     TEXT    NOT NULL,
    purged     TEXT    NOT NULL        -- when everything known before was forgotten
) WITHOUT ROWID;

-- The ids of entries that have had several, each with the id that is in `facts`.
CREATE TABLE aliases (
    ref   TEXT PRIMARY KEY,
    class TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX aliases_class ON aliases (class);

-- Entries that were useful in the same prompt; `one` < `other`.
CREATE TABLE learned (
    one      TEXT NOT NULL,
    other    TEXT NOT NULL,
    strength REAL NOT NULL,
    at       TEXT NOT NULL,
    PRIMARY KEY (one, other)
) WITHOUT ROWID;
CREATE INDEX learned_other ON learned (other);

-- Uses in state.db that are not in the journal yet; `other` is '' for hits.
CREATE TABLE pending_uses (
    ref   TEXT    NOT NULL,
    other TEXT    NOT NULL,
    count INTEGER NOT NULL,
    at    TEXT    NOT NULL,
    PRIMARY KEY (ref, other)
) WITHOUT ROWID;
CREATE INDEX pending_uses_other ON pending_uses (other) WHERE other != '';

-- Undated memories that a sync has found. They are in state.db, and not in the journal yet.
CREATE TABLE pending_seen (
    ref     TEXT PRIMARY KEY,
    created TEXT NOT NULL              -- the time of the file then
) WITHOUT ROWID;

-- The texts of notes, of their passages, of turns and of other entries, as full text contains them.
CREATE VIEW note_texts AS SELECT f.id, f.title, f.aliases, f.headings,
    rtrim(f.path, replace(f.path, '/', '')) AS folder, f.tags,
    (SELECT group_concat(text, char(10)) FROM
        (SELECT text FROM entries WHERE file = f.id ORDER BY start, id)) AS body
    FROM files f WHERE f.scope = 'sources';
CREATE VIEW passage_texts AS SELECT c.id, f.title, c.heading, substr(c.text, c.lead + 1) AS text
    FROM entries c JOIN files f ON f.id = c.file WHERE c.sort = 'passages';
CREATE VIEW turn_texts AS SELECT c.id, c.text FROM entries c WHERE c.sort = 'turns';
CREATE VIEW entry_texts AS SELECT c.id, c.text, c.tags, c.path, c.heading,
    c.kind || ' ' || coalesce(json_extract(c.extra, '$.sourceFile'), '') AS kind
    FROM entries c WHERE c.sort = 'entries';
-- Full text: a score compares the length of a row with the mean of its table, so each sort of text
-- has its own table. Before a text changes, its row is removed by rowid.
CREATE VIRTUAL TABLE notes_fts USING fts5 (
    title, aliases, headings, folder, tags, body,
    content = 'note_texts', content_rowid = 'id',
    tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE passages_fts USING fts5 (
    title, heading, text, content = 'passage_texts', content_rowid = 'id',
    tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE turns_fts USING fts5 (
    text, content = 'turn_texts', content_rowid = 'id',
    tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE entries_fts USING fts5 (
    text, tags, path, heading, kind, content = 'entry_texts', content_rowid = 'id',
    tokenize = 'porter unicode61 remove_diacritics 2'
);
-- The characters of scripts without spaces, one by one, and a 0 for each other word; only of entries
-- with such characters. They have their own table, because words weigh less in a long row.
CREATE VIRTUAL TABLE characters_fts USING fts5 (
    spaced, tokenize = 'unicode61 remove_diacritics 2'
);
-- Settings for few large writes: the data to collect before a segment is written, and its page size.
INSERT INTO notes_fts (notes_fts, rank) VALUES ('hashsize', 4194304);
INSERT INTO notes_fts (notes_fts, rank) VALUES ('pgsz', 16000);
INSERT INTO passages_fts (passages_fts, rank) VALUES ('hashsize', 4194304);
INSERT INTO passages_fts (passages_fts, rank) VALUES ('pgsz', 16000);
INSERT INTO turns_fts (turns_fts, rank) VALUES ('hashsize', 4194304);
INSERT INTO turns_fts (turns_fts, rank) VALUES ('pgsz', 16000);
INSERT INTO entries_fts (entries_fts, rank) VALUES ('hashsize', 4194304);
INSERT INTO entries_fts (entries_fts, rank) VALUES ('pgsz', 16000);
INSERT INTO characters_fts (characters_fts, rank) VALUES ('hashsize', 4194304);
INSERT INTO characters_fts (characters_fts, rank) VALUES ('pgsz', 16000);

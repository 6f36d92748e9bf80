-- Stands in for chunks_fts of schema.sql where SQLite has no FTS5; ranked by sqlite-fts4.
CREATE VIRTUAL TABLE chunks_fts USING fts4 (
    heading, text, tags, path, spaced,
    content="chunks", tokenize=unicode61 "remove_diacritics=2"
);

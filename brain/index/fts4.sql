-- Stands in for the full text of schema.sql where SQLite has no FTS5; ranked by sqlite-fts4.
CREATE VIRTUAL TABLE chunks_fts USING fts4 (
    heading, text, tags, path,
    content="chunks", tokenize=unicode61 "remove_diacritics=2"
);
-- With a row for every chunk: what stands in most rows has no rank at all.
CREATE VIRTUAL TABLE chunks_spaced USING fts4 (
    spaced, tokenize=unicode61 "remove_diacritics=2"
);

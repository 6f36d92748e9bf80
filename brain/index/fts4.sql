-- These tables replace the full text of schema.sql if SQLite has no FTS5. They store their own texts.
CREATE VIRTUAL TABLE notes_fts USING fts4 (
    title, aliases, headings, folder, tags, body, tokenize=unicode61 "remove_diacritics=2"
);
CREATE VIRTUAL TABLE passages_fts USING fts4 (
    title, heading, text, tokenize=unicode61 "remove_diacritics=2"
);
CREATE VIRTUAL TABLE turns_fts USING fts4 (text, tokenize=unicode61 "remove_diacritics=2");
CREATE VIRTUAL TABLE entries_fts USING fts4 (
    text, tags, path, heading, kind, tokenize=unicode61 "remove_diacritics=2"
);
CREATE VIRTUAL TABLE characters_fts USING fts4 (spaced, tokenize=unicode61 "remove_diacritics=2");

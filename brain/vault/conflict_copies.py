"""Recognise conflict copies: second versions of a file, which sync tools leave next to it."""

from __future__ import annotations

import re

from brain.vault import files

LARGEST_COPY = 10_000_000  # bytes
HINTS = ("onflict", "TOP-", r" \d\d?\.")  # the name of every copy contains one of them
# A sync tool adds its mark at the end of the name, before the extension.
_DAY, _COUNT = r"\d{4}-\d\d-\d\d", r"(?: \d+| \(\d+\))?"
_DROPBOX = r"(?:case|selective sync|unicode encoding|white ?space) conflict"
CERTAIN = (
    r"(?s).+(?:"
    r"(?P<Syncthing>\.sync-conflict-\d{8}-\d{6}(?:-[A-Z0-9]{7})?)"
    r"|(?P<Obsidian> \(Conflicted copy (?:.* )?\d{12,14}\)(?: \d+)?)"
    rf"|(?P<Nextcloud> \(conflicted copy (?:.* )?{_DAY} \d{{4,6}}\)"
    r"|_conflict(?:_.+)?-\d{8}-\d{6})"
    rf"|(?P<Seafile> \(SFConflict .+ {_DAY}-\d\d-\d\d-\d\d\))"
    rf"|(?P<Dropbox> \((?i:(?:.+['\u2019]s? )?conflicted copy(?: {_DAY})?|{_DROPBOX}){_COUNT}\))"
    r"|(?P<Synology>_.+_[A-Z][a-z]{2}-\d\d-\d{4,6}-\d{4}_[A-Za-z]*Conflict(?:_\d+)?)"
    r"|(?P<Resilio>\.Conflict(?:\(\d+\))?(?=\.))"
    r"|(?P<OneDrive>-(?:DESKTOP|LAPTOP)-(?=[A-Z]*\d)(?=\d*[A-Z])[A-Z0-9]{4,8}(?:-\d+)?)"
    r")(?:\.[^.]+)?"
)
POSSIBLE = (
    r"(?s)(?P<stem>.+?)"
    r"(?:(?P<iCloud> (?:[2-9]|[1-9]\d))|(?P<OneDrive>-(?:DESKTOP|LAPTOP)-[A-Z0-9]{4,}(?:-\d+)?))"
    r"(?P<extension>(?:\.[^.]+)?)"
)


def possible(names: str) -> set[str]:
    """Return the names that may be copies, from a text with one name per line. It is fast for large
    folders."""
    found: set[str] = set()
    for hint in HINTS:
        for match in re.finditer(hint, names):
            end = names.find("\n", match.end())
            start = names.rfind("\n", 0, match.start()) + 1
            found.add(names[start : end if end >= 0 else len(names)])
    return found


def copied_by(name: str) -> str | None:
    """Return the sync tool that made a copy, if its name shows that; None if a person may have
    chosen the name."""
    found = re.fullmatch(CERTAIN, name)
    return found.lastgroup if found else None


def possible_original(name: str) -> tuple[str, str]:
    """Return (original, tool) for a name such as "Note 2.md", which may be iCloud's conflict copy
    of "Note.md" or a second note; ('', '') for other names."""
    found = re.fullmatch(POSSIBLE, name)
    if not found:
        return "", ""
    return found["stem"] + found["extension"], "iCloud" if found["iCloud"] else "OneDrive"


def are_similar(copy: str, original: str) -> bool:
    """Return True if two notes share at least half of their lines, as a conflict copy and its
    original do."""
    texts = (files.text(path, limit=LARGEST_COPY) for path in (copy, original))
    one, two = ({line for line in text.split("\n") if line.strip()} for text in texts)
    return bool(one) and 2 * len(one & two) >= max(len(one), len(two))

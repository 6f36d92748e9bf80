"""Only what a sync tool left behind counts as a conflict copy."""

from __future__ import annotations

import pytest

from brain.vault.conflict_copies import copied_by, possible_original


@pytest.mark.parametrize(
    ("name", "tool"),
    [
        ("note (Conflicted copy deviceName 202405211230).md", "Obsidian"),
        ("note (Conflicted copy Bob's iPhone (2) 202405211230).md", "Obsidian"),
        ("note (Conflicted copy MacBook 202405211230) 1.md", "Obsidian"),
        ("note.sync-conflict-20240521-123000-ABCDEFG.md", "Syncthing"),
        ("note.sync-conflict-20240521-123000.md", "Syncthing"),
        ("note (Bob's conflicted copy 2024-05-21).md", "Dropbox"),
        ("note (Bob\u2019s conflicted copy 2024-05-21 (1)).md", "Dropbox"),
        ("note (conflicted copy).md", "Dropbox"),
        ("note (conflicted copy 2024-05-21).md", "Dropbox"),
        ("note (Case Conflict).md", "Dropbox"),
        ("note (Case Conflict 1).md", "Dropbox"),
        ("note (Selective Sync Conflict).md", "Dropbox"),
        ("note (conflicted copy 2024-05-21 123000).md", "Nextcloud"),
        ("note (conflicted copy alice 2024-05-21 123000).md", "Nextcloud"),
        ("note_conflict-20150304-122345.md", "Nextcloud"),
        ("note (SFConflict bob@example.org 2024-05-21-12-30-00).md", "Seafile"),
        ("a_Andy-PC_Jan-03-0901-2013_CaseConflict_1.txt", "Synology"),
        ("note.Conflict.md", "Resilio"),
        ("note.Conflict(1).md", "Resilio"),
        ("note-DESKTOP-AB12CD.md", "OneDrive"),
        ("note-LAPTOP-7K2M9QXD.md", "OneDrive"),
        ("note-DESKTOP-AB12CD3-2.md", "OneDrive"),
    ],
)
def test_a_conflict_copy(name: str, tool: str) -> None:
    assert copied_by(name) == tool


@pytest.mark.parametrize(
    "name",
    [
        "note.md",
        "Conflict resolution.md",
        "Conflict.md",
        ".Conflict.md",
        "The (conflicted) man.md",
        "On the conflicted copy.md",
        "Merge (conflict).md",
        "sync-conflict handling.md",
        "Meeting 2.md",
        "note (1).md",
        "Project-DESKTOP.md",
        "Project-DESKTOP-.md",
        "Setup-LAPTOP-HOME.md",
        "Order-DESKTOP-2024.md",
        "TOP-10.md",
        "note.md.orig",
    ],
)
def test_an_ordinary_name_is_no_conflict_copy(name: str) -> None:
    assert copied_by(name) is None


@pytest.mark.parametrize(
    ("name", "original", "tool"),
    [
        ("note 2.md", "note.md", "iCloud"),
        ("note 12.md", "note.md", "iCloud"),
        ("note 1.md", "", ""),
        ("note 02.md", "", ""),
        ("note.md", "", ""),
        ("Area 51 2.md", "Area 51.md", "iCloud"),
        ("note-LAPTOP-HOME.md", "note.md", "OneDrive"),
    ],
)
def test_a_name_that_may_be_a_copy(name: str, original: str, tool: str) -> None:
    assert possible_original(name) == (original, tool)

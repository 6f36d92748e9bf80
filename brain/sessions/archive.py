"""Move old sessions to the archive, and back when they continue."""

from __future__ import annotations

import os
from datetime import UTC, timedelta

from brain.errors import Refused
from brain.sessions import catalog, transcript
from brain.sessions.catalog import Place
from brain.sessions.transcript import SUFFIX
from brain.timestamps import to_utc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from brain.open_vault import OpenVault


def old(vault: OpenVault, owner: str) -> Iterator[Place]:
    """Yield the sessions of an agent that are older than `sessionRetentionDays`, by their last
    message."""
    days = timedelta(days=vault.config.sessionRetentionDays)
    before = to_utc(vault.clock().astimezone(UTC) - days)
    for folder in catalog.folders(vault, (owner,)):
        if not folder.is_archived:
            entries = catalog.entries(f"{vault.paths.root_path}/{folder.path}")
            for id, entry in entries.items():
                if "" < str(entry.get("updatedAt", "")) < before:
                    yield Place(id, f"{folder.path}/{id}{SUFFIX}", owner, False)


def move(vault: OpenVault, places: list[Place]) -> list[Place]:
    """Move sessions to the archive, each in one step. Return their new places."""
    root = vault.paths.root_path
    moved: list[Place] = []
    changed_folders: dict[str, None] = {}
    with vault.store.locked():
        for place in places:
            folder = os.path.dirname(place.path)
            target = f"{catalog.archive_of(folder)}/{place.id}{SUFFIX}"
            if not transcript.move(f"{root}/{place.path}", f"{root}/{target}"):
                raise Refused(f"{target} exists already.", "Move one of the two away.")
            moved.append(Place(place.id, target, place.owner, True))
            changed_folders |= {folder: None, os.path.dirname(target): None}
        catalog.update(vault, *changed_folders)
    if changed_folders:
        vault.sync(list(changed_folders))
    return moved


def restore(vault: OpenVault, place: Place) -> Place:
    """Move a session out of the archive. Return its new place."""
    root, folder = vault.paths.root_path, os.path.dirname(place.path)
    target = f"{catalog.unarchived(folder)}/{place.id}{SUFFIX}"
    with vault.store.locked():
        if not transcript.move(f"{root}/{place.path}", f"{root}/{target}"):
            raise Refused(f"{target} exists already.", "Move one of the two away.")
        catalog.update(vault, folder)
    return place._replace(path=target, is_archived=False)

"""Ids of sessions. An id is the name of a file, so only names that are safe everywhere count."""

from __future__ import annotations

import re
from hashlib import sha256

from brain.errors import BadRequest
from brain.journal.codec import random_letters

LONGEST = 100  # characters
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z", re.ASCII)
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?\Z", re.IGNORECASE)  # of Windows


def new() -> str:
    """Return a new id."""
    return f"s-{random_letters(10)}"


def is_safe(id: str) -> bool:
    """Return True for an id that is a plain file name on every system."""
    return (
        0 < len(id) <= LONGEST
        and bool(_SAFE.match(id))
        and ".." not in id
        and not id.endswith(".")
        and not _DEVICES.match(id)
    )


def check(id: str) -> str:
    """Return the id. BadRequest if it is not one."""
    if not is_safe(id):
        raise BadRequest(
            f"{id[:LONGEST]!r} is not the id of a session.",
            f"Use letters, digits, `-`, `_` and single dots, at most {LONGEST}.",
        )
    return id


def of_client(client: str, id: str) -> str:
    """Return the id of a session that a client calls `id`: the same, if that is safe."""
    if is_safe(id):
        return id
    return f"{client}-{sha256(id.encode(errors='surrogatepass')).hexdigest()[:16]}"

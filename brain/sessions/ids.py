"""Ids of sessions. An id is a file name, so it must be safe on every system."""

from __future__ import annotations

import re
from hashlib import sha256

from brain.errors import BadRequest
from brain.journal.codec import random_letters
from brain.redact import find

MAX_LENGTH = 100  # characters
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z", re.ASCII)
# names that Windows reserves
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?\Z", re.IGNORECASE)


def new() -> str:
    """Return a new random id."""
    return f"s-{random_letters(10)}"


def is_safe(id: str) -> bool:
    """Return True for an id that is a plain file name on every system."""
    return (
        0 < len(id) <= MAX_LENGTH
        and bool(_SAFE.match(id))
        and ".." not in id
        and not id.endswith(".")
        and not _DEVICES.match(id)
    )


def check(id: str) -> str:
    """Return the id. Raise BadRequest if it is not safe."""
    if not is_safe(id):
        raise BadRequest(
            f"{id[:MAX_LENGTH]!r} is not the id of a session.",
            f"Use letters, digits, `-`, `_` and single dots, at most {MAX_LENGTH}.",
        )
    return id


def check_new(id: str) -> str:
    """Return the id for a new session. Raise BadRequest if it is not safe or contains a secret."""
    if find(check(id)):
        raise BadRequest("The id of a session may not contain a secret.", "Choose another id.")
    return id


def of_client(client: str, id: str) -> str:
    """Return the id for a session of a client: the client's own id if it is safe and contains no
    secret, else a hash."""
    if is_safe(id) and not find(id):
        return id
    return f"{client}-{sha256(id.encode(errors='surrogatepass')).hexdigest()[:16]}"

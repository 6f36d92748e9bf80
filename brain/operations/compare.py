"""Choose the memories that a text is compared with, and name the similar ones in a result."""

from __future__ import annotations

from brain import access
from brain.operations.results import Mention

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.access import Actor
    from brain.lifecycle.similar import Similar
    from brain.open_vault import OpenVault


def comparable(vault: OpenVault, path: str, by: Actor) -> tuple[str, ...]:
    """Return the owners whose memories a new one in this note is compared with: the owner of the
    note and the admin, as far as the actor may read them."""
    owners = sorted({access.ADMIN, vault.owner(path)})
    return tuple(owner for owner in owners if access.may(by, "read", owner))


def mentioned(found: Similar) -> tuple[list[Mention], list[Mention]]:
    """Return the memories that are similar to a text, and those that it contradicts."""
    near = [Mention(id=row.ref, text=row.text) for row, _ in found.near]
    return near, [Mention(id=row.ref, text=row.text) for row in found.contradicts]

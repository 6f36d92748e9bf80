"""Forgetting for good: not only the line, but also what the journal kept of its words."""

from __future__ import annotations

from brain.changes import Deed, Remove
from brain.errors import Busy
from brain.verbs import answer, naming

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.access import Actor
    from brain.api import Brain
    from brain.verbs.answer import Shape


def purge(brain: Brain, id: str, by: Actor) -> Shape:
    """A memory goes, with all that this device's journal says of it; `left` tells where its words
    may still be. Other devices do the same when they read of it."""
    row = naming.memory(brain, id, by)
    refs = sorted(naming.same(brain, row.ref))
    linked = [f"{other.path}:{other.line}" for other in naming.linking(brain, row.ref)]
    remove = Deed("remove", row.ref, Remove(row.path, row.ref), {"purge": True})
    result = answer.applied(brain, [remove], by, wait=brain.config.holdMost + 2)[0]
    if result.state != "written":
        raise Busy(
            f"{row.path} is being changed; {row.ref} will be removed, but is not purged yet.",
            "Run `brain forget --purge` again with its whole id in a moment.",
        )
    shape = answer.of_row(row)
    answer.gone(brain, row.path, shape)
    marked = Deed("purge", row.ref, None, {"refs": refs, "agent": row.agent})
    purged = answer.applied(brain, [marked], by)[0]
    with brain.store.locked():
        others = brain.journal.scrub(refs)
    left = [*others, *_out_of_reach(brain)]
    return answer.happened(shape, "purged", purged) | {"linked_from": linked, "left": left}


def _out_of_reach(brain: Brain) -> list[str]:
    """Where no program that runs here can take words out of."""
    out = ["the history of its git repository"] if brain.store.git else []
    return [*out, "backups and sync services", "devices that have not synced since"]

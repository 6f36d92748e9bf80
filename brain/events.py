"""Memory events: what happened, to whoever listens in this process, and to the ring in the
index."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from brain.model import Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brain.sync import Delta, Stats

Listener = Callable[[Event], None]


KEPT = 1000  # as many as the ring holds


class Events:
    """Publishes to its listeners at once, and keeps the latest of what is not yet in the ring."""

    def __init__(self) -> None:
        self.listeners: list[Listener] = []
        self.waiting: deque[Event] = deque(maxlen=KEPT)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with each event from now on; returns what ends that."""
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)

    def publish(self, at: str, name: str, payload: dict[str, Any]) -> None:
        """Tell everybody: who listens here, and other processes by way of the ring."""
        event = Event(at, name, payload)
        self.keep(event)
        self.hear(event)

    def keep(self, event: Event) -> None:
        """For the ring alone: who listens here has heard of it."""
        self.waiting.append(event)

    def hear(self, event: Event) -> None:
        """For the listeners alone: the ring gets it from whoever finds it in the files."""
        for listener in list(self.listeners):
            listener(event)


def write_payload(delta: Delta) -> dict[str, Any]:
    """Return the payload of `memory:write`. Texts of source passages are cut to their beginning."""
    most = 200 if delta.scope == "sources" else 10_000
    changes = {"added": delta.added, "changed": delta.changed, "removed": delta.removed}
    listed = {
        name: [{"id": ref, "text": text[:most]} for ref, text in entries]
        for name, entries in changes.items()
    }
    return {"type": delta.scope, "path": delta.path, "delta": listed}


def sync_payload(stats: Stats) -> dict[str, Any]:
    """Return the payload of `memory:sync`: what was done, in numbers."""
    return {
        "files": stats.files,
        "added": len(stats.added),
        "changed": len(stats.changed),
        "moved": [{"from": old, "to": new} for old, new in stats.moved],
        "removed": len(stats.removed),
        "cold": stats.cold,
        "seconds": round(stats.seconds, 3),
    }

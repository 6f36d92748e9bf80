"""Update the index."""

from __future__ import annotations

from brain import access

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from brain.access import Actor
    from brain.open_vault import OpenVault
    from brain.sync import Stats


def sync(
    vault: OpenVault,
    only: Iterable[str] | None = None,
    *,
    rebuild: bool = False,
    accept_loss: bool = False,
    by: Actor | str = "",
) -> Stats:
    """Update the index from the files, or from some paths only, and return what changed.

    `rebuild` starts with an empty index. `accept_loss` accepts that nearly all files are gone.
    """
    access.resolve(vault, by)
    return vault.sync(only, rebuild=rebuild, accept_loss=accept_loss)

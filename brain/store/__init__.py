"""Write changes to files. All writing goes through here. `store` is the critical section, `note`
the disk, `history` and `units` the rule by which texts are merged, `targets` the files that may be
written."""

from __future__ import annotations

from brain.store.store import Outcome, Store

__all__ = ["Outcome", "Store"]

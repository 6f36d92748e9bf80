"""Write changes to files. All writing goes through here. `store` is the critical section, `note`
one file on the disk, `versions` and `merge` the rule by which texts are merged, `journaling` the
records of changes."""

from __future__ import annotations

from brain.store.store import Outcome, Store

__all__ = ["Outcome", "Store"]

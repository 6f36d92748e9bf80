"""Changes into files: the only way to write. See `door` for what is promised, `writing` for how it
is kept, `settling` for how a promise ends, and `crash` for what a killed process leaves."""

from __future__ import annotations

from brain.store.door import Outcome, Store

__all__ = ["Outcome", "Store"]

"""What is nearest in meaning: the vectors of an index in memory, compared with a question.

Vectors are signed bytes, and a question is rounded to such. Their product is then a sum of whole
numbers that floating point adds without any error, in whatever order: the same vectors give the
same cosine, to the last bit, however the index came to hold them.
"""

from __future__ import annotations

import time

from brain.errors import NoModel
from brain.index import vectors
from brain.recall import hybrid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from brain.embed import Provider
    from brain.index.db import Index
    from brain.index.read import Filters

EXACT = 1024  # numbers of a vector up to which 32 bits hold the sum
BLOCK = 8192  # rows that are compared at once
SPARE = 1000  # rows read on before all is read again without those that are gone


class Meaning:
    """A model, and the vectors it made, in memory for as long as they are the index's. `spent` are
    the seconds that were spent on the model, and not on comparing."""

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self.spent = 0.0
        self._question: dict[str, bytes] = {}  # the last one, which may be asked in two ways
        self._mark = ""
        self._whole = 0  # how many there were when all were read
        self._ids: NDArray[np.int64]  # of chunks
        self._starts: NDArray[np.int64]  # where the rows of each begin
        self._rows: NDArray[np.int8]
        self._lengths: NDArray[np.float64]

    def similar(
        self, index: Index, question: str, filters: Filters, limit: int, also: Iterable[int] = ()
    ) -> dict[int, float]:
        """The cosines of the `limit` chunks that are nearest to a question and pass the filters,
        and of those of `also`, which the caller may see, the nearest first. What is as near as
        the last is there, too."""
        if not self._read(index):
            return {}
        cosines = self._cosines(question)
        import numpy as np

        nearest = np.argsort(-cosines, kind="stable")
        by_id = dict(zip(self._ids.tolist(), cosines.tolist(), strict=True))
        found: dict[int, float] = {}
        last = 0.0
        for id in vectors.seen(index, self._ids[nearest].tolist(), filters):
            if len(found) >= limit and by_id[id] < last:
                break
            found[id] = last = by_id[id]
        found |= {id: by_id[id] for id in also if id in by_id}
        return dict(sorted(found.items(), key=lambda pair: -pair[1]))

    def pairs(
        self, index: Index, names: Mapping[int, str], least: float, most: int = 5
    ) -> list[tuple[str, str, float]]:
        """Which of these chunks, given with their names, mean nearly the same, and how much: of
        each the `most` nearest that are at least so near."""
        if not self._read(index):
            return []
        import numpy as np

        places = dict(zip(self._ids.tolist(), self._starts.tolist(), strict=True))
        known = [id for id in names if id in places]
        at = [places[id] for id in known]
        rows, lengths = self._rows[at].astype(np.float64), np.maximum(self._lengths[at], 1e-9)
        rows /= lengths[:, np.newaxis]
        found: dict[tuple[str, str], float] = {}
        for one in range(len(known)):
            cosines = rows @ rows[one]
            cosines[one] = -1.0
            for other in np.argsort(-cosines, kind="stable")[:most].tolist():
                if cosines[other] >= least:
                    low, high = sorted((names[known[one]], names[known[other]]))
                    found[low, high] = round(float(cosines[other]), 6)
        return [(low, high, how) for (low, high), how in sorted(found.items())]

    def _read(self, index: Index) -> bool:
        """Read what is new; all if the vectors are others than before. False if there are none."""
        made = vectors.made(index)
        if made is None:
            return False
        import numpy as np

        if made.mark != self._mark or len(self._ids) > 1.5 * self._whole + SPARE:
            self._mark, self._whole = "", 0
            self._ids = self._starts = np.empty(0, np.int64)
            self._rows, self._lengths = np.empty((0, made.size), np.int8), np.empty(0)
        if new := vectors.after(index, int(self._ids[-1]) if len(self._ids) else 0):
            self._add(new)
        self._whole = self._whole if self._mark else len(self._ids)
        self._mark = made.mark
        return len(self._ids) > 0

    def _add(self, new: list[tuple[int, bytes]]) -> None:
        import numpy as np

        size = self._rows.shape[1]
        counts = [len(vector) // size for _, vector in new]
        starts = np.cumsum([len(self._rows), *counts[:-1]])
        rows = np.frombuffer(b"".join([row for _, row in new]), np.int8).reshape(-1, size)
        self._rows = np.concatenate([self._rows, rows]) if len(self._rows) else rows
        self._lengths = np.concatenate([self._lengths, _lengths(rows)])
        self._ids = np.concatenate([self._ids, [id for id, _ in new]])
        self._starts = np.concatenate([self._starts, starts])

    def _embedded(self, question: str) -> bytes:
        started = time.perf_counter()
        try:
            return hybrid.packed(hybrid.embed(self.provider, [question]))[0]
        finally:
            self.spent += time.perf_counter() - started

    def _cosines(self, question: str) -> NDArray[np.float64]:
        """Of each chunk, that of the window which is nearest."""
        import numpy as np

        if question not in self._question:
            self._question = {question: self._embedded(question)}
        asked = np.frombuffer(self._question[question], np.int8)
        if len(asked) != self._rows.shape[1]:
            raise NoModel(
                f"The model gives {len(asked)} numbers, and the vectors have"
                f" {self._rows.shape[1]}.",
                "`brain sync --rebuild` makes them anew.",
            )
        kind = np.float32 if len(asked) <= EXACT else np.float64
        products = [
            self._rows[start : start + BLOCK].astype(kind) @ asked.astype(kind)
            for start in range(0, len(self._rows), BLOCK)
        ]
        length = _lengths(asked[np.newaxis])[0]
        cosines: NDArray[np.float64] = np.concatenate(products).astype(np.float64)
        cosines /= np.where(self._lengths * length > 0, self._lengths * length, 1)
        return np.maximum.reduceat(cosines, self._starts)


def _lengths(rows: NDArray[np.int8]) -> NDArray[np.float64]:
    """How long each row is."""
    import numpy as np

    squares = [
        np.einsum("ij,ij->i", block, block, dtype=np.int64)
        for block in (rows[start : start + BLOCK] for start in range(0, len(rows), BLOCK))
    ]
    return np.sqrt(np.concatenate(squares).astype(np.float64))

"""Search by meaning: find the passages whose meaning is nearest to a question.

    meanings = Meanings(model, vectors, index, passages, today)
    meanings.embed_pending()        # new and changed passages; returns how many are left
    meanings.cosines("a question")  # {row: meaning} of the embedded passages, the nearest first

`passages(index, after)` yields (row, text) for every text to embed, where row is the number of its
row in the index. It yields rows greater than `after`, in ascending order. A row may have several
texts; the nearest one counts. The text of a row never changes: a changed passage gets a new,
greater row. Texts are identified by their digest, so a text that is already embedded is not
embedded again for another row. The cosines may include rows that were deleted from the index.

A meaning is a cosine that is comparable between models: `(cosine - m) / (1 - m)`, at least 0. Here
m is the mean cosine of built-in sentences about unrelated things. It is a property of the model,
not of the vault, and no meaning is normalised per question.

Vectors and the question are rounded to signed bytes. Their product is then a sum of integers: the
same vectors give the same cosine, to the last bit.
"""

from __future__ import annotations

import time
from contextlib import suppress
from itertools import islice

from brain._tuples import NamedTuple
from brain.embed import embed_question, key_of, name_of
from brain.embed.local import INSTALL
from brain.errors import Busy, NoModel
from brain.index import vectors as files
from brain.index.vectors import Model, text_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    from brain.embed import Provider
    from brain.index.db import Index
    from brain.index.vectors import Vectors

    Passages = Callable[[Index, int], Iterable[tuple[int, str]]]
    Progress = Callable[[int, int], None]

BATCH = 256  # texts for one call, unless the model has `batch`
SMALL_BATCH = 16  # while a person waits
BLOCK = 1024  # vectors that are compared at once; they fit into the cache of a CPU
SPARE = 1000  # added rows after which all rows are read again, to drop deleted rows
SENTENCES = (  # for the calibration of a model
    "The train to Berlin leaves at noon.",
    "Whisk two eggs until they are stiff.",
    "Our parliament rejected that proposal.",
    "Whales sleep near the surface.",
    "def add(a, b): return a + b",
    "She tuned her violin carefully.",
    "Quarterly revenue grew by nine percent.",
    "Install updates, then restart your computer.",
    "Frost damaged most apple blossoms.",
    "A broken wrist heals within six weeks.",
    "Who painted this portrait?",
    "Goalkeepers may use both hands.",
    "Volcanic ash closed several airports.",
    "Please call me back tomorrow morning.",
    "Medieval monks copied manuscripts.",
    "Rent is due on Friday.",
)


class Table(NamedTuple):
    """Vectors in the order of their rows, and their lengths. `rows` has each row once, and `starts`
    the index of its first vector."""

    vectors: NDArray[np.int8]
    lengths: NDArray[np.float64]
    rows: NDArray[np.int64]
    starts: NDArray[np.int64]


class Meanings:
    """The embedded passages of an open vault, in memory. `spent` is the number of seconds that the
    model took, including loading."""

    def __init__(
        self,
        model: Provider,
        vectors: Vectors,
        index: Index,
        passages: Passages,
        today: Callable[[], int],
    ) -> None:
        self.model, self.spent = model, 0.0
        self._vectors, self._index, self._passages = vectors, index, passages
        self._today = today  # days since 1970
        self._model_row: Model | None = None
        self._mark = ""  # the state of the index that was read
        self._question: tuple[str, NDArray[np.int8]] | None = None  # the last one
        self._clear()

    def _clear(self) -> None:
        self._last = 0  # the last row that was read
        self._full_count = 0  # the number of rows when all were read
        self._pending: dict[bytes, tuple[str, list[int]]] = {}  # text and rows, by digest
        self._rows: list[int] = []  # the row of each vector
        self._new: list[bytes] = []  # vectors that are not in the table yet
        self._table: Table | None = None

    # -- embedding ---------------------------------------------------------------------------------

    def load(self, download: bool = False) -> None:
        """Load the model before the first question."""
        if load := getattr(self.model, "load", None):
            started = time.perf_counter()
            try:
                load(download)
            finally:
                self.spent += time.perf_counter() - started

    def embed_pending(self, progress: Progress | None = None, seconds: float | None = None) -> int:
        """Embed the passages that have no vector, for about `seconds` at most. Return the number of
        passages that are left.

        Vectors are saved after each batch, so the next call continues after an interruption. Raise
        NoModel if the model fails, and Busy if another process has locked vectors.db.
        """
        model = self._read()
        deadline = None if seconds is None else time.monotonic() + seconds
        size = int(getattr(self.model, "batch", 0)) or BATCH
        size = size if deadline is None else min(size, SMALL_BATCH)
        total = len(self._pending)
        while self._pending and (deadline is None or time.monotonic() < deadline):
            batch = dict(islice(self._pending.items(), size))
            vectors = self._vectors.get(model, batch)  # another process may have embedded them
            if texts := {
                digest: text for digest, (text, _) in batch.items() if digest not in vectors
            }:
                rows = to_bytes(self._embed(list(texts.values())))
                if rows.shape[1] != model.size:
                    self._drop_vectors(rows.shape[1])
                new_vectors = dict(zip(texts, map(bytes, rows), strict=True))
                self._vectors.add(model, new_vectors.items(), self._today())
                vectors |= new_vectors
            self._add_vectors(vectors)
            if progress:
                progress(total - len(self._pending), total)
        return len(self._pending)

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        started = time.perf_counter()
        try:
            return embed(self.model, texts)
        finally:
            self.spent += time.perf_counter() - started

    def _add_vectors(self, vectors: Mapping[bytes, bytes]) -> None:
        """Move texts that have got a vector from the pending ones to the table."""
        for digest, vector in vectors.items():
            _, rows = self._pending.pop(digest)
            self._rows += rows
            self._new += [vector] * len(rows)

    # -- reading -----------------------------------------------------------------------------------

    def _read(self) -> Model:
        """Read new passages from the index, and their vectors from vectors.db."""
        model = self._model_row = self._model_row or self._load_model_row()
        mark = self._index.mark
        if mark != self._mark or len(self._rows) > 1.5 * self._full_count + SPARE:
            self._clear()
            self._mark = mark
        is_full = self._last == 0
        count = 0
        for row, text in self._passages(self._index, self._last):
            self._pending.setdefault(text_digest(text), (text, []))[1].append(row)
            self._last, count = row, count + 1
        if is_full:
            self._full_count = count
        if is_full and self._today() >= model.swept + files.SWEEP:
            with suppress(Busy):  # if another process is writing, the next read sweeps
                self._vectors.sweep(model, self._pending, self._today())
                model = model._replace(swept=self._today())
        self._add_vectors(self._vectors.get(model, self._pending))
        self._model_row = model
        return model

    def _load_model_row(self) -> Model:
        """Return the row of the model in vectors.db. If there is none yet, calibrate the model and
        store one."""
        key = key_of(self.model)
        model = self._vectors.model(key)
        if model is None:
            vectors = to_bytes(self._embed(SENTENCES))
            mean = mean_cosine(vectors)
            model = Model(files.model_id(key), key, vectors.shape[1], mean, swept=self._today())
            self._vectors.save(model)
        return model

    def _drop_vectors(self, size: int) -> None:
        """Remove the vectors of a model that was replaced by another one, and raise NoModel."""
        model, self._model_row, self._mark = self._model_row, None, ""
        assert model is not None
        self._vectors.drop(model)
        raise NoModel(
            f"The model {name_of(self.model)!r} returns {size} numbers for a text, and returned"
            f" {model.size} before.",
            "`brain sync` embeds all passages again.",
        )

    # -- comparing ---------------------------------------------------------------------------------

    def cosines(self, question: str, limit: int = 0, also: Iterable[int] = ()) -> dict[int, float]:
        """Return the meanings of passages for a question, from 0 to 1, by row, the nearest first.
        The result has the `limit` nearest rows, including ties, and the rows in `also`. With a
        limit of 0, it has all rows."""
        self._read()
        if not self._rows:
            return {}
        import numpy as np

        table = self._current_table()
        vector = self._question_vector(question)
        if len(vector) != len(table.vectors[0]):
            self._drop_vectors(len(vector))
        lengths = table.lengths * max(_lengths(vector[np.newaxis])[0], 1e-9)
        cosines = np.maximum.reduceat(_products(table.vectors, vector) / lengths, table.starts)
        meanings = self._to_meanings(cosines)
        if 0 < limit < len(meanings):
            least = np.partition(meanings, -limit)[-limit]
            wanted = np.isin(table.rows, np.fromiter(also, np.int64)) | (meanings >= least)
        else:
            wanted = np.ones(len(meanings), np.bool_)
        rows, meanings = table.rows[wanted], meanings[wanted]
        order = np.argsort(-meanings, kind="stable")
        return dict(zip(rows[order].tolist(), meanings[order].tolist(), strict=True))

    def pairs(
        self, names: Mapping[int, str], least: float, limit: int = 5
    ) -> list[tuple[str, str, float]]:
        """Return (name, name, meaning) for pairs of rows with nearly the same meaning. `names` are
        the names by row. Each row is paired with at most `limit` others, whose meaning is at least
        `least`."""
        self._read()
        if not self._rows:
            return []
        import numpy as np

        table = self._current_table()
        start_of = dict(zip(table.rows.tolist(), table.starts.tolist(), strict=True))
        known = [row for row in names if row in start_of]
        indexes = [start_of[row] for row in known]
        vectors = table.vectors[indexes] / table.lengths[indexes][:, np.newaxis]
        found: dict[tuple[str, str], float] = {}
        for index in range(len(known)):
            meanings = self._to_meanings(vectors @ vectors[index])
            meanings[index] = -1.0
            for other in np.argsort(-meanings, kind="stable")[:limit].tolist():
                if meanings[other] >= least:
                    low, high = sorted((names[known[index]], names[known[other]]))
                    found[low, high] = round(float(meanings[other]), 6)
        return [(low, high, meaning) for (low, high), meaning in sorted(found.items())]

    def _current_table(self) -> Table:
        """Return the vectors as arrays, in the order of their rows."""
        import numpy as np

        if self._new or self._table is None:
            vectors = np.frombuffer(b"".join(self._new), np.int8).reshape(len(self._new), -1)
            if self._table is not None:
                vectors = np.concatenate([self._table.vectors, vectors])
            order = np.argsort(np.array(self._rows), kind="stable")
            self._rows = [self._rows[index] for index in order.tolist()]
            vectors, self._new = vectors[order], []
            rows, starts = np.unique(np.array(self._rows), return_index=True)
            self._table = Table(vectors, np.maximum(_lengths(vectors), 1e-9), rows, starts)
        return self._table

    def _question_vector(self, question: str) -> NDArray[np.int8]:
        """Return the vector of a question. The last vector is kept for another search."""
        if self._question is None or self._question[0] != question:
            started = time.perf_counter()
            try:
                row = call_checked(self.model, lambda: [embed_question(self.model, question)], 1)
            finally:
                self.spent += time.perf_counter() - started
            self._question = question, to_bytes(row)[0]
        return self._question[1]

    def _to_meanings(self, cosines: NDArray[np.float64]) -> NDArray[np.float64]:
        """Convert cosines to meanings."""
        import numpy as np

        assert self._model_row is not None
        mean = self._model_row.mean
        return np.maximum(0.0, (cosines - mean) / (1 - mean))


def embed(model: Provider, texts: Sequence[str]) -> NDArray[np.float32]:
    """Return a row of finite numbers for each text. Raise NoModel if the model fails."""
    return call_checked(model, lambda: model.embed(texts), len(texts))


def call_checked(model: Provider, call: Callable[[], Any], count: int) -> NDArray[np.float32]:
    """Return the answer of a model as `count` rows of finite numbers, or raise NoModel."""
    try:
        import numpy as np
    except ImportError as error:
        raise NoModel(f"Hybrid search needs numpy ({error}).", INSTALL) from error
    name = name_of(model)
    try:
        rows = np.asarray(call(), np.float32)
    except NoModel:
        raise
    except Exception as error:  # from a provider of the user
        raise NoModel(f"The model {name!r} failed ({error}).", "See vectorModel.") from error
    if rows.ndim != 2 or len(rows) != count or not rows.shape[1]:
        shape = "x".join(map(str, rows.shape)) or "one"
        raise NoModel(
            f"The model {name!r} returned {shape} numbers for {count} texts.",
            "It must return a row of the same length for each text.",
        )
    if not np.isfinite(rows).all():
        raise NoModel(
            f"The model {name!r} returned values that are not numbers.", "See vectorModel."
        )
    return rows


def to_bytes(rows: NDArray[np.float32]) -> NDArray[np.int8]:
    """Convert rows to signed bytes, each scaled so that its largest number is 127."""
    import numpy as np

    largest = np.abs(rows).max(axis=1, keepdims=True)
    scaled: NDArray[np.float32] = np.rint(rows / np.where(largest > 0, largest, 1) * 127)
    return scaled.astype(np.int8)


def mean_cosine(rows: NDArray[np.int8]) -> float:
    """Return the mean cosine of all pairs of these vectors, 0 to .95."""
    import numpy as np

    units = rows / np.maximum(_lengths(rows), 1e-9)[:, np.newaxis]
    pairs = np.einsum("ij,kj->ik", units, units)[np.triu_indices(len(rows), 1)]
    mean = float(pairs.mean()) if len(pairs) else 0.0
    return min(max(mean, 0.0), 0.95)


def _products(rows: NDArray[np.int8], vector: NDArray[np.int8]) -> NDArray[np.int32]:
    """Return the product of each row with a vector. The operator `@` would need ten times the CPU
    time, because it uses threads."""
    import numpy as np

    wide = vector.astype(np.int32)
    return np.concatenate(
        [
            np.einsum("ij,j->i", rows[start : start + BLOCK].astype(np.int32), wide)
            for start in range(0, len(rows), BLOCK)
        ]
    )


def _lengths(rows: NDArray[np.int8]) -> NDArray[np.float64]:
    import numpy as np

    blocks = (rows[start : start + BLOCK].astype(np.int32) for start in range(0, len(rows), BLOCK))
    squares = np.concatenate([np.einsum("ij,ij->i", block, block) for block in blocks])
    lengths: NDArray[np.float64] = np.sqrt(squares)
    return lengths

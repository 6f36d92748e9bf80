"""Search by meaning: find the passages whose meaning is nearest to a question.

    meanings = Meanings(model, vectors, index, passages, today)
    meanings.embed_pending()        # new and changed passages; returns how many are left
    meanings.cosines("a question")  # {row: meaning} of the embedded passages, the nearest first

`passages(index, after)` yields (row, text) for every text to embed, with its row of the index. It
yields rows greater than `after`, in ascending order. A row may have several texts; the nearest one
counts. A row never gets another text: a changed passage gets a new, greater row. Texts are
identified by their digest, so that only new texts are embedded, whatever their rows are. A row that
was deleted from the index may still be among the cosines.

A meaning is a cosine that is comparable between models: `(cosine - m) / (1 - m)`, at least 0, where
m is the mean cosine of built-in sentences about unrelated things: a property of the model, not of
the vault. It is never normalised per question.

Vectors and the question are rounded to signed bytes. Their product is then a sum of integers: the
same vectors give the same cosine, to the last bit.
"""

from __future__ import annotations

import time
from contextlib import suppress
from itertools import islice

from brain._tuples import NamedTuple
from brain.embed import INSTALL, embed_question, key_of, name_of
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
BLOCK = 1024  # vectors that are compared at once, which fit into a cache
SPARE = 1000  # rows read in addition before all are read again without those that are gone
SENTENCES = (  # to calibrate a model with
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
    """Vectors in the order of their rows, and their lengths. `rows` are the rows, each once, and
    `starts` where the vectors of each begin."""

    vectors: NDArray[np.int8]
    lengths: NDArray[np.float64]
    rows: NDArray[np.int64]
    starts: NDArray[np.int64]


class Meanings:
    """The embedded passages of an open vault, in memory. `spent` is the time that the model took,
    in seconds, with loading it."""

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
        self._known: Model | None = None
        self._mark = ""  # of the index that was read
        self._question: tuple[str, NDArray[np.int8]] | None = None  # the last one
        self._clear()

    def _clear(self) -> None:
        self._last = 0  # row that was read
        self._whole = 0  # how many there were when all were read
        self._pending: dict[bytes, tuple[str, list[int]]] = {}  # text and rows, by digest
        self._rows: list[int] = []  # a row for each vector
        self._new: list[bytes] = []  # vectors that are not in the table yet
        self._table: Table | None = None

    # -- embedding ---------------------------------------------------------------------------------

    def load(self, download: bool = False) -> None:
        """Load the model, so that the first question does not wait for it."""
        if load := getattr(self.model, "load", None):
            started = time.perf_counter()
            try:
                load(download)
            finally:
                self.spent += time.perf_counter() - started

    def embed_pending(self, progress: Progress | None = None, seconds: float | None = None) -> int:
        """Embed the passages without a vector, for about `seconds` at most. Return how many are
        left.

        Vectors are saved after each batch. If the process is interrupted, the next call embeds the
        rest. Raise NoModel if the model fails, Busy if another process holds vectors.db.
        """
        model = self._read()
        ends = None if seconds is None else time.monotonic() + seconds
        size = int(getattr(self.model, "batch", 0)) or BATCH
        size = size if ends is None else min(size, SMALL_BATCH)
        total = len(self._pending)
        while self._pending and (ends is None or time.monotonic() < ends):
            batch = dict(islice(self._pending.items(), size))
            made = self._vectors.get(model, batch)  # by another process, meanwhile
            if texts := {digest: text for digest, (text, _) in batch.items() if digest not in made}:
                rows = packed(self._embed(list(texts.values())))
                if rows.shape[1] != model.size:
                    self._begin_again(rows.shape[1])
                new = dict(zip(texts, map(bytes, rows), strict=True))
                self._vectors.add(model, new.items(), self._today())
                made |= new
            self._take(made)
            if progress:
                progress(total - len(self._pending), total)
        return len(self._pending)

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        started = time.perf_counter()
        try:
            return embed(self.model, texts)
        finally:
            self.spent += time.perf_counter() - started

    def _take(self, made: Mapping[bytes, bytes]) -> None:
        """Move texts that have a vector now from the pending ones to the table."""
        for digest, vector in made.items():
            _, rows = self._pending.pop(digest)
            self._rows += rows
            self._new += [vector] * len(rows)

    # -- reading -----------------------------------------------------------------------------------

    def _read(self) -> Model:
        """Read the passages that are new in the index, and their vectors from vectors.db."""
        model = self._known = self._known or self._begin()
        mark = self._index.mark
        if mark != self._mark or len(self._rows) > 1.5 * self._whole + SPARE:
            self._clear()
            self._mark = mark
        full = self._last == 0
        count = 0
        for row, text in self._passages(self._index, self._last):
            self._pending.setdefault(text_digest(text), (text, []))[1].append(row)
            self._last, count = row, count + 1
        if full:
            self._whole = count
        if full and self._today() >= model.swept + files.SWEEP:
            with suppress(Busy):  # else next time
                self._vectors.sweep(model, self._pending, self._today())
                model = model._replace(swept=self._today())
        self._take(self._vectors.get(model, self._pending))
        self._known = model
        return model

    def _begin(self) -> Model:
        """Return the model as stored in vectors.db. A new one is calibrated first."""
        key = key_of(self.model)
        model = self._vectors.model(key)
        if model is None:
            rows = packed(self._embed(SENTENCES))
            mean = mean_cosine(rows)
            model = Model(files.model_id(key), key, rows.shape[1], mean, swept=self._today())
            self._vectors.save(model)
        return model

    def _begin_again(self, size: int) -> None:
        """Remove the vectors of a model that has changed, and raise NoModel."""
        model, self._known, self._mark = self._known, None, ""
        assert model is not None
        self._vectors.drop(model)
        raise NoModel(
            f"The model {name_of(self.model)!r} gives {size} numbers for a text, and gave"
            f" {model.size} before.",
            "`brain sync` embeds all passages again.",
        )

    # -- comparing ---------------------------------------------------------------------------------

    def cosines(self, question: str, most: int = 0, also: Iterable[int] = ()) -> dict[int, float]:
        """Return the meaning of embedded passages for a question, 0 to 1, the nearest first: of
        the nearest `most` and what is as near as the last, and of `also`; of all if `most` is 0."""
        self._read()
        if not self._rows:
            return {}
        import numpy as np

        table = self._tables()
        vector = self._question_vector(question)
        if len(vector) != len(table.vectors[0]):
            self._begin_again(len(vector))
        lengths = table.lengths * max(_lengths(vector[np.newaxis])[0], 1e-9)
        cosines = np.maximum.reduceat(_products(table.vectors, vector) / lengths, table.starts)
        meanings = self._calibrated(cosines)
        if 0 < most < len(meanings):
            least = np.partition(meanings, -most)[-most]
            wanted = np.isin(table.rows, np.fromiter(also, np.int64)) | (meanings >= least)
        else:
            wanted = np.ones(len(meanings), np.bool_)
        rows, meanings = table.rows[wanted], meanings[wanted]
        order = np.argsort(-meanings, kind="stable")
        return dict(zip(rows[order].tolist(), meanings[order].tolist(), strict=True))

    def pairs(
        self, names: Mapping[int, str], least: float, most: int = 5
    ) -> list[tuple[str, str, float]]:
        """Return (name, name, meaning) of rows that mean nearly the same, given with their names:
        of each row at most the `most` nearest, and none below `least`."""
        self._read()
        if not self._rows:
            return []
        import numpy as np

        table = self._tables()
        first = dict(zip(table.rows.tolist(), table.starts.tolist(), strict=True))
        known = [row for row in names if row in first]
        at = [first[row] for row in known]
        near = table.vectors[at] / table.lengths[at][:, np.newaxis]
        found: dict[tuple[str, str], float] = {}
        for one in range(len(known)):
            meanings = self._calibrated(near @ near[one])
            meanings[one] = -1.0
            for other in np.argsort(-meanings, kind="stable")[:most].tolist():
                if meanings[other] >= least:
                    low, high = sorted((names[known[one]], names[known[other]]))
                    found[low, high] = round(float(meanings[other]), 6)
        return [(low, high, how) for (low, high), how in sorted(found.items())]

    def _tables(self) -> Table:
        """Return the vectors as arrays, those of one row together."""
        import numpy as np

        if self._new or self._table is None:
            vectors = np.frombuffer(b"".join(self._new), np.int8).reshape(len(self._new), -1)
            if self._table is not None:
                vectors = np.concatenate([self._table.vectors, vectors])
            order = np.argsort(np.array(self._rows), kind="stable")
            self._rows = [self._rows[at] for at in order.tolist()]
            vectors, self._new = vectors[order], []
            rows, starts = np.unique(np.array(self._rows), return_index=True)
            self._table = Table(vectors, np.maximum(_lengths(vectors), 1e-9), rows, starts)
        return self._table

    def _question_vector(self, question: str) -> NDArray[np.int8]:
        """Return the vector of a question. The last one is kept for a second search."""
        if self._question is None or self._question[0] != question:
            started = time.perf_counter()
            try:
                row = checked(self.model, lambda: [embed_question(self.model, question)], 1)
            finally:
                self.spent += time.perf_counter() - started
            self._question = question, packed(row)[0]
        return self._question[1]

    def _calibrated(self, cosines: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return cosines as meanings."""
        import numpy as np

        assert self._known is not None
        mean = self._known.mean
        return np.maximum(0.0, (cosines - mean) / (1 - mean))


def embed(model: Provider, texts: Sequence[str]) -> NDArray[np.float32]:
    """Return a row of finite numbers for each text. Raise NoModel if the model fails."""
    return checked(model, lambda: model.embed(texts), len(texts))


def checked(model: Provider, ask: Callable[[], Any], count: int) -> NDArray[np.float32]:
    """Return the answer of a model as `count` rows of finite numbers, else raise NoModel."""
    try:
        import numpy as np
    except ImportError as error:
        raise NoModel(f"Hybrid search needs numpy ({error}).", INSTALL) from error
    name = name_of(model)
    try:
        rows = np.asarray(ask(), np.float32)
    except NoModel:
        raise
    except Exception as error:  # from a provider of the user
        raise NoModel(f"The model {name!r} failed ({error}).", "See vectorModel.") from error
    if rows.ndim != 2 or len(rows) != count or not rows.shape[1]:
        shape = "x".join(map(str, rows.shape)) or "one"
        raise NoModel(
            f"The model {name!r} gave {shape} numbers for {count} texts.",
            "It must give a row of the same length for each.",
        )
    if not np.isfinite(rows).all():
        raise NoModel(f"The model {name!r} gave values that are not numbers.", "See vectorModel.")
    return rows


def packed(rows: NDArray[np.float32]) -> NDArray[np.int8]:
    """Return rows as signed bytes, each scaled so that its largest number is 127."""
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
    """Return the product of each row with a vector. Not by `@`: its threads take ten times the CPU
    time for this."""
    import numpy as np

    whole = vector.astype(np.int32)
    return np.concatenate(
        [
            np.einsum("ij,j->i", rows[start : start + BLOCK].astype(np.int32), whole)
            for start in range(0, len(rows), BLOCK)
        ]
    )


def _lengths(rows: NDArray[np.int8]) -> NDArray[np.float64]:
    import numpy as np

    blocks = (rows[at : at + BLOCK].astype(np.int32) for at in range(0, len(rows), BLOCK))
    squares = np.concatenate([np.einsum("ij,ij->i", block, block) for block in blocks])
    lengths: NDArray[np.float64] = np.sqrt(squares)
    return lengths

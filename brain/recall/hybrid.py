"""Search by meaning beside search by words: the vectors of all chunks, made and kept in step."""

from __future__ import annotations

import time
from itertools import accumulate, islice

from brain.errors import NoModel
from brain.formats.text import digest
from brain.index import vectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from brain.embed import Provider
    from brain.index.db import Index
    from brain.index.vectors import Made, Piece

    Progress = Callable[[int, int], None]

BATCH = 256  # texts that a model is given at once, unless it says otherwise
SMALL_BATCH = 16  # while somebody waits
WINDOW = 500  # characters: what is said about one thing, as a rule
WINDOWS = 32  # of one chunk; what comes behind them is found by its words
LEAD = 160  # characters of title and heading
BEFORE = 240  # characters of the turn before


def catch_up(
    index: Index,
    provider: Provider,
    *,
    progress: Progress | None = None,
    budget: float | None = None,
    wait: float = 30.0,
) -> int:
    """Make the vectors that are missing, batch by batch, for about `budget` seconds at most; says
    how many are missing still.

    Each batch is kept once it is made, and who is killed goes on there. A text that had a vector
    under another id keeps it. Vectors of another model are dropped, once this one has answered.
    NoModel if it does not; Busy if another process writes for longer than `wait` seconds.
    """
    ends = None if budget is None else time.monotonic() + budget
    made = _begun(index, provider, wait)
    most = getattr(provider, "batch", BATCH) if ends is None else SMALL_BATCH
    total = left = vectors.count_missing(index)
    gone = vectors.left_over(index) if left or ends is None else {}
    while left and (ends is None or time.monotonic() < ends):
        pieces = vectors.missing(index, most)
        if ends is not None:
            pieces = _few(pieces, most)
        if not _step(index, provider, made, pieces, gone, most, wait):
            return vectors.count_missing(index)  # it has to begin anew
        left = vectors.count_missing(index)
        if progress:
            progress(max(1, total - left), total)
    if gone and not left:
        with index.exclusive(wait), index.transaction() as db:
            vectors.sweep(db)
    return left


def _begun(index: Index, provider: Provider, wait: float) -> Made:
    """Who makes the vectors from now on; nothing is dropped for a model that does not answer."""
    name = getattr(provider, "name", type(provider).__name__)
    made = vectors.made(index)
    if made is None or made.model != name:
        size = embed(provider, ["Is anybody there?"]).shape[1]
        with index.exclusive(wait), index.transaction() as db:
            made = vectors.begin(db, name, size)
    return made


def _few(pieces: list[Piece], most: int) -> list[Piece]:
    """The first of these, of which a model sees no more than `most` windows; one at least."""
    sums = accumulate(len(given(piece)) for piece in pieces)
    return pieces[: max(1, sum(windows <= most for windows in sums))]


def _step(
    index: Index,
    provider: Provider,
    made: Made,
    pieces: Sequence[Piece],
    gone: dict[bytes, bytes],
    most: int,
    wait: float,
) -> bool:
    """Make and keep the vectors of these; False if it has to begin anew."""
    texts = [given(piece) for piece in pieces]
    marks = [digest("\0".join(windows).encode("utf-8", "replace")) for windows in texts]
    new = [windows for windows, mark in zip(texts, marks, strict=True) if mark not in gone]
    fresh = _vectors(provider, new, most)
    rows = [
        (piece.id, mark, gone[mark] if mark in gone else next(fresh))
        for piece, mark in zip(pieces, marks, strict=True)
    ]
    sizes = {len(row[2]) // len(windows) for row, windows in zip(rows, texts, strict=True)}
    with index.exclusive(wait):
        if vectors.made(index) != made:
            return False  # another process has
        with index.transaction() as db:
            if sizes != {made.size}:  # another model, whatever its name
                vectors.begin(db, made.model, max(sizes - {made.size}))
                return False
            vectors.store(db, rows)
    return True


def _vectors(provider: Provider, texts: list[list[str]], most: int) -> Iterator[bytes]:
    """The vectors of each text's windows, in a row; the model is given `most` windows at once."""
    flat = [window for windows in texts for window in windows]
    rows: list[bytes] = []
    for start in range(0, len(flat), most):
        rows += packed(embed(provider, flat[start : start + most]))
    made = iter(rows)
    return (b"".join(islice(made, len(windows))) for windows in texts)


def given(piece: Piece) -> list[str]:
    """What a model sees of a chunk, in windows of a size that it can take in.

    A turn is seen with the end of the one before, to which it may be the answer; a passage of a
    note with its title and headings, and without its properties.
    """
    text = piece.text
    if piece.scope == "sessions":
        who = f"{piece.heading}: " if piece.heading else ""
        first, *rest = [who + part for part in windows(text)]
        return [f"{piece.before[-BEFORE:]}\n{first}".strip(), *rest]
    if text.startswith("---\n") and (end := text.find("\n---", 3)) > 0:
        text = text[end + 4 :]
    title = piece.title if piece.scope == "sources" and piece.title not in piece.heading else ""
    lead = "\n".join(part for part in (title, piece.heading) if part)[:LEAD]
    return [f"{lead}\n{part}".strip() for part in windows(text.strip())]


def windows(text: str) -> list[str]:
    """The text in pieces of at most WINDOW characters, cut where a paragraph, a line, a sentence
    or a word ends."""
    parts: list[str] = []
    while len(text) > WINDOW and len(parts) < WINDOWS - 1:
        ends = (text.rfind(mark, WINDOW // 2, WINDOW) for mark in ("\n\n", "\n", ". ", " "))
        stop = next((at + 1 for at in ends if at > 0), WINDOW)
        parts.append(text[:stop].strip())
        text = text[stop:].strip()
    return [*parts, text[:WINDOW]]


def embed(provider: Provider, texts: Sequence[str]) -> NDArray[np.float32]:
    """What a model says of these texts, checked: a row of finite numbers for each, else NoModel."""
    try:
        import numpy as np
    except ImportError as error:
        from brain.embed import install

        raise NoModel(f"Hybrid search needs numpy ({error}).", install()) from error
    name = getattr(provider, "name", type(provider).__name__)
    try:
        rows = np.asarray(provider.embed(texts), np.float32)
    except NoModel:
        raise
    except Exception as error:  # a provider may be anybody's
        raise NoModel(f"The model {name!r} failed ({error}).", "See vectorModel.") from error
    if rows.ndim != 2 or len(rows) != len(texts) or not rows.shape[1]:
        said = "x".join(map(str, rows.shape)) or "one"
        raise NoModel(
            f"The model {name!r} gave {said} numbers for {len(texts)} texts.",
            "It must give a row of the same length for each.",
        )
    if not np.isfinite(rows).all():
        raise NoModel(f"The model {name!r} gave what is no number.", "See vectorModel.")
    return rows


def packed(rows: NDArray[np.float32]) -> list[bytes]:
    """Rows as signed bytes, each scaled so that its largest number is 127: the direction is all
    that counts."""
    import numpy as np

    largest = np.abs(rows).max(axis=1, keepdims=True)
    scaled = np.rint(rows / np.where(largest > 0, largest, 1) * 127)
    return [row.tobytes() for row in scaled.astype(np.int8)]

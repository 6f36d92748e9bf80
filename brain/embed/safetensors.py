"""Weights as the `.safetensors` format keeps them: a length, a JSON header, the numbers."""

from __future__ import annotations

import json

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import NDArray

_HEADER_MOST = 10_000_000  # bytes; more is not a header
_KINDS = {"F32": "<f4", "F16": "<f2"}


def read(path: str) -> dict[str, NDArray[np.float32]]:
    """The tensors of a file by name. They are read when they are used, and cannot be changed.

    Raises ValueError or OSError for what is not such a file, whatever its bytes.
    """
    data = np.memmap(path, dtype=np.uint8, mode="r")
    size = int.from_bytes(data[:8].tobytes(), "little")
    if not 2 <= size <= min(_HEADER_MOST, len(data) - 8):
        raise ValueError("it has no header")
    try:
        header = json.loads(data[8 : 8 + size].tobytes())
        tensors = {name: said for name, said in header.items() if name != "__metadata__"}
        return {name: _tensor(data[8 + size :], said) for name, said in tensors.items()}
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("its header is damaged") from error


def _tensor(data: NDArray[np.uint8], said: dict[str, list[int]]) -> NDArray[np.float32]:
    """One tensor; a piece of the file itself where that holds aligned 32-bit numbers."""
    kind = _KINDS.get(str(said["dtype"]))
    if kind is None:  # such as the positions, which are counted anyway
        return np.empty(0, np.float32)
    start, stop = said["data_offsets"]
    if not 0 <= start <= stop <= len(data):
        raise ValueError("it ends too early")
    return np.frombuffer(data[start:stop], kind).reshape(said["shape"])

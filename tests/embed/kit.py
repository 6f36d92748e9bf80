"""Small real providers and a small real ONNX model, so that no test needs one of 80 MB."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

from brain.embed.command import Command

SIZE = 509
SAME = {"automobile": "car", "vehicle": "car", "physician": "doctor", "feline": "cat"}


class Hashing:
    """A vector that counts words, in which a few synonyms are one: enough of a meaning to test."""

    name = "hashing"

    def __init__(self, size: int = SIZE) -> None:
        self.size = size
        self.given: list[str] = []  # everything it was ever asked

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.given += texts
        return [self._row(text) for text in texts]

    def _row(self, text: str) -> list[float]:
        row = [0.0] * self.size
        for word in re.findall(r"\w+", text.lower()):
            row[crc32(SAME.get(word, word).encode()) % self.size] += 1.0
        length = math.sqrt(sum(n * n for n in row)) or 1.0
        return [n / length for n in row]


class Broken:
    """A model that gives what it is told to."""

    name = "broken"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def embed(self, texts: Sequence[str]) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Sleeper(Command):
    """A real command that never answers; `asked` is how often it was started."""

    def __init__(self, seconds: float = 120.0) -> None:
        super().__init__("sleep 60", seconds=seconds)
        self.asked: list[int] = []

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked.append(len(texts))
        return super().embed(texts)


WORDS = "[PAD] [UNK] car automobile vehicle doctor physician cat feline tyres boat walrus the a red"


def tiny_model(folder: Path, size: int = 16, file: str = "model.onnx") -> Path:
    """Write an ONNX model with its tokenizer, as a hub has them. Synonyms have one vector. Each
    word also sees the mean of all, and so would see what fills up a batch."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    words = WORDS.split()
    table = np.random.default_rng(7).normal(size=(len(words), size)).astype(np.float32)
    for word in ("[UNK]", "the", "a"):
        table[words.index(word)] *= 0.01
    for word, same in SAME.items():
        table[words.index(word)] = table[words.index(same)]
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "length"])
    out = helper.make_tensor_value_info("out", TensorProto.FLOAT, ["batch", "length", size])
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["words"]),
        helper.make_node("ReduceMean", ["words", "axes"], ["mean"], keepdims=1),
        helper.make_node("Add", ["words", "mean"], ["out"]),
    ]
    weights = [
        numpy_helper.from_array(table, "table"),
        numpy_helper.from_array(np.array([1]), "axes"),
    ]
    graph = helper.make_graph(nodes, "tiny", [ids], [out], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(path))
    numbers = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordLevel(numbers, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {"pad_token": "[PAD]", "unk_token": "[UNK]", "model_max_length": 64}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    (folder / "config.json").write_text(json.dumps({"pad_token_id": 0, "hidden_size": size}))
    return folder

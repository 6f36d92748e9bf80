"""Embeddings by a model on this machine, which fastembed runs.

Each text is embedded separately and on one core, so its vector depends only on the text.
Several texts are embedded at the same time on several cores.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress

from brain.errors import NoModel, suggest

INSTALL = (
    "In the folder that Brain was installed from, run `pip install '.[hybrid]'`;"
    " with pipx, `pipx install --force '.[hybrid]'`."
)
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

MAX_CORES = 4  # the user may be working meanwhile
FILES = ("model.onnx", "onnx/model.onnx", "model_optimized.onnx", "model_quantized.onnx")


class Local:
    """A model of fastembed. It is loaded when it is first used."""

    batch = 32

    def __init__(self, name: str) -> None:
        self.name = name
        self._model: Any = None

    def load(self, download: bool = False) -> None:
        """Load the model."""
        if self._model is None:
            try:
                import fastembed
                from loguru import logger
            except ImportError as error:
                raise NoModel(f"Hybrid search needs fastembed ({error}).", INSTALL) from error
            logger.disable("fastembed")  # it prints errors that are also raised
            self._model = self._loaded(fastembed.TextEmbedding, download)

    def _loaded(self, model_class: Any, download: bool) -> Any:
        raise NotImplementedError

    def embed(self, texts: Sequence[str]) -> list[Any]:
        """Return a row for each text."""
        self.load()
        cores = min(MAX_CORES, os.cpu_count() or 1, len(texts))
        if cores < 2:
            return [self._row(text) for text in texts]
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(cores) as pool:
            return list(pool.map(self._row, texts))

    def embed_question(self, text: str) -> Any:
        """Return the row for a question. Some models embed questions in another way than texts."""
        self.load()
        return next(iter(self._model.query_embed(text)))

    def _row(self, text: str) -> Any:
        return next(iter(self._model.passage_embed([text])))


class Named(Local):
    """A model that fastembed knows by its name. It is downloaded once, into a folder."""

    def __init__(self, name: str, downloads: str) -> None:
        super().__init__(name)
        self._downloads = downloads

    def _loaded(self, model_class: Any, download: bool) -> Any:
        known = [each["model"] for each in model_class.list_supported_models()]
        if self.name.casefold() not in map(str.casefold, known):
            other_models = (
                "Name a model of fastembed, a folder (`~/models/mine`), `command: …` or an address."
            )
            raise NoModel(
                f"There is no model {self.name!r}.",
                f"{suggest(self.name, known)} {other_models}".strip(),
            )
        try:
            return model_class(
                self.name, cache_dir=self._downloads, threads=1, local_files_only=not download
            )
        except Exception as error:  # many libraries fail in many ways
            if download:
                raise NoModel(
                    f"The model {self.name!r} cannot be downloaded ({error}).",
                    "Check the network, or name a folder that contains it.",
                ) from error
            raise NoModel(
                f"The model {self.name!r} is not on this machine yet.", "`brain sync` downloads it."
            ) from error


class Folder(Local):
    """A model in a folder: `model.onnx`, `tokenizer.json`, `tokenizer_config.json`, and perhaps
    `1_Pooling/config.json`, as on a hub. Without the last file, the vectors of the tokens are
    averaged. `folder#name` uses the files in the folder with the settings of a model of
    fastembed."""

    def __init__(self, path: str) -> None:
        self._folder, _, self._base_model = path.partition("#")
        super().__init__(self._folder)
        self._file = next((f for f in FILES if os.path.isfile(f"{self._folder}/{f}")), "")

    @property
    def key(self) -> str:
        """The folder, with the size and time of its model file, because another file gives other
        vectors."""
        with suppress(OSError):
            stat = os.stat(f"{self._folder}/{self._file}")
            return f"{self.name}#{self._base_model} {stat.st_size} {stat.st_mtime_ns}"
        return self.name

    def _loaded(self, model_class: Any, download: bool) -> Any:
        if not (self._file or self._base_model):
            raise NoModel(
                f"There is no model.onnx in {self._folder}.", "Check the setting vectorModel."
            )
        try:
            name = self._base_model or self._register(model_class)
            return model_class(name, specific_model_path=self._folder, threads=1)
        except Exception as error:  # many libraries fail in many ways
            raise NoModel(
                f"The model in {self._folder} cannot be loaded ({error}).",
                "Check the setting vectorModel.",
            ) from error

    def _register(self, model_class: Any) -> str:
        """Register the model with fastembed, if it is not registered yet, and return its name."""
        from fastembed.common.model_description import ModelSource, PoolingType

        if self.key not in {each["model"] for each in model_class.list_supported_models()}:
            pooling: dict[str, Any] = {}
            with suppress(FileNotFoundError), open(f"{self._folder}/1_Pooling/config.json") as file:
                pooling = json.load(file)
            model_class.add_custom_model(
                model=self.key,
                pooling=PoolingType.CLS
                if pooling.get("pooling_mode_cls_token")
                else PoolingType.MEAN,
                normalization=True,
                sources=ModelSource(hf=self._folder),
                dim=0,  # not needed to load it
                model_file=self._file,
            )
        return self.key

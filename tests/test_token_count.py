"""A budget kept by the estimate is kept for every tokenizer that it was measured against."""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.errors import BadConfig
from brain.operations import doctor
from brain.token_count import counter, estimate
from tests.conftest import MakeVault, OpenBrain

MEASURED = json.loads((Path(__file__).parent / "token_counts.json").read_text(encoding="utf-8"))
TEXTS = {row["name"]: row for row in MEASURED["texts"]}
TOGETHER = 10  # tokens that two texts may take more of as one: a word that grew long at the seam


@pytest.mark.parametrize("name", TEXTS)
def test_hardly_under_the_largest_count(name: str) -> None:
    row = TEXTS[name]
    least = 0.95 if row["kind"] in ("english", "markdown", "code", "cjk", "data") else 0.9
    assert estimate(row["text"]) >= least * max(row["counts"].values())


@pytest.mark.parametrize("kind", ["english", "markdown", "code"])
def test_at_most_a_quarter_of_a_budget_is_unused(kind: str) -> None:
    rows = [row for row in TEXTS.values() if row["kind"] == kind]
    real = sum(max(row["counts"].values()) for row in rows)
    assert sum(estimate(row["text"]) for row in rows) <= real / 0.75


@pytest.mark.parametrize("char", ["\u4dbf", "\u9fa5", "\ud4db", "\u0b95", "\U00010400", "\ue000"])
def test_a_character_that_is_not_common_costs_its_bytes(char: str) -> None:
    assert estimate(char * 100) >= 100 * len(char.encode())


def test_nothing_is_nothing() -> None:
    assert estimate("") == 0


@given(st.text(st.characters()))
def test_any_text_has_a_count(text: str) -> None:
    assert 0 <= estimate(text) <= 5 * len(text.encode("utf-8", "surrogatepass"))


@given(st.text(st.characters(max_codepoint=0x2FFF)), st.text(st.characters(max_codepoint=0x2FFF)))
def test_texts_cost_no_more_together(one: str, other: str) -> None:
    assert estimate(one + other) <= estimate(one) + estimate(other) + TOGETHER


@given(st.sampled_from("aAzj.=-0 \n\t"), st.integers(1, 300), st.integers(1, 300))
def test_long_runs_cost_no_more_together(char: str, one: int, other: int) -> None:
    assert (
        estimate(char * (one + other)) <= estimate(char * one) + estimate(char * other) + TOGETHER
    )


def test_a_long_run_is_counted_as_if_it_went_on() -> None:
    assert estimate("a" * 100_000) == pytest.approx(10 * estimate("a" * 10_000), rel=0.01)


def test_the_estimate_needs_no_package() -> None:
    assert counter("estimate") is estimate


@pytest.mark.parametrize("name", ["", "gpt-4", "tiktoken:", "tokenizers", "estimate:x"])
def test_an_unknown_tokenizer_is_a_sentence(name: str) -> None:
    with pytest.raises(BadConfig, match="There is no tokenizer") as caught:
        counter(name)
    assert "estimate" in caught.value.remedy


@pytest.mark.parametrize("package", ["tiktoken", "tokenizers"])
def test_a_missing_package_is_named(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)  # as if it were not installed
    with pytest.raises(BadConfig, match=f"package {package}") as caught:
        counter(f"{package}:something")
    assert f"pip install {package}" in caught.value.remedy


def test_an_installed_tokenizer_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = types.ModuleType("tiktoken")
    fake.get_encoding = lambda name: types.SimpleNamespace(  # type: ignore[attr-defined]
        encode_ordinary=lambda text: text.encode("utf-8").split()
    )
    monkeypatch.setitem(sys.modules, "tiktoken", fake)
    assert counter("tiktoken:o200k_base")("three short words") == 3
    assert counter("tiktoken:o200k_base")("a lone \ud800 surrogate") == 4


def test_a_tokenizer_that_cannot_be_read_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = types.ModuleType("tokenizers")

    def from_file(path: str) -> None:
        raise Exception("No such file or directory (os error 2)")

    fake.Tokenizer = types.SimpleNamespace(from_file=from_file)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tokenizers", fake)
    with pytest.raises(BadConfig, match=r"tokenizers:/no/such.json.*No such file"):
        counter("tokenizers:/no/such.json")


def test_a_context_goes_on_without_its_tokenizer(
    vault: MakeVault, opened: OpenBrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Settings travel between machines, and packages do not."""
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    files = {"40_Brain/MEMORY.md": "- The cat sleeps\n"}
    settings = {"40_Brain/brain.yaml": "tokenizer: tiktoken:o200k_base\n"}
    plain, brain = opened(vault(files)), opened(vault(files | settings))
    said = brain.context("cat")
    assert said.text == plain.context("cat").text
    (note,) = said.notes
    assert note.startswith("Tokens are estimated. ")
    assert "`pip install tiktoken`" in note
    assert [(path, problem.code) for path, problem in doctor.doctor_problems(brain.vault)] == [
        ("40_Brain/brain.yaml", "tokenizer")
    ]
    assert doctor.doctor_problems(plain.vault) == []

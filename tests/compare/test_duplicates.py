"""What is remembered twice is one memory; what differs by a number, a name or a denial is two."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from brain.compare.similar import is_same, similarity, terms
from brain.formats.inline import prose
from tests.compare import score

PAIRS = score.pairs(Path(__file__).with_name("pairs.jsonl"))
TEXTS = st.sampled_from([pair[side] for pair in PAIRS for side in ("a", "b")])


@pytest.mark.parametrize(
    ("name", "count", "recall"),
    [
        ("pairs", 150, 0.95),
        ("paraphrases_tuning", 101, 0.9),
        ("paraphrases_validation", 99, 0.8),
        ("held_out", 150, 0.8),  # written with fresh eyes before the rules; nobody tunes on it
        ("second_held_out", 150, 0.8),
    ],
)
def test_precision_and_recall_on_labelled_pairs(name: str, count: int, recall: float) -> None:
    pairs = score.pairs(Path(__file__).with_name(f"{name}.jsonl"))
    found = score.scores((pair["label"], score.judge(pair)) for pair in pairs)
    assert len(pairs) == count
    assert found["duplicate"].precision >= 0.98
    assert found["duplicate"].recall >= recall


def test_near_pairs_are_near() -> None:
    found = score.scores((pair["label"], score.judge(pair)) for pair in PAIRS)
    assert found["near"].recall >= 0.8


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "We don't commit generated files to the repository",
            "We do not commit generated files to the repository",
        ),
        ("In Go files, always indent code with tabs", "Always indent code with tabs in Go files"),
        ("Use tabs", "- use tabs."),
        (
            "The nightly job writes its archives to the `cold-storage` bucket",
            "The nightly job writes its archives to the cold-storage bucket",
        ),
        ("The parser skips empty lines", "Empty lines are skipped by the parser"),
        ("We store all timestamps in UTC", "All timestamps are stored in UTC"),
        ("Water the monstera every ten days", "Every 10 days, water the monstera"),
        ("We have decided to use Postgres", "We've really decided to use Postgres"),
        ("My passport expires on 3 August 2029", "My passport expires on August 3, 2029"),
        (
            "Feature flags live in `flags.yaml`",
            "Feature flags live in flags.yaml https://a.example",
        ),
    ],
)
def test_almost_equal_texts_are_the_same(one: str, other: str) -> None:
    assert is_same(one, other)


DIFFERENT = """
Use tabs | Use the tabs
Retry the failed import jobs 3 times in a row | Retry the failed import jobs 5 times in a row
Ask Ana before changing the nightly import | Ask Ben before changing the nightly import
Change the nightly import after the standup | Never change the nightly import after the standup
Prefer tabs over spaces in long nested lists | Prefer spaces over tabs in long nested lists
Run all migrations before restarting web workers | Restart web workers before running all migrations
Her cousin moved to a new flat in town | His cousin moved to a new flat in town
Mount the data disk sda on sdb | Mount the data disk sdb on sda
The parser always calls the lexer | The lexer always calls the parser
Ana reports each outage to Ben on that day | Ben reports each outage to Ana on that day
"""


@pytest.mark.parametrize("pair", DIFFERENT.strip().splitlines())
def test_another_number_name_denial_or_order_is_another_memory(pair: str) -> None:
    """And below five words, any other word."""
    one, other = pair.split(" | ")
    assert not is_same(one, other)


def test_one_more_word_in_ten_is_the_same_if_it_is_not_a_name() -> None:
    text = (
        "the importer silently skips rows whose customer column holds only white space characters"
    )
    assert is_same(text, text.replace("skips", "always skips")) is False
    assert is_same(text, text.replace("rows", "input rows"))
    assert not is_same(text, text.replace("rows", "Excel rows"))


def test_similarity_is_the_share_of_common_words() -> None:
    assert (
        similarity("Log files are rotated daily", "Log files are rotated daily and compressed")
        == 0.8
    )
    assert similarity("one thing", "another matter") == 0.0
    assert similarity("", "") == 1.0


def test_terms_are_the_words_that_full_text_knows() -> None:
    assert terms("The user's `api_key` is in [[Vault]] #ops") == ["user", "api", "key", "vault"]


@given(TEXTS, TEXTS)
def test_similarity_goes_both_ways(one: str, other: str) -> None:
    assert similarity(one, other) == similarity(other, one)
    assert is_same(one, other) == is_same(other, one)


@given(st.text() | TEXTS)
def test_every_text_is_the_same_as_itself(text: str) -> None:
    assert is_same(text, text)
    assert similarity(text, text) == 1.0


@example("Customer data is kept in the Frankfurt region only", "{} #ops #db")
@given(
    TEXTS.filter(lambda text: not text.endswith(" it")),  # a tag may complete "we call it"
    st.sampled_from(
        [
            "- {}",
            "2026-02-01: {}",
            "{} #ops #db",
            "{} ^m-7f3k2ab4",
            "{} [[Some note]]",
            "- [x] {} [files:: a.py]",
        ]
    ),
)
def test_what_is_written_around_the_words_changes_nothing(text: str, marked: str) -> None:
    words = prose(text).strip()
    assert is_same(words, marked.format(words))

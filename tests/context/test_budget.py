"""The budget is never exceeded, and what matters most is kept."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from brain.config import Config
from brain.context.budget import (
    CUT,
    Allocation,
    allocate,
    divide,
    fit,
    shortened,
)
from brain.context.parts import Conflict, Package, Part, Passage
from brain.context.render import FORMATS, render
from brain.token_count import estimate

WORDS = "The search has to work on a laptop, without a server; nobody asked for more. "


def piece(name: str, text: str = WORDS, **more: object) -> Part:
    return Part(f"m-{name}", "fact", "confirmed", text, "40_Brain/MEMORY.md", 3)._replace(**more)


def many(start: str, number: int, text: str = WORDS) -> tuple[Part, ...]:
    return tuple(piece(f"{start}{at}", text) for at in range(number))


def ids(pieces: tuple[Part, ...]) -> list[str]:
    return [piece.id for piece in pieces]


@pytest.mark.parametrize(
    ("remaining", "parts"),
    [
        (100_000, (5000, 400, 2300, 1495, 600)),
        (50_000, (4000, 320, 1840, 1196, 600)),
        (20_000, (1600, 200, 700, 455, 245)),
        (8_000, (640, 200, 440, 0, 0)),
        (625, (50, 50, 0, 0, 0)),
        (0, (0, 0, 0, 0, 0)),
        (-5, (0, 0, 0, 0, 0)),
        (10**9, (5000, 400, 2300, 1495, 600)),
    ],
)
def test_the_table(remaining: int, parts: tuple[int, ...]) -> None:
    assert allocate(remaining, Config()) == Allocation(*parts)


@given(st.integers(-10, 10**7), st.integers(1, 20_000))
def test_parts_never_exceed_the_total(remaining: int, ceiling: int) -> None:
    for made in (allocate(remaining, Config(budgetCeiling=ceiling)), divide(remaining)):
        assert min(made) >= 0
        assert made.always + made.bridge + made.retrieval + made.summary <= made.total
    assert made.total == max(0, remaining)
    assert allocate(remaining, Config(budgetCeiling=ceiling)).total <= ceiling


TEXT = st.text(max_size=60) | st.text("word \n#<é汉", max_size=900)
PIECE = st.builds(
    Part,
    id=st.sampled_from(["m-a", "m-b", "m-c", "m-d", "m-e", ""]),
    kind=st.sampled_from(["fact", "negative", "procedure"]),
    status=st.sampled_from(["confirmed", "candidate", "pinned"]),
    text=TEXT,
    path=st.text(max_size=20),
    line=st.integers(0, 99),
    tags=st.lists(st.text(max_size=5), max_size=3).map(tuple),
    confidence=st.none() | st.floats(0, 1),
    conflicts=st.lists(st.sampled_from(["m-a", "m-z"]), max_size=2).map(tuple),
    steps=st.lists(TEXT, max_size=3).map(tuple),
    tier=st.sampled_from(["task", "project", "global", "nobody"]),
    passages=st.lists(st.builds(Passage, st.just("n-1"), st.just(3), TEXT), max_size=2).map(tuple),
)
PIECES = st.lists(PIECE, max_size=4).map(tuple)
PAIRS = st.builds(
    Conflict,
    st.sampled_from(["m-a", "m-b"]),
    st.sampled_from(["m-c", "m-z"]),
    st.text(max_size=200),
    st.text(max_size=200),
)
PACKAGE = st.builds(
    Package,
    st.text(max_size=300),
    *(PIECES for _ in range(7)),
    st.lists(PAIRS, max_size=2).map(tuple),
    st.text(max_size=20),
)
REMAINING = st.sampled_from([0, 1, 50, 640, 1500, 3000, 8000, 20_000, 100_000]) | st.integers(
    0, 9999
)
SIZES = st.sampled_from([0, 1, 200, 700, 9000]) | st.integers(0, 3000)
# as they are made, and divided in any other way
ALLOCATIONS = REMAINING.map(allocate) | st.tuples(SIZES, SIZES, SIZES, SIZES).map(
    lambda parts: Allocation(sum(parts), *parts)
)
CONFIGS = st.sampled_from(
    [
        Config(),
        Config(headTailPreserve=1),
        Config(taskShare=5.0, projectShare=0.0, globalShare=9.0),
    ]
)


@given(PACKAGE, ALLOCATIONS, st.sampled_from(FORMATS), CONFIGS)
@settings(deadline=None)
def test_the_total_is_never_exceeded(
    package: Package, allocation: Allocation, format: str, config: Config
) -> None:
    fitted = fit(package, allocation, format, estimate, config)
    assert estimate(fitted.text) == fitted.tokens <= fitted.allocation.total
    if fitted.text:
        assert fitted.text == render(fitted.package, format)
    assert 0 <= fitted.compression <= 1
    offered = {(name, one.id) for name, pieces in package.sections for one in pieces}
    offered |= {("notes", each.id) for one in package.notes for each in one.passages}
    shown = {(name, one.id) for name, pieces in fitted.package.sections for one in pieces}
    named = {("further", "") for _ in package.notes}  # by their path
    assert shown <= offered | named
    sides = {one for _, one in shown}
    for pair in package.conflicts:
        if pair.one in sides or pair.other in sides:
            assert pair in fitted.package.conflicts


@given(PACKAGE, REMAINING, st.sampled_from(FORMATS))
@settings(deadline=None)
def test_another_tokenizer_is_kept_to_as_well(
    package: Package, remaining: int, format: str
) -> None:
    """One that counts characters, so that two pieces never cost less together."""
    fitted = fit(package, allocate(remaining), format, len)
    assert len(fitted.text) <= fitted.allocation.total


def test_all_is_kept_where_there_is_room() -> None:
    package = Package(
        "?", many("w", 1), many("p", 2), many("b", 3), many("m", 4), summaries=many("s", 2)
    )
    fitted = fit(package, allocate(10**6), "claude", estimate)
    assert fitted.package == package
    assert fitted.compression == 1
    assert not any(fitted.left_out.values())
    assert all(fitted.used.values())


def test_warnings_stay_longest() -> None:
    package = Package(
        "?", many("w", 2), many("p", 9), many("b", 9), many("m", 9), summaries=many("s", 9)
    )
    fitted = fit(package, allocate(2500), "codex", estimate)
    assert ids(fitted.package.warnings) == ["m-w0", "m-w1"]
    assert fitted.left_out["summary"] == tuple(ids(package.summaries))
    assert fitted.compression < 0.2


def test_the_ends_of_the_task_stay_and_the_middle_goes() -> None:
    package = Package("?", bridge=many("b", 30))
    allocation = Allocation(400, 0, 400, 0, 0)
    kept = ids(fit(package, allocation, "gemini", estimate).package.bridge)
    assert kept[:2] == ["m-b0", "m-b1"]
    assert kept[-2:] == ["m-b28", "m-b29"]
    assert 4 < len(kept) < 30


@pytest.mark.parametrize("times", [30, 200, 20_000])
def test_a_long_piece_keeps_its_head_and_tail(times: int) -> None:
    long = piece("long", f"It begins. {WORDS * times} It ends.")
    allocation = Allocation(400, 0, 400, 0, 0)
    fitted = fit(Package("?", bridge=(long,)), allocation, "claude", estimate)
    (kept,) = fitted.package.bridge
    assert kept.text.startswith("It begins.")
    assert kept.text.endswith("It ends.")
    assert " … " in kept.text
    assert fitted.tokens > 200
    assert fitted.compression < (0.2 if times > 100 else 1)


def test_a_long_list_of_steps_keeps_its_ends() -> None:
    long = piece("long", WORDS, steps=tuple(f"{at}: {WORDS}" for at in range(99)))
    allocation = Allocation(500, 0, 0, 500, 0)
    fitted = fit(Package("?", memories=(long,)), allocation, "claude", estimate)
    (kept,) = fitted.package.memories
    assert kept.steps[0] == long.steps[0]
    assert kept.steps[-1] == long.steps[-1]
    assert "…" in kept.steps
    assert len(kept.steps) == len(long.steps)  # so that each has the number it had
    assert f"99. 98: {WORDS.strip()}" in fitted.text


def test_tiers_share_and_what_one_leaves_the_next_may_use() -> None:
    mine = tuple(one._replace(tier="task") for one in many("t", 30))
    ours = tuple(one._replace(tier="project") for one in many("p", 30))
    all_ours = tuple(one._replace(tier="global") for one in many("g", 30))
    allocation = Allocation(1000, 0, 0, 1000, 0)
    format = "codex"
    kept = ids(
        fit(Package("?", memories=mine + ours + all_ours), allocation, format, estimate)[0].memories
    )
    by_tier = [sum(name.startswith(f"m-{tier}") for name in kept) for tier in "tpg"]
    assert by_tier[0] >= by_tier[1] > by_tier[2] > 0
    alone = fit(Package("?", memories=all_ours), allocation, format, estimate).package.memories
    assert len(alone) >= sum(by_tier) - 1


def test_an_unused_part_flows_on() -> None:
    allocation = Allocation(1000, 200, 500, 200, 100)
    fitted = fit(Package("?", summaries=many("s", 40)), allocation, "codex", estimate)
    assert fitted.used["summary"] > 800


@pytest.mark.parametrize("format", FORMATS)
def test_what_all_others_leave_goes_to_warnings_and_pinned(format: str) -> None:
    package = Package("?", many("w", 5, WORDS * 4), many("p", 5, WORDS * 5), memories=many("m", 5))
    fitted = fit(package, allocate(100_000), format, estimate)
    assert fitted.package == package
    assert fitted.used["always"] > fitted.allocation.always == 400


def test_a_warning_is_not_cut_while_there_is_room() -> None:
    package = Package("?", (piece("w", WORDS * 60),), many("p", 2))
    assert fit(package, allocate(100_000), "codex", estimate).package == package


def test_warnings_take_what_is_left_first() -> None:
    package = Package("?", many("w", 5, WORDS * 10), many("p", 5, WORDS * 2))
    fitted = fit(package, Allocation(1150, 300, 300, 200, 350), "codex", estimate)
    assert ids(fitted.package.warnings) == ["m-w0", "m-w1", "m-w2", "m-w3"]
    assert fitted.tokens > 950


WORDED = (
    "- The *last* frost (see [[Frost Dates]]) comes `late`, and the net stays on until November. "
)


@given(st.integers(1, 8), st.floats(0.05, 0.95))
@example(7, 0.94921875)  # right behind a link
def test_a_cut_falls_between_words(times: int, share: float) -> None:
    text = WORDED * times
    head, _, tail = shortened(piece("m", text), share).text.partition(CUT)
    words = set(text.split())
    assert set(head.split()) | set(tail.split()) <= words
    for end in (head, tail):
        assert end.count("[[") == end.count("]]")
    assert not head or head[-1].isalnum() or head.split()[-1] in words


def test_a_cut_of_one_long_word_falls_inside_of_it() -> None:
    assert shortened(piece("m", "x" * 1000), 0.3).text == "x" * 200 + CUT + "x" * 100


def test_a_contradiction_is_never_shown_as_one_side() -> None:
    pair = Conflict("m-m0", "m-m1", "Use tabs.", "Never use tabs.")
    package = Package("?", memories=many("m", 2), conflicts=(pair,))
    one = fit(package, Allocation(200, 0, 0, 200, 0), "codex", estimate)
    assert ids(one.package.memories) == ["m-m0"]
    assert 'Entry #m-m1 says "Never use tabs."' in one.text
    none = fit(package, Allocation(95, 0, 0, 95, 0), "codex", estimate)
    assert none.package.memories == ()
    assert none.text == ""


@pytest.mark.parametrize("format", FORMATS)
def test_what_has_no_room_for_its_frame_is_nothing(format: str) -> None:
    fitted = fit(Package("?", many("w", 1)), allocate(100), format, estimate)
    assert (fitted.text, fitted.tokens) == ("", 0)
    assert fitted.left_out["always"] == ("m-w0",)

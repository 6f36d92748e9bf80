"""The work of parsing, redacting, sanitising and editing grows with the size of a text, not faster.

For most shapes the CPU time at one size is compared with that at 16 times the size: 16 times as
much is linear, 256 times is quadratic. The bound is far from both, because the time of a busy
machine varies. The smaller size is doubled until it takes long enough to be measured. A ratio that
looks too high is measured again, with more runs, before it counts.
"""

from __future__ import annotations

import functools
import gc
import sys
import time
from collections.abc import Callable

import pytest

from brain.errors import Refused
from brain.formats import markdown, memory_edit, memory_md, session_jsonl
from brain.model import Add
from tests import hostile

MEASURABLE = 0.0015  # seconds
MOST = 64_000  # characters of the smaller size
FACTOR, BOUND = 16, 60.0  # times the size, times the CPU time


def cpu(act: Callable[[str], object], text: str, runs: int) -> float:
    """Return the least CPU time of some runs. Caches are cleared before each."""
    found = []
    for _ in range(runs):
        for cache in caches():
            cache.cache_clear()
        start = time.process_time()
        act(text)
        found.append(time.process_time() - start)
    return min(found)


@functools.cache
def caches() -> list[functools._lru_cache_wrapper[object]]:
    every = (each for each in gc.get_objects() if isinstance(each, functools._lru_cache_wrapper))
    return [each for each in every if each.__module__.startswith("brain")]


def growth(act: Callable[[str], object], shape: Callable[[int], str]) -> float:
    """Return how many times the CPU time grows when a text grows by FACTOR."""
    size, ratio = 500, 0.0
    while cpu(act, shape(size), 1) < MEASURABLE and size < MOST:
        size *= 2
    for runs in (1, 3, 9):
        small, large = (cpu(act, shape(each), runs) for each in (size, FACTOR * size))
        ratio = large / max(small, MEASURABLE / 2)
        if ratio <= BOUND:
            break
    return ratio


@pytest.mark.parametrize("work", hostile.WORK)
def test_work_is_linear(work: str) -> None:
    act = hostile.WORK[work]
    gc.collect()
    gc.disable()
    try:
        ratios = {name: round(growth(act, shape), 1) for name, shape in hostile.SHAPES.items()}
    finally:
        gc.enable()
    assert {name: ratio for name, ratio in ratios.items() if ratio > BOUND} == {}


# -- counted work ---------------------------------------------------------------------------------


def calls(act: Callable[[], object]) -> int:
    """Return how many functions are called, those written in C included."""
    count = 0

    def tally(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(tally)
    try:
        act()
    finally:
        sys.setprofile(None)
    return count


def test_blank_lines_of_a_session_are_hardly_looked_at() -> None:
    def parse(blank: int) -> Callable[[], object]:
        line = b'{"id": "m", "content": "a"}\n'
        return lambda: session_jsonl.parse(line + b"\n" * blank + line, "s")

    calls(parse(1))
    assert calls(parse(2_000)) - calls(parse(1_000)) <= 3_000


def test_quotes_are_not_looked_through_to_the_end_for_each() -> None:
    def parse(quotes: int) -> Callable[[], object]:
        return lambda: list(markdown.blocks("> ```\na\n" * quotes))

    calls(parse(1))
    assert calls(parse(400)) < 2.2 * calls(parse(200))


@pytest.mark.parametrize("section", ["Facts", "Other"])
@pytest.mark.parametrize("opener", ["```", "~~~", "<!--"])
def test_an_edit_behind_an_open_block_is_refused_after_one_parse(opener: str, section: str) -> None:
    bullets = "".join(f"- word {number}\n" for number in range(400))
    data = f"# Notes\n\n{bullets}\n{opener}\nopen\n".encode()

    def edit() -> None:
        with pytest.raises(Refused):
            memory_edit.edit("MEMORY.md", data, [Add("MEMORY.md", "m-1", "new", section)])

    parsed = calls(lambda: memory_md.parse(data))
    assert calls(edit) < 2.5 * parsed

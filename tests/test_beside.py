"""Calls beside others: they are made, waited for, and their errors are heard of."""

from __future__ import annotations

import os
from threading import Event, Thread

import pytest

from brain import beside


def test_who_waits_hears_what_went_wrong() -> None:
    def fail() -> None:
        raise OSError(28, "No space left on device")

    running = beside.start(fail)
    with pytest.raises(OSError, match="No space left"):
        running.wait()


def test_two_calls_are_made_at_the_same_time() -> None:
    met = Event()
    seen: list[bool] = []
    first = beside.start(lambda: seen.append(met.wait(30)))
    beside.start(met.set).wait()
    first.wait()
    assert seen == [True]


def test_no_call_is_forgotten_however_many_start_them() -> None:
    made: list[int] = []

    def start(of: int) -> None:
        for number in range(of, of + 500):
            beside.start(made.append, number).wait()

    callers = [Thread(target=start, args=(500 * number,)) for number in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(30)
    assert sorted(made) == list(range(2000))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_makes_its_own() -> None:
    beside.start(os.getpid).wait()
    pid = os.fork()
    if not pid:
        beside.start(os._exit, 7).wait()
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7


def test_what_can_wait_is_done_after_a_pause_even_behind_an_error() -> None:
    done = Event()

    def fail() -> None:
        raise OSError(9, "Bad file descriptor")

    beside.start(os.getpid).wait()
    beside.later(fail)
    beside.later(done.set)
    beside.start(os.getpid).wait()
    assert done.wait(30)

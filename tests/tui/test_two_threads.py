"""Work that two threads share."""

from __future__ import annotations

import threading

import pytest

from whichlayer.tui.two_threads import in_two_threads


def test_every_item_is_done_once() -> None:
    done: list[int] = []
    in_two_threads(done.append, range(1000))
    assert sorted(done) == list(range(1000))


def test_two_threads_take_part() -> None:
    both = threading.Barrier(2, timeout=10)
    in_two_threads(lambda _: both.wait(), range(2))


def test_nothing_to_do_is_nothing() -> None:
    in_two_threads(pytest.fail, ())


@pytest.mark.parametrize("bad", [0, 1, 49])
def test_what_goes_wrong_in_either_thread_is_raised(bad: int) -> None:
    def work(item: int) -> None:
        if item == bad:
            raise ValueError(item)

    with pytest.raises(ValueError, match=str(bad)):
        in_two_threads(work, range(50))

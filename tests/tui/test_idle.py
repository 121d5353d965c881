"""Waiting in tests ends when there is nothing left to do, and not before."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from tests.tui.idle import wait_for_idle


async def test_what_wakes_one_another_is_waited_for() -> None:
    done: list[int] = []

    async def chain(left: int) -> None:
        done.append(left)
        if left:
            await asyncio.sleep(0)
            await asyncio.create_task(chain(left - 1))

    task = asyncio.create_task(chain(50))
    await wait_for_idle()
    assert task.done() and len(done) == 51


async def test_timers_that_are_due_soon_are_waited_for_and_later_ones_are_not() -> None:
    loop = asyncio.get_running_loop()
    fired: list[str] = []
    loop.call_later(0.015, fired.append, "soon")
    later = loop.call_later(30, fired.append, "later")
    await wait_for_idle()
    assert fired == ["soon"]
    later.cancel()


async def test_work_of_timers_is_followed_as_far_as_it_leads() -> None:
    loop = asyncio.get_running_loop()
    fired: list[int] = []

    def work(left: int) -> None:
        ends = time.process_time() + 0.002
        while time.process_time() < ends:
            pass
        fired.append(left)
        if left:
            loop.call_later(0.015, work, left - 1)

    loop.call_later(0.015, work, 4)
    await wait_for_idle()
    assert fired == [4, 3, 2, 1, 0]


async def test_where_a_thread_lives_the_process_has_to_be_idle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[float] = []

    async def as_textual_does(min_sleep: float, max_sleep: float) -> None:
        asked.append(min_sleep)

    monkeypatch.setattr("tests.tui.idle.wait_as_textual_does", as_textual_does)
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    await wait_for_idle()
    assert not asked
    thread.start()
    await wait_for_idle(0.25)
    end.set()
    thread.join()
    assert asked == [0.25]

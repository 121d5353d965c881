"""When an application under test has nothing left to do.

Textual's pilot sleeps 20 ms at a time, two or three times for a key, until the process takes
little time of a CPU: more than half of what a test of the screen takes. Here the event loop is
asked instead: nothing in it may be ready, and no timer due within the time that Textual sleeps.
Where another thread lives, which no event loop knows of, Textual's own way is taken.
"""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

from textual._wait import SLEEP_GRANULARITY, SLEEP_IDLE
from textual._wait import wait_for_idle as wait_as_textual_does

#: Threads of the test run itself.
OURS = frozenset(threading.enumerate())

#: Turns of the loop without anything ready: one for what it reads, one for what that wakes.
_QUIET_TURNS = 3


async def wait_for_idle(min_sleep: float = SLEEP_GRANULARITY, max_sleep: float = 1.0) -> None:
    """Wait until nothing is ready and no timer is due soon, as long as timers lead to work.

    Args:
        min_sleep: seconds to wait at least where threads are at work.
        max_sleep: seconds to wait at most.
    """
    loop: Any = asyncio.get_running_loop()
    await _until_nothing_is_ready(loop)
    soon = loop.time() + SLEEP_GRANULARITY  # however long others held this process up so far
    waited = 0.0
    while waited < max_sleep:
        if set(threading.enumerate()) - OURS:
            await wait_as_textual_does(min_sleep, max_sleep)
            return
        due = min((one.when() for one in loop._scheduled if not one.cancelled()), default=None)
        if due is None or due > soon:
            return
        spent = time.process_time()
        pause = max(due - loop.time(), 0.001)
        await asyncio.sleep(pause)
        waited += pause
        await _until_nothing_is_ready(loop)
        if time.process_time() - spent > SLEEP_IDLE:
            soon = loop.time() + SLEEP_GRANULARITY


async def _until_nothing_is_ready(loop: Any) -> None:
    quiet = 0
    while quiet < _QUIET_TURNS:
        await asyncio.sleep(0)
        quiet = 0 if loop._ready else quiet + 1

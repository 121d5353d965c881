"""Leaving as one should when the system asks: the terminal given back, nothing left behind."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable

#: A request to end, a terminal that was closed, and an interrupt that is no key.
_NAMES = ("SIGTERM", "SIGHUP", "SIGINT")


def leave_on_signals(leave: Callable[[int], object]) -> None:
    """Have ``leave`` called with 128 plus the number of a signal; for a running event loop.

    Without it such a signal would end Python at once: the terminal would stay as it is, and
    what a pipe was spooled to would stay on the disk.
    """
    loop = asyncio.get_running_loop()
    for name in _NAMES:
        # Not every system has them, and only the main thread may take them.
        with contextlib.suppress(AttributeError, NotImplementedError, RuntimeError, ValueError):
            number = int(getattr(signal, name))
            loop.add_signal_handler(number, leave, 128 + number)

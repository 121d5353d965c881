"""Threads inside the program that is recorded: what goes wrong in one is not the program's to see."""

from __future__ import annotations

import threading
from collections.abc import Callable


def begin_thread(work: Callable[[], None], name: str) -> threading.Thread | None:
    """Do something in a thread of its own that keeps no program alive and never prints a traceback.

    Args:
        work: what it does.
        name: of the thread.

    Returns:
        The thread, or None where the system has no room for one, or the process is about to end.
    """

    def quietly() -> None:
        try:
            work()
        except Exception:  # noqa: BLE001  Python would print it to the program's standard error
            return

    thread = threading.Thread(target=quietly, name=name, daemon=True)
    try:
        thread.start()
    except (RuntimeError, MemoryError):
        return None
    return thread

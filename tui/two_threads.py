"""Work on arrays by two threads at once."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")


def in_two_threads(work: Callable[[Item], object], items: Iterable[Item]) -> None:
    """Do the work for every item: Python lets go of a thread while NumPy calculates in it.

    Raises:
        Exception: what the work raised first; what was not begun by then is left undone.
    """
    left = deque(items)
    failures: list[Exception] = []

    def take_turns() -> None:
        try:
            while left:
                try:
                    item = left.popleft()
                except IndexError:  # the other thread took the last one
                    return
                work(item)
        except Exception as failure:  # noqa: BLE001  raised again where it is waited for
            failures.append(failure)
            left.clear()

    helper = threading.Thread(target=take_turns, name="arrays", daemon=True)
    helper.start()
    take_turns()
    helper.join()
    if failures:
        raise failures[0]

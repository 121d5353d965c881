"""Work on arrays by two threads at once, and turns short enough for the screen beside them."""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

Item = TypeVar("Item")

#: A thread gives way to another this often (seconds): Python's own 5 ms add up over the dozens of
#: turns that an answer to a key takes.
_TURN_S: Final = 0.001


@contextmanager
def short_turns(seconds: float = _TURN_S) -> Iterator[None]:
    """Lets other threads have their turn sooner than Python would; one thread at a time."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, seconds))
    try:
        yield
    finally:
        sys.setswitchinterval(before)


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

"""How the memory of a process that reads is managed."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

#: Below the largest block (32 MiB) that glibc takes a lesson from.
_LARGE_BLOCK: Final = (1 << 25) - (1 << 16)


def keep_freed_memory() -> None:
    """Lets the buffers of one chunk serve for the next.

    They are so large that glibc gives each back to the system when it is freed, and the next
    one costs a page fault for every 4 KiB. After one larger block was freed, none of it ever
    touched, it keeps what is smaller. Other allocators do not care.
    """
    bytes(_LARGE_BLOCK)


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Millions of new objects that hold no cycles would only make it run in vain."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()

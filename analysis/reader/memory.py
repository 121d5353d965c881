"""How the memory of a process that reads is managed."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Final

#: Below the largest block (32 MiB) that glibc takes a lesson from.
_LARGE_BLOCK: Final = (1 << 25) - (1 << 16)


@cache
def keep_freed_memory() -> None:
    """Lets the buffers of one chunk serve for the next.

    They are so large that glibc gives each back to the system when it is freed, and the next
    one costs a page fault for every 4 KiB. After one larger block was freed, none of it ever
    touched, it keeps what is smaller, for good: once in a process is enough, and a second block
    would be taken from what is kept and filled with zeros. Other allocators do not care.
    """
    bytes(_LARGE_BLOCK)


def give_back_freed_memory() -> None:
    """Gives the system what chunks have left behind, before something large is made.

    It lies between what is kept, in pieces too small for that. A few milliseconds with glibc;
    other allocators have their own ways.
    """
    trim = _malloc_trim()
    if trim is not None:
        trim(0)


@cache
def _malloc_trim() -> Callable[[int], int] | None:
    """The ``malloc_trim`` of glibc; None where the process has another allocator."""
    try:
        library = ctypes.CDLL(None)
        if not hasattr(library, "gnu_get_libc_version"):
            return None
        found: Callable[[int], int] = library.malloc_trim
    except (OSError, AttributeError, TypeError):
        return None
    return found


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

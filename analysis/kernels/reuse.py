"""Memory that arrays of millions of numbers are taken from, again and again."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Final

#: ``M_TRIM_THRESHOLD`` and ``M_MMAP_THRESHOLD`` of glibc's ``malloc.h``.
_TRIM: Final = -1
_MMAP: Final = -3
#: The largest block that glibc takes from its heap.
_LARGEST_BLOCK: Final = 1 << 25
_KEPT: Final = 1 << 30
#: What glibc settles at by itself once blocks of 32 MiB were freed.
_USUAL: Final = 1 << 26


@contextmanager
def reusing_memory() -> Iterator[None]:
    """Lets one temporary array serve for the next.

    glibc gives large blocks back to the system when they are freed, and the system clears each
    page of the next one: on a virtual machine that took half of the time of judging a million
    kernels. Other allocators are left alone.
    """
    _set(_MMAP, _LARGEST_BLOCK)
    _set(_TRIM, _KEPT)
    try:
        yield
    finally:
        _set(_TRIM, _USUAL)


def _set(what: int, value: int) -> None:
    change = _mallopt()
    if change is not None:
        change(what, value)


@cache
def _mallopt() -> Callable[[int, int], int] | None:
    """The ``mallopt`` of glibc; None where the process has another allocator."""
    try:
        library = ctypes.CDLL(None)
        if not hasattr(library, "gnu_get_libc_version"):
            return None
        found: Callable[[int, int], int] = library.mallopt
    except (OSError, AttributeError, TypeError):
        return None
    return found

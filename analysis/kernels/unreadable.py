"""Arguments whose recorded sizes and types cannot both be true."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from whichlayer.analysis.kernels.dtypes import dtype_of


def is_damaged(size: Any, spelling: str) -> bool:
    """Whether an argument whose size is no shape is a tensor by its type, not a list of them."""
    if not _is_tensor(spelling):
        return False
    nested = isinstance(size, list | tuple) and all(isinstance(one, list | tuple) for one in size)
    return not nested


def unpaired(dims: Sequence[Any], types: Sequence[str]) -> str:
    """Why shapes and types do not belong together; empty where they do.

    What is left over may only be what says nothing: an empty shape, a type that is no tensor's.
    """
    untyped = any(isinstance(size, list | tuple) and size for size in dims[len(types) :])
    unsized = any(map(_is_tensor, types[len(dims) :]))
    return "not as many types as shapes are recorded" if untyped or unsized else ""


def _is_tensor(spelling: str) -> bool:
    # Files of 2021 write numbers as "Int", "Bool", "Double".
    return dtype_of(spelling) is not None and not spelling[:1].isupper()

"""Copies, casts and concatenation."""

from __future__ import annotations

import math
import re
from typing import Final

from whichlayer.analysis.kernels.calls import OpCall, Unknown
from whichlayer.analysis.kernels.dtypes import DTYPE_ENUM, ITEM_BYTES, dtype_of
from whichlayer.analysis.kernels.work import Work, operator

_OPAQUE: Final = re.compile(r"OpaqueType<(\d+)u?>")
_FIRST_TYPE: Final = re.compile(r"<\s*([\w:]+(?: (?:char|int|long))?)\s*[,>]")


@operator("copy_")
def copy(call: OpCall) -> Work:
    """dst, src: an expanded source is read once."""
    target, source = call.need(0), call.need(1)
    return Work(
        bytes=target.bytes + source.bytes,
        category="copy",
        casts=target.dtype != source.dtype,
    )


@operator("clone", "contiguous")
def clone(call: OpCall) -> Work:
    """Wrappers of ``copy_``; some builds launch the copy themselves."""
    x = call.need(0)
    return Work(bytes=x.bytes + x.count * x.item_bytes, category="copy")


@operator("_to_copy")
def cast(call: OpCall) -> Work:
    """src, dtype, …: a wrapper of ``copy_``; the type is an enumeration."""
    x = call.need(0)
    asked = call.number(1)
    dtype = x.dtype if asked is None else DTYPE_ENUM.get(int(asked))
    if dtype is None:
        raise Unknown("the result's type is not known")
    written = x.count * ITEM_BYTES[dtype]
    return Work(bytes=x.bytes + written, category="copy", casts=dtype != x.dtype)


@operator("cat", "_cat", "stack", "concat", "concatenate")
def concatenate(call: OpCall) -> Work:
    """TensorList, dim: read and written once; the kernel's name tells the element size."""
    shapes = call.shapes(0)
    if shapes is None:
        raise Unknown("the operator does not list its tensors")
    size = list_item_bytes(call)
    if size is None:
        raise Unknown("the type of a list of tensors is not recorded")
    return Work(bytes=2 * size * sum(math.prod(shape) for shape in shapes), category="copy")


def list_item_bytes(call: OpCall) -> int | None:
    """Element size of a list of tensors, from the kernel that worked on it; None if unclear."""
    found = set()
    for name in call.kernels:
        opaque = _OPAQUE.search(name)
        if opaque is not None:
            found.add(int(opaque[1]))
            continue
        first = _FIRST_TYPE.search(name)
        dtype = dtype_of(first[1]) if first is not None else None
        if dtype is not None:
            found.add(ITEM_BYTES[dtype])
    return found.pop() if len(found) == 1 else None


@operator("flip", "roll", "rot90")
def reorder(call: OpCall) -> Work:
    """Every element moves once."""
    x = call.need(0)
    return Work(bytes=x.bytes + x.count * x.item_bytes, category="copy")

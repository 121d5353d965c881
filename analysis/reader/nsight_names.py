"""Names of Nsight Systems records, as Kineto writes the same things.

Both profilers record through CUPTI; the analysis knows the names that Kineto makes of its
records, so an export's numbers are turned into those.
Source: libkineto's CuptiActivity.cpp and the ENUM tables of the exports.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

import msgspec

from whichlayer.analysis.trace.kinds import SliceKind

_COPIES: Final = {
    1: "HtoD", 2: "DtoH", 3: "HtoA", 4: "AtoH", 5: "AtoA", 6: "AtoD", 7: "DtoA", 8: "DtoD",
    9: "HtoH", 10: "PtoP", 11: "HtoD", 12: "DtoH", 13: "PtoP",
}  # fmt: skip

#: Copies that unified memory makes by itself; its pages are what moves.
_UNIFIED: Final = frozenset({11, 12, 13})

_MEMORY: Final = {
    0: "Pageable", 1: "Pinned", 2: "Device", 3: "Array", 4: "Managed", 5: "Device Static",
    6: "Managed Static",
}  # fmt: skip

_SYNCS: Final = {1: "Event Sync", 2: "Stream Wait Event", 3: "Stream Sync", 4: "Context Sync"}

_OVERHEADS: Final = {
    2: "Driver Compiler", 3: "Buffer Flush", 4: "Instrumentation", 5: "Resource",
    6: "Runtime Triggered Module Loading", 7: "Lazy Function Loading", 8: "Command Buffer Full",
}  # fmt: skip

#: What a library call's name carries beyond its name: its version, its default stream.
_VERSION = re.compile(r"(_ptsz|_ptds)?_v\d{4,6}\Z")

#: How this demangler writes numbers and lambdas in templates, and how Kineto's does.
_NUMBER = re.compile(r"\((unsigned )?(int|long|short|char|long long)\)(-?\d)")
_TRUTH = re.compile(r"\(bool\)([01])\b")
_LAMBDA = re.compile(r"\[lambda\(([^()\[\]]*)\) \(instance (\d+)\)\]")

#: What ``torch.autograd.profiler.emit_nvtx`` writes behind a name, in its order.
_PARTS: Final = (", seq = ", ", op_id = ", ", sizes = ", ", input_op_ids = ")

#: Names of operators; of the rest, which PyTorch writes alike, a user's own annotations.
_OPERATOR = re.compile(
    r"(_?[a-z]\w*|_C\w*)::[\w.]+\Z|(torch::)?autograd::|\w+Backward\d*\Z|detach_?\Z"
)

_LONGEST_SIZES: Final = 4096


def copy_name(kind: int, source: int, target: int) -> str:
    """The name of a copy from its ``copyKind``, ``srcKind`` and ``dstKind``."""
    what = _COPIES.get(kind, "<unknown>")
    if kind in _UNIFIED:
        return f"Memcpy {what} (Unified)"
    return f"Memcpy {what} ({_MEMORY.get(source, 'Unknown')} -> {_MEMORY.get(target, 'Unknown')})"


def fill_name(memory: int) -> str:
    """The name of a memset from its ``memKind``."""
    return f"Memset ({_MEMORY.get(memory, 'Unknown')})"


def sync_name(kind: int) -> str:
    """The name of a synchronisation from its ``syncType``."""
    return _SYNCS.get(kind, "<unknown>")


def overhead_name(kind: int) -> str:
    """The name of an overhead from its ``overheadType``."""
    return _OVERHEADS.get(kind, "Unknown")


@lru_cache(maxsize=4096)
def call_name(name: str) -> str:
    """A call's name without its version: ``cudaLaunchKernel`` of ``cudaLaunchKernel_v7000``."""
    return _VERSION.sub("", name)


@lru_cache(maxsize=4096)
def kernel_name(name: str) -> str:
    """A kernel's name with template arguments as Kineto's demangler writes them.

    ``(int)128`` is 128, and no type of the data that the kernel works on.
    """
    if "(" not in name:
        return name
    name = _NUMBER.sub(r"\3", name)
    name = _TRUTH.sub(lambda found: "true" if found[1] == "1" else "false", name)
    name = _LAMBDA.sub(r"{lambda(\1)#\2}", name)
    return name.replace("<unnamed>", "(anonymous namespace)").replace("operator ()", "operator()")


def read_range(text: str) -> tuple[str, SliceKind, Sequence[Any] | None]:
    """Name, kind and, where recorded, input sizes of a range of the default NVTX domain.

    ``emit_nvtx`` of PyTorch marks every operator, as ``aten::mm, op_id = 7, sizes = [[2, 3],
    [3, 4]]``; all other ranges are annotations.
    """
    found = [place for part in _PARTS if (place := text.find(part)) > 0]
    name = text[: min(found)] if found else text
    # Only a node of autograd or what it records has a sequence number.
    if _OPERATOR.match(name) or text.startswith(_PARTS[0], len(name)):
        return name, SliceKind.CPU_OP, _sizes(text) if found else None
    return name, SliceKind.ANNOTATION, None


def _sizes(text: str) -> Sequence[Any] | None:
    place = text.find(_PARTS[2])
    if place < 0:
        return None
    end = text.find(_PARTS[3], place)
    told = text[place + len(_PARTS[2]) : end if end >= 0 else None]
    if len(told) > _LONGEST_SIZES:
        return None
    try:
        sizes = msgspec.json.decode(told, type=list[list[int]])
    except (msgspec.MsgspecError, RecursionError):
        return None
    return sizes or None

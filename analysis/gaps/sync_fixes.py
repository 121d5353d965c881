"""What to change about a call that waits for the device, by what it was called for."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.gaps.remembered import once_per_trace
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

_TO_DEVICE: Final = (
    "pin what is copied (pin_memory=True, or torch.empty(..., pin_memory=True)) and "
    ".to(device, non_blocking=True): from pageable memory even a small copy waits for all work "
    "before it; make constants on the device"
)
_TO_HOST: Final = (
    "copy into pinned memory with non_blocking=True and read it a step later, or keep the value on "
    "the device; log every N steps"
)
_COLLECTIVE: Final = (
    "let the stream wait instead of the host: no TORCH_NCCL_BLOCKING_WAIT and no barrier() in the "
    "loop; read results of collectives later"
)
_SIZES: Final = (
    "its result's size depends on the data, so the host must ask: torch.where or a mask that is "
    "multiplied, nonzero_static or a fixed size instead"
)
_EXPLICIT: Final = (
    "no torch.cuda.synchronize() in the loop: measure with CUDA events, and read them later"
)

#: A batch is larger: less is a constant, a length, an index.
_BATCH_BYTES: Final = 1 << 16

#: From the call outwards; the first that matches tells.
_BY_NAME: Final = (
    (re.compile(r"^aten::(_local_scalar_dense|item|is_nonzero|equal)$"), ""),
    (
        re.compile(
            r"^aten::(nonzero|masked_select|_?unique\w*|repeat_interleave|bincount|index"
            r"|index_put_?|_index_put_impl_|count_nonzero)$"
        ),
        _SIZES,
    ),
    (
        re.compile(
            r"^c10d::(wait|barrier)|^nccl:barrier|wait_tensor"
            r"|distributed_c10d\.py\(\d+\): (monitored_)?(barrier|wait)\w*$|\bWork::?\.?wait",
        ),
        _COLLECTIVE,
    ),
    (
        re.compile(
            r"torch/(cuda|xpu|hip)/(__init__|streams)\.py\(\d+\): synchronize$"
            r"|<built-in function _(cuda|xpu)_synchronize>"
        ),
        _EXPLICIT,
    ),
)
_HTOD: Final = re.compile(r"HtoD|Host ?(-|To)>? ?Device|HostToDevice", re.IGNORECASE)
_DTOH: Final = re.compile(r"DtoH|Device ?(-|To)>? ?Host|DeviceToHost", re.IGNORECASE)
_DEVICE_WIDE: Final = re.compile(r"^(cuda|hip)DeviceSynchronize$|^(cu|hip)CtxSynchronize$")


class _Copies(NamedTuple):
    """Calls that launched a copy, ascending, and the copy of each."""

    calls: NDArray[np.int64]
    copies: NDArray[np.int64]


def sync_fix(trace: Trace, row: int) -> str | None:
    """What to do about one waiting call; None where nothing more than usual is known.

    Args:
        trace: the recording.
        row: the call, the slice that holds it, or the copy that it makes.
    """
    row = int(trace.launch[row]) if trace.launch[row] >= 0 else row
    up = trace.enclosing(row)
    for name in (trace.name(one) for one in (row, *up)):
        for pattern, fix in _BY_NAME:
            if pattern.search(name.replace("\\", "/")):
                return fix or None
    direction = _copied(trace, row)
    if direction:
        return direction
    in_operator = any(trace.kind[one] == SliceKind.CPU_OP for one in up)
    return _EXPLICIT if not in_operator and _DEVICE_WIDE.search(trace.name(row)) else None


def small_copy_fix(trace: Trace, row: int) -> str | None:
    """What to do about a copy to the device that is too small to be a batch; None for others.

    Args:
        trace: the recording.
        row: the copy, or the call that made it.
    """
    copy = row if trace.kind[row] == SliceKind.MEMCPY else _copy_of(trace, row)
    size = trace.detail(copy).get("bytes") if copy >= 0 else None
    small = isinstance(size, int) and 0 < size < _BATCH_BYTES
    return _TO_DEVICE if small and _HTOD.search(trace.name(copy)) else None


def _copied(trace: Trace, row: int) -> str:
    copy = _copy_of(trace, row)
    if copy < 0:
        return ""
    name = trace.name(copy)
    if _HTOD.search(name):
        return _TO_DEVICE
    return _TO_HOST if _DTOH.search(name) else ""


def _copy_of(trace: Trace, call: int) -> int:
    """The copy that a call launched, -1 for none."""
    found = _copies(trace)
    at = int(np.searchsorted(found.calls, call))
    return int(found.copies[at]) if at < len(found.calls) and found.calls[at] == call else -1


@once_per_trace
def _copies(trace: Trace) -> _Copies:
    copies = np.flatnonzero((trace.kind == SliceKind.MEMCPY) & (trace.launch >= 0))
    copies = copies[np.argsort(trace.launch[copies], kind="stable")]
    return _Copies(trace.launch[copies].astype(np.int64), copies)

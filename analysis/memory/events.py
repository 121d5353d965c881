"""The ``[memory]`` events of a recording, by the allocator whose totals they hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.trace.columns import Trace

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]

#: ``c10::DeviceType`` as recorded; ROCm writes 1 or, in newer files, 6.
_TYPES: Final = {0: "cpu", 1: "cuda", 6: "hip", 12: "xpu", 13: "mps", 15: "hpu", 20: "private"}
#: No allocator holds so much; larger figures are damaged input.
_MOST_BYTES: Final = 1 << 50


@dataclass(frozen=True, slots=True)
class AllocatorEvents:
    """Events of one allocator in order of time.

    Attributes:
        type: ``cpu``, ``cuda``, ``hip`` …, ``type N``, or empty where it is not recorded.
        device: its number, -1 where that is not recorded.
        index: int64 (n,), places in ``Trace.instants``.
        time_ns: int64 (n,).
        allocated, reserved: float64 (n,), totals in bytes after the event, NaN unknown.
        size: float64 (n,), bytes taken, negative where given back, NaN unknown.
    """

    type: str
    device: int
    index: Int64
    time_ns: Int64
    allocated: Float64
    reserved: Float64
    size: Float64

    @property
    def on_gpu(self) -> bool:
        """Whether it is a device's allocator; one that is not named is taken for one."""
        return self.type != "cpu"


def allocators_of(trace: Trace) -> tuple[AllocatorEvents, ...]:
    """Every allocator with a total, GPUs first, in order of their numbers."""
    instants = trace.instants
    known = np.flatnonzero(np.isfinite(instants.value))
    plausible = (instants.value[known] >= 0) & (instants.value[known] < _MOST_BYTES)
    known = known[plausible]
    found = []
    for number in np.unique(instants.allocator[known]).tolist():
        index = known[instants.allocator[known] == number]
        kind, device = (number >> 32, number & 0xFFFFFFFF) if number >= 0 else (-1, -1)
        found.append(
            AllocatorEvents(
                type=_TYPES.get(kind, f"type {kind}") if kind >= 0 else "",
                device=device,
                index=index,
                time_ns=instants.time_ns[index],
                allocated=instants.value[index],
                reserved=_plausible(instants.reserved[index]),
                size=_plausible(instants.size[index]),
            )
        )
    return tuple(sorted(found, key=lambda one: (not one.on_gpu, one.type, one.device)))


def _plausible(values: Float64) -> Float64:
    return np.where(np.abs(values) < _MOST_BYTES, values, np.nan)

"""What bandwidth a call of its size can reach, and whether its data can come from a cache.

The model is Hockney's for a transfer, ``t(n) = t0 + n / r``: a latency that no amount of work hides,
and from then on the rate of the memory. ``t0`` is the time of the recording's own trivial kernels
(for each launch), ``r`` what well-made kernels reach of the data sheet. By Little's law the memory
is only busy with latency times bandwidth of bytes in flight; a call that moves no more than
``t0 * r`` is over before it gets there and reaches less than half of ``r``.
"""

from __future__ import annotations

from typing import Final

from whichlayer.analysis.kernels.measure import LONGEST_FLOOR_NS, Measured

#: Where no trivial kernel was recorded, a floor that may be more of the time than this is not
#: assumed.
_NEGLIGIBLE: Final = 0.05


def attainable_gbps(measured: Measured) -> float | None:
    """Bytes of a call over its ideal time, in GB/s; None where that time is not known.

    Limited by arithmetic where that takes longer than moving the bytes.
    """
    work, peaks = measured.work, measured.peaks
    if not work.bytes or not peaks.bandwidth_gbps:
        return None
    if work.flops is not None and measured.is_matrix and not measured.rate:
        return None
    ideal = measured.ideal_ns(measured.rate)
    if not measured.floor.measured and measured.launches * LONGEST_FLOOR_NS > _NEGLIGIBLE * ideal:
        return None
    return work.bytes / ideal


def fits_cache(measured: Measured) -> bool | None:
    """Whether a call's data may be in the last-level cache; None where that is not known.

    On cards whose L2 is split in two, data in both halves counts twice: half of it is usable.
    What fits may be read faster than memory allows, and a share of the memory's bandwidth does not
    tell how well the kernel is made; what does not fit has to come from memory.
    """
    size, room = measured.work.bytes, measured.peaks.resident_bytes
    return None if size is None or room is None else size <= room

"""What a stretch of one device holds, in one line: length, kernels, busy share, idle by owner."""

from __future__ import annotations

import numpy as np

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.report.units import count_text, share_text, time_text
from whichlayer.analysis.results import Analysis, GapKind
from whichlayer.analysis.trace.kinds import SliceKind


def measured(analysis: Analysis, device: int, low_ns: int, high_ns: int) -> str:
    """A stretch measured.

    Args:
        analysis: of the window, or of the stretch.
        device: index into ``analysis.devices``.
        low_ns: where it begins.
        high_ns: where it ends, later.
    """
    length = time_text(high_ns - low_ns)
    activities = analysis.activities
    inside = (activities.device == device) & (activities.start_ns < high_ns)
    inside &= activities.end_ns > low_ns
    kernels = int((analysis.trace.kind[activities.row[inside]] == SliceKind.KERNEL).sum())
    parts = [length, count_text(kernels, "kernel")]
    if not len(analysis.devices):
        return length
    busy = union_ns(activities.start_ns[inside], activities.end_ns[inside], low_ns, high_ns)
    parts.append(f"busy {share_text(busy, high_ns - low_ns)}")
    idle = high_ns - low_ns - busy
    if idle:
        owners = idle_by_owner(analysis, device, low_ns, high_ns)
        named = ", ".join(
            f"{'no owner' if layer is Layer.NONE else layer.text.letter} {time_text(ns)}"
            for layer, ns in sorted(owners.items(), key=lambda item: -item[1])
        )
        parts.append(f"idle {time_text(idle)}" + (f": {named}" if named else ""))
    return " · ".join(parts)


def union_ns(
    start_ns: np.ndarray[tuple[int], np.dtype[np.int64]],
    end_ns: np.ndarray[tuple[int], np.dtype[np.int64]],
    low_ns: int,
    high_ns: int,
) -> int:
    """Time of ``[low, high)`` that slices cover, each instant once.

    Args:
        start_ns: int64 (n,), in any order.
        end_ns: int64 (n,).
        low_ns: where it begins.
        high_ns: where it ends.
    """
    order = np.argsort(start_ns, kind="stable")
    start = np.clip(start_ns[order], low_ns, high_ns)
    reach = np.maximum.accumulate(np.clip(end_ns[order], low_ns, high_ns))
    if not len(start):
        return 0
    fresh = start.copy()
    np.maximum(fresh[1:], reach[:-1], out=fresh[1:])
    return int(np.maximum(reach - fresh, 0).sum())


def idle_by_owner(analysis: Analysis, device: int, low_ns: int, high_ns: int) -> dict[Layer, int]:
    """Idle time above the launch floor by whose it is, where there is any."""
    gaps = analysis.gaps
    mine = (gaps.device == device) & (gaps.kind == GapKind.IDLE)
    mine &= (gaps.start_ns < high_ns) & (gaps.end_ns > low_ns)
    part = np.minimum(gaps.end_ns[mine], high_ns) - np.maximum(gaps.start_ns[mine], low_ns)
    owner = gaps.layer[mine]
    sums = {layer: int(part[owner == layer].sum()) for layer in Layer}
    return {layer: ns for layer, ns in sums.items() if ns > 0}

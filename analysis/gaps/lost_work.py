"""Idle time of which a damaged file does not hold the work: nobody is charged with it.

PyTorch writes what the host did first and what the GPU did last, in the order in which its buffers
came. A file that is cut off has lost GPU work of any time: where a launch has none, or where
nothing follows, the GPU only looks idle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.activities import Activities, collect_activities
from whichlayer.analysis.among import among
from whichlayer.analysis.gaps.catalogue import cause_code, cause_rules
from whichlayer.analysis.gaps.remembered import once_per_trace
from whichlayer.analysis.intervals import Intervals, union
from whichlayer.analysis.quality.lost_launches import lost_launches
from whichlayer.analysis.results import GapKind, Gaps
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

Bool = NDArray[np.bool_]

#: Codes of the reader with which events are gone.
_LOSSY = frozenset({"truncated", "damaged", "too-large"})
_FAR = np.iinfo(np.int64).max


def without_lost_work(gaps: Gaps, hit: Bool) -> Gaps:
    """The same pieces, those in which work may have run that the file lost unattributed.

    Args:
        gaps: of a window.
        hit: bool (gaps,), from :func:`lost_pieces`.
    """
    if not hit.any():
        return gaps
    cause, layer, culprit = gaps.cause.copy(), gaps.layer.copy(), gaps.culprit_row.copy()
    cause[hit], culprit[hit] = cause_code("unattributed"), -1
    layer[hit] = int(cause_rules()["unattributed"].layer)
    return replace(gaps, cause=cause, layer=layer, culprit_row=culprit)


def lost_pieces(gaps: Gaps, trace: Trace, numbers: Sequence[int]) -> Bool:
    """Which pieces may have held work that the file lost: bool (gaps,).

    Args:
        gaps: of a window.
        trace: the recording; an undamaged one has lost nothing.
        numbers: of the devices that ``gaps.device`` points into, as recorded.
    """
    hit = np.zeros(len(gaps), np.bool_)
    if not may_lack(trace):
        return hit
    if trace.cut_off:
        hit |= gaps.next_row < 0
        # That an operator launched nothing is told by calls that are not there.
        hit |= gaps.cause == cause_code("cpu-operator")
    unknown = _unknown_times(trace)
    for index, number in enumerate(numbers):
        at = np.flatnonzero(gaps.device == index)
        hit[at] |= _touches(unknown[number], gaps.start_ns[at], gaps.end_ns[at])
    return np.asarray(hit & (gaps.kind == GapKind.IDLE))


def may_lack(trace: Trace) -> bool:
    """Whether the reader told that events of the file are gone."""
    return any(warning.code in _LOSSY for warning in trace.warnings)


def lost_line(trace: Trace, start_ns: int, end_ns: int, following: int) -> str | None:
    """Why nobody is charged with an idle piece, where that is what the file lost; else None.

    Args:
        trace: the recording.
        start_ns: of the piece.
        end_ns: of the piece.
        following: the activity that ends it, -1 for none.
    """
    if not may_lack(trace):
        return None
    if following < 0:
        hit = trace.cut_off
    else:
        device = trace.lanes[int(trace.lane_id[following])].device
        unknown = _unknown_times(trace).get(device)
        bounds = np.array([start_ns], np.int64), np.array([end_ns], np.int64)
        hit = unknown is not None and bool(_touches(unknown, *bounds)[0])
    if not hit:
        return None
    return f"the GPU's work of these launches is not in the file: {_what(trace)}"


def _what(trace: Trace) -> str:
    codes = ("truncated", "damaged", "too-large")
    told = min((w for w in trace.warnings if w.code in codes), key=lambda w: codes.index(w.code))
    at = f" at byte {told.byte_offset}" if told.byte_offset >= 0 else ""
    return f"it is cut off{at}" if told.code == "truncated" else f"it is damaged{at}"


def unseen_ns(trace: Trace, start_ns: int, end_ns: int) -> int:
    """How far what a cut recording shows of the host reaches beyond a window."""
    rows = np.flatnonzero(among(trace.kind, _HOST) & ~trace.stray)
    if not trace.cut_off or not len(rows):
        return 0
    launches = lost_launches(trace)
    first = int(trace.start_ns[launches.row[launches.lost]].min(initial=start_ns))
    last = int(trace.end_ns[rows].max())
    return max(start_ns - first, 0) + max(last - end_ns, 0)


_HOST = (SliceKind.CPU_OP, SliceKind.RUNTIME)


@once_per_trace
def _unknown_times(trace: Trace) -> dict[int, Intervals]:
    """When lost work may have run, by device: from its launch to the next work of its thread."""
    launches = lost_launches(trace)
    lost = launches.row[launches.lost]
    devices = collect_activities(trace)
    seen = np.unique(trace.lane_id[trace.launch[trace.launch >= 0]])
    return {device.number: _on_device(trace, device, lost, seen) for device in devices}


def _on_device(
    trace: Trace, device: Activities, lost: NDArray[np.int32], seen: NDArray[np.int32]
) -> Intervals:
    known = device.launch >= 0
    made, began = device.launch[known], device.start_ns[known]
    start, end = [], []
    for lane in np.unique(trace.lane_id[lost]).tolist():
        mine = trace.lane_id[made] == lane
        if not mine.any() and lane in seen:  # it launches on other devices
            continue
        begin = trace.start_ns[lost[trace.lane_id[lost] == lane]]
        order = np.argsort(trace.start_ns[made[mine]], kind="stable")
        at = np.searchsorted(trace.start_ns[made[mine]][order], begin, "right")
        start.append(begin)
        end.append(np.append(began[mine][order], _FAR)[at])
    if not start:
        return Intervals(np.empty(0, np.int64), np.empty(0, np.int64))
    return union(np.concatenate(start), np.concatenate(end))


def _touches(a: Intervals, start: NDArray[np.int64], end: NDArray[np.int64]) -> Bool:
    """Which stretches share an instant with a set."""
    if not len(a):
        return np.zeros(len(start), np.bool_)
    first = np.searchsorted(a.end, start, "right")
    begins = np.append(a.start, _FAR)[first]
    return np.asarray(begins < end)

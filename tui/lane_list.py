"""The lanes of a trace in the order of the screen, and what each is called.

GPU streams come first, by device, collectives and copies after compute; then the threads that
launch work, then the rest. A thread's Python frames are a lane of their own below its
operators: mixed, the frames would push the operators dozens of rows apart.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.text import clean, gpu_text
from whichlayer.analysis.trace.columns import Lane, Trace
from whichlayer.analysis.trace.kinds import GPU_WORK, LaneKind, SliceKind
from whichlayer.tui.family import Family
from whichlayer.tui.lane_depths import nesting_without, part_of
from whichlayer.tui.lanes import ShownLane

Int32 = NDArray[np.int32]
UInt8 = NDArray[np.uint8]

#: How Kineto writes a thread that has a name of its own.
_NAMED_THREAD = re.compile(r"thread \S+ \((.+)\)")

#: What is listed among the GPU's lanes.
_OF_GPU = frozenset({LaneKind.GPU_STREAM, LaneKind.GPU_ANNOTATION, LaneKind.GPU_SYNC})

#: Share of a stream's activities, and of their time, that names the stream.
_NEARLY_ALL = 0.9

#: So few lanes are faster counted one by one than by sums over all slices.
_FEW_LANES = 500


def list_lanes(trace: Trace, families: UInt8) -> tuple[ShownLane, ...]:
    """The lanes of a trace in the order of the screen."""
    lanes: list[tuple[tuple[object, ...], ShownLane]] = []
    hidden = trace.stray | (trace.kind == SliceKind.PROFILER)
    if trace.part is not None:
        hidden |= (trace.start_ns >= trace.part.high_ns) | (trace.end_ns < trace.part.low_ns)
    # What is asked of every lane is counted once for all of them: there may be very many.
    hidings = _by_lane(trace, hidden)
    launches = _by_lane(trace, (trace.kind == SliceKind.RUNTIME) & ~hidden)
    frames = _by_lane(trace, (trace.kind == SliceKind.PYTHON) & ~hidden)
    stepping = {step.lane_id for step in trace.steps}
    rows = np.arange(len(trace), dtype=np.int32)
    bounds = trace.lane_rows.tolist()
    for index, lane in enumerate(trace.lanes):
        first, last = bounds[index], bounds[index + 1]
        slices = rows[first:last]
        if hidings[index]:
            slices = slices[~hidden[first:last]]
        if not len(slices):
            continue
        if lane.kind in _OF_GPU:
            lanes.append(_gpu_lane(trace, lane, slices, families))
        else:
            host = _HostLane(lane, slices, launches[index], frames[index], index in stepping)
            lanes.extend(_host_lanes(trace, host, families))
    lanes.sort(key=lambda pair: pair[0])
    return tuple(lane for _, lane in lanes)


def _by_lane(trace: Trace, chosen: NDArray[np.bool_]) -> list[int]:
    """How many of the chosen slices each lane has."""
    if len(trace.lanes) <= _FEW_LANES:
        bounds = trace.lane_rows.tolist()
        return [int(np.count_nonzero(chosen[low:high])) for low, high in pairwise(bounds)]
    before = np.concatenate(([0], np.cumsum(chosen)))
    return [int(count) for count in np.diff(before[trace.lane_rows])]


def _gpu_lane(
    trace: Trace, lane: Lane, slices: Int32, families: UInt8
) -> tuple[tuple[object, ...], ShownLane]:
    does = _only_does(trace, slices, families)
    is_note = (
        lane.kind != LaneKind.GPU_STREAM or not np.isin(part_of(trace.kind, slices), GPU_WORK).any()
    )
    what = {Family.COLLECTIVE: " comm", Family.COPY: " copy"}.get(does, "")
    if is_note:
        what = " sync" if lane.kind == LaneKind.GPU_SYNC else " note"
    stream = f" s{lane.stream}" if lane.stream >= 0 and not is_note else ""
    title = f"{gpu_text(lane.device)}{stream}{what}"
    rank = 3 if is_note else {Family.COLLECTIVE: 1, Family.COPY: 2}.get(does, 0)
    key = (0, lane.device, rank, lane.stream, 0)
    group = "note" if is_note else "gpu"
    shown = ShownLane(trace, lane, title, group, slices, part_of(trace.depth, slices), families)
    return key, shown


def _only_does(trace: Trace, slices: Int32, families: UInt8) -> Family:
    """What a stream is named after: collectives or transfers, where it does hardly anything else.

    Time alone would name a stream that computes after a few long transfers, number alone one
    that spends its time in a few long kernels: both have to be :data:`_NEARLY_ALL`.
    """
    length = part_of(trace.end_ns, slices) - part_of(trace.start_ns, slices)
    family = part_of(families, slices)
    for one, chosen in (
        (Family.COLLECTIVE, family == Family.COLLECTIVE),
        (Family.COPY, part_of(trace.kind, slices) == SliceKind.MEMCPY),
    ):
        many = np.count_nonzero(chosen) >= _NEARLY_ALL * len(slices)
        if many and length[chosen].sum() >= _NEARLY_ALL * length.sum():
            return one
    return Family.KERNEL


@dataclass(frozen=True, slots=True)
class _HostLane:
    """A lane off the GPU: its slices that are shown, and what its place depends on."""

    lane: Lane
    slices: Int32
    launches: int
    frames: int
    has_steps: bool


def _host_lanes(
    trace: Trace, host: _HostLane, families: UInt8
) -> list[tuple[tuple[object, ...], ShownLane]]:
    lane, slices = host.lane, host.slices
    title = host_title(lane, host.has_steps)
    place = 1 if lane.kind == LaneKind.CPU_THREAD else 2
    key = (place, not host.has_steps, -host.launches, -len(slices), title)
    if host.frames in (0, len(slices)):
        group = "python" if host.frames else "cpu" if place == 1 else "other"
        shown = ShownLane(trace, lane, title, group, slices, part_of(trace.depth, slices), families)
        return [((*key, 0), shown)]
    python = part_of(trace.kind, slices) == SliceKind.PYTHON
    depth = nesting_without(trace, slices, python)
    calls, frames = slices[~python], slices[python]
    return [
        ((*key, 0), ShownLane(trace, lane, title, "cpu", calls, depth[~python], families)),
        ((*key, 1), ShownLane(trace, lane, "  python", "python", frames, depth[python], families)),
    ]


def host_title(lane: Lane, is_main: bool) -> str:
    """The label of a thread: its number, or its name where that tells more."""
    name = clean(str(lane.name)).strip()
    tid = clean(str(lane.tid))
    if lane.kind != LaneKind.CPU_THREAD:
        return name or tid
    if is_main:
        return "CPU main"
    # "thread 3421 (python)" says no more than the number, "thread 3421 (pt_autograd_0)" does.
    known = _NAMED_THREAD.fullmatch(name)
    inner = known[1].strip() if known else ""
    if inner and inner != clean(lane.process).strip() and not inner.startswith("python"):
        return f"CPU {inner}"
    plain = not name or tid in name or name.startswith("thread ")
    return f"CPU {tid}" if plain else f"CPU {name}"

"""The training or serving steps that annotations of the recording mark.

``ProfilerStep#N`` on a thread; the same on the GPU, where nothing else was recorded. What serving
engines write around each run of the model marks steps as well, but no window: see
:func:`engine_steps`. Steps that nothing marks are no business of this module
(``whichlayer.analysis.steps``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.among import among
from whichlayer.analysis.trace.columns import Bool, Int32, Int64, Step, StepSource, Trace, UInt8
from whichlayer.analysis.trace.kinds import SliceKind

_PROFILER = re.compile(r"ProfilerStep#(\d{1,18})\Z")

#: vLLM: ``execute_new_2_cached_6``, ``execute_context_1(888)_generation_0(0)``,
#: ``execute_32_context_0(sq0…)_generation_32(…)``, ``execute_diffusion_1_256x256``,
#: ``execute_model…``. Other names that begin with "execute" are somebody's own.
_VLLM = re.compile(
    r"execute_(?:model(?![a-z])|(?:\d+_)?(?:new|cached|context|generation|prefill|decode|diffusion)_\d)"
)
#: SGLang: ``step[DECODE bs=32]``, ``step[EXTEND bs=1 toks=512]``.
_SGLANG = re.compile(r"step\[[A-Za-z]")


@dataclass(frozen=True, slots=True)
class _Slices:
    """The columns that steps are read from."""

    strings: Sequence[str]
    name_id: Int32
    kind: UInt8
    lane_id: Int32
    start_ns: Int64
    end_ns: Int64
    usable: Bool

    def rows(self, names: NDArray[np.int32], kind: SliceKind) -> NDArray[np.intp]:
        """The slices of a kind that have one of some names."""
        return np.flatnonzero(among(self.name_id, names) & (self.kind == kind) & self.usable)


def find_steps(
    strings: Sequence[str],
    name_id: Int32,
    kind: UInt8,
    lane_id: Int32,
    start_ns: Int64,
    end_ns: Int64,
    usable: Bool,
) -> tuple[Step, ...]:
    """The steps that annotations mark, in order of start.

    Where several threads or ranks mark steps, those of one lane are taken: the one with the
    most, of equal ones the first.

    Args:
        strings: what ``name_id`` indexes.
        name_id: int32 (n,).
        kind: uint8 (n,).
        lane_id: int32 (n,).
        start_ns: int64 (n,), sorted within each lane.
        end_ns: int64 (n,).
        usable: bool (n,), slices that may count (no strays).
    """
    slices = _Slices(strings, name_id, kind, lane_id, start_ns, end_ns, usable)
    numbers: dict[int, int] = {}
    for index, text in enumerate(strings):
        if found := _PROFILER.match(text):
            numbers[index] = int(found[1])
    return (_of_profiler(slices, numbers) or _of_gpu(slices, numbers)) if numbers else ()


def engine_steps(trace: Trace) -> tuple[Step, ...]:
    """The runs of the model that a serving engine marks, the outermost of a thread, from 1 on.

    They are marks of running the model, not of the engine's loop: the host is ahead of the device
    when they begin, and what it does between two of them may be waiting for requests. So they
    are told apart from ``Trace.steps``, which decide the default window.
    """
    slices = _Slices(
        trace.strings,
        trace.name_id,
        trace.kind,
        trace.lane_id,
        trace.start_ns,
        trace.end_ns,
        ~trace.stray,
    )
    ids = np.unique(trace.name_id[trace.kind == SliceKind.ANNOTATION]).tolist()
    vllm = [index for index in ids if _VLLM.match(trace.strings[index])]
    sglang = [index for index in ids if _SGLANG.match(trace.strings[index])]
    return _of_engine(slices, vllm, sglang) if vllm or sglang else ()


def gpu_steps(
    steps: Sequence[Step], name_id: Int32, kind: UInt8
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The annotations on the GPU that mark given steps: their rows, and the place of each in steps.

    One step has an annotation for every stream that worked in it.
    """
    rows = np.flatnonzero(kind == SliceKind.GPU_ANNOTATION)
    names = {int(name_id[step.row]): place for place, step in enumerate(steps)}
    ids = np.array(sorted(names), np.int32)
    places = np.array([names[int(one)] for one in ids], np.intp)
    rows = rows[among(name_id[rows], ids)]
    return rows, places[np.searchsorted(ids, name_id[rows])]


def _of_profiler(slices: _Slices, numbers: dict[int, int]) -> tuple[Step, ...]:
    rows = slices.rows(np.fromiter(numbers, np.int32, len(numbers)), SliceKind.ANNOTATION)
    rows = _of_best_lane(_once(slices, rows), slices.lane_id)
    return tuple(
        _step(slices, row, numbers[int(slices.name_id[row])], StepSource.PROFILER)
        for row in rows.tolist()
    )


def _once(slices: _Slices, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Marks sorted by lane and start, without those that a thread has inside one of its number."""
    keep = np.ones(len(rows), np.bool_)
    for key in np.unique(slices.lane_id[rows]).tolist():
        until: dict[int, int] = {}
        for at in np.flatnonzero(slices.lane_id[rows] == key).tolist():
            row = int(rows[at])
            name, end = int(slices.name_id[row]), int(slices.end_ns[row])
            keep[at] = int(slices.start_ns[row]) >= until.get(name, -(1 << 62))
            until[name] = max(end, until.get(name, end))
    return rows[keep]


def _of_gpu(slices: _Slices, numbers: dict[int, int]) -> tuple[Step, ...]:
    """Steps as the streams show them: from a step's first work to its last, on any of them."""
    rows = slices.rows(np.fromiter(numbers, np.int32, len(numbers)), SliceKind.GPU_ANNOTATION)
    found: dict[int, Step] = {}
    for row in rows.tolist():
        number = numbers[int(slices.name_id[row])]
        new = _step(slices, row, number, StepSource.GPU_ANNOTATION)
        old = found.get(number, new)
        longer = new if new.end_ns - new.start_ns > old.end_ns - old.start_ns else old
        found[number] = Step(
            number=number,
            name=new.name,
            row=longer.row,
            start_ns=min(old.start_ns, new.start_ns),
            end_ns=max(old.end_ns, new.end_ns),
            lane_id=longer.lane_id,
            source=StepSource.GPU_ANNOTATION,
        )
    return tuple(sorted(found.values(), key=lambda step: (step.start_ns, step.end_ns)))


def _of_engine(slices: _Slices, vllm: list[int], sglang: list[int]) -> tuple[Step, ...]:
    """What an engine marks, the outermost of marks in one another, numbered from 1."""
    rows = slices.rows(np.array(vllm + sglang, np.int32), SliceKind.ANNOTATION)
    ours = among(slices.name_id[rows], np.array(sglang, np.int32))
    rows = _of_best_lane(_outermost(slices, rows), slices.lane_id)
    # SGLang's own mark can lie inside one that has the words of vLLM.
    source = StepSource.SGLANG if bool(ours.any()) else StepSource.VLLM
    return tuple(_step(slices, row, number, source) for number, row in enumerate(rows.tolist(), 1))


def _outermost(slices: _Slices, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Of slices sorted by lane and start, those that begin after all earlier ones of their lane."""
    kept = np.zeros(len(rows), np.bool_)
    for lane in np.unique(slices.lane_id[rows]).tolist():
        mine = np.flatnonzero(slices.lane_id[rows] == lane)
        ends = np.maximum.accumulate(slices.end_ns[rows[mine]])
        kept[mine] = np.concatenate(([True], slices.start_ns[rows[mine]][1:] >= ends[:-1]))
    return rows[kept]


def _of_best_lane(rows: NDArray[np.intp], lane_id: Int32) -> NDArray[np.intp]:
    """Those rows that lie in the lane with the most of them."""
    if not len(rows):
        return rows
    lanes, counts = np.unique(lane_id[rows], return_counts=True)
    best: NDArray[np.intp] = rows[lane_id[rows] == lanes[np.argmax(counts)]]
    return best


def _step(slices: _Slices, row: int, number: int, source: StepSource) -> Step:
    return Step(
        number=number,
        name=slices.strings[int(slices.name_id[row])],
        row=row,
        start_ns=int(slices.start_ns[row]),
        end_ns=int(slices.end_ns[row]),
        lane_id=int(slices.lane_id[row]),
        source=source,
    )

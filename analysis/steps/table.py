"""The figures of each step of a window, and those over its steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.activities import Activities
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.options import Options
from whichlayer.analysis.results import GapKind, Gaps, Kernels, Segments, State, Window
from whichlayer.analysis.steps.find import steps_of
from whichlayer.analysis.steps.model import Phase, StepFigures, StepSet, StepTable
from whichlayer.analysis.steps.phases import HostPhases, host_phases
from whichlayer.analysis.steps.pieces import Pieces, cut_pieces, gap_kinds, lost_by_layer
from whichlayer.analysis.steps.statistics import find_outliers, mark_warm_up, statistics_of
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.window import DeviceSteps, steps_on

Int64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Accounted:
    """What an analysis has found out about a window, as far as steps need it.

    Attributes:
        devices: the activities of each device.
        segments, gaps, kernels: tables of the analysis.
    """

    devices: Sequence[Activities]
    segments: Sequence[Segments]
    gaps: Gaps
    kernels: Kernels


def step_table(trace: Trace, window: Window, options: Options, accounted: Accounted) -> StepTable:
    """Everything about the steps of a window.

    Args:
        trace: the recording.
        window: what is analysed.
        options: what the user asked for.
        accounted: what is known of the window.
    """
    found = steps_of(trace)
    if not found.steps:
        return StepTable(found)
    placed = [steps_on(trace, device, found.steps) for device in accounted.devices]
    chosen = _of_window(found, placed, window, options)
    if not len(chosen):
        return StepTable(found)
    pieces = cut_pieces(accounted.segments, placed, len(found.steps))
    phases = host_phases(trace, found.steps)
    rows = _figures(trace, found, placed, chosen, window, accounted, pieces, phases)
    rows = mark_warm_up(rows, first=bool(chosen[0] == 0))
    return StepTable(
        found=found,
        rows=rows,
        statistics=statistics_of(rows, found.steps),
        outliers=find_outliers(
            trace, found.steps, rows, chosen, pieces, accounted.gaps, accounted.kernels
        ),
        phases_record="" if phases is not None else _PHASES,
    )


_PHASES = (
    'record_function("forward") and the like around the parts of a step, or with_stack=True: '
    "what a step's time goes into is read from them"
)


def _of_window(
    found: StepSet, placed: Sequence[DeviceSteps], window: Window, options: Options
) -> Int64:
    """Places of the steps that a window is about."""
    steps = found.steps
    if window.steps:
        rows = {step.row for step in window.steps}
        return np.array([i for i, step in enumerate(steps) if step.row in rows], np.int64)
    if options.steps is not None:
        first, last = options.steps
        inside = [i for i, step in enumerate(steps) if first <= step.number <= last]
        return np.array(inside, np.int64)
    meets = np.zeros(len(steps), np.bool_)
    for one in placed:
        meets |= (one.start_ns < window.end_ns) & (one.end_ns > window.start_ns)
    return np.flatnonzero(meets).astype(np.int64)


def _figures(
    trace: Trace,
    found: StepSet,
    placed: Sequence[DeviceSteps],
    chosen: Int64,
    window: Window,
    accounted: Accounted,
    pieces: Pieces,
    phases: HostPhases | None,
) -> tuple[StepFigures, ...]:
    kinds = gap_kinds(pieces, accounted.gaps)
    total = pieces.sums(np.ones(len(kinds), np.bool_))
    idle, comm, copy = (pieces.sums(kinds == kind) for kind in GapKind)
    compute = pieces.sums(pieces.state <= State.UNJUDGED)
    lost = lost_by_layer(pieces, accounted.kernels)
    lost[:, Layer.NONE] = 0
    kernels, launches = _counts(trace, found, placed, accounted.devices)
    on_host = phases.by_step(found.steps) if phases else None
    on_device = phases.of_pieces(pieces, accounted.gaps, accounted.kernels) if phases else None
    rows = []
    for i in chosen.tolist():
        step = found.steps[i]
        spans = tuple((int(one.start_ns[i]), int(one.end_ns[i])) for one in placed)
        owner = int(lost[i].argmax())
        rows.append(
            StepFigures(
                step=step,
                host_ns=step.end_ns - step.start_ns if step.on_host else None,
                spans=spans,
                total_ns=int(total[i]),
                busy_ns=int(compute[i] + comm[i] + copy[i]),
                idle_ns=int(idle[i]),
                compute_ns=int(compute[i]),
                exposed_comm_ns=int(comm[i]),
                exposed_copy_ns=int(copy[i]),
                lost_ns=int(lost[i].sum()),
                owner=Layer(owner) if lost[i, owner] else None,
                owner_ns=int(lost[i, owner]),
                launches=None if launches is None else int(launches[i]),
                kernels=int(kernels[i]),
                whole=all(a >= window.start_ns and b <= window.end_ns for a, b in spans if b > a),
                host_phases=None if on_host is None else _by_phase(on_host[i]),
                device_phases=None if on_device is None or not spans else _by_phase(on_device[i]),
            )
        )
    return tuple(rows)


def _by_phase(sums: Int64) -> dict[Phase, int]:
    return {phase: int(sums[phase]) for phase in Phase}


def _counts(
    trace: Trace, found: StepSet, placed: Sequence[DeviceSteps], devices: Sequence[Activities]
) -> tuple[Int64, Int64 | None]:
    """Activities and launches of each step; None where no launch is in the recording."""
    count = len(found.steps)
    kernels, launches = np.zeros(count, np.int64), np.zeros(count, np.int64)
    known = False
    for device, where in zip(devices, placed, strict=True):
        linked = device.launch >= 0
        known = known or bool(linked.any())
        owner = _owners(trace, found, device, where)
        mine = owner >= 0
        kernels += np.bincount(owner[mine], minlength=count)
        _, first = np.unique(device.launch[mine & linked], return_index=True)
        launches += np.bincount(owner[mine & linked][first], minlength=count)
    return kernels, launches if known else None


def _owners(
    trace: Trace, found: StepSet, device: Activities, where: DeviceSteps
) -> NDArray[np.int64]:
    """The step of each activity, -1 for none: by its launch, else by when it ran."""
    linked = device.launch >= 0
    if found.steps[0].on_host and (linked.any() or not found.inferred):
        begin = np.array([step.start_ns for step in found.steps], np.int64)
        end = np.array([step.end_ns for step in found.steps], np.int64)
        time = trace.start_ns[device.launch]
    else:
        begin, end, time = where.start_ns, where.end_ns, device.start_ns
        linked = np.ones(len(time), np.bool_)
    owner = np.searchsorted(begin, time, "right") - 1
    inside = linked & (owner >= 0) & (time < end[np.maximum(owner, 0)])
    return np.where(inside, owner, -1).astype(np.int64)

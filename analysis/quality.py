"""How far a recording can be trusted: the gates of the rules, as warnings for people.

Each gate looks at what the analysis is about to rely on. None stops it: a gate says what is
unreliable and why.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from whichlayer.analysis.activities import Activities
from whichlayer.analysis.errors import TraceWarning
from whichlayer.analysis.gaps.calibrate import Calibration
from whichlayer.analysis.gaps.catalogue import cause_code
from whichlayer.analysis.gaps.host import Marks
from whichlayer.analysis.intervals import clip, union
from whichlayer.analysis.results import Window
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

#: Kernels without a launch beyond this share are told (rules Q3).
UNLINKED_SHARE = 0.05
#: Overlap on one stream up to this is clock noise (rules Q5).
OVERLAP_NS = 5_000
#: The profiler's own share of the window: a note, a contaminated recording (rules Q7).
OVERHEAD_NOTE, OVERHEAD_BAD = 0.05, 0.15
#: A first step this much longer than the median is warm-up (rules Q8).
WARM_UP_RATIO = 1.5


def quality_warnings(
    trace: Trace,
    devices: Sequence[Activities],
    calibrations: Sequence[Calibration],
    marks: Marks,
    window: Window,
) -> tuple[TraceWarning, ...]:
    """The gates that this recording does not pass."""
    found = [*_no_kernels(trace, devices)]
    for activities, calibration in zip(devices, calibrations, strict=True):
        found += _links(activities)
        found += _skew(activities, calibration)
        found += _overlaps(activities)
    found += _overhead(trace, marks, window)
    found += _steps(trace, devices, window)
    return tuple(found)


def _no_kernels(trace: Trace, devices: Sequence[Activities]) -> Iterator[TraceWarning]:
    if devices or any(warning.code == "Q1" for warning in trace.warnings):
        return
    if any(warning.code == "truncated" for warning in trace.warnings):
        yield TraceWarning(
            "Q1", "no GPU activity before the cut: profilers write it last, so no GPU verdict"
        )
        return
    calls = trace.kind == SliceKind.RUNTIME
    launches = [i for i in np.unique(trace.name_id[calls]).tolist() if "Launch" in trace.strings[i]]
    if launches:
        yield TraceWarning(
            "Q1",
            "capture problem: kernel launches but no kernels; another profiler may have held "
            "the GPU's counters, or the recording stopped before the kernels were flushed",
            int(np.isin(trace.name_id[calls], launches).sum()),
        )
    else:
        yield TraceWarning("Q1", "CPU-only recording: no GPU activity, so no GPU verdict")


def _links(activities: Activities) -> Iterator[TraceWarning]:
    missing = int((activities.launch < 0).sum())
    if missing > UNLINKED_SHARE * len(activities):
        yield TraceWarning(
            "Q3",
            f"device {activities.number}: {missing} of {len(activities)} activities have no "
            "launch in the file; only the gaps before those are unattributed",
            missing,
        )


def _skew(activities: Activities, calibration: Calibration) -> Iterator[TraceWarning]:
    if calibration.skew_ns > 0:
        yield TraceWarning(
            "Q4",
            f"device {activities.number}: kernels start up to {calibration.skew_ns / 1e3:.1f} µs "
            "before their launch; gaps up to that count as launch spacing",
        )


def _overlaps(activities: Activities) -> Iterator[TraceWarning]:
    order = np.lexsort((activities.start_ns, activities.lane))
    lane, start, end = activities.lane[order], activities.start_ns[order], activities.end_ns[order]
    over = (lane[1:] == lane[:-1]) & (end[:-1] - start[1:] > OVERLAP_NS)
    if over.any():
        yield TraceWarning(
            "Q5",
            f"device {activities.number}: {int(over.sum())} activities overlap their successor "
            "on one stream; all are kept, each instant counts once",
            int(over.sum()),
        )


def _overhead(trace: Trace, marks: Marks, window: Window) -> Iterator[TraceWarning]:
    rows = (trace.kind == SliceKind.OVERHEAD) & (marks.code == cause_code("profiler-overhead"))
    covered = union(trace.start_ns[rows], trace.end_ns[rows])
    time = clip(covered, window.start_ns, window.end_ns).total
    length = max(window.end_ns - window.start_ns, 1)
    if time > OVERHEAD_NOTE * length:
        bad = "contaminated by" if time > OVERHEAD_BAD * length else "touched by"
        yield TraceWarning(
            "Q7",
            f"{bad} the profiler: its own work covers {time / length:.0%} of the window; "
            "record fewer steps",
        )


def _steps(trace: Trace, devices: Sequence[Activities], window: Window) -> Iterator[TraceWarning]:
    steps = window.steps
    if devices and len(steps) == 1:
        yield TraceWarning("Q12", "a single step was recorded: verdicts are hints")
    if len(steps) >= 3:
        length = [step.end_ns - step.start_ns for step in steps]
        usual = float(np.median(length))
        if usual > 0 and length[0] > WARM_UP_RATIO * usual:
            yield TraceWarning(
                "Q8",
                f"the first step is {length[0] / usual:.1f} times the median: warm-up; see "
                f"--steps {steps[1].number}:{steps[-1].number}",
            )

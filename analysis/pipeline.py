"""From a trace to everything that is known about it, in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.accounting import Instant, Partition, partition
from whichlayer.analysis.activities import Activities, collect_activities
from whichlayer.analysis.budget import DeviceCut, add_budgets, budget_of, budgets_of, build_segments
from whichlayer.analysis.findings.collect import collect_findings
from whichlayer.analysis.findings.lacking import Missing, withheld
from whichlayer.analysis.findings.short_span import of_span
from whichlayer.analysis.findings.verdict import verdict_of
from whichlayer.analysis.findings.worth import rank_by_worth, together
from whichlayer.analysis.gaps.blocking import blocking_copies
from whichlayer.analysis.gaps.calibrate import calibrate
from whichlayer.analysis.gaps.host import Marks
from whichlayer.analysis.gaps.lost_work import lost_pieces, unseen_ns, without_lost_work
from whichlayer.analysis.gaps.table import GapFinder
from whichlayer.analysis.gaps.warm_up import without_warm_up
from whichlayer.analysis.kernels.judge import Judgement, judge
from whichlayer.analysis.kernels.peaks import DeviceMatch, device_entry, match_device
from whichlayer.analysis.operators import operator_rows
from whichlayer.analysis.part.accounted import asked, near, refuse_unread
from whichlayer.analysis.plugins import plugin_warnings
from whichlayer.analysis.quality import Recording, caveat_of, most_severe_first, quality_warnings
from whichlayer.analysis.replay.recoverable import Replayer
from whichlayer.analysis.results import (
    Analysis,
    Budget,
    Device,
    Gaps,
    Kernels,
    Options,
    Segments,
    Window,
)
from whichlayer.analysis.settings import enabled, refuse_unknown
from whichlayer.analysis.steps.table import Accounted, step_table
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.window import bounds_on, choose_window, steps_on

#: With less of the window missing a replay of what is there tells what a change would gain.
_LITTLE = 0.01

Scalar = TypeVar("Scalar", bound=np.generic)


def analyse(trace: Trace, options: Options | None = None) -> Analysis:
    """Account for a window of a trace and say who owns each part of it.

    Args:
        trace: the recording.
        options: window, device and peaks; the defaults without.

    Raises:
        ValueError: the options name a step, device or model that does not exist.
    """
    options = asked(trace, options or Options())
    refuse_unknown(options)
    recorded = _chosen(collect_activities(trace), options)
    window = choose_window(trace, recorded, options)
    refuse_unread(trace, window)
    matches = [_match(trace, d, options) for d in recorded]
    calibrations = [calibrate(trace, d, options) for d in recorded]
    marks = Marks(trace, blocking_copies(trace), options)
    bounds = [bounds_on(trace, d, window, options) for d in recorded]
    cuts = [partition(d, *b) for d, b in zip(recorded, bounds, strict=True)]
    finder = GapFinder(trace, marks)
    for i, activities in enumerate(near(trace, recorded)):
        whole = partition(activities, *_reach(trace, activities, bounds[i]))
        finder.add_device(i, activities, whole, calibrations[i], bounds[i])
    gaps = without_warm_up(finder.table(), trace, marks, recorded)
    lost = lost_pieces(gaps, trace, [device.number for device in recorded])
    gaps = without_lost_work(gaps, lost)
    kernels, judgement = _kernels(trace, recorded, cuts, matches, window, options)
    groups = judgement.groups
    parts = _device_cuts(recorded, cuts, window)
    segments = tuple(build_segments(i, part, gaps, kernels) for i, part in enumerate(parts))
    by_device = tuple(budget_of(s, kernels, window.start_ns, window.end_ns) for s in segments)
    budget = add_budgets(list(by_device))
    recording = Recording(trace, recorded, calibrations, matches, marks, window, groups, options)
    read = (warning for warning in trace.warnings if enabled(options, warning.code))
    warnings = most_severe_first((*read, *quality_warnings(recording)))
    verdict = verdict_of(
        budget, bool(recorded), caveat_of(warnings), cut=trace.cut_off, whole=options.whole
    )
    missing = _missing(trace, options, window, gaps, lost)
    verdict = withheld(verdict, budget, missing)
    if options.span_ns is not None:
        verdict = of_span(verdict, options.span_ns, recorded, calibrations)
    analysis = Analysis(
        trace=trace,
        options=options,
        window=window,
        devices=tuple(_device(trace, d, m) for d, m in zip(recorded, matches, strict=True)),
        floor_ns=tuple(c.floor_ns for c in calibrations),
        gaps=gaps,
        activities=kernels,
        kernels=groups,
        segments=segments,
        budget=budget,
        budget_by_device=by_device,
        budget_by_step=_by_step(trace, recorded, segments, kernels, window),
        verdict=verdict,
        findings=(),
        warnings=tuple(warnings),
        judged=judgement.populations,
    )
    replayer = Replayer(trace, marks, finder.drivers, recorded, window, bounds, options)
    if missing.idle_ns > _LITTLE * budget.total_ns:
        replayer.reason = "the file lacks GPU work that would have to be replayed"
    steps = step_table(trace, window, options, Accounted(recorded, segments, gaps, kernels))
    analysis = replace(analysis, steps=steps)
    found = rank_by_worth(collect_findings(analysis), analysis, replayer)
    return replace(
        analysis,
        findings=found,
        together_ns=together(found, analysis, replayer),
        warnings=(*analysis.warnings, *plugin_warnings()),
    )


def _missing(
    trace: Trace, options: Options, window: Window, gaps: Gaps, lost: NDArray[np.bool_]
) -> Missing:
    """What the verdict does not know of a damaged file."""
    asked_for = options.span_ns is not None or options.steps is not None
    beyond = 0
    if not asked_for and not window.steps:
        beyond = unseen_ns(trace, window.start_ns, window.end_ns)
    return Missing(int((gaps.end_ns - gaps.start_ns)[lost].sum()), beyond, trace.cut_off)


def _reach(trace: Trace, activities: Activities, bounds: tuple[int, int]) -> tuple[int, int]:
    """What is known of a device: from its first step or activity, and all of the window."""
    low = int(activities.start_ns.min(initial=bounds[0]))
    high = int(activities.end_ns.max(initial=bounds[1]))
    if trace.steps and trace.part is None:
        low, high = min(low, trace.steps[0].start_ns), max(high, trace.steps[-1].end_ns)
    return min(low, bounds[0]), max(high, bounds[1])


def _chosen(devices: tuple[Activities, ...], options: Options) -> tuple[Activities, ...]:
    if options.device is None:
        return devices
    chosen = tuple(d for d in devices if d.number == options.device)
    if not chosen:
        numbers = ", ".join(str(d.number) for d in devices) or "none"
        raise ValueError(f"no activity on device {options.device}; devices with any: {numbers}")
    return chosen


def _match(trace: Trace, activities: Activities, options: Options) -> DeviceMatch:
    return match_device(device_entry(activities.number, trace.header), trace.header, options)


def _device(trace: Trace, activities: Activities, match: DeviceMatch) -> Device:
    low, high = int(activities.start_ns[0]), int(activities.end_ns.max())
    whole = partition(activities, low, high)
    idle = whole.total(Instant.IDLE)
    entry = device_entry(activities.number, trace.header) or {}
    return Device(
        number=activities.number,
        name=str(entry.get("name") or ""),
        model=match.model,
        model_note=match.note,
        vendor=match.vendor,
        start_ns=low,
        end_ns=high,
        busy_ns=high - low - idle,
        idle_ns=idle,
        compute_ns=whole.total(Instant.COMPUTE),
        exposed_comm_ns=whole.total(Instant.COMM),
        exposed_copy_ns=whole.total(Instant.COPY),
        activities=len(activities),
    )


def _kernels(
    trace: Trace,
    devices: Sequence[Activities],
    cuts: Sequence[Partition],
    matches: Sequence[DeviceMatch],
    window: Window,
    options: Options,
) -> tuple[Kernels, Judgement]:
    """The activities of all devices, judged."""
    row = _joined([d.row for d in devices], np.int32)
    launch = _joined([d.launch for d in devices], np.int32)
    device = np.repeat(np.arange(len(devices), dtype=np.int32), [len(d) for d in devices])
    start = _joined([d.start_ns for d in devices], np.int64)
    end = _joined([d.end_ns for d in devices], np.int64)
    role = _joined([d.role for d in devices], np.uint8)
    operators = operator_rows(trace, row, launch)
    owned = _joined([c.owned_ns(len(d)) for c, d in zip(cuts, devices, strict=True)], np.int64)
    judged = judge(
        trace,
        row=row,
        device=device,
        start_ns=start,
        end_ns=end,
        role=role,
        op_row=operators,
        owned_ns=owned,
        peaks=matches,
        total_ns=(window.end_ns - window.start_ns) * max(len(devices), 1),
        options=options,
    )
    table = Kernels(
        row=row,
        device=device,
        start_ns=start,
        end_ns=end,
        role=role,
        op_row=operators,
        owned_ns=owned,
        loss_ns=judged.loss_ns,
        judged=judged.judged,
        layer=judged.layer,
        group=judged.group,
    )
    return table, judged


def _joined(columns: list[NDArray[Scalar]], dtype: type[Scalar]) -> NDArray[Scalar]:
    """One column of all devices."""
    return np.concatenate(columns) if columns else np.empty(0, dtype)


def _device_cuts(
    devices: Sequence[Activities],
    cuts: Sequence[Partition],
    window: Window,
) -> list[DeviceCut]:
    first = np.cumsum([0, *(len(d) for d in devices)]).tolist()
    return [DeviceCut(window.start_ns, window.end_ns, cut, first[i]) for i, cut in enumerate(cuts)]


def _by_step(
    trace: Trace,
    devices: Sequence[Activities],
    segments: Sequence[Segments],
    kernels: Kernels,
    window: Window,
) -> tuple[Budget, ...]:
    """One budget per step of the window, over all devices."""
    position = {step.row: i for i, step in enumerate(trace.steps)}
    at = np.array([position[step.row] for step in window.steps], np.int64)
    by_device = []
    for device, own in zip(devices, segments, strict=True):
        placed = steps_on(trace, device)
        by_device.append(budgets_of(own, kernels, placed.start_ns[at], placed.end_ns[at]))
    return tuple(add_budgets([one[i] for one in by_device]) for i in range(len(at)))

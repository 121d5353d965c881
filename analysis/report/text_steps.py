"""The steps as text: how long they are, which is unlike the others and why, and their phases."""

from __future__ import annotations

from collections.abc import Mapping

from whichlayer.analysis.kernels.names import short_name
from whichlayer.analysis.layers import layer_name
from whichlayer.analysis.report.text_budget import platform
from whichlayer.analysis.report.text_layout import Column, fit, table, wrap
from whichlayer.analysis.report.units import count_text, number_text, time_text
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.steps.model import Growth, Outlier, Phase, StepFigures, StepTable

#: More steps are told by those that say most.
MOST_ROWS = 8

_COLUMNS = (
    Column("step", 6),
    Column("length", 8),
    Column("busy", 8),
    Column("idle", 8),
    Column("comm", 8),
    Column("copy", 8),
    Column("lost", 8),
    Column("most by", 20, right=False),
    Column("kernels", 8),
)


def step_lines(analysis: Analysis) -> list[str]:
    """A section on the steps of the window; nothing where there are none."""
    steps = analysis.steps
    if steps is None or not steps.rows:
        return []
    lines = [*wrap(_heading(steps), "STEPS  "), *_inferred(analysis, steps)]
    if any(row.spans for row in steps.rows):
        if len(analysis.devices) > 1:
            lines.append(f"  busy to kernels: sums over {len(analysis.devices)} GPUs")
        lines += table(_COLUMNS, [_row(analysis, row) for row in _shown(steps)], indent="  ")
        if analysis.options.span_ns is not None and not all(row.whole for row in _shown(steps)):
            said = "of a step that the span holds in part, times are of that part, kernels of all"
            lines += wrap(said, "  ")
    hidden = len(steps.rows) - len(_shown(steps))
    if hidden:
        lines.append(f"  {count_text(hidden, 'other step')}: --format json has them all")
    for outlier in steps.outliers[:3]:
        lines += wrap(_why(steps, outlier), "  longer: ")
    return [*lines, *_phase_lines(steps)]


def _heading(steps: StepTable) -> str:
    over = steps.statistics
    text = f"{count_text(len(steps.rows), 'step')}, by {steps.found.how}"
    if over is None:
        return text
    if over.steps == 1:
        return f"{text}: {time_text(over.median_ns)}"
    warm = " without the first, which is warm-up" if steps.rows[0].warm_up else ""
    return (
        f"{text}: median {time_text(over.median_ns)}, "
        f"{time_text(over.p10_ns)} to {time_text(over.p90_ns)} (p10 to p90){warm}"
    )


def _inferred(analysis: Analysis, steps: StepTable) -> list[str]:
    if not steps.found.inferred:
        return []
    asked = analysis.options.steps is not None
    rest = "the window rests on them" if asked else "window and verdict do not rest on them"
    return wrap(f"nothing marks them; {rest}; {steps.found.record}", "  inferred: ")


def _shown(steps: StepTable) -> list[StepFigures]:
    """All rows, or of many the first, the longest, the shortest and the usual one."""
    rows = steps.rows
    if len(rows) <= MOST_ROWS:
        return list(rows)
    order = sorted(range(len(rows)), key=lambda i: (rows[i].duration_ns, i))
    chosen = {0, order[0], order[(len(order) - 1) // 2], order[-1]}
    chosen |= {one.index for one in steps.outliers[: MOST_ROWS - 4]}
    return [rows[i] for i in sorted(chosen)]


def _row(analysis: Analysis, row: StepFigures) -> tuple[str, ...]:
    owner = "nothing lost" if row.owner is None else layer_name(row.owner, platform(analysis))
    return (
        str(row.step.number),
        time_text(row.duration_ns),
        *(
            time_text(ns)
            for ns in (
                row.busy_ns, row.idle_ns, row.exposed_comm_ns, row.exposed_copy_ns, row.lost_ns,
            )
        ),
        owner,
        number_text(row.kernels),
    )  # fmt: skip


def _why(steps: StepTable, outlier: Outlier) -> str:
    row = steps.rows[outlier.index]
    grown = ", ".join(growth_text(one) for one in outlier.growths)
    warm = " (warm-up)" if row.warm_up else ""
    if outlier.index == 0 and not row.warm_up:
        warm = " (the first, but too short for warm-up, so it counts)"
    return (
        f"step {row.step.number}{warm} takes {time_text(outlier.over_ns)} more than the median: "
        + (grown or "no single cause or kernel grew by a tenth of that")
    )


def growth_text(growth: Growth) -> str:
    """What grew and by how much: ``launch-bound +29.6 ms``."""
    name = fit(short_name(growth.name), 40) if growth.kind == "kernel" else growth.name
    return f"{name} +{time_text(growth.grown_ns)}"


def _phase_lines(steps: StepTable) -> list[str]:
    """The phases of the usual step."""
    row = usual_row(steps)
    if row is None:
        return []
    told = (("on the GPU", row.device_phases), ("on the CPU", row.host_phases))
    rows = [
        (where, *(time_text(sums[phase]) for phase in Phase))
        for where, sums in told
        if sums is not None
    ]
    heading = Column(f"phases of step {row.step.number}", 24, right=False)
    return table((heading, *_PHASE_COLUMNS), rows, indent="  ") if rows else []


def usual_row(steps: StepTable) -> StepFigures | None:
    """The step whose length is the median, or next to it."""
    if steps.statistics is None:
        return None
    median = steps.statistics.median_ns
    counted = (row for row in steps.rows if row.whole and not row.warm_up)
    return min(counted, key=lambda row: abs(row.duration_ns - median), default=None)


def phases_text(sums: Mapping[Phase, int]) -> str:
    """Phases that are not nothing: ``forward 1.2 ms, backward 2.4 ms``."""
    parts = [f"{_PHASE_NAMES[phase]} {time_text(ns)}" for phase, ns in sums.items() if ns]
    return ", ".join(parts)


_PHASE_NAMES = {phase: phase.id for phase in Phase} | {Phase.OPTIMIZER: "optimiser"}
_PHASE_COLUMNS = tuple(Column(name, 9) for name in _PHASE_NAMES.values())

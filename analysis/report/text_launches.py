"""How far the host was ahead of each GPU, as text."""

from __future__ import annotations

from statistics import median

from whichlayer.analysis.launches.view import DeviceLaunches, launch_views
from whichlayer.analysis.report.text_layout import Column, table, wrap
from whichlayer.analysis.report.units import count_text, rate_text, share_text, time_text
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.text import clean

_COLUMNS = (
    Column("", 6, right=False),
    Column("launches", 9),
    Column("activities", 10),
    Column("per", 9),
    Column("delay p50", 9),
    Column("p99", 8),
    Column("queue p50", 9),
    Column("most", 6),
    Column("host late", 9),
)
_KINDS = 3
_DETAILED = 4
"""Of more GPUs only the line in the table: JSON holds the rest."""
_FEWEST = 3
"""Fewer launches into an empty queue tell no usual latency."""


def launch_lines(analysis: Analysis) -> list[str]:
    """A line per GPU and what they mean; empty where nothing was launched."""
    views = launch_views(analysis)
    if not any(view.launches for view in views):
        return []
    lines = [
        "LAUNCHES  delay: from launch call to kernel; queue: unfinished launches; host late: queue empty",
        *table(_COLUMNS, [_row(analysis, view) for view in views], indent="  "),
    ]
    for view in views[:_DETAILED]:
        named = _gpu(analysis, view) + ": " if len(views) > 1 else ""
        lines += wrap(named + "; ".join(_facts(view)), "  ")
    for record in dict.fromkeys(view.record for view in views if view.record):
        unlinked = sum(view.unlinked for view in views if view.record == record)
        lines += wrap(f"{unlinked} activities have no recorded launch: {record}", "  ")
    return lines


def _gpu(analysis: Analysis, view: DeviceLaunches) -> str:
    number = analysis.devices[view.device].number
    return f"GPU {number}" if number >= 0 else "GPU"


def _row(analysis: Analysis, view: DeviceLaunches) -> tuple[str, ...]:
    steps = [step.launches for step in view.steps if step.number not in _in_part(analysis)]
    if steps:
        per = f"{median(steps):.0f}/step"
    else:
        length = view.high_ns - view.low_ns
        per = f"{_short(view.launches / length * 1e9)}/s" if length > 0 else "–"
    return (
        _gpu(analysis, view),
        str(view.launches),
        str(view.activities),
        per,
        time_text(view.delays.median_ns),
        time_text(view.delays.p99_ns),
        "–" if view.depth_median is None else str(view.depth_median),
        "–" if view.depth_most is None else str(view.depth_most),
        share_text(view.starved_ns, view.high_ns - view.low_ns),
    )


def _in_part(analysis: Analysis) -> set[int]:
    """Numbers of the steps of which a span holds a part: their launches are not the span's."""
    if analysis.options.span_ns is None or analysis.steps is None:
        return set()
    return {row.step.number for row in analysis.steps.rows if not row.whole}


def _short(value: float) -> str:
    for scale, letter in ((1e6, "M"), (1e3, "k")):
        if value >= scale:
            return rate_text(value / scale) + letter
    return rate_text(value)


def _facts(view: DeviceLaunches) -> list[str]:
    shown = ", ".join(
        f"{clean(kind.name)} {kind.launches} (p50 {time_text(kind.delays.median_ns)})"
        for kind in view.kinds[:_KINDS]
    )
    rest = view.kinds[_KINDS:]
    facts = [shown + (f", {count_text(len(rest), 'other call')}" if rest else "")] if shown else []
    if view.empty_latency_ns is not None and view.into_empty >= _FEWEST:
        facts.append(
            f"{_launches(view.into_empty)} into an empty queue, "
            f"p50 {time_text(view.empty_latency_ns)}"
        )
    if view.graphs is not None:
        graphs = view.graphs
        sizes = (
            f"{graphs.most}" if graphs.fewest == graphs.most else f"{graphs.fewest}-{graphs.most}"
        )
        facts.append(f"{_launches(graphs.launches, 'graph launch')} of {sizes} activities")
    return facts


def _launches(count: int, noun: str = "launch") -> str:
    return f"{count} {noun}{'' if count == 1 else 'es'}"

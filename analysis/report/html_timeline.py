"""The window as a picture: who owns each moment of a GPU, and what each of its streams ran."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from whichlayer.analysis.heat_rows import HeatRow, device_rows, stream_rows
from whichlayer.analysis.heatmap import GAPS, heat_of
from whichlayer.analysis.intervals import Measure, union
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.report.html_bins import level_of, picture, shapes
from whichlayer.analysis.report.units import share_text, time_text
from whichlayer.analysis.results import Analysis, Role
from whichlayer.analysis.text import clean

_COLUMNS = 600
_STREAMS = 12
_GAPS_TOLD = 60
"""Gaps that tell their cause to a pointer that rests on them: the longest."""

_TICKS = 6
_LAST_TICK = 0.94
"""Later than this share of the window a tick's text would stand out of the picture."""

_LAYER_CLASSES = {int(layer): f"l-{layer.id}" for layer in Layer}
_ROLE_CLASSES = {Role.COMPUTE: "r-compute", Role.COMM: "r-comm", Role.COPY: "r-copy"}


def timeline(analysis: Analysis) -> str:
    """The rows of the picture as HTML; empty where there is no GPU."""
    window = analysis.window
    span = (window.start_ns, window.end_ns)
    if not analysis.devices or span[1] <= span[0]:
        return ""
    rows = [_row("time", _axis(span), "axis"), *_steps(analysis, span)]
    for device, row in enumerate(device_rows(analysis, span)):
        rows.append(_row(row.label, _owners(analysis, device, row), "owners"))
        streams = _busiest(analysis, stream_rows(analysis, device, span))
        rows += [_row(one.label, _stream(analysis, one)) for one in streams]
    return f'<div class="timeline">{"".join(rows)}</div>'


def left_out(analysis: Analysis) -> int:
    """How many streams with little time have no row."""
    span = (analysis.window.start_ns, analysis.window.end_ns)
    counts = (len(stream_rows(analysis, i, span)) for i in range(len(analysis.devices)))
    return sum(max(count - _STREAMS, 0) for count in counts)


def _row(label: str, body: str, kind: str = "") -> str:
    return f'<span class="label">{escape(clean(label))}</span><div class="row {kind}">{body}</div>'


def _axis(span: tuple[int, int]) -> str:
    """Times since the trace start at round distances."""
    length = span[1] - span[0]
    step = _round_step(length)
    first = -(-span[0] // step) * step
    marks = [
        f'<i style="left:{100 * (at - span[0]) / length:.2f}%">{time_text(at)}</i>'
        for at in range(first, span[1], step)
        if at - span[0] < _LAST_TICK * length
    ]
    return "".join(marks)


def _round_step(length: int) -> int:
    """1, 2 or 5 times a power of ten that parts a length into at most ``_TICKS``."""
    scale = 1
    while True:
        for factor in (1, 2, 5):
            if length // (scale * factor) < _TICKS:
                return scale * factor
        scale *= 10


def _steps(analysis: Analysis, span: tuple[int, int]) -> list[str]:
    steps = analysis.window.steps
    if not steps or len(steps) > _GAPS_TOLD:
        return []
    length = span[1] - span[0]
    marks = [
        f'<i style="left:{100 * (step.start_ns - span[0]) / length:.2f}%">{step.number}</i>'
        for step in steps
        if span[0] <= step.start_ns < span[1]
    ]
    return [_row("steps on the host", "".join(marks), "axis")]


def _owners(analysis: Analysis, device: int, row: HeatRow) -> str:
    """Who owns the gaps of each column, as the layer strip of the screen."""
    heat = heat_of([analysis], [row], _COLUMNS)
    gaps, owner = heat.time_ns[0, :, GAPS], heat.owner[0]
    length = np.maximum(np.diff(heat.edges_ns[0]), 1)
    share = gaps[np.arange(len(owner)), owner] / length
    drawn = shapes(owner, level_of(share), _LAYER_CLASSES)
    lost = share_text(int(gaps.sum()), int(length.sum()))
    label = escape(clean(f"{row.label}: {lost} of the {analysis.options.whole} in gaps"))
    return picture(len(owner), drawn + _told(analysis, device, row, len(owner)), label)


def _told(analysis: Analysis, device: int, row: HeatRow, columns: int) -> str:
    """The longest gaps with their cause in words."""
    gaps = analysis.gaps
    mine = np.flatnonzero(gaps.device == device)
    length = gaps.end_ns[mine] - gaps.start_ns[mine]
    scale = columns / max(row.end_ns - row.start_ns, 1)
    texts = []
    for place in mine[np.argsort(-length, kind="stable")[:_GAPS_TOLD]].tolist():
        start, end = int(gaps.start_ns[place]), int(gaps.end_ns[place])
        layer = Layer(int(gaps.layer[place]))
        told = f"{layer.text.name}: {gaps.rule(place)}, {time_text(end - start)}"
        texts.append(
            f'<rect class="t" x="{(start - row.start_ns) * scale:.2f}" width="'
            f'{(end - start) * scale:.2f}" height="1"><title>{escape(told)}</title></rect>'
        )
    return "".join(texts)


def _busiest(analysis: Analysis, rows: Sequence[HeatRow]) -> list[HeatRow]:
    """The streams with the most time, in the order given."""
    activities = analysis.activities
    lane = analysis.trace.lane_id[activities.row]
    time = np.bincount(lane, activities.end_ns - activities.start_ns, len(analysis.trace.lanes))
    most = sorted(rows, key=lambda row: -time[row.lane])[:_STREAMS]
    return [row for row in rows if row in most]


def _stream(analysis: Analysis, row: HeatRow) -> str:
    """How busy a stream was, in the colour of what it mostly did."""
    activities = analysis.activities
    lane = analysis.trace.lane_id[activities.row]
    mine = (lane == row.lane) & (activities.device == row.device)
    edges = np.linspace(row.start_ns, row.end_ns, _COLUMNS + 1).astype(np.int64)
    time = np.zeros((len(Role), _COLUMNS), np.int64)
    for role in Role:
        some = mine & (activities.role == role)
        runs = union(activities.start_ns[some], activities.end_ns[some])
        time[role] = np.diff(Measure(runs).until(edges))
    length = np.maximum(np.diff(edges), 1)
    share = time.sum(axis=0) / length
    drawn = shapes(time.argmax(axis=0).astype(np.uint8), level_of(share), _classes())
    busy = share_text(int(time.sum()), int(length.sum()))
    said = f"{row.label}: busy for {busy} of the {analysis.options.whole}"
    return picture(_COLUMNS, drawn, escape(clean(said)))


def _classes() -> dict[int, str]:
    return {int(role): name for role, name in _ROLE_CLASSES.items()}

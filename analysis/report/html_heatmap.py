"""How idle each step was and who is to blame, as rows of cells."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

import numpy as np

from whichlayer.analysis.heat_rows import HeatRow, step_rows, stream_rows
from whichlayer.analysis.heatmap import Heatmap, heat_of
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.report.html_bins import level_of, picture, shapes
from whichlayer.analysis.report.units import share_text, time_text
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.text import clean

_ROWS = 40
_BINS = 120
_CLASSES = {int(layer): f"l-{layer.id}" for layer in Layer}


def heat(analysis: Analysis) -> tuple[str, str]:
    """The rows as HTML and what they are; both empty where there is no GPU.

    Steps where there are any, else streams: of more than 40, as many at equal distances.
    """
    if not analysis.devices or analysis.window.end_ns <= analysis.window.start_ns:
        return "", ""
    rows = [row for device in step_rows(analysis) for row in device]
    kind = "steps"
    if not rows:
        rows, kind = list(_streams(analysis)), "streams"
    count = len(rows)
    places = np.unique(np.linspace(0, count - 1, min(count, _ROWS)).round().astype(np.int64))
    found = heat_of([analysis], [rows[place] for place in places.tolist()], _BINS)
    several = len(analysis.devices) > 1
    drawn = "".join(_row(found, place, several) for place in range(len(places)))
    of = f"{len(places)} of {count} {kind}" if len(places) < count else kind
    return f'<div class="timeline heat">{drawn}</div>', of


def _streams(analysis: Analysis) -> Iterator[HeatRow]:
    span = (analysis.window.start_ns, analysis.window.end_ns)
    for device in range(len(analysis.devices)):
        yield from stream_rows(analysis, device, span)


def _row(found: Heatmap, place: int, several: bool) -> str:
    row, owner, idle = found.rows[place], found.owner[place], found.idle[place]
    gaps = found.time_ns[place, :, : len(Layer)].sum(axis=0)
    length = row.end_ns - row.start_ns
    worst = Layer(int(gaps.argmax())) if gaps.any() else Layer.NONE
    told = f"{worst.text.letter} {share_text(int(gaps.sum()), length)} of {time_text(length)}"
    label = f"GPU {row.device}: {row.label}" if several else row.label
    drawn = shapes(owner, level_of(idle), _CLASSES)
    name = escape(clean(label))
    body = picture(len(owner), drawn, f"{name}: {escape(told)} in gaps")
    return (
        f'<span class="label">{name}</span><div class="row">{body}</div>'
        f'<span class="told">{escape(told)}</span>'
    )

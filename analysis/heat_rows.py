"""The rows of a heatmap: which stretches of which device or stream are laid above each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePath

import numpy as np

from whichlayer.analysis.ranks import find_rank
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.text import clean, gpu_text

Span = tuple[int, int]


class HeatRows(StrEnum):
    """What a row of a heatmap stands for."""

    STEPS = "steps"
    STREAMS = "streams"
    DEVICES = "devices"
    RANKS = "ranks"


@dataclass(frozen=True, slots=True)
class HeatRow:
    """One row.

    Attributes:
        label: for people.
        start_ns, end_ns: the stretch of time that it shows.
        device: index into ``Analysis.devices``.
        lane: the trace's lane of a stream; -1 for the device as a whole.
        analysis: which of several analyses it is of.
    """

    label: str
    start_ns: int
    end_ns: int
    device: int = 0
    lane: int = -1
    analysis: int = 0


def step_rows(analysis: Analysis) -> tuple[tuple[HeatRow, ...], ...]:
    """The steps of the window as each device saw them, by ``analysis.devices``; inferred ones too."""
    steps = () if analysis.steps is None else analysis.steps.rows
    return tuple(
        tuple(
            HeatRow(f"step {row.step.number}", *row.spans[device], device)
            for row in steps
            if device < len(row.spans) and row.spans[device][1] > row.spans[device][0]
        )
        for device in range(len(analysis.devices))
    )


def stream_rows(analysis: Analysis, device: int, span: Span) -> tuple[HeatRow, ...]:
    """The streams of a device with any activity in the recording, in the order of the trace."""
    mine = analysis.activities.row[analysis.activities.device == device]
    lanes = np.unique(analysis.trace.lane_id[mine]).tolist()
    streams = [(lane, analysis.trace.lanes[lane].stream) for lane in lanes]
    return tuple(HeatRow(f"stream {stream}", *span, device, lane) for lane, stream in streams)


def device_rows(analysis: Analysis, span: Span) -> tuple[HeatRow, ...]:
    """Every device as a whole."""
    return tuple(
        HeatRow(gpu_text(device.number), *span, index)
        for index, device in enumerate(analysis.devices)
    )


def rank_rows(analyses: Sequence[Analysis]) -> tuple[HeatRow, ...]:
    """Every device of every recording, each in its own window.

    The clocks of several hosts are never compared: rows begin where their windows do.
    """
    rows = []
    for place, analysis in enumerate(analyses):
        window = analysis.window
        rank = find_rank(analysis.trace.header)
        name = clean(PurePath(analysis.trace.path).name) if rank is None else f"rank {rank}"
        several = len(analysis.devices) > 1
        for index, device in enumerate(analysis.devices):
            label = f"{name} {gpu_text(device.number)}" if several else name
            rows.append(HeatRow(label, window.start_ns, window.end_ns, index, -1, place))
    return tuple(rows)

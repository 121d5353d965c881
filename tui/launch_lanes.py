"""Queue depth and launch delay of each GPU as counter lanes below its streams, when asked for.

Nothing is computed before a row is drawn.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from whichlayer.analysis.launches.calls import LaunchCalls, launch_calls
from whichlayer.analysis.launches.depth import queue_depth
from whichlayer.analysis.report.units import time_text
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.text import gpu_text
from whichlayer.analysis.trace.columns import Lane
from whichlayer.analysis.trace.kinds import LaneKind
from whichlayer.tui.counter_lanes import CounterLane, SeriesList, short_number
from whichlayer.tui.counter_row import CounterRow
from whichlayer.tui.document import Document
from whichlayer.tui.lanes import ShownLane, note_crowd
from whichlayer.tui.raster import Row

#: Rows of the lane: counter and unit, as the label says them.
_DEPTH, _DELAY = ("queue", "launches"), ("delay", "µs")


class LaunchLane(CounterLane):
    """Two series of one device: unfinished launch calls, and the delay of what began last."""

    noted = True

    def __init__(self, analysis: Analysis, device: int, until_ns: int) -> None:
        """Remember whose; ``until_ns`` is how long the last samples hold."""
        number = analysis.devices[device].number
        name = gpu_text(number)
        self.lane = Lane(name, "launches", LaneKind.OTHER, number, name="launches", process=name)
        queue, delay = SeriesList([(name, *_DEPTH), (name, *_DELAY)])
        self.series = (replace(queue, unit=_DEPTH[1]), delay)
        self.title = self.series[0].title
        self.group = "counter"
        self.device = number
        self.depth = 2
        self.first_row = 0
        self._rows: dict[int, Row] = {}
        self._analysis, self._place, self._until_ns = analysis, device, until_ns

    def row(self, depth: int) -> CounterRow:
        """One series, worked out when first asked for."""
        found = self._rows.get(depth)
        if not isinstance(found, CounterRow):
            found = self._rows[depth] = self._queue() if depth == 0 else self._delays()
        return found

    def row_note(self, depth: int, room: int) -> str:
        """What the top of the row stands for, with its unit, as there is room."""
        top = self.row(depth).top
        if depth == 0:
            said = short_number(top)
            many = "" if said == "1" else "s"
            texts: tuple[str, ...] = (
                f"{said} launch{many and 'es'}",
                f"{said} call{many}",
                said,
            )
        else:
            number, _, unit = time_text(round(top * 1000)).partition(" ")
            texts = (f"{number} {unit}".strip(), f"{float(number):.0f}{unit}")
        return next((text for text in texts if len(text) <= room), "")

    @cached_property
    def _calls(self) -> LaunchCalls:
        return launch_calls(self._analysis.trace, self._analysis.activities, self._place)

    def _queue(self) -> CounterRow:
        depth = queue_depth(self._calls)
        return CounterRow(depth.time_ns, depth.depth.astype(np.float64), self._until_ns, 0)

    def _delays(self) -> CounterRow:
        calls = self._calls
        return CounterRow(calls.first_ns, calls.delay_ns / 1000, self._until_ns, 1)


def shows_launches(document: Document) -> bool:
    """Whether the lanes are there."""
    return any(isinstance(lane, LaunchLane) for lane in document.lanes)


def with_launches(document: Document, analysis: Analysis) -> Document:
    """The document with a lane of launches below the lanes of each device that has any."""
    linked = analysis.trace.launch[analysis.activities.row] >= 0
    having = np.unique(analysis.activities.device[linked]).tolist()
    below: dict[int, ShownLane] = {}
    for device in having:
        number = analysis.devices[device].number
        of_gpu = [i for i, lane in enumerate(document.lanes) if lane.device == number]
        of_gpu = [i for i in of_gpu if number >= 0 or document.lanes[i].group == "gpu"]
        if of_gpu:
            below[of_gpu[-1]] = LaunchLane(analysis, device, document.high_ns)
    lanes: list[ShownLane] = []
    for index, lane in enumerate(document.lanes):
        lanes += [lane, below[index]] if index in below else [lane]
    note_crowd(tuple(lanes))
    return replace(document, lanes=tuple(lanes)) if below else document


def without_launches(document: Document) -> Document:
    """The document as it was."""
    lanes = tuple(lane for lane in document.lanes if not isinstance(lane, LaunchLane))
    note_crowd(lanes)
    return replace(document, lanes=lanes)

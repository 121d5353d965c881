"""The parts of the screen that show a trace: all that the first picture does not need.

Imported once that is there, since they bring NumPy and everything built on it.
"""

from __future__ import annotations

from collections.abc import Iterator

from textual.containers import Container, Horizontal
from textual.widget import Widget

from whichlayer.tui.widgets.findings_list import FindingsList
from whichlayer.tui.widgets.heatmap import Heatmap
from whichlayer.tui.widgets.hits_line import HitsLine
from whichlayer.tui.widgets.kernel_table import KernelTable
from whichlayer.tui.widgets.layer_strip import LayerStrip
from whichlayer.tui.widgets.overview import Overview
from whichlayer.tui.widgets.region import RegionPane
from whichlayer.tui.widgets.ruler import Ruler
from whichlayer.tui.widgets.timeline import Timeline


def panes() -> Iterator[Widget]:
    """The time axis, the timeline on it, and the panels below, from top to bottom."""
    yield Overview(id="overview")
    yield Ruler(id="ruler")
    yield LayerStrip(id="layers")
    yield HitsLine(id="hits")
    yield Timeline(id="timeline")
    yield Horizontal(
        Container(Heatmap(id="gaps"), FindingsList(id="findings"), id="problems"),
        KernelTable(id="kernels"),
        RegionPane(id="region"),
        id="panels",
    )

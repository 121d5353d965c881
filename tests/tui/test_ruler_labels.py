"""Labels of the ruler: never one over another, never cut."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tests.tui.screen import screen_of, view_of
from whichlayer.analysis.report.units import time_text
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.notes_file import Bookmark
from whichlayer.tui.ruler import axis_of
from whichlayer.tui.widgets.ruler import Ruler

NAMES = ("Optimizer.step#SGD.step", "b", "enumerate(DataLoader)#_Iter.__next__")


def places(trace: Trace) -> list[Bookmark]:
    times = (400_000, 900_000, 2_950_000)
    return [
        Bookmark(name[0], name, trace.origin_ns + at) for name, at in zip(NAMES, times, strict=True)
    ]


@pytest.mark.parametrize("selected", [None, (500_000, 1_000_000), (100_000, 2_900_000)])
async def test_every_label_is_whole_or_away_wherever_the_cursor_is(
    trace: Trace, analysis: Analysis, selected: tuple[int, int] | None
) -> None:
    async with screen_of(trace, analysis, (80, 24)) as (app, _):
        ruler, view = app.query_one(Ruler), view_of(app)
        ruler.mark_places(places(trace))
        port, axis = view.port, axis_of(view.port)
        ticks = {text for _, text in axis.marks}
        shown = set()
        for cell in range(port.cells):
            at = port.edge(cell)
            ruler.view = replace(view, cursor_ns=at, selection=selected)
            line = ruler.render_line(0).text[ruler.label_cells :]
            label = axis.instant(at, max(port.span_ns // port.cells // 2, 1))
            if selected is None:
                assert f"▼{label}" in line or f"{label}▼" in line
            else:
                length = time_text(selected[1] - selected[0])
                assert length in line or not re.search(r"─\S*\d", line)
                line = re.sub("[├┤━─]+", " ", line.replace(length, " "))
            apart = line.replace(f"▼{label}", "▼").replace(f"{label}▼", "▼")
            for word in re.findall(r"│([^│◆▼]+)", apart):
                assert word.strip() in ticks | {""}
                shown |= {word.strip()}
            for word in re.findall(r"◆([^│◆▼]+)", apart):
                name = word.split()[0] if word.strip() else ""
                assert not name or any(one.startswith(name.rstrip("…")) for one in NAMES)
        assert selected is not None or shown & ticks

"""Names that attack the terminal, and recordings without what the screen is about."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from rich.cells import cell_len

from tests.tui.recording import Slice, build_trace
from tests.tui.screen import SMALL, screen_of, text_of, view_of
from whichlayer.analysis import analyse
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Lane, Trace
from whichlayer.analysis.trace.kinds import LaneKind, SliceKind
from whichlayer.tui.names import narrow

HOSTILE = (
    "[bold red]markup[/bold red]",
    "[/]",
    "esc\x1b[31m\x1b]0;title\x07",
    "new\nline\ttab",
    "\u202eright to left\u200b",
    "全角の名前",
    "e\u0301 combining",
    "x" * 5000,
    "",
)


def hostile_trace() -> Trace:
    slices: list[Slice] = []
    for place, name in enumerate(HOSTILE):
        start = place * 1000
        slices.append((0, SliceKind.KERNEL, name, start, start + 900, 0, place))
        slices.append((1, SliceKind.CPU_OP, name, start, start + 900, 0, -1))
        slices.append((1, SliceKind.RUNTIME, name, start + 10, start + 50, 1, place))
    lanes = (
        Lane(0, 7, LaneKind.GPU_STREAM, 0, 7, HOSTILE[2]),
        Lane(1, "t\x1b[2J", LaneKind.CPU_THREAD, name=HOSTILE[0]),
    )
    return build_trace(slices, lanes, path=HOSTILE[0] + "\x1b.json")


@pytest.mark.parametrize("size", [SMALL, (200, 50)])
async def test_hostile_names_are_text(size: tuple[int, int]) -> None:
    trace = hostile_trace()
    async with screen_of(trace, analyse(trace), size) as (app, pilot):
        for keys in (["full_stop"] * len(HOSTILE), ["j", "j"], ["tab"] * 5, ["v", "L", "v"]):
            await pilot.press(*keys)
            await pilot.pause()
            for pane in app.panes:
                for y in range(pane.size.height if pane.display else 0):
                    strip = pane.render_line(y)
                    assert strip.text.isprintable()
                    assert cell_len(strip.text) == strip.cell_length == pane.size.width


async def test_markup_is_shown_as_it_is_written() -> None:
    trace = hostile_trace()
    async with screen_of(trace, analyse(trace), (200, 50)) as (app, _):
        assert "[bold red]markup[" in "\n".join(text_of(app, "timeline"))


def test_wide_characters_become_one_cell_each() -> None:
    assert narrow("全角") == "··"
    assert narrow("plain µs") == "plain µs"


def cpu_only() -> Trace:
    slices: list[Slice] = [(0, SliceKind.CPU_OP, "aten::mm", 10, 500, 0, -1)]
    return build_trace(slices, (Lane(1, 2, LaneKind.CPU_THREAD, name="main"),))


async def test_a_trace_without_gpu_says_why_there_is_no_verdict() -> None:
    trace = cpu_only()
    async with screen_of(trace, analyse(trace)) as (app, pilot):
        assert "UNCLEAR" in text_of(app, "verdict")[0]
        assert "no GPU activity" in text_of(app, "layers")[0]
        for panel, says in (("gaps", "no GPU activity"), ("kernels", "no kernels")):
            app.bring_to_front(panel)  # there is nothing in it: others are before it
            await pilot.pause()
            assert says in "\n".join(text_of(app, panel))
        app.bring_to_front("timeline")
        await pilot.pause()
        region = "\n".join(text_of(app, "region"))
        assert "No GPU verdict" in region and "ProfilerActivity.CUDA" in region
        assert "aten::mm" in "\n".join(text_of(app, "timeline"))
        await pilot.press("right_square_bracket", "right_curly_bracket", "greater_than_sign",
                          "tab", "enter", "tab", "enter", "tab", "enter", "escape", "v", "L", "v",
                          "F", "enter")  # fmt: skip


async def test_a_trace_without_slices_opens() -> None:
    trace = build_trace([], ())
    async with screen_of(trace, analyse(trace)) as (app, pilot):
        await pilot.press("w", "s", "a", "d", "j", "k", "c", "f", "f", "F", "full_stop", "enter",
                          "v", "L", "v", "home", "end", "pagedown", "z", "Z",
                          "escape")  # fmt: skip
        assert "UNCLEAR" in text_of(app, "verdict")[0]


async def test_the_least_and_the_most_of_time() -> None:
    far = 2**62
    slices: list[Slice] = [
        (0, SliceKind.KERNEL, "first", 0, 0, 0, -1),
        (0, SliceKind.KERNEL, "last", far - 1, far, 0, -1),
    ]
    trace = build_trace(slices, (Lane(0, 7, LaneKind.GPU_STREAM, 0, 7),))
    async with screen_of(trace, analyse(trace)) as (app, pilot):
        first = text_of(app, "timeline")[0][16:]
        assert first[0] != " " and first.rstrip() != first[0]
        app.look_at(view_of(app).zoomed(200))
        await pilot.pause()
        port = view_of(app).port
        assert port.span_ns == port.cells
        await pilot.press("end", *["w"] * 5, "comma", "comma")


async def test_options_of_the_analysis_choose_the_window(trace: Trace, analysis: Analysis) -> None:
    window = replace(analysis.window, start_ns=1_000_000, end_ns=2_000_000)
    async with screen_of(trace, replace(analysis, window=window)) as (app, _):
        port = view_of(app).port
        assert (port.start_ns, port.end_ns) == (1_000_000, 2_000_000)


def test_columns_of_the_test_recording_are_sorted() -> None:
    trace = build_trace()
    lanes = np.diff(trace.lane_id)
    starts = np.diff(trace.start_ns)
    assert ((lanes > 0) | ((lanes == 0) & (starts >= 0))).all()

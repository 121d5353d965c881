"""The roofline over the screen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tui.screen import LARGE, MEDIUM, SMALL, screen_of, text_of, view_of
from whichlayer.analysis.options import Options
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.widgets.kernel_table import KernelTable
from whichlayer.tui.widgets.roofline_screen import RooflineScreen


@pytest.fixture
def known(analysis: Analysis) -> Analysis:
    gemm, add, nccl = analysis.kernels
    gemm = replace(gemm, flops=10**9, bytes=10**7, gbps=149.0, tflops=14.9, precision="fp32")
    add = replace(add, bytes=3 * 10**7, short_name="odd \x1b[31m [bold]")
    return replace(
        analysis, kernels=(gemm, add, nccl), options=Options(device_model="A100 SXM4 80")
    )


def said(screen: RooflineScreen) -> str:
    plot = screen.plot
    lines = ["".join(one.text for one in plot.render_line(y)) for y in range(plot.size.height)]
    assert all(len(line) == plot.size.width for line in lines)
    return "\n".join(lines)


@pytest.mark.parametrize("size", [SMALL, MEDIUM, LARGE])
async def test_the_key_shows_it_with_the_chosen_group_and_takes_it_away(
    trace: Trace, known: Analysis, size: tuple[int, int]
) -> None:
    async with screen_of(trace, known, size) as (app, pilot):
        await pilot.press("o")
        screen = app.screen
        assert isinstance(screen, RooflineScreen)
        text = said(screen)
        for word in ("FLOP per byte", "fp32 19.5TFLOP/s", "sgemm 128x64", "1 of 2 by time",
                     "14.9 TFLOP/s", "without figures: 300.0 µs"):  # fmt: skip
            assert word in text
        assert "A100 SXM4 80" in str(screen.plot.border_title)
        await pilot.press("down")
        text = said(screen)
        assert "2 of 2 by time" in text and "30MB per call" in text
        assert "\x1b" not in text and "[bold]" in text
        await pilot.press("o")
        assert not isinstance(app.screen, RooflineScreen)
        assert app.query_one(KernelTable).chosen_group == 1


async def test_enter_goes_to_the_longest_call(trace: Trace, known: Analysis) -> None:
    async with screen_of(trace, known) as (app, pilot):
        await pilot.press("o", "enter")
        await pilot.pause()
        assert not isinstance(app.screen, RooflineScreen)
        assert 300_000 <= view_of(app).cursor_ns % 1_000_000 < 600_000


async def test_a_click_on_a_point_chooses_it(trace: Trace, known: Analysis) -> None:
    async with screen_of(trace, known) as (app, pilot):
        await pilot.press("o")
        screen = app.screen
        assert isinstance(screen, RooflineScreen)
        place = next(one for one in screen.plot.picture.placed if one.point.row.index == 1)
        await pilot.click("#roofline", offset=(place.cell + 1, place.row + 1))
        assert screen.plot.chosen == 1


async def test_it_is_of_the_selection(trace: Trace, known: Analysis) -> None:
    async with screen_of(trace, known) as (app, pilot):
        app.look_at(view_of(app).selected(300_000, 600_000))
        await pilot.press("o")
        screen = app.screen
        assert isinstance(screen, RooflineScreen)
        assert "300.0 µs of kernels in the selection" in str(screen.plot.border_title)
        assert "1 of 1 by time" in said(screen)


async def test_it_follows_the_size_of_the_terminal(trace: Trace, known: Analysis) -> None:
    async with screen_of(trace, known, LARGE) as (app, pilot):
        await pilot.press("o")
        for size in (SMALL, (20, 6), (5, 3), MEDIUM):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert isinstance(app.screen, RooflineScreen)
            said(app.screen)


async def test_without_figures_it_says_so(trace: Trace, analysis: Analysis) -> None:
    bare = [replace(group, gbps=None, tflops=None) for group in analysis.kernels]
    async with screen_of(trace, replace(analysis, kernels=tuple(bare))) as (app, pilot):
        await pilot.press("o")
        assert isinstance(app.screen, RooflineScreen)
        text = said(app.screen)
        assert "no kernel here has known flops or bytes" in text and "% of the time:" in text
        await pilot.press("enter")
        assert not isinstance(app.screen, RooflineScreen)


async def test_the_key_groups_the_kernel_table(trace: Trace, known: Analysis) -> None:
    async with screen_of(trace, known, LARGE) as (app, pilot):
        headings = []
        for _ in range(5):
            await pilot.press("b")
            await pilot.pause()
            headings.append(text_of(app, "kernels")[0].split("  ")[0].strip())
        assert headings == ["kernel (any shape)", "operator", "module", "family", "kernel"]


async def test_the_roofline_leaves_a_grouped_table_at_its_group(
    trace: Trace, known: Analysis
) -> None:
    async with screen_of(trace, known, LARGE) as (app, pilot):
        await pilot.press("b", "b", "o", "end", "escape")
        assert app.query_one(KernelTable).chosen_group == 1


@pytest.mark.parametrize(
    ("why", "shown"),
    [
        ("1.21 TB/s, 78% of the data sheet", "at the roof"),
        (
            "1.2 TB/s, 36% of the data sheet; 722 TFLOP/s bf16, 73% of the data sheet; no rule",
            "no rule",
        ),
        ("764 GB/s, 85% of the data sheet (two passes)", "(two passes)"),
        ("FP32 9.26 TFLOP/s; ideal in FP16 at 80% of 125 TFLOP/s",) * 2,
        ("not judged: no shapes",) * 2,
    ],
)
async def test_a_rate_is_told_once(trace: Trace, known: Analysis, why: str, shown: str) -> None:
    first = replace(known.kernels[0], why=why, rule="", lost_ns=0, flags=())
    known = replace(known, kernels=(first, *known.kernels[1:]))
    async with screen_of(trace, known, LARGE) as (app, pilot):
        await pilot.press("o")
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, RooflineScreen)
        lines = [line.strip() for line in said(screen).splitlines()]
        assert shown in lines
        assert sum("data sheet" in line for line in lines) <= 1

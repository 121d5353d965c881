"""What the parts of the screen say, line by line."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tests.tui.recording import build_analysis, build_trace
from tests.tui.screen import LARGE, MEDIUM, SMALL, ReadyLoader, screen_of, text_of, view_of
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import Analysis, Options, Segments, State
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui import heat
from whichlayer.tui.app import WhichlayerApp
from whichlayer.tui.layout import PANELS, arrangement_for
from whichlayer.tui.ruler import axis_of
from whichlayer.tui.widgets import heatmap
from whichlayer.tui.widgets.kernel_table import COLUMNS, KernelTable
from whichlayer.tui.widgets.pane import Pane
from whichlayer.tui.widgets.panel import Panel
from whichlayer.tui.widgets.region import RegionPane

NUMBER = r"\d{1,3}(?: \d{3})*(?:\.\d+)? [mµ]?s"
RULER = re.compile(rf" *(?:│(?:{NUMBER})? *|▼{NUMBER} *|{NUMBER}▼ *)*")
SIZES = [SMALL, MEDIUM, LARGE, (250, 70), (40, 12)]


async def test_header_names_file_gpu_rank_and_window(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis) as (app, _):
        (line,) = text_of(app, "header")
        for fact in ("whichlayer", "step.json", "A100-SXM4-80GB", "rank 3/8", "steps 1–3",
                     "3.000 ms", "! 1 note on the recording", "● ready"):  # fmt: skip
            assert fact in line


async def test_verdict_comes_with_the_shares_of_the_layers(
    trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis) as (app, _):
        (line,) = text_of(app, "verdict")
        assert line.startswith(" ABOVE CUDA  50% in gaps, 7% lost in kernels.")
        assert " R  40.0 % " in line and " P  10.0 % " in line and " C  7.0 % " in line
        assert line.index(" R ") < line.index(" P  1") < line.index(" C  7")


async def test_verdict_speaks_the_words_of_the_vendor(trace: Trace, analysis: Analysis) -> None:
    devices = (replace(analysis.devices[0], vendor="amd"),)
    async with screen_of(trace, replace(analysis, devices=devices)) as (app, _):
        line = text_of(app, "verdict")[0]
        assert line.startswith(" ABOVE HIP ") and "CUDA" not in line


async def test_layer_strip_has_a_letter_for_every_column(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis) as (app, pilot):
        (line,) = text_of(app, "layers")
        cells = line[16:]
        port = view_of(app).port
        assert cells[port.cell_of(150_000)] == "R"
        assert cells[port.cell_of(650_000)] == "P"
        assert cells[port.cell_of(780_000)] == "C"
        assert cells[port.cell_of(450_000)] == "="
        assert set(cells) <= set("RPC=·– ")
        await pilot.press("end")


async def test_overview_marks_the_visible_span(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis) as (app, pilot):
        (line,) = text_of(app, "overview")
        assert "█" in line or "▇" in line
        await pilot.press("w", "w", "w", "w")
        (line,) = text_of(app, "overview")
        port = view_of(app).port
        assert line.count("[") == line.count("]") == 1
        share = (line.index("]") - line.index("[")) / 104
        assert share == pytest.approx(port.span_ns / 3_000_001, abs=0.03)


async def test_ruler_shows_the_cursor_and_the_length_of_a_selection(
    trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis) as (app, pilot):
        (line,) = text_of(app, "ruler")
        assert "▼" in line and "│1 ms" in line.replace("1 000 µs", "1 ms")
        app.look_at(view_of(app).selected(1_000_000, 2_000_000))
        await pilot.pause()
        assert "1.000 ms" in text_of(app, "ruler")[0]


async def test_the_ruler_never_shows_half_a_label(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis) as (app, pilot):
        for time in range(0, 3_000_000, 61_000):
            app.look_at(view_of(app).pointed(time, 0))
            await pilot.pause()
            assert RULER.fullmatch(text_of(app, "ruler")[0][16:]), text_of(app, "ruler")[0]


async def test_timeline_has_a_labelled_row_per_lane(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis) as (app, _):
        lines = text_of(app, "timeline")
        labels = [line[:16].strip() for line in lines if line[:16].strip()]
        assert labels[:2] == ["▸GPU0 s7", "GPU0 s20 comm"]
        assert "CPU main" in labels and any(label.startswith("python") for label in labels)
        assert "ampere_s" in lines[0]


async def test_heatmap_has_a_row_per_step_with_its_idle_share(
    trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis) as (app, _):
        lines = [line for line in text_of(app, "gaps") if line.strip()]
        assert [line[:6] for line in lines] == ["step 1", "step 2", "step 3"]
        assert all(line.rstrip().endswith("%") for line in lines)
        assert "R" in lines[0] and "P" in lines[0].upper()


async def test_kernel_table_has_figures_or_dashes(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis, LARGE) as (app, _):
        lines = text_of(app, "kernels")
        assert lines[0].split() == [
            "kernel", "time▾", "share", "calls", "GB/s", "%roof", "by",
        ]  # fmt: skip
        figures = lines[1][lines[0].index("time") - 6 :].split()
        assert figures == ["900.0", "µs", "30.0", "%", "3", "–", "90", "%", "="]
        assert "–" in lines[1] and "910" in lines[2] and lines[2].rstrip().endswith("C")
        assert lines[3].count("–") == 2


@pytest.mark.parametrize("size", [SMALL, MEDIUM, LARGE, (250, 70)])
async def test_headings_of_the_kernel_table_are_words_of_their_own(
    trace: Trace, analysis: Analysis, size: tuple[int, int]
) -> None:
    groups = tuple(replace(group, calls=10**place) for place, group in
                   zip((1, 5, 7), analysis.kernels, strict=False))  # fmt: skip
    async with screen_of(trace, replace(analysis, kernels=groups), size) as (app, pilot):
        app.bring_to_front("kernels")
        table = app.query_one(KernelTable)
        for place, column in enumerate(COLUMNS):
            table.sort_by(place)
            await pilot.pause()
            titles = [f"{one.title}▾" if one is column else one.title for one in COLUMNS]
            left = text_of(app, "kernels")[0]
            for title in ["kernel", *(one for one in titles if one in left), "by"]:
                assert re.search(rf"(?:^|\s){re.escape(title)}(?:\s|$)", left), left
                left = left.replace(title, " " * len(title), 1)
            assert not left.strip(), left


async def test_kernels_of_one_name_are_told_apart_beside_their_names(
    trace: Trace, analysis: Analysis
) -> None:
    one = analysis.kernels[0]
    name = "cudnn bn_{}_tr_1C11_kernel_NCHW float"
    groups = tuple(
        replace(one, short_name=name.format(way), shapes=f"fp32[32,256,{size},{size}]")
        for way in ("fw", "bw") for size in (14, 28)
    )  # fmt: skip
    async with screen_of(trace, replace(analysis, kernels=groups)) as (app, _):
        labels = [line.split("  ")[0] for line in text_of(app, "kernels")[1:5]]
        assert len(set(labels)) == 4
        assert sum("fw" in label for label in labels) == sum("bw" in label for label in labels) == 2
        assert all("14,14" in label or "28,28" in label for label in labels)


async def test_a_cut_finding_or_note_names_the_key_that_shows_all_of_it(
    trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis, LARGE) as (app, pilot):
        app.bring_to_front("findings")
        await pilot.pause()
        short = text_of(app, "findings")[0]
        words = replace(analysis.warnings[0], message="many words " * 60)
        long = replace(analysis, warnings=(words,))
    assert "in full" not in short
    async with screen_of(trace, long, MEDIUM) as (app, pilot):
        app.bring_to_front("findings")
        await pilot.pause()
        heading = text_of(app, "findings")[0]
        if "…" in "".join(text_of(app, "findings")[1:]):
            assert "in full" in heading or len(heading) < 34
    async with screen_of(trace, long, LARGE) as (app, pilot):
        assert "in full: !" in text_of(app, "findings")[0]


async def test_the_region_tells_times_as_the_ruler_does(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis) as (app, pilot):
        app.look_at(view_of(app).at(780_000))
        await pilot.pause()
        assert "700 – 850 µs" in "\n".join(text_of(app, "region"))
        app.look_at(view_of(app).showing(700_000, 703_000))
        await pilot.pause()
        assert "700 000 – 850 000 ns" in "\n".join(text_of(app, "region"))
        app.look_at(view_of(app).selected(701_001, 702_000))
        await pilot.pause()
        assert "999 ns selected on GPU0: 701 001 – 702 000 ns" in " ".join(
            line.strip() for line in text_of(app, "region")
        )


async def test_region_says_owner_cause_fix_place_and_evidence(
    trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis) as (app, _):
        text = "\n".join(text_of(app, "region"))
        for words in (" R  PyTorch / runtime", "dataloader-wait", "300.0 µs idle on GPU0",
                      "fix of dataloader-wait", "train.py:42", "evidence"):  # fmt: skip
            assert words in text


async def test_a_selection_is_accounted_for(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis) as (app, pilot):
        app.look_at(view_of(app).selected(0, 1_000_000))
        await pilot.pause()
        text = "\n".join(text_of(app, "region"))
        for words in ("1.000 ms selected on GPU0", "40.0 %  400.0 µs", "10.0 %  100.0 µs",
                      "7.0 %  70.00 µs", "launch spacing"):  # fmt: skip
            assert words in text
        assert text_of(app, "kernels")[1].split()[:4] == ["sgemm", "128x64", "300.0", "µs"]


async def test_the_kernel_under_the_cursor_is_judged(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis) as (app, pilot):
        app.look_at(view_of(app).at(780_000))
        await pilot.pause()
        text = "\n".join(text_of(app, "region"))
        for words in ("150.0 µs", "cudaLaunchKernel", "aten::add", "memory-bound-slow",
                      "why of add", "910 GB/s"):  # fmt: skip
            assert words in text


async def test_a_call_names_what_it_started(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis) as (app, pilot):
        await pilot.press("home", "full_stop", "enter")
        text = app.query_one("#region", Panel).text  # type: ignore[attr-defined]
        assert "starts" in text and "sgemm" in text


@pytest.mark.parametrize("size", SIZES)
async def test_every_line_fills_its_part_of_the_screen(
    size: tuple[int, int], trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis, size) as (app, _):
        total = 0
        for pane in app.panes:
            if not pane.display:
                continue
            for y in range(pane.size.height):
                assert pane.render_line(y).cell_length == pane.size.width
            total += pane.outer_size.height if not isinstance(pane, Panel) else 0
        panels = app.query_one("#panels").outer_size.height
        assert total + panels == size[1]


@pytest.mark.parametrize(("width", "shown"), [(80, 1), (120, 3), (200, 4)])
async def test_panels_share_places_as_the_width_allows(
    width: int, shown: int, trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis, (width, 40)) as (app, _):
        assert sum(app.query_one(f"#{name}").display for name in PANELS) == shown


def test_every_panel_has_a_place_at_every_size() -> None:
    for width in range(1, 300, 7):
        for height in range(1, 90, 3):
            arranged = arrangement_for(width, height, rows=3)
            assert sorted(name for place in arranged.places for name in place) == sorted(PANELS)
            assert 0 <= arranged.panel_lines <= height


async def test_another_size_keeps_span_and_cursor(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis) as (app, pilot):
        await pilot.press("w", "w")
        before = view_of(app)
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        after = view_of(app)
        assert (after.port.start_ns, after.port.end_ns) == (
            before.port.start_ns,
            before.port.end_ns,
        )
        assert (after.cursor_ns, after.port.cells) == (before.cursor_ns, 68)


@pytest.mark.parametrize("size", [SMALL, MEDIUM, LARGE])
async def test_all_labels_of_the_time_axis_begin_in_one_column(
    size: tuple[int, int], trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis, size) as (app, _):
        for name, label in (("overview", "overview"), ("ruler", "time"), ("layers", "LAYERS"),
                            ("timeline", "GPU0 s7")):  # fmt: skip
            assert text_of(app, name)[0].index(label) == 1


async def test_the_ruler_shows_a_whole_base_or_none(trace: Trace, analysis: Analysis) -> None:
    for size, fits in ((SMALL, False), (LARGE, True)):
        async with screen_of(trace, analysis, size) as (app, pilot):
            app.look_at(view_of(app).at(2_345_678).zoomed(200))
            await pilot.pause()
            cells = app.query_one("#ruler", Pane).label_cells
            label = text_of(app, "ruler")[0][:cells].strip()
            base_ns = axis_of(view_of(app).port).base_ns
            assert label == (f"{base_ns / 1e6} ms +" if fits else "time +")


@pytest.mark.parametrize("size", [(24, 20), (40, 18)])
async def test_text_below_the_fold_is_marked_and_one_key_reads_it(
    size: tuple[int, int], trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis, size) as (app, pilot):
        pane = app.query_one("#region", RegionPane)
        everything = [line.strip() for line in pane.text.splitlines()]
        assert len(everything) > pane.size.height
        read: list[str] = []
        while "▼" in (lines := text_of(app, "region"))[-1]:
            shown = [line.strip() for line in lines[:-1]]
            hidden = len(everything) - pane.top - len(shown)
            words = "more: r" if size[0] < 30 else "more lines: r reads on"
            assert lines[-1].rstrip() == f"▼ {hidden} {words}"
            read += shown
            await pilot.press("r")
            await pilot.pause()
        rest = [line.strip() for line in lines]
        assert rest == everything[-len(rest) :] and set(read + rest) >= set(everything)
        await pilot.press("r")
        await pilot.pause()
        assert pane.top == 0


async def test_reading_on_brings_the_region_pane_to_the_front(
    trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis, SMALL) as (app, pilot):
        await pilot.press("tab", "tab", "escape")
        assert not app.query_one("#region").display
        await pilot.press("r")
        assert app.query_one("#region").display


async def test_text_that_fits_has_no_mark(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis, LARGE) as (app, _):
        assert "▼" not in "\n".join(text_of(app, "region"))


async def test_several_devices_have_a_strip_each_and_the_cursor_chooses(
    analysis: Analysis,
) -> None:
    trace = build_trace()
    whole = build_analysis(trace)
    quiet = Segments(
        whole.segments[0].start_ns[:1], whole.segments[0].end_ns[-1:],
        whole.segments[0].state[:1], whole.segments[0].layer[:1], whole.segments[0].ref[:1],
    )  # fmt: skip
    quiet.state[:] = State.SPACING
    quiet.layer[:] = Layer.NONE
    second = replace(whole.devices[0], number=5)
    both = replace(analysis, devices=(*whole.devices, second), segments=(whole.segments[0], quiet))
    async with screen_of(trace, both) as (app, _):
        lines = text_of(app, "layers")
        assert lines[0].startswith(" LAYERS GPU0") and lines[1].startswith(" LAYERS GPU5")
        assert "R" in lines[0][16:] and "R" not in lines[1][16:]
        assert "2× NVIDIA" in text_of(app, "header")[0]
    unnamed = replace(both, devices=tuple(replace(d, name="", model="") for d in both.devices))
    async with screen_of(trace, unnamed) as (app, _):
        assert " · 2 GPUs · " in text_of(app, "header")[0]


async def test_what_comes_through_a_pipe_is_called_standard_input(
    trace: Trace, analysis: Analysis
) -> None:
    for path, shown in [("-", "standard input"), ("./-", "-"), ("a.json", "a.json")]:
        loader = ReadyLoader(path, Options(), lambda p, progress: trace, lambda t, o: analysis)
        app = WhichlayerApp(loader)
        async with app.run_test(size=(120, 40)) as pilot:
            await pilot.pause()
            assert text_of(app, "header")[0].startswith(f" whichlayer  {shown} · ")


async def test_the_title_of_the_heatmap_says_what_its_figures_are(trace: Trace) -> None:
    analysis = build_analysis(trace)
    assert len(heatmap.TOLD) == len(heat.ROWS)
    for size in (SMALL, MEDIUM, LARGE):
        async with screen_of(trace, analysis, size) as (app, pilot):
            panel = app.query_one(heatmap.Heatmap)
            app.bring_to_front("gaps")
            await pilot.pause()
            assert "gaps %" in str(panel.border_title) or "in gaps" in str(panel.border_title)
            assert "findings" in str(panel.border_title) or len(panel.tabs) == 1
            await pilot.press("R")
            assert "GPU" in str(panel.border_title), "of a stream it is not the stream's idle time"

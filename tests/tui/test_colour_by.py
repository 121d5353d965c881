"""What the colours of bars tell: families, owners, streams or names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.tui.recording import ADD, GEMM
from tests.tui.screen import MEDIUM, SMALL, screen_of, text_of, view_of
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind
from whichlayer.tui.colour_by import Colouring, codes_by
from whichlayer.tui.document import Document, open_document
from whichlayer.tui.families import families_of
from whichlayer.tui.legend import MOST_LINES, legend_of
from whichlayer.tui.palette import bar_code
from whichlayer.tui.slots import (
    FIRST_HUE,
    FIRST_LAYER,
    HUES,
    PLAIN,
    ColourBy,
    hue_of,
    layer_slot,
    slot_word,
)
from whichlayer.tui.viewport import Viewport
from whichlayer.tui.widgets.legend_screen import LegendScreen, legend_text
from whichlayer.tui.widgets.timeline import Timeline


def test_one_name_has_one_hue_in_every_recording() -> None:
    assert [hue_of(name) - FIRST_HUE for name in ("sgemm", GEMM, ADD, "")] == [4, 0, 4, 0]
    assert {hue_of(f"kernel {i}") for i in range(200)} == set(range(FIRST_HUE, FIRST_HUE + HUES))
    assert hue_of("\udc80") >= FIRST_HUE


def test_names_are_coloured_whatever_they_are_names_of(document: Document) -> None:
    codes = codes_by(document, ColourBy.NAME)
    trace = document.trace
    assert [hue_of(trace.name(row)) for row in range(len(trace))] == codes.tolist()


def test_calls_have_the_colour_of_the_stream_that_they_launch_on(document: Document) -> None:
    trace, codes = document.trace, codes_by(document, ColourBy.STREAM)
    kernels = np.flatnonzero(trace.kind == SliceKind.KERNEL)
    assert len(set(codes[kernels].tolist())) == 2 and codes[kernels].min() >= FIRST_HUE
    assert (trace.launch[kernels] >= 0).all()
    assert codes[trace.launch[kernels]].tolist() == codes[kernels].tolist()
    others = np.setdiff1d(np.arange(len(trace)), [*kernels, *trace.launch[kernels]])
    assert set(codes[others].tolist()) == {PLAIN}


def test_owners_are_of_losses_and_of_the_causes_of_gaps(document: Document) -> None:
    analysis = document.analysis
    assert analysis is not None
    codes, gaps, kernels = codes_by(document, ColourBy.OWNER), analysis.gaps, analysis.activities
    for index in range(len(gaps)):
        if gaps.culprit_row[index] >= 0:
            assert FIRST_LAYER <= codes[gaps.culprit_row[index]] < FIRST_HUE
    for index, row in enumerate(kernels.row.tolist()):
        if kernels.loss_ns[index] * 10 >= kernels.owned_ns[index] > 0:
            assert codes[row] == layer_slot(Layer(int(kernels.layer[index])))
        elif kernels.judged[index]:
            assert codes[row] == layer_slot(Layer.NONE)
        else:
            assert codes[row] == PLAIN


def test_owners_wait_for_the_analysis(trace: Trace) -> None:
    document = open_document(trace)
    assert (codes_by(document, ColourBy.OWNER) == families_of(trace)).all()


def test_rows_keep_all_but_their_colours(document: Document) -> None:
    row = document.lanes[0].row(0)
    colouring = Colouring(document, ColourBy.NAME)
    other = colouring.row(row)
    edges = Viewport.over(0, 3_000_000, 60).edges()
    one, two = row.cells(edges), other.cells(edges)
    assert (one.busy_ns == two.busy_ns).all() and (one.level == two.level).all()
    assert (one.first == two.first).all() and not (one.family == two.family).all()
    assert colouring.row(row) is other
    assert row.family.max() < FIRST_LAYER, "the row itself stays as it was"


def test_crowds_are_called_by_what_they_have_in_common() -> None:
    assert slot_word(0) == "matmul"
    assert slot_word(layer_slot(Layer.RUNTIME)).startswith("R ")
    assert slot_word(FIRST_HUE) == slot_word(PLAIN) == ""


async def test_a_key_goes_through_what_colours_tell(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis, (160, 40)) as (app, pilot):
        timeline = app.query_one(Timeline)
        plain = [timeline.render_line(y) for y in range(4)]
        assert "coloured by" not in text_of(app, "header")[0]
        for word in ("owner", "stream", "name"):
            await pilot.press("C")
            assert f"coloured by {word}" in text_of(app, "header")[0]
            assert text_of(app, "footer")[0].strip() == f"bars are coloured by {word}"
            assert [timeline.render_line(y) for y in range(4)] != plain
        await pilot.press("C")
        assert "coloured by" not in text_of(app, "header")[0]
        assert [timeline.render_line(y) for y in range(4)] == plain


async def test_bars_coloured_by_owner_carry_its_letter(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis) as (app, pilot):
        assert "ampere_s" in text_of(app, "timeline")[0]
        await pilot.press("C")
        codes = codes_by(app.document, ColourBy.OWNER) if app.document else np.array([])
        kernel = int(np.flatnonzero(trace.kind == SliceKind.KERNEL)[0])
        letter = Layer(int(codes[kernel]) - FIRST_LAYER).text.letter
        assert f"{letter} ampere" in text_of(app, "timeline")[0]


async def test_the_legend_tells_what_is_in_sight_with_its_share(
    trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis, SMALL) as (app, pilot):
        for _ in ColourBy:
            await pilot.press("K")
            assert isinstance(app.screen, LegendScreen)
            assert "GPU rows" in app.screen.text and "host rows" in app.screen.text
            await pilot.press("escape")
            await pilot.press("C")
        await pilot.press("K")
        assert isinstance(app.screen, LegendScreen)
        lines = app.screen.text.splitlines()
        # 3 products of 300 us, 3 additions of 150 us, 3 collectives of 150 us.
        shares = {words[0]: words[-4:] for line in lines[1:4] if (words := line[4:].split())}
        assert shares["matmul"] == ["50.0", "%", "900.0", "µs"]
        assert shares["pointwise"] == shares["collective"] == ["25.0", "%", "450.0", "µs"]
        await pilot.press("K")
        assert not isinstance(app.screen, LegendScreen)


def test_the_legend_speaks_of_the_visible_span_alone(document: Document) -> None:
    rows = [(lane, lane.row(0)) for lane in document.lanes if lane.group == "gpu"]
    port = Viewport.over(0, 3_000_000, 100).to(450_000, 750_000)
    (section,) = legend_of(document, rows, port, ColourBy.NAME)
    assert [(entry.label, entry.time_ns) for entry in section.entries] == [
        ("ampere_sgemm_128x64_tn", 150_000), ("add elementwise fp32", 50_000),
    ]  # fmt: skip
    assert [entry.share for entry in section.entries] == [0.75, 0.25]
    empty = Viewport.over(0, 3_000_000, 100).to(0, 100_000)
    assert legend_of(document, rows, empty, ColourBy.NAME) == ()


def test_a_legend_sums_up_what_there_is_no_line_for(document: Document) -> None:
    rows = [(lane, lane.row(depth)) for lane in document.lanes for depth in range(lane.depth)]
    port = Viewport.over(0, 3_000_000, 100)
    for by in ColourBy:
        for section in legend_of(document, rows, port, by):
            assert len(section.entries) <= MOST_LINES + 1
            assert sum(entry.share for entry in section.entries) == pytest.approx(1)


async def test_an_empty_legend_says_so(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis, MEDIUM) as (app, _):
        palette = app.query_one(Timeline).palette
        assert legend_text(palette, ()).plain == "no bar is in sight"
        assert palette.timeline[bar_code(PLAIN, 0)].bgcolor is not None
        assert view_of(app).port.cells > 0


async def test_pictures_show_the_screen_and_are_never_written_over(
    trace: Trace, analysis: Analysis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "whichlayer-step-1.txt").write_text("mine")
    async with screen_of(trace, analysis) as (app, pilot):
        await pilot.press("P")
        assert text_of(app, "footer")[0].strip() == (
            "wrote whichlayer-step-2.svg and whichlayer-step-2.txt"
        )
        await pilot.press("P")
        shown = (tmp_path / "whichlayer-step-2.txt").read_text(encoding="utf-8").splitlines()
        assert len(shown) == MEDIUM[1] and all(len(line) <= MEDIUM[0] for line in shown)
        assert shown[0].startswith(" whichlayer  step.json")
        assert any("ampere_s" in line for line in shown)
        assert (tmp_path / "whichlayer-step-2.svg").read_text(encoding="utf-8").startswith("<svg")
    assert (tmp_path / "whichlayer-step-1.txt").read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} == {
        "whichlayer-step-1.txt", "whichlayer-step-2.svg", "whichlayer-step-2.txt",
        "whichlayer-step-3.svg", "whichlayer-step-3.txt",
    }  # fmt: skip


async def test_a_picture_that_cannot_be_written_is_said(
    trace: Trace, analysis: Analysis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(app: object, source: str) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("whichlayer.tui.pictures.write_pictures", refuse)
    async with screen_of(trace, analysis) as (app, pilot):
        await pilot.press("P")
        assert text_of(app, "footer")[0].strip() == "no picture: Permission denied"


def test_a_row_of_several_lines_is_counted_once(document: Document) -> None:
    rows = [(lane, lane.row(0)) for lane in document.lanes if lane.group == "gpu"]
    port = Viewport.over(0, 3_000_000, 100)
    once, twice = (legend_of(document, rows * times, port, ColourBy.NAME) for times in (1, 2))
    assert once == twice != ()

"""While a file is read the screen fills in, and what the user looks at stays where it is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from textual.pilot import Pilot

from tests.tui.growing import file_order, known_of, on_clock, part_of
from tests.tui.recording import Slice
from tests.tui.screen import LARGE, ReadyLoader, text_of, view_of
from tests.tui.test_loading import no_reader
from whichlayer.analysis.reader.progress import Progress, Report
from whichlayer.analysis.results import Analysis, Options
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.app import WhichlayerApp
from whichlayer.tui.document import Document, Extent, open_document, with_analysis
from whichlayer.tui.lanes import Fold
from whichlayer.tui.layout import arrangement_for
from whichlayer.tui.load import Loader
from whichlayer.tui.loading import Loading, Stage
from whichlayer.tui.messages import DocumentOpened, LaneFolded, LoadProgressed, Looked
from whichlayer.tui.travel import rows_of
from whichlayer.tui.widgets.pane import Pane
from whichlayer.tui.widgets.quality_screen import QualityScreen

MEGA = 10**6

#: How many slices are known at first: those of the main thread and of autograd's, of no GPU.
FIRST = 12


@asynccontextmanager
async def filling(*slices: list[Slice]) -> AsyncIterator[tuple[WhichlayerApp, Pilot[int]]]:
    """A screen that knows the first slices of the file, and of the rest nothing yet."""
    app = WhichlayerApp(ReadyLoader("a.json", Options(), no_reader))
    async with app.run_test(size=(120, 40)) as pilot:
        for known in slices or (file_order()[:FIRST],):
            await know(app, pilot, part_of(known))
        yield app, pilot


async def know(app: WhichlayerApp, pilot: Pilot[int], document: Document) -> None:
    """Let the screen know more."""
    app.post_message(DocumentOpened(document))
    await pilot.pause()


def seen(app: WhichlayerApp) -> tuple[int, int, int]:
    """What the user looks at, on the clock of the file: span and cursor."""
    assert app.document is not None
    view, origin = view_of(app), app.document.trace.origin_ns
    return view.port.start_ns + origin, view.port.end_ns + origin, view.cursor_ns + origin


def line_of_cursor(app: WhichlayerApp) -> tuple[str, int]:
    """Title of the cursor's lane, and the depth."""
    assert app.document is not None
    row = rows_of(app.document, view_of(app))[view_of(app).row]
    return app.document.lanes[row.lane].title, row.depth


async def test_everything_is_shown_as_it_comes_until_the_user_moves() -> None:
    async with filling() as (app, pilot):
        first = seen(app)
        assert "GPU0" not in "".join(text_of(app, "timeline"))
        await know(app, pilot, part_of(file_order()))
        assert view_of(app).port.is_whole and seen(app)[1] > first[1]
        assert "GPU0 s7" in text_of(app, "timeline")[0]
        assert view_of(app).row == 0


@pytest.mark.parametrize("earlier_ns", [0, 5_000_000])
async def test_once_the_user_has_moved_nothing_moves_under_his_eyes(earlier_ns: int) -> None:
    """Neither lanes that appear above nor an earlier beginning of time."""
    more = [*on_clock(file_order(), -earlier_ns)[:1], *file_order()]
    async with filling() as (app, pilot):
        await pilot.press("w", "w", "w", "j", "j", "l")
        before, line = seen(app), line_of_cursor(app)
        timeline = app.query_one("#timeline")
        height = view_of(app).row - getattr(timeline, "top", 0)
        await know(app, pilot, part_of(more))
        assert app.document is not None and len(app.document.lanes) > 3
        assert seen(app) == before
        assert line_of_cursor(app) == line
        assert view_of(app).row - getattr(timeline, "top", 0) >= height


async def test_the_row_of_the_cursor_stays_at_its_height_where_rows_do_not_fit() -> None:
    app = WhichlayerApp(ReadyLoader("a.json", Options(), no_reader))
    async with app.run_test(size=(120, 15)) as pilot:
        await know(app, pilot, part_of(file_order()[:FIRST]))
        await pilot.press("w", "j", "j")
        lines = text_of(app, "timeline")
        height = next(y for y, line in enumerate(lines) if line.startswith("▸"))
        await know(app, pilot, part_of(file_order()))
        assert text_of(app, "timeline")[height].startswith("▸")


async def test_fit_shows_everything_as_it_comes_again() -> None:
    async with filling() as (app, pilot):
        await pilot.press("w", "j", "f")
        line = line_of_cursor(app)
        await know(app, pilot, part_of(file_order()))
        assert view_of(app).port.is_whole
        assert line_of_cursor(app) == line


async def test_folds_and_the_selection_are_kept() -> None:
    async with filling() as (app, pilot):
        await pilot.press("w", "c", "v", "l", "l", "v")
        selection, folds = view_of(app).selection, view_of(app).folds
        assert selection is not None and list(folds.values()) == [Fold.ALL]
        assert app.document is not None
        title = app.document.lanes[next(iter(folds))].title
        earlier = on_clock(file_order(), -7_000_000)[:1]
        await know(app, pilot, part_of([*earlier, *file_order()]))
        view = view_of(app)
        assert view.selection == (selection[0] + 7_000_000, selection[1] + 7_000_000)
        (lane,) = view.folds
        assert app.document.lanes[lane].title == title and view.folds[lane] is Fold.ALL


async def test_undoing_leads_to_the_same_instants() -> None:
    async with filling() as (app, pilot):
        await pilot.press("w", "w")
        before = seen(app)
        await pilot.press("w", "d")
        earlier = on_clock(file_order(), -7_000_000)[:1]
        await know(app, pilot, part_of([*earlier, *file_order()]))
        await pilot.press("z", "z")
        assert seen(app) == before
        await pilot.press("Z")
        assert seen(app) != before


async def test_a_drag_goes_on_from_the_same_instant() -> None:
    async with filling() as (app, pilot):
        await pilot.press("w", "w")
        await pilot.mouse_down("#timeline", offset=(16 + 20, 1))
        origin = seen(app)[2]
        earlier = on_clock(file_order(), -7_000_000)[:1]
        await know(app, pilot, part_of([*earlier, *file_order()]))
        await pilot.hover("#timeline", offset=(16 + 50, 1))
        await pilot.mouse_up("#timeline", offset=(16 + 50, 1))
        await pilot.pause()
        selection = view_of(app).selection
        assert selection is not None and app.document is not None
        assert selection[0] + app.document.trace.origin_ns == origin


async def test_what_was_asked_of_an_earlier_state_is_not_done_to_this_one() -> None:
    async with filling() as (app, pilot):
        stale = view_of(app)
        await know(app, pilot, part_of(file_order()))
        now = view_of(app)
        app.post_message(Looked(stale.zoomed(4)))
        app.post_message(LaneFolded(0, stale.edition))
        await pilot.pause()
        assert view_of(app) == now


async def test_the_analysis_finds_the_view_where_the_whole_trace_left_it(
    analysis: Analysis,
) -> None:
    whole = replace(open_document(analysis.trace), extent=Extent.WHOLE)
    async with filling() as (app, pilot):
        await know(app, pilot, whole)
        await know(app, pilot, with_analysis(whole, analysis))
        assert view_of(app).device == 0 and app.document is not None
        assert view_of(app).cursor_ns > 0, "the cursor is on what matters most"


def stoppable(slices: list[Slice], after: int) -> Loader:
    """A loader of a file of 100 MB, of which so much is read when nobody waits any more."""

    def read(path: str, progress: Report) -> Trace:
        known = known_of(slices)
        progress(Progress((after - 2) * MEGA, 100 * MEGA, 480, lambda: known))
        loader.keep_part()
        progress(Progress(after * MEGA, 100 * MEGA, 500, lambda: known))
        raise AssertionError("reading went on")

    loader = ReadyLoader("runs/big.json", Options(), read)
    return loader


async def test_a_part_that_is_kept_says_so_and_has_no_verdict() -> None:
    app = WhichlayerApp(stoppable(file_order(), 41))
    async with app.run_test(size=LARGE) as pilot:
        await pilot.pause()
        assert app.document is not None and app.document.extent is Extent.KEPT_PART
        assert app.document.analysis is None
        # Panels that have nothing to say do not get more lines than they had while it was read.
        panels = app.query_one("#panels").outer_size.height
        assert panels == arrangement_for(*LARGE).panel_lines
        assert "GPU0 s7" in text_of(app, "timeline")[0]
        assert text_of(app, "verdict")[0].startswith(
            " PART  reading stopped at 41%: this is a part of the trace, so there is no verdict"
        )
        header = text_of(app, "header")[0]
        assert "◐ stopped" in header and "1 note" in header
        for panel in ("kernels", "gaps", "findings", "layers"):
            assert "only a part: no verdict" in "\n".join(text_of(app, panel)), panel
        for key in ("]", "[", "}", "{"):
            await pilot.press(key)
            assert text_of(app, "footer")[0].strip() == "a part of a trace: no gaps"
        await pilot.press("exclamation_mark")
        await pilot.pause()
        assert isinstance(app.screen, QualityScreen)
        assert "reading was stopped at 41%" in app.screen.text


@pytest.mark.parametrize("extent", [None, Extent.READING, Extent.WHOLE])
async def test_before_the_analysis_gaps_are_not_known_rather_than_none(
    extent: Extent | None,
) -> None:
    app = WhichlayerApp(ReadyLoader("a.json", Options(), no_reader))
    async with app.run_test(size=(120, 40)) as pilot:
        if extent is not None:
            await know(app, pilot, part_of(file_order(), extent))
        for key in ("]", "[", "}", "{"):
            app.say("")
            await pilot.press(key)
            assert text_of(app, "footer")[0].strip() == "gaps are not known yet", key


@pytest.mark.parametrize(
    ("size", "said"),
    [
        ((80, 24), "reading stopped at 41%: a part of the trace, no verdict "),
        ((40, 24), "reading stopped at 41%: a part o…"),
    ],
)
async def test_what_a_kept_part_says_is_never_cut_without_a_sign(
    size: tuple[int, int], said: str
) -> None:
    app = WhichlayerApp(stoppable(file_order(), 41))
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert text_of(app, "verdict")[0].startswith(f" PART  {said}")
        gaps = app.query_one("#gaps", Pane)
        for width in (14, 20, 40):
            gaps.styles.width = width
            app.bring_to_front("gaps")
            await pilot.pause()
            assert " ".join("\n".join(text_of(app, "gaps")).split()) == "only a part: no verdict"


async def test_escape_clears_first_and_stops_reading_only_then() -> None:
    kept: list[bool] = []

    class Kept(ReadyLoader):
        def keep_part(self) -> None:
            kept.append(True)

    app = WhichlayerApp(Kept("a.json", Options(), no_reader))
    async with app.run_test(size=(120, 40)) as pilot:
        await know(app, pilot, part_of(file_order()[:FIRST]))
        app.post_message(LoadProgressed(Loading(Stage.READING, 4, 10, 7, can_stop=True)))
        await pilot.pause()
        assert text_of(app, "footer")[0].startswith(" Esc stop reading")
        await pilot.press("v", "l", "l", "v")
        await pilot.press("escape")
        assert view_of(app).selection is None and not kept
        await pilot.press("tab", "escape")
        assert app.focused is app.query_one("#timeline") and not kept
        await pilot.press("escape")
        assert kept == [True]
        assert "what was read is kept" in text_of(app, "footer")[0]
        app.post_message(LoadProgressed(Loading(Stage.ANALYSING)))
        await pilot.pause()
        await pilot.press("l", "escape")
        assert kept == [True] and "Esc stop" not in text_of(app, "footer")[0]


async def test_a_pipe_that_is_still_filling_has_nothing_to_keep() -> None:
    app = WhichlayerApp(ReadyLoader("-", Options(), no_reader))
    async with app.run_test(size=(120, 40)) as pilot:
        app.post_message(LoadProgressed(Loading(Stage.RECEIVING, 4 * MEGA, rate=2e6)))
        await pilot.pause()
        assert "receiving" in text_of(app, "verdict")[0]
        assert "4.0 MB  2.00 MB/s" in text_of(app, "verdict")[0]
        await pilot.press("escape")
        assert "nothing can be kept yet" in text_of(app, "footer")[0]

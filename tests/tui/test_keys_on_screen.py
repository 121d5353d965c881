"""What each key does, on the recording of ``recording.py`` at 120x40."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio
from textual.command import CommandPalette
from textual.pilot import Pilot
from textual.widgets import OptionList

from tests.tui.recording import build_trace
from tests.tui.screen import screen_of, text_of, view_of
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui import travel
from whichlayer.tui.app import WhichlayerApp
from whichlayer.tui.colours import DARK, LIGHT, SAFE, SAFE_LIGHT
from whichlayer.tui.keys import current_keys
from whichlayer.tui.palette import HIT
from whichlayer.tui.sections import SECTIONS
from whichlayer.tui.view import View
from whichlayer.tui.widgets.footer import Footer
from whichlayer.tui.widgets.help_screen import HelpScreen
from whichlayer.tui.widgets.panel import Panel
from whichlayer.tui.widgets.timeline import Timeline

US = 1000
Screen = tuple[WhichlayerApp, Pilot[int]]


@pytest_asyncio.fixture
async def screen(trace: Trace, analysis: Analysis) -> AsyncIterator[Screen]:
    async with screen_of(trace, analysis) as both:
        yield both


async def press(screen: Screen, *keys: str) -> View:
    app, pilot = screen
    await pilot.press(*keys)
    await pilot.pause()
    return view_of(app)


def name_under_cursor(app: WhichlayerApp) -> str:
    assert app.document is not None
    view = view_of(app)
    row = travel.slice_at(app.document, travel.rows_of(app.document, view), view)
    return app.document.names.short(row) if row >= 0 else ""


async def put(screen: Screen, **changes: object) -> None:
    """Look at something else without a key."""
    app, pilot = screen
    app.look_at(replace(view_of(app), **changes), noted=False)  # type: ignore[arg-type]
    await pilot.pause()


async def test_zoom_in_keeps_the_cursor_in_its_column(screen: Screen) -> None:
    for key in ("w", "plus", "equals_sign"):
        before = view_of(screen[0])
        after = await press(screen, key)
        assert after.port.span_ns < before.port.span_ns
        assert after.cursor_ns == before.cursor_ns
        column = before.port.cell_of(before.cursor_ns)
        assert abs(after.port.cell_of(after.cursor_ns) - column) <= 1


async def test_zoom_out_undoes_zoom_in(screen: Screen) -> None:
    before = view_of(screen[0])
    after = await press(screen, "w", "w", "s", "minus")
    assert abs(after.port.span_ns - before.port.span_ns) <= 4


async def test_pan_moves_a_quarter_and_stops_at_the_ends(screen: Screen) -> None:
    await press(screen, "w", "w")
    middle = view_of(screen[0])
    later = await press(screen, "d")
    assert later.port.start_ns > middle.port.start_ns
    earlier = await press(screen, "a", "a", "a", "a", "a", "a")
    assert earlier.port.start_ns == 0


async def test_fit_shows_the_window_then_everything(screen: Screen) -> None:
    await press(screen, "w", "w", "w")
    home = await press(screen, "f")
    assert (home.port.start_ns, home.port.end_ns) == (0, 3_000_000)
    whole = await press(screen, "f")
    assert whole.port.is_whole


async def test_fit_thing_fits_the_gap_then_the_selection(screen: Screen) -> None:
    await put(screen, cursor_ns=650 * US)
    gap = await press(screen, "F")
    assert gap.port.span_ns == pytest.approx(125 * US, abs=2)
    await put(screen, selection=(1_000_000, 2_000_000))
    chosen = await press(screen, "F")
    assert chosen.port.start_ns < 1_000_000 and chosen.port.end_ns > 2_000_000


async def test_undo_and_redo_walk_the_spans(screen: Screen) -> None:
    first = view_of(screen[0]).port
    second = (await press(screen, "w")).port
    assert (await press(screen, "w", "z")).port == second
    assert (await press(screen, "z")).port == first
    assert (await press(screen, "Z")).port == second
    await press(screen, "z", "z")
    assert "no view before" in screen[0].query_one(Footer).said


async def test_cursor_keys_move_by_columns(screen: Screen) -> None:
    moves = {"l": 1, "right": 1, "h": -1, "left": -1, "L": 10, "shift+right": 10, "H": -10,
             "shift+left": -10}  # fmt: skip
    await put(screen, cursor_ns=1_500_000)
    for key, cells in moves.items():
        before = view_of(screen[0])
        after = await press(screen, key)
        column = before.port.cell_of(before.cursor_ns)
        assert after.port.cell_of(after.cursor_ns) == column + cells, key
        assert after.port == before.port


async def test_the_cursor_takes_the_span_along_at_its_edge(screen: Screen) -> None:
    await press(screen, "w", "w")
    view = view_of(screen[0])
    await put(screen, cursor_ns=view.port.centre(view.port.cells - 1))
    after = await press(screen, "l")
    assert after.port.start_ns > view.port.start_ns
    assert after.port.cell_of(after.cursor_ns) == after.port.cells - 1


async def test_home_and_end_go_to_the_ends(screen: Screen) -> None:
    assert (await press(screen, "end")).cursor_ns == 3_000_000
    assert (await press(screen, "home")).cursor_ns == 0


async def test_brackets_step_through_the_gaps_at_the_zoom_of_now(screen: Screen) -> None:
    before = await press(screen, "home")
    causes = []
    for _ in range(4):
        after = await press(screen, "right_square_bracket")
        assert after.port == before.port
        causes.append(text_of(screen[0], "region")[1].split(":")[0])
    assert causes == ["host-sync", "exposed-comm", "dataloader-wait", "host-sync"]
    back = await press(screen, "left_square_bracket")
    assert 1_000_000 <= back.cursor_ns < 1_300_000


@pytest.mark.parametrize(("span_us", "zooms"), [(50, True), (150, False), (3000, False)])
async def test_a_gap_is_zoomed_to_only_where_it_is_wider_than_the_view(
    screen: Screen, span_us: int, zooms: bool
) -> None:
    port = view_of(screen[0]).port
    await put(screen, port=port.to(0, span_us * US), cursor_ns=10 * US)
    after = await press(screen, "right_square_bracket")
    assert after.cursor_ns == 650 * US
    assert after.port.start_ns <= 600 * US and after.port.end_ns >= 700 * US
    assert after.port.span_ns == (300 if zooms else span_us) * US


async def test_a_gap_too_narrow_to_be_seen_gets_a_third_of_the_width(
    trace: Trace, analysis: Analysis
) -> None:
    gaps = analysis.gaps
    gaps.end_ns[1] = gaps.start_ns[1] + 4 * US
    async with screen_of(trace, analysis) as (app, pilot):
        await pilot.press("home", "right_square_bracket")
        await pilot.pause()
        assert view_of(app).cursor_ns == 602 * US
        assert view_of(app).port.span_ns == 12 * US


async def test_pieces_that_touch_are_one_stop_and_unowned_gaps_none(
    trace: Trace, analysis: Analysis
) -> None:
    gaps = analysis.gaps
    gaps.layer[1] = Layer.NONE  # 600–700 µs
    gaps.start_ns[4], gaps.end_ns[4] = 1_300 * US, 1_310 * US  # touches the piece before
    async with screen_of(trace, analysis) as (app, pilot):
        stops = []
        await pilot.press("home")
        for _ in range(3):
            await pilot.press("right_square_bracket")
            await pilot.pause()
            stops.append(view_of(app).cursor_ns // US)
        assert stops == [900, 1150, 1900]
        await pilot.press("left_square_bracket")
        await pilot.pause()
        region = text_of(app, "region")
        assert region[1].startswith("dataloader-wait") and "part of a gap of 310.0 µs" in " ".join(
            " ".join(region).split()
        )


async def test_braces_go_by_size(screen: Screen) -> None:
    largest = await press(screen, "right_curly_bracket")
    assert largest.cursor_ns == 150 * US
    second = await press(screen, "right_curly_bracket")
    assert second.cursor_ns == 1_150 * US
    third = await press(screen, "right_curly_bracket")
    assert third.cursor_ns == 2_150 * US
    assert await press(screen, "left_curly_bracket") == second
    assert await press(screen, "left_curly_bracket") == largest
    assert await press(screen, "left_curly_bracket") == largest
    assert "no larger gap" in screen[0].query_one(Footer).said
    assert await press(screen, "right_curly_bracket") == second


@pytest.mark.parametrize("keys", [["l"], ["right_square_bracket"], ["w"], ["j"], ["d"]])
async def test_after_any_other_movement_braces_begin_with_the_largest_gap(
    screen: Screen, keys: list[str]
) -> None:
    await press(screen, "right_curly_bracket", "right_curly_bracket", *keys)
    assert (await press(screen, "right_curly_bracket")).cursor_ns == 150 * US


async def test_braces_end_with_the_smallest_gap(screen: Screen) -> None:
    for rank in range(1, 10):
        last = await press(screen, "right_curly_bracket")
        assert screen[0].query_one(Footer).said == f"gap {rank} of 9 by time lost"
    assert await press(screen, "right_curly_bracket") == last
    assert "no smaller gap" in screen[0].query_one(Footer).said


async def test_no_gap_is_said(screen: Screen) -> None:
    await press(screen, "end", "right_square_bracket")
    assert "no later gap" in screen[0].query_one(Footer).said


async def test_dots_and_commas_step_through_the_row(screen: Screen) -> None:
    app = screen[0]
    await press(screen, "home", "full_stop")
    assert name_under_cursor(app).endswith("sgemm_128x64_tn")
    await press(screen, "full_stop")
    assert "add" in name_under_cursor(app)
    await press(screen, "comma")
    assert name_under_cursor(app).endswith("sgemm_128x64_tn")
    await press(screen, "comma")
    assert "no earlier slice" in app.query_one(Footer).said


async def test_angles_show_one_step_after_the_other(screen: Screen) -> None:
    await put(screen, cursor_ns=1_500_000)
    second = await press(screen, "greater_than_sign")
    low, high = second.port.start_ns, second.port.end_ns
    assert low <= 1_000_000 and high >= 1_850_000 and high - low < 1_200_000
    third = await press(screen, "greater_than_sign")
    assert third.port.start_ns > second.port.start_ns
    await press(screen, "greater_than_sign")
    assert "no later step" in screen[0].query_one(Footer).said
    again = await press(screen, "less_than_sign")
    assert again.port == second.port


async def test_to_the_next_step_the_cursor_never_goes_back(screen: Screen) -> None:
    await put(screen, cursor_ns=1_500_000)
    own = await press(screen, "greater_than_sign")
    assert own.port.start_ns <= 1_000_000 and own.port.end_ns >= 1_850_000
    assert own.cursor_ns == 1_500_000
    later = await press(screen, "greater_than_sign")
    assert later.cursor_ns > 1_900_000 > own.cursor_ns
    await put(screen, port=later.port.fitted(), cursor_ns=2_500_000)
    back = await press(screen, "less_than_sign")
    assert back.port == later.port and back.cursor_ns == later.cursor_ns


async def test_selecting_by_keyboard(screen: Screen) -> None:
    await put(screen, cursor_ns=1_500_000)
    begun = await press(screen, "v")
    assert begun.selection is None and begun.anchor_ns is not None
    ended = await press(screen, "L", "space")
    assert ended.selection is not None and ended.anchor_ns is None
    low, high = ended.selection
    assert high - low == ended.cursor_ns - begun.cursor_ns
    assert "selected on GPU0" in text_of(screen[0], "region")[0]
    assert (await press(screen, "escape")).selection is None


async def test_a_selection_made_of_nothing_is_none(screen: Screen) -> None:
    assert (await press(screen, "v", "v")).selection is None


async def test_row_keys_move_through_the_rows(screen: Screen) -> None:
    app = screen[0]
    assert app.document is not None and view_of(app).row == 0
    rows = travel.rows_of(app.document, view_of(app))
    firsts = [line for line, row in enumerate(rows) if not row.part]
    assert len(firsts) < len(rows), "some are several lines high"
    assert (await press(screen, "j", "down")).row == firsts[2]
    assert (await press(screen, "k")).row == firsts[1]
    assert (await press(screen, "up", "k", "up")).row == 0


async def test_pages_go_to_the_ends_of_few_rows(screen: Screen) -> None:
    app = screen[0]
    assert app.document is not None
    rows = len(travel.rows_of(app.document, view_of(app)))
    assert (await press(screen, "pagedown")).row == rows - 1
    assert (await press(screen, "pageup")).row == 0


async def test_folding_shows_one_some_and_all_rows(screen: Screen) -> None:
    app = screen[0]
    assert app.document is not None
    await press(screen, "j", "j")

    def rows() -> int:
        assert app.document is not None
        view = view_of(app)
        shown = travel.rows_of(app.document, view)
        return sum(row.lane == shown[view.row].lane for row in shown)

    usual = rows()
    await press(screen, "c")
    everything = rows()
    await press(screen, "c")
    line = rows()
    assert line == 1 and everything >= usual > 1
    await press(screen, "c")
    assert rows() == usual


async def test_enter_goes_from_a_kernel_to_its_launch_and_back(screen: Screen) -> None:
    app = screen[0]
    await press(screen, "home", "full_stop", "enter")
    assert name_under_cursor(app) == "cudaLaunchKernel"
    await press(screen, "enter")
    assert name_under_cursor(app).endswith("sgemm_128x64_tn")


async def test_enter_in_a_gap_goes_to_what_ended_it(screen: Screen) -> None:
    await put(screen, cursor_ns=650 * US)
    after = await press(screen, "enter")
    assert name_under_cursor(screen[0]) == "cudaLaunchKernel"
    assert 690 * US <= after.cursor_ns < 695 * US


async def test_tab_goes_round_timeline_and_panels(screen: Screen) -> None:
    app = screen[0]
    seen = []
    for _ in range(5):
        await press(screen, "tab")
        assert app.focused is not None
        seen.append(app.focused.id)
    assert seen == ["gaps", "findings", "kernels", "region", "timeline"]
    await press(screen, "shift+tab")
    assert app.focused is not None and app.focused.id == "region"


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)])
async def test_tab_goes_through_panels_in_the_order_of_their_titles(
    trace: Trace, analysis: Analysis, size: tuple[int, int]
) -> None:
    async with screen_of(trace, analysis, size) as (app, pilot):
        titled: list[str] = []
        for panel in sorted(app.query(Panel), key=lambda one: one.region.x):
            if panel.display:
                titled += panel.tabs
        seen = []
        for _ in titled:
            await pilot.press("tab")
            assert app.focused is not None
            seen.append(app.focused.id)
        assert seen == titled and len(titled) == 4


async def test_a_tabbed_panel_comes_to_the_front(screen: Screen) -> None:
    app = screen[0]
    assert app.query_one("#gaps").display and not app.query_one("#findings").display
    await press(screen, "tab", "tab")
    assert app.query_one("#findings").display and not app.query_one("#gaps").display


async def test_the_table_tells_why_and_enter_goes_to_the_longest_call(screen: Screen) -> None:
    app = screen[0]
    await press(screen, "tab", "tab", "tab")
    assert text_of(app, "region")[0].startswith("sgemm 128x64")
    await press(screen, "j")
    region = "\n".join(text_of(app, "region"))
    assert "memory-bound-slow" in region and "why of add" in region
    after = await press(screen, "enter")
    assert 700 * US <= after.cursor_ns < 850 * US
    await press(screen, "escape")
    assert app.focused is not None and app.focused.id == "timeline"


async def test_sorting_by_the_next_column(screen: Screen) -> None:
    app = screen[0]
    names = [line[:6] for line in text_of(app, "kernels")[1:4]]
    assert names == ["sgemm ", "add   ", "AllRed"]
    await press(screen, "t", "t", "t")
    assert text_of(app, "kernels")[1].startswith("add")
    assert "GB/s▾" in text_of(app, "kernels")[0]


async def test_findings_go_to_their_longest_region(screen: Screen) -> None:
    app = screen[0]
    await press(screen, "tab", "tab")
    assert "dataloader-wait" in "\n".join(text_of(app, "region"))
    after = await press(screen, "w", "w", "w", "w", "enter")
    assert 0 <= after.cursor_ns < 300 * US


async def test_what_is_odd_about_the_recording_comes_after_the_findings(screen: Screen) -> None:
    app = screen[0]
    await press(screen, "tab", "tab", "end")
    lines = text_of(app, "findings")
    odd = next(y for y, line in enumerate(lines) if line.startswith(" !  fewer than two steps"))
    assert lines[1].startswith(" R  dataloader-wa") and odd > 1
    assert not any(line.strip() for line in lines[odd + 1 :])
    assert "fewer than two steps" in "\n".join(text_of(app, "region"))
    before = view_of(app)
    assert await press(screen, "enter") == before


async def test_the_heatmap_has_a_cursor_that_enter_follows(screen: Screen) -> None:
    await press(screen, "tab", "down", "enter")
    after = view_of(screen[0])
    assert after.port.start_ns <= 1_000_000 and after.port.end_ns >= 1_900_000
    assert 950 * US <= after.cursor_ns < 1_300_000


async def test_themes_follow_one_another(screen: Screen) -> None:
    for name in (LIGHT.name, SAFE.name, SAFE_LIGHT.name, DARK.name):
        await press(screen, "T")
        assert screen[0].theme == name


async def test_help_lists_every_key_and_goes_away(screen: Screen) -> None:
    app, pilot = screen
    await press(screen, "question_mark")
    assert isinstance(app.screen, HelpScreen)
    sheet = app.screen.text
    for key in current_keys():
        assert key.does in sheet and key.shown in sheet
    await pilot.press("escape")
    await pilot.pause()
    assert not isinstance(app.screen, HelpScreen)


@pytest.mark.parametrize("key", ["colon", "ctrl+p"])
async def test_commands_open_by_name(screen: Screen, key: str) -> None:
    app, pilot = screen
    await pilot.press(key)
    await pilot.pause()
    assert isinstance(app.screen, CommandPalette)


async def test_commands_come_in_the_order_of_the_key_table(screen: Screen) -> None:
    app, pilot = screen
    await pilot.press("colon")
    await app.workers.wait_for_complete()
    await pilot.pause()
    options = app.screen.query_one(OptionList).options
    titles = [str(option.prompt).splitlines()[0].lower() for option in options]
    keys = [key.does.lower() for key in current_keys() if key.id != "commands"]
    assert titles == keys + [f"view: {one.title}".lower() for one in SECTIONS]


@pytest.mark.parametrize("before", [[], ["question_mark"], ["colon"]])
async def test_an_interrupt_ends_with_status_130(
    trace: Trace, analysis: Analysis, before: list[str]
) -> None:
    async with screen_of(trace, analysis) as (app, pilot):
        await pilot.press(*before, "ctrl+c")
        await pilot.pause()
    assert app.return_code == 130


async def test_quit_ends_with_status_zero(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis) as (app, pilot):
        await pilot.press("q")
        await pilot.pause()
    assert app.return_code == 0


async def test_steps_are_missed_politely(analysis: Analysis) -> None:
    bare = build_trace(steps=())
    async with screen_of(bare, replace(analysis, trace=bare, steps=None)) as (app, pilot):
        await pilot.press("greater_than_sign")
        await pilot.pause()
        assert "no later step" in app.query_one(Footer).said or "no steps" in (
            app.query_one(Footer).said
        )


async def test_the_heatmap_goes_through_steps_streams_and_devices(screen: Screen) -> None:
    app, _ = screen
    assert text_of(app, "gaps")[0].startswith("step 1")
    for label in ("stream ", "GPU", "step 1"):
        await press(screen, "R")
        assert text_of(app, "gaps")[0].startswith(label)


async def test_following_a_device_of_the_heatmap_shows_that_device(screen: Screen) -> None:
    app, _ = screen
    assert app.document is not None and app.document.analysis is not None
    window = app.document.analysis.window
    app.query_one("#gaps").focus()
    view = await press(screen, "R", "R", "enter")
    assert view.device == 0
    assert (view.port.start_ns, view.port.end_ns) == (window.start_ns, window.end_ns)


async def test_a_row_of_the_kernel_table_lights_its_calls(screen: Screen) -> None:
    app = screen[0]
    timeline = app.query_one(Timeline)
    lit = timeline.palette.timeline[HIT]

    def lit_names() -> list[str]:
        return [s.text.strip() for s in timeline.render_line(0) if s.style == lit]

    assert not lit_names()
    await press(screen, "tab", "tab", "tab")
    assert len(lit_names()) == 3 and all("ampere" in name for name in lit_names())
    await press(screen, "j")
    assert len(lit_names()) == 3 and all("add" in name for name in lit_names())
    await press(screen, "escape")
    assert not lit_names()


async def test_the_cursor_of_the_heatmap_drives_the_timeline(screen: Screen) -> None:
    before = await press(screen, "w", "w", "tab")
    after = await press(screen, "j", "home", "l")
    assert 0 <= after.cursor_ns < 1_000_000, "home is the first row"
    second = await press(screen, "j")
    assert 1_000_000 <= second.cursor_ns < 1_400_000 and second.port.shows(second.cursor_ns)
    assert second.port.span_ns == before.port.span_ns, "the zoom stays"
    right = await press(screen, *["l"] * 12)
    assert right.cursor_ns > second.cursor_ns

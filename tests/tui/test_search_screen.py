"""Searching and filtering by key and mouse, on the recording of ``recording.py`` at 120x40."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import pytest
import pytest_asyncio
from textual.pilot import Pilot

from tests.tui.recording import ADD, GEMM, STEPS
from tests.tui.screen import MEDIUM, app_of, text_of, view_of
from tests.tui.test_frame_bytes import written
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.app import WhichlayerApp
from whichlayer.tui.messages import DocumentOpened
from whichlayer.tui.widgets.footer import Footer
from whichlayer.tui.widgets.hits_line import HitsLine
from whichlayer.tui.widgets.list_sheet import ListSheet

US = 1000
Screen = tuple[WhichlayerApp, Pilot[int]]


def at_once(run: Callable[[], None]) -> None:
    run()


@pytest_asyncio.fixture
async def screen(trace: Trace, analysis: Analysis) -> AsyncIterator[Screen]:
    app = app_of(trace, analysis)
    app.find_start = at_once
    async with app.run_test(size=MEDIUM) as pilot:
        await pilot.pause()
        yield app, pilot


async def press(screen: Screen, *keys: str) -> None:
    await screen[1].press(*keys)
    await screen[1].pause()
    await screen[1].pause()


async def typed(screen: Screen, text: str, *keys: str) -> None:
    """Type a text key by key, then press other keys."""
    names = {" ": "space", "/": "slash", ":": "colon", ">": "greater_than_sign", "-": "minus",
             "[": "left_square_bracket", "(": "left_parenthesis", ")": "right_parenthesis",
             "+": "plus", "$": "dollar_sign", "&": "ampersand", '"': "quotation_mark"}  # fmt: skip
    await press(screen, *(names.get(c, c) for c in text), *keys)


def said(app: WhichlayerApp) -> str:
    return app.screen_stack[0].query_one(Footer).said


def prompt_line(app: WhichlayerApp) -> str:
    assert app.prompt is not None
    return app.prompt.render_line(0).text


def name_here(app: WhichlayerApp) -> str:
    from whichlayer.tui import travel

    assert app.document is not None
    view = view_of(app)
    return app.document.trace.name(
        travel.slice_at(app.document, travel.rows_of(app.document, view), view)
    )


async def test_the_prompt_explains_itself_and_counts_while_typing(screen: Screen) -> None:
    app = screen[0]
    await press(screen, "home", "slash")
    assert "/regex/" in prompt_line(app)
    assert not app.query_one(Footer).display
    await typed(screen, "sgemm")
    assert prompt_line(app).rstrip().endswith(f"1 of {STEPS}")
    assert view_of(app).cursor_ns == 0, "typing moves nothing"
    assert app.query_one(HitsLine).display


async def test_enter_goes_to_the_hit_and_n_goes_on_and_wraps(screen: Screen) -> None:
    app = screen[0]
    await press(screen, "home", "slash")
    await typed(screen, "sgemm", "enter")
    assert app.prompt is None and app.query_one(Footer).display
    assert app.focused is not None and app.focused.id == "timeline"
    starts = []
    for _ in range(STEPS):
        assert name_here(app) == GEMM
        starts.append(view_of(app).cursor_ns)
        await press(screen, "n")
    assert starts == [(1000 * step + 300) * US for step in range(STEPS)]
    assert view_of(app).cursor_ns == starts[0]
    assert said(app) == f"from the start: 1 of {STEPS} · ampere_sgemm_128x64_tn"
    await press(screen, "N")
    assert view_of(app).cursor_ns == starts[-1]
    assert said(app).startswith(f"from the end: {STEPS} of {STEPS}")


async def test_n_counts_from_where_the_cursor_was_moved_to(screen: Screen) -> None:
    app = screen[0]
    await press(screen, "slash")
    await typed(screen, "sgemm", "enter")
    await press(screen, "home", "n")
    assert view_of(app).cursor_ns == 300 * US
    await press(screen, "end", "N")
    assert view_of(app).cursor_ns == 2300 * US


async def test_python_frames_operators_and_lanes_are_found(screen: Screen) -> None:
    app = screen[0]
    for text, name in (
        ('python:"): train"', "train.py(42): train [bold]"),
        ("op: add", "aten::add"),
        ("lane:autograd", "cudaLaunchKernel"),
        (r"/^aten::(mm|none)$/", "aten::mm"),
        ("vectorized dur>100us", ADD),
        ("note: dataloader", "enumerate(DataLoader)#_Iter.__next__"),
    ):
        await press(screen, "home", "slash")
        await typed(screen, text, "enter")
        assert app.search is not None and app.search.text == text
        assert app.document is not None
        row = int(app.search.hits.rows[app.search.at])
        assert app.document.trace.name(row) == name


async def test_a_wrong_regex_is_one_line_and_nothing_moves(screen: Screen) -> None:
    app = screen[0]
    before = view_of(app)
    await press(screen, "slash")
    await typed(screen, "/[/")
    assert "not a regular expression: unterminated character set" in prompt_line(app)
    await press(screen, "enter")
    assert said(app).startswith("not a regular expression")
    assert view_of(app) == before and app.search is None


async def test_control_r_makes_a_regex_of_what_is_typed(screen: Screen) -> None:
    app = screen[0]
    await press(screen, "slash", "ctrl+r")
    await typed(screen, "mm$")
    assert app.prompt is not None and app.prompt.text == "/mm$/"
    await press(screen, "ctrl+r")
    assert app.prompt.text == "mm$"


async def test_what_is_not_there_is_said(screen: Screen) -> None:
    app = screen[0]
    await press(screen, "n")
    assert said(app) == "no search yet: / begins one"
    await press(screen, "i")
    assert said(app) == "no search yet: / begins one"
    await press(screen, "slash")
    await typed(screen, "zzz")
    assert "nothing found" in prompt_line(app)
    await press(screen, "enter")
    assert said(app) == "nothing found for zzz"
    await press(screen, "n")
    assert said(app) == "nothing found for zzz"


async def test_capitals_that_find_nothing_do_not_count_and_it_is_said(screen: Screen) -> None:
    app = screen[0]
    await press(screen, "slash")
    await typed(screen, "SGEMM")
    assert "ignoring case" in prompt_line(app)
    await press(screen, "enter")
    assert "ignoring case" in said(app) and app.search is not None and len(app.search.hits)


async def test_escape_and_backspace_leave_the_prompt_as_it_was_before(screen: Screen) -> None:
    app = screen[0]
    await press(screen, "slash")
    await typed(screen, "sgemm", "enter")
    search, before = app.search, view_of(app)
    for keys in (("a", "escape"), ("a", "backspace", "backspace"), ("a", "ctrl+c")):
        await press(screen, "slash", *keys)
        assert app.prompt is None and app.search is search and view_of(app) == before
        assert app.query_one(HitsLine).hits is not None
    await press(screen, "escape")
    assert app.search is None and not app.query_one(HitsLine).display


async def test_up_brings_back_what_was_typed(screen: Screen) -> None:
    app = screen[0]
    for text in ("sgemm", "aten"):
        await press(screen, "slash")
        await typed(screen, text, "enter")
    await press(screen, "slash", "q", "up")
    assert app.prompt is not None and app.prompt.text == "aten"
    await press(screen, "up")
    assert app.prompt.text == "sgemm"
    await press(screen, "down", "down")
    assert app.prompt.text == "q"


async def test_no_key_of_the_screen_acts_while_one_types(screen: Screen) -> None:
    app = screen[0]
    before = view_of(app)
    await press(screen, "slash")
    await typed(screen, "qwasd vm?z:", "tab")
    assert view_of(app) == before and app.return_code is None
    assert len(app.screen_stack) == 1


async def test_hits_are_marked_over_their_columns_and_lit_in_their_rows(screen: Screen) -> None:
    app = screen[0]
    await press(screen, "home")
    await press(screen, "slash")
    await typed(screen, "sgemm", "enter")
    line = text_of(app, "hits")[0]
    port = view_of(app).port
    assert line.startswith(" hits")
    for step in range(STEPS):
        assert line[16 + port.cell_of((1000 * step + 300) * US)] in "▾▼"
        assert line[16 + port.cell_of((1000 * step + 500) * US)] == "─"
        assert line[16 + port.cell_of((1000 * step + 800) * US)] == " "
    palette = app.panes[0].palette
    timeline = app.query_one("#timeline")
    strip = timeline.render_line(0)
    lit = [s for s in strip if s.style and s.style.bgcolor == palette.timeline[3].bgcolor]
    assert len(lit) >= STEPS - 1


async def test_the_list_groups_by_name_and_enter_goes_there(screen: Screen) -> None:
    app, pilot = screen
    await press(screen, "home", "slash")
    await typed(screen, "aten::", "tab")
    sheet = app.screen
    assert isinstance(sheet, ListSheet)
    assert [row[0] for row in sheet.rows.listed.rows] == ["aten::mm", "aten::add"]
    assert sheet.rows.listed.rows[0][2:4] == (f"{STEPS}", "54.00 µs")
    await press(screen, "down", "enter")
    assert len(app.screen_stack) == 1
    assert name_here(app) == "aten::add"
    assert view_of(app).cursor_ns == 685 * US
    await press(screen, "i")
    assert isinstance(app.screen, ListSheet)
    await pilot.click("#listed", offset=(4, 2), times=2)
    await pilot.pause()
    assert len(app.screen_stack) == 1 and name_here(app) == "aten::mm"
    await press(screen, "i", "escape")
    assert len(app.screen_stack) == 1


async def test_a_star_searches_for_what_is_under_the_cursor(screen: Screen) -> None:
    app = screen[0]
    await press(screen, "slash")
    await typed(screen, 'python:"): train"', "enter")
    await press(screen, "asterisk")
    assert app.search is not None
    assert app.search.text == '"train.py(42): train [bold]"'
    assert len(app.search.hits) == STEPS


async def test_a_filter_leaves_dots_and_only_its_kernels_and_says_so(screen: Screen) -> None:
    app = screen[0]
    await press(screen, "home", "ampersand")
    await typed(screen, "kernel: dur>200us")
    assert f"{STEPS} of" in prompt_line(app)
    await press(screen, "enter")
    assert "only kernel: dur>200us" in text_of(app, "header")[0]
    rows = text_of(app, "timeline")
    assert "·" in rows[0] and "ampere" in rows[0]
    assert all("train" not in row for row in rows)
    kernels = [line for line in text_of(app, "kernels")[1:] if line.strip()]
    assert len(kernels) == 1 and "sgemm" in kernels[0]
    await press(screen, "full_stop", "full_stop")
    assert view_of(app).cursor_ns // (1000 * US) == 1, "steps over what is held back"
    await press(screen, "x")
    assert "only" not in text_of(app, "header")[0]
    assert "·" not in text_of(app, "timeline")[0]
    assert len([line for line in text_of(app, "kernels")[1:] if line.strip()]) == 3
    await press(screen, "x")
    assert said(app).startswith("no filter is on")


async def test_a_filter_goes_and_comes_beside_a_search(screen: Screen) -> None:
    app = screen[0]
    await press(screen, "slash")
    await typed(screen, "cuda", "enter")
    assert app.query_one(HitsLine).display
    await press(screen, "ampersand")
    await typed(screen, "dur>20us", "enter")
    assert app.document is not None and app.document.filter is not None
    assert app.query_one(HitsLine).display, "half a query is wrong, and no end of the search"
    await press(screen, "x")
    assert app.document.filter is None and said(app) == "filter off"
    assert app.query_one(HitsLine).display


async def test_a_filter_that_nothing_passes_is_told(screen: Screen) -> None:
    app = screen[0]
    await press(screen, "ampersand")
    await typed(screen, "zzz", "enter")
    assert "the filter lets no kernel through" in text_of(app, "kernels")[1]
    await press(screen, "ampersand")
    assert app.prompt is not None and app.prompt.text == "zzz"
    await press(screen, "ctrl+u", "enter")
    assert app.document is not None and app.document.filter is None


async def test_a_filter_stays_when_more_is_known(screen: Screen) -> None:
    app, pilot = screen
    await press(screen, "ampersand")
    await typed(screen, "sgemm", "enter")
    assert app.document is not None and app.document.filter is not None
    from whichlayer.tui.document import open_document, with_analysis

    assert app.document.analysis is not None
    fresh = with_analysis(open_document(app.document.trace), app.document.analysis)
    app.post_message(DocumentOpened(fresh))
    await pilot.pause()
    assert app.document.filter is not None and app.document.filter.count == STEPS


@pytest.mark.usefixtures("shown_in_time")
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)])
async def test_a_hit_costs_few_bytes(
    trace: Trace, analysis: Analysis, size: tuple[int, int]
) -> None:
    app = written(trace, analysis)
    app.find_start = at_once
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        both = (app, pilot)
        await press(both, "home", "slash")
        await typed(both, "cudaLaunch", "enter")
        costs = []
        for _ in range(6):
            app.sent = 0
            await press(both, "n")
            costs.append(app.sent)
        assert 0 < max(costs) <= 4_000, costs

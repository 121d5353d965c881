"""The quality of the recording on the screen: how it is seen, asked for, and told in full."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tui.screen import LARGE, MEDIUM, SMALL, screen_of, text_of
from whichlayer.analysis.errors import Severity, TraceWarning
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.document import Extent, open_document, warnings_of
from whichlayer.tui.widgets.quality_screen import QualityScreen

HOSTILE = "odd \x1b[31m name [bold]"
READ = TraceWarning("damaged", HOSTILE, 312, 81_203_311)
LOST = TraceWarning("Q2", "kernels were lost", 7, severity=Severity.DOUBT)


@pytest.fixture
def odd_trace(trace: Trace) -> Trace:
    return replace(trace, warnings=(READ,))


@pytest.fixture
def odd(analysis: Analysis, odd_trace: Trace) -> Analysis:
    return replace(analysis, trace=odd_trace, warnings=(TraceWarning("Q5", "overlap"), LOST))


@pytest.mark.parametrize("size", [SMALL, MEDIUM, LARGE])
async def test_the_header_counts_the_notes_and_the_key_tells_all(
    odd_trace: Trace, odd: Analysis, size: tuple[int, int]
) -> None:
    async with screen_of(odd_trace, odd, size) as (app, pilot):
        assert "! 3 notes" in text_of(app, "header")[0]
        await pilot.press("exclamation_mark")
        sheet = app.screen
        assert isinstance(sheet, QualityScreen)
        told = [sheet.text.index(word) for word in ("damaged", "Q2 kernels", "Q5 activities")]
        assert told == sorted(told)
        assert "312 events, byte 81203311" in sheet.text
        assert "\x1b" not in sheet.text and "[bold]" in sheet.text
        assert "idle time is unreliable" in sheet.text
        await pilot.press("exclamation_mark")
        assert not isinstance(app.screen, QualityScreen)


@pytest.mark.parametrize("size", [SMALL, MEDIUM])
async def test_a_click_on_the_notes_opens_the_sheet_and_one_beside_it_closes_it(
    odd_trace: Trace, odd: Analysis, size: tuple[int, int]
) -> None:
    async with screen_of(odd_trace, odd, size) as (app, pilot):
        place = text_of(app, "header")[0].index("! 3 notes")
        await pilot.click("#header", offset=(place + 2, 0))
        assert isinstance(app.screen, QualityScreen)
        await pilot.click("#quality", offset=(5, 2))
        assert isinstance(app.screen, QualityScreen)
        await pilot.click(offset=(0, 0))
        assert not isinstance(app.screen, QualityScreen)


async def test_the_sheet_scrolls_to_its_end_on_a_small_screen(
    odd_trace: Trace, odd: Analysis
) -> None:
    async with screen_of(odd_trace, odd, SMALL) as (app, pilot):
        await pilot.press("exclamation_mark", "end")
        await pilot.pause()
        sheet = app.screen.query_one("#quality")
        assert sheet.max_scroll_y > 0 and sheet.scroll_target_y == sheet.max_scroll_y


async def test_a_recording_without_oddities_has_no_mark_and_says_so_when_asked(
    trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, replace(analysis, warnings=())) as (app, pilot):
        assert "!" not in text_of(app, "header")[0]
        await pilot.press("exclamation_mark")
        assert isinstance(app.screen, QualityScreen) and "Nothing is missing" in app.screen.text


async def test_a_doubted_verdict_carries_a_question_mark(trace: Trace, analysis: Analysis) -> None:
    verdict = replace(analysis.verdict, caveat="Caution: idle figures are unreliable [Q2].")
    async with screen_of(trace, replace(analysis, verdict=verdict)) as (app, _):
        assert text_of(app, "verdict")[0].startswith(" ABOVE CUDA? ")


def test_what_is_missing_so_far_is_no_note_while_reading(odd_trace: Trace) -> None:
    whole = open_document(odd_trace)
    assert warnings_of(whole) == (READ,)
    assert warnings_of(replace(whole, extent=Extent.READING)) == ()

"""Sheets, the editor, copying and the palette, on the recording of ``recording.py``."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio
from textual.pilot import Pilot
from textual.widgets import OptionList

from tests.tui.screen import MEDIUM, SMALL, ReadyLoader, text_of, view_of
from whichlayer.analysis.results import Analysis, Options
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui import copies
from whichlayer.tui.app import WhichlayerApp
from whichlayer.tui.at_hand import AtHand
from whichlayer.tui.sections import SECTIONS, Sections
from whichlayer.tui.source_lines import editor_command, find_source, lines_around
from whichlayer.tui.widgets.footer import Footer
from whichlayer.tui.widgets.list_sheet import ListSheet
from whichlayer.tui.widgets.text_sheet import TextSheet

Screen = tuple[WhichlayerApp, Pilot[int]]


def app_on(folder: Path, trace: Trace, analysis: Analysis) -> WhichlayerApp:
    return WhichlayerApp(
        ReadyLoader(
            str(folder / "step.json"), Options(), lambda p, progress: trace, lambda t, o: analysis
        )
    )


@pytest_asyncio.fixture
async def screen(
    trace: Trace, analysis: Analysis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Screen]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("EDITOR", "")
    monkeypatch.setenv("VISUAL", "")
    monkeypatch.setattr(
        "whichlayer.tui.at_hand.explain_gap",
        __import__("whichlayer.tui.describe", fromlist=["explain_gap"]).explain_gap,
    )
    app = app_on(tmp_path, trace, analysis)
    async with app.run_test(size=MEDIUM) as pilot:
        await pilot.pause()
        yield app, pilot


async def press(screen: Screen, *keys: str) -> None:
    await screen[1].press(*keys)
    await screen[1].pause()


def sheet_of(app: WhichlayerApp) -> str:
    assert isinstance(app.screen, TextSheet)
    return app.screen.text.plain


def said(app: WhichlayerApp) -> str:
    return app.query_one(Footer).said if len(app.screen_stack) == 1 else ""


def test_every_section_says_something(analysis: Analysis) -> None:
    sections = Sections(analysis)
    for one in SECTIONS:
        sheet = sections.sheet(one)
        assert any(line.text for line in sheet.lines[2:]), one.id
        assert sheet is sections.sheet(one)


async def test_views_open_from_a_list_and_lead_to_each_other(screen: Screen) -> None:
    app = screen[0]
    await press(screen, "A")
    assert isinstance(app.screen, ListSheet)
    await press(screen, *["j"] * 6, "enter")
    assert "How long are steps" in sheet_of(app)
    await press(screen, "right_square_bracket")
    assert "Is the host ahead" in sheet_of(app)
    await press(screen, "left_square_bracket", "left_square_bracket")
    assert "collectives and copies" in sheet_of(app)
    await press(screen, "escape")
    assert len(app.screen_stack) == 1


async def test_enter_in_a_view_goes_to_the_place_of_its_row(screen: Screen) -> None:
    app = screen[0]
    await press(screen, "A", *["j"] * 6, "enter", "tab", "tab", "enter")
    view = view_of(app)
    assert len(app.screen_stack) == 1
    assert view.port.start_ns <= view.cursor_ns and 1_000_000 <= view.cursor_ns <= 3_000_000


async def test_a_finding_is_told_in_full_and_leads_to_its_regions(screen: Screen) -> None:
    app = screen[0]
    await press(screen, "I")
    text = sheet_of(app)
    for part in ("waiting for the loader", "num_workers > 0", "train.py:42", "285 µs",
                 "rules.dataloader-wait", "Regions: 3", "not on this machine"):  # fmt: skip
        assert part in text, part
    await press(screen, "tab", "enter")
    assert len(app.screen_stack) == 1 and view_of(app).cursor_ns % 1_000_000 < 300_000


async def test_the_source_of_a_finding_is_shown_where_the_file_is_here(
    screen: Screen, tmp_path: Path
) -> None:
    lines = [f"line {number}" for number in range(1, 60)]
    lines[41] = "for batch in loader:\x1b[31m"
    (tmp_path / "train.py").write_text("\n".join(lines))
    await press(screen, "I")
    text = sheet_of(screen[0])
    assert "42 → for batch in loader:" in text and "\x1b" not in text
    assert "line 41" in text and "line 30" not in text


async def test_the_editor_opens_the_line_with_the_screen_handed_over(
    screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = screen[0]
    await press(screen, "tab", "tab", "number_sign")
    assert "not on this machine" in said(app)
    (tmp_path / "train.py").write_text("x\n" * 50)
    await press(screen, "number_sign")
    assert "$VISUAL or $EDITOR" in said(app)
    ran: list[list[str]] = []
    handed: list[bool] = []

    @contextlib.contextmanager
    def suspend() -> Iterator[None]:
        handed.append(True)
        yield
        handed.append(False)

    def run(command: list[str], check: bool) -> subprocess.CompletedProcess[bytes]:
        assert handed[-1]
        ran.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(app, "suspend", suspend)
    monkeypatch.setattr("whichlayer.tui.sheet_actions.subprocess.run", run)
    monkeypatch.setenv("EDITOR", "vi -R")
    await press(screen, "number_sign")
    assert ran == [["vi", "-R", "+42", str(tmp_path / "train.py")]]
    assert handed == [True, False] and "back from train.py:42" in said(app)
    await press(screen, "I", "number_sign")
    assert len(ran) == 2


def test_editors_that_want_a_colon_get_one(tmp_path: Path) -> None:
    path = tmp_path / "a b.py"
    assert editor_command(path, 3, {"VISUAL": "code --wait"}) == ["code", "--wait", "-g",
                                                                   f"{path}:3"]  # fmt: skip
    assert editor_command(path, 3, {"EDITOR": "'"}) == []
    assert editor_command(path, None, {"EDITOR": "vi"}) == ["vi", str(path)]
    assert editor_command(path, 1, {"VISUAL": "", "EDITOR": "nano"}) == ["nano", "+1", str(path)]


def test_sources_are_regular_files_alone(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("one\ntwo\n")
    (tmp_path / "folder.py").mkdir()
    trace = str(tmp_path / "t.json")
    found = find_source("train.py", trace, ())
    assert found == tmp_path / "train.py"
    assert find_source("folder.py", trace, ()) is None
    assert find_source("a\0b", trace, ()) is None and find_source("<string>", trace, ()) is None
    assert find_source("train.py", "-", (str(tmp_path),)) == tmp_path / "train.py"
    assert lines_around(tmp_path / "train.py", 2) == [(1, "one"), (2, "two")]
    assert lines_around(tmp_path / "train.py", 3) == []
    assert lines_around(tmp_path / "gone.py", 1) == []


async def test_what_is_chosen_is_copied(screen: Screen) -> None:
    app = screen[0]
    await press(screen, "tab", "tab", "Y")
    assert isinstance(app.screen, ListSheet)
    await press(screen, "enter")
    assert app.clipboard == "num_workers > 0" and "copied fix" in said(app)
    await press(screen, "Y", "end", "enter")
    assert "torch.profiler" in app.clipboard


def test_what_is_copied_is_bounded_and_whole_characters() -> None:
    assert copies.bounded("µ" * 60_000) == "µ" * 24_000
    assert [one.name for one in copies.things(AtHand("a"))][-1].startswith("profiler snippet")


async def test_owner_cause_and_numbers_at_the_cursor_are_explained(screen: Screen) -> None:
    app = screen[0]
    app.look_at(replace(view_of(app), cursor_ns=150_000, row=0))
    await press(screen, "at")
    text = sheet_of(app)
    assert "dataloader-wait" in text and "Owner" in text and "gap:" in text
    await press(screen, "escape")
    app.look_at(replace(view_of(app), cursor_ns=750_000, row=0))
    await press(screen, "at")
    assert "roof:" in sheet_of(app) and "queue depth:" in sheet_of(app)
    await press(screen, "escape")
    app.look_at(replace(view_of(app), cursor_ns=970_000, row=0))
    await press(screen, "at")
    assert "neither a slice nor a gap" in said(app)


@pytest.mark.parametrize(("typed", "expected"), [("AllReduce", 800_000), ("step 2", 1_000_000)])
async def test_the_palette_finds_kernels_and_steps_by_name(
    screen: Screen, typed: str, expected: int
) -> None:
    app, pilot = screen
    await press(screen, "colon", *("space" if c == " " else c for c in typed))
    await app.workers.wait_for_complete()
    await pilot.pause()
    await press(screen, "enter")
    await pilot.pause()
    assert view_of(app).cursor_ns % 3_000_000 >= expected


async def test_the_palette_finds_findings_and_opens_them(screen: Screen) -> None:
    app, pilot = screen
    await press(screen, "colon", *"dataloader")
    await app.workers.wait_for_complete()
    await pilot.pause()
    listed = [str(option.prompt) for option in app.screen.query_one(OptionList).options]
    assert any("finding ·" in text and "lost" in text for text in listed)
    await press(screen, "enter")
    await pilot.pause()
    text = sheet_of(app)
    assert "dataloader-wait" in text and "Regions" in text


async def test_sheets_fit_the_smallest_screen(
    trace: Trace, analysis: Analysis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    app = app_on(tmp_path, trace, analysis)
    async with app.run_test(size=SMALL) as pilot:
        await pilot.pause()
        for keys in (("I",), ("A", "enter"), ("at",)):
            await pilot.press(*keys)
            await pilot.pause()
            assert isinstance(app.screen, TextSheet), keys
            text = app.screen.text
            assert text.region.right <= 80 and text.region.bottom <= 24
            assert all(len(text.render_line(y).text) == text.size.width
                       for y in range(text.size.height))  # fmt: skip
            await pilot.press("end", "home", "pagedown", "escape")
            await pilot.pause()
        assert text_of(app, "region")

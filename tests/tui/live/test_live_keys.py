"""Each key of the live screen, and what moves it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from textual._compositor import LayoutUpdate
from textual.widgets import Static

from tests.tui.live.live_screen import (
    AtOnce,
    FakeFeed,
    arrives,
    happen,
    live_app,
    live_screen,
    shot,
    tells,
)
from tests.tui.screen import LARGE, MEDIUM, SMALL, text_of
from whichlayer.tui.live.model import LiveModel
from whichlayer.tui.live.output_pane import OutputScreen
from whichlayer.tui.live.quit_screen import Choice, QuitScreen
from whichlayer.tui.live.telemetry import Reading
from whichlayer.tui.widgets.footer import Footer
from whichlayer.tui.widgets.help_screen import HelpScreen
from whichlayer.tui.widgets.list_sheet import ListSheet


class Running:
    """A program under the screen that does nothing."""

    def __init__(self) -> None:
        self.status: int | None = None

    def start(self, output: object, rows: int, columns: int) -> None:
        self.size = rows, columns

    def resize(self, rows: int, columns: int) -> None:
        self.size = rows, columns


@pytest.mark.parametrize("size", [SMALL, MEDIUM, LARGE])
async def test_the_newest_window_is_shown_with_its_verdict_and_owner_in_the_strip(
    size: tuple[int, int],
) -> None:
    async with live_screen(arrives(1), arrives(2, "fixed"), size=size) as (app, _):
        assert app.model.chosen == 2 and app.model.following
        strip = text_of(app, "strip")
        assert "▲R" in strip[0] and "▸✓·" in strip[0] and "2 of 2" in strip[0]
        assert "HEALTHY" in text_of(app, "verdict")[0]
        assert text_of(app, "live")[0].startswith(" ● LIVE ")
        assert len(strip) == (1 if size == SMALL else 3)


@pytest.mark.parametrize("size", [SMALL, MEDIUM, LARGE])
async def test_who_arrives_is_told_until_one_is_chosen(size: tuple[int, int]) -> None:
    async with live_screen(arrives(1), size=size) as (app, pilot):
        assert "J:" not in text_of(app, "strip")[0] + text_of(app, "live")[0]
        await happen(app, pilot, arrives(2, "slow", "rank 1"))
        assert "1 of 1 · J: 2 ranks" in text_of(app, "strip")[0]
        assert "rank 1 has arrived, J: 2 ranks" in text_of(app, "live")[0]
        await happen(app, pilot, lambda model: model.choose_source("rank 1"))
        assert "rank 1, one of 2: J" in text_of(app, "live")[0]


async def test_step_times_and_busy_shares_stand_under_their_windows() -> None:
    async with live_screen(arrives(1), arrives(2, "fixed")) as (app, _):
        cells, step, busy = text_of(app, "strip")
        assert "1.000 ms a step" in step and "95.0 % busy" in busy
        for place in (cells.index("▲"), cells.index("✓")):
            assert step[place] in "▁▂▃▄▅▆▇█" and busy[place] in "▁▂▃▄▅▆▇█"
        assert busy[cells.index("▲")] < busy[cells.index("✓")]


async def test_before_the_first_window_the_screen_says_what_it_waits_for() -> None:
    async with live_screen() as (app, pilot):
        assert "waiting for the first window" in text_of(app, "verdict")[0]
        assert app.query_one("#output").display and not app.query_one("#timeline").display
        await happen(app, pilot, arrives(1))
        assert app.query_one("#timeline").display
        assert not app.query_one("#output").display


async def test_moving_pauses_following_and_one_key_returns_to_live() -> None:
    async with live_screen(arrives(1)) as (app, pilot):
        await pilot.press("w")
        assert "PAUSED FOLLOWING" in text_of(app, "live")[0]
        await happen(app, pilot, arrives(2, "fixed"))
        assert app.model.chosen == 1 and "1 newer" in text_of(app, "live")[0]
        zoomed = app.look
        await pilot.press("G")
        await pilot.pause()
        assert app.model.chosen == 2 and "● LIVE" in text_of(app, "live")[0]
        assert app.look is not None and zoomed is not None
        assert app.look.port.span_ns > zoomed.port.span_ns


async def test_an_older_window_is_chosen_by_key_and_by_click_and_stays() -> None:
    async with live_screen(arrives(1), arrives(2), arrives(3)) as (app, pilot):
        await pilot.press("(")
        assert app.model.chosen == 2 and not app.model.following
        await happen(app, pilot, arrives(4))
        assert app.model.chosen == 2
        await pilot.press(")")
        assert app.model.chosen == 3
        strip = app.query_one("#strip")
        column = text_of(app, "strip")[0].index("▲")
        await pilot.click("#strip", offset=(column, 0))
        await pilot.pause()
        assert app.model.chosen == 1 and strip.size.height == 3
        await pilot.press("(")
        assert "no older window" in app.query_one(Footer).said


async def test_another_window_keeps_the_place_that_the_user_looks_at() -> None:
    async with live_screen(arrives(1), arrives(2)) as (app, pilot):
        for key in ("w", "w", "w", "j", "l", "l"):
            await pilot.press(key)
        before = app.look
        await pilot.press("(")
        await pilot.pause()
        assert app.model.chosen == 1 and app.look is not None and before is not None
        assert (app.look.port, app.look.row) == (before.port, before.row)
        assert app.look.cursor_ns == before.cursor_ns


async def test_a_window_whose_file_is_gone_is_told_and_its_cell_stays() -> None:
    async with live_screen(arrives(1), arrives(2)) as (app, pilot):
        await happen(app, pilot, lambda model: model.remove([1]))
        assert text_of(app, "strip")[0].count("▲R") == 2
        await pilot.press("(")
        assert app.model.chosen == 2
        await pilot.click("#strip", offset=(text_of(app, "strip")[0].index("▲"), 0))
        assert "gone" in app.query_one(Footer).said


async def test_a_window_that_cannot_be_read_is_marked_and_the_one_before_stays() -> None:
    async with live_screen(arrives(1), arrives(2, "bad")) as (app, pilot):
        assert app.model.chosen == 1 and "! " in text_of(app, "strip")[0]
        assert "it is not JSON" in "".join(app.model.notes)
        await pilot.press(")")
        assert "it is not JSON" in app.query_one(Footer).said


async def test_record_now_and_pause_ask_the_recorder_of_the_rank_that_is_shown() -> None:
    feed = FakeFeed()
    async with live_screen(tells("rank 0"), arrives(1), app=live_app(feed)) as (app, pilot):
        await pilot.press("e", "p")
        assert feed.asked == ["record 0 of rank 0", "pause rank 0"]
        await pilot.press("E", "1", "2", "enter")
        assert feed.asked[-1] == "record 12 of rank 0"
        await pilot.press("E", "x", "enter")
        assert len(feed.asked) == 3 and "number of steps" in app.query_one(Footer).said


async def test_a_window_is_saved_under_a_name_that_can_be_typed(tmp_path: Path) -> None:
    source = tmp_path / "slow1.json.gz"
    source.write_bytes(b"what was recorded")
    taken = tmp_path / "taken"
    taken.write_text("mine")

    def comes(model: LiveModel) -> None:
        one = shot(1)
        model.add(type(one)(1, source, one.source, one.label, 17))

    async with live_screen(comes) as (app, pilot):
        for name, said in ((taken, "exists already"), (tmp_path / "kept.json.gz", "saved as")):
            await pilot.press("S")
            assert app.prompt is not None and app.prompt.text == "slow1.json.gz"
            await pilot.press("ctrl+u", *map(_key, str(name)), "enter")
            while "saving" in app.query_one(Footer).said:
                await pilot.pause()
            assert said in app.query_one(Footer).said
        assert (tmp_path / "kept.json.gz").read_bytes() == b"what was recorded"
        assert taken.read_text() == "mine"


def _key(character: str) -> str:
    from textual.keys import _character_to_key

    return _character_to_key(character)


async def test_a_rank_is_chosen_from_a_list_that_compares_them() -> None:
    changes = (
        tells("rank 10", step=7), tells("rank 2", step=5), arrives(1, "slow", "rank 2"),
        arrives(2, "fixed", "rank 10"),
    )  # fmt: skip
    async with live_screen(*changes) as (app, pilot):
        assert app.model.source == "rank 2" and app.model.chosen == 1
        await pilot.press("J")
        sheet = app.screen
        assert isinstance(sheet, ListSheet)
        rows = sheet.rows.listed.rows
        assert [row[0] for row in rows] == ["rank 2", "rank 10"]
        assert rows[0][1] == "▲ R" and rows[1][1] == "✓ ·"
        await pilot.press("j", "enter")
        await pilot.pause()
        assert app.model.source == "rank 10" and app.model.chosen == 2 and app.model.following


async def test_what_a_recorder_does_and_loses_is_on_the_line() -> None:
    told = tells(phase="recording", active=True, step=1234, step_us=(900, 1000, 1100), dropped=2)
    async with live_screen(arrives(1), told, size=LARGE) as (app, _):
        line = text_of(app, "live")[0]
        for words in ("◉ recording", "step 1,234", "1 ms", "! 2 dropped"):
            assert words in line.replace("1.000 ms", "1 ms")


async def test_without_a_program_quit_leaves_at_once() -> None:
    async with live_screen(arrives(1)) as (app, pilot):
        await pilot.press("q")
        assert app.return_code == 0 and app.choice is Choice.LEAVE


@pytest.mark.parametrize(
    ("keys", "choice"),
    [(("l",), Choice.LEAVE), (("s",), Choice.STOP), (("escape", "q", "s"), Choice.STOP)],
)
async def test_with_a_program_quit_asks_what_becomes_of_it(
    keys: tuple[str, ...], choice: Choice
) -> None:
    app = live_app()
    app.child = program = Running()  # type: ignore[assignment]
    async with live_screen(arrives(1), app=app) as (_, pilot):
        assert program.size == (MEDIUM[1] - 2, MEDIUM[0] - 2)
        await pilot.press("q")
        assert isinstance(app.screen, QuitScreen)
        assert "is still running" in str(app.screen.query_one("#question", Static).render())
        await pilot.press(*keys)
        assert app.return_code == 0 and app.choice is choice


@pytest.mark.parametrize(("line", "choice"), [(2, Choice.LEAVE), (3, Choice.STOP)])
async def test_the_answers_of_the_question_can_be_clicked(line: int, choice: Choice) -> None:
    app = live_app()
    app.child = Running()  # type: ignore[assignment]
    async with live_screen(arrives(1), app=app) as (_, pilot):
        for beside in (True, False):
            await pilot.press("q")
            assert isinstance(app.screen, QuitScreen)
            shown = app.screen.query_one("#question", Static).content_region
            text = str(app.screen.query_one("#question", Static).render()).split("\n")
            assert text[line].strip().startswith("l" if choice is Choice.LEAVE else "s")
            if beside:
                await pilot.click(offset=(1, 1))
                assert not isinstance(app.screen, QuitScreen) and app.return_code is None
            else:
                await pilot.click(offset=(shown.x + 4, shown.y + line))
        assert app.return_code == 0 and app.choice is choice


async def test_the_question_leaves_the_screen_behind_it_in_sight() -> None:
    app = live_app()
    app.child = Running()  # type: ignore[assignment]
    async with live_screen(arrives(1), app=app, size=LARGE) as (_, pilot):
        await pilot.press("q")
        await pilot.pause()
        update = app.screen._compositor.render_update(
            full=True, screen_stack=app._background_screens
        )
        assert isinstance(update, LayoutUpdate)
        text = "".join(
            segment.text for line in update.strips for strip in line for segment in strip
        )
        assert "is still running" in text and "GPU0 s7" in text and "HEALTHY" not in text


async def test_a_program_that_has_ended_is_live_no_more_and_cannot_be_recorded() -> None:
    app = live_app()
    app.child = program = Running()  # type: ignore[assignment]
    async with live_screen(tells(step=4), app=app) as (_, pilot):
        assert text_of(app, "strip")[0].rstrip().endswith("none yet")
        assert len(text_of(app, "strip")) == 1, "figures of no window take no room"
        assert "e record" in text_of(app, "footer")[0]
        program.status = 137
        app._renew()
        await pilot.pause()
        said = "the program has ended with status 137 (SIGKILL)"
        assert text_of(app, "live")[0].startswith(f" ■ ENDED  {said}")
        assert text_of(app, "live")[0].count(said) == 1
        assert f"{said}, and no window has come: q leaves" in text_of(app, "verdict")[0]
        assert text_of(app, "header")[0].rstrip().endswith("■ ended")
        assert "e record" not in text_of(app, "footer")[0]
        await pilot.press("q")
        assert app.return_code == 0, "there is nothing to ask"


@pytest.mark.parametrize(
    ("width", "shown"), [(80, "8 GPUs at 3–99 %"), (120, "+7 more at 3–99 %"), (200, "+6 more")]
)
async def test_what_gpus_do_is_told_in_as_much_detail_as_there_is_room(
    width: int, shown: str
) -> None:
    app = live_app()
    readings = [Reading(97, 61 << 30, 80 << 30, 350.0, 1410)] * 8
    readings[6:] = (replace(readings[0], busy_percent=share) for share in (3, 99))
    async with live_screen(tells(step=4), app=app, size=(width, 24)) as (_, pilot):
        app._telemetry.readings = tuple(readings)
        app._renewals = 0
        app._renew()
        await pilot.pause()
        assert shown in text_of(app, "live")[0]


async def test_the_output_is_shown_whole_and_scrolled() -> None:
    async with live_screen(arrives(1)) as (app, pilot):
        app.output.feed(b"".join(b"line %d\r\n" % number for number in range(200)))
        app.output.take()
        await pilot.press("O")
        assert isinstance(app.screen, OutputScreen)
        whole = app.screen.whole
        assert "line 199" in [whole.render_line(y).text for y in range(whole.size.height)][-1]
        await pilot.press("home")
        assert whole.render_line(0).text.startswith("line 0")
        await pilot.press("end", "O")
        assert not isinstance(app.screen, OutputScreen)


async def test_the_footer_and_the_help_name_the_keys_of_the_live_screen() -> None:
    async with live_screen(arrives(1)) as (app, pilot):
        assert "() window" in text_of(app, "footer")[0]
        await pilot.press("?")
        assert isinstance(app.screen, HelpScreen)
        assert "follow" in app.screen.text and "newest window" in app.screen.text


async def test_where_nothing_is_recorded_the_footer_names_no_key_for_it() -> None:
    feed = FakeFeed()
    feed.records = False
    async with live_screen(arrives(1), app=live_app(feed)) as (app, _):
        footer = text_of(app, "footer")[0]
        assert "G live" in footer and "record" not in footer and "pause" not in footer


async def test_a_window_that_was_let_go_is_analysed_again_when_it_is_chosen() -> None:
    async with live_screen(arrives(1), arrives(2)) as (app, pilot):
        app.feed.drop(1)
        analyst = app._windows_analyst
        assert isinstance(analyst, AtOnce)
        before = len(analyst.done)
        await pilot.press("(")
        await pilot.pause()
        assert analyst.done[before:] == [1] and app.model.chosen == 1
        assert app.document is app.feed.held(app.model.shots[1])


async def test_a_backlog_is_analysed_the_newest_first() -> None:
    app = live_app()
    analyst = app._windows_analyst
    assert isinstance(analyst, AtOnce)
    analyst.holds_back = True
    async with live_screen(arrives(1), arrives(2), arrives(3), app=app) as (_, pilot):
        analyst.holds_back = False
        await happen(app, pilot, lambda model: None)
        assert [*dict.fromkeys(analyst.done)] == [3, 2, 1] and app.model.chosen == 3

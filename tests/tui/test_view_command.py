"""What can be undone can be copied: the copied command opens the same screen."""

from __future__ import annotations

import os
import random
import shlex
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from textual.pilot import Pilot

from tests.tui.screen import MEDIUM, SMALL, ReadyLoader, text_of, view_of
from tests.tui.test_undo_screen import ACTS, KERNELS, at_once, picture, press, said, typed
from whichlayer.analysis.results import Analysis, Options
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.app import WhichlayerApp
from whichlayer.tui.arguments import Parser, UsageError, add_analysis_options
from whichlayer.tui.heat import ROWS
from whichlayer.tui.kernel_grouping import Grouping
from whichlayer.tui.lane_spec import LaneEntry, LaneName
from whichlayer.tui.slots import ColourBy
from whichlayer.tui.undo import Part
from whichlayer.tui.view_command import OPTIONS_OF, command_line
from whichlayer.tui.view_options import (
    COLOURS,
    GROUPINGS,
    HEAT_ROWS,
    PARTS,
    SORTS,
    add_view_options,
)
from whichlayer.tui.wanted import RowsFor, Wanted, wanted_of
from whichlayer.tui.widgets.kernel_table import COLUMNS

#: The user's own, or beside the recording.
NOT_OF_THE_VIEW = {Part.MARKS, Part.THEME, Part.LINES, Part.WIDTHS}

#: The part that each act changes.
PART_OF = {
    "filter by name": Part.FILTER, "filter by duration": Part.FILTER, "search": Part.SEARCH,
    "colours": Part.COLOURS, "sort": Part.TABLE, "group": Part.TABLE, "heatmap": Part.HEAT,
    "full": Part.FULL, "fold": Part.LANES, "hide": Part.LANES, "pin": Part.LANES,
    "order": Part.LANES, "taller": Part.LANES, "launch lanes": Part.QUEUE, "zoom": Part.PLACE,
    "mark": Part.SELECTION, "selection": Part.SELECTION,
}  # fmt: skip


def parsed(words: list[str]) -> Wanted:
    parser = Parser()
    add_view_options(parser)
    add_analysis_options(parser)
    return wanted_of(parser.parse_args(words))


def app_on(
    path: Path, trace: Trace, analysis: Analysis, wanted: Wanted | None = None
) -> WhichlayerApp:
    loader = ReadyLoader(str(path), Options(), lambda p, progress: trace, lambda t, o: analysis)
    app = WhichlayerApp(loader, wanted)
    app.find_start = at_once
    app.span_pause_s = 1000.0
    return app


async def copied(app: WhichlayerApp, pilot: Pilot[int]) -> list[str]:
    await press(pilot, "y")
    assert said(app).startswith("copied: whichlayer ")
    return shlex.split(app.clipboard)


async def opened_anew(
    words: list[str], trace: Trace, analysis: Analysis, size: tuple[int, int]
) -> tuple[dict[str | None, list[object]], str]:
    app = app_on(Path(words[1]), trace, analysis, parsed(words[2:]))
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await pilot.pause()
        await press(pilot, "y")
        return picture(app), app.clipboard


def test_every_part_that_can_be_undone_is_copied_or_the_users_own() -> None:
    assert set(OPTIONS_OF) | NOT_OF_THE_VIEW == set(Part)
    assert not set(OPTIONS_OF) & NOT_OF_THE_VIEW
    parser = Parser()
    add_view_options(parser)
    known = {option for action in parser._actions for option in action.option_strings}
    told = {option for options in OPTIONS_OF.values() for option in options}
    assert known - {"-h", "--help"} == told


def test_words_are_those_of_the_screen() -> None:
    assert list(COLOURS) == [by.name.lower() for by in ColourBy]
    assert list(GROUPINGS) == [by.name.lower() for by in Grouping]
    assert list(HEAT_ROWS) == [str(rows) for rows in ROWS]
    titles = ["time", "share", "calls", "GB/s", "%roof", "a call", "lost", "TF/s"]
    assert [column.title for column in COLUMNS] == titles
    assert len(SORTS) == len(COLUMNS)
    assert PARTS[0] == "timeline"


@pytest.mark.parametrize("name", PART_OF)
async def test_each_act_is_in_the_copied_command(
    name: str, trace: Trace, analysis: Analysis, tmp_path: Path
) -> None:
    before, keys, _ = ACTS[name]
    app = app_on(tmp_path / "a.json", trace, analysis)
    async with app.run_test(size=MEDIUM) as pilot:
        await pilot.pause()
        await press(pilot, *before)
        plain = await copied(app, pilot)
        assert plain[2::2] == ["--view", "--at", "--lane"]
        await press(pilot, *keys)
        words = await copied(app, pilot)
        seen = picture(app)
    changed = {word.partition("=")[0] for word in words} - set(plain)
    options = OPTIONS_OF[PART_OF[name]]
    assert changed & set(options) or parsed(words[2:]).view != parsed(plain[2:]).view
    assert await opened_anew(words, trace, analysis, MEDIUM) == (seen, shlex.join(words))


#: Acts without a panel in focus, any number of times in any order.
MOVES: list[tuple[str, ...]] = [
    ("w",), ("s",), ("a",), ("d",), ("j",), ("k",), ("j", "j", "j", "j"), ("l",), ("G",),
    ("greater_than_sign",), ("less_than_sign",), ("c",), ("X",), ("circumflex_accent",),
    ("shift+down",), ("shift+up",), ("8",), ("9",), ("0",), ("m",), ("v",), ("V",), ("W",), ("C",),
    ("b",), ("t",), ("R",), ("Q",), ("f",), ("right_square_bracket",),
    ("ampersand", "ctrl+u", *typed("gemm"), "enter"), ("x",), ("slash", *typed("add"), "enter"),
    ("ampersand", "ctrl+u", *typed("dur>100us"), "enter"), ("u",), ("U",),
]  # fmt: skip


@pytest.mark.parametrize("seed", range(24))
async def test_whatever_was_done_the_copied_command_opens_the_same_screen(
    seed: int, trace: Trace, analysis: Analysis, tmp_path: Path
) -> None:
    chance = random.Random(seed)
    size = chance.choice((SMALL, MEDIUM, (60, 20)))
    app = app_on(tmp_path / f"it's {seed} $HOME.json", trace, analysis)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        done = [chance.choice(MOVES) for _ in range(chance.randint(1, 14))]
        for keys in done:
            await press(pilot, *keys)
        words = await copied(app, pilot)
        seen = picture(app)
    assert await opened_anew(words, trace, analysis, size) == (seen, shlex.join(words)), done


async def test_a_view_is_opened_as_it_was_copied_whatever_was_left_since(
    trace: Trace, analysis: Analysis, tmp_path: Path
) -> None:
    path = tmp_path / "a.json"
    app = app_on(path, trace, analysis)
    async with app.run_test(size=MEDIUM) as pilot:
        await pilot.pause()
        words = await copied(app, pilot)
        await press(pilot, "X", "W")
    for more, hidden in ((parsed(words[2:]), 0), (Wanted(at=7), 1), (None, 1)):
        again = app_on(path, trace, analysis, more)
        async with again.run_test(size=MEDIUM) as pilot:
            await pilot.pause()
            await pilot.pause()
            assert len(view_of(again).order.hidden) == hidden
    # Looking at a copied view changes nothing of what was left.


async def test_what_is_not_there_is_told_and_the_rest_is_opened(
    trace: Trace, analysis: Analysis, tmp_path: Path
) -> None:
    wanted = parsed(
        ["--lanes", "no such,GPU0 s7", "--gpu", "9", "--sort", "calls", "--lane", "x/1"]
    )
    app = app_on(tmp_path / "a.json", trace, analysis, wanted)
    async with app.run_test(size=MEDIUM) as pilot:
        await pilot.pause()
        await pilot.pause()
        assert said(app) == "not as asked for: no lane no such · no lane x/1 · no GPU 9"
        assert len(view_of(app).order.listed(len(app.document.lanes if app.document else ()))) == 1
        assert app.kernel_table.look.sort_word == "calls"


async def test_the_lines_that_were_scrolled_off_are_off_again(
    trace: Trace, analysis: Analysis, tmp_path: Path
) -> None:
    app = app_on(tmp_path / "a.json", trace, analysis)
    async with app.run_test(size=(80, 16)) as pilot:
        await pilot.pause()
        await press(pilot, *"jjjjjjjjj", *"kk")
        words = await copied(app, pilot)
        seen = picture(app)
        shown = text_of(app, "timeline")
    assert "--top" in words
    again = app_on(tmp_path / "a.json", trace, analysis, parsed(words[2:]))
    async with again.run_test(size=(80, 16)) as pilot:
        await pilot.pause()
        await pilot.pause()
        assert text_of(again, "timeline") == shown
        assert picture(again) == seen


SPANS = st.tuples(st.integers(0, 10**12), st.integers(1, 10**12)).map(lambda p: (p[0], p[0] + p[1]))
NAMES = st.builds(LaneName, st.text(max_size=8).map(str.strip).filter(bool), st.integers(1, 9))
ENTRIES = st.builds(
    LaneEntry, NAMES, st.just(False), st.booleans(), st.integers(0, 999),
    st.sampled_from(("", "one", "all")),
)  # fmt: skip
QUERIES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12).map(
    lambda text: f'"{text.replace(chr(34), "")}x"'
)
WANTED = st.builds(
    Wanted,
    view=st.none() | SPANS, at=st.none() | st.integers(0, 10**12), select=st.none() | SPANS,
    lane=st.none() | st.text(min_size=1, max_size=8), mark=st.none() | st.integers(0, 10**12),
    gpu=st.none() | st.integers(0, 99), filter=st.just("") | QUERIES, find=st.just("") | QUERIES,
    colour_by=st.sampled_from(("", *COLOURS)), clock=st.booleans(),
    lanes=st.lists(ENTRIES, max_size=4).map(tuple), queue=st.booleans(),
    group_by=st.sampled_from(("", *GROUPINGS)), sort=st.sampled_from(("", *SORTS)),
    heat_rows=st.sampled_from(("", *HEAT_ROWS)), only=st.sampled_from(("", *PARTS)),
    rows_for=st.none() | st.builds(
        RowsFor, SPANS, st.lists(st.tuples(NAMES, st.integers(1, 99)), max_size=2).map(tuple)
    ),
    top=st.none() | st.integers(0, 99),
)  # fmt: skip


def shell_split(line: str) -> list[str]:
    """The words of a line, as a shell reads them."""
    if "$'" not in line:
        return shlex.split(line)
    bash = shutil.which("bash")
    assume(bash is not None)
    told = subprocess.run(
        [str(bash), "-c", f"printf '%s\\0' {line}"], capture_output=True, check=True,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
    )  # fmt: skip
    return [os.fsdecode(word) for word in told.stdout.split(b"\0")[:-1]]


@given(WANTED, st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12))
def test_a_command_line_is_read_back_by_a_shell_as_it_was_written(
    wanted: Wanted, path: str
) -> None:
    line = command_line(path, Options(), wanted)
    assume("\\x00" not in line)  # no program can be given that
    words = shell_split(line)
    assert words[:2] == ["whichlayer", f"./{path}" if path.startswith("-") else path]
    assert parsed(words[2:]) == wanted


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (["--filter", "dur>soon"], "'soon' is not a time"),
        (["--filter", "/(/"], "unterminated subpattern"),
        (["--find", " "], "asks for nothing"),
        (["--lanes", "a,,b"], "a lane is left out between two commas"),
        (["--lanes", "a=many"], "rows are a number up to 999, one or all"),
        (["--colour-by", "mood"], "invalid choice: 'mood'"),
        (["--rows-for", "1ms:2ms,a"], "write LANE=ROWS"),
        (["--only", "header"], "invalid choice"),
    ],
)
def test_what_cannot_be_asked_for_is_told_in_one_line(words: list[str], wrong: str) -> None:
    with pytest.raises(UsageError) as error:
        parsed(words)
    assert wrong in str(error.value) and "\n" not in str(error.value)


async def test_a_search_and_a_panel_in_full_are_opened(
    trace: Trace, analysis: Analysis, tmp_path: Path
) -> None:
    app = app_on(tmp_path / "a.json", trace, analysis)
    async with app.run_test(size=MEDIUM) as pilot:
        await pilot.pause()
        app.look_at(replace(view_of(app), cursor_ns=750_000), noted=False)
        await press(pilot, "slash", *typed("gemm"), "enter")
        await press(pilot, *KERNELS, "vertical_line")
        words = await copied(app, pilot)
    assert ["--find", "gemm"] == words[words.index("--find") :][:2]
    assert ["--only", "kernels"] == words[words.index("--only") :][:2]
    again = app_on(tmp_path / "a.json", trace, analysis, parsed(words[2:]))
    async with again.run_test(size=MEDIUM) as pilot:
        await pilot.pause()
        await pilot.pause()
        assert again.only == "kernels" and again.search is not None and again.search.text == "gemm"

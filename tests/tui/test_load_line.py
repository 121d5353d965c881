"""The figures of loading: right, few, and on one line however narrow it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from whichlayer.analysis.reader.progress import Progress
from whichlayer.tui.colours import DARK
from whichlayer.tui.loading import Loading, Pace, Stage
from whichlayer.tui.palette import Palette
from whichlayer.tui.widgets.load_line import load_line, short_state

MEGA = 10**6
PALETTE = Palette(DARK)


class Time:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 50.0

    def __call__(self) -> float:
        return self.now


def read_at(rates: list[float], total_mb: int, every_s: float = 0.25) -> list[Loading]:
    """What is told of a file read at so many MB/s, one rate for each report."""
    clock = Time()
    pace = Pace(clock)
    told: list[Loading] = []
    done = 0.0
    for rate in rates:
        clock.now += every_s
        done += rate * every_s
        loading = pace.report(Progress(round(done * MEGA), total_mb * MEGA, round(done) * 100))
        if loading is not None:
            told.append(loading)
    return told


def text_of_line(loading: Loading, width: int) -> str:
    return "".join(text for text, _ in load_line(loading, width, PALETTE))


def test_a_steady_rate_gives_the_time_that_is_left() -> None:
    told = read_at([40.0] * 16, 1000)
    assert told[-1].rate == pytest.approx(40 * MEGA)
    assert told[-1].left_s == pytest.approx((1000 - 160) / 40)
    assert told[-1].share == pytest.approx(0.16)


def test_no_time_is_promised_before_it_is_steady() -> None:
    assert all(loading.left_s is None for loading in read_at([40.0] * 3, 1000))
    wild = [90.0, 1.0, 1.0, 1.0, 1.0, 1.0, 90.0, 90.0]
    assert all(loading.left_s is None for loading in read_at(wild, 1000))


def test_the_rate_is_that_of_the_last_seconds() -> None:
    told = read_at([10.0] * 20 + [80.0] * 13, 10_000)
    assert told[-1].rate == pytest.approx(80 * MEGA, rel=0.05)


def test_reports_that_come_too_fast_are_dropped() -> None:
    assert len(read_at([40.0] * 100, 1000, every_s=0.01)) == 4


def test_without_a_total_there_is_no_share_and_no_end() -> None:
    last = read_at([40.0] * 16, 0)[-1]
    assert (last.stage, last.share, last.left_s) == (Stage.RECEIVING, None, None)
    assert last.rate == pytest.approx(40 * MEGA)


def test_what_was_received_is_read_at_a_rate_of_its_own() -> None:
    clock = Time()
    pace = Pace(clock)
    for second in range(1, 9):
        clock.now += 1
        pace.report(Progress(second * 10 * MEGA, 0, 0))
    told: list[Loading | None] = []
    for tenth in range(1, 11):
        clock.now += 0.1
        told.append(pace.report(Progress(tenth * 8 * MEGA, 80 * MEGA, 9)))
    assert told[0] is not None and told[0].stage is Stage.READING and told[0].rate is None
    last = told[-1] if told[-1] is not None else told[-2]
    assert last is not None and last.rate == pytest.approx(80 * MEGA, rel=0.15)


def test_behind_the_last_byte_events_are_put_in_order() -> None:
    last = read_at([40.0] * 8, 80)[-1]
    assert last.stage is Stage.SORTING
    assert "putting events in order" in text_of_line(last, 80)


FULL = Loading(Stage.READING, 104 * MEGA, 252 * MEGA, 331_204, 62.3e6, 2.4, can_stop=True)


@pytest.mark.parametrize(
    ("width", "figures"),
    [
        (200, "  41%  104 of 252 MB  62.3 MB/s  2 s left  331 204 events"),
        (80, "  41%  104 of 252 MB  62.3 MB/s  2 s left  331 204 events"),
        (70, "  41%  104 of 252 MB  62.3 MB/s  2 s left"),
        (55, "  41%  104 of 252 MB  2 s left"),
        (44, "  41%  2 s left"),
        (30, "  41%"),
    ],
)
def test_figures_that_say_least_go_first(width: int, figures: str) -> None:
    line = text_of_line(FULL, width)
    assert line.startswith(" reading █") and line.endswith(figures)


@pytest.mark.parametrize(
    ("read", "total", "text"),
    [
        (300_000, 2_000_000, "0.3 of 2.0 MB"),
        (104_400_000, 252_000_000, "104 of 252 MB"),
        (1_240_000_000, 3_300_000_000, "1.24 of 3.30 GB"),
    ],
)
def test_amounts_have_one_unit(read: int, total: int, text: str) -> None:
    assert text in text_of_line(Loading(Stage.READING, read, total, 1), 120)


@pytest.mark.parametrize(("seconds", "text"), [(0.2, "1 s"), (99.2, "99 s"), (130, "2 min")])
def test_time_left_is_told_in_whole_units(seconds: float, text: str) -> None:
    assert f"  {text} left" in text_of_line(Loading(Stage.READING, 1, 9, 1, 5e6, seconds), 120)


LOADINGS = st.builds(
    Loading,
    st.sampled_from(Stage),
    st.integers(0, 10**13),
    st.just(0) | st.integers(1, 10**13),
    st.integers(0, 10**10),
    st.none() | st.floats(0, 1e12),
    st.none() | st.floats(0, 1e9),
)


@given(LOADINGS, st.integers(27, 250))
def test_the_line_is_never_longer_than_it_may_be(loading: Loading, width: int) -> None:
    assert cell_len(text_of_line(loading, width)) <= width


@given(st.integers(0, 1000), st.integers(24, 250))
def test_the_bar_is_as_long_as_the_share(thousandths: int, width: int) -> None:
    pieces = load_line(Loading(Stage.READING, thousandths, 1000, 1), width, PALETTE)
    done, rest = pieces[1][0], pieces[2][0]
    cells = cell_len(done) + cell_len(rest)
    eighths = 8 * done.count("█") + (" ▏▎▍▌▋▊▉".find(done[-1]) if done[-1:] not in "█" else 0)
    assert abs(eighths / (8 * cells) - thousandths / 1000) <= 1 / (8 * cells)


@pytest.mark.parametrize(
    ("stage", "width", "seconds", "text"),
    [
        (Stage.ANALYSING, 80, 0, " analysing …  331 204 events"),
        (Stage.ANALYSING, 80, 9, " analysing … 9 s  331 204 events"),
        (Stage.ANALYSING, 80, 125, " analysing … 2 min 5 s  331 204 events"),
        (Stage.ANALYSING, 31, 9, " analysing … 9 s"),
        (Stage.ANALYSING, 16, 9, " analysing … 9 s"),
        (Stage.ANALYSING, 15, 9, " analysing …"),
        (Stage.SORTING, 80, 61, " putting events in order … 1 min 1 s  331 204 events"),
        (Stage.OPENING, 80, 9, " opening …  331 204 events"),
    ],
)
def test_what_stands_still_tells_its_seconds(
    stage: Stage, width: int, seconds: int, text: str
) -> None:
    pieces = load_line(Loading(stage, events=331_204), width, PALETTE, seconds)
    assert "".join(piece for piece, _ in pieces) == text


@pytest.mark.parametrize(
    ("loading", "text"),
    [
        (Loading(), "○ opening … "),
        (Loading(Stage.RECEIVING, 5), "○ receiving … "),
        (FULL, "○ reading 41% "),
        (Loading(Stage.ANALYSING), "○ analysing … "),
        (Loading(Stage.READY), "● ready "),
        (Loading(Stage.STOPPED, 1, 2), "◐ stopped "),
    ],
)
def test_the_header_says_it_in_a_word(loading: Loading, text: str) -> None:
    assert short_state(loading) == text

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import Gaps
from whichlayer.tui.heat import DeviceGaps
from whichlayer.tui.keys import KEYS
from whichlayer.tui.whole_gaps import LEAST_SHARE, WholeGaps
from whichlayer.tui.widgets.heatmap import Heatmap

Piece = tuple[int, int, Layer]


def table_of(pieces: list[Piece]) -> Gaps:
    none = np.full(len(pieces), -1, np.int32)
    flat = np.zeros(len(pieces), np.uint8)
    return Gaps(
        np.array([p[0] for p in pieces], np.int64), np.array([p[1] for p in pieces], np.int64),
        np.zeros(len(pieces), np.int32), flat, none,
        np.array([p[2] for p in pieces], np.uint8), none, none, none, ("host-sync",),
    )  # fmt: skip


def whole(pieces: list[Piece], window_ns: int = 0) -> WholeGaps:
    table = table_of(pieces)
    return WholeGaps(table, DeviceGaps(table, 0), window_ns)


P, R, NONE = Layer.PYTORCH, Layer.RUNTIME, Layer.NONE


def test_pieces_that_touch_are_one_gap_told_by_its_longest_owned_piece() -> None:
    gaps = whole([(0, 10, P), (10, 40, R), (40, 90, NONE), (95, 99, P)])
    assert gaps.start_ns.tolist() == [0, 95] and gaps.end_ns.tolist() == [90, 99]
    assert gaps.piece.tolist() == [1, 3]
    assert gaps.owned_ns.tolist() == [40, 4]


def test_what_nobody_owns_is_no_gap() -> None:
    gaps = whole([(0, 50, NONE), (50, 60, NONE), (70, 80, P), (90, 99, NONE)])
    assert (gaps.start_ns.tolist(), gaps.piece.tolist()) == ([70], [2])
    assert len(whole([(0, 50, NONE)])) == len(whole([])) == 0


def test_the_largest_is_the_one_that_is_owned_the_longest() -> None:
    gaps = whole([(0, 9, P), (20, 90, NONE), (90, 95, P), (100, 120, R)])
    assert gaps.by_size.tolist() == [2, 0, 1]


def test_gaps_of_less_than_a_thousandth_are_stepped_over_while_larger_ones_are_left() -> None:
    small, window = 999, 1_000_000
    gaps = whole(
        [(0, small, P), (2000, 2000 + 1000, P), (5000, 5000 + small, P), (9000, 9999, P)], window
    )
    assert gaps.after(-1) == 1
    assert gaps.after(2500) == 2, "nothing larger is left"
    assert gaps.before(9000) == 1
    assert gaps.before(2000) == 0, "nothing larger is left"
    assert gaps.after(9000) == gaps.before(998) == -1
    assert small < window * LEAST_SHARE


def test_pieces_of_other_devices_are_not_joined() -> None:
    table = table_of([(0, 10, P), (10, 20, P)])
    table.device[1] = 1
    gaps = WholeGaps(table, DeviceGaps(table, 1), 0)
    assert (gaps.start_ns.tolist(), gaps.end_ns.tolist(), gaps.piece.tolist()) == ([10], [20], [0])


@st.composite
def tables(draw: st.DrawFn) -> list[Piece]:
    """Pieces in order, many of which touch."""
    steps = st.tuples(st.sampled_from((0, 0, 3)), st.integers(1, 9), st.sampled_from((P, R, NONE)))
    time, pieces = 0, []
    for space, length, layer in draw(st.lists(steps, max_size=30)):
        pieces.append((time + space, time + space + length, layer))
        time += space + length
    return pieces


@given(tables())
def test_every_owned_piece_is_in_one_gap_and_no_two_gaps_touch(pieces: list[Piece]) -> None:
    gaps = whole(pieces)
    for start, end, layer in pieces:
        inside = (gaps.start_ns <= start) & (end <= gaps.end_ns)
        assert inside.sum() == (layer != NONE) or layer == NONE
    assert (gaps.start_ns[1:] > gaps.end_ns[:-1]).all()
    assert gaps.owned_ns.sum() == sum(end - start for start, end, layer in pieces if layer != NONE)
    for place, piece in enumerate(gaps.piece.tolist()):
        start, end, layer = pieces[piece]
        mine = [e - s for s, e, k in pieces if k != NONE
                and gaps.start_ns[place] <= s < gaps.end_ns[place]]  # fmt: skip
        assert layer != NONE and end - start == max(mine)


@given(tables(), st.integers(1, 10_000))
def test_stepping_forth_visits_every_large_gap_once_in_order(
    pieces: list[Piece], window_ns: int
) -> None:
    gaps = whole(pieces, window_ns)
    seen, time = [], -1
    while (place := gaps.after(time)) >= 0:
        seen.append(place)
        time = int(gaps.start_ns[place])
        assert gaps.at(time) == place
    assert seen == sorted(set(seen))
    assert set(np.flatnonzero(gaps.owned_ns >= window_ns * LEAST_SHARE).tolist()) <= set(seen)


@pytest.mark.parametrize("time", [-1, 10, 11, 20])
def test_no_gap_covers_an_instant_beside_it(time: int) -> None:
    assert whole([(0, 10, P), (12, 20, P)]).at(time) == -1


def test_a_longer_gap_that_less_is_lost_in_comes_after() -> None:
    gaps = whole([(0, 84, P), (100, 157, R), (157, 420, NONE)])
    assert (gaps.end_ns - gaps.start_ns).tolist() == [84, 320]
    assert gaps.owned_ns.tolist() == [84, 57]
    assert gaps.by_size.tolist() == [0, 1], "by what is lost, as the footer says"


def test_the_help_says_which_gaps_are_stepped_over() -> None:
    share = f"{LEAST_SHARE * 100:g} %"
    does = {key.id: key.does for key in KEYS}
    for key in ("next-gap", "previous-gap"):
        assert f"{share} " in does[key] and "else any" in does[key]
    assert f"less than {share} of the window" in Heatmap.HELP

"""What is typed to go somewhere."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tui.recording import build_trace
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui import go_to
from whichlayer.tui.go_to import WrongPlace, place_of, wall_clock_text
from whichlayer.tui.ruler import axis_of, clock_axis
from whichlayer.tui.viewport import Viewport

LIMITS = (0, 3_000_000)
#: 2026-02-28 23:59:59.999 UTC.
BASE = 1_772_323_199_999_000_000


@pytest.fixture
def clocked() -> Trace:
    return build_trace(base_ns=BASE)


def place(text: str, trace: Trace, cursor: int = 1_000_000) -> int | tuple[int, int]:
    return place_of(text, trace, trace.steps, cursor, LIMITS)


def test_the_examples_hold() -> None:
    result = doctest.testmod(go_to)
    assert result.attempted and not result.failed


@pytest.mark.parametrize(
    ("text", "at"),
    [("1.5ms", 1_500_000), ("20", 20_000), ("7 ns", 7), ("+100us", 1_100_000),
     ("-1ms", 0), ("- 0.5 ms", 500_000), ("50%", 1_500_000), ("start", 0), ("END", 2_999_999),
     ("step 2", (1_000_000, 1_990_000)), ("step#3", (2_000_000, 2_990_000)),
     ("S1", (0, 990_000)), ("#2", (1_000_000, 1_990_000)), ("ProfilerStep#3", (2_000_000, 2_990_000)),
     ("1 995.5 µs", 1_995_500), ("2\u202f000us", 2_000_000), ("1_000", 1_000_000),
     ("1ms 20us", 1_020_000), ("+ 1us 5 ns", 1_001_005), ("-0.9ms 100us", 0),
     ("0.5ms:2ms", (500_000, 2_000_000)), ("100:250.5", (100_000, 250_500)),
     ("1ms .. 2 ms", (1_000_000, 2_000_000)), ("start:-1us", (0, 999_000)),
     ("#1:#2", (0, 1_990_000)), ("step 2..2.5ms", (1_000_000, 2_500_000)), ("100%", 2_999_999),
     ("50%:100%", (1_500_000, 2_999_999)), ("0.5ms:#1", (500_000, 990_000))],
)  # fmt: skip
def test_places_that_can_be_gone_to(text: str, at: int | tuple[int, int], trace: Trace) -> None:
    assert place(text, trace) == at


@given(
    st.integers(0, 2_999_998), st.integers(0, 2_999_998), st.integers(1, 3_000_000), st.booleans()
)
def test_a_stretch_can_be_typed_as_the_region_pane_writes_it(
    one: int, other: int, span: int, clock: bool
) -> None:
    low, high = sorted((one, other))
    port = Viewport.over(0, 3_000_000, 100).to(low, low + span)
    axis = clock_axis(port, BASE) if clock else axis_of(port)
    text = axis.stretch(low, high + 1)
    trace = build_trace(base_ns=BASE)
    assert place_of(text, trace, (), 0, LIMITS, axis.plain_ns) == (low, high + 1)
    start = text.split(" – ")[0]
    assert place_of(start, trace, (), 0, LIMITS, axis.plain_ns) == low


def test_a_number_without_a_unit_has_that_of_the_ruler(trace: Trace) -> None:
    def go(text: str) -> int | tuple[int, int]:
        return place_of(text, trace, trace.steps, 1_000_000, LIMITS, plain_ns=1_000_000)

    assert go("1.25") == 1_250_000
    assert go("+0.5") == 1_500_000
    assert go("3us") == 3_000
    assert go("1:2.5") == (1_000_000, 2_500_000)


@pytest.mark.parametrize(
    ("text", "why"),
    [("soon", "is no place"), ("", "is no place"), ("9s", "outside the recording"),
     ("-2ms", "outside the recording"),
     ("9s", "outside the recording: 0 ms to 2.999999 ms"), ("2ms:1ms", "is no span"),
     ("step 2:1ms", "is no span"), ("step 2:step 9", "no step 9 here"),
     ("1ms:9s", "9s is outside"), ("5 ms:", "is no place"),
     ("100.1%", "outside"), ("step 9", "no step 9 here: 1 to 3"),
     ("12:00", "does not tell its wall clock"), ("1e3ms", "is no place")],
)  # fmt: skip
def test_what_is_no_place_is_told_in_one_line(text: str, why: str, trace: Trace) -> None:
    with pytest.raises(WrongPlace, match=why):
        place(text, trace)


def test_the_wall_clock_is_utc_and_goes_over_midnight(clocked: Trace) -> None:
    assert place("23:59:59.999", clocked) == 0
    assert place("23:59:59.9995", clocked) == 500_000
    assert place("00:00:00.001", clocked) == 2_000_000
    assert place("2026-02-28T23:59:59.9991Z", clocked) == 100_000
    assert wall_clock_text(clocked, 1_500_000) == "2026-03-01 00:00:00.000500 UTC"
    for wrong in ("24:00", "12:60", "2026-02-30 12:00"):
        with pytest.raises(WrongPlace, match="is no time of a day"):
            place(wrong, clocked)


@pytest.mark.parametrize("base", [None, 0, -5, 2**63 - 1, 10**30])
def test_a_clock_that_cannot_be_one_is_none(base: int | None) -> None:
    assert wall_clock_text(build_trace(base_ns=base), 5) == ""


@given(st.text(max_size=30), st.sampled_from([None, 0, BASE, 2**63 - 1]))
def test_anything_may_be_typed(text: str, base: int | None) -> None:
    try:
        found = place(text, build_trace(base_ns=base))
    except WrongPlace as error:
        assert str(error)
    else:
        assert isinstance(found, tuple) or LIMITS[0] <= found < LIMITS[1]

"""Counter tracks on the timeline: below what they are of, named, stepped through, told exactly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import whichlayer.tui.counter_lanes as counter_lane_module
from tests.tui.recording import build_trace
from tests.tui.screen import LARGE, MEDIUM, SMALL, screen_of, text_of, view_of
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Counters, Trace
from whichlayer.tui.counter_lanes import (
    CounterLane,
    Series,
    exact_number,
    near_number,
    short_number,
    with_counters,
)
from whichlayer.tui.document import Document, Extent, open_document
from whichlayer.tui.first_frame import prepared
from whichlayer.tui.frame import draw_frame
from whichlayer.tui.lanes import ShownLane
from whichlayer.tui.travel import most_rows
from whichlayer.tui.viewport import Viewport

Samples = dict[tuple[str, str, str], Sequence[tuple[int, float]]]

GPU: Samples = {
    ("0", "SM active [%]", "value"): [(0, 10.0), (1_000_000, 90.0), (2_000_000, 20.0)],
    ("0", "memory", "allocated bytes"): [(500_000, 2e9)],
    ("0", "memory", "reserved bytes"): [(500_000, 4e9)],
    ("0", "power (W)", "watts"): [(0, 300.0)],
}
HOST: Samples = {("100", "cpu [bold]\x1b[31m", "load"): [(0, 1.0), (10, 2.5)]}


def counters_of(samples: Samples) -> Counters:
    numbers = [i for i, mine in enumerate(samples.values()) for _ in mine]
    pairs = [pair for mine in samples.values() for pair in mine]
    return Counters(
        tuple(samples),
        np.array(numbers, np.int32),
        np.array([time for time, _ in pairs], np.int64),
        np.array([value for _, value in pairs], np.float64),
    )


def counted(trace: Trace, samples: Samples) -> Trace:
    return replace(trace, counters=counters_of(samples))


def counter_lanes(document: Document) -> list[CounterLane]:
    return [lane for lane in document.lanes if isinstance(lane, CounterLane)]


def titles(lane: CounterLane) -> list[str]:
    return [lane.row_title(depth, depth == 0) for depth in range(lane.depth)]


def test_counters_lie_below_the_lanes_of_their_gpu_or_process(trace: Trace) -> None:
    document = open_document(counted(trace, GPU | HOST))
    groups = [(lane.group, lane.device) for lane in document.lanes]
    first, second = (i for i, (group, _) in enumerate(groups) if group == "counter")
    assert groups[first - 1] == ("gpu", 0) and groups[first] == ("counter", 0)
    assert all(device < 0 for _, device in groups[first + 1 :])
    assert second == len(groups) - 1


def test_gpus_of_nsight_are_found_by_their_number(trace: Trace) -> None:
    samples: Samples = {("GPU 0", "SM", "value"): [(0, 1.0)], ("GPU 5", "SM", "value"): [(0, 1.0)]}
    lanes = counter_lanes(open_document(counted(trace, samples)))
    assert [lane.device for lane in lanes] == [0, 5]


def test_rows_are_named_by_what_tells_them_apart(trace: Trace) -> None:
    (lane,) = counter_lanes(open_document(counted(trace, GPU)))
    assert titles(lane) == [
        "SM active [%]",
        "memory allocated bytes",
        "  reserved bytes",
        "power (W)",
    ]
    assert [one.unit for one in lane.series] == ["%", "bytes", "bytes", "W"]
    assert [lane.row_note(depth, 9) for depth in range(4)] == ["90", "2G", "4G", "300"]


def test_names_are_clean(trace: Trace) -> None:
    (lane,) = counter_lanes(open_document(counted(trace, HOST)))
    assert "\x1b" not in titles(lane)[0] and "[bold]" in titles(lane)[0]


def test_a_series_without_a_name_has_one(trace: Trace) -> None:
    (lane,) = counter_lanes(open_document(counted(trace, {("7", "", ""): [(0, 1.0)]})))
    assert titles(lane) == ["counter"]


def test_a_trace_of_counters_alone_is_shown_whole() -> None:
    trace = counted(build_trace([], ()), {("1", "a", "value"): [(-500, 1.0), (700, 2.0)]})
    document = open_document(trace)
    assert (document.low_ns, document.high_ns) == (-500, 701)
    assert most_rows(document) == 1


@pytest.mark.parametrize(
    ("at", "shown"), [(3_500_000, True), (-1_000_000, True), (10**15, False), (-(10**15), False)]
)
def test_samples_near_the_slices_are_in_reach_and_wild_ones_do_not_crush_them(
    trace: Trace, at: int, shown: bool
) -> None:
    document = open_document(counted(trace, {("0", "a", "value"): [(at, 1.0)]}))
    assert (document.low_ns <= at < document.high_ns) is shown
    assert document.high_ns - document.low_ns <= 9_000_003


@pytest.mark.parametrize("size", [SMALL, MEDIUM, LARGE])
async def test_the_region_pane_tells_the_exact_value_at_the_cursor(
    trace: Trace, analysis: Analysis, size: tuple[int, int]
) -> None:
    traced = counted(trace, GPU)
    async with screen_of(traced, replace(analysis, trace=traced), size) as (app, pilot):
        labels = text_of(app, "timeline")
        row = next(i for i, line in enumerate(labels) if "SM activ" in line)
        app.look_at(replace(view_of(app), row=row, cursor_ns=1_500_000))
        await pilot.pause()
        told = " ".join(" ".join(text_of(app, "region")).split())
        assert "SM active [%]" in told and "90 % for 1.000 ms from 1.000 ms" in told


async def test_the_keys_of_slices_step_through_samples(trace: Trace, analysis: Analysis) -> None:
    traced = counted(trace, GPU)
    async with screen_of(traced, replace(analysis, trace=traced)) as (app, pilot):
        row = next(i for i, line in enumerate(text_of(app, "timeline")) if "SM activ" in line)
        app.look_at(replace(view_of(app), row=row, cursor_ns=10))
        stops = []
        for key in ("full_stop", "full_stop", "full_stop", "comma", "comma"):
            await pilot.press(key)
            stops.append(view_of(app).cursor_ns)
        assert stops == [1_000_000, 2_000_000, 2_000_000, 1_000_000, 0]


async def test_a_lane_of_many_counters_unfolds(trace: Trace, analysis: Analysis) -> None:
    many: Samples = {("0", f"metric {i:02}", "value"): [(0, float(i))] for i in range(40)}
    traced = counted(trace, many)
    async with screen_of(traced, replace(analysis, trace=traced)) as (app, pilot):

        def metrics() -> list[str]:
            return [line for line in text_of(app, "timeline") if "metric" in line]

        assert 3 <= len(metrics()) < 40 and "+" in metrics()[-1]
        row = next(i for i, line in enumerate(text_of(app, "timeline")) if "metric" in line)
        app.look_at(replace(view_of(app), row=row))
        await pilot.press("c", *["pagedown"] * 8)
        assert "metric 39" in metrics()[-1] and not any("+" in line for line in metrics())


def test_a_screen_full_of_counters_keeps_the_budget_of_a_frame(trace: Trace) -> None:
    rng = np.random.default_rng(5)
    times = np.sort(rng.integers(0, 3_000_000, 500)).tolist()
    many: Samples = {
        ("0", f"m{i}", "value"): list(zip(times, rng.random(500).tolist(), strict=True))
        for i in range(40)
    }
    document = open_document(counted(trace, many))
    (lane,) = counter_lanes(document)
    port = Viewport.over(document.low_ns, document.high_ns, 104)
    frame = draw_frame([lane.row(depth) for depth in range(40)], port, document.names.short)
    assert frame.cost() <= 4.5 * 104 * 40


def test_numbers_are_short_on_labels_and_exact_in_the_pane() -> None:
    hostile = [0.0, -1e300, 999.96, 1e3, 12345.678, 2**60, 1e-7, float("nan"), float("inf")]
    assert all(len(short_number(value)) <= 6 for value in hostile)
    assert exact_number(1234567.0) == "1 234 567" and exact_number(0.1) == "0.1"
    assert exact_number(float("nan")) == "no number"
    assert near_number(1 / 3) == "0.333333" and near_number(10.0**15) == "1 000 000 000 000 000"


def test_a_series_costs_nothing_before_it_is_shown(
    trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    plain = counter_lane_module._series

    def counting(name: tuple[str, str, str], fields: int) -> Series:
        made.append(name[1])
        return plain(name, fields)

    monkeypatch.setattr(counter_lane_module, "_series", counting)
    many: Samples = {("100", f"c{i:05}", "a"): [(i, float(i))] for i in range(20_000)}
    document = prepared(counted(trace, many), Extent.WHOLE)
    (lane,) = counter_lanes(document)
    assert lane.depth == len(lane.series) == 20_000
    assert len(made) < 10
    assert lane.row_title(19_999, False) == "c19999"
    assert [one.counter for one in lane.series[3:5]] == ["c00003", "c00004"]


def test_counters_of_many_processes_are_placed_without_a_look_at_every_lane_for_each(
    trace: Trace,
) -> None:
    class Counting(tuple[ShownLane, ...]):
        asked = 0

        def __getitem__(self, place: Any) -> Any:
            Counting.asked += 1
            return super().__getitem__(place)

        def __iter__(self) -> Iterator[ShownLane]:
            Counting.asked += len(self)
            return super().__iter__()

    lanes = Counting(open_document(trace).lanes)
    many: Samples = {(f"p{i}", "c", "a"): [(i, 1.0)] for i in range(3_000)}
    shown = with_counters(lanes, counted(trace, many), 10_000)
    assert len(shown) == len(lanes) + 3_000
    assert Counting.asked < 10 * len(lanes)

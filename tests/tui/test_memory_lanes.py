"""Memory of a recording as lanes: where they lie, what they hold, and what is said of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.tui.recording import build_analysis
from tests.tui.screen import MEDIUM, SMALL, screen_of, text_of
from whichlayer.analysis.trace.columns import Instants, Trace
from whichlayer.tui.carry import opened
from whichlayer.tui.describe_counter import describe_counter
from whichlayer.tui.document import Document, open_document
from whichlayer.tui.memory_lanes import MemoryLane
from whichlayer.tui.travel import rows_of

CUDA = 1 << 32
NAN = float("nan")

#: (time, allocated, reserved, allocator)
Event = tuple[int, float, float, int]

EVENTS: list[Event] = [
    (100_000, 1e9, 2e9, CUDA),
    (200_000, 96.0, NAN, 0),
    (300_000, 1.5e9, 2e9, CUDA),
    (900_000, 0.5e9, 4e9, CUDA),
]


def with_events(trace: Trace, events: list[Event]) -> Trace:
    number = len(trace.strings)
    count = len(events)
    column = np.array([event[1:3] for event in events], np.float64).reshape(-1, 2)
    return replace(
        trace,
        strings=(*trace.strings, "[memory]"),
        instants=Instants(
            np.array([event[0] for event in events], np.int64),
            np.full(count, -1, np.int32),
            np.full(count, number, np.int32),
            column[:, 0],
            np.ones(count),
            column[:, 1],
            np.array([event[3] for event in events], np.int64),
        ),
    )


def memory_of(document: Document) -> list[MemoryLane]:
    return [lane for lane in document.lanes if isinstance(lane, MemoryLane)]


def test_each_device_has_what_tensors_had_and_what_the_allocator_held(trace: Trace) -> None:
    gpu, cpu = memory_of(open_document(with_events(trace, EVENTS)))
    assert [gpu.row_title(depth, depth == 0).strip() for depth in range(gpu.depth)] == [
        "GPU0 mem",
        "reserved",
    ]
    assert gpu.row(0).value.tolist() == [1e9, 1.5e9, 0.5e9]
    assert gpu.row(1).value.tolist() == [2e9, 2e9, 4e9]
    assert (cpu.title, cpu.depth, cpu.device) == ("CPU mem", 1, -1), "it reserves nothing"


def test_they_lie_below_the_streams_of_their_device(trace: Trace) -> None:
    document = open_document(with_events(trace, EVENTS))
    gpu = document.lanes.index(memory_of(document)[0])
    assert all(lane.device == 0 for lane in document.lanes[:gpu])
    assert all(lane.device < 0 for lane in document.lanes[gpu + 1 :])


def test_recordings_without_totals_have_no_such_lane(trace: Trace) -> None:
    assert not memory_of(open_document(with_events(trace, [])))
    assert not memory_of(open_document(with_events(trace, [(5, NAN, NAN, -1)])))


def test_a_device_without_lanes_has_them_below_all_gpus(trace: Trace) -> None:
    document = open_document(with_events(trace, [(5, 1e6, 1e6, CUDA | 7)]))
    (lane,) = memory_of(document)
    at = document.lanes.index(lane)
    assert lane.device == 7 and lane.title == "GPU7 mem"
    assert document.lanes[at - 1].device == 0, "no card is joined to another by guess"
    assert all(one.device < 0 for one in document.lanes[at + 1 :])


@pytest.mark.parametrize(
    ("listed", "allocators", "title"),
    [
        ([{"id": 0}], [CUDA | 3], "GPU0 mem"),
        # Of several cards it may be another one that the memory is of.
        ([{"id": 0}, {"id": 1}], [CUDA | 3], "GPU3 mem"),
        ([], [CUDA | 3], "GPU3 mem"),
        ([{"id": 0}], [CUDA | 3, CUDA | 4], "GPU3 mem"),
    ],
)
def test_one_card_has_one_number_where_there_is_no_other(
    trace: Trace, listed: list[dict[str, int]], allocators: list[int], title: str
) -> None:
    events = [(5 + i, 1e6, 1e6, allocator) for i, allocator in enumerate(allocators)]
    made = replace(with_events(trace, events), header={"deviceProperties": listed})
    assert memory_of(open_document(made))[0].title == title


def test_what_is_said_at_the_cursor_holds_at_that_instant(trace: Trace) -> None:
    document = open_document(with_events(trace, EVENTS))
    view = opened(document, 1000)
    lane = document.lanes.index(memory_of(document)[0])
    rows = rows_of(document, view)
    first = next(i for i, row in enumerate(rows) if row.lane == lane)

    def said(time_ns: int, row: int) -> list[str]:
        return [line.text for line in describe_counter(document, view.pointed(time_ns, row))]

    assert said(50_000, first)[1].startswith("no sample yet")
    assert said(299_000, first)[1].startswith("1.00 GB (1 000 000 000 bytes) for 200")
    assert said(600_000, first)[1].startswith("1.50 GB (1 500 000 000 bytes) for 600")
    assert said(950_000, first + 1)[1].startswith("4.00 GB (4 000 000 000 bytes) to the end")
    assert said(950_000, first)[0] == "GPU0 memory: allocated"


async def test_the_screen_shows_the_lane_and_its_value(trace: Trace) -> None:
    analysis = build_analysis(with_events(trace, EVENTS))
    for size in (SMALL, MEDIUM):
        async with screen_of(analysis.trace, analysis, size) as (app, pilot):
            lines = text_of(app, "timeline")
            at = next(y for y, line in enumerate(lines) if "GPU0 mem" in line)
            assert "█" in lines[at] or "▇" in lines[at]
            for _ in range(at):
                await pilot.press("j")
            assert "GPU0 memory: allocated" in text_of(app, "region")[0]

"""Lanes that come from the cache are those that would be worked out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest

from tests.tui.recording import build_trace
from whichlayer.analysis import load
from whichlayer.analysis.cache import reuse
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui import document, kept_lanes
from whichlayer.tui.document import beside_entry, open_document
from whichlayer.tui.kept_lanes import Array

Beside = dict[str, Array]
Damage = Callable[[Beside], None]

SAMPLES = sorted((Path(__file__).parents[2] / "sample_traces").glob("*.json.gz"))


def shown(trace: Trace) -> list[object]:
    """Everything that the lanes of a trace show, and the stretch they lie in."""
    opened = open_document(trace)
    lanes = [
        (
            lane.title, lane.group, lane.device, lane.depth, lane.first_row, lane.lane,
            [
                [column.tolist() for column in (row.slices, row.start_ns, row.end_ns, row.family)]
                for row in (lane.row(depth) for depth in range(lane.depth))
            ],
        )
        for lane in opened.lanes
    ]  # fmt: skip
    return [opened.low_ns, opened.high_ns, lanes]


#: Python frames between operators, crossing slices, many streams, no GPU at all.
RECORDINGS = (
    "kineto_resnet50_workers4.json.gz", "tl_mi300_ddp_resnet18.json.gz",
    "hta_v100_cuda_graphs.json.gz", "hta_cpu_only.json.gz", "chrome_nestable_async.json",
)  # fmt: skip


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_lanes_from_an_entry_are_those_that_would_be_worked_out(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_comes_back(path, monkeypatch)


@pytest.mark.parametrize("name", RECORDINGS)
def test_lanes_of_a_recording_come_back(
    traces: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_comes_back(traces / name, monkeypatch)


def assert_comes_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = load(path)
    worked_out = shown(trace)
    kept = beside_entry(open_document(trace))
    monkeypatch.setattr(document, "beside", lambda trace: kept)

    def refuse(trace: Trace, families: Array) -> None:
        raise AssertionError("the lanes were worked out")

    monkeypatch.setattr(document, "list_lanes", refuse)
    assert shown(trace) == worked_out


def test_a_reopened_trace_has_its_lanes_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(reuse, "FEWEST_EVENTS", 0)
    path = str(SAMPLES[0])
    read = load(path, cache=True, keep=False)
    assert reuse.keep(read, lambda: beside_entry(open_document(read)))
    reopened = reuse.reopen(path)
    assert reopened is not None
    monkeypatch.setattr(document, "list_lanes", lambda trace, families: ())
    assert shown(reopened)[2]


def out_of_the_trace(beside: Beside) -> None:
    beside["order"] = beside["order"].copy()
    beside["order"][0] = 1 << 30


def below_the_trace(beside: Beside) -> None:
    beside["order"] = beside["order"].copy()
    beside["order"][-1] = -1


def no_such_family(beside: Beside) -> None:
    beside["families"] = np.full(len(beside["families"]), 200, np.uint8)


def families_of_fewer_slices(beside: Beside) -> None:
    beside["families"] = beside["families"][:-1]


def rows_of_more_slices(beside: Beside) -> None:
    beside["rows"] = beside["rows"] + 1


def rows_that_cancel_out(beside: Beside) -> None:
    beside["rows"] = beside["rows"].copy()
    beside["rows"][0] += 5
    beside["rows"][1] -= beside["rows"][1] + 5


def lanes_of(**changes: object) -> Damage:
    def damage(beside: Beside) -> None:
        told = msgspec.json.decode(beside["lanes"].tobytes(), type=list[kept_lanes._Lane])
        told[0] = msgspec.structs.replace(told[0], **changes)
        beside["lanes"] = np.frombuffer(msgspec.json.encode(told), np.uint8)

    return damage


def no_lanes(beside: Beside) -> None:
    beside["lanes"] = np.frombuffer(b'[["x"]]', np.uint8)


def no_text(beside: Beside) -> None:
    beside["lanes"] = np.full(9, 0xFF, np.uint8)


def of_another_version(beside: Beside) -> None:
    beside["version"] = np.frombuffer(b"0" * 32, np.uint8)


def without_its_extent(beside: Beside) -> None:
    del beside["extent"]


def half_an_extent(beside: Beside) -> None:
    beside["extent"] = beside["extent"][:1]


def of_another_type(beside: Beside) -> None:
    beside["order"] = beside["order"].astype(np.int64)


@pytest.mark.parametrize(
    "damage",
    [
        out_of_the_trace, below_the_trace, no_such_family, families_of_fewer_slices,
        rows_of_more_slices, rows_that_cancel_out, no_lanes, no_text, of_another_version,
        without_its_extent, half_an_extent, of_another_type, lanes_of(index=99), lanes_of(index=-1),
        lanes_of(group="<b>"), lanes_of(rows=0), lanes_of(first_row=99), lanes_of(first_row=-1),
    ],
)  # fmt: skip
def test_an_entry_that_was_made_up_is_not_used(
    damage: Damage, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = build_trace()
    worked_out = shown(trace)
    beside = beside_entry(open_document(trace))
    damage(beside)
    assert kept_lanes.kept_lanes(trace, beside) is None
    monkeypatch.setattr(document, "beside", lambda trace: beside)
    assert shown(trace) == worked_out

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.program import Program
from tests.support.recordings import analysed
from whichlayer.analysis import Analysis
from whichlayer.analysis.heat_rows import HeatRows
from whichlayer.analysis.heatmap import (
    BUSY,
    EDGE,
    ELSEWHERE,
    GAPS,
    OWNERS,
    SPACING,
    Heatmap,
    heatmap,
)
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import State

KERNEL = "ampere_sgemm_128x128_tn"
NAMES = (KERNEL, "ncclDevKernel_AllReduce_Sum_f32_RING_LL")
micro = st.integers(0, 300)
work = st.tuples(st.sampled_from(NAMES), micro, micro, st.sampled_from([7, 20]), st.booleans(), st.sampled_from([0, 1]))  # fmt: skip


def made(works: list[tuple[str, int, int, int, bool, int]], steps: int) -> Analysis:
    program = Program()
    for name, start, length, stream, linked, device in works:
        launch = (max(start - 20.0, 0.0), 3.0) if linked else None
        program.kernel(name, start, length, launch, stream=stream, device=device)
    for number in range(steps):
        program.step(number, 100.0 * number, 95.0)
    with tempfile.TemporaryDirectory() as folder:
        return program.analysis(Path(folder))


class Owners:
    """Who owns an instant, by looking at every segment and activity."""

    def __init__(self, analysis: Analysis) -> None:
        activities = analysis.activities
        self.segments = [
            list(
                zip(
                    one.start_ns.tolist(), one.end_ns.tolist(), one.state.tolist(),
                    one.layer.tolist(), strict=True,
                )
            )
            for one in analysis.segments
        ]  # fmt: skip
        self.activities = list(
            zip(
                activities.device.tolist(), analysis.trace.lane_id[activities.row].tolist(),
                activities.start_ns.tolist(), activities.end_ns.tolist(), strict=True,
            )
        )  # fmt: skip

    def at(self, device: int, lane: int, time: int) -> int:
        """The owner of an instant in the row of a stream, or of a device (-1)."""
        state, layer = State.EDGE, 0
        for start, end, told, its_layer in self.segments[device]:
            if start <= time < end:
                state, layer = State(told), its_layer
        if state == State.EDGE:
            return EDGE
        for its_device, its_lane, start, end in self.activities:
            if lane >= 0 and (its_device, its_lane) == (device, lane) and start <= time < end:
                return BUSY
        if state == State.GAP:
            return layer
        if state == State.SPACING:
            return SPACING
        return BUSY if lane < 0 else ELSEWHERE


@settings(max_examples=60)
@given(
    st.lists(work, min_size=1, max_size=8),
    st.integers(0, 3),
    st.sampled_from([HeatRows.STEPS, HeatRows.STREAMS, HeatRows.DEVICES, HeatRows.RANKS]),
    st.integers(1, 7),
    st.one_of(st.none(), st.tuples(st.integers(0, 200), st.integers(1, 400))),
)
def test_every_bin_is_what_its_instants_are_and_rows_add_up(
    works: list[tuple[str, int, int, int, bool, int]],
    steps: int,
    rows: HeatRows,
    bins: int,
    span: tuple[int, int] | None,
) -> None:
    analysis = made(works, steps)
    wanted = None if span is None else (span[0] * 1000, (span[0] + span[1]) * 1000)
    heat = heatmap(analysis, rows, bins, wanted)
    owners = Owners(analysis)
    for place, row in enumerate(heat.rows):
        edges = heat.edges_ns[place].tolist()
        assert (edges[0], edges[-1]) == (row.start_ns, row.end_ns)
        assert heat.time_ns[place].sum() == row.end_ns - row.start_ns
        assert heat.time_ns[place].sum(axis=1).tolist() == np.diff(edges).tolist()
        # Everything here happens at whole microseconds or at the middle of a launch.
        sampled = range(row.start_ns, row.end_ns, 500)
        for time in list(sampled)[:: max(len(sampled) // 20, 1)]:
            owner = owners.at(row.device, row.lane, time)
            column = int(np.searchsorted(edges, time, "right")) - 1
            assert heat.time_ns[place, min(column, bins - 1), owner] > 0


def test_a_streams_row_tells_its_own_work_from_that_of_others_and_from_gaps() -> None:
    program = Program()
    program.kernel(KERNEL, 0.0, 100.0, (0.0, 1.0), stream=7)
    program.kernel(KERNEL, 100.0, 100.0, (1.0, 1.0), stream=20)
    program.kernel(KERNEL, 300.0, 100.0, (290.0, 1.0), stream=7)
    with tempfile.TemporaryDirectory() as folder:
        analysis = program.analysis(Path(folder))
    heat = heatmap(analysis, "streams", bins=1)
    assert [row.label for row in heat.rows] == ["stream 7", "stream 20"]
    seven, twenty = heat.time_ns[0, 0], heat.time_ns[1, 0]
    assert (seven[BUSY], seven[ELSEWHERE], seven[GAPS].sum()) == (200_000, 100_000, 100_000)
    assert (twenty[BUSY], twenty[ELSEWHERE], twenty[GAPS].sum()) == (100_000, 200_000, 100_000)


def test_idle_share_and_owner_are_of_the_bin() -> None:
    program = Program()
    loader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
    program.kernel(KERNEL, 0.0, 100.0, (0.0, 1.0))
    program.annotation(loader, 90.0, 205.0)
    program.kernel(KERNEL, 300.0, 100.0, (298.0, 1.0))
    with tempfile.TemporaryDirectory() as folder:
        analysis = program.analysis(Path(folder))
    heat = heatmap(analysis, "devices", bins=4)
    assert heat.idle.tolist() == [[0.0, 1.0, 1.0, 0.0]]
    assert heat.owner.tolist() == [[Layer.NONE, Layer.RUNTIME, Layer.RUNTIME, Layer.NONE]]
    assert heat.inside.all()


def test_rows_of_several_recordings_are_ranks_and_only_ranks() -> None:
    analysis = made([(KERNEL, 0, 10, 7, True, 0), (KERNEL, 90, 10, 7, True, 0)], 0)
    heat = heatmap([analysis, analysis], "ranks", bins=3)
    assert [row.analysis for row in heat.rows] == [0, 1]
    assert (heat.time_ns[0] == heat.time_ns[1]).all()
    with pytest.raises(ValueError, match="one recording"):
        heatmap([analysis, analysis], "steps")
    with pytest.raises(ValueError, match="frames"):
        heatmap(analysis, "frames")


def recordings() -> list[str]:
    folder = os.environ.get("WHICHLAYER_TRACES")
    if not folder:
        return []
    names = (path.name for path in Path(folder).iterdir())
    return sorted(name for name in names if name.endswith((".json", ".json.gz")))


@pytest.mark.parametrize("name", recordings() or [pytest.param("", marks=pytest.mark.skip)])
def test_rows_of_real_recordings_add_up_and_hold_the_budget(traces: Path, name: str) -> None:
    if name == "expected.json":
        pytest.skip("figures, no recording")
    analysis = analysed(traces / name)
    for rows in (HeatRows.STEPS, HeatRows.STREAMS, HeatRows.DEVICES, HeatRows.RANKS):
        heat = heatmap(analysis, rows, bins=37)
        lengths = [row.end_ns - row.start_ns for row in heat.rows]
        assert heat.time_ns.sum(axis=(1, 2)).tolist() == lengths
        assert (heat.time_ns >= 0).all()
        if rows is HeatRows.DEVICES:
            _assert_budget(analysis, heat)


def _assert_budget(analysis: Analysis, heat: Heatmap) -> None:
    total, budget = heat.time_ns.sum(axis=(0, 1)), analysis.budget
    assert len(total) == OWNERS
    for layer in Layer:
        assert total[layer] == budget.gap_ns.get(layer, 0)
    assert (total[SPACING], total[EDGE]) == (budget.spacing_ns, budget.edge_ns)
    busy = budget.at_roof_ns + budget.unjudged_ns + sum(budget.loss_ns.values())
    assert (total[BUSY], total[ELSEWHERE]) == (busy, 0)

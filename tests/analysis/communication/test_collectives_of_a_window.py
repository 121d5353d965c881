"""Exposed time, sizes and bandwidths of the collectives of a window."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.collectives import NCCL, arguments
from tests.support.program import Program
from whichlayer.analysis import Analysis, Options
from whichlayer.analysis.communication.calls import calls_of, overlaps_of
from whichlayer.analysis.communication.collectives import find_collectives
from whichlayer.analysis.results import GapKind, Role


def program() -> Program:
    """A kernel from 0 to 100 µs and an all-reduce of 4 MB from 60 to 260 µs beside it."""
    made = Program()
    made.kernel("gemm", 10, 100, (0, 5))
    made.kernel(NCCL, 60, 200, (6, 5), stream=20, **arguments())
    made.kernel("gemm", 300, 50, (8, 5))
    return made


def exposed_ns(analysis: Analysis) -> int:
    gaps = analysis.gaps
    mine = gaps.kind == GapKind.EXPOSED_COMM
    return int((gaps.end_ns - gaps.start_ns)[mine].sum())


def test_hidden_and_exposed_time_are_those_beside_and_without_compute(tmp_path: Path) -> None:
    analysis = program().analysis(tmp_path)
    (group,) = find_collectives(analysis)
    assert (group.total_ns, group.hidden_ns, group.exposed_ns) == (200_000, 50_000, 150_000)
    (overlap,) = overlaps_of(analysis)
    assert overlap.communication.busy_ns == 200_000
    assert overlap.communication.exposed_ns == exposed_ns(analysis) == 150_000
    assert [(one.stream, one.hidden_ns) for one in overlap.streams] == [(20, 50_000)]


def test_bandwidths_are_those_of_nccl_tests(tmp_path: Path) -> None:
    (group,) = find_collectives(program().analysis(tmp_path))
    assert group.bytes == 4_000_000
    assert group.algbw_gbps == pytest.approx((20.0, 20.0))
    assert group.busbw_gbps == pytest.approx((35.0, 35.0))
    assert "lower bound" in group.why


def test_all_gather_counts_what_all_ranks_give(tmp_path: Path) -> None:
    made = Program()
    known = arguments("_allgather_base", 1000, got=8000, dtype="BFloat16")
    made.kernel("ncclDevKernel_AllGather_RING_LL()", 10, 16, (0, 5), **known)
    (group,) = find_collectives(made.analysis(tmp_path))
    assert group.bytes == 16_000
    assert group.algbw_gbps == pytest.approx((1.0, 1.0))
    assert group.busbw_gbps == pytest.approx((0.875, 0.875))


def test_sizes_types_and_groups_are_told_apart(tmp_path: Path) -> None:
    made = Program()
    described = [
        arguments(), arguments(), arguments(elements=5), arguments(dtype="Half"),
        arguments(group="1"), arguments(ranks=4),
    ]  # fmt: skip
    for i, known in enumerate(described):
        made.kernel(NCCL, 100 * i + 10, 20, (100 * i, 5), **known)
    groups = find_collectives(made.analysis(tmp_path))
    assert sorted(group.calls for group in groups) == [1, 1, 1, 1, 2]


def test_sequence_numbers_do_not_split_a_group(tmp_path: Path) -> None:
    made = Program()
    for i in range(3):
        made.kernel(NCCL, 100 * i + 10, 20, (100 * i, 5), **arguments(seq=i))
    (group,) = find_collectives(made.analysis(tmp_path))
    assert group.calls == 3


def test_instant_of_two_collectives_is_exposed_once(tmp_path: Path) -> None:
    made = Program()
    made.kernel(NCCL, 10, 100, (0, 5), stream=20, **arguments())
    made.kernel(NCCL, 60, 100, (6, 5), stream=21, **arguments(group="1"))
    analysis = made.analysis(tmp_path)
    first, second = sorted(find_collectives(analysis), key=lambda group: group.known.group)
    assert (first.exposed_ns, first.shared_ns) == (100_000, 0)
    assert (second.exposed_ns, second.shared_ns) == (50_000, 50_000)
    assert exposed_ns(analysis) == 150_000


def test_older_recording_tells_the_size_by_the_annotation(tmp_path: Path) -> None:
    made = Program()
    made.operator("c10d::allreduce_", 0, 50)
    made.operator("record_param_comms", 1, 48)
    made.slice(
        "user_annotation", "nccl:all_reduce", 2, 40,
        args={"Input Dims": [[50, 20]], "Input type": ["float"]},
    )  # fmt: skip
    made.kernel(NCCL, 30, 100, (10, 5))
    (group,) = find_collectives(made.analysis(tmp_path))
    assert (group.known.kind, group.bytes) == ("all-reduce", 4000)
    assert group.busbw_gbps is None
    assert "size of the group is not recorded" in group.why


def test_size_is_read_from_the_operator_around_the_launch(tmp_path: Path) -> None:
    made = Program()
    made.operator("record_param_comms", 1, 48, **arguments("all_to_allv", 4000, dtype="Int"))
    made.kernel("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*)", 30, 100, (10, 5))
    (group,) = find_collectives(made.analysis(tmp_path))
    assert (group.known.kind, group.bytes, group.known.ranks) == ("all-to-all", 16_000, 8)


def test_all_reduce_outside_of_nccl_has_the_size_of_its_operator(tmp_path: Path) -> None:
    made = Program()
    shapes: dict[str, Any] = {
        "Input Dims": [[1000], [], []],
        "Input type": ["c10::BFloat16", "", ""],
    }
    made.operator("symm_mem::multimem_all_reduce_", 1, 48, **shapes)
    made.kernel("multimem_all_reduce_kernel<c10::BFloat16>", 30, 10, (10, 5))
    (group,) = find_collectives(made.analysis(tmp_path))
    assert (group.bytes, group.known.ranks) == (2000, None)


def test_collective_of_which_nothing_is_recorded_says_what_to_record(tmp_path: Path) -> None:
    made = Program()
    made.kernel(NCCL, 30, 10, (10, 5))
    (group,) = find_collectives(made.analysis(tmp_path))
    assert (group.bytes, group.algbw_gbps, group.busbw_gbps) == (None, None, None)
    assert "record with PyTorch" in group.why


def test_collective_of_a_graph_says_that_graphs_hold_no_sizes(tmp_path: Path) -> None:
    made = Program()
    made.kernel(NCCL, 30, 10, (10, 5), call="cudaGraphLaunch")
    (group,) = find_collectives(made.analysis(tmp_path))
    assert "graph" in group.why


def test_collective_without_a_launch_says_so(tmp_path: Path) -> None:
    made = Program()
    made.kernel(NCCL, 30, 10)
    (group,) = find_collectives(made.analysis(tmp_path))
    assert "launch is not in the file" in group.why


@pytest.mark.parametrize(
    "damage",
    [
        {"In msg nelems": "many"},
        {"In msg nelems": -5},
        {"In msg nelems": 10**30},
        {"dtype": 17},
        {"dtype": "\x1b[31m"},
        {"Group size": []},
        {"Group size": 1},
        {"Process Group Ranks": "[0, 1, ...]"},
        {"Process Group Name": {"a": 1}},
        {"Collective name": None},
    ],
)
def test_damaged_arguments_leave_figures_unknown_with_a_reason(
    damage: dict[str, object], tmp_path: Path
) -> None:
    made = Program()
    made.kernel(NCCL, 30, 10, (10, 5), **(arguments() | damage))
    (group,) = find_collectives(made.analysis(tmp_path))
    assert group.calls == 1
    assert group.why


def test_window_cuts_time_but_not_bandwidth(tmp_path: Path) -> None:
    analysis = program().analysis(tmp_path, Options(span_ns=(100_000, 200_000)))
    (group,) = find_collectives(analysis)
    # The trace begins with the first launch, at 0.
    assert (group.total_ns, group.hidden_ns, group.exposed_ns) == (100_000, 10_000, 90_000)
    assert group.algbw_gbps == pytest.approx((20.0, 20.0))


stretches = st.lists(
    st.tuples(st.integers(0, 300), st.integers(0, 90), st.integers(0, 3), st.booleans()),
    min_size=1,
    max_size=20,
)


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(stretches)
def test_parts_of_all_collectives_sum_to_those_of_the_accounting(
    tmp_path: Path, work: list[tuple[int, int, int, bool]]
) -> None:
    made = Program()
    for start, length, stream, communicates in work:
        known = arguments(group=str(stream)) if communicates else {}
        name = NCCL if communicates else "gemm"
        made.kernel(name, start + 5, length, (start, 1), stream=stream, **known)
    analysis = made.analysis(tmp_path)
    calls = calls_of(analysis, 0, Role.COMM)
    parts = calls.exposed_ns + calls.hidden_ns + calls.shared_ns
    assert (parts == calls.inside_ns).all()
    assert (calls.shared_ns >= 0).all()
    (overlap,) = overlaps_of(analysis)
    groups = find_collectives(analysis)
    exposed = sum(group.exposed_ns for group in groups)
    assert exposed == overlap.communication.exposed_ns == analysis.devices[0].exposed_comm_ns
    whole = overlap.communication
    assert whole.hidden_ns + whole.exposed_ns == whole.busy_ns

"""Rules about a whole recording: full memory, DataParallel, gradients filled with zeros."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.recordings import analysed
from whichlayer.analysis.findings.near_misses import near_misses
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.pipeline import analyse
from whichlayer.analysis.reader import open_trace
from whichlayer.analysis.results import Analysis, Finding

Found = Callable[..., dict[str, Finding]]
ROOM = 80_000_000_000


@pytest.fixture
def found(tmp_path: Path) -> Found:
    """Hints of a recording of these events, by rule."""

    def run(events: list[dict[str, Any]], devices: int = 1) -> dict[str, Finding]:
        findings = recorded(tmp_path, events, devices).findings
        return {one.rule: one for one in findings if not one.time_ns}

    return run


def recorded(folder: Path, events: list[dict[str, Any]], devices: int = 1) -> Analysis:
    """The analysis of a recording of these events, with a product on each GPU."""
    cards = [{"id": number, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": ROOM,
              "numSms": 132, "computeMajor": 9, "computeMinor": 0, "warpSize": 32}
             for number in range(devices)]  # fmt: skip
    kernels = [
        event
        for number in range(devices)
        for event in work(1000.0 + 100 * number, "aten::mm", 500.0, device=number)
    ]
    path = folder / "recording.json"
    header = {"schemaVersion": 1, "cuda_runtime_version": 12080, "deviceProperties": cards}
    path.write_text(json.dumps({**header, "traceEvents": [*kernels, *events]}))
    return analyse(open_trace(path))


def slice_of(category: str, name: str, start: float, took: float, pid: int = 1, tid: int = 1,
             **args: Any) -> dict[str, Any]:  # fmt: skip
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start,
            "dur": took, "args": args}  # fmt: skip


def work(start: float, name: str, took: float, device: int = 0) -> list[dict[str, Any]]:
    """An operator, its launch and its kernel."""
    number = int(start)
    return [
        slice_of("cpu_op", name, start, 10.0),
        slice_of("cuda_runtime", "cudaLaunchKernel", start + 2, 3.0, correlation=number),
        slice_of("kernel", "a_kernel", start + 20, took, device, 7, device=device, stream=7,
                 correlation=number),
    ]  # fmt: skip


def memory(start: float, allocated: float, reserved: float | None = None,
           name: str = "[memory]") -> dict[str, Any]:  # fmt: skip
    args = {"Total Allocated": allocated, "Bytes": 512, "Device Type": 1, "Device Id": 0}
    if reserved is not None:
        args["Total Reserved"] = reserved
    return {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": name, "pid": 1, "tid": 1,
            "ts": start, "args": args}  # fmt: skip


def call(name: str, start: float) -> dict[str, Any]:
    return slice_of("cuda_runtime", name, start, 5.0, correlation=int(start))


RETRY = [call("cudaMalloc", 3000), call("cudaFree", 3100), call("cudaFree", 3110),
         call("cudaMalloc", 3200)]  # fmt: skip


def test_full_memory_that_is_given_back_and_asked_for_again_is_told(found: Found) -> None:
    hint = found([memory(2900, 0.95 * ROOM), *RETRY])["memory-near-limit"]
    assert (hint.layer, hint.time_ns, hint.share) == (Layer.PYTORCH, 0, 0.0)
    assert "76.0 GB of 80.0 GB allocated at most (95%)" in hint.evidence
    assert len(hint.regions) == 2
    assert hint.threshold == "rules.memory-near-limit.full = 90 %"


@pytest.mark.parametrize(
    "events",
    [
        [memory(2900, 0.89 * ROOM), *RETRY],  # not that full
        [memory(2900, 0.95 * ROOM), RETRY[0], RETRY[3]],  # nothing given back
        [memory(2900, 0.95 * ROOM), RETRY[0], RETRY[1], RETRY[3]],  # a workspace, once
        [memory(2900, 0.95 * ROOM), RETRY[0], call("cudaFree", 9000)],  # at the end of it all
        RETRY,  # memory was not recorded
        [memory(2900, float("inf")), memory(2901, -1.0), *RETRY],
    ],
)
def test_memory_with_room_is_not(found: Found, events: list[dict[str, Any]]) -> None:
    assert "memory-near-limit" not in found(events)


def test_what_is_reserved_decides_where_it_is_recorded(found: Found) -> None:
    # A fragmented cache: little is given out, and yet nothing is left to reserve.
    hint = found([memory(2900, 0.6 * ROOM, 0.95 * ROOM), *RETRY])["memory-near-limit"]
    assert "76.0 GB of 80.0 GB reserved at most (95%)" in hint.evidence
    assert "memory-near-limit" not in found([memory(2900, 0.6 * ROOM, 0.7 * ROOM), *RETRY])


def test_an_allocation_that_failed_is_told_however_full_the_memory_was(found: Found) -> None:
    failed = memory(3150, 0.5 * ROOM, 0.6 * ROOM, name="[OutOfMemory]")
    hint = found([failed, call("cudaMalloc", 3000), call("cudaMalloc", 3200)])["memory-near-limit"]
    assert hint.evidence[0] == "an allocation failed 1 x ([OutOfMemory])"
    assert [region.start_ns for region in hint.regions] == [2_000_000]  # of the call before


MARK = slice_of("user_annotation", "DataParallel.forward", 2000, 50.0)


def test_data_parallel_on_two_gpus_is_told(found: Found) -> None:
    hint = found([MARK], devices=2)["data-parallel"]
    assert hint.evidence[0] == "DataParallel.forward called 1 x, work on 2 GPUs"
    assert "DistributedDataParallel" in hint.fix


def test_data_parallel_on_one_gpu_and_its_successor_are_not(found: Found) -> None:
    assert "data-parallel" not in found([MARK])
    other = slice_of("user_annotation", "DistributedDataParallel.forward", 2000, 50.0)
    assert "data-parallel" not in found([other], devices=2)


ZERO_GRAD = slice_of("user_annotation", "Optimizer.zero_grad#SGD.zero_grad", 2990.0, 40.0)


def test_gradients_filled_with_zeros_are_told(found: Found) -> None:
    hint = found([ZERO_GRAD, *work(3000.0, "aten::zero_", 400.0)])["grad-zero-fill"]
    assert hint.evidence[0].startswith("zero_grad's 1 x fills take ")
    assert "set_to_none" in hint.fix


def test_fills_elsewhere_or_too_short_are_not(found: Found) -> None:
    assert "grad-zero-fill" not in found(work(3000.0, "aten::zero_", 400.0))
    assert "grad-zero-fill" not in found([ZERO_GRAD, *work(3000.0, "aten::zero_", 2.0)])


def convolution(bias: bool = True, channels: int = 64, norm: str = "aten::batch_norm",
                took: float = 300.0) -> list[dict[str, Any]]:  # fmt: skip
    """A convolution that adds its bias, and the operator behind it."""
    conv: dict[str, Any] = {"Input Dims": [[8, 3, 32, 32], [64, 3, 3, 3], [64] if bias else []],
            "Input type": ["float", "float", "float" if bias else ""]}  # fmt: skip
    behind: dict[str, Any] = {"Input Dims": [[8, channels, 32, 32]], "Input type": ["float"]}
    return [
        slice_of("cpu_op", "aten::conv2d", 2995.0, 60.0, **conv),
        *work(3000.0, "aten::add_", took),
        slice_of("cpu_op", "aten::add_", 3060.0, 3.0),
        slice_of("cpu_op", norm, 3070.0, 30.0, **behind),
    ]


def test_a_bias_before_a_batch_norm_is_told(found: Found) -> None:
    hint = found(convolution())["conv-bias-before-bn"]
    assert hint.evidence[0].startswith("adding such biases takes ")
    assert "bias=False" in hint.fix


@pytest.mark.parametrize(
    "events",
    [
        convolution(bias=False),
        convolution(norm="aten::group_norm"),
        convolution(channels=128),  # of another tensor
        convolution(took=2.0),  # too short to matter
    ],
)
def test_a_bias_that_matters_or_costs_nothing_is_not(
    found: Found, events: list[dict[str, Any]]
) -> None:
    assert "conv-bias-before-bn" not in found(events)


def loop(items: int = 12, step: int = 1, launches: bool = True) -> list[dict[str, Any]]:
    """``x[i]`` and work on it, 100 us apart."""
    events: list[dict[str, Any]] = []
    for at in range(items):
        begun = 3000.0 + 100 * at
        select: dict[str, Any] = {
            "Input Dims": [[64, 32], [], []], "Input type": ["float", "Scalar", "Scalar"],
            "Concrete Inputs": ["", "0", str(at * step)],
        }  # fmt: skip
        events.append(slice_of("cpu_op", "aten::select", begun, 5.0, **select))
        if launches:
            events += work(begun + 10, "aten::add", 3.0)
    return events


def test_a_loop_over_items_is_told(found: Found) -> None:
    hint = found(loop())["loop-indexing"]
    assert hint.evidence[0].startswith("loops over items last ")
    assert hint.evidence[0].endswith("(1 x)")
    assert len(hint.regions) == 1


@pytest.mark.parametrize(
    "events",
    [
        loop(items=9),
        loop(step=2),  # every other item
        loop(step=0),  # the same item each time
        [*loop(launches=False), *work(5000.0, "aten::mm", 500.0)],  # on the CPU
        [*loop(items=3), slice_of("cpu_op", "aten::select", 9000.0, 5.0)],
    ],
)
def test_items_that_are_no_loop_are_not(found: Found, events: list[dict[str, Any]]) -> None:
    assert "loop-indexing" not in found(events)


def constant(made: str = "aten::zeros", name: str = "Memcpy HtoD (Pageable -> Device)",
             between: str = "", took: float = 200.0) -> list[dict[str, Any]]:  # fmt: skip
    """A tensor that is made on the CPU, with an operator inside, and copied."""
    inside = [slice_of("cpu_op", between, 3012.0, 1.0)] if between else []
    return [
        slice_of("cpu_op", made, 3000.0, 10.0),
        slice_of("cpu_op", "aten::empty", 3002.0, 2.0),
        *inside,
        slice_of("cpu_op", "aten::to", 3014.0, took),
        slice_of("cpu_op", "aten::_to_copy", 3015.0, took - 2),
        slice_of("cpu_op", "aten::copy_", 3016.0, took - 4),
        slice_of("cuda_runtime", "cudaMemcpyAsync", 3017.0, took - 6, correlation=77),
        slice_of("gpu_memcpy", name, 3030.0, 5.0, 0, 7, device=0, stream=7, correlation=77,
                 bytes=4096),
    ]  # fmt: skip


def test_a_constant_that_is_made_on_the_cpu_is_told(found: Found) -> None:
    hint = found(constant())["constant-from-cpu"]
    assert hint.evidence[0].startswith("making and moving constants lasts ")
    assert hint.regions[0].end_ns - hint.regions[0].start_ns == 200_000


@pytest.mark.parametrize(
    "events",
    [
        constant(made="aten::cat"),  # data
        constant(name="Memcpy DtoD (Device -> Device)"),
        constant(between="aten::add"),  # something was done with it first
        [slice_of("cpu_op", "aten::zeros", 3000.0, 300.0), *constant()[2:]],  # its maker copies
        [*constant(took=10.0), *work(8000.0, "aten::mm", 4000.0)],  # too short to matter
    ],
)
def test_data_that_is_copied_is_no_constant(found: Found, events: list[dict[str, Any]]) -> None:
    assert "constant-from-cpu" not in found(events)


def test_a_toy_that_makes_its_input_on_the_cpu_is_told_so(traces: Path) -> None:
    hints = [one for one in analysed(traces / "hta_mi250_toy.json.gz").findings
             if one.rule == "constant-from-cpu"]  # fmt: skip
    assert [len(hint.regions) for hint in hints] == [2]


@pytest.mark.parametrize(
    ("events", "setting", "figure"),
    [
        ([memory(2900, 0.6 * ROOM), *RETRY], "rules.memory-near-limit.full", 0.6),
        (loop(items=9), "rules.loop-indexing.items", 9),
    ],
)
def test_what_nearly_is_tells_the_figure_that_kept_it_out(
    tmp_path: Path, events: list[dict[str, Any]], setting: str, figure: float
) -> None:
    (near,) = (one for one in near_misses(recorded(tmp_path, events)) if one.setting == setting)
    assert near.figure == pytest.approx(figure, rel=0.002)
    assert near.time_ns == 0 and near.setting.split(".")[1] == near.rule


def test_what_is_far_from_every_threshold_is_not_near(tmp_path: Path) -> None:
    events = [memory(2900, 0.4 * ROOM), *RETRY, *loop(items=4)]
    hints = {one.rule for one in near_misses(recorded(tmp_path, events))}
    assert not hints & {"memory-near-limit", "loop-indexing"}

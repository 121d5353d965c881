"""A call of the device counts for the allocator of its own process and GPU, and for no other."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from whichlayer.analysis.kernels.rules.memory_near_limit import INFERENCE, TRAINING
from whichlayer.analysis.pipeline import analyse
from whichlayer.analysis.reader import open_trace
from whichlayer.analysis.results import Analysis, Finding

GB = 1_000_000_000
ROOM = 80 * GB
Event = dict[str, Any]


def slice_of(cat: str, name: str, at: float, took: float, process: int, **args: Any) -> Event:
    tid = args.pop("thread", process)
    return {"ph": "X", "cat": cat, "name": name, "pid": process, "tid": tid, "ts": at,
            "dur": took, "args": args}  # fmt: skip


def work(process: int, device: int, thread: int | None = None, steps: int = 6) -> Iterable[Event]:
    """Steps of 1 ms that launch a kernel each on one GPU."""
    thread = thread or process
    for step in range(steps):
        at, number = 1000.0 * step, 1000 * thread + step
        yield slice_of("user_annotation", f"ProfilerStep#{step}", at, 999, process, thread=thread)
        yield slice_of("cpu_op", "aten::mul", at + 100, 50, process, thread=thread)
        yield slice_of("cuda_runtime", "cudaLaunchKernel", at + 110, 5, process,
                       thread=thread, correlation=number)  # fmt: skip
        yield {"ph": "X", "cat": "kernel", "name": "a_kernel", "pid": device, "tid": 7,
               "ts": at + 120, "dur": 800,
               "args": {"device": device, "stream": 7, "correlation": number}}  # fmt: skip


def calls(process: int, name: str, *places: float, thread: int | None = None,
          steps: int = 6) -> Iterable[Event]:  # fmt: skip
    for step in range(steps):
        for place in places:
            at = 1000.0 * step + place
            yield slice_of("cuda_runtime", name, at, 5, process, thread=thread or process)


def memory(process: int, device: int, held: float, reserved: float, place: float = 130.0,
           thread: int | None = None, steps: int = 6) -> Iterable[Event]:  # fmt: skip
    """In each step 8 GB are taken and given back four times."""
    for step in range(steps):
        for turn in range(8):
            size = 8 * GB * (1, -1)[turn % 2]
            args = {"Total Allocated": held, "Total Reserved": reserved, "Bytes": size,
                    "Device Type": 1, "Device Id": device}  # fmt: skip
            yield {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]",
                   "pid": process, "tid": thread or process,
                   "ts": 1000.0 * step + place + turn, "args": args}  # fmt: skip


def found(folder: Path, *events: Iterable[Event]) -> dict[str, Finding]:
    return {one.rule: one for one in recorded(folder, *events).findings}


def recorded(folder: Path, *events: Iterable[Event]) -> Analysis:
    cards = [{"id": number, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": ROOM,
              "numSms": 132, "computeMajor": 9, "computeMinor": 0, "warpSize": 32}
             for number in (0, 1)]  # fmt: skip
    path = folder / "recording.json"
    all_of_them = [event for some in events for event in some]
    path.write_text(
        json.dumps({"schemaVersion": 1, "deviceProperties": cards, "traceEvents": all_of_them})
    )
    return analyse(open_trace(path))


FULL = (76 * GB, 76 * GB)
SMALL = (8 * GB, 10 * GB)
ASKS, GIVES = (10.0, 50.0), (20.0, 30.0)


@pytest.mark.parametrize("other", [False, True])
def test_only_the_process_that_is_full_gives_back_under_pressure(
    other: bool, tmp_path: Path
) -> None:
    process = 2000 if other else 1000
    rules = found(
        tmp_path, work(1000, 0), work(2000, 1), memory(1000, 0, *FULL),
        calls(process, "cudaMalloc", *ASKS), calls(process, "cudaFree", *GIVES),
    )  # fmt: skip
    assert ("memory-near-limit" in rules) is not other


@pytest.mark.parametrize("other", [False, True])
def test_of_one_process_only_the_thread_of_the_full_gpu_counts(other: bool, tmp_path: Path) -> None:
    thread = 2 if other else 1
    rules = found(
        tmp_path, work(1000, 0, thread=1), work(1000, 1, thread=2),
        memory(1000, 0, *FULL, thread=1),
        calls(1000, "cudaMalloc", *ASKS, thread=thread),
        calls(1000, "cudaFree", *GIVES, thread=thread),
    )  # fmt: skip
    assert ("memory-near-limit" in rules) is not other


@pytest.mark.parametrize("other", [False, True])
def test_the_allocator_that_reports_next_in_the_operator_counts_whatever_the_thread_launches(
    other: bool, tmp_path: Path
) -> None:
    """Only GPU 0 is full, on which the thread launches; where ``other``, GPU 1 reports next."""
    first, second = (1, 0) if other else (0, 1)
    rules = found(
        tmp_path, work(1000, 0), work(1000, 1, thread=2000),
        memory(1000, first, *(SMALL if other else FULL)),
        memory(1000, second, *(FULL if other else SMALL), place=600.0),
        calls(1000, "cudaMalloc", 101.0, 109.0), calls(1000, "cudaFree", 103.0, 106.0),
    )  # fmt: skip
    assert ("memory-near-limit" in rules) is not other


def test_a_pool_of_the_driver_is_not_the_device(tmp_path: Path) -> None:
    for held in (FULL, SMALL):
        rules = found(
            tmp_path, work(1000, 0), memory(1000, 0, *held),
            calls(1000, "cudaMallocAsync", *ASKS), calls(1000, "cudaFreeAsync", *GIVES),
        )  # fmt: skip
        assert not {"memory-near-limit", "memory-churn"} & set(rules)


@pytest.mark.parametrize("process", [1000, 2000])
def test_memory_goes_back_and_is_asked_for_again_within_one_process(
    process: int, tmp_path: Path
) -> None:
    rules = found(
        tmp_path, work(1000, 0), work(2000, 1), memory(1000, 0, *SMALL),
        calls(1000, "cudaMalloc", *ASKS), calls(process, "cudaFree", *GIVES),
    )  # fmt: skip
    assert ("memory-churn" in rules) is (process == 1000)


def test_the_fix_is_that_of_inference_where_nothing_trains(tmp_path: Path) -> None:
    full = [
        *work(1000, 0), *memory(1000, 0, *FULL), *calls(1000, "cudaMalloc", *ASKS),
        *calls(1000, "cudaFree", *GIVES),
    ]  # fmt: skip
    assert found(tmp_path, full)["memory-near-limit"].fix == INFERENCE
    backward = slice_of("cpu_op", "autograd::engine::evaluate_function: MulBackward0", 200, 9, 1000)
    assert found(tmp_path, [*full, backward])["memory-near-limit"].fix == TRAINING
    bare = [event for event in full if event.get("cat") != "cpu_op"]
    fix = found(tmp_path, bare)["memory-near-limit"].fix
    assert INFERENCE in fix and TRAINING in fix

"""The simulator itself: hand-computed schedules, and the truth it tells about them."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from tests.simulator.actions import (
    COMM,
    COMPUTE,
    BlockingCopy,
    Call,
    Join,
    Launch,
    Node,
    Op,
    Program,
    Wait,
    Work,
)
from tests.simulator.cases import alone, herrings, mixed
from tests.simulator.engine import EVENT_COST, QUEUE, Run, run
from tests.simulator.recording import Recording, write
from tests.simulator.truth import find_truth, stretches

US = 1000
OFFSET = 50 * US  # a run starts recording this long after its lead


def kernel(uid: int, us: float, stream: int = COMPUTE, comm: bool = False) -> Work:
    return Work(uid, f"k{uid}", int(us * US), 10 * US, US, stream, comm=comm)


def launch(uid: int, us: float, call_us: float = 5, stream: int = COMPUTE) -> Launch:
    return Launch("cudaLaunchKernel", int(call_us * US), (kernel(uid, us, stream),))


def times(found: Run) -> list[tuple[float, float]]:
    return [((a.start - OFFSET) / US, (a.end - OFFSET) / US) for a in found.activities]


def program(*nodes: Node, causes: tuple[str, ...] = ()) -> Program:
    return Program(0, (nodes,), causes=frozenset(causes))


def test_a_kernel_starts_after_its_launch_and_after_its_stream() -> None:
    found = run(program(launch(1, 100), launch(2, 50), Wait(200 * US), launch(3, 10)))
    assert times(found) == [(10, 110), (111, 161), (220, 230)]


def test_a_stream_waits_for_the_event_of_another() -> None:
    found = run(program(launch(1, 100), Join(COMM, COMPUTE, US), launch(2, 40, stream=COMM)))
    assert times(found)[1][0] == 110 + EVENT_COST / US


def test_a_blocking_call_returns_when_the_device_is_done() -> None:
    sync = Call("cudaDeviceSynchronize", 3 * US, "device")
    found = run(program(launch(1, 100), sync, launch(2, 10)))
    assert times(found)[1] == (110 + 3 + 10, 133)


def test_a_full_queue_blocks_the_launching_thread() -> None:
    found = run(program(*(launch(i, 5000, call_us=1) for i in range(QUEUE + 2))))
    first, second = found.activities[0].start, found.activities[1].start
    assert found.activities[QUEUE - 1].launch_end == OFFSET + QUEUE * US
    assert found.activities[QUEUE].launch_end == max(first, OFFSET + QUEUE * US) + US
    assert found.activities[QUEUE + 1].launch_end == second + US


def test_a_pageable_copy_blocks_until_it_is_done() -> None:
    work = dataclasses.replace(kernel(2, 300), kind="memcpy", cause="h2d-pageable")
    copy = BlockingCopy("cudaMemcpyAsync", work, 20 * US, 5 * US, "h2d-pageable")
    found = run(program(launch(1, 100), copy, launch(3, 10)))
    assert times(found)[1:] == [(111, 411 ), (416 + 10, 436)]  # fmt: skip


def test_taking_a_cause_away_leaves_every_other_draw() -> None:
    case = next(c for c in mixed(5, 20) if len(c.plants) > 1)
    made = case.program()
    whole, less = run(made), run(made, frozenset({case.plants[0].cause}))
    lengths = {a.work.uid: a.work.ns for a in whole.activities}
    assert all(lengths[a.work.uid] == a.work.ns for a in less.activities)
    assert less.end <= whole.end


def test_truth_tells_the_stall_the_latency_and_what_would_be_there_anyway() -> None:
    made = program(
        launch(1, 100), Wait(500 * US, "python-overhead"), launch(2, 100), Wait(200 * US),
        launch(3, 100), causes=("python-overhead",),
    )  # fmt: skip
    _, truth = find_truth(made, Recording(stacks=True))
    second, third = truth.pieces[1], truth.pieces[2]
    assert [(p.cause, p.ns // US) for p in second.parts] == [
        ("python-overhead", 395), ("launch-latency", 10),
    ]  # fmt: skip
    # Without the stall kernel 2 runs until 211 and kernel 3 starts at 220: a wait of 9 remains.
    assert {p.cause: p.ns // US for p in third.parts}["launch-latency"] == 10
    assert truth.recovered == {"python-overhead": 500 * US}


def test_truth_charges_the_ramp_to_the_sync_that_drained_the_queue() -> None:
    sync = Call("cudaStreamSynchronize", 5 * US, "stream", "host-sync")
    made = program(
        launch(1, 400), sync, Op("aten::mul", 30 * US, (launch(2, 100),)), causes=("host-sync",)
    )
    _, truth = find_truth(made, Recording())
    # 410 to 415: still in the call; 415 to 445: the operator; 445 to 455: launch latency.
    assert [(p.cause, p.ns // US) for p in truth.pieces[1].parts] == [
        ("host-sync", 5), ("host-sync", 30), ("launch-latency", 10),
    ]  # fmt: skip


@pytest.mark.parametrize("index", range(0, 200, 23))
def test_pieces_and_compute_fill_the_run(index: int) -> None:
    case = list(mixed(9, 200))[index]
    full, truth = find_truth(case.program(), case.recording)
    for piece in truth.pieces:
        assert sum(part.ns for part in piece.parts) == piece.end - piece.start
    end = max(full.steps[-1][1], *(a.end for a in full.activities))
    gaps = sum(s.end - s.start for s in stretches(full, full.steps[-1][1]))
    compute = [
        (a.start, a.end) for a in full.activities if not a.work.comm and a.work.kind != "memcpy"
    ]
    covered, horizon = 0, full.recording_start
    for start, stop in sorted(compute):
        covered += max(min(stop, end) - max(start, horizon), 0)
        horizon = max(horizon, min(stop, end))
    assert covered + gaps == end - full.recording_start


def test_recordings_hold_only_what_they_should(tmp_path: Path) -> None:
    case = next(alone(3))
    found = run(case.program())
    path = tmp_path / "bare.json"
    bare = Recording(
        shapes=False,
        flows=False,
        loader=False,
        steps=False,
        notes=False,
        operators=False,
        rocm=True,
    )
    write(found, bare, path)
    events = json.loads(path.read_bytes())["traceEvents"]
    assert {e["cat"] for e in events} <= {"cuda_runtime", "kernel", "gpu_memcpy", "gpu_memset"}
    assert not any(e["name"].startswith("cuda") for e in events)


def test_half_of_the_mixed_cases_hand_over_between_threads() -> None:
    cases = list(mixed(2, 120))
    assert sum(c.style.train for c in cases) >= 60
    assert len({c.machine.name for c in cases}) == 5
    assert len(list(herrings(3, 3))) >= 30

"""Two processes that number their calls alike are never joined by luck."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whichlayer.analysis import analyse, load
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

Event = dict[str, Any]


def call(process: int, number: int, at: float, name: str = "cudaLaunchKernel") -> Event:
    return {"ph": "X", "cat": "cuda_runtime", "name": name, "pid": process, "tid": process,
            "ts": at, "dur": 2, "args": {"correlation": number}}  # fmt: skip


def kernel(process: int, number: int, at: float, device: int = 0, **args: object) -> Event:
    """A kernel whose name says which process it belongs to."""
    return {"ph": "X", "cat": "kernel", "name": f"of {process}", "pid": device, "tid": 7,
            "ts": at, "dur": 5,
            "args": {"correlation": number, "device": device, "stream": 7, **args}}  # fmt: skip


def loaded(events: list[Event], folder: Path) -> Trace:
    path = folder / "two.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return load(path, cache=False)


def joined(trace: Trace) -> list[tuple[str, str]]:
    """What each kernel is said to belong to, beside what it does."""
    found = []
    for row in np.flatnonzero(trace.kind == SliceKind.KERNEL).tolist():
        launch = int(trace.launch[row])
        lane = trace.lanes[int(trace.lane_id[launch])]
        found.append((trace.name(row), f"of {lane.pid}" if launch >= 0 else ""))
    return found


def two_programs(seed: int, devices: tuple[int, int], gap: float) -> list[Event]:
    """Two programs, each of which launches in order and runs on its device in order."""
    random, events = Random(seed), []
    for process, device in zip((100, 200), devices, strict=True):
        now, free = random.uniform(0, 300), 0.0
        for number in range(1, 60):
            now += random.expovariate(1 / gap)
            if random.random() < 0.2:
                events.append(call(process, number, now, "cudaStreamSynchronize"))
                continue
            events.append(call(process, number, now))
            free = max(free, now + random.uniform(3, 60))
            events.append(kernel(process, number, free, device))
            free += 5
    return events


@pytest.mark.parametrize("devices", [(0, 0), (0, 1)])
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), gap=st.sampled_from([3.0, 20.0, 200.0]))
def test_no_kernel_is_given_to_the_other_process(
    devices: tuple[int, int], seed: int, gap: float, tmp_path_factory: pytest.TempPathFactory
) -> None:
    events = two_programs(seed, devices, gap)
    told = joined(loaded(events, tmp_path_factory.mktemp("two")))
    assert all(mine in ("", truth) for truth, mine in told)


def test_on_a_device_each_nearly_everything_is_told(tmp_path: Path) -> None:
    told = joined(loaded(two_programs(1, (0, 1), 20.0), tmp_path))
    assert len(told) > 80
    assert sum(bool(mine) for _, mine in told) >= 0.95 * len(told)


def test_what_cannot_be_told_is_unknown_and_warned_of(tmp_path: Path) -> None:
    events: list[Event] = []
    for number in range(1, 30):
        at = 1000.0 * number
        events += [call(100, number, at), call(200, number, at + 1)]
        events += [kernel(100, number, at + 10), kernel(200, number, at + 20)]
    analysis = analyse(loaded(events, tmp_path))
    assert {mine for _, mine in joined(analysis.trace)} == {""}
    (warning,) = [one for one in analysis.warnings if one.code == "Q3"]
    assert "several processes used" in warning.message
    assert (warning.count, warning.severity.id) == (58, "doubt")
    found = [one for one in analysis.findings if one.rule == "unattributed"]
    assert found
    assert all("not in the file" not in " ".join((one.fix, *one.evidence)) for one in found)
    assert all("into a file of its own" in one.fix for one in found)
    causes = {analysis.gaps.rule_ids[code] for code in analysis.gaps.cause.tolist()}
    assert "launch-bound" not in causes


def test_the_same_external_id_tells_whose_it_is(tmp_path: Path) -> None:
    events: list[Event] = []
    for number in range(1, 30):
        at = 1000.0 * number
        for process, id_ in ((100, 5000 + number), (200, 9000 + number)):
            one = call(process, number, at)
            one["args"]["External id"] = id_
            events += [one, kernel(process, number, at + process, **{"External id": id_})]
    told = joined(loaded(events, tmp_path))
    assert all(mine == truth for truth, mine in told)


def test_calls_that_launch_nothing_are_no_choice(tmp_path: Path) -> None:
    events = [call(200, 7, 0, "cudaEventRecord"), call(100, 7, 1), kernel(100, 7, 10)]
    events += [call(200, 8, 20), kernel(200, 8, 30)]
    told = joined(loaded(events, tmp_path))
    assert told == [("of 100", "of 100"), ("of 200", "of 200")]


def test_one_process_may_use_a_number_again(tmp_path: Path) -> None:
    events = [call(100, 7, 0), kernel(100, 7, 10), call(100, 7, 100), kernel(100, 7, 110)]
    events += [call(200, 9, 20), kernel(200, 9, 30)]
    told = joined(loaded(events, tmp_path))
    assert all(mine == truth for truth, mine in told)


def test_overlap_of_two_processes_on_one_stream_number_is_explained(tmp_path: Path) -> None:
    events = [call(100, 1, 0), kernel(100, 1, 10), call(200, 2, 1), kernel(200, 2, 10)]
    for one in events:
        if one["cat"] == "kernel":
            one["dur"] = 50
    (warning,) = [one for one in analyse(loaded(events, tmp_path)).warnings if one.code == "Q5"]
    assert "several processes" in warning.message
    for one in events:
        if one["cat"] == "cuda_runtime":
            one["pid"] = one["tid"] = 100
    (warning,) = [one for one in analyse(loaded(events, tmp_path)).warnings if one.code == "Q5"]
    assert "several processes" not in warning.message


def test_a_number_that_only_another_process_used_joins_nothing(tmp_path: Path) -> None:
    events: list[Event] = []
    for number in range(1, 60):
        at = 100.0 * number
        process, device = (100, 0) if number % 2 else (200, 1)
        events += [call(process, number, at), kernel(process, number, at + 10, device)]
    # The call of this one was not recorded, and number 30 is the other's.
    events.append(kernel(100, 30, 10_000, 0))
    told = joined(loaded(events, tmp_path))
    assert sum(not mine for _, mine in told) == 1
    assert all(mine in ("", truth) for truth, mine in told)


def workers(shares: list[int], first: int = 1) -> list[Event]:
    """Processes on one stream, with so many launches each in turn.

    Args:
        shares: launches of each process and round.
        first: how far apart the numbers of the processes begin; 0 numbers all alike.
    """
    events: list[Event] = []
    at = 0.0
    for turn in range(8):
        for worker, share in enumerate(shares):
            for launch in range(share):
                number = 1 + 10_000 * worker * first + turn * share + launch
                process = 100 * (worker + 1)
                at += 20
                events += [call(process, number, at), kernel(process, number, at + 5)]
    return events


@pytest.mark.parametrize(
    "shares", [[1] * 12, [1] * 40, [50, 1], [1, 60], [40, 1, 1, 1], [19, 1, 1]]
)
def test_processes_with_little_of_a_stream_keep_their_launches(
    shares: list[int], tmp_path: Path
) -> None:
    analysis = analyse(loaded(workers(shares), tmp_path))
    told = joined(analysis.trace)
    assert all(mine == truth for truth, mine in told)
    assert not [one for one in analysis.warnings if one.code == "Q3"]


def test_twelve_processes_that_number_alike_are_told_by_their_order(tmp_path: Path) -> None:
    told = joined(loaded(workers([1] * 12, first=0), tmp_path))
    assert all(mine == truth for truth, mine in told)


def test_a_graph_of_a_process_with_little_of_a_stream_is_its_own(tmp_path: Path) -> None:
    events = workers([60])
    for turn in range(3):
        at = 50_000.0 + 100 * turn
        events.append(call(200, 900_000 + turn, at, "cudaGraphLaunch"))
        events += [kernel(200, 900_000 + turn, at + 10 + 6 * index) for index in range(5)]
    told = joined(loaded(events, tmp_path))
    assert all(mine == truth for truth, mine in told)


def test_a_graph_at_home_elsewhere_does_not_own_a_stray(tmp_path: Path) -> None:
    events = workers([60])
    events.append(call(200, 900_000, 50_000, "cudaGraphLaunch"))
    events += [kernel(200, 900_000, 50_010 + 6 * index, device=1) for index in range(5)]
    events.append(kernel(100, 900_000, 50_100))
    told = joined(loaded(events, tmp_path))
    assert [mine for truth, mine in told if mine != truth] == [""]


def test_a_number_of_another_process_alone_is_not_said_to_be_of_several(tmp_path: Path) -> None:
    events = [*workers([60]), call(200, 700_000, 5, "cudaEventRecord")]
    events += [kernel(100, 700_000, 50_000), kernel(100, 800_000, 50_010)]
    (told,) = [one for one in analyse(loaded(events, tmp_path)).warnings if one.code == "Q3"]
    assert "several processes" not in told.message
    assert "of another process than the rest" in told.message
    assert told.count == 1


@pytest.mark.parametrize("name", ["cudaEventRecord", "cudaStreamSynchronize"])
def test_a_call_that_launches_nothing_owns_nothing_on_the_stream_of_another(
    name: str, tmp_path: Path
) -> None:
    events = [*workers([60]), call(200, 700_000, 5, name), kernel(100, 700_000, 50_000)]
    told = joined(loaded(events, tmp_path))
    assert [mine for truth, mine in told if mine != truth] == [""]


def test_the_same_external_id_proves_a_launch_that_seems_to_be_later(tmp_path: Path) -> None:
    late = call(200, 700_000, 50_010)
    late["args"]["External id"] = 77
    events = [*workers([60]), late, kernel(200, 700_000, 50_000, **{"External id": 77})]
    assert all(mine == truth for truth, mine in joined(loaded(events, tmp_path)))
    events[-1]["args"]["External id"] = 78
    told = joined(loaded(events, tmp_path))
    assert [mine for truth, mine in told if mine != truth] == [""]


def test_ranks_that_were_merged_are_joined_as_each_alone(traces: Path, tmp_path: Path) -> None:
    folder, events, alone = traces / "dlrm_v100_8rank", [], 0
    for rank in (0, 1):
        path = folder / f"worker{rank}.pt.trace.json.gz"
        trace = load(path, cache=False)
        alone += int((trace.launch >= 0).sum())
        with gzip.open(path, "rt") as file:
            events += json.load(file)["traceEvents"]
    trace = loaded(events, tmp_path)
    rows = np.flatnonzero(trace.launch >= 0)
    assert len(rows) == alone
    process_of: dict[int, set[int | str]] = {}
    for row in rows.tolist():
        caller = trace.lanes[int(trace.lane_id[trace.launch[row]])].pid
        process_of.setdefault(trace.lanes[int(trace.lane_id[row])].device, set()).add(caller)
    assert [len(process_of[device]) for device in (0, 1)] == [1, 1]

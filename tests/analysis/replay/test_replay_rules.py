"""What a replay recomputes, on small recordings whose schedule can be worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.program import AUTOGRAD, Program
from tests.support.replaying import base_replay, replayer_of
from whichlayer.analysis import Analysis, Options
from whichlayer.analysis.replay.engine import replay
from whichlayer.analysis.replay.removal import nothing
from whichlayer.analysis.replay.schedule import CallKind

LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
WORKERS = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"


def gain(analysis: Analysis, cause: str) -> float | None:
    """Microseconds that the window is shorter without a cause."""
    found = replayer_of(analysis).without_cause(cause, analysis.gaps)
    return None if found is None else found / 1000


def worth(analysis: Analysis, rule: str) -> float | None:
    """The recoverable microseconds of a finding."""
    found = next(f for f in analysis.findings if f.rule == rule)
    return None if found.recoverable_ns is None else found.recoverable_ns / 1000


def test_without_the_loader_the_launches_that_followed_it_come_as_much_earlier(
    tmp_path: Path,
) -> None:
    program = Program()
    program.kernel("first", 10, 90, (0, 5))
    program.annotation(LOADER, 50, 900)
    program.kernel("second", 970, 100, (960, 5))
    analysis = program.analysis(tmp_path)
    # The launch would come at 60, and its kernel would wait for the first until 100.
    assert worth(analysis, "dataloader-wait") == pytest.approx(970 - 100, abs=2)


def test_a_loader_that_the_queue_covers_gains_nothing(tmp_path: Path) -> None:
    program = Program()
    program.kernel("long", 10, 2000, (0, 5))
    program.annotation(LOADER, 20, 900)
    program.kernel("next", 2011, 500, (930, 5))
    assert gain(program.analysis(tmp_path), "dataloader-wait") == 0


def test_the_end_of_a_wait_is_worked_out_anew_and_not_copied(tmp_path: Path) -> None:
    program = Program()
    program.kernel("first", 10, 90, (0, 5))
    program.annotation(LOADER, 200, 1000)
    program.kernel("second", 1220, 300, (1210, 5))
    program.call("cudaDeviceSynchronize", 1220, 305)  # until the second ends
    program.kernel("third", 1545, 100, (1535, 5))
    # The wait and what follows it move with the second kernel, by the whole loader call.
    assert gain(program.analysis(tmp_path), "dataloader-wait") == pytest.approx(1000, abs=2)


def test_without_the_wait_the_host_is_ahead_and_the_ramp_is_gone(tmp_path: Path) -> None:
    program = Program()
    program.kernel("long", 10, 990, (0, 5))
    program.call("cudaDeviceSynchronize", 20, 985)
    for i in range(10):
        begin = 1050 + 40 * i
        program.operator("aten::add", begin - 30, 38)
        program.kernel("short", begin + 10, 10, (begin, 5))
    # The ten kernels of 10 µs follow the long one directly.
    analysis = program.analysis(tmp_path)
    assert worth(analysis, "host-sync") == pytest.approx(1430 - 1110, abs=5)


def waits_on_host_for(work: str, category: str, call: str) -> Program:
    """The host waits for work of another stream before it launches what uses it, 200 µs late."""
    program = Program()
    program.kernel("compute", 10, 100, (0, 5))
    program.kernel(work, 25, 1000, (10, 5), stream=20, category=category, call=call)
    program.call("cudaStreamSynchronize", 20, 1010)
    program.operator("aten::mm", 1030, 210)
    program.kernel("uses", 1235, 3000, (1225, 5))
    return program


@pytest.mark.parametrize(
    ("work", "category", "call"),
    [
        ("ncclDevKernel_AllReduce_Sum_f32_RING_LL", "kernel", "cudaLaunchKernel"),
        ("ncclDevKernel_SendRecv", "kernel", "cudaLaunchKernel"),
        ("Memcpy HtoD (Pinned -> Device)", "gpu_memcpy", "cudaMemcpyAsync"),
    ],
)
def test_without_the_hosts_wait_kernels_still_wait_for_what_they_use(
    tmp_path: Path, work: str, category: str, call: str
) -> None:
    analysis = waits_on_host_for(work, category, call).analysis(tmp_path)
    # Only the late launch is gained: 1235 becomes 1025, the end of what is used.
    assert gain(analysis, "host-sync") == pytest.approx(210, abs=5)


def test_without_the_hosts_wait_nothing_waits_for_a_copy_to_the_host(tmp_path: Path) -> None:
    program = waits_on_host_for("Memcpy DtoH (Device -> Pinned)", "gpu_memcpy", "cudaMemcpyAsync")
    gained = gain(program.analysis(tmp_path), "host-sync")
    assert gained is not None
    assert gained > 900


def test_the_threads_that_go_on_after_a_wait_for_a_collective_wait_too(tmp_path: Path) -> None:
    program = Program()
    program.kernel("forward", 10, 50, (0, 5))
    program.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 25, 1000, (10, 5), stream=20)
    program.call("cudaStreamSynchronize", 20, 1010)
    program.kernel("loss", 1245, 20, (1235, 5))
    name = "autograd::engine::evaluate_function: MmBackward0"
    program.operator(name, 1270, 30, AUTOGRAD)
    program.kernel("backward", 1290, 3000, (1280, 5), thread=AUTOGRAD)
    gained = gain(program.analysis(tmp_path), "host-sync")
    assert gained is not None
    assert gained <= 1290 - 1025


def test_a_thread_that_waited_for_another_comes_earlier_with_it(tmp_path: Path) -> None:
    program = Program()
    program.kernel("forward", 10, 50, (0, 5))
    program.annotation(LOADER, 60, 800)
    program.kernel("loss", 880, 20, (870, 5))
    program.operator("autograd::engine::evaluate_function: MmBackward0", 920, 30, AUTOGRAD)
    program.kernel("backward", 940, 100, (930, 5), thread=AUTOGRAD)
    program.operator("aten::add_", 960, 20)
    program.kernel("update", 1045, 60, (965, 5))
    analysis = program.analysis(tmp_path)
    assert gain(analysis, "dataloader-wait") == pytest.approx(800, abs=10)


def test_batches_of_worker_processes_come_no_earlier(tmp_path: Path) -> None:
    program = Program()
    program.kernel("first", 10, 90, (0, 5))
    program.operator("aten::sort", 100, 3000)
    program.annotation(WORKERS, 3200, 4000)
    program.kernel("second", 7220, 1000, (7210, 5))
    analysis = program.analysis(tmp_path)
    # Without the operator the host only waits longer for the same batch.
    assert gain(analysis, "cpu-operator") == 0
    assert gain(analysis, "dataloader-wait") == pytest.approx(4000, abs=2)


def test_a_collective_delays_what_waited_for_it_as_long_as_it_runs(tmp_path: Path) -> None:
    program = Program()
    program.kernel("compute", 10, 100, (0, 5))
    program.kernel("ncclAllReduce", 112, 1000, (10, 5), stream=20)
    program.call("cudaStreamWaitEvent", 17, 1)
    program.kernel("after", 1114, 100, (20, 5))
    analysis = program.analysis(tmp_path)
    assert worth(analysis, "exposed-comm") == pytest.approx(1000, abs=5)


def sync_event(program: Program, kind: str, start: float, call: int, **args: int) -> None:
    """A synchronisation event as ``enable_cuda_sync_events`` records it."""
    known = {"device": 0, "stream": 7, "cuda_sync_kind": kind, "correlation": call} | args
    program.slice("cuda_sync", kind, start, 1, pid=0, tid=7, args=known)


def test_a_recorded_event_says_what_a_stream_waits_for(tmp_path: Path) -> None:
    program = Program()
    program.kernel("other", 10, 890, (0, 5), stream=20)
    recorded = program.call("cudaEventRecord", 6, 1)
    waited = program.call("cudaStreamWaitEvent", 8, 1)
    sync_event(
        program, "Stream Wait Event", 9, waited,
        wait_on_stream=20, wait_on_cuda_event_record_corr_id=recorded,
    )  # fmt: skip
    program.annotation(LOADER, 20, 1000)
    program.kernel("after", 1036, 100, (1026, 5))
    # The event was over in time; without the loader it is what the kernel waits for, until 900.
    analysis = program.analysis(tmp_path)
    assert gain(analysis, "dataloader-wait") == pytest.approx(1036 - 900, abs=5)


def test_a_recorded_event_says_what_the_host_waits_for(tmp_path: Path) -> None:
    program = Program()
    program.kernel("first", 10, 100, (0, 5))
    recorded = program.call("cudaEventRecord", 6, 1)
    program.kernel("second", 111, 1000, (12, 5))
    waited = program.call("cudaEventSynchronize", 20, 95)
    sync_event(
        program, "Event Sync", 20, waited,
        wait_on_stream=7, wait_on_cuda_event_record_corr_id=recorded,
    )  # fmt: skip
    base = base_replay(program.trace(tmp_path))
    assert base is not None
    (call,) = np.flatnonzero(base.schedule.calls.kind == CallKind.WAIT)
    assert base.schedule.waits.of(int(call)).tolist() == [0]


def test_a_full_queue_holds_the_thread_in_a_replay_too(tmp_path: Path) -> None:
    program = Program()
    for i in range(1100):
        begin = 3.0 * i if i < 1024 else 20 + 100.0 * (i - 1023)
        program.kernel("k", 10 + 100.0 * i, 99, (begin, 2))
    base = base_replay(program.trace(tmp_path))
    assert base is not None
    schedule = base.schedule
    removal = nothing(schedule)
    cut = removal.cut_ns.copy()
    cut[1050] = 10_000_000  # no host time at all before this call …
    faster = replay(schedule, 0, replace(removal, cut_ns=cut))
    # … and yet it cannot return before the queue has room again.
    assert faster.leave_ns[1050] >= faster.start_ns[1050 - schedule.timing.depth]


def test_what_one_launch_does_instead_of_many_never_fills_the_queue(tmp_path: Path) -> None:
    program = Program()
    program.kernel("long", 10, 30_000, (0, 5))
    program.annotation("Optimizer.step#Adam.step", 20, 40 * 1200)
    for i in range(1200):
        begin = 25 + 40 * i
        program.operator("aten::addcmul_", begin, 35)
        program.kernel("elementwise", max(30_011 + 4 * i, begin + 26), 3, (begin + 20, 5))
    program.operator("aten::sort", 48_100, 20_000)
    program.kernel("next", 68_126, 1000, (68_120, 5))
    analysis = program.analysis(tmp_path)
    # The host sorts while the first kernel runs, which it could not with 1200 launches queued.
    gained = gain(analysis, "optimizer-loop")
    assert gained == pytest.approx(68_126 - (30_011 + 4 * 1200), rel=0.02)


def pageable(program: Program, start: float, length: float, staged: float) -> float:
    """A copy that blocks its thread until it returns."""
    name = "Memcpy HtoD (Pageable -> Device)"
    program.copy(name, start + staged, length, (start, staged + length + 2))
    return start + staged + length + 2


@pytest.mark.parametrize("left", [0, 40])
def test_a_blocking_copy_cannot_start_before_it_was_staged(tmp_path: Path, left: float) -> None:
    """Whether its stream was still busy for a moment when the call began makes no difference."""
    program = Program()
    program.kernel("long", 10, 600, (0, 5))
    program.annotation(LOADER, 20, 1000)
    program.kernel("first", 1040, 60 + left, (1030, 5))
    after = pageable(program, 1100, 1000, 300)
    program.kernel("second", after + 20, 100, (after + 10, 5))
    # Without the loader the copy is staged behind the long kernel, and follows the first at once.
    gained = gain(program.analysis(tmp_path), "dataloader-wait")
    assert gained == pytest.approx(1400 - (610 + 60 + left), abs=10)


def test_the_pause_before_an_operator_goes_with_it(tmp_path: Path) -> None:
    program = Program()
    at = 0.0
    for _ in range(40):
        program.operator("aten::mul", at, 20)
        program.kernel("mul", at + 16, 5, (at + 10, 5))
        program.operator("aten::item", at + 50, 40)
        back = "Memcpy DtoH (Device -> Pageable)"
        program.copy(back, at + 68, 2, (at + 55, 30), bytes=4)
        at += 100
    analysis = program.analysis(tmp_path)
    # 30 µs of pause and 40 µs of item() a round, but for the last.
    assert gain(analysis, "host-sync") == pytest.approx(70 * 39.5, rel=0.02)


def test_kernels_of_one_graph_keep_their_distances(tmp_path: Path) -> None:
    program = Program()
    program.annotation(LOADER, 0, 900)
    number = program.call("cudaGraphLaunch", 910, 30)
    for i in range(5):
        program.kernel(f"node{i}", 930 + 30 * i, 20, correlation=number)
    program.kernel("alone", 10, 100, (0, 5))
    base = base_replay(program.trace(tmp_path))
    assert base is not None
    assert np.abs(base.error_ns).max() <= 1_000


def test_nothing_is_told_where_launches_are_missing(tmp_path: Path) -> None:
    program = Program()
    for i in range(10):
        program.kernel("lost", 10 + 200 * i, 100)
    program.annotation(LOADER, 2100, 900)
    program.kernel("second", 3020, 900, (3010, 5))
    analysis = program.analysis(tmp_path)
    finding = next(f for f in analysis.findings if f.rule == "dataloader-wait")
    assert finding.recoverable_ns is None
    assert any("launches of" in line and "not in the file" in line for line in finding.evidence)


def test_what_only_the_measuring_took_is_not_replayed(tmp_path: Path) -> None:
    program = Program()
    program.kernel("first", 10, 90, (0, 5))
    program.kernel("second", 1210, 100, (1200, 5))
    analysis = program.analysis(tmp_path)
    assert gain(analysis, "unattributed") is None
    assert gain(analysis, "no-such-cause") is None


def test_a_part_of_a_recording_is_replayed_by_itself(tmp_path: Path) -> None:
    program = Program()
    for i in range(4):
        begin = 2000 * i
        program.step(i, begin, 1990)
        program.annotation(LOADER, begin + 10, 900)
        program.kernel("work", begin + 930, 1000, (begin + 920, 5))
    one = program.analysis(tmp_path, Options(steps=(2, 2)))
    assert worth(one, "dataloader-wait") == pytest.approx(900, abs=25)


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Kernels, waits and holes on two threads and three streams, in any order."""
    program = Program()
    now = 0.0
    times = st.floats(0, 500).map(lambda x: round(x, 3))
    for _ in range(draw(st.integers(1, 16))):
        thread = draw(st.sampled_from((4242, AUTOGRAD)))
        now += draw(times)
        what = draw(st.integers(0, 5))
        if what == 5:
            kind = draw(st.sampled_from(("Stream Wait Event", "Event Sync", "Stream Sync")))
            number = draw(st.integers(100, 112))
            sync_event(
                program, kind, now, draw(st.integers(100, 112)), stream=draw(st.integers(7, 9)),
                wait_on_stream=draw(st.integers(-1, 9)), wait_on_cuda_event_record_corr_id=number,
            )  # fmt: skip
        elif what == 0:
            program.call("cudaDeviceSynchronize", now, draw(times), thread)
        elif what == 1:
            program.call("cudaStreamWaitEvent", now, draw(times), thread)
        else:
            length, begin = draw(times), now + draw(st.floats(-5, 900).map(lambda x: round(x, 3)))
            launch = (now, draw(times)) if draw(st.booleans()) else None
            name = draw(st.sampled_from(("k", "ncclKernel", "Memcpy HtoD (Pageable -> Device)")))
            program.kernel(
                name, begin, length, launch, thread=thread,
                stream=draw(st.integers(7, 9)), category="kernel" if name[0] != "M" else "gpu_memcpy",
            )  # fmt: skip
    return program


@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(programs())
def test_any_recording_is_replayed_or_a_reason_told(tmp_path: Path, program: Program) -> None:
    analysis = program.analysis(tmp_path)
    window = (analysis.window.end_ns - analysis.window.start_ns) * max(len(analysis.devices), 1)
    replayer = replayer_of(analysis)
    for cause in set(analysis.gaps.rule_ids):
        found = replayer.without_cause(cause, analysis.gaps)
        assert found is None or 0 <= found <= 2 * window + 1_000_000


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(programs())
def test_work_keeps_its_length_and_a_wait_lasts_until_what_it_waits_for_has_ended(
    tmp_path: Path, program: Program
) -> None:
    base = base_replay(program.trace(tmp_path))
    if base is None:
        return
    schedule = base.schedule
    found = replay(schedule, 0, nothing(schedule))
    assert (found.end_ns - found.start_ns == schedule.work.end_ns - schedule.work.start_ns).all()
    waits = np.flatnonzero(schedule.calls.kind == CallKind.WAIT)
    for call in waits.tolist():
        assert all(found.end_ns[schedule.waits.of(call)] <= found.leave_ns[call] + 30_000)

"""Each cause where it must be found and where it must not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.program import AUTOGRAD, Program, gap_time
from whichlayer.analysis import Options, analyse
from whichlayer.analysis.gaps.explain import explain_gap
from whichlayer.analysis.layers import Layer

LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"


def two_kernels(second_launch: float, second_start: float) -> Program:
    """A kernel until 100 µs, and one that comes later."""
    program = Program()
    program.kernel("first", 10, 90, (0, 5))
    program.kernel("second", second_start, 100, (second_launch, 5))
    return program


def test_the_loader_that_keeps_the_next_launch_is_the_cause(tmp_path: Path) -> None:
    program = two_kernels(1010, 1016)
    program.annotation(LOADER, 50, 950)
    analysis = program.analysis(tmp_path)
    assert gap_time(analysis)["dataloader-wait"] == 910  # with its ramp
    index = list(analysis.gaps.cause).index(analysis.gaps.rule_ids.index("dataloader-wait"))
    text = explain_gap(analysis, index)
    assert text.layer == Layer.RUNTIME
    assert "num_workers" in text.fix


def test_a_loader_that_the_queue_covers_is_no_cause_beside_a_late_sync(tmp_path: Path) -> None:
    program = Program()
    program.kernel("long", 10, 1000, (0, 5))
    program.kernel("queued", 1011, 500, (6, 5))
    program.annotation(LOADER, 20, 600)
    program.call("cudaStreamSynchronize", 700, 1000)
    program.kernel("after", 1756, 100, (1750, 5))
    told = gap_time(program.analysis(tmp_path))
    assert "dataloader-wait" not in told
    assert told["host-sync"] == pytest.approx(1750 - 1511)


def test_operators_inside_the_loader_call_are_loading(tmp_path: Path) -> None:
    program = two_kernels(1010, 1016)
    program.annotation(LOADER, 50, 950)
    program.operator("aten::stack", 200, 700)
    assert gap_time(program.analysis(tmp_path))["dataloader-wait"] == 910


def test_loader_frames_tell_where_the_annotation_is_missing(tmp_path: Path) -> None:
    program = two_kernels(1010, 1016)
    program.frame("train.py(10): main", 0, 1100)
    program.frame("torch/utils/data/dataloader.py(630): __next__", 50, 950)
    analysis = program.analysis(tmp_path)
    assert gap_time(analysis)["dataloader-wait"] == 910  # with its ramp
    assert {str(explain_gap(analysis, i).where) for i in range(2)} == {"train.py:10"}


def test_a_sync_pays_for_the_ramp_it_caused_but_not_for_more(tmp_path: Path) -> None:
    program = Program()
    program.kernel("work", 10, 190, (0, 5))
    program.call("cudaDeviceSynchronize", 100, 105)  # waits 100 µs of work, returns at 205
    for i in range(20):  # each launch 40 µs apart, each kernel 10 µs: never ahead again
        begin = 240 + 40 * i
        program.operator("aten::add", begin - 30, 38)
        program.kernel("short", begin + 6, 10, (begin, 5))
    told = gap_time(program.analysis(tmp_path))
    # 5 µs of the call's tail and the 100 µs of lead that it cost: without the sync the launches at
    # 240, 280 and 320 come at 135, 175 and 215, so that all but 1 µs of three gaps is gone. Of
    # these each has 6 µs of launch latency, which is nobody's.
    assert told["host-sync"] == pytest.approx(105 - 18 + 1, abs=1)
    assert told["launch-bound"] == pytest.approx(35 + 19 * 24 - (88 - 5), abs=1)
    assert told["launch-latency"] == pytest.approx(20 * 6, abs=1)


def test_the_lead_that_a_sync_cost_lasts_until_it_is_spent(tmp_path: Path) -> None:
    program = Program()
    program.kernel("work", 10, 990, (0, 5))
    program.call("cudaDeviceSynchronize", 20, 985)
    program.kernel("long", 1046, 500, (1040, 5))
    program.kernel("queued", 1546, 100, (1050, 5))
    # Without the sync this launch would have come 980 µs earlier, long before it is needed.
    program.kernel("late", 1706, 100, (1700, 5))
    program.operator("aten::relu", 1600, 110)
    told = gap_time(program.analysis(tmp_path))
    assert told == {"host-sync": pytest.approx(40 + 54), "launch-latency": pytest.approx(12)}


def test_a_later_stall_eats_the_lead_that_a_sync_cost(tmp_path: Path) -> None:
    program = Program()
    program.kernel("big", 28, 600, (20, 5))
    program.operator("aten::item", 60, 590)
    program.copy("Memcpy DtoH (Device -> Pageable)", 629, 1, (62, 575), bytes=4)
    program.operator("aten::sort", 660, 3000)
    program.operator("aten::add", 3662, 16)
    program.kernel("m", 3680, 8, (3670, 5))
    for i in range(12):
        begin = 3690 + 40 * i
        program.operator("aten::add", begin, 30)
        program.kernel("short", begin + 28, 8, (begin + 20, 5))
    told = gap_time(program.analysis(tmp_path))
    assert told["cpu-operator"] == pytest.approx(3000)
    assert told["host-sync"] < 60
    assert told["launch-bound"] > 250


def test_syncs_in_a_row_keep_their_leads(tmp_path: Path) -> None:
    program = Program()
    program.kernel("big", 30, 2000, (20, 5))
    program.operator("aten::item", 60, 1980)
    program.copy("Memcpy DtoH (Device -> Pageable)", 2031, 1, (62, 1973), bytes=4)
    program.kernel("a", 2063, 60, (2055, 5))
    program.kernel("b", 2124, 20, (2080, 5))
    program.operator("aten::item", 2100, 60)
    program.copy("Memcpy DtoH (Device -> Pageable)", 2145, 1, (2102, 50), bytes=4)
    for i in range(10):
        begin = 2165 + 40 * i
        program.operator("aten::add", begin, 30)
        program.kernel("short", begin + 28, 8, (begin + 20, 5))
    assert "launch-bound" not in gap_time(program.analysis(tmp_path))


def test_a_blocking_copy_to_the_device_is_the_copy_not_a_sync(tmp_path: Path) -> None:
    program = Program()
    program.kernel("first", 10, 90, (0, 5))
    program.operator("aten::to", 55, 960)
    program.copy("Memcpy HtoD (Pageable -> Device)", 210, 800, (60, 955))
    program.kernel("second", 1030, 100, (1022, 5))
    told = gap_time(program.analysis(tmp_path))
    assert told["h2d-pageable"] == pytest.approx(110 + 800 + 12, abs=1)
    assert "host-sync" not in told


def test_a_blocking_copy_pays_for_the_ramp_of_all_that_its_call_waited_for(tmp_path: Path) -> None:
    program = Program()
    program.kernel("long", 10, 1000, (0, 5))
    program.operator("aten::to", 20, 995)
    program.copy("Memcpy HtoD (Pageable -> Device)", 1011, 1, (21, 993))
    program.kernel("after", 1206, 100, (1200, 5))
    told = gap_time(program.analysis(tmp_path))
    assert told["h2d-pageable"] == pytest.approx(1200 - 1010, abs=2)
    assert "launch-bound" not in told
    assert "host-sync" not in told


def test_a_copy_from_pinned_memory_is_exposed_only_where_nothing_computes(tmp_path: Path) -> None:
    program = Program()
    program.kernel("first", 10, 500, (0, 5))
    program.copy("Memcpy HtoD (Pinned -> Device)", 100, 600, (20, 5), stream=20)
    program.kernel("second", 702, 100, (30, 5))
    told = gap_time(program.analysis(tmp_path))
    assert told["h2d-exposed"] == 190
    assert "h2d-pageable" not in told


def test_item_waits_for_the_device(tmp_path: Path) -> None:
    program = Program()
    program.kernel("work", 10, 490, (0, 5))
    program.operator("aten::item", 20, 510)
    program.operator("aten::_local_scalar_dense", 21, 508)
    program.copy("Memcpy DtoH (Device -> Pageable)", 501, 1, (25, 490), bytes=4)
    program.call("cudaStreamSynchronize", 516, 10)
    program.kernel("next", 566, 100, (560, 5))
    told = gap_time(program.analysis(tmp_path))
    assert told["host-sync"] == pytest.approx(560 - 502 + 1, abs=2)


def test_item_of_a_cpu_tensor_is_no_sync(tmp_path: Path) -> None:
    program = two_kernels(190, 196)
    program.operator("aten::item", 100, 40)
    assert "host-sync" not in gap_time(program.analysis(tmp_path))


def test_dispatch_that_is_always_late_is_launch_bound(tmp_path: Path) -> None:
    program = Program()
    for i in range(30):
        program.operator("aten::add", 100 * i, 95)
        program.kernel("short", 100 * i + 96, 5, (100 * i + 90, 5))
    analysis = program.analysis(tmp_path)
    told = gap_time(analysis)
    assert told["launch-bound"] == pytest.approx(29 * 89, rel=0.01)
    assert analysis.findings[0].rule == "launch-bound"


def test_a_full_queue_is_not_launch_bound(tmp_path: Path) -> None:
    program = Program()
    for i in range(30):
        program.operator("aten::add", 20 * i, 18)
        # Launch calls that block because the queue is full: back-pressure, no finding.
        program.kernel("dense", 10 + 100 * i, 99, (20 * i + 1, 15))
    analysis = program.analysis(tmp_path)
    assert gap_time(analysis) == {}
    assert analysis.findings == ()


def test_freeing_memory_while_the_device_is_idle_is_the_allocator(tmp_path: Path) -> None:
    program = two_kernels(1020, 1026)
    program.operator("aten::convolution", 100, 930)
    program.call("cudaFree", 120, 880)
    told = gap_time(program.analysis(tmp_path))
    assert told["allocator"] == 880
    assert told["launch-bound"] == pytest.approx(40)


def test_an_allocation_that_the_queue_covers_costs_nothing(tmp_path: Path) -> None:
    program = Program()
    program.kernel("long", 10, 2000, (0, 5))
    program.call("cudaMalloc", 20, 500)
    program.kernel("queued", 2010, 100, (600, 5))
    assert gap_time(program.analysis(tmp_path)) == {}


def test_long_python_is_told_with_the_lead_that_it_cost(tmp_path: Path) -> None:
    program = Program()
    program.frame("train.py(1): main", 0, 5000)
    program.kernel("first", 10, 90, (0, 5))
    program.frame("train.py(50): log", 120, 1800)
    program.kernel("second", 2006, 100, (2000, 5))
    program.operator("aten::add", 2100, 50)
    program.kernel("third", 2196, 100, (2190, 5))
    analysis = program.analysis(tmp_path)
    # 1900 while it ran; 84 of the 95 µs that it ran under the first kernel's cover.
    assert gap_time(analysis)["python-overhead"] == pytest.approx(1900 + 84)
    finding = next(f for f in analysis.findings if f.rule == "python-overhead")
    assert str(finding.where) == "train.py:50"


def test_short_python_between_operators_is_dispatch(tmp_path: Path) -> None:
    program = Program()
    program.frame("train.py(1): main", 0, 5000)
    for i in range(30):
        program.operator("aten::add", 100 * i, 40)
        program.frame("train.py(7): bookkeeping", 100 * i + 45, 50)
        program.kernel("short", 100 * i + 41, 5, (100 * i + 35, 5))
    told = gap_time(program.analysis(tmp_path))
    assert "python-overhead" not in told
    assert told["launch-bound"] > 2500


def test_operators_in_host_memory_are_told(tmp_path: Path) -> None:
    program = two_kernels(1010, 1016)
    program.operator("aten::sort", 100, 900)
    assert gap_time(program.analysis(tmp_path))["cpu-operator"] == 900


def test_a_slow_view_inside_an_operator_that_launches_is_dispatch(tmp_path: Path) -> None:
    program = two_kernels(1010, 1016)
    program.operator("aten::ones", 100, 920)
    program.operator("aten::empty", 110, 800)
    told = gap_time(program.analysis(tmp_path))
    assert "cpu-operator" not in told
    assert told["launch-bound"] == pytest.approx(910)


def test_nothing_recorded_on_the_thread_is_unknown(tmp_path: Path) -> None:
    analysis = two_kernels(2010, 2016).analysis(tmp_path)
    assert gap_time(analysis)["unattributed"] == pytest.approx(1910)
    text = explain_gap(analysis, 0)
    assert "with_stack=True" in " ".join(text.evidence)


def test_a_kernel_without_a_launch_leaves_only_its_own_gap_unknown(tmp_path: Path) -> None:
    program = two_kernels(1010, 1016)
    program.annotation(LOADER, 50, 950)
    program.kernel("orphan", 2000, 100)
    told = gap_time(program.analysis(tmp_path))
    assert told["unattributed"] == pytest.approx(2000 - 1116)
    assert told["dataloader-wait"] == 910


def test_exposed_communication_is_what_no_computation_covers(tmp_path: Path) -> None:
    program = Program()
    program.kernel("backward", 10, 500, (0, 5))
    program.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 200, 800, (6, 5), stream=20)
    program.kernel("step", 1001, 100, (12, 5))
    analysis = program.analysis(tmp_path)
    assert gap_time(analysis) == {"exposed-comm": 490}
    assert analysis.devices[0].exposed_comm_ns == 490_000


def test_the_profiler_itself_is_nobodys_fault(tmp_path: Path) -> None:
    program = two_kernels(1010, 1016)
    program.operator("aten::add", 100, 920)
    program.slice("overhead", "Buffer Flush", 200, 700, pid=-1, tid=0)
    told = gap_time(program.analysis(tmp_path))
    assert told["profiler-overhead"] == 700
    assert told["launch-bound"] == pytest.approx(210)


def test_a_flush_between_operators_is_nobodys_fault_either(tmp_path: Path) -> None:
    program = two_kernels(1010, 1016)
    program.frame("train.py(1): main", 0, 2000)
    program.slice("overhead", "Buffer Flush", 110, 890, pid=-1, tid=0)
    told = gap_time(program.analysis(tmp_path))
    assert told["profiler-overhead"] == 890
    assert "python-overhead" not in told


def test_code_loaded_between_operators_is_module_loading(tmp_path: Path) -> None:
    program = two_kernels(1010, 1016)
    program.slice("overhead", "Lazy Function Loading", 110, 890, pid=-1, tid=0)
    assert gap_time(program.analysis(tmp_path))["module-load"] >= 890


def test_a_buffer_flush_beside_a_loader_call_leaves_the_loader_to_blame(tmp_path: Path) -> None:
    program = two_kernels(1010, 1016)
    program.annotation(LOADER, 50, 950)
    program.slice("overhead", "Buffer Flush", 200, 700, pid=-1, tid=0)
    told = gap_time(program.analysis(tmp_path))
    assert told["dataloader-wait"] == 910
    assert "profiler-overhead" not in told


def test_inside_a_graph_launch_the_host_is_never_late(tmp_path: Path) -> None:
    program = Program()
    correlation = program.kernel("a", 20, 100, (0, 15), call="cudaGraphLaunch")
    program.kernel("b", 170, 100, correlation=correlation)
    program.kernel("c", 330, 100, correlation=correlation)
    assert gap_time(program.analysis(tmp_path)) == {"in-graph-gap": 110}


def test_the_autograd_thread_late_because_main_was_blames_main(tmp_path: Path) -> None:
    program = Program()
    program.kernel("forward", 10, 90, (0, 5))
    program.frame("train.py(1): main", 0, 3000)
    program.frame("train.py(7): augment", 60, 900)
    program.frame("torch/autograd/graph.py(800): _engine_run_backward", 970, 1500)
    program.operator("AddmmBackward0", 1000, 30, thread=AUTOGRAD)
    program.kernel("backward", 1026, 100, (1020, 5), thread=AUTOGRAD)
    told = gap_time(program.analysis(tmp_path))
    assert told["python-overhead"] == pytest.approx(870 + 50)  # and the lead that it cost
    assert "unattributed" not in told


def test_main_late_because_backward_was_dispatching_blames_dispatch(tmp_path: Path) -> None:
    program = Program()
    program.step(1, 0, 1600)
    program.kernel("backward", 110, 90, (100, 5), thread=AUTOGRAD)
    for start in range(200, 1000, 50):
        program.operator("ViewBackward0", start, 45, thread=AUTOGRAD)
    program.call("cudaLaunchKernel", 990, 5, thread=AUTOGRAD)
    program.kernel("optimizer", 1016, 100, (1010, 5))
    told = gap_time(program.analysis(tmp_path))
    assert told["launch-bound"] == pytest.approx(100 + 810)


def test_queued_work_that_waits_without_a_reason_is_unknown(tmp_path: Path) -> None:
    program = Program()
    program.kernel("first", 10, 90, (0, 5))
    program.kernel("waits", 5000, 100, (6, 5))
    analysis = program.analysis(tmp_path)
    assert gap_time(analysis)["unattributed"] > 4800
    assert "enable_cuda_sync_events" in " ".join(
        explain_gap(analysis, len(analysis.gaps) - 1).evidence
    )


def test_a_slow_launch_into_an_empty_queue_is_module_loading(tmp_path: Path) -> None:
    program = Program()
    program.kernel("first", 10, 90, (0, 5))
    program.operator("aten::conv2d", 100, 1000)
    program.kernel("second", 1020, 100, (105, 910))
    told = gap_time(program.analysis(tmp_path))
    assert told["module-load"] == pytest.approx(890, abs=25)


@pytest.mark.parametrize("name", ["hipFree", "cuMemUnmap", "cudaHostAlloc", "hipMalloc"])
def test_allocation_calls_of_every_api_are_known(tmp_path: Path, name: str) -> None:
    program = two_kernels(1020, 1026)
    program.call(name, 120, 880)
    assert gap_time(program.analysis(tmp_path))["allocator"] == 880


@pytest.mark.parametrize(
    ("name", "blocks"),
    [
        ("cudaDeviceSynchronize", True),
        ("hipStreamSynchronize", True),
        ("cuCtxSynchronize", True),
        ("cudaMemcpy", True),
        ("hipMemcpyWithStream", True),
        ("cudaEventQuery", False),
        ("cudaStreamWaitEvent", False),
        ("cudaMemcpyAsync", False),
    ],
)
def test_which_calls_block(tmp_path: Path, name: str, blocks: bool) -> None:
    program = two_kernels(1020, 1026)
    program.call(name, 120, 880)
    assert ("host-sync" in gap_time(program.analysis(tmp_path))) == blocks


def test_what_is_captured_into_a_graph_does_not_run_and_proves_nothing(tmp_path: Path) -> None:
    program = two_kernels(3010, 3016)
    program.call("hipStreamBeginCapture", 120, 5)
    for start in range(130, 2900, 30):
        program.operator("aten::add", start, 25)
    program.call("hipStreamEndCapture", 2900, 50)
    told = gap_time(program.analysis(tmp_path))
    assert told["graph-capture"] == 2830
    assert told["launch-bound"] < 100


def test_a_slow_copy_call_has_loaded_no_code(tmp_path: Path) -> None:
    program = Program()
    program.kernel("first", 10, 90, (0, 5))
    program.copy("Memcpy HtoD (Pinned -> Device)", 1020, 100, (105, 910))
    assert "module-load" not in gap_time(program.analysis(tmp_path))


def test_a_blocking_copy_inside_the_loader_is_the_copy(tmp_path: Path) -> None:
    program = two_kernels(3010, 3016)
    program.annotation(LOADER, 50, 2950)
    program.operator("aten::to", 900, 1000)
    program.copy("Memcpy HtoD (Pageable -> Device)", 1000, 800, (910, 900))
    told = gap_time(program.analysis(tmp_path))
    assert told["h2d-pageable"] == pytest.approx(890, abs=15)
    assert told["dataloader-wait"] > 1900


def test_a_gap_has_the_same_cause_in_every_window(tmp_path: Path) -> None:
    program = Program()
    program.kernel("work", 10, 190, (0, 5))
    program.call("cudaDeviceSynchronize", 100, 105)
    for i in range(20):
        begin = 240 + 40 * i
        program.operator("aten::add", begin - 30, 38)
        program.kernel("short", begin + 6, 10, (begin, 5))
    trace = program.trace(tmp_path)
    whole, part = analyse(trace), analyse(trace, Options(span_ns=(500_000, 900_000)))
    told = {
        (int(a.gaps.start_ns[i]), a.gaps.rule(i))
        for a in (whole, part)
        for i in range(len(a.gaps))
        if 520_000 < a.gaps.start_ns[i] < 880_000
    }
    assert len(told) == len({start for start, _ in told})


def test_a_bystanders_loader_call_is_not_the_cause(tmp_path: Path) -> None:
    program = two_kernels(4010, 4016)
    program.kernel("side", 30, 5, (22, 5), stream=20, thread=77)
    program.annotation(LOADER, 100, 5000, thread=77)
    assert "dataloader-wait" not in gap_time(program.analysis(tmp_path))


def test_python_that_an_operator_calls_for_long_is_python(tmp_path: Path) -> None:
    program = two_kernels(5010, 5016)
    program.operator("MyFunctionBackward", 100, 4920)
    program.frame("mylib/ops.py(40): slow_numpy", 110, 4800)
    analysis = program.analysis(tmp_path)
    assert gap_time(analysis)["python-overhead"] > 4700
    assert str(analysis.findings[0].where) == "mylib/ops.py:40"


def test_waiting_for_a_queue_is_the_loaders_where_a_thread_loads(tmp_path: Path) -> None:
    program = two_kernels(3010, 3016)
    program.frame("train.py(5): main", 0, 4000)
    program.frame("queue.py(171): get", 100, 2850)
    program.annotation(LOADER, 60, 2880, thread=77)
    assert gap_time(program.analysis(tmp_path))["dataloader-wait"] > 2700


def test_an_annotation_around_everything_says_nothing_of_a_hole(tmp_path: Path) -> None:
    program = two_kernels(3010, 3016)
    program.annotation("Epoch", 0, 40_000)
    told = gap_time(program.analysis(tmp_path))
    assert "python-overhead" not in told
    assert told["unattributed"] > 2800


def test_collectives_on_the_host_are_communication(tmp_path: Path) -> None:
    program = two_kernels(3010, 3016)
    program.operator("c10d::barrier", 100, 2900)
    assert gap_time(program.analysis(tmp_path))["exposed-comm"] == 2900


@pytest.mark.parametrize(("every_step", "cause"), [(False, "warm-up"), (True, "allocator")])
def test_allocation_in_the_first_step_alone_is_warm_up(
    tmp_path: Path, every_step: bool, cause: str
) -> None:
    program = Program()
    for number in range(4):
        at = 3000 * number
        program.step(number, at, 2990)
        if number == 0 or every_step:
            program.call("cudaMalloc", at + 10, 2000)
        program.kernel("work", at + 2040, 900, (at + 2030, 5))
    told = gap_time(program.analysis(tmp_path))
    assert told[cause] >= 2000
    assert {"warm-up", "allocator"} - {cause} - told.keys()


def test_what_is_only_called_like_a_blocking_call_blocks_nothing(tmp_path: Path) -> None:
    program = two_kernels(3010, 3016)
    program.annotation("cudaStreamSynchronize", 100, 2900)
    program.frame("cudaStreamSynchronize", 110, 2800)
    assert "host-sync" not in gap_time(program.analysis(tmp_path))
    program.call("cudaStreamSynchronize", 110, 2890)
    assert "host-sync" in gap_time(program.analysis(tmp_path))


@pytest.mark.parametrize("beside", [False, True])
def test_a_copy_to_the_host_is_exposed_only_where_nothing_computes(
    tmp_path: Path, beside: bool
) -> None:
    program = Program()
    program.kernel("before", 10, 50, (0, 5))
    program.copy("Memcpy DtoH (Device -> Pinned)", 62, 500, (6, 5), stream=20)
    program.kernel("after", 62 if beside else 564, 520, (12, 5))
    told = gap_time(program.analysis(tmp_path))
    assert told.get("d2h-exposed", 0) == (0 if beside else pytest.approx(500, abs=3))
    assert "h2d-exposed" not in told and "host-sync" not in told

"""Causes of compiled, looping and distributed programs: where they are found and where not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.program import MAIN, Program, gap_time
from whichlayer.analysis import Options
from whichlayer.analysis.gaps.explain import explain_gap
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import Analysis, GapText

COMPILE = "_compile.compile_inner (dynamo_timed)"
RESUME = "model.py(40): torch_dynamo_resume_in_forward_at_52"
RECEIVE = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"


def two_kernels(second_launch: float) -> Program:
    """A kernel until 100 µs, and one that comes later."""
    program = Program()
    program.kernel("first", 10, 90, (0, 5))
    program.kernel("second", second_launch + 6, 100, (second_launch, 5))
    return program


def told_of(analysis: Analysis, rule: str) -> GapText:
    """What is said of the longest piece with a cause."""
    gaps = analysis.gaps
    own = [i for i in range(len(gaps)) if gaps.rule(i) == rule]
    return explain_gap(analysis, max(own, key=lambda i: int(gaps.end_ns[i] - gaps.start_ns[i])))


def test_a_recorded_collection_is_a_pause_of_the_collector(tmp_path: Path) -> None:
    program = two_kernels(5000)
    program.frame("train.py(12): step", 0, 5100)
    program.frame("Python GC", 150, 4800)
    analysis = program.analysis(tmp_path)
    assert gap_time(analysis)["gc-pause"] >= 4800
    text = told_of(analysis, "gc-pause")
    assert text.layer == Layer.PYTORCH and "gc.freeze" in text.fix
    assert any("Python GC" in line for line in text.evidence)
    assert text.where.file == "train.py"


def test_a_collection_that_the_queue_covers_costs_nothing(tmp_path: Path) -> None:
    program = Program()
    program.kernel("long", 10, 3000, (0, 5))
    program.frame("Python GC", 20, 2000)
    program.kernel("queued", 3010, 100, (2100, 5))
    assert gap_time(program.analysis(tmp_path)) == {}


@pytest.mark.parametrize(
    "name", ["gc.py(3): x", "<built-in method collect of builtins.PyLazyFrame object at 0x7f>"]
)
def test_python_of_a_similar_name_is_no_collection(tmp_path: Path, name: str) -> None:
    program = two_kernels(5000)
    program.frame(name, 150, 4800)
    assert "gc-pause" not in gap_time(program.analysis(tmp_path))


def steps_with(compiles_in: tuple[int, ...], steps: int = 3) -> Program:
    """Steps of 10 ms with one kernel each; some compile for 6 ms before it."""
    program = Program()
    for i in range(steps):
        begin = 10_000 * i
        program.step(i + 1, begin, 10_000)
        program.kernel("early", begin + 20, 100, (begin + 10, 5))
        if i in compiles_in:
            program.annotation(COMPILE, begin + 200, 6000)
            program.call("cudaDeviceSynchronize", begin + 3000, 2000)
            program.call("cuModuleLoadData", begin + 5100, 500)
        program.kernel("late", begin + 9000, 900, (begin + 6300, 5))
    return program


def test_a_compile_of_a_later_step_is_a_recompile_with_all_it_waits_for(tmp_path: Path) -> None:
    analysis = steps_with((2,)).analysis(tmp_path)
    told = gap_time(analysis)
    assert told["recompile"] == pytest.approx(6000)
    assert "host-sync" not in told and "module-load" not in told and "warm-up" not in told
    text = told_of(analysis, "recompile")
    assert text.layer == Layer.RUNTIME and "recompiles" in text.fix
    assert any("6.00 ms; in ProfilerStep#3" in line for line in text.evidence)


def test_the_first_compile_is_warm_up(tmp_path: Path) -> None:
    told = gap_time(steps_with((0,)).analysis(tmp_path))
    assert told["warm-up"] == pytest.approx(6000)
    assert "recompile" not in told


def test_a_program_that_compiles_in_every_step_is_not_warming_up(tmp_path: Path) -> None:
    told = gap_time(steps_with((0, 1, 2)).analysis(tmp_path))
    assert told["recompile"] == pytest.approx(18_000)
    assert "warm-up" not in told


def test_looking_up_a_compiled_variant_is_no_recompile(tmp_path: Path) -> None:
    program = steps_with(())
    program.operator("TorchDynamo Cache Lookup", 20_200, 300)
    program.operator("Torch-Compiled Region: 0/1", 20_500, 9000)
    assert "recompile" not in gap_time(program.analysis(tmp_path))


@pytest.mark.parametrize(
    ("around", "advice"),
    [
        ("torch/_inductor/runtime/triton_heuristics.py(900): run", "max-autotune"),
        ("torch/_dynamo/convert_frame.py(1130): _compile", "recompiles"),
    ],
)
def test_timing_candidates_in_every_step_is_told_to_tune_once(
    tmp_path: Path, around: str, advice: str
) -> None:
    tuning = "torch/_inductor/runtime/triton_heuristics.py(700): benchmark_all_configs"
    program = steps_with(())
    for step in range(3):
        program.frame(around, 10_000 * step + 150, 6200)
        program.frame(tuning, 10_000 * step + 200, 6000)
    text = told_of(program.analysis(tmp_path), "recompile")
    assert advice in text.fix
    assert ("TORCH_LOGS" in text.fix) is (advice == "recompiles")


def broken(proof: bool) -> Program:
    """Two compiled regions, operators and Python between them."""
    program = Program()
    program.frame("model.py(40): forward", 0, 3000)
    program.operator("Torch-Compiled Region: 0/0", 5, 60)
    program.kernel("triton_poi_fused_0", 40, 30, (30, 5))
    for i in range(20):
        program.operator("aten::mul", 80 + 40 * i, 30)
        program.kernel("eager", 105 + 40 * i, 3, (95 + 40 * i, 5))
    program.frame("json/encoder.py(183): encode", 900, 900)
    if proof:
        program.frame(RESUME, 1810, 1000)
    program.operator("TorchDynamo Cache Lookup", 1820, 20)
    program.operator("Torch-Compiled Region: 1/0", 1850, 400)
    program.kernel("triton_poi_fused_1", 1876, 100, (1870, 5))
    return program


def test_a_proven_graph_break_owns_what_lies_between_its_regions(tmp_path: Path) -> None:
    analysis = broken(proof=True).analysis(tmp_path)
    told = gap_time(analysis)
    assert told["graph-break"] > 1400
    assert "python-overhead" not in told
    text = told_of(analysis, "graph-break")
    assert text.layer == Layer.RUNTIME
    assert (text.where.file, text.where.line) == ("model.py", 52)
    evidence = " ".join(text.evidence)
    assert "broke at model.py:52, between Torch-Compiled Region: 0/0 and Torch-Compiled" in evidence
    assert "20 × aten::mul" in evidence


def nested(proof: bool) -> Program:
    """As Dynamo records it: the rest and its region run inside the function's own region."""
    program = Program()
    program.operator("Torch-Compiled Region: 0/0", 2, 2500)
    program.frame("model.py(40): forward", 4, 2490)
    program.operator("CompiledFunction", 10, 60)
    program.kernel("triton_poi_fused_0", 40, 30, (30, 5))
    program.operator("aten::nonzero", 300, 1400)
    program.operator("aten::empty", 900, 5)  # a millisecond of an operator's own is no dispatch
    program.kernel("eager", 1506, 3, (1500, 5))
    program.operator("Torch-Compiled Region: 1/0", 1810, 600)
    program.frame(RESUME if proof else "helpers.py(9): scale", 1812, 590)
    program.operator("AOTDispatcher Runtime Wrapper Prologue", 1850, 40)
    program.operator("CompiledFunction", 1900, 400)
    program.kernel("triton_poi_fused_1", 1956, 100, (1950, 5))
    return program


def test_a_break_ends_with_the_graph_inside_the_region_of_the_rest(tmp_path: Path) -> None:
    analysis = nested(proof=True).analysis(tmp_path)
    told = gap_time(analysis)
    assert told["graph-break"] == pytest.approx(1430 + 391, abs=15)
    assert told["launch-bound"] == pytest.approx(50, abs=5)
    evidence = " ".join(told_of(analysis, "graph-break").evidence)
    assert "between Torch-Compiled Region: 0/0 and Torch-Compiled Region: 1/0" in evidence
    assert "left out of the graphs: aten::nonzero" in evidence


def test_a_region_inside_another_is_a_hint_where_no_frame_proves_it(tmp_path: Path) -> None:
    analysis = nested(proof=False).analysis(tmp_path)
    gaps = analysis.gaps
    assert "graph-break" not in gap_time(analysis)
    texts = (" ".join(explain_gap(analysis, i).evidence) for i in range(len(gaps)))
    hint = "Torch-Compiled Region: 1/0 runs inside Torch-Compiled Region: 0/0, as after a graph"
    assert any(hint in text for text in texts)


def test_regions_without_that_frame_are_a_hint_and_no_cause(tmp_path: Path) -> None:
    analysis = broken(proof=False).analysis(tmp_path)
    told = gap_time(analysis)
    assert "graph-break" not in told
    assert told["python-overhead"] >= 900
    evidence = " ".join(told_of(analysis, "python-overhead").evidence)
    assert "a graph break, or regions compiled one by one" in evidence


def test_a_sync_inside_a_break_stays_a_sync(tmp_path: Path) -> None:
    program = Program()
    program.frame("model.py(40): forward", 0, 3000)
    program.operator("Torch-Compiled Region: 0/0", 5, 60)
    program.kernel("triton_poi_fused_0", 40, 1000, (30, 5))
    program.operator("aten::item", 80, 970)
    program.call("cudaStreamSynchronize", 90, 955)
    program.frame(RESUME, 1100, 1900)
    program.operator("Torch-Compiled Region: 1/0", 1200, 400)
    program.kernel("triton_poi_fused_1", 1226, 100, (1220, 5))
    told = gap_time(program.analysis(tmp_path))
    assert told["host-sync"] >= 5
    assert told["graph-break"] == pytest.approx(150, abs=10)


def test_a_rest_that_was_not_compiled_is_part_of_the_break(tmp_path: Path) -> None:
    program = Program()
    program.frame("model.py(40): forward", 0, 5000)
    program.operator("Torch-Compiled Region: 0/0", 5, 60)
    program.kernel("triton_poi_fused_0", 40, 30, (30, 5))
    program.frame(RESUME, 100, 4900)
    program.kernel("eager", 4016, 100, (4010, 5))
    assert gap_time(program.analysis(tmp_path))["graph-break"] >= 3900


def optimizer(name: str, count: int, *, frame: str = "", kernel: str = "elementwise") -> Program:
    """An optimizer whose operators launch a short kernel each, always late."""
    program = Program()
    program.kernel("before", 10, 20, (0, 5))
    program.annotation("Optimizer.step#Adam.step", 40, 40 * count + 20)
    if frame:
        program.frame(frame, 45, 40 * count + 10)
    for i in range(count):
        begin = 50 + 40 * i
        program.operator(name, begin, 30)
        program.kernel(kernel, begin + 26, 3, (begin + 20, 5))
    return program


def test_a_loop_over_tensors_is_told_by_its_operators(tmp_path: Path) -> None:
    analysis = optimizer("aten::addcmul_", 150).analysis(tmp_path)
    told = gap_time(analysis)
    assert told["optimizer-loop"] > 150 * 25
    assert told.get("launch-bound", 0) < 60
    text = told_of(analysis, "optimizer-loop")
    assert text.layer == Layer.PYTORCH and "fused=True" in text.fix
    assert any("launched 150 kernels" in line and "150 of them" in line for line in text.evidence)


def test_a_loop_over_few_tensors_is_told_by_its_frame_alone(tmp_path: Path) -> None:
    proof = "torch/optim/adam.py(392): _single_tensor_adam"
    few = optimizer("aten::addcmul_", 30, frame=proof)
    assert "optimizer-loop" in gap_time(few.analysis(tmp_path))
    unproven = optimizer("aten::addcmul_", 30)
    assert "optimizer-loop" not in gap_time(unproven.analysis(tmp_path))


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        ("aten::_foreach_add_", "multi_tensor_apply_kernel"),
        ("aten::_fused_adam_", "multi_tensor_apply_kernel"),
        ("aten::mm", "sgemm"),
    ],
)
def test_optimizers_that_serve_many_tensors_at_once_or_multiply_are_no_loop(
    tmp_path: Path, name: str, kernel: str
) -> None:
    told = gap_time(optimizer(name, 150, kernel=kernel).analysis(tmp_path))
    assert "optimizer-loop" not in told
    assert told["launch-bound"] > 150 * 20


def test_an_optimizer_that_serves_some_tensors_at_once_is_no_loop(tmp_path: Path) -> None:
    program = optimizer("aten::addcmul_", 300)
    operators = [event for event in program.events if event["cat"] == "cpu_op"]
    for event in operators[::2]:
        event["name"] = "aten::_foreach_addcmul_"
    # 150 tensors by themselves would be a loop, were they not half of the kernels.
    assert "optimizer-loop" not in gap_time(program.analysis(tmp_path))


def test_without_operators_a_thousand_elementwise_kernels_tell_a_loop(tmp_path: Path) -> None:
    for count, loops in ((900, False), (1100, True)):
        program = Program()
        program.kernel("before", 10, 20, (0, 5))
        program.annotation("Optimizer.step#SGD.step", 40, 20 * count + 20)
        for i in range(count):
            program.kernel("vectorized_elementwise_kernel", 66 + 20 * i, 3, (60 + 20 * i, 5))
        assert ("optimizer-loop" in gap_time(program.analysis(tmp_path))) == loops


def test_a_loop_that_the_queue_covers_costs_nothing(tmp_path: Path) -> None:
    program = Program()
    program.kernel("long", 10, 9000, (0, 5))
    program.annotation("Optimizer.step#Adam.step", 40, 6020)
    for i in range(150):
        program.operator("aten::add_", 50 + 40 * i, 30)
        program.kernel("elementwise", 9010 + 3 * i, 3, (70 + 40 * i, 5))
    assert gap_time(program.analysis(tmp_path)) == {}


def received(length: float, operator: str = "c10d::recv_", count: int = 0) -> Program:
    """Work, a point-to-point kernel that nothing covers, and work after it."""
    program = Program()
    program.kernel("before", 10, 100, (0, 5))
    program.operator(operator, 12, 20)
    known: dict[str, Any] = {"In msg nelems": count, "Out msg nelems": count, "dtype": "BFloat16"}
    args = known if count else {}
    program.kernel(RECEIVE, 112, length, (20, 5), stream=20, **args)
    program.kernel("after", 114 + length, 100, (40, 5))
    return program


def test_a_receive_that_spins_is_a_bubble(tmp_path: Path) -> None:
    analysis = received(5000, count=1 << 20).analysis(tmp_path)
    assert gap_time(analysis)["pipeline-bubble"] == pytest.approx(5000, abs=5)
    text = told_of(analysis, "pipeline-bubble")
    assert text.layer == Layer.PYTORCH and "micro-batches" in text.fix
    assert any("2,097,152 bytes: 0.42 GB/s" in line for line in text.evidence)


def test_a_receive_as_long_as_its_data_needs_is_communication(tmp_path: Path) -> None:
    told = gap_time(received(150, count=1 << 20).analysis(tmp_path))
    assert "pipeline-bubble" not in told
    assert told["exposed-comm"] == pytest.approx(150, abs=5)


@pytest.mark.parametrize("operator", ["c10d::alltoall_", "nccl:all_to_all", "c10d::send"])
def test_exchanges_and_sends_are_no_receives(tmp_path: Path, operator: str) -> None:
    told = gap_time(received(5000, operator).analysis(tmp_path))
    assert "pipeline-bubble" not in told
    assert told["exposed-comm"] > 4900


def test_a_receive_without_a_word_on_its_size_waits(tmp_path: Path) -> None:
    analysis = received(5000).analysis(tmp_path)
    assert gap_time(analysis)["pipeline-bubble"] > 4900
    assert "not recorded" in " ".join(told_of(analysis, "pipeline-bubble").evidence)


def test_what_waits_for_a_copy_belongs_to_the_copy(tmp_path: Path) -> None:
    program = Program()
    program.kernel("before", 10, 50, (0, 5))
    program.copy("Memcpy HtoD (Pinned -> Device)", 70, 500, (6, 5), stream=20)
    program.kernel("after", 582, 100, (20, 5))
    analysis = program.analysis(tmp_path)
    told = gap_time(analysis)
    assert told == {"h2d-exposed": 512, "stream-wait": 10}
    gaps = analysis.gaps
    idle = [i for i in range(len(gaps)) if gaps.rule(i) == "h2d-exposed" and gaps.kind[i] == 0]
    evidence = " ".join(explain_gap(analysis, idle[-1]).evidence)
    assert "it waited for Memcpy HtoD" in evidence and "judged by the times" in evidence


def test_what_waits_for_other_compute_is_nobodys(tmp_path: Path) -> None:
    program = Program()
    program.kernel("other", 10, 500, (0, 5), stream=20)
    program.kernel("after", 522, 100, (20, 5))
    told = gap_time(program.analysis(tmp_path))
    assert told == {"stream-wait": pytest.approx(12)}


@pytest.mark.parametrize(("copied_until", "cause"), [(590, "p2p-exposed"), (400, "unattributed")])
def test_a_recorded_event_names_work_of_another_device_that_had_just_ended(
    tmp_path: Path, copied_until: float, cause: str
) -> None:
    program = Program()
    program.kernel("before", 10, 50, (0, 5))
    program.kernel(
        "Memcpy PtoP (Device -> Device)", 70, copied_until - 70, (6, 5), stream=20, device=1,
        call="cudaMemcpyPeerAsync", category="gpu_memcpy",
    )  # fmt: skip
    record = program.call("cudaEventRecord", 12, 1)
    wait = program.call("cudaStreamWaitEvent", 14, 1)
    program.kernel("after", 600, 100, (20, 5))
    first = Options(device=0)
    assert gap_time(program.analysis(tmp_path, first))["unattributed"] > 500
    program.slice(
        "cuda_sync", "Stream Wait Event", 14.0, 0.5, pid=0, tid=7,
        args={"cuda_sync_kind": "Stream Wait Event", "stream": 7, "correlation": wait,
              "device": 0, "wait_on_stream": 20, "wait_on_cuda_event_record_corr_id": record},
    )  # fmt: skip
    assert gap_time(program.analysis(tmp_path, first))[cause] > 500


def test_a_thread_that_looks_idle_is_shown_with_who_ran_meanwhile(tmp_path: Path) -> None:
    program = two_kernels(8000)
    program.frame("logger.py(77): flush", 50, 7900, thread=MAIN + 7)
    program.frame("queue.py(171): get", 50, 7900, thread=MAIN + 8)
    analysis = program.analysis(tmp_path)
    assert "unattributed" in gap_time(analysis)
    evidence = " ".join(told_of(analysis, "unattributed").evidence)
    assert "ran logger.py(77): flush: Python, which one thread runs at a time" in evidence
    assert "queue.py" not in evidence


def test_a_thread_in_a_lock_waits_for_another_one(tmp_path: Path) -> None:
    program = two_kernels(8000)
    program.frame("train.py(12): step", 0, 8100)
    program.frame("threading.py(355): wait", 150, 7800)
    program.operator("aten::sort", 160, 7700, thread=MAIN + 7)
    analysis = program.analysis(tmp_path)
    assert gap_time(analysis)["unattributed"] == pytest.approx(7800)
    evidence = " ".join(told_of(analysis, "unattributed").evidence)
    assert "waited in threading.py(355): wait, for another thread" in evidence
    assert "nothing is recorded" not in evidence
    assert "ran aten::sort" in evidence


def test_the_chain_of_calls_leads_to_the_innermost_one(tmp_path: Path) -> None:
    program = Program()
    program.kernel("work", 10, 490, (0, 5))
    program.annotation("Optimizer.step#SGD.step", 15, 600)
    program.frame("torch/optim/optimizer.py(1019): zero_grad", 18, 590)
    program.operator("aten::zero_", 20, 560)
    program.call("cudaStreamSynchronize", 25, 500)
    program.kernel("next", 566, 100, (560, 5))
    analysis = program.analysis(tmp_path)
    evidence = " ".join(told_of(analysis, "host-sync").evidence)
    chain = "Optimizer.step#SGD.step > zero_grad > aten::zero_ > cudaStreamSynchronize"
    assert f"inside {chain}, on " in evidence


def test_a_piece_with_two_causes_is_split_where_they_change(tmp_path: Path) -> None:
    program = two_kernels(5010)
    program.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 60, 1940)
    program.frame("train.py(12): step", 0, 5100)
    program.frame("Python GC", 2000, 3000)
    told = gap_time(program.analysis(tmp_path))
    assert told["dataloader-wait"] == pytest.approx(1900)
    assert told["gc-pause"] == pytest.approx(3010, abs=11)


@pytest.mark.parametrize(
    ("frame", "told"),
    [
        ("torch/_inductor/async_compile.py(287): wait", True),
        ("torch/_dynamo/symbolic_convert.py(2800): run", True),
        ("torch/_inductor/scheduler.py(1900): codegen", True),
        ("torch/_functorch/aot_autograd.py(1100): create_aot_dispatcher_function", True),
        ("torch/_inductor/runtime/triton_heuristics.py(240): precompile", True),
        ("torch/_inductor/runtime/triton_heuristics.py(900): run", False),
        ("torch/_dynamo/eval_frame.py(570): _fn", False),
        ("my/async_compile.py(12): wait", False),
    ],
)
def test_frames_of_the_compiler_alone_are_a_compile(tmp_path: Path, frame: str, told: bool) -> None:
    program = steps_with(())
    program.frame(frame, 20_200, 6000)
    assert ("recompile" in gap_time(program.analysis(tmp_path))) is told

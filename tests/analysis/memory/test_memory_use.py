"""Allocated memory where it is recorded: peak, place, churn, and never the CPU's for the GPU's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.program import MAIN, PID, Program
from tests.support.recordings import analysed
from whichlayer.analysis.kernels.rules.memory_near_limit import find as near_limit
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.memory.usage import memory_use, why_no_memory
from whichlayer.analysis.report.text_memory import memory_lines
from whichlayer.analysis.results import Analysis

GB = 1_000_000_000


def program() -> Program:
    made = Program()
    made.step(3, 0, 1000)
    made.annotation("forward", 10, 400)
    made.operator("aten::mm", 100, 50)
    made.kernel("ampere_sgemm_128x128_nn", 160, 700, (120, 3))
    return made


def memory(
    made: Program, at: float, size: Any, total: Any, reserved: Any = None, kind: Any = 1
) -> None:
    args = {"Bytes": size, "Total Allocated": total, "Device Type": kind, "Device Id": 0}
    args |= {} if reserved is None else {"Total Reserved": reserved}
    made.events.append(
        {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": PID,
         "tid": MAIN, "ts": at, "args": args}
    )  # fmt: skip


def test_the_peak_is_told_with_step_phase_and_operator(tmp_path: Path) -> None:
    made = program()
    memory(made, 50, 1 * GB, 1 * GB, 2 * GB)
    memory(made, 110, 8 * GB, 9 * GB, 10 * GB)
    memory(made, 600, -8 * GB, 1 * GB, 10 * GB)
    analysis = made.analysis(tmp_path)
    (found,) = memory_use(analysis)
    assert (found.type, found.device, found.peak_bytes) == ("cuda", 0, 9 * GB)
    assert (found.peak_ns, found.peak_step, found.peak_phase) == (110_000, 3, "forward")
    assert found.peak_where.operator is not None and "aten::mm" in found.peak_where.operator
    assert (found.peak_reserved, found.taken_bytes, found.given_bytes) == (10 * GB, 9 * GB, 8 * GB)
    assert found.by_operator[0].operator == "aten::mm" and found.largest[0].bytes == 8 * GB
    assert found.near_limit is False and not found.churns
    assert "9.00 GB allocated at most of 85.1 GB" in memory_lines(analysis)[0]


def test_what_is_reserved_can_be_near_the_limit(tmp_path: Path) -> None:
    made = program()
    memory(made, 110, 60 * GB, 60 * GB, 80 * GB)
    (found,) = memory_use(made.analysis(tmp_path))
    assert found.near_limit is True


def test_memory_of_the_cpu_is_not_the_gpus(tmp_path: Path) -> None:
    made = program()
    memory(made, 50, 84 * GB, 84 * GB, 0, kind=0)
    memory(made, 110, 1 * GB, 1 * GB, 2 * GB)
    for at, call in ((200.0, "cudaMalloc"), (300.0, "cudaFree"), (400.0, "cudaMalloc")):
        made.call(call, at, 5)
    analysis = made.analysis(tmp_path)
    gpu, cpu = memory_use(analysis)
    assert (gpu.peak_bytes, cpu.type, cpu.peak_bytes) == (1 * GB, "cpu", 84 * GB)
    assert near_limit(analysis) is None
    assert len([line for line in memory_lines(analysis) if line.startswith("MEMORY")]) == 1


def churning(cycles: int, calls: int = 0, total: int = 1 * GB) -> Program:
    """Memory taken and given back, and calls of the device one after the other."""
    made = program()
    for at in range(cycles):
        memory(made, 50.0 + 10 * at, 1 * GB, total)
        memory(made, 55.0 + 10 * at, -1 * GB, total - GB)
    for number in range(calls):
        made.call(("cudaMalloc", "cudaFree")[number % 2], 200 + 50 * number, 5)
    return made


def rules_of(analysis: Analysis) -> list[str]:
    return [finding.rule for finding in analysis.findings]


def test_memory_that_is_given_back_and_asked_for_again_is_churn(tmp_path: Path) -> None:
    analysis = churning(10, calls=7).analysis(tmp_path)
    (used,) = memory_use(analysis)
    assert (used.turnover, used.device_calls, used.asked_again) == (10.0, 7, 3) and used.churns
    (found,) = [one for one in analysis.findings if one.rule == "memory-churn"]
    assert "asked for again 3 times" in found.evidence[1] and "10.0 times" in found.evidence[0]
    assert len(found.regions) == 3 and found.time_ns == 0 and found.layer is Layer.PYTORCH
    assert "memory-churn" in "\n".join(memory_lines(analysis))


@pytest.mark.parametrize(("cycles", "calls"), [(10, 0), (10, 3), (10, 4), (0, 7)])
def test_memory_that_is_served_from_what_is_held_is_no_churn(
    cycles: int, calls: int, tmp_path: Path
) -> None:
    made = churning(cycles, calls)
    memory(made, 900, 0.5 * GB, 2 * GB)
    assert "memory-churn" not in rules_of(made.analysis(tmp_path))


def test_what_the_first_step_asks_for_is_no_churn(tmp_path: Path) -> None:
    made = churning(10, calls=7)
    made.step(4, 1000, 1000)
    made.kernel("ampere_sgemm_128x128_nn", 1160, 700, (1120, 3))
    assert "memory-churn" not in rules_of(made.analysis(tmp_path))


@pytest.mark.parametrize(("steps", "churns"), [(4, True), (5, False)])
def test_churn_comes_back_in_every_step(steps: int, churns: bool, tmp_path: Path) -> None:
    made = churning(10)
    for number in range(4, 3 + steps):
        made.step(number, 1000.0 * (number - 3), 1000)
        made.kernel("ampere_sgemm_128x128_nn", 1000.0 * (number - 3) + 160, 700,
                    (1000.0 * (number - 3) + 120, 3))  # fmt: skip
        for at in range(10):
            memory(made, 1000.0 * (number - 3) + 10 * at, 1 * GB, 1 * GB)
            memory(made, 1000.0 * (number - 3) + 10 * at + 5, -1 * GB, 0)
    for number in range(7):
        made.call(("cudaMalloc", "cudaFree")[number % 2], 1200 + 50 * number, 5)
    assert ("memory-churn" in rules_of(made.analysis(tmp_path))) is churns


def test_memory_that_is_nearly_full_explains_its_churn(tmp_path: Path) -> None:
    found = rules_of(churning(100, calls=7, total=80 * GB).analysis(tmp_path))
    assert "memory-near-limit" in found and "memory-churn" not in found


def test_without_memory_events_it_is_said_what_to_record(tmp_path: Path) -> None:
    analysis = program().analysis(tmp_path)
    assert memory_use(analysis) == () and memory_lines(analysis) == []
    assert "profile_memory" in why_no_memory(analysis)


def test_damaged_figures_are_left_out(tmp_path: Path) -> None:
    made = program()
    memory(made, 50, "much", "a lot")
    memory(made, 60, 10**30, 10**30)
    memory(made, 70, None, -5, kind="x")
    memory(made, 80, 2 * GB, 2 * GB, "?", kind=6)
    (found,) = memory_use(made.analysis(tmp_path))
    assert (found.type, found.events, found.peak_bytes) == ("hip", 1, 2 * GB)
    assert found.peak_reserved is None


def test_memory_of_recordings(traces: Path) -> None:
    gpu, _ = memory_use(analysed(traces / "tl_h100_timesformer.json.gz"))
    assert 4.4 * GB < gpu.peak_bytes < 4.6 * GB and gpu.peak_phase == "forward"
    assert gpu.by_operator[0].operator == "aten::bmm" and gpu.near_limit is False
    for name in ("tl_h100_timesformer", "tl_h100_qwen", "tl_mi300_timesformer", "tl_mi300_bert"):
        use = memory_use(analysed(traces / f"{name}.json.gz"))[0]
        assert (use.turnover or 0) > 10 and not use.churns, "served from what is held"
    (vllm,) = memory_use(analysed(traces / "tl_mi300_vllm_decode_capture.json.gz"))
    assert vllm.type == "hip" and vllm.near_limit is True

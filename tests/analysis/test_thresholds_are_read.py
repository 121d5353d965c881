"""Every threshold of the catalogue is asked for by something: none is there for show."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.simulator.cases import alone
from tests.simulator.recording import Recording, write
from tests.simulator.truth import find_truth
from tests.support.job import files, write_job
from tests.support.program import Program
from whichlayer.analysis import Analysis, analyse, load, settings
from whichlayer.analysis.communication.job import analyse_job
from whichlayer.analysis.custom_kernel.verdicts import custom_kernels
from whichlayer.analysis.findings.collect import collect_findings
from whichlayer.analysis.kernels.measure import Floor, Measured
from whichlayer.analysis.kernels.occupancy import LaunchShape, residency
from whichlayer.analysis.kernels.peaks import match_device
from whichlayer.analysis.kernels.rulebook import Rulebook
from whichlayer.analysis.kernels.ruling import rule_on
from whichlayer.analysis.kernels.work import Work
from whichlayer.analysis.memory.usage import memory_use
from whichlayer.analysis.options import Options

ARRIVALS = ((40.0, 40, 45), (41.0, 42, 40), (40.0, 340, 340))
ROOM = 85_094_825_984
SAMPLES = Path(__file__).parents[2] / "sample_traces"


class Watched(dict[str, float]):
    """Thresholds of one rule that tell which of them are looked at."""

    def __init__(self, rule_id: str, values: dict[str, float], read: set[tuple[str, str]]) -> None:
        super().__init__(values)
        self.rule_id, self.read = rule_id, read

    def __getitem__(self, name: str) -> float:
        self.read.add((self.rule_id, name))
        return super().__getitem__(name)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[tuple[str, str]]]:
    """The thresholds that have been read, by rule and name."""
    found: set[tuple[str, str]] = set()
    one, several, listed = settings.threshold, settings.thresholds, settings.listed_from

    def threshold(options: Options, rule_id: str, name: str) -> float:
        found.add((rule_id, name))
        return one(options, rule_id, name)

    def thresholds(options: Options, rule_id: str) -> dict[str, float]:
        return Watched(rule_id, {n: one(options, rule_id, n) for n in settings.defaults()[rule_id]},
                       found)  # fmt: skip

    def listed_from(options: Options, rule_id: str) -> float:
        found.update({(rule_id, "note"), (settings.FINDINGS, "min_share")})
        return listed(options, rule_id)

    changed: dict[Any, Any] = {one: threshold, several: thresholds, listed: listed_from}
    for module in [m for name, m in sys.modules.items() if name.startswith("whichlayer.")]:
        for name, value in list(vars(module).items()):
            if any(value is held for held in changed):
                monkeypatch.setattr(module, name, changed[value])
    yield found


def simulated(folder: Path) -> Iterator[Analysis]:
    """One program for each cause of gaps, with all that can be recorded."""
    seen = set()
    for case in alone(7):
        cause = case.plants[0].cause
        if cause not in seen:
            seen.add(cause)
            path = folder / "run.pt.trace.json"
            run, _ = find_truth(case.program(), Recording(stacks=True))
            write(run, Recording(stacks=True), path, case.seed)
            yield analyse(load(path))


def with_hints(folder: Path) -> Analysis:
    """What the rules about whole recordings look at: convolutions, constants, loops, memory."""
    program, floats = Program(), ["float", "float", "float"]
    told: dict[str, Any] = {"Input Dims": [[8, 3, 32, 32], [64, 3, 3, 3], [64]],
                            "Input type": floats}  # fmt: skip
    for device in (0, 1):
        program.kernel("gemm", 100, 500, (10, 5), device=device)
    program.annotation("DataParallel.forward", 20, 50)
    program.operator("aten::conv2d", 1000, 60, **told)
    program.operator("aten::add_", 1010, 20)
    program.kernel("add", 1040, 300, (1015, 5))
    normed: dict[str, Any] = {"Input Dims": [[8, 64, 32, 32]], "Input type": ["float"]}
    program.operator("aten::batch_norm", 1070, 20, **normed)
    program.annotation("Optimizer.zero_grad#SGD.zero_grad", 1500, 60)
    program.operator("aten::zero_", 1510, 30)
    program.kernel("fill", 1550, 300, (1520, 5))
    program.operator("aten::zeros", 2000, 10)
    program.operator("aten::to", 2020, 200)
    program.operator("aten::copy_", 2030, 180)
    program.copy("Memcpy HtoD (Pageable -> Device)", 2060, 100, (2040, 150))
    for item in range(12):
        at = 3000 + 100 * item
        told = {
            "Input Dims": [[64, 32], [], []],
            "Input type": ["float", "Scalar", "Scalar"],
            "Concrete Inputs": ["", "0", str(item)],
        }
        program.operator("aten::select", at, 5, **told)
        program.kernel("add", at + 30, 3, (at + 20, 5))
    for number, name in enumerate(("cudaMalloc", "cudaFree", "cudaMalloc")):
        program.call(name, 2400 + 100 * number, 5)
    program.events.append({
        "ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1,
        "ts": 2500, "args": {"Total Allocated": 0.95 * ROOM, "Bytes": 512, "Device Type": 1,
                             "Device Id": 0}})  # fmt: skip
    return program.analysis(folder)


def unfused(folder: Path) -> Analysis:
    """Attention in three operators."""
    program, heads = Program(), 64
    scores, value = [heads, 1024, 1024], [heads, 1024, 64]
    calls: tuple[tuple[str, list[list[int]], str], ...] = (
        ("aten::bmm", [value, [heads, 64, 1024]], "ampere_sgemm_128x128_nn"),
        ("aten::_softmax", [scores], "softmax_warp_forward"),
        ("aten::bmm", [scores, value], "ampere_sgemm_128x128_nn"),
    )
    for step in range(2):
        for number, (name, dims, kernel) in enumerate(calls):
            at = 20_000 * step + 10 + 30 * number
            told: dict[str, Any] = {"Input Dims": dims, "Input type": ["float"] * len(dims)}
            program.operator(name, at, 20, **told)
            program.kernel(kernel, at + 200 + 2000 * number, 1990, (at + 5, 5))
    return program.analysis(folder)


def of_every_cause(analysis: Analysis) -> None:
    """Findings of an analysis whose gaps all have one cause, for each cause there is."""
    for code in range(len(analysis.gaps.rule_ids)):
        gaps = replace(analysis.gaps, cause=np.full_like(analysis.gaps.cause, code))
        collect_findings(replace(analysis, gaps=gaps))


def slow_launches() -> None:
    """Norms that move 40 % of what the memory could, launched in each odd way."""
    card = match_device(None, {}, Options(device_model="H100 SXM5"))
    assert card.sm is not None
    work = Work(round(0.4 * 3350 * 98e3), category="softmax-of-rows")
    for blocks, threads, registers in ((100, 256, 32), (132 * 9, 256, 32), (100_000, 128, 255)):
        fits = residency(LaunchShape(blocks, threads, registers, 0), card.sm, card.units)
        floor = Floor(2000.0, measured=True)
        measured = Measured("norm", ("norm",), work, 1, 1, 1e5, floor, card, blocks=blocks,
                            residency=fits, share=0.5)  # fmt: skip
        rule_on(measured, Rulebook.of(Options()))


def test_each_is_read(read: set[tuple[str, str]], tmp_path: Path) -> None:
    for path in sorted(SAMPLES.glob("*.json.gz")):
        analysis = analyse(load(path))
        custom_kernels(analysis)
        memory_use(analysis)
    for analysis in simulated(tmp_path):
        custom_kernels(analysis)
    memory_use(with_hints(tmp_path))
    unfused(tmp_path)
    of_every_cause(analyse(load(SAMPLES / "host_sync.json.gz")))
    slow_launches()
    job = tmp_path / "job"
    job.mkdir()
    write_job(job, ARRIVALS, elements=50_000_000)
    analyse_job(str(job), files(job), load, Options(link_gbps=400.0))
    wanted = {(one, name) for one, names in settings.defaults().items() for name in names}
    unread = sorted(wanted - read)
    assert not unread, unread

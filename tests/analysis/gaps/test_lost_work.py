"""Of a file that is cut off, idle time that may have been work is nobody's."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from tests.support.program import Program
from tests.support.recordings import analysed
from whichlayer.analysis import Analysis, analyse, load
from whichlayer.analysis.gaps.explain import explain_gap
from whichlayer.analysis.limits import ANY, Limits, hold_to

TRACES = os.environ.get("WHICHLAYER_TRACES")
GPU = ("kernel", "gpu_memcpy", "gpu_memset")
STEPS, KERNELS = 4, 10


def training() -> Program:
    """Steps that launch kernels one by one, each of which runs most of the time."""
    program = Program()
    for number in range(STEPS):
        at = 1000.0 * number
        program.step(number, at, 995)
        for kernel in range(KERNELS):
            begun = at + 100 * kernel
            program.operator("aten::add", begun, 20)
            program.kernel("k", begun + 10, 60, (begun + 5, 5))
    return program


def read(program: Program, folder: Path, kernels: int | None, last_calls: bool = True) -> Analysis:
    """The recording as PyTorch writes it, the host first, with so many kernels before the cut.

    Args:
        program: the recording.
        folder: for the file.
        kernels: None for a file that is whole.
        last_calls: the calls of lost kernels are there.
    """
    host = [event for event in program.events if event["cat"] not in GPU]
    work = [event for event in program.events if event["cat"] in GPU]
    if not last_calls and kernels is not None:
        kept = {event["args"]["correlation"] for event in work[:kernels]}
        host = [e for e in host if e["cat"] != "cuda_runtime" or e["args"]["correlation"] in kept]
    document = program.document() | {"traceEvents": host + work[: kernels or len(work)]}
    text = json.dumps(document)
    path = folder / "cut.pt.trace.json"
    path.write_text(text if kernels is None else text[: text.rindex("}]")] + "},{")
    return analyse(load(path))


def causes(analysis: Analysis) -> set[str]:
    return {analysis.gaps.rule(index) for index in range(len(analysis.gaps))}


def test_a_whole_file_keeps_its_owners(tmp_path: Path) -> None:
    analysis = read(training(), tmp_path, None)
    assert analysis.verdict.side == "above-cuda" and not analysis.verdict.caveat
    assert "launch-bound" in causes(analysis)
    told = [line for i in range(len(analysis.gaps)) for line in explain_gap(analysis, i).evidence]
    assert not any("not in the file" in line for line in told)
    assert not any("lacks GPU work" in one.text for one in hold_to(analysis, Limits(max_idle=1.0)))


@pytest.mark.parametrize("last_calls", [True, False])
def test_time_after_the_last_kernel_before_the_cut_is_nobodys(
    tmp_path: Path, last_calls: bool
) -> None:
    whole = read(training(), tmp_path, None)
    analysis = read(training(), tmp_path, STEPS * KERNELS // 2, last_calls)
    gaps = analysis.gaps
    last = int(analysis.activities.end_ns.max())
    late = [i for i in range(len(gaps)) if int(gaps.start_ns[i]) >= last]
    assert late and all(gaps.rule(i) == "unattributed" for i in late)
    assert any(
        "cut off at byte" in line for i in late for line in explain_gap(analysis, i).evidence
    )
    assert analysis.verdict.side in ("unclear", whole.verdict.side)
    assert "cut off" in analysis.verdict.caveat
    assert all(f.confidence == "low" for f in analysis.findings if f.rule == "launch-bound")


def test_a_lost_kernel_in_the_midst_leaves_its_gap_alone_unattributed(tmp_path: Path) -> None:
    program = training()
    work = [event for event in program.events if event["cat"] in GPU]
    program.events.remove(work[15])
    analysis = read(program, tmp_path, len(work) - 1)
    gaps = analysis.gaps
    hole = 1510_000
    held = [
        i for i in range(len(gaps)) if gaps.start_ns[i] < hole + 60_000 <= gaps.end_ns[i] + 60_000
    ]
    around = [i for i in held if gaps.end_ns[i] > hole]
    assert around and gaps.rule(around[0]) == "unattributed"
    before = [i for i in range(len(gaps)) if gaps.end_ns[i] < 1400_000]
    assert before and all(gaps.rule(i) != "unattributed" for i in before)


def test_limits_of_a_file_that_lacks_work_cannot_be_told(tmp_path: Path) -> None:
    analysis = read(training(), tmp_path, STEPS * KERNELS // 2)
    outcomes = hold_to(analysis, Limits(max_idle=1.0, no_finding=(ANY,)))
    assert len(outcomes) == 2
    assert all(one.broken and "cannot be told" in one.text for one in outcomes)


@pytest.mark.skipif(not TRACES, reason="WHICHLAYER_TRACES names no folder")
@pytest.mark.parametrize(("packed", "share"), [(True, 0.6), (True, 0.9), (False, 0.99)])
@pytest.mark.parametrize(
    "name", ["kineto_resnet50_workers0.json.gz", "hta_v100_cuda_graphs.json.gz"]
)
def test_a_cut_recording_has_the_side_of_the_whole_or_none(
    tmp_path: Path, name: str, packed: bool, share: float
) -> None:
    source = Path(str(TRACES)) / name
    data = source.read_bytes() if packed else gzip.decompress(source.read_bytes())
    cut = tmp_path / ("cut.json.gz" if packed else "cut.json")
    cut.write_bytes(data[: int(share * len(data))])
    analysis = analyse(load(cut))
    assert analysis.verdict.side in ("unclear", analysed(source).verdict.side)
    assert "cut off" in analysis.verdict.caveat or not analysis.devices

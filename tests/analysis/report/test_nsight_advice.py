"""What Nsight Systems could have recorded is asked for in its own terms."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.support.program import Program
from whichlayer.analysis import Analysis, analyse
from whichlayer.analysis.report.advice import recording_advice
from whichlayer.analysis.trace.columns import Trace


def unlinked(folder: Path, producer: str) -> Analysis:
    """Two steps in which half of the work has no launch, and the rest waited in its queue."""
    program = Program()
    for number in range(2):
        at = 10_000 * number
        program.step(number, at, 9_900)
        for place in range(10):
            program.kernel("k", at + 900 * place + 500, 300, (at + 10 * place, 5))
            program.kernel("orphan", at + 900 * place + 900, 100)
    trace: Trace = replace(program.trace(folder), producer=producer)
    return analyse(trace)


def test_nothing_of_an_nsight_recording_is_asked_for_in_words_of_pytorch(tmp_path: Path) -> None:
    analysis = unlinked(tmp_path, "nsight")
    advice = recording_advice(analysis)
    said = " ".join([*advice, *(one.message for one in analysis.warnings)])
    said += " ".join(finding.fix for finding in analysis.findings)
    assert "nsys profile --trace=cuda,nvtx" in advice[0]
    for word in ("args.correlation", "schedule", "_ExperimentalConfig", "ProfilerActivity"):
        assert word not in said


def test_pytorchs_own_recordings_are_asked_for_in_its_words(tmp_path: Path) -> None:
    advice = recording_advice(unlinked(tmp_path, "pytorch"))
    assert any("args.correlation" in line for line in advice)
    assert not any("nsys profile --trace=cuda,nvtx" in line for line in advice)

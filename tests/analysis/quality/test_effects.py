"""What gates do to findings and to the order in which warnings are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.program import Program
from whichlayer.analysis.errors import Severity, TraceWarning
from whichlayer.analysis.quality import caveat_of, most_severe_first, severity_of
from whichlayer.analysis.quality.catalogue import gate_modules, gates_by_id
from whichlayer.analysis.quality.effects import doubts, lowered, reasons
from whichlayer.analysis.quality.gate import Effect

SHORT = TraceWarning("Q12", "one step", severity=Severity.DOUBT)
LOST = TraceWarning("Q2", "kernels lost", severity=Severity.DOUBT)
DIRTY = TraceWarning("Q7", "contaminated", severity=Severity.DOUBT)
TOUCHED = TraceWarning("Q7", "touched")


def test_every_gate_of_the_rules_is_there_and_explains_itself() -> None:
    assert list(gates_by_id()) == [f"Q{number}" for number in range(1, 14)]
    for module in gate_modules():
        assert module.__doc__ and module.GATE.title and module.GATE.source
        assert bool(module.GATE.caveat) == (module.GATE.effect != Effect.NONE)


@pytest.mark.parametrize(
    ("warnings", "gap", "kernel"),
    [
        ((), "high", "high"),
        ((TOUCHED,), "high", "high"),
        ((DIRTY,), "medium", "medium"),
        ((LOST,), "low", "high"),
        ((SHORT,), "low", "low"),
        ((LOST, DIRTY), "low", "medium"),
    ],
)
def test_a_doubt_lowers_what_it_makes_doubtful(
    warnings: tuple[TraceWarning, ...], gap: str, kernel: str
) -> None:
    gates = doubts(warnings)
    assert lowered("high", gates, from_gap=True) == gap
    assert lowered("high", gates, from_gap=False) == kernel


def test_confidence_never_falls_below_low() -> None:
    assert lowered("low", doubts((DIRTY,)), from_gap=True) == "low"


def test_findings_say_why_they_are_trusted_less() -> None:
    gates = doubts((LOST, DIRTY, SHORT, TOUCHED))
    assert [line[-4:] for line in reasons(gates, from_gap=True)] == ["[Q2]", "[Q7]"]
    assert [line[-4:] for line in reasons(gates, from_gap=False)] == ["[Q7]"]


def test_the_verdict_names_every_doubt_and_no_note() -> None:
    assert caveat_of((TOUCHED,)) == ""
    assert caveat_of((SHORT, LOST)) == (
        "Caution: from a single step, a hint [Q12]; idle figures are unreliable [Q2]."
    )


def test_warnings_are_told_once_and_the_most_severe_first() -> None:
    cut = TraceWarning("truncated", "cut off", 1, 400)
    none = TraceWarning("Q1", "no GPU verdict")
    told = most_severe_first([TOUCHED, cut, SHORT, none, cut])
    assert told == [none, cut, SHORT, TOUCHED]
    assert [severity_of(warning).id for warning in told] == [
        "no-verdict", "doubt", "doubt", "note",
    ]  # fmt: skip


@pytest.mark.parametrize(("length", "confidence"), [(150, "high"), (700, "medium")])
def test_a_contaminated_recording_lowers_its_findings(
    tmp_path: Path, length: int, confidence: str
) -> None:
    program = Program()
    for number in range(2):
        at = 2_000 * number
        program.step(number, at, 1_990)
        program.frame("train.py(3): load", at, 1_000)
        program.kernel("a", at + 1_010, 900, (at + 1_005, 5))
    program.slice("overhead", "Buffer Flush", 3_200, length, pid=-1, tid=0)
    analysis = program.analysis(tmp_path)
    assert {finding.confidence for finding in analysis.findings} == {confidence}

"""What the warnings of a recording do to its findings and its verdict."""

from __future__ import annotations

from collections.abc import Iterable

from whichlayer.analysis.errors import Severity, TraceWarning
from whichlayer.analysis.quality.catalogue import gates_by_id
from whichlayer.analysis.quality.gate import Effect, Gate

#: Codes of the reader that take more from a recording than a note does.
_READING = {
    "Q1": Severity.NO_VERDICT,
    "truncated": Severity.DOUBT,
    "damaged": Severity.DOUBT,
    "too-large": Severity.DOUBT,
}

#: What a file that is cut off does to what is said of it.
_CUT = Gate(
    "truncated",
    "the file is cut off",
    effect=Effect.GAPS_LOW,
    caveat="the file is cut off, and GPU work of any time may be missing",
)

_LEVELS = ("low", "medium", "high")


def severity_of(warning: TraceWarning) -> Severity:
    """How much a warning takes from the recording, whoever gave it."""
    return max(warning.severity, _READING.get(warning.code, Severity.NOTE))


def most_severe_first(warnings: Iterable[TraceWarning]) -> list[TraceWarning]:
    """Each warning once, by severity; of one severity in the order given."""
    return sorted(dict.fromkeys(warnings), key=lambda warning: -severity_of(warning))


def doubts(warnings: Iterable[TraceWarning]) -> tuple[Gate, ...]:
    """The gates that fire as doubts, each once; a file that is cut off is as one."""
    known = {**gates_by_id(), _CUT.id: _CUT}
    told = (w.code for w in warnings if w.severity == Severity.DOUBT or w.code == _CUT.id)
    codes = dict.fromkeys(told)
    return tuple(known[code] for code in codes if code in known)


def caveat_of(warnings: Iterable[TraceWarning]) -> str:
    """What is to be said beside the verdict: one sentence, or empty."""
    said = [f"{gate.caveat} [{gate.id}]" for gate in doubts(warnings) if gate.caveat]
    return f"Caution: {'; '.join(said)}." if said else ""


def lowered(confidence: str, gates: Iterable[Gate], from_gap: bool) -> str:
    """A finding's confidence under doubts.

    Args:
        confidence: ``high``, ``medium`` or ``low``.
        gates: from :func:`doubts`.
        from_gap: the finding is about gaps, not about kernels.
    """
    level = _LEVELS.index(confidence)
    for gate in gates:
        if gate.effect == Effect.ALL_LOW or (gate.effect == Effect.GAPS_LOW and from_gap):
            level = 0
        elif gate.effect == Effect.LOWER:
            level -= 1
    return _LEVELS[max(level, 0)]


def less_sure(confidence: str) -> str:
    """The confidence below this one."""
    return _LEVELS[max(_LEVELS.index(confidence) - 1, 0)]


def reasons(gates: Iterable[Gate], from_gap: bool) -> tuple[str, ...]:
    """Why a finding is trusted less, as evidence; a short window is told once, not here."""
    told = {Effect.LOWER} | ({Effect.GAPS_LOW} if from_gap else set())
    return tuple(f"less sure: {gate.caveat} [{gate.id}]" for gate in gates if gate.effect in told)

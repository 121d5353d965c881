"""How much of the time an analysis named the right cause and the right owner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from tests.simulator.truth import SPACING, Part, Piece
from whichlayer.analysis import Analysis

OWNER = {
    "dataloader-wait": "runtime",
    "h2d-pageable": "runtime",
    "h2d-exposed": "runtime",
    "exposed-comm": "runtime",
    "graph-break": "runtime",
    "recompile": "runtime",
    "gc-pause": "pytorch",
    "optimizer-loop": "pytorch",
    "pipeline-bubble": "pytorch",
    "host-sync": "pytorch",
    "d2h-exposed": "pytorch",
    "python-overhead": "pytorch",
    "cpu-operator": "pytorch",
    "launch-bound": "boundary",
    "allocator": "boundary",
    "module-load": "boundary",
    "unattributed": "unknown",
}
"""Owners by rules.md; every other cause has none."""

NEUTRAL = ("launch-latency", "in-graph-gap")


def owner(cause: str) -> str:
    """The owner of a cause."""
    return OWNER.get(cause, "none")


@dataclass(slots=True)
class Score:
    """Time by (truth, said); right answers stand on the diagonal."""

    cause: Counter[tuple[str, str]] = field(default_factory=Counter)
    owner: Counter[tuple[str, str]] = field(default_factory=Counter)
    window: int = 0

    def add(self, other: Score) -> None:
        """Take another case in."""
        self.cause.update(other.cause)
        self.owner.update(other.owner)
        self.window += other.window


def share_right(table: Counter[tuple[str, str]]) -> float:
    """The share of all time on the diagonal; 1 where there is none."""
    total = sum(table.values())
    return sum(v for (a, b), v in table.items() if a == b) / total if total else 1.0


def precision(table: Counter[tuple[str, str]], name: str) -> float:
    """Of the time said to be ``name``, how much is."""
    said = sum(v for (_, b), v in table.items() if b == name)
    return table[name, name] / said if said else 1.0


def recall(table: Counter[tuple[str, str]], name: str) -> float:
    """Of the time that is ``name``, how much was said to be."""
    true = sum(v for (a, _), v in table.items() if a == name)
    return table[name, name] / true if true else 1.0


def wrongly_blamed(score: Score) -> float:
    """Share of the window blamed on an owner that it does not belong to."""
    blamed = sum(
        v for (a, b), v in score.owner.items() if a != b and b in ("pytorch", "runtime", "boundary")
    )
    return blamed / score.window if score.window else 0.0


def score(analysis: Analysis, pieces: Iterable[Piece], origin: int, tolerance: int = 0) -> Score:
    """Compare piece by piece inside the analysis's own window.

    Args:
        analysis: what was said; one device.
        pieces: what is true, times of the run.
        origin: the run's time of the trace's zero.
        tolerance: rounding of the format: stretches up to this may be spacing.
    """
    low, high = analysis.window.start_ns + origin, analysis.window.end_ns + origin
    result = Score(window=high - low)
    gaps = analysis.gaps
    rows = [
        (int(gaps.start_ns[i]) + origin, int(gaps.end_ns[i]) + origin, gaps.rule(i))
        for i in range(len(gaps))
    ]
    at = 0
    for piece in pieces:
        start, end = max(piece.start, low), min(piece.end, high)
        if end <= start:
            continue
        said: Counter[str] = Counter()
        while at < len(rows) and rows[at][1] <= start:
            at += 1
        for left, right, rule in rows[at:]:
            if left >= end:
                break
            said[rule] += min(right, end) - max(left, start)
        said[SPACING] += end - start - sum(said.values())
        parts = _clipped(piece, end - start)
        _match(parts, said, result.cause, lambda name: name, tolerance)
        by_owner: Counter[str] = Counter()
        for name, ns in said.items():
            by_owner[owner(name)] += ns
        _match(parts, by_owner, result.owner, owner, tolerance)
    return result


def _clipped(piece: Piece, ns: int) -> list[Part]:
    """The parts of a piece of which only the last ``ns`` lie in the window."""
    over = piece.end - piece.start - ns
    parts = list(piece.parts)
    for i, part in enumerate(parts):
        cut = min(over, part.ns)
        parts[i] = Part(part.ns - cut, part.cause, part.accept)
        over -= cut
    return parts


def _match(
    parts: list[Part],
    said: Counter[str],
    table: Counter[tuple[str, str]],
    name_of: Callable[[str], str],
    tolerance: int,
) -> None:
    """Spend what was said on what is true: exact answers first, then accepted ones."""
    left = Counter({name: ns for name, ns in said.items() if ns > 0})
    open_parts: list[list[int]] = []
    for part in parts:
        name = name_of(part.cause)
        same = min(part.ns, left[name])
        left[name] -= same
        if part.cause not in NEUTRAL:
            table[name, name] += same
        open_parts.append([part.ns - same])
    for part, rest in sorted(zip(parts, open_parts, strict=True), key=lambda p: len(p[0].accept)):
        name = name_of(part.cause)
        accept = {name_of(a) for a in part.accept}
        if part.ns <= tolerance:
            accept.add(name_of(SPACING))
        for other in accept:
            same = min(rest[0], left[other])
            left[other] -= same
            rest[0] -= same
            if part.cause not in NEUTRAL:
                table[name, name] += same
    for part, rest in zip(parts, open_parts, strict=True):
        for other in list(left):
            wrong = min(rest[0], left[other])
            left[other] -= wrong
            rest[0] -= wrong
            if wrong:
                table[name_of(part.cause), other] += wrong

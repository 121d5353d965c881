"""How much of the time an analysis named the right cause and the right owner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
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


def score(
    analysis: Analysis, pieces: Iterable[Piece], origin: int, tolerance: int = 0
) -> tuple[Score, Score]:
    """Compare piece by piece inside the analysis's own window.

    Args:
        analysis: what was said; one device.
        pieces: what is true, times of the run.
        origin: the run's time of the trace's zero.
        tolerance: rounding of the format: stretches up to this may be spacing.

    Returns:
        The score by the product's definition of a ramp, and the one without it.
    """
    low, high = analysis.window.start_ns + origin, analysis.window.end_ns + origin
    lenient, strict = Score(window=high - low), Score(window=high - low)
    gaps = analysis.gaps
    starts = (gaps.start_ns + origin).tolist()
    ends = (gaps.end_ns + origin).tolist()
    rules = [gaps.rule_ids[cause] for cause in gaps.cause.tolist()]
    at = 0
    for piece in pieces:
        start, end = max(piece.start, low), min(piece.end, high)
        if end <= start:
            continue
        said: dict[str, int] = {}
        while at < len(starts) and ends[at] <= start:
            at += 1
        unsaid = end - start
        for row in range(at, len(starts)):
            if starts[row] >= end:
                break
            told = min(ends[row], end) - max(starts[row], start)
            said[rules[row]] = said.get(rules[row], 0) + told
            unsaid -= told
        said[SPACING] = said.get(SPACING, 0) + unsaid
        by_owner: dict[str, int] = {}
        for name, ns in said.items():
            by_owner[owner(name)] = by_owner.get(owner(name), 0) + ns
        for result, judged in ((lenient, piece), (strict, piece.strict())):
            parts = _clipped(judged, end - start)
            _match(parts, said, result.cause, _itself, tolerance)
            _match(parts, by_owner, result.owner, owner, tolerance)
    return lenient, strict


def _itself(name: str) -> str:
    return name


def _clipped(piece: Piece, ns: int) -> Sequence[Part]:
    """The parts of a piece of which only the last ``ns`` lie in the window."""
    over = piece.end - piece.start - ns
    if not over:
        return piece.parts
    parts = list(piece.parts)
    for i, part in enumerate(parts):
        cut = min(over, part.ns)
        parts[i] = Part(part.ns - cut, part.cause, part.accept)
        over -= cut
    return parts


def _match(
    parts: Sequence[Part],
    said: Mapping[str, int],
    table: Counter[tuple[str, str]],
    name_of: Callable[[str], str],
    tolerance: int,
) -> None:
    """Spend what was said on what is true: exact answers first, then accepted ones."""
    left = {name: ns for name, ns in said.items() if ns > 0}
    rests: list[int] = []
    for part in parts:
        name = name_of(part.cause)
        same = min(part.ns, left.get(name, 0))
        if same:
            left[name] -= same
            if part.cause not in NEUTRAL:
                table[name, name] += same
        rests.append(part.ns - same)
    if not any(rests):
        return
    for i in sorted(range(len(parts)), key=lambda i: len(parts[i].accept)):
        part, name = parts[i], name_of(parts[i].cause)
        accept = {name_of(a) for a in part.accept}
        if part.ns <= tolerance:
            accept.add(name_of(SPACING))
        # In one order: what is left for the others must not hang on the hashes of a process.
        for other in sorted(accept & left.keys()):
            same = min(rests[i], left[other])
            left[other] -= same
            rests[i] -= same
            if part.cause not in NEUTRAL:
                table[name, name] += same
    for part, rest in zip(parts, rests, strict=True):
        for other in list(left):
            wrong = min(rest, left[other])
            left[other] -= wrong
            rest -= wrong
            if wrong:
                table[name_of(part.cause), other] += wrong

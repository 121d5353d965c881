"""What a roofline shows: groups of kernels by intensity and rate under the roofs of their card.

Only products, convolutions and attention have flops that count. Everything else is shown
beside them by what it moves in a call and how fast, under the card's bandwidth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whichlayer.analysis.kernels.throughput import device_matches
from whichlayer.tui.summary import Ranked, rank_kernels

if TYPE_CHECKING:
    from whichlayer.analysis.results import Analysis

#: Precisions whose roofs are drawn where no group tells one.
_USUAL = ("bf16", "fp16", "fp32")


@dataclass(frozen=True, slots=True)
class Point:
    """A group of kernels.

    Attributes:
        row: its figures in the span.
        x: flops a byte; bytes a call for what has no flops.
        y: flops a second; bytes a second.
        share: of the time of all groups of the span.
    """

    row: Ranked
    x: float
    y: float
    share: float


@dataclass(frozen=True, slots=True)
class Roof:
    """A limit of the card: ``y`` never exceeds ``level``."""

    name: str
    level: float


@dataclass(frozen=True, slots=True)
class Roofline:
    """Everything that is drawn.

    Attributes:
        compute: groups with flops, most time first.
        memory: groups without, most time first.
        roofs: dense rates in flops a second, highest first.
        bandwidth: bytes a second, or None.
        total_ns: time of all groups of the span.
        unplaced_ns: of that, time of groups without figures.
        device: the card, and where its peaks come from.
        note: why there are no roofs, or empty.
        reasons: why groups have no figures, and the time of those, the most first.
    """

    compute: tuple[Point, ...]
    memory: tuple[Point, ...]
    roofs: tuple[Roof, ...]
    bandwidth: float | None
    total_ns: int
    unplaced_ns: int
    device: str
    note: str
    reasons: tuple[tuple[str, int], ...] = ()

    @property
    def points(self) -> tuple[Point, ...]:
        """All of them, most time first."""
        both = (*self.compute, *self.memory)
        return tuple(sorted(both, key=lambda point: (-point.row.time_ns, point.row.index)))


def roofline_of(analysis: Analysis, device: int, span: tuple[int, int] | None) -> Roofline:
    """The roofline of a span, or of the analysed window without one.

    Args:
        analysis: what is known.
        device: index of the device whose roofs are drawn.
        span: start and end, or None.
    """
    rows = [row for row in rank_kernels(analysis, span) if row.time_ns > 0]
    total = sum(row.time_ns for row in rows)
    compute: list[Point] = []
    memory: list[Point] = []
    unplaced, reasons = 0, dict[str, int]()
    for row in rows:
        point = _point(row, total)
        if point is None:
            unplaced += row.time_ns
            why = row.group.why or "no rule says what it moves or computes"
            reasons[why] = reasons.get(why, 0) + row.time_ns
        else:
            (memory if row.group.flops is None else compute).append(point)
    most = tuple(sorted(reasons.items(), key=lambda pair: -pair[1]))
    matches = device_matches(analysis)
    match = matches[device] if 0 <= device < len(matches) else None
    if match is None:
        return Roofline(
            tuple(compute), tuple(memory), (), None, total, unplaced, "", "no GPU in this recording",
            most,
        )  # fmt: skip
    used = {point.row.group.precision for point in compute}
    wanted = [name for name in match.tflops if name in used] or [
        name for name in _USUAL if name in match.tflops
    ]
    rates = [(name, match.rate(name)) for name in wanted]
    roofs = [Roof(name, rate * 1e12) for name, rate in rates if rate]
    band = match.bandwidth_gbps
    return Roofline(
        tuple(compute),
        tuple(memory),
        tuple(sorted(roofs, key=lambda roof: -roof.level)),
        band * 1e9 if band else None,
        total,
        unplaced,
        match.model or analysis.devices[device].name or "unknown GPU",
        "" if band or roofs else match.note,
        most,
    )


def _point(row: Ranked, total: int) -> Point | None:
    """Where a group lies; None where its figures are not known."""
    group = row.group
    share = row.time_ns / total if total else 0.0
    if group.why.startswith(("a transfer", "communication")):
        return None
    if group.flops is not None:
        places = (group.flops / group.bytes if group.bytes else None, group.tflops)
        scale = 1e12
    else:
        places = (None if group.bytes is None else float(group.bytes), group.gbps)
        scale = 1e9
    x, y = places
    if not x or not y or not math.isfinite(x) or not math.isfinite(y) or x < 0 or y < 0:
        return None
    return Point(row, x, y * scale, share)


@dataclass(frozen=True, slots=True)
class Scale:
    """A logarithmic axis of so many dots."""

    low: float
    high: float
    dots: int

    def place(self, value: float) -> int:
        """The dot of a value, counted from the low end; beyond the ends the last one."""
        share = math.log(max(value, 1e-30) / self.low) / math.log(self.high / self.low)
        return min(max(round(share * (self.dots - 1)), 0), max(self.dots - 1, 0))

    def value(self, dot: int) -> float:
        """The value of a dot."""
        return float(self.low * (self.high / self.low) ** (dot / max(self.dots - 1, 1)))

    def ticks(self) -> list[float]:
        """Powers of ten on it; with three times each where there are only one or two."""
        first, last = math.log10(self.low), math.log10(self.high)
        exponents = range(math.ceil(first - 1e-9), math.floor(last + 1e-9) + 1)
        tens = [10.0**exponent for exponent in exponents]
        if len(tens) > 2:
            return tens
        threes = [3 * 10.0**exponent for exponent in range(math.floor(first), math.ceil(last))]
        return sorted(tens + [value for value in threes if self.low <= value <= self.high])


#: Points further than this below the largest value lie on the edge of the plot.
_MOST_DECADES = 9


def scale_of(values: Sequence[float], limits: Sequence[float], dots: int) -> Scale:
    """An axis on which values and limits have room; nine powers of ten at most.

    Args:
        values: of the points.
        limits: of the roofs and ridges.
        dots: its length.
    """
    everything = [value for value in (*values, *limits) if value > 0 and math.isfinite(value)]
    if not everything:
        return Scale(1.0, 10.0, dots)
    high = 2.0 * max(everything)
    low = max(min(everything) / 2.0, high / 10**_MOST_DECADES)
    if high / low < 30:  # room for at least a power of ten on the axis
        low = high / 30
    return Scale(low, high, dots)


_PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


def prefixed(value: float) -> str:
    """A value in few characters: ``1k``, ``300M``, ``0.1``, ``3.35T``."""
    for scale, prefix in _PREFIXES:
        if value >= 0.9999 * scale:
            return f"{value / scale:.3g}{prefix}"
    return f"{value:.2g}"

"""Where a time axis has its marks, and how an instant reads there."""

from __future__ import annotations

from dataclasses import dataclass

from whichlayer.tui.viewport import Viewport

#: Units of the axis, largest first.
UNITS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"), (1, "ns"))

#: Beyond this many steps from zero, labels count from the left edge instead: the leading
#: digits would be the same in all of them.
_MOST_STEPS = 10_000

#: Cells between two labelled marks, at least.
LEAST_SPACING = 12


@dataclass(frozen=True, slots=True)
class Axis:
    """The marks of a ruler.

    Attributes:
        marks: (cell, label) from left to right.
        base_ns: what labels count from; 0 unless zoomed in far.
        scale_ns, unit: unit of the labels.
        zero_ns: the wall clock at time 0, where labels are of the wall clock.
    """

    marks: tuple[tuple[int, str], ...]
    base_ns: int
    scale_ns: int
    unit: str
    zero_ns: int | None = None

    def instant(self, time_ns: int, precision_ns: int) -> str:
        """An instant in the unit of the labels (in ms where those count from a base)."""
        if self.zero_ns is not None:
            return clock_text(self.zero_ns + time_ns, precision_ns)
        if self.base_ns:
            return instant_text(time_ns, precision_ns, 1_000_000, "ms")
        return instant_text(time_ns, precision_ns, self.scale_ns, self.unit)

    def exact(self, time_ns: int) -> str:
        """An instant to the nanosecond, as :meth:`instant` has it and as it can be typed."""
        if self.zero_ns is not None:
            return clock_text(self.zero_ns + time_ns, 1)
        scale, unit = (1_000_000, "ms") if self.base_ns else (self.scale_ns, self.unit)
        return _label(time_ns, scale, unit)

    def stretch(self, start_ns: int, end_ns: int) -> str:
        """Begin and end of a stretch to the nanosecond: ``1 991.712 – 1 999.302 µs``."""
        start, end = self.exact(start_ns), self.exact(end_ns)
        if self.zero_ns is None:
            start = start.rpartition(" ")[0]
        return f"{start} – {end}"

    @property
    def plain_ns(self) -> int:
        """The unit that a number read off this axis is in."""
        return 1_000_000 if self.base_ns or self.zero_ns is not None else self.scale_ns


def axis_of(port: Viewport, spacing: int = LEAST_SPACING) -> Axis:
    """Marks at round times, at least ``spacing`` cells apart."""
    step = round_step(max(port.span_ns * spacing // port.cells, 1))
    base = 0
    if port.start_ns // step > _MOST_STEPS:
        coarse = round_step(max(port.span_ns, 1))
        base = port.start_ns // coarse * coarse
    scale, unit = _unit_of(max(step, (port.end_ns - base) // 1000))
    marks = []
    time = -(-port.start_ns // step) * step
    while time < port.end_ns:
        marks.append((port.cell_of(time), ("+" if base else "") + _label(time - base, scale, unit)))
        time += step
    return Axis(tuple(marks), base, scale, unit)


def clock_axis(port: Viewport, zero_ns: int) -> Axis:
    """Marks at round times of the wall clock (UTC).

    Args:
        port: the visible span.
        zero_ns: nanoseconds since 1970 of the recording's time 0.
    """
    spacing = LEAST_SPACING
    for _ in range(2):  # a finer step has longer labels, which may ask for a coarser one
        step = round_step(max(port.span_ns * spacing // port.cells, 1))
        spacing = len(clock_text(zero_ns, step)) + 3
    first = -(-(port.start_ns + zero_ns) // step) * step
    marks = [
        (port.cell_of(time - zero_ns), clock_text(time, step))
        for time in range(first, port.end_ns + zero_ns, step)
    ]
    return Axis(tuple(marks), 0, 1, "", zero_ns)


def clock_text(time_ns: int, precision_ns: int) -> str:
    """A time of the day, with as many decimals as a precision asks for.

    >>> clock_text(3_723_456_000_000, 1_000_000), clock_text(0, 10**9)
    ('01:02:03.456', '00:00:00')
    """
    seconds, part = divmod(time_ns, 10**9)
    digits = max(10 - len(str(max(precision_ns, 1))), 0)
    hour, rest = divmod(seconds % 86_400, 3600)
    text = f"{hour:02d}:{rest // 60:02d}:{rest % 60:02d}"
    return f"{text}.{part:09d}"[: len(text) + 1 + digits] if digits else text


def round_step(least_ns: int) -> int:
    """The smallest of 1, 2, 5, 10, 20 … that is not below ``least_ns``.

    >>> round_step(3), round_step(12_000)
    (5, 20000)
    """
    power: int = 10 ** (len(str(least_ns)) - 1)
    for factor in (1, 2, 5):
        if factor * power >= least_ns:
            return factor * power
    return 10 * power


def instant_text(time_ns: int, precision_ns: int, scale_ns: int, unit: str) -> str:
    """An instant in a unit, with as many decimals as a precision asks for.

    >>> instant_text(1_234_567_890, 1_000, 1_000_000, "ms")
    '1 234.568 ms'
    """
    digits = max(len(str(scale_ns)) - len(str(max(precision_ns, 1))), 0)
    return f"{time_ns / scale_ns:,.{digits}f} {unit}".replace(",", " ")


def _unit_of(size_ns: int) -> tuple[int, str]:
    return next(((scale, unit) for scale, unit in UNITS if size_ns >= scale), UNITS[-1])


def _label(time_ns: int, scale: int, unit: str) -> str:
    whole, rest = divmod(abs(time_ns), scale)
    text = f"{whole:,}".replace(",", " ")
    if rest:
        text += f".{rest:0{len(str(scale)) - 1}d}".rstrip("0")
    return f"{'-' if time_ns < 0 else ''}{text} {unit}"

"""Counter tracks as lanes: the series of one process below its other lanes, a row for each."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from whichlayer.analysis.text import clean
from whichlayer.analysis.trace.columns import Lane, Trace
from whichlayer.analysis.trace.kinds import LaneKind
from whichlayer.tui.counter_row import CounterRow
from whichlayer.tui.lanes import ShownLane
from whichlayer.tui.raster import Row

_GPU = re.compile(r"GPU (\d+)")
_BRACKETED = re.compile(r"\[([^\]]{1,12})\]|\(([^)]{1,12})\)")
_UNIT = re.compile(r"(?:^|[^a-z])(%|bytes|[kmgt]i?b(?:/s)?|[kmg]hz|watts?|us|µs|ms|ns)(?:$|[^a-z])",
                   re.IGNORECASE)  # fmt: skip

#: Units that are told from other words by their brackets alone.
_LETTERS = frozenset({"A", "C", "J", "V", "W", "mA", "mJ", "mV", "mW", "s", "°C"})


@dataclass(frozen=True, slots=True)
class Series:
    """One series of a counter.

    Attributes:
        process: as recorded.
        counter, field: names, clean.
        title: what the label says.
        plain: the field says no more than the counter's name.
        unit: where the name tells it, or empty.
    """

    process: str
    counter: str
    field: str
    title: str
    plain: bool
    unit: str


class SeriesList(Sequence[Series]):
    """The series of one process by row, each made when it is asked for: there may be many."""

    def __init__(self, names: Sequence[tuple[str, str, str]]) -> None:
        """Take (process, counter, field) of each row."""
        self._names = names
        self._fields = Counter(counter for _, counter, _ in dict.fromkeys(names))

    def __len__(self) -> int:
        return len(self._names)

    @overload
    def __getitem__(self, depth: int) -> Series: ...
    @overload
    def __getitem__(self, depth: slice) -> Sequence[Series]: ...
    def __getitem__(self, depth: int | slice) -> Series | Sequence[Series]:
        if isinstance(depth, slice):
            return [self[place] for place in range(*depth.indices(len(self)))]
        name = self._names[depth]
        return _series(name, self._fields[name[1]])


class CounterLane(ShownLane):
    """The counters of one process, a row for each series.

    Attributes:
        series: by row.
    """

    def __init__(
        self,
        trace: Trace,
        place: Lane,
        numbers: Sequence[int],
        bounds: Sequence[int],
        until_ns: int,
    ) -> None:
        """Take the numbers of the series in the order of the screen.

        Args:
            trace: the recording.
            place: whose counters they are.
            numbers: into ``trace.counters.series``.
            bounds: where the samples of each series of the trace begin, and the end.
            until_ns: how long the last samples hold.
        """
        names = [trace.counters.series[number] for number in numbers]
        self.lane = place
        self.series: Sequence[Series] = SeriesList(names)
        self.title = self.series[0].title
        self.group = "counter"
        self.device = place.device
        self.depth = len(numbers)
        self.first_row = 0
        self._rows: dict[int, Row] = {}
        self._trace = trace
        self._numbers, self._ends, self._until_ns = numbers, bounds, until_ns

    def sort_rows(self) -> None:
        """Nothing: samples are read by series."""

    def row(self, depth: int) -> CounterRow:
        """One series, prepared when first asked for."""
        found = self._rows.get(depth)
        if not isinstance(found, CounterRow):
            number = self._numbers[depth]
            mine = slice(self._ends[number], self._ends[number + 1])
            counters = self._trace.counters
            found = CounterRow(
                counters.time_ns[mine], counters.value[mine], self._until_ns, depth & 1
            )
            self._rows[depth] = found
        return found

    def row_title(self, depth: int, is_first: bool) -> str:
        """Each row has the name of its series; one field below another that of the field."""
        mine = self.series[depth]
        if is_first or mine.plain or self.series[depth - 1].counter != mine.counter:
            return mine.title
        return f"  {mine.field}"

    def row_note(self, depth: int, room: int) -> str:
        """What the top of the row stands for."""
        return short_number(self.row(depth).top)

    def depth_of(self, slice_row: int) -> int:
        """No slice is drawn here."""
        return -1


def with_counters(
    lanes: tuple[ShownLane, ...], trace: Trace, until_ns: int
) -> tuple[ShownLane, ...]:
    """The lanes with those of counters below what they are of, or else at the end.

    Args:
        lanes: in the order of the screen.
        trace: the recording.
        until_ns: how long the last samples hold.
    """
    counters = trace.counters
    bounds = np.searchsorted(counters.series_id, np.arange(len(counters.series) + 1)).tolist()
    by_process: dict[str, list[int]] = {}
    for number, (process, _, _) in enumerate(counters.series):
        if bounds[number + 1] > bounds[number]:
            by_process.setdefault(process, []).append(number)
    below: dict[int, list[ShownLane]] = {}
    places = _Places(lanes)
    for process, numbers in by_process.items():
        place, after = places.of(process)
        ordered = sorted(numbers, key=lambda number: counters.series[number][1:])
        below.setdefault(after, []).append(CounterLane(trace, place, ordered, bounds, until_ns))
    result = list(below.get(-1, [])) if not lanes else []
    for index, lane in enumerate(lanes):
        result += [lane, *below.get(index, [])]
    return tuple(result)


def with_samples(trace: Trace, low_ns: int, high_ns: int, has_slices: bool) -> tuple[int, int]:
    """The stretch ``[low, high)`` of the slices widened to hold the samples of counters.

    It at most triples: what lies further off is seen in a series' range alone. Without slices it
    is the stretch of samples and instants.
    """
    times = trace.counters.time_ns
    if not has_slices:
        times = np.concatenate((times, trace.instants.time_ns))
    if not len(times):
        return low_ns, high_ns
    first, stop = int(times.min()), int(times.max()) + 1
    if not has_slices:
        return first, stop
    span = high_ns - low_ns
    return min(low_ns, max(first, low_ns - span)), max(high_ns, min(stop, high_ns + span))


class _Places:
    """Finds whose the counters of a process are, without a look at every lane for each."""

    def __init__(self, lanes: Sequence[ShownLane]) -> None:
        self._lanes = lanes
        self._of_process: dict[str, list[int]] = {}
        self._of_device: dict[int, list[int]] = {}
        for index, shown in enumerate(lanes):
            self._of_process.setdefault(str(shown.lane.pid), []).append(index)
            self._of_device.setdefault(shown.device, []).append(index)

    def of(self, process: str) -> tuple[Lane, int]:
        """What the counters belong to, and the lane below which they go."""
        lanes, named = self._lanes, _GPU.fullmatch(process)
        mine = self._of_process.get(process, [])
        if named is not None:
            mine = sorted({*mine, *self._of_device.get(int(named[1]), [])})
        mine = [index for index in mine if lanes[index].device >= 0] or mine
        device = lanes[mine[-1]].device if mine else int(named[1]) if named else -1
        known = next((lanes[index].lane.process for index in mine if lanes[index].lane.process), "")
        lane = Lane(process, "counters", LaneKind.OTHER, device, name="counters", process=known)
        return lane, mine[-1] if mine else len(lanes) - 1


def _series(name: tuple[str, str, str], fields: int) -> Series:
    """What is said of a series whose counter has so many fields."""
    process, counter, field = name
    shown, told = (" ".join(clean(text).split()) for text in (counter, field))
    plain = not told or (fields == 1 and bool(shown))
    title = shown if plain else f"{shown} {told}".strip()
    return Series(clean(process), shown, told, title or "counter", plain, _unit(shown, told))


def _unit(counter: str, field: str) -> str:
    """The unit that a name tells, or nothing.

    >>> _unit("SM Active [Throughput %]", "value"), _unit("sclk", "MHz"), _unit("Idle", "idle")
    ('%', 'MHz', '')
    """
    for text in (counter, field):
        inside = [part for pair in _BRACKETED.findall(text) for part in pair if part]
        for part in (*inside, text):
            if part is not text and part.strip() in _LETTERS:
                return str(part).strip()
            found = _UNIT.search(part)
            if found is not None:
                return str(found[1])
    return ""


def short_number(value: float) -> str:
    """A number in at most six characters.

    >>> [short_number(value) for value in (0.0, 97.0, 1700.0, 2_088_508_416.0, -0.25)]
    ['0', '97', '1.7k', '2.09G', '-0.25']
    """
    if not math.isfinite(value):
        return "–"
    size = abs(value)
    for scale, letter in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if size >= 1e18:
            return f"{value:.0e}".replace("e+", "e")
        if size >= scale:
            return f"{value / scale:.3g}{letter}" if size < 999.5 * scale else f"{value:.0e}"
    return f"{value:.3g}" if size >= 1e-3 or not size else f"{value:.0e}"


def exact_number(value: float) -> str:
    """A value as recorded, with its digits in groups.

    >>> exact_number(2088508416.0), exact_number(0.125)
    ('2 088 508 416', '0.125')
    """
    if not math.isfinite(value):
        return "no number" if math.isnan(value) else str(value)
    if value.is_integer() and abs(value) < 2**53:
        return f"{int(value):,}".replace(",", " ")
    return repr(value)


def near_number(value: float) -> str:
    """A value with six digits at most, or exactly where it is a whole number."""
    if not math.isfinite(value) or (value.is_integer() and abs(value) < 2**53):
        return exact_number(value)
    return f"{value:.6g}"

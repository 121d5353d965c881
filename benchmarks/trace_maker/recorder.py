"""Writes down what a program does, as the text of events in one of the layouts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from benchmarks.trace_maker.layouts import Layout

#: Where on the trace's clock the recording begins.
START_NS: Final = 4_458_676_000_000_000

Lane = tuple[int | str, int | str]
Span = tuple[int, int]


@dataclass(slots=True)
class Recorder:
    """Collects the text of events.

    Attributes:
        layout: how events are written.
        host: events of the host, each ending in a comma.
        gpu: events of the runtime and the GPU.
        events: how many there have been.
    """

    layout: Layout
    host: list[str] = field(default_factory=list)
    gpu: list[str] = field(default_factory=list)
    events: int = 0

    def keep(self) -> int:
        """A place among the host's events for one that begins now and is written later."""
        self.host.append("")
        return len(self.host) - 1

    def take(self) -> tuple[str, str]:
        """The text of host and GPU so far; both begin anew."""
        text = "".join(self.host), "".join(self.gpu)
        self.host, self.gpu = [], []
        return text

    def host_slice(
        self, place: int, category: str, name: str, lane: Lane, span: Span, arguments: str
    ) -> None:
        """Fills a place that was kept."""
        self.host[place] = self._slice(category, name, lane, span, arguments)

    def gpu_slice(self, category: str, name: str, lane: Lane, span: Span, arguments: str) -> None:
        """Adds a slice of the runtime or the GPU."""
        self.gpu.append(self._slice(category, name, lane, span, arguments))

    def arrow(self, category: str, number: int, start: tuple[Lane, int]) -> str:
        """The beginning of an arrow from a lane at a time."""
        return self._flow(self.layout.flow_start, category, number, start)

    def arrow_head(self, category: str, number: int, end: tuple[Lane, int]) -> str:
        """The end of an arrow at a lane and a time."""
        return self._flow(self.layout.flow_end, category, number, end)

    def metadata(self, name: str, lane: Lane, key: str, value: str) -> str:
        """An event that names something; the value is JSON."""
        self.events += 1
        return self.layout.metadata % (name, *divmod(START_NS, 1_000), *lane, key, value)

    def arguments(self, *groups: tuple[tuple[str, object], ...]) -> str:
        """Arguments as text: pairs of key and JSON value, Kineto begins a line with a group."""
        colon, comma = self.layout.colon, self.layout.comma
        return self.layout.line.join(
            [comma.join([f'"{key}"{colon}{value}' for key, value in group]) for group in groups]
        )

    def _slice(self, category: str, name: str, lane: Lane, span: Span, arguments: str) -> str:
        self.events += 1
        start_ns, end_ns = span
        times = (*divmod(start_ns, 1_000), *divmod(end_ns - start_ns, 1_000))
        return self.layout.slice % (category, name, *lane, *times, arguments)

    def _flow(self, template: str, category: str, number: int, at: tuple[Lane, int]) -> str:
        self.events += 1
        lane, time_ns = at
        return template % (number, *lane, *divmod(time_ns, 1_000), category, category)

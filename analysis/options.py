"""What the user asked for beyond the file: the one input of an analysis besides the trace.

Imports no NumPy: the command line makes these before anything is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Peaks:
    """What a GPU can do at best, as its user says.

    Attributes:
        bandwidth_gbps: memory bandwidth in GB/s, or None.
        tflops: dense rates in TFLOP/s by precision (``bf16`` …).
    """

    bandwidth_gbps: float | None = None
    tflops: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asked for beyond the file.

    Attributes:
        span_ns: (start, end) to analyse, or None.
        steps: (first, last) ProfilerStep numbers, both in, or None.
        device: device number as recorded, or None for all.
        device_model: row of the device table to use for every GPU, or None.
        peak_bandwidth_gbps: overrides the table's memory bandwidth.
        peak_tflops: overrides matrix rates, keyed by precision (``bf16`` …).
        covered: tell what cost nothing too (``whichlayer.analysis.covered``).
        near_misses: tell which rules almost fired (``whichlayer.analysis.findings.near_misses``).
        link_gbps: what the links of one GPU to the others can send, which no recording tells.
        settings: thresholds by rule or gate that replace its own, read by
            ``whichlayer.analysis.settings`` alone.
        rules_off: rules that list no finding, and gates that do not warn.
        peaks: figures by device: a row of the device table, or the name in the recording.
            ``peak_*`` go before them.
        source_roots: folders of the user's code; a frame outside all of them is a library's.
        origins: where values come from (``FILE:LINE`` or an option), by their dotted name such
            as ``rules.host-sync.note``; a value without an entry has no known place.
    """

    span_ns: tuple[int, int] | None = None
    steps: tuple[int, int] | None = None
    device: int | None = None
    device_model: str | None = None
    peak_bandwidth_gbps: float | None = None
    peak_tflops: Mapping[str, float] = field(default_factory=dict)
    covered: bool = False
    near_misses: bool = False
    link_gbps: float | None = None
    settings: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    rules_off: frozenset[str] = frozenset()
    peaks: Mapping[str, Peaks] = field(default_factory=dict)
    source_roots: tuple[str, ...] = ()
    origins: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def whole(self) -> str:
        """The word for what is analysed, of which shares are told."""
        return "window" if self.span_ns is None else "span"

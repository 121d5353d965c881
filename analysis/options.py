"""What the user asked for beyond the file: the one input of an analysis besides the trace.

Imports no NumPy: the command line makes these before anything is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


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
        link_gbps: what the links of one GPU to the others can send, which no recording tells.
    """

    span_ns: tuple[int, int] | None = None
    steps: tuple[int, int] | None = None
    device: int | None = None
    device_model: str | None = None
    peak_bandwidth_gbps: float | None = None
    peak_tflops: Mapping[str, float] = field(default_factory=dict)
    covered: bool = False
    link_gbps: float | None = None

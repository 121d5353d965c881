"""Everything that is known about a trace, with no screen.

Example:
    >>> from whichlayer.analysis import load, analyse
    >>> analysis = analyse(load("trace.json.gz"))  # doctest: +SKIP
    >>> analysis.verdict.side  # doctest: +SKIP
    'above-cuda'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whichlayer.analysis.errors import TraceError, TraceWarning
    from whichlayer.analysis.findings.near import NearMiss
    from whichlayer.analysis.findings.near_misses import near_misses
    from whichlayer.analysis.layers import Layer
    from whichlayer.analysis.options import Options, Peaks
    from whichlayer.analysis.pipeline import analyse
    from whichlayer.analysis.reader import open_trace as load
    from whichlayer.analysis.report.to_dict import to_dict
    from whichlayer.analysis.results import (
        Analysis,
        Budget,
        Device,
        Finding,
        GapKind,
        Gaps,
        KernelGroup,
        Kernels,
        Region,
        Role,
        Segments,
        State,
        Verdict,
        Where,
        Window,
    )
    from whichlayer.analysis.trace.columns import Step, Trace

__all__ = [
    "Analysis",
    "Budget",
    "Device",
    "Finding",
    "GapKind",
    "Gaps",
    "KernelGroup",
    "Kernels",
    "Layer",
    "NearMiss",
    "Options",
    "Peaks",
    "Region",
    "Role",
    "Segments",
    "State",
    "Step",
    "Trace",
    "TraceError",
    "TraceWarning",
    "Verdict",
    "Where",
    "Window",
    "analyse",
    "load",
    "near_misses",
    "to_dict",
]

_RESULTS = (
    "Analysis", "Budget", "Device", "Finding", "GapKind", "Gaps", "KernelGroup", "Kernels",
    "Region", "Role", "Segments", "State", "Verdict", "Where", "Window",
)  # fmt: skip
_HOME = {
    **{name: ("results", name) for name in _RESULTS},
    "Layer": ("layers", "Layer"),
    "NearMiss": ("findings.near", "NearMiss"),
    "Options": ("options", "Options"),
    "Peaks": ("options", "Peaks"),
    "Step": ("trace.columns", "Step"),
    "Trace": ("trace.columns", "Trace"),
    "TraceError": ("errors", "TraceError"),
    "TraceWarning": ("errors", "TraceWarning"),
    "analyse": ("pipeline", "analyse"),
    "load": ("reader", "open_trace"),
    "near_misses": ("findings.near_misses", "near_misses"),
    "to_dict": ("report.to_dict", "to_dict"),
}


def __getattr__(name: str) -> Any:
    """Import on first use: ``whichlayer --help`` needs no NumPy."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    module, attribute = _HOME[name]
    return getattr(importlib.import_module(f"{__name__}.{module}"), attribute)

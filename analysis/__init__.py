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
    from whichlayer.analysis.errors import TraceError
    from whichlayer.analysis.pipeline import analyse
    from whichlayer.analysis.reader import open_trace as load
    from whichlayer.analysis.results import Analysis, Options

__all__ = ["Analysis", "Options", "TraceError", "analyse", "load"]

_HOME = {
    "Analysis": ("results", "Analysis"),
    "Options": ("options", "Options"),
    "TraceError": ("errors", "TraceError"),
    "analyse": ("pipeline", "analyse"),
    "load": ("reader", "open_trace"),
}


def __getattr__(name: str) -> Any:
    """Import on first use: ``whichlayer --help`` needs no NumPy."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    module, attribute = _HOME[name]
    return getattr(importlib.import_module(f"{__name__}.{module}"), attribute)

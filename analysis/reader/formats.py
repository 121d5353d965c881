"""The formats that can be read: one module ``read_*.py`` each, found by its name."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import whichlayer.analysis.reader
from whichlayer.analysis.reader.progress import Report
from whichlayer.analysis.reader.source import TraceSource
from whichlayer.analysis.trace.columns import Trace


@dataclass(frozen=True, slots=True)
class TraceFormat:
    """A file format.

    Attributes:
        name: what people call it.
        matches: whether a file that begins (decompressed) with these bytes has it.
        read: reads an opened file; raises :class:`TraceError` with a reason that does not
            name the file.
    """

    name: str
    matches: Callable[[bytes], bool]
    read: Callable[[TraceSource, Report | None], Trace]


def trace_formats() -> Iterator[TraceFormat]:
    """Every format, by the name of its module."""
    package = whichlayer.analysis.reader
    for name in _modules():
        module = importlib.import_module(f"{package.__name__}.{name}")
        if isinstance(module.FORMAT, TraceFormat):
            yield module.FORMAT


@cache
def _modules() -> tuple[str, ...]:
    found = (info.name for info in pkgutil.iter_modules(whichlayer.analysis.reader.__path__))
    return tuple(sorted(name for name in found if name.startswith("read_")))

"""Readers: from the bytes of a file to the columnar trace."""

from __future__ import annotations

from whichlayer.analysis.reader.opening import open_trace
from whichlayer.analysis.reader.progress import Progress

__all__ = ["Progress", "open_trace"]

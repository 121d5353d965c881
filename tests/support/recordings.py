"""Real recordings, each read and analysed once in a session whichever tests ask for it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from whichlayer.analysis import Analysis, analyse, load
from whichlayer.analysis.trace.columns import Trace


@cache
def loaded(path: Path) -> Trace:
    """A recording as it is read; not to be changed."""
    return load(path)


@cache
def analysed(path: Path) -> Analysis:
    """A recording with the default options; not to be changed."""
    return analyse(loaded(path))

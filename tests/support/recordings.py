"""Real recordings, each read and analysed once in a session whichever tests ask for it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from whichlayer.analysis import Analysis, analyse, load


@cache
def analysed(path: Path) -> Analysis:
    """A recording with the default options."""
    return analyse(load(path))

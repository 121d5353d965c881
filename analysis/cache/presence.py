"""Whether a trace may be in the cache, told in a millisecond and without NumPy."""

from __future__ import annotations

import os

from whichlayer.analysis.cache.entries import entry_path
from whichlayer.analysis.cache.identity import identify
from whichlayer.analysis.cache.location import locate


def may_be_kept(path: str) -> bool:
    """Whether there is an entry under the name of a file; opening it tells whether it holds.

    Args:
        path: the file, or anything else, of which nothing is ever kept.
    """
    folder = locate().usable
    try:
        # What is no ordinary file must not even be opened: a pipe would keep us waiting.
        if folder is None or not os.path.isfile(path):
            return False
        return os.path.isfile(entry_path(folder, identify(path).key))
    except (OSError, ValueError):
        return False

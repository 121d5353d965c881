"""Stands where a file's loader stands: windows come from a feed, and are analysed elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Callable

from textual.message import Message

from whichlayer.analysis.options import Options
from whichlayer.tui.load import Loader


class NoLoader(Loader):
    """Loads nothing by itself."""

    def __init__(self, name: str, options: Options) -> None:
        """Take what stands for the file's name."""
        super().__init__(name, options)

    def start(self, post: Callable[[Message], object]) -> threading.Thread:
        """Nothing to load."""
        return threading.Thread()

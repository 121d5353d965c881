"""For programs that are to be watched: ``stream()`` and ``arm()``; nothing here imports torch."""

from __future__ import annotations

from whichlayer.analysis.live.in_code import arm, stream

__all__ = ["arm", "stream"]

"""The name under which a window tells of its cards: the recorder writes it, the analysis reads it."""

from __future__ import annotations

from typing import Final

CARDS_KEY: Final = "whichlayerCards"
"""Key of the trace's header; its value is a list, one object per device, in the order of torch."""

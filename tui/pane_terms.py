"""Which words of the glossary each part of the screen is about."""

from __future__ import annotations

from typing import Final

#: By the id of the pane.
PANE_TERMS: Final[dict[str, tuple[str, ...]]] = {
    "verdict": ("verdict", "layer budget", "window"),
    "layers": ("layer budget", "gap", "launch spacing", "edge"),
    "overview": ("window", "gap"),
    "timeline": ("gap", "launch delay", "queue depth"),
    "gaps": ("heatmap", "gap", "exposed", "window"),
    "findings": ("time lost", "recoverable", "confidence", "window"),
    "kernels": ("bytes", "roof", "ideal", "unjudged", "coverage"),
    "region": ("gap", "launch delay", "queue depth", "ideal", "roof", "occupancy", "recoverable"),
}

"""A paragraph of the region pane."""

from __future__ import annotations

from dataclasses import dataclass

from whichlayer.analysis.layers import Layer


@dataclass(frozen=True, slots=True)
class Line:
    """One paragraph of the pane.

    Attributes:
        text: what it says, clean.
        label: what it is about (``fix``, ``where`` …), or empty.
        layer: owner whose letter and colour lead the line, or None.
        strong: it matters most.
    """

    text: str
    label: str = ""
    layer: Layer | None = None
    strong: bool = False

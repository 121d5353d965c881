"""The layer budget as text: whose time the window was, adding up to all of it."""

from __future__ import annotations

from whichlayer.analysis.layers import Layer, layer_name
from whichlayer.analysis.report.text_layout import Column, bar, table, wrap
from whichlayer.analysis.report.units import share_text, time_text
from whichlayer.analysis.results import Analysis, Budget

_BAR_COLUMNS = 24
_COLUMNS = (
    Column("", 1, right=False),
    Column("", 28, right=False),
    Column("", _BAR_COLUMNS, right=False),
    Column("share", 7),
    Column("time", 8),
    Column("in gaps", 8),
    Column("kernels", 8),
)


def budget_lines(analysis: Analysis) -> list[str]:
    """One row per layer, then what has no owner and what could not be judged."""
    budget = analysis.budget
    vendor = platform(analysis)
    rows = [
        _row(budget, layer.text.letter, layer_name(layer, vendor), budget.lost_to(layer), layer)
        for layer in Layer
        if layer is not Layer.NONE
    ]
    lost = budget.lost_to(Layer.NONE)
    ownerless = budget.at_roof_ns + budget.spacing_ns + budget.edge_ns + lost
    rows.append(_row(budget, Layer.NONE.text.letter, Layer.NONE.text.name, ownerless, None))
    rows.append(_row(budget, "", "Unjudged kernels", budget.unjudged_ns, None))
    count = len(analysis.devices)
    of = f"the window x {count} GPUs" if count > 1 else "the window"
    return [
        f"LAYERS  who owns {time_text(budget.total_ns)}: {of}",
        *table(_COLUMNS, rows, indent="  "),
        *wrap(_ownerless(budget, lost), "  no owner: "),
    ]


def platform(analysis: Analysis) -> str:
    """The vendor of the first GPU, or empty."""
    return next((device.vendor for device in analysis.devices if device.vendor), "")


def _row(
    budget: Budget, letter: str, name: str, ns: int, layer: Layer | None
) -> tuple[str, str, str, str, str, str, str]:
    share = ns / budget.total_ns if budget.total_ns else 0.0
    gaps = "" if layer is None else time_text(budget.gap_ns.get(layer, 0))
    losses = "" if layer is None else time_text(budget.loss_ns.get(layer, 0))
    return (
        letter,
        name,
        bar(share, _BAR_COLUMNS),
        share_text(ns, budget.total_ns),
        time_text(ns),
        gaps,
        losses,
    )


def _ownerless(budget: Budget, lost: int) -> str:
    parts = (
        ("at the roof", budget.at_roof_ns),
        ("launch spacing", budget.spacing_ns),
        ("outside every step", budget.edge_ns),
        ("gaps and losses that nobody owns", lost),
    )
    return ", ".join(f"{time_text(ns)} {name}" for name, ns in parts)

"""The layer budget as text: whose time the window was, adding up to all of it."""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the budget; the parts of one add up to its total.

    Attributes:
        letter: of the layer, empty for unjudged kernels.
        name: for people.
        ns: its time.
        layer: the layer, or None where it is no layer's (unjudged kernels) or more than what a
            layer lost (no owner: kernels at the roof, spacing and edges too).
    """

    letter: str
    name: str
    ns: int
    layer: Layer | None


def parts_of(analysis: Analysis) -> list[Part]:
    """The budget of the window: layers, what has no owner, what could not be judged."""
    budget = analysis.budget
    vendor = platform(analysis)
    parts = [
        Part(layer.text.letter, layer_name(layer, vendor), budget.lost_to(layer), layer)
        for layer in Layer
        if layer is not Layer.NONE
    ]
    ownerless = budget.at_roof_ns + budget.spacing_ns + budget.edge_ns + budget.lost_to(Layer.NONE)
    none = Layer.NONE.text
    return [
        *parts,
        Part(none.letter, none.name, ownerless, None),
        Part("", "Unjudged kernels", budget.unjudged_ns, None),
    ]


def part_figures(budget: Budget, part: Part) -> tuple[str, str, str, str]:
    """Share, time, time in gaps and time in kernels of a part; the last two only of layers."""
    layer = part.layer
    return (
        share_text(part.ns, budget.total_ns),
        time_text(part.ns),
        "" if layer is None else time_text(budget.gap_ns.get(layer, 0)),
        "" if layer is None else time_text(budget.loss_ns.get(layer, 0)),
    )


def budget_lines(analysis: Analysis) -> list[str]:
    """One row per layer, then what has no owner and what could not be judged."""
    budget = analysis.budget
    rows = [_row(budget, part) for part in parts_of(analysis)]
    return [
        f"LAYERS  who owns {time_text(budget.total_ns)}: {budget_of(analysis)}",
        *table(_COLUMNS, rows, indent="  "),
        *wrap(ownerless_text(budget), "  no owner: "),
    ]


def budget_of(analysis: Analysis) -> str:
    """What the budget is of."""
    count = len(analysis.devices)
    whole = f"the {analysis.options.whole}"
    return f"{whole} x {count} GPUs" if count > 1 else whole


def platform(analysis: Analysis) -> str:
    """The vendor of the first GPU, or empty."""
    return next((device.vendor for device in analysis.devices if device.vendor), "")


def _row(budget: Budget, part: Part) -> tuple[str, str, str, str, str, str, str]:
    share = part.ns / budget.total_ns if budget.total_ns else 0.0
    return (part.letter, part.name, bar(share, _BAR_COLUMNS), *part_figures(budget, part))


def ownerless_text(budget: Budget) -> str:
    """What the time without an owner is made of."""
    parts = (
        ("at the roof", budget.at_roof_ns),
        ("launch spacing", budget.spacing_ns),
        ("outside every step", budget.edge_ns),
        ("gaps and losses that nobody owns", budget.lost_to(Layer.NONE)),
    )
    return ", ".join(f"{time_text(ns)} {name}" for name, ns in parts)

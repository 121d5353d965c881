"""``whichlayer devices``: the cards whose peaks are known, as text and as a document."""

from __future__ import annotations

from collections.abc import Sequence

from whichlayer.analysis.kernels.device_table import DEVICE_ROWS, DeviceRow
from whichlayer.analysis.report.text_layout import Column, table, wrap
from whichlayer.analysis.report.units import UNKNOWN

FIGURES = ("fp32", "tf32", "bf16", "fp16", "fp8", "int8")
"""The rates that have a column; others are told with the card."""

ABOUT = (
    "Peaks of the data sheets: bandwidth in GB/s, dense rates in TFLOP/s with FP32 accumulation, never "
    "sparse; eff is the share of the dense rate that good large products reach. '?' marks a figure "
    "whose source is not confirmed: it is shown, but nothing is judged by it."
)
SOURCES = (
    "a: units x FMA per clock x 2 x clock gives it within 1 %; t: SM count and memory were read in a "
    "real recording; m: a real kernel reached 90 % of it or more without exceeding it; p: a published "
    "page says so; k: general knowledge only."
)


def list_devices(like: str = "") -> str:
    """The table of cards whose name holds some text, in any case.

    Raises:
        KeyError: there is no such card.
    """
    rows = find_devices(like)
    columns = (
        Column("", max(len(row.name) for row in rows), right=False),
        Column("GB/s", 7),
        *(Column(figure, 7) for figure in FIGURES),
        Column("eff", 4),
    )
    lines = [*wrap(ABOUT), "", *table(columns, [cells(row) for row in rows], indent="")]
    if like:
        for row in rows:
            lines += _in_full(row)
        lines += ["", *wrap(SOURCES)]
    else:
        lines += [
            "",
            *wrap("'whichlayer devices NAME' tells where the figures of a card are from."),
        ]
    return "\n".join(lines) + "\n"


def find_devices(like: str = "") -> Sequence[DeviceRow]:
    """The rows whose name holds some text, in any case.

    Raises:
        KeyError: there is none.
    """
    rows = [row for row in DEVICE_ROWS if like.casefold() in row.name.casefold()]
    if not rows:
        raise KeyError(like)
    return rows


def cells(row: DeviceRow) -> tuple[str, ...]:
    """A row of the table: name, bandwidth, rates, eff."""
    figures = [(row.bandwidth, "bandwidth"), *((row.rates.get(one), one) for one in FIGURES)]
    told = [_figure(row, value, name) for value, name in figures]
    return (row.name, *told, UNKNOWN if row.eff is None else f"{row.eff:.2f}")


def _figure(row: DeviceRow, value: float | None, name: str) -> str:
    if value is None:
        return UNKNOWN
    return f"{value:g}" + ("" if row.confirmed(name) else "?")


def sources_of(row: DeviceRow) -> str:
    """Where the figures of a card are from, in one line."""
    own = [f"{figure} {letters}" for figure, letters in row.sources.items()]
    return ", ".join([f"{row.checked} (unless told apart)", *own] if own else [row.checked])


def facts_of(row: DeviceRow) -> str:
    """What else is known of a card, in one line."""
    units = "CUs" if row.vendor == "amd" else "Xe cores" if row.vendor == "intel" else "SMs"
    facts = [f"{row.units} {units}"] if row.units else []
    facts.append(f"L2 {row.l2_mb:g} MB" + (" in two halves" if row.split_l2 else ""))
    if row.far_cache_mb:
        facts.append(f"cache behind it {row.far_cache_mb:g} MB")
    more = [f"{name} {rate:g}" for name, rate in row.rates.items() if name not in FIGURES]
    return ", ".join([*facts, *more, *([row.note] if row.note else [])])


def _in_full(row: DeviceRow) -> list[str]:
    return [
        "",
        row.name,
        *wrap(facts_of(row), "  has         "),
        *wrap(sources_of(row), "  sources     "),
    ]

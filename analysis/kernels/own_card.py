"""What a recording says of the very card that it was made on: whichlayer writes it into its own.

The bandwidth is that of the memory's clock and the width of its bus, as NVIDIA's deviceQuery computes
it: two transfers a clock. Only for NVIDIA's cards, whose driver tells the clock so; AMD's tells one of
which HBM3 makes four.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from whichlayer.analysis.live.card_key import CARDS_KEY

#: Figures further from the table's than this are another card's, or damaged.
_SLACK: Final = 0.25
#: What a bandwidth may be where there is no table, GB/s.
_BANDWIDTH_GBPS: Final = (5.0, 50_000.0)


def own_bandwidth(
    entry: Mapping[str, Any], header: Mapping[str, Any], vendor: str, by_table: float | None
) -> float | None:
    """GB/s of the card that an entry of ``deviceProperties`` describes, or None.

    Args:
        entry: the properties of the device.
        header: the top-level keys of the file.
        vendor: of the device.
        by_table: what the device table says, or None; a figure far from it is not believed.
    """
    name = entry.get("name")
    if vendor != "nvidia" or not isinstance(name, str) or "mig" in name.lower().split():
        return None  # a slice has a part of its card's bandwidth
    listed = header.get(CARDS_KEY)
    for card in listed if isinstance(listed, list) else []:
        if isinstance(card, Mapping) and (card.get("index"), card.get("name")) == (
            entry.get("id"),
            name,
        ):
            found = _bandwidth(card.get("memoryClockKHz"), card.get("memoryBusBits"))
            return found if found is not None and _is_likely(found, by_table) else None
    return None


def _bandwidth(clock_khz: object, bus_bits: object) -> float | None:
    numbers = (clock_khz, bus_bits)
    if not all(type(one) is int and 0 < one < 1 << 40 for one in numbers):
        return None
    assert isinstance(clock_khz, int)
    assert isinstance(bus_bits, int)
    return 2 * clock_khz * 1e3 * bus_bits / 8 / 1e9


def _is_likely(found: float, by_table: float | None) -> bool:
    if by_table is None:
        return _BANDWIDTH_GBPS[0] <= found <= _BANDWIDTH_GBPS[1]
    return abs(found / by_table - 1) <= _SLACK

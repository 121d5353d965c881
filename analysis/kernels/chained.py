"""What attention in separate operators loses against one fused call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.kernels.attention_chains import Chain, Part, find_chains
from whichlayer.analysis.kernels.measure import ATTAINABLE_BANDWIDTH, Floor
from whichlayer.analysis.kernels.peaks import DeviceMatch
from whichlayer.analysis.kernels.populations import Populations
from whichlayer.analysis.kernels.units import Units
from whichlayer.analysis.trace.columns import Trace

Float64 = NDArray[np.float64]
Bool = NDArray[np.bool_]
Int64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Chained:
    """Units that belong to attention chains.

    Attributes:
        member: bool (units,).
        fraction: float64 (units,), the share of a member's time that a fused call saves.
        size: int64 (units,), operators in the chain.
    """

    member: Bool
    fraction: Float64
    size: Int64


def find_chained(
    trace: Trace,
    units: Units,
    populations: Populations,
    effective: Float64,
    spoilt: Bool,
    peaks: list[DeviceMatch],
    floors: list[Floor],
    settings: Mapping[str, float],
) -> Chained:
    """Members of chains that a fused call would make faster by the rule's gain."""
    count = len(units.population)
    found = Chained(
        np.zeros(count, np.bool_), np.zeros(count, np.float64), np.zeros(count, np.int64)
    )
    for chain in _chains(trace, units, populations):
        members = np.array(chain.units, np.int64)
        if spoilt[members].any():
            continue
        match = populations.match[int(units.population[members[0]])]
        ideal = _fused_ns(chain, units, populations, peaks[match], floors[match], settings)
        took = float(effective[members].sum())
        if ideal is None or took < settings["gain"] * ideal:
            continue
        found.member[members] = True
        found.fraction[members] = (took - ideal) / took
        found.size[members] = len(members)
    return found


def _chains(trace: Trace, units: Units, populations: Populations) -> list[Chain]:
    if not any("softmax" in name for name in populations.operator):
        return []
    launched = np.flatnonzero(units.operator_row >= 0)
    # Rows run thread by thread in program order.
    order = launched[np.argsort(units.operator_row[launched], kind="stable")]
    lane = trace.lane_id[units.operator_row[order]].astype(np.int64)

    def part_of(unit: int) -> Part | None:
        return populations.part[int(units.population[unit])]

    return find_chains(order.tolist(), lane, part_of)


def _fused_ns(
    chain: Chain,
    units: Units,
    populations: Populations,
    peaks: DeviceMatch,
    floor: Floor,
    settings: Mapping[str, float],
) -> float | None:
    """Ideal of one fused call; None where the card's peaks carry no verdict."""
    precisions = {
        populations.precision[int(units.population[unit])]
        for unit in chain.units
        if populations.work[int(units.population[unit])].flops is not None
    }
    precision = precisions.pop() if len(precisions) == 1 else None
    rate = peaks.rate(precision) if precision else None
    if rate is None or not peaks.bandwidth_gbps:
        return None
    if {precision, "bandwidth"} & peaks.unconfirmed:
        return None
    memory = chain.bytes / (ATTAINABLE_BANDWIDTH * peaks.bandwidth_gbps)
    compute = chain.flops / (settings["attention_rate"] * peaks.eff * rate * 1e3)
    return floor.excused_ns + max(memory, compute)

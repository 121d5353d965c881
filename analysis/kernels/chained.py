"""What attention in separate operators loses against one fused call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.kernels.attention_chains import REACH, Chain, chain_around
from whichlayer.analysis.kernels.measure import ATTAINABLE_BANDWIDTH, Floor
from whichlayer.analysis.kernels.numbering import number_keys
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


def no_chains(count: int) -> Chained:
    """None of so many units."""
    return Chained(
        np.zeros(count, np.bool_), np.zeros(count, np.float64), np.zeros(count, np.int64)
    )


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
    found = no_chains(count)
    for chain, members in _chains(trace, units, populations):
        rows = members[~spoilt[members].any(axis=1) & ~found.member[members].any(axis=1)]
        if not len(rows):
            continue
        match = populations.match[int(units.population[rows[0, 0]])]
        taken = units.population[rows[0]]
        ideal = _fused_ns(chain, taken, populations, peaks[match], floors[match], settings)
        if ideal is None:
            continue
        took = effective[rows].sum(axis=1)
        worth = took >= settings["gain"] * ideal
        rows, took = rows[worth], took[worth]
        found.member[rows] = True
        found.fraction[rows] = ((took - ideal) / took)[:, np.newaxis]
        found.size[rows] = rows.shape[1]
    return found


def _chains(
    trace: Trace, units: Units, populations: Populations
) -> list[tuple[Chain, NDArray[np.int64]]]:
    """Each distinct chain with the units of its occurrences: int64 (occurrences, calls)."""
    softmax = np.array([part.is_softmax for part in populations.part], np.bool_)
    if not softmax.any():
        return []
    order = program_order(units)
    # What a window of calls looks like decides about its chain: look once at each.
    lane = np.pad(trace.lane_id[units.operator_row[order]].astype(np.int64), REACH,
                  constant_values=-1)  # fmt: skip
    kind = np.pad(units.population[order], REACH, constant_values=-1)
    centre = np.flatnonzero((kind >= 0) & softmax[np.maximum(kind, 0)])
    window = centre[:, np.newaxis] + np.arange(-REACH, REACH + 1)
    seen = np.where(lane[window] == lane[centre][:, np.newaxis], kind[window], -1)
    words = np.random.default_rng(7).integers(1, 2**62, seen.shape[1], dtype=np.int64)
    numbers, values = number_keys(((seen + 2) * words).sum(axis=1))
    found = []
    for number in range(len(values)):
        at = np.flatnonzero(numbers == number)
        parts = [populations.part[one] if one >= 0 else None for one in seen[at[0]].tolist()]
        chain = chain_around(parts, REACH)
        if chain is not None:
            places = centre[at][:, np.newaxis] - REACH + np.array(chain.offsets, np.int64)
            found.append((chain, _apart(order[places])))
    return found


def _apart(members: NDArray[np.int64]) -> NDArray[np.int64]:
    """Occurrences that share no unit with an earlier one."""
    claim = np.full(int(members.max(initial=-1)) + 1, len(members), np.int64)
    number = np.arange(len(members))
    np.minimum.at(claim, members, np.broadcast_to(number[:, np.newaxis], members.shape))
    kept: Int64 = members[(claim[members] == number[:, np.newaxis]).all(axis=1)]
    return kept


def program_order(units: Units) -> Int64:
    """Units that an operator launched, thread by thread as the program ran: int64 (n,)."""
    launched = np.flatnonzero((units.operator_row >= 0) & ~units.layout)
    rows = units.operator_row[launched]
    # Trace rows run thread by thread in time, so placing them sorts them.
    place = np.full(int(rows.max(initial=-1)) + 1, -1, np.int64)
    place[rows] = launched
    return place[place >= 0]


def _fused_ns(
    chain: Chain,
    taken: Int64,
    populations: Populations,
    peaks: DeviceMatch,
    floor: Floor,
    settings: Mapping[str, float],
) -> float | None:
    """Ideal of one fused call; None where the card's peaks carry no verdict.

    Args:
        chain: what it computes.
        taken: populations of its units.
        populations: all of them.
        peaks: of the card.
        floor: of the card.
        settings: of the rule.
    """
    precisions = {
        populations.precision[index]
        for index in taken.tolist()
        if populations.work[index].flops is not None
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

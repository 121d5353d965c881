"""(b) Does a chain own enough of the step, or would fusing it save enough?"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.custom_kernel.answers import Answer, Reply
from whichlayer.analysis.custom_kernel.chains import ANCHORS, Chain
from whichlayer.analysis.custom_kernel.parts import Part, Parts, handed
from whichlayer.analysis.custom_kernel.rule import RULE
from whichlayer.analysis.kernels.names import family
from whichlayer.analysis.kernels.peaks import DeviceMatch
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.settings import threshold

Int64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Saving:
    """What one kernel in place of a chain would save.

    Attributes:
        ns: in the window, None where it is not known.
        external_bytes: of one typical call, None likewise.
        why: why it is not known, or empty.
        record: what would tell, or empty.
    """

    ns: int | None
    external_bytes: int | None
    why: str
    record: str = ""


def projected(
    analysis: Analysis,
    chain: Chain,
    groups: tuple[Int64, Int64] | None,
    peaks: DeviceMatch,
    parts: Parts,
    *,
    trains: bool,
) -> Saving:
    """Measured time less what external bytes need, by shape tuple.

    Products are counted as measured: fusing what follows makes none of them faster.

    Args:
        analysis: the analysis.
        chain: the candidate.
        groups: shape tuples of its calls.
        peaks: of its device.
        parts: gives the operator calls of kernels.
        trains: what lies between the kernels may be needed for the backward pass, so that
            only reading it again is saved.
    """
    if groups is None:
        return Saving(
            None, None, "bytes unknown: shapes are not recorded",
            "record a few steps with record_shapes=True and without CUDA graphs",
        )  # fmt: skip
    if peaks.bandwidth_gbps is None or "bandwidth" in peaks.unconfirmed:
        return Saving(None, None, "the card's bandwidth is not known for sure", "--peak-bandwidth")
    bandwidth = threshold(analysis.options, RULE.id, "bandwidth") * peaks.bandwidth_gbps
    owned = analysis.activities.owned_ns[chain.members]
    names = [analysis.trace.name(int(row)) for row in analysis.activities.row[chain.members[0]]]
    anchors = np.array([family(name) in ANCHORS or "triton_tem_" in name for name in names])
    total, external = 0.0, None
    for tuple_ in range(len(groups[1])):
        mine = np.flatnonzero(groups[0] == tuple_)
        one = parts.of(chain.members[mine[0]])
        moved = external_bytes(one, trains=trains)
        if moved is None:
            told = next(part.work.reason for part in one if not _counted(part))
            return Saving(None, None, f"bytes unknown: {told or 'a lower bound only'}")
        external = moved if external is None else external
        ideal = np.maximum(moved / bandwidth, owned[mine][:, anchors].sum(axis=1))
        total += float(np.maximum(0.0, owned[mine].sum(axis=1) - ideal).sum())
    return Saving(int(total), external, "")


def external_bytes(parts: tuple[Part, ...], *, trains: bool) -> int | None:
    """Bytes that one kernel in place of all would move, None where a part's are not known."""
    if not all(map(_counted, parts)):
        return None
    total = sum(part.work.bytes or 0 for part in parts)
    between = sum(handed(one, other) for one, other in pairwise(parts))
    return max(0, total - between * (1 if trains else 2))


def _counted(part: Part) -> bool:
    """Whether bytes are known; too few would promise too much."""
    return part.work.bytes is not None and part.work.bound != "lower"


def owns(analysis: Analysis, chain: Chain, saving: Saving) -> Reply:
    """Whether the chain has enough of the step, or fusing it would save enough."""
    options, whole = analysis.options, max(analysis.budget.total_ns, 1)
    share = chain.time_ns / whole
    much, enough, least = (
        threshold(options, RULE.id, name) for name in ("share", "saving", "least_saving")
    )
    said = f"it has {share:.1%} of the step"
    if saving.ns is None:
        said += f"; what fusing saves is unknown ({saving.why})"
        if share < enough:  # it cannot save more than it has
            return Reply(Answer.NO, share, said, "nothing: there is too little to win")
        return Reply(Answer.UNKNOWN, share, said, saving.record)
    gain = saving.ns / whole
    said += f"; fusing saves {gain:.1%} of it at most"
    if gain >= enough or (share >= much and gain >= least):
        return Reply(Answer.YES, share, said)
    near = gain < share / 10
    why = "the kernels are near what one would take" if near else "there is too little to win"
    return Reply(Answer.NO, share, said, f"nothing: {why}")

"""How far the clocks of GPU and CPU disagree, and which kernels merely have an odd time.

No kernel starts before the call that launches it begins. A clock that is off moves all
kernels alike, so it shows in most of those that start with an empty queue; a few that precede
their launch by far more than the rest have a wrong time each, and say nothing of the clock.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whichlayer.analysis.trace.columns import Bool, Int64

#: So many kernels at most may have odd times, or this share of those with a launch.
HANDFUL, SHARE = 5, 0.01
#: Up to this the earliest kernel is believed as it is (pytorch/kineto#1380: 8 to 9 µs seen);
#: beyond, others have to agree.
BELIEVED_NS = 20_000
#: A kernel is odd if it is early by more than this many times what others agree on.
FAR = 4
#: A skew above this hides every launch latency: who was late cannot be told.
MAX_SKEW_NS = 100_000


@dataclass(frozen=True, slots=True)
class Skew:
    """What kernels before their launch tell of one device.

    Attributes:
        skew_ns: how far kernels start before their launch call begins, at worst, odd ones
            left out; 0 where none does.
        odd: bool (n,), kernels that are early by far more than the rest.
        trusted: launches and kernels can be compared.
    """

    skew_ns: int
    odd: Bool
    trusted: bool


@dataclass(frozen=True, slots=True)
class SkewLimits:
    """From where on clocks are not believed; see the settings of gate Q4."""

    believed_ns: float = BELIEVED_NS
    far: float = FAR
    odd_share: float = SHARE
    most_ns: float = MAX_SKEW_NS


def read_skew(
    lead_ns: Int64, linked: Bool, telling: Bool, limits: SkewLimits | None = None
) -> Skew:
    """Tell a clock that is off from a few times that are wrong.

    Args:
        lead_ns: int64 (n,), from the start of each activity to the start of its launch call;
            positive for those before their launch.
        linked: bool (n,), the launch is in the file.
        telling: bool (n,), of those the ones that nothing kept waiting.
        limits: the defaults without.
    """
    limits = limits or SkewLimits()
    odd = np.zeros(len(lead_ns), np.bool_)
    early = linked & (lead_ns > 0)
    if not bool(early.any()):
        return Skew(0, odd, True)
    sample = np.sort(lead_ns[telling & linked | early])[::-1]
    few = min(max(HANDFUL, int(limits.odd_share * int(linked.sum()))), (len(sample) - 1) // 2)
    odd = early & (lead_ns > max(limits.believed_ns, limits.far * int(sample[few])))
    skew = int(lead_ns[early & ~odd].max(initial=0))
    shared = 2 * int((sample > 0).sum()) > len(sample)
    believed = skew <= limits.believed_ns or (skew <= limits.most_ns and shared)
    return Skew(skew, odd, believed)

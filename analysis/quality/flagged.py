"""The kernels of a window that carry a flag."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from whichlayer.analysis.results import KernelGroup

#: Kernels that take less of the window together are told with their group alone.
MIN_SHARE = 0.01


@dataclass(frozen=True, slots=True)
class Flagged:
    """What is said of kernels with one flag.

    Attributes:
        calls: how many.
        share: of the window.
        named: the name of the group with the most time, and how many more there are.
        rate: of that group, against the data sheet.
    """

    calls: int
    share: float
    named: str
    rate: str


def flagged_kernels(kernels: Sequence[KernelGroup], flag: str, least: float) -> Flagged | None:
    """The groups with a flag together; None where they take less than a share of the window."""
    found = [group for group in kernels if flag in group.flags]
    share = sum(group.share for group in found)
    if not found or share < least:
        return None
    most = max(found, key=lambda group: group.total_ns)
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    calls = sum(group.calls for group in found)
    return Flagged(calls, share, f"{most.short_name}{more}", _rate(most))


def _rate(group: KernelGroup) -> str:
    """The rate that is too high, as a share of the peak, and the ruling, which tells the limit."""
    rates = ((group.bandwidth_fraction, "bandwidth"), (group.flops_fraction, "rate"))
    known = [(share, word) for share, word in rates if share is not None]
    if not known:
        return "more than the data sheet's peak"
    share, word = max(known)
    return f"{100 * share:.0f} % of the data sheet's {word} ({group.why})"

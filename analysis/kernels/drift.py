"""Whether calls of a population become slower from step to step.

Calls are compared step half against step half, not early against late: within a step the same
kernel may find its data in cache in the forward pass and not in the backward pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.trace.columns import Trace

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]

#: Halves whose numbers of calls differ by more than this share hold different work.
_UNEVEN: Final = 0.1


@dataclass(frozen=True, slots=True)
class Drift:
    """By population.

    Attributes:
        ratio: float64 (n,), a call's time in the later half over that in the earlier one, NaN
            where that is not known.
        earlier_ns: float64 (n,), a call's time in the earlier half.
        proven: bool (n,), the difference is more than noise.
    """

    ratio: Float64
    earlier_ns: Float64
    proven: NDArray[np.bool_]


def find_drift(
    trace: Trace, place: Int64, begun: Int64, taken: Float64, count: int,
    settings: Mapping[str, float],
) -> Drift:  # fmt: skip
    """Compare the later half of the recorded steps with the earlier one.

    Args:
        trace: the recording.
        place: int64 (units,), population of each unit.
        begun: int64 (units,), when it began.
        taken: float64 (units,), nanoseconds by which it is judged.
        count: of populations.
        settings: of the rule.
    """
    none = np.full(count, np.nan)
    result = Drift(none, np.zeros(count), np.zeros(count, np.bool_))
    steps = trace.steps
    if len(steps) < settings["steps"] or not len(place):
        return result
    # An odd step in the middle belongs to neither half.
    half, rest = divmod(len(steps), 2)
    first, middle = steps[0].start_ns, steps[half].start_ns
    again, last = steps[half + rest].start_ns, steps[-1].end_ns
    later = begun >= again
    counted = (begun >= first) & (begun < last) & (later | (begun < middle)) & (taken > 0)
    key = (2 * place + later)[counted]
    order = np.lexsort((taken[counted], key))
    times = taken[counted][order]
    size = np.bincount(key, minlength=2 * count)
    at = np.concatenate(([0], np.cumsum(size)[:-1]))
    early, late = size[::2], size[1::2]
    most = np.maximum(early, late)
    known = (np.minimum(early, late) >= settings["calls"]) & (
        most - np.minimum(early, late) <= _UNEVEN * most
    )
    index = np.flatnonzero(known)
    before = times[at[2 * index] + early[index] // 2]
    after = times[at[2 * index + 1] + late[index] // 2]
    low = times[at[2 * index + 1] + late[index] // 4]
    result.ratio[index] = after / before
    result.earlier_ns[index] = before
    result.proven[index] = (after - before >= settings["least_us"] * 1e3) & (low > before)
    return result

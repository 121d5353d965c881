"""The launch floor of a device, read from the trace's own trivial kernels.

A kernel without work still takes 1 to 7 µs, depending on GPU, driver and clocks; which one,
only the recording knows. Elementwise kernels whose bytes would take a quarter of a
microsecond are taken as trivial, and the lower quartile of their times as the floor: the
median would let a program whose small kernels are slow for another reason excuse them.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.kernels.measure import LONGEST_FLOOR_NS, Floor

#: Bytes that take longer than this are work.
TRIVIAL_NS: Final = 250.0
#: Categories of kernels that do nothing but stream their bytes.
STREAMING: Final = ("pointwise", "fill", "copy")
_FEWEST: Final = 8
#: Trivial kernels of every GPU seen take longer (5th percentile of the fastest).
_SHORTEST_NS: Final = 500.0


def find_floor(time_ns: NDArray[np.float64]) -> Floor:
    """The floor from the times of trivial kernels: float64 (n,), any order, may be empty."""
    times = time_ns[time_ns > 0]
    if len(times) < _FEWEST:
        return Floor()
    quartile = float(np.percentile(times, 25))
    return Floor(float(np.clip(quartile, _SHORTEST_NS, LONGEST_FLOOR_NS)), measured=True)

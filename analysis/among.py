"""Which of some integers are among a few others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

#: Up to so many are compared one by one; ``numpy.isin`` takes tens of microseconds to prepare
#: itself, which is most of what a short recording costs.
_FEW: Final = 6


def among(values: NDArray[Any], wanted: Sequence[int] | NDArray[Any]) -> NDArray[np.bool_]:
    """What ``numpy.isin`` tells of integers.

    Args:
        values: integers of any shape.
        wanted: integers (n,).

    Returns:
        bool, of the shape of ``values``.
    """
    if not values.size or not len(wanted):
        return np.zeros(values.shape, np.bool_)
    if len(wanted) > _FEW:
        return np.isin(values, wanted)
    found: NDArray[np.bool_] = values == int(wanted[0])
    for other in wanted[1:]:
        found |= values == int(other)
    return found

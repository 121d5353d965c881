"""Gradients are filled with zeros between two steps instead of being dropped.

``zero_grad(set_to_none=False)`` launches a fill for each parameter (or list of them) and makes
the backward pass add to zeros. The default, ``set_to_none=True``, does neither. Told from 1 % of the
window on; the time of the fills is judged like that of all kernels, and none is added here.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from whichlayer.analysis.kernels.inside import inside_slices
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import Analysis, Role
from whichlayer.analysis.rule import Hint, Rule
from whichlayer.analysis.settings import threshold

RULE: Final = Rule(
    id="grad-zero-fill",
    layer=Layer.PYTORCH,
    title="gradients filled with zeros",
    fix="optimizer.zero_grad(set_to_none=True)",
    thresholds={"share": 0.01},
    source="PyTorch's performance tuning guide",
    example="made: Optimizer.zero_grad#SGD.zero_grad launches one aten::zero_ of 400 µs in a "
    "window of 2.4 ms",
)
RANK: Final = 92
_MARK: Final = ("Optimizer.zero_grad",)


def applies(measured: object, settings: object) -> bool:
    """Never to a kernel: fills are judged like all kernels."""
    return False


def find(analysis: Analysis) -> Hint | None:
    """The fills that ``zero_grad`` launched, or None."""
    trace, activities = analysis.trace, analysis.activities
    own = (activities.role == Role.COMPUTE) & (activities.op_row >= 0) & (activities.owned_ns > 0)
    index = np.flatnonzero(own)
    index = index[inside_slices(trace, activities.op_row[index], _MARK)]
    taken = int(activities.owned_ns[index].sum())
    total = analysis.budget.total_ns
    if not taken or taken < threshold(analysis.options, RULE.id, "share") * total:
        return None
    index = index[np.argsort(activities.start_ns[index], kind="stable")]
    whole = analysis.options.whole
    said = f"zero_grad's {len(index):,} x fills take {taken / total:.1%} of the {whole}"
    return Hint((said,), tuple(activities.row[index].tolist()))

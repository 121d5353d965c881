"""A convolution adds a bias that the batch norm behind it takes away again.

The norm subtracts the mean of each channel, so a bias in front of it changes nothing, and adding
it reads and writes the whole result once more. Told where a convolution with a bias is followed by
a batch norm of its result, and those additions take 1 % of the window or more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.among import among
from whichlayer.analysis.kernels.calls import OpCall
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import Analysis, Role
from whichlayer.analysis.rule import Hint, Rule
from whichlayer.analysis.settings import threshold
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

RULE: Final = Rule(
    id="conv-bias-before-bn",
    layer=Layer.PYTORCH,
    title="convolutions with a bias before batch norm",
    fix="bias=False in convolutions whose result goes into a batch norm",
    thresholds={"share": 0.01},
    source="PyTorch's performance tuning guide",
    example="made: aten::conv2d with a bias of 64 channels, its aten::add_ a kernel of 300 "
    "µs, then aten::batch_norm of 64 channels",
)
RANK: Final = 93
_CONVOLUTIONS: Final = frozenset({"aten::conv1d", "aten::conv2d", "aten::conv3d"})
#: ``num_batches_tracked += 1`` comes between the two.
_LOOK_AHEAD: Final = 4
_BIAS: Final = 2


def applies(measured: object, settings: object) -> bool:
    """Never to a kernel: the additions are judged like all kernels."""
    return False


def find(analysis: Analysis) -> Hint | None:
    """The kernels that add such a bias, or None."""
    trace, activities = analysis.trace, analysis.activities
    rows = _before_norms(trace)
    if not len(rows):
        return None
    added = (activities.role == Role.COMPUTE) & (activities.owned_ns > 0) & (activities.op_row >= 0)
    adds = [index for index, name in enumerate(trace.strings) if name == "aten::add_"]
    added &= among(trace.name_id[np.maximum(activities.op_row, 0)], adds)
    index = np.flatnonzero(added)
    index = index[_within(trace, activities.op_row[index], rows)]
    taken, total = int(activities.owned_ns[index].sum()), analysis.budget.total_ns
    if not taken or taken < threshold(analysis.options, RULE.id, "share") * total:
        return None
    index = index[np.argsort(activities.start_ns[index], kind="stable")]
    whole = analysis.options.whole
    said = f"adding such biases takes {taken / total:.1%} of the {whole} ({len(index):,} x)"
    return Hint((said,), tuple(activities.row[index].tolist()))


def _before_norms(trace: Trace) -> NDArray[np.intp]:
    """Convolutions with a bias that a batch norm of their channels follows, ascending."""
    wanted = [index for index, name in enumerate(trace.strings) if name in _CONVOLUTIONS]
    norms = [index for index, name in enumerate(trace.strings) if name == "aten::batch_norm"]
    operators = np.flatnonzero(trace.kind == SliceKind.CPU_OP)
    rows = operators[among(trace.name_id[operators], wanted)]
    if not len(rows) or not norms:
        return rows[:0]
    # Convolutions of the same shapes are taken to stand before the same: one of each is looked at.
    details, first = np.unique(trace.detail_id[rows], return_index=True)
    found = []
    for detail, at in zip(details.tolist(), first.tolist(), strict=True):
        channels, row = _channels(trace.detail_by_id(detail)), int(rows[at])
        end = int(trace.lane_rows[trace.lane_id[row] + 1])
        if channels and _is_normed(trace, operators, row, end, channels, set(norms)):
            found.append(detail)
    return rows[among(trace.detail_id[rows], found)]


def _is_normed(
    trace: Trace, operators: NDArray[np.intp], row: int, end: int, channels: int, norms: set[int]
) -> bool:
    """Whether the next operators of its lane hold a batch norm of so many channels.

    Rows of a lane are in order of time and parents come first, so that what follows a slice is
    behind all that it holds.
    """
    at = int(np.searchsorted(operators, row)) + 1
    seen = 0
    while at < len(operators) and operators[at] < end and seen < _LOOK_AHEAD:
        one = int(operators[at])
        at += 1
        if trace.start_ns[one] < trace.end_ns[row]:
            continue
        seen += 1
        if int(trace.name_id[one]) in norms:
            first = OpCall.from_detail("", trace.detail(one)).tensor(0)
            return first is not None and len(first.shape) > 1 and first.shape[1] == channels
    return False


def _channels(detail: Mapping[str, Any]) -> int:
    """Length of a convolution's bias, 0 where it has none."""
    bias = OpCall.from_detail("", detail).tensor(_BIAS)
    return bias.shape[0] if bias is not None and len(bias.shape) == 1 else 0


def _within(trace: Trace, rows: NDArray[np.int32], around: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which operators lie inside one of some others: bool (n,)."""
    at = np.searchsorted(around, rows, "right") - 1
    lead = around[np.maximum(at, 0)]
    same = trace.lane_id[lead] == trace.lane_id[rows]
    inside: NDArray[np.bool_] = (at >= 0) & same & (trace.start_ns[rows] < trace.end_ns[lead])
    return inside

"""A constant is made on the CPU and then copied to the GPU.

``torch.zeros(...).cuda()`` fills host memory, copies it, and blocks the thread while it does;
``torch.zeros(..., device="cuda")`` is one launch. Told where the making and moving of such constants
lasts 1 % of the window or more; what it costs is in the gaps.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.among import among
from whichlayer.analysis.gaps.blocking import copies_to_device
from whichlayer.analysis.kernels.context import parent_operator
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.rule import Hint, Rule
from whichlayer.analysis.settings import threshold
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

Int64 = NDArray[np.int64]

RULE: Final = Rule(
    id="constant-from-cpu",
    layer=Layer.PYTORCH,
    title="constants made on the CPU and copied to the GPU",
    fix='make them where they are needed: torch.zeros(..., device="cuda")',
    thresholds={"share": 0.01},
    source="PyTorch's retired pattern matcher and performance tuning guide",
    example="a toy on an MI250: aten::zeros on the CPU and aten::to behind it, twice; 5.2 % "
    "of the window",
)
RANK: Final = 95
_MOVES: Final = frozenset({"aten::to", "aten::_to_copy", "aten::copy_", "aten::cuda"})
_MAKES: Final = frozenset(
    f"aten::{name}{like}"
    for name in ("zeros", "ones", "full", "arange", "eye", "linspace", "rand", "randn", "randint")
    for like in ("", "_like")
)


def applies(measured: object, settings: object) -> bool:
    """Never to a kernel: it is about copies."""
    return False


def find(analysis: Analysis) -> Hint | None:
    """The copies of constants to the GPU, or None."""
    trace, activities, window = analysis.trace, analysis.activities, analysis.window
    copies = [index for index, name in enumerate(trace.strings) if copies_to_device(name)]
    inbound = among(trace.name_id[activities.row], copies) & (activities.op_row >= 0)
    moves = _outermost(trace, np.unique(activities.op_row[inbound]).astype(np.int64), _MOVES)
    before = _operator_before(trace, moves)
    makes = [index for index, name in enumerate(trace.strings) if name in _MAKES]
    fresh = (before >= 0) & among(trace.name_id[np.maximum(before, 0)], makes)
    moves, before = moves[fresh], before[fresh]
    low = np.maximum(trace.start_ns[before], window.start_ns)
    high = np.minimum(trace.end_ns[moves], window.end_ns)
    taken, length = int(np.maximum(high - low, 0).sum()), window.end_ns - window.start_ns
    if not taken or taken < threshold(analysis.options, RULE.id, "share") * length:
        return None
    moves = moves[np.argsort(trace.start_ns[moves], kind="stable")]
    whole = analysis.options.whole
    said = (
        f"making and moving constants lasts {taken / length:.1%} of the {whole} ({len(moves):,} x)"
    )
    return Hint((said,), tuple(moves.tolist()))


def _outermost(trace: Trace, rows: Int64, names: frozenset[str]) -> Int64:
    """For each operator the outermost around it as long as all have one of these names."""
    ids = [index for index, name in enumerate(trace.strings) if name in names]
    rows = rows[among(trace.name_id[rows], ids)]
    while len(rows):
        up = parent_operator(trace, rows)
        climb = (up >= 0) & among(trace.name_id[np.maximum(up, 0)], ids)
        if not climb.any():
            break
        rows = np.where(climb, up, rows)
    return np.unique(rows)


def _operator_before(trace: Trace, rows: Int64) -> Int64:
    """The operator that ended before each began, beside it: int64 (n,), -1 for none."""
    operators = np.flatnonzero(trace.kind == SliceKind.CPU_OP)
    at = np.searchsorted(operators, rows) - 1
    before = np.where(at >= 0, operators[np.maximum(at, 0)], -1).astype(np.int64)
    around = parent_operator(trace, rows) if len(rows) else rows
    apart = (before < 0) | (trace.lane_id[np.maximum(before, 0)] != trace.lane_id[rows])
    before[apart] = -1
    # The last row before may lie inside the operator that is asked for.
    while True:
        up = np.full(len(before), -1, np.int64)
        known = before >= 0
        if known.any():
            up[known] = parent_operator(trace, before[known])
        climb = known & (up != around) & (up >= 0)
        if not climb.any():
            break
        before[climb] = up[climb]
    beside = (before >= 0) & (up == around) & (trace.end_ns[before] <= trace.start_ns[rows])
    return np.where(beside, before, -1)

"""A Python loop takes a tensor apart, item by item.

``x[0]``, ``x[1]`` … one after the other, ten or more in a row, each followed by work on the GPU:
the same operators run once for each item on a small tensor. Batched operators do the same in one
launch. Told where such loops last 5 % of the window or more on their thread; what they cost
is in the gaps and kernels.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.among import among
from whichlayer.analysis.kernels.calls import OpCall
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.rule import Hint, Rule
from whichlayer.analysis.settings import threshold
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import GPU_WORK, SliceKind

Int64 = NDArray[np.int64]

RULE: Final = Rule(
    id="loop-indexing",
    layer=Layer.PYTORCH,
    title="a loop over the items of a tensor",
    fix="do it for all items at once: batched operators, broadcasting, torch.vmap",
    thresholds={"share": 0.05, "items": 10.0},
    source="PyTorch's retired pattern matcher: ten or more repeated selects",
    example="made: aten::select of items 0 to 11 of one tensor, 100 µs apart, each followed "
    "by a kernel",
)
RANK: Final = 94


def applies(measured: object, settings: object) -> bool:
    """Never to a kernel: it is about what the host does."""
    return False


def find(analysis: Analysis) -> Hint | None:
    """The first item of each loop, or None."""
    trace, window = analysis.trace, analysis.window
    names = [index for index, name in enumerate(trace.strings) if name == "aten::select"]
    rows = np.flatnonzero(among(trace.name_id, names) & (trace.kind == SliceKind.CPU_OP))
    if not len(rows):
        return None
    items = threshold(analysis.options, RULE.id, "items")
    first, last = _working(trace, *_loops(trace, rows, items), items)
    low = np.maximum(trace.start_ns[first], window.start_ns)
    high = np.minimum(trace.end_ns[last], window.end_ns)
    taken, length = int(np.maximum(high - low, 0).sum()), window.end_ns - window.start_ns
    if not taken or taken < threshold(analysis.options, RULE.id, "share") * length:
        return None
    first = first[np.argsort(trace.start_ns[first], kind="stable")]
    whole = analysis.options.whole
    said = f"loops over items last {taken / length:.1%} of the {whole} ({len(first):,} x)"
    return Hint((said,), tuple(first.tolist()))


def _loops(trace: Trace, rows: Int64, items: float) -> tuple[Int64, Int64]:
    """First and last select of each run whose indices count up by one."""
    details, inverse = np.unique(trace.detail_id[rows], return_inverse=True)
    keys: dict[object, int] = {}
    read = [_selected(trace.detail_by_id(int(one))) for one in details.tolist()]
    source = np.array(
        [-1 if one is None else keys.setdefault(one[0], len(keys)) for one in read], np.int64
    )[inverse]
    item = np.array([-1 if one is None else one[1] for one in read], np.int64)[inverse]
    # Each source by itself: two tensors may be taken apart side by side.
    order = np.lexsort((rows, source, trace.lane_id[rows]))
    rows, source, item = rows[order], source[order], item[order]
    lane = trace.lane_id[rows]
    on = (np.diff(item) == 1) & (np.diff(source) == 0) & (np.diff(lane) == 0) & (source[1:] >= 0)
    begins = np.flatnonzero(np.concatenate(([True], ~on)))
    ends = np.append(begins[1:], len(rows)) - 1
    long = ends - begins + 1 >= items
    return rows[begins[long]], rows[ends[long]]


def _selected(detail: Mapping[str, Any]) -> tuple[object, int] | None:
    """What a select takes an item of, and which one; None where that is not recorded."""
    call = OpCall.from_detail("aten::select", detail)
    tensor, along, item = call.tensor(0), call.number(1), call.number(2)
    if tensor is None or along is None or item is None or not 0 <= item < 1 << 31:
        return None
    return (tensor.shape, tensor.dtype, along), int(item)


def _working(trace: Trace, first: Int64, last: Int64, items: float) -> tuple[Int64, Int64]:
    """Loops that launch at least as much GPU work as they have items, and do not overlap."""
    launches = trace.launch[among(trace.kind, GPU_WORK) & (trace.launch >= 0)]
    # Rows of a lane are in order of time.
    launches = np.sort(launches)
    count = np.searchsorted(launches, last) - np.searchsorted(launches, first)
    busy = count >= items - 1
    first, last = first[busy], last[busy]
    order = np.argsort(first)
    first, last = first[order], last[order]
    before = np.concatenate(([-1], np.maximum.accumulate(last)[:-1])) if len(last) else last
    apart = first > before
    return first[apart], last[apart]

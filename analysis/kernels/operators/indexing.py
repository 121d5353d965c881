"""Gathers, scatters, embeddings and sorting."""

from __future__ import annotations

import re
from typing import Final

from whichlayer.analysis.kernels.calls import Launch, OpCall, Tensor, Unknown
from whichlayer.analysis.kernels.work import Work, operator

_REPEATS = "rows may repeat: then fewer bytes are read"
_GATHER: Final = re.compile(r"vectorized_gather_kernel<(\d+)")
_ELEMENTWISE: Final = re.compile(r"index_elementwise_kernel<(\d+),\s*(\d+)")
#: Below this many blocks the last, partly filled one makes the grid too rough a measure.
_FEWEST_BLOCKS: Final = 16


def _gathered(table: Tensor, moved: int, index_bytes: int, reason: str = _REPEATS) -> Work:
    """``moved`` elements picked from a table: no more is read than the table holds."""
    size = moved * table.item_bytes
    return Work(
        bytes=min(size, table.bytes) + size + index_bytes,
        category="embedding",
        bound="upper",
        least=size + index_bytes,
        reason=reason,
    )


@operator("index_select")
def index_select(call: OpCall) -> Work:
    """src, dim, index: whole slices along one dimension."""
    src, index = call.need(0), call.need(2)
    out = call.out(3)
    dim = call.number(1)
    if out is not None:
        moved = out.count
    elif dim is not None and src.shape and -len(src.shape) <= dim < len(src.shape):
        size = src.shape[int(dim)]
        moved = index.count * (src.count // size if size else 0)
    elif len(src.shape) == 2:
        moved = index.count * src.shape[1]  # as embedding calls it
    else:
        raise Unknown("the dimension is not recorded")
    return _gathered(src, moved, index.bytes)


@operator("embedding")
def embedding(call: OpCall) -> Work:
    """Weight [rows, D], indices."""
    weight, index = call.need(0), call.need(1)
    if len(weight.shape) != 2:
        raise Unknown("the recorded shapes are no embedding")
    moved = index.count * weight.shape[1]
    return _gathered(weight, moved, index.bytes)


@operator("embedding_dense_backward")
def embedding_backward(call: OpCall) -> Work:
    """grad, indices, rows, …: zeroes the whole table, then adds to the rows it names."""
    grad, index = call.need(0), call.need(1)
    rows = call.number(2)
    if rows is None or not grad.shape or rows < 0:
        raise Unknown("the size of the table is not recorded")
    table = int(rows) * grad.shape[-1] * grad.item_bytes
    return Work(
        bytes=grad.bytes + index.bytes + table,
        category="embedding", bound="lower", reason="it sorts its indices first",
    )  # fmt: skip


@operator("_embedding_bag", "_embedding_bag_forward_only")
def embedding_bag(call: OpCall) -> Work:
    """weight, indices, offsets, …."""
    weight, index, offsets = call.need(0), call.need(1), call.need(2)
    if len(weight.shape) != 2:
        raise Unknown("the recorded shapes are no embedding")
    row = weight.shape[1] * weight.item_bytes
    least = offsets.count * row + index.bytes + offsets.bytes
    return Work(
        bytes=least + min(index.count * row, weight.bytes),
        category="embedding", bound="upper", least=least, reason=_REPEATS,
    )  # fmt: skip


@operator("gather")
def gather(call: OpCall) -> Work:
    """src, dim, index: one element per index; an expanded index is read once."""
    src, index = call.need(0), call.need(2)
    return _gathered(src, index.count, index.bytes, "elements may repeat")


@operator("scatter_", "scatter", "scatter_add_", "scatter_add", "scatter_reduce_", "scatter_reduce")
def scatter(call: OpCall) -> Work:
    """self, dim, index, src: colliding atomics, not bandwidth, may decide."""
    x, index, source = call.need(0), call.need(2), call.tensor(3)
    read = source.bytes if source is not None and source.shape else 0
    return Work(
        bytes=2 * index.count * x.item_bytes + index.bytes + read,
        category="embedding", bound="lower", reason="colliding updates wait for each other",
    )  # fmt: skip


@operator("index_add_", "index_add", "index_copy_", "index_copy", "index_fill_")
def index_update(call: OpCall) -> Work:
    """self, dim, index, source."""
    index, source = call.need(2), call.tensor(3)
    if source is None or not source.shape:
        raise Unknown("the operator does not list its tensors")
    return Work(
        bytes=3 * source.bytes + index.bytes,
        category="embedding", bound="lower", reason="colliding updates wait for each other",
    )  # fmt: skip


@operator("index_put_", "_index_put_impl_")
def index_put(call: OpCall) -> Work:
    """self, indices (never recorded), values, accumulate."""
    x, values = call.need(0), call.need(2)
    if not values.shape:
        raise Unknown("how much is written is not recorded")
    return Work(
        bytes=values.bytes + values.count * x.item_bytes,
        category="embedding", bound="lower", reason="its indices are not recorded",
    )  # fmt: skip


@operator("index")
def index(call: OpCall) -> Work:
    """self, indices: these are never recorded, but the kernel's grid tells how many.

    The vectorised kernel has one block row per index and the slice across; the elementwise
    one covers the result with threads x elements a thread.
    """
    x = call.need(0)
    picked = [_picked(x, launch) for launch in call.launches]
    moved = sum(count for count in picked if count is not None)
    if moved and all(count is not None for count in picked):
        return _gathered(x, moved, 0, "as many as its grid covers; rows may repeat")
    raise Unknown("the operator does not list its indices")


def _picked(x: Tensor, launch: Launch) -> int | None:
    """Elements that one kernel of ``index`` picks, None where its grid does not tell."""
    if len(launch.grid) != 3 or len(launch.block) != 3:
        return None
    vector = _GATHER.search(launch.name)
    if vector is not None:
        count, blocks = launch.grid[:2]
        across = launch.block[0] * int(vector[1])
        inner = x.count // x.shape[0] if x.shape and x.shape[0] else 0
        # Only whole slices of the first dimension fit such a grid.
        fits = 0 <= blocks * across - inner * x.item_bytes < across
        return count * inner if fits else None
    elementwise = _ELEMENTWISE.search(launch.name)
    if elementwise is not None and launch.grid[0] >= _FEWEST_BLOCKS:
        return launch.grid[0] * int(elementwise[1]) * int(elementwise[2])
    return None


@operator("nonzero")
def nonzero(call: OpCall) -> Work:
    """How many it finds is not recorded."""
    return Work(
        bytes=call.need(0).bytes,
        category="sort", bound="lower", reason="how many it finds is not recorded",
    )  # fmt: skip


def _rows_times(x: Tensor, dim: float | None, keep: float) -> int:
    if not x.shape:
        return 1
    at = int(dim) if dim is not None else -1
    if not -len(x.shape) <= at < len(x.shape):
        raise Unknown("the dimension is not recorded")
    size = x.shape[at]
    return (x.count // size if size else 0) * int(keep)


@operator("topk", "kthvalue")
def topk(call: OpCall) -> Work:
    """self, k, dim: radix selection reads its input 2 to 8 times."""
    x, k = call.need(0), call.number(1)
    if k is None:
        raise Unknown("k is not recorded")
    kept = _rows_times(x, call.number(2), k if call.name == "aten::topk" else 1)
    return Work(
        bytes=x.bytes + kept * (x.item_bytes + 8),
        category="sort", bound="lower", reason="selection reads its input several times",
    )  # fmt: skip


@operator("sort", "argsort")
def sort(call: OpCall) -> Work:
    """Radix sort moves values and int64 positions once a pass, 4 to 8 passes."""
    x = call.need(0)
    return Work(
        bytes=2 * x.bytes + 8 * x.count,
        category="sort", bound="lower", reason="sorting takes several passes",
    )  # fmt: skip


@operator("unfold_backward", "im2col", "col2im")
def unfold(call: OpCall) -> Work:
    """The result's size is not among the arguments."""
    raise Unknown("the result's size is not recorded")


@operator("repeat_interleave")
def repeat_interleave(call: OpCall) -> Work:
    """How often each element repeats is data."""
    raise Unknown("the result's size is not recorded")

"""Attention: flops of the two products, traffic of q, k, v and the result once each.

Causal masks are counted by their true area: query i of a top-left aligned mask sees
min(i + 1, keys). The softmax statistics (LSE) are one float32 a query and head.
"""

from __future__ import annotations

from dataclasses import dataclass

from whichlayer.analysis.kernels.calls import OpCall, Tensor, Unknown
from whichlayer.analysis.kernels.operators.matmul import operand_precision
from whichlayer.analysis.kernels.work import Work, operator


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes of one attention call."""

    batch: int
    heads: int
    queries: int
    keys: int
    width: int
    value_width: int

    def pairs(self, causal: bool, left: int = -1, right: int = -1) -> int:
        """Query-key pairs that are computed, of one head."""
        if causal:
            return causal_pairs(self.queries, self.keys)
        if left >= 0 or right >= 0:
            before = self.keys if left < 0 else left
            after = self.keys if right < 0 else right
            return self.queries * min(self.keys, before + after + 1)
        return self.queries * self.keys


def causal_pairs(queries: int, keys: int) -> int:
    """Pairs of a top-left aligned causal mask: sum over queries i of min(i + 1, keys)."""
    full = min(queries, keys)
    return full * (full + 1) // 2 + max(0, queries - keys) * keys


def _heads_first(q: Tensor, k: Tensor, v: Tensor) -> Sizes:
    """[B,H,S,D]."""
    if not len(q.shape) == len(k.shape) == len(v.shape) == 4:
        raise Unknown("the recorded shapes are no attention")
    return Sizes(*q.shape[:3], k.shape[2], q.shape[3], v.shape[3])


def _sequence_first(q: Tensor, k: Tensor, v: Tensor) -> Sizes:
    """[B,S,H,D]; three dimensions are packed sequences whose lengths are not recorded."""
    if len(q.shape) == 3:
        raise Unknown("packed sequences: their lengths are not recorded")
    if not len(q.shape) == len(k.shape) == len(v.shape) == 4:
        raise Unknown("the recorded shapes are no attention")
    return Sizes(q.shape[0], q.shape[2], q.shape[1], k.shape[1], q.shape[3], v.shape[3])


def _forward(q: Tensor, k: Tensor, v: Tensor, sizes: Sizes, pairs: int, extra: int = 0) -> Work:
    heads = sizes.batch * sizes.heads
    result = heads * sizes.queries * sizes.value_width * q.item_bytes
    statistics = 4 * heads * sizes.queries
    return Work(
        bytes=q.bytes + k.bytes + v.bytes + result + statistics + extra,
        flops=2 * heads * pairs * (sizes.width + sizes.value_width),
        precision=operand_precision(q, k),
        category="attention",
        dims=(sizes.queries, sizes.keys, sizes.width),
    )


def _backward(q: Tensor, k: Tensor, v: Tensor, sizes: Sizes, pairs: int, extra: int = 0) -> Work:
    heads = sizes.batch * sizes.heads
    result = heads * sizes.queries * sizes.value_width * q.item_bytes
    gradients = q.count * q.item_bytes + k.count * k.item_bytes + v.count * v.item_bytes
    return Work(
        bytes=q.bytes + k.bytes + v.bytes + 2 * result + 4 * heads * sizes.queries + gradients
        + extra,
        flops=2 * heads * pairs * (3 * sizes.width + 2 * sizes.value_width),
        precision=operand_precision(q, k),
        category="attention",
        dims=(sizes.queries, sizes.keys, sizes.width),
    )  # fmt: skip


def _causal(call: OpCall, index: int) -> bool:
    said = call.flag(index)
    if said is None:
        raise Unknown("whether it is causal is not recorded")
    return said


def _window(call: OpCall, left: int, right: int) -> tuple[int, int]:
    before, after = call.number(left), call.number(right)
    return (-1 if before is None else int(before), -1 if after is None else int(after))


def _bias(call: OpCall, index: int) -> int:
    found = call.tensor(index)
    return found.bytes if found is not None and found.shape else 0


@operator("_scaled_dot_product_flash_attention")
def sdpa_flash(call: OpCall) -> Work:
    """q, k, v, dropout, causal, …; [B,H,S,D]."""
    q, k, v = call.need(0), call.need(1), call.need(2)
    sizes = _heads_first(q, k, v)
    return _forward(q, k, v, sizes, sizes.pairs(_causal(call, 4)))


@operator("_flash_attention_forward")
def flash(call: OpCall) -> Work:
    """q, k, v, cu_q, cu_k, max_q, max_k, dropout, causal, debug, scale, window; [B,S,H,D]."""
    q, k, v = call.need(0), call.need(1), call.need(2)
    sizes = _sequence_first(q, k, v)
    left, right = _window(call, 11, 12)
    return _forward(q, k, v, sizes, sizes.pairs(_causal(call, 8), left, right))


@operator("_scaled_dot_product_efficient_attention", "_scaled_dot_product_cudnn_attention")
def sdpa_biased(call: OpCall) -> Work:
    """q, k, v, bias, want statistics, dropout, causal, …; [B,H,S,D]."""
    q, k, v = call.need(0), call.need(1), call.need(2)
    sizes = _heads_first(q, k, v)
    return _forward(q, k, v, sizes, sizes.pairs(_causal(call, 6)), _bias(call, 3))


@operator("_efficient_attention_forward")
def efficient(call: OpCall) -> Work:
    """q, k, v, bias, cu_q, cu_k, max_q, max_k, dropout, mask type, …; [B,S,H,D]."""
    q, k, v = call.need(0), call.need(1), call.need(2)
    sizes = _sequence_first(q, k, v)
    return _forward(q, k, v, sizes, _masked_pairs(call, 9, sizes), _bias(call, 3))


def _masked_pairs(call: OpCall, index: int, sizes: Sizes) -> int:
    """Mask types: 0 none, 1 causal from the top left, 2 causal from the bottom right."""
    kind = call.number(index)
    if kind is None:
        raise Unknown("whether it is causal is not recorded")
    if kind == 2:
        late = max(0, sizes.keys - sizes.queries)
        return causal_pairs(sizes.queries + late, sizes.keys) - causal_pairs(late, sizes.keys)
    return sizes.pairs(kind == 1)


@operator("_scaled_dot_product_flash_attention_backward")
def sdpa_flash_backward(call: OpCall) -> Work:
    """grad, q, k, v, out, lse, cu_q, cu_k, max_q, max_k, dropout, causal, …; [B,H,S,D]."""
    q, k, v = call.need(1), call.need(2), call.need(3)
    sizes = _heads_first(q, k, v)
    return _backward(q, k, v, sizes, sizes.pairs(_causal(call, 11)))


@operator("_flash_attention_backward")
def flash_backward(call: OpCall) -> Work:
    """As above in [B,S,H,D], with the window at 15 and 16."""
    q, k, v = call.need(1), call.need(2), call.need(3)
    sizes = _sequence_first(q, k, v)
    left, right = _window(call, 15, 16)
    return _backward(q, k, v, sizes, sizes.pairs(_causal(call, 11), left, right))


@operator("_scaled_dot_product_efficient_attention_backward")
def sdpa_efficient_backward(call: OpCall) -> Work:
    """grad, q, k, v, bias, out, lse, seed, offset, dropout, mask, causal; [B,H,S,D]."""
    q, k, v = call.need(1), call.need(2), call.need(3)
    sizes = _heads_first(q, k, v)
    return _backward(q, k, v, sizes, sizes.pairs(_causal(call, 11)), _bias(call, 4))


@operator("_efficient_attention_backward")
def efficient_backward(call: OpCall) -> Work:
    """grad, q, k, v, bias, out, cu_q, cu_k, max_q, max_k, lse, dropout, seed, offset, mask type."""
    q, k, v = call.need(1), call.need(2), call.need(3)
    sizes = _sequence_first(q, k, v)
    return _backward(q, k, v, sizes, _masked_pairs(call, 14, sizes), _bias(call, 4))


@operator("_scaled_dot_product_cudnn_attention_backward")
def sdpa_cudnn_backward(call: OpCall) -> Work:
    """grad, q, k, v, out, lse, seed, offset, bias, cu_q, …, dropout, causal at 14; [B,H,S,D]."""
    q, k, v = call.need(1), call.need(2), call.need(3)
    sizes = _heads_first(q, k, v)
    return _backward(q, k, v, sizes, sizes.pairs(_causal(call, 14)), _bias(call, 8))


def fused_attention_work(
    batch: int, queries: int, keys: int, width: int, item_bytes: int, precision: str
) -> Work:
    """Work of one fused call over ``batch`` heads: what a chain of products could be instead."""
    sizes = Sizes(batch, 1, queries, keys, width, width)
    q = batch * queries * width * item_bytes
    k = batch * keys * width * item_bytes
    return Work(
        bytes=2 * q + 2 * k,
        flops=4 * batch * sizes.pairs(False) * width,
        precision=precision,
        category="attention",
    )

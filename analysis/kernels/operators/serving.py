"""Operators of inference engines: vLLM's own kernels, and AITER's.

vLLM writes in place: where it has an output it comes first. How long the context of an
attention is no argument tells, so its paged attention has no model.
"""

from __future__ import annotations

from whichlayer.analysis.kernels.calls import OpCall, Tensor
from whichlayer.analysis.kernels.operators.normalisation import in_passes
from whichlayer.analysis.kernels.work import Work, operator


def _written(tensor: Tensor) -> int:
    """Bytes of a tensor of which every element is written."""
    return tensor.count * tensor.item_bytes


@operator("_C::rms_norm")
def rms_norm(call: OpCall) -> Work:
    """out, x, weight, eps."""
    out, x, weight = call.need(0), call.need(1), call.need(2)
    return Work(bytes=_written(out) + x.bytes + weight.bytes, category="norm")


@operator("_C::fused_add_rms_norm")
def fused_add_rms_norm(call: OpCall) -> Work:
    """X and residual, both read and written, weight, eps."""
    x, residual, weight = call.need(0), call.need(1), call.need(2)
    return Work(bytes=2 * (_written(x) + _written(residual)) + weight.bytes, category="norm")


@operator("_C::static_scaled_fp8_quant", "_C::dynamic_scaled_fp8_quant", "_C::silu_and_mul",
          "_C::gelu_and_mul", "_C::gelu_tanh_and_mul")  # fmt: skip
def into_first(call: OpCall) -> Work:
    """out, x, [scale]: reads everything behind the output."""
    out = call.need(0)
    call.need(1)
    read = sum(tensor.bytes for tensor in call.tensors(1))
    return Work(bytes=_written(out) + read, category="pointwise")


@operator("_C::rotary_embedding")
def rotary_embedding(call: OpCall) -> Work:
    """positions, query and key (read and written), head size, table of a row a position."""
    positions, query, table = call.need(0), call.need(1), call.need(4)
    key = call.tensor(2)
    turned = _written(query) + (_written(key) if key is not None else 0)
    width = table.shape[-1] if table.shape else 1
    rows = min(positions.count, table.shape[0] if table.shape else 1)
    looked_up = rows * width * table.item_bytes
    return Work(
        bytes=positions.bytes + 2 * turned + looked_up,
        category="pointwise",
        bound="upper",
        least=positions.bytes + 2 * turned,
        reason="positions that repeat read the same row of its table",
    )


@operator("_C_cache_ops::reshape_and_cache_flash", "_C_cache_ops::reshape_and_cache")
def reshape_and_cache(call: OpCall) -> Work:
    """key, value, their caches, slots, …: only the new tokens are written."""
    key, value, keys, values = (call.need(index) for index in range(4))
    slots = call.tensor(4)
    stored = key.count * keys.item_bytes + value.count * values.item_bytes
    told = slots.bytes if slots is not None else 0
    return Work(bytes=key.bytes + value.bytes + stored + told, category="copy")


@operator("aiter::_groupnorm_run")
def aiter_group_norm(call: OpCall) -> Work:
    """x, groups, weight, bias, eps: one kernel for the statistics and one for the result."""
    x = call.need(0)
    weights = sum(tensor.bytes for tensor in call.tensors(2, 4))
    once = x.bytes + _written(x) + weights
    return in_passes(once, x.bytes if len(call.kernels) != 1 else 0)

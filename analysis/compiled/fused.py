"""The operators that the name of a Triton kernel says it fuses."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

#: What Inductor calls the kinds of kernels that it writes.
FAMILIES: Final = {
    "poi": "pointwise", "red": "reduction", "per": "persistent reduction", "tem": "template",
    "for": "foreach", "spl": "split scan", "mix": "mixed-order reduction",
}  # fmt: skip
_NAME: Final = re.compile(r"^triton_([a-z]{2,4})_fused_?(.*?)_?(\d+)$")
_KIND: Final = re.compile(r"^triton_([a-z]{2,4})_")
#: Operators whose names hold underscores; the longest that fits is taken.
_WORDS: Final = """
        _to_copy _unsafe_view _softmax _log_softmax _softmax_backward_data
        _log_softmax_backward_data _scaled_dot_product_flash_attention
        _scaled_dot_product_efficient_attention _scaled_dot_product_cudnn_attention
        _scaled_dot_product_flash_attention_backward _unsafe_index _unsafe_index_put
        _safe_softmax _adaptive_avg_pool2d _native_batch_norm_legit
        _native_batch_norm_legit_functional _fused_rms_norm
        native_layer_norm native_layer_norm_backward native_group_norm
        native_group_norm_backward native_batch_norm native_batch_norm_backward native_dropout
        native_dropout_backward bitwise_and bitwise_not bitwise_or bitwise_xor logical_and
        logical_not logical_or masked_fill index_put index_select index_add scatter_add
        scatter_reduce constant_pad_nd max_pool2d_with_indices
        max_pool2d_with_indices_backward avg_pool2d avg_pool2d_backward convolution_backward
        threshold_backward gelu_backward silu_backward tanh_backward sigmoid_backward
        hardtanh_backward leaky_relu leaky_relu_backward embedding_dense_backward
        nll_loss_forward nll_loss_backward mse_loss mse_loss_backward clamp_min clamp_max
        new_zeros new_ones new_full new_empty new_empty_strided zeros_like ones_like full_like
        empty_like rand_like randn_like select_backward select_scatter slice_backward
        slice_scatter split_with_sizes as_strided as_strided_scatter where_self floor_divide
        upsample_nearest2d upsample_bilinear2d scalar_tensor moe_forward inductor_random
        inductor_seeds inductor_lookup_seed convert_element_type reflection_pad2d
        replication_pad2d masked_scatter prepare_softmax_online squared_relu
        rms_norm layer_norm group_norm batch_norm repeat_interleave"""
_LONG: Final = tuple(sorted(_WORDS.split(), key=len, reverse=True))


def family_of(name: str) -> str:
    """``pointwise``, ``reduction`` … of a kernel of Inductor's, ``other`` for new kinds."""
    found = _KIND.match(name)
    return FAMILIES.get(found[1], "other") if found is not None else ""


@lru_cache(maxsize=16384)
def fused_operators(name: str) -> tuple[str, ...]:
    """The operators of a kernel's name, in its order; empty where it names none.

    >>> fused_operators("triton_red_fused__unsafe_view_add_mean_mul_pow_rsqrt_1")
    ('_unsafe_view', 'add', 'mean', 'mul', 'pow', 'rsqrt')
    """
    found = _NAME.match(name[:2048])
    rest = found[2] if found is not None else ""
    operators: list[str] = []
    while rest:
        long = next((one for one in _LONG if re.match(rf"{one}(?:_|$)", rest)), "")
        if not long:
            long, _, _ = rest.partition("_")
        if long:
            operators.append(long)
        rest = rest[len(long) + 1 :]
    return tuple(operators)

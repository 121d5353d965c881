"""Attention is found by the shapes around a softmax."""

from __future__ import annotations

from whichlayer.analysis.kernels.attention_chains import Part, chain_around

S, D, B = 128, 32, 6
MATRIX = (2, 3, S, S)


def product(*shapes: tuple[int, ...]) -> Part:
    return Part("aten::bmm", "matmul", shapes, 2)


SCORES = product((B, S, D), (B, D, S))
VALUES = product((B, S, S), (B, S, D))
SOFTMAX = Part("aten::_softmax", "softmax", (MATRIX,), 2)
SCALE = Part("aten::mul", "pointwise", (MATRIX,), 2)
OTHER = Part("aten::copy_", "copy", ((2, 3, S, D),), 2)


def test_the_chain_runs_from_scores_to_values() -> None:
    chain = chain_around([OTHER, SCORES, SCALE, SOFTMAX, OTHER, VALUES, OTHER], 3)
    assert chain is not None
    # The copy between is of another size and not part of it.
    assert chain.offsets == (-2, -1, 0, 2)
    assert chain.flops == 2 * 2 * B * S * S * D
    # q, k, v and the result: 4 x B x S x D x 2 B.
    assert chain.bytes == 4 * B * S * D * 2


def test_both_products_are_needed() -> None:
    assert chain_around([SCORES, SOFTMAX], 1) is None
    assert chain_around([SOFTMAX, VALUES], 0) is None
    assert chain_around([SCORES, SOFTMAX, None], 1) is None


def test_a_product_of_another_size_is_not_the_scores() -> None:
    assert chain_around([product((B, S, D), (B, D, 64)), SOFTMAX, VALUES], 1) is None


def test_a_softmax_over_classes_is_no_attention() -> None:
    classes = Part("aten::_softmax", "softmax", ((B * S, 1000),), 2)
    assert chain_around([SCORES, classes, VALUES], 1) is None


def test_added_masks_of_baddbmm_count_as_scores() -> None:
    masked = Part("aten::baddbmm", "matmul", ((B, S, S), (B, S, D), (B, D, S)), 2)
    chain = chain_around([masked, SOFTMAX, VALUES], 1)
    assert chain is not None
    assert chain.offsets == (-1, 0, 1)


def test_the_backward_pass_has_two_products_on_each_side() -> None:
    gradient = Part("aten::_softmax_backward_data", "softmax", (MATRIX, MATRIX), 2)
    d_values = product((B, S, S), (B, S, D))
    d_scores = product((B, S, D), (B, D, S))
    d_keys = product((B, D, S), (B, S, S))
    chain = chain_around([d_values, d_scores, gradient, SCALE, VALUES, d_keys], 2)
    assert chain is not None
    assert chain.offsets == (-2, -1, 0, 1, 2, 3)
    assert chain.flops == 4 * 2 * B * S * S * D

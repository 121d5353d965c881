"""Attention is found by the shapes around a softmax."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.program import Program
from whichlayer.analysis import Analysis
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


def attention(each_us: float, folder: Path) -> Analysis:
    """Attention of 64 heads in three operators, each so long, in two steps on an A100."""
    program, heads = Program(), 64
    scores, value = [heads, 1024, 1024], [heads, 1024, 256]
    calls: tuple[tuple[str, list[list[int]], str], ...] = (
        ("aten::bmm", [value, [heads, 256, 1024]], "ampere_bf16_s16816gemm_bf16_nn"),
        ("aten::_softmax", [scores], "softmax_warp_forward"),
        ("aten::bmm", [scores, value], "ampere_bf16_s16816gemm_bf16_nt"),
    )
    for step in range(2):
        program.step(step, 20_000 * step, 19_000)
        for number, (name, dims, kernel) in enumerate(calls):
            at = 20_000 * step + 10 + 30 * number
            told: dict[str, Any] = {"Input Dims": dims}
            told["Input type"] = ["c10::BFloat16"] * len(dims)
            program.operator(name, at, 20, **told)
            program.kernel(kernel, at + 200 + (each_us + 10) * number, each_us, (at + 5, 5))
    return program.analysis(folder)


def test_attention_in_operators_loses_what_a_fused_one_would_not_take(tmp_path: Path) -> None:
    analysis = attention(300, tmp_path)
    assert {group.rule for group in analysis.kernels} == {"unfused-attention"}
    lost_us = sum(group.lost_ns for group in analysis.kernels) / 2 / 1e3
    # Half of what good products reach on this card (85 % of 312 TFLOP/s), and one launch.
    fused_us = 2 * 2 * 64 * 1024 * 1024 * 256 / (0.5 * 0.85 * 312e6) + 1
    assert lost_us == pytest.approx(900 - fused_us, rel=0.01)


def test_attention_in_operators_that_a_fused_one_would_hardly_beat_is_left(
    tmp_path: Path,
) -> None:
    rules = {group.rule for group in attention(250, tmp_path).kernels}
    assert "unfused-attention" not in rules

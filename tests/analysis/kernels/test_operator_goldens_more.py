"""Bytes and flops by hand for the classes of operators that few recordings hold.

Arguments stand in the order of PyTorch's schemas, as the profiler prints them; the arithmetic is
written out and does not use the product's own formulas.
"""

from __future__ import annotations

from typing import Any

import pytest

from whichlayer.analysis.kernels.calls import Launch, OpCall
from whichlayer.analysis.kernels.work import Work, work_of

BF16, HALF, FLOAT, FP8, LONG = (
    "c10::BFloat16",
    "c10::Half",
    "float",
    "c10::Float8_e4m3fn",
    "long int",
)
NUMBER, LIST = "Scalar", "ScalarList"


def work(
    name: str,
    dims: list[Any],
    types: list[str],
    concrete: list[str] | None = None,
    strides: list[Any] | None = None,
    kernels: tuple[str, ...] = (),
) -> Work:
    detail: dict[str, Any] = {"Input Dims": dims, "Input type": types}
    if concrete is not None:
        detail["Concrete Inputs"] = concrete
    if strides is not None:
        detail["Input Strides"] = strides
    return work_of(OpCall.from_detail(name, detail, [Launch(kernel) for kernel in kernels]))


def test_scatter_add_reads_and_writes_the_places_that_it_names() -> None:
    # 4096 x 128 places read and written (2 x 4 B), an int64 index and a source element of each.
    found = work("aten::scatter_add_", [[50, 128], [], [4096, 128], [4096, 128]],
                 [FLOAT, NUMBER, LONG, FLOAT], ["", "0", "", ""])  # fmt: skip
    assert found.bytes == 4096 * 128 * (4 + 4 + 8 + 4)
    assert found.bound == "lower"


def test_gather_reads_no_more_than_the_table_holds() -> None:
    # 8 x 1000 of 8 x 50 257 logits: 4 B read and written, 8 B of index.
    found = work("aten::gather", [[8, 50257], [], [8, 1000], []], [FLOAT, NUMBER, LONG, NUMBER],
                 ["", "1", "", "False"])  # fmt: skip
    assert found.bytes == 8000 * (4 + 4 + 8)
    # 1000 elements of a table of 10: the table is read once.
    small = work("aten::gather", [[10], [], [1000], []], [FLOAT, NUMBER, LONG, NUMBER])
    assert small.bytes == 10 * 4 + 1000 * 4 + 1000 * 8


def test_embedding_backward_zeroes_the_whole_table() -> None:
    # Gradient of 4 x 512 rows of 1024 x 4 B, 2048 indices of 8 B, 30 522 rows written.
    found = work("aten::embedding_dense_backward", [[4, 512, 1024], [4, 512], [], [], []],
                 [FLOAT, LONG, NUMBER, NUMBER, NUMBER], ["", "", "30522", "0", "False"])  # fmt: skip
    assert found.bytes == 2048 * 1024 * 4 + 2048 * 8 + 30522 * 1024 * 4
    assert found.bound == "lower"


def test_embedding_bag_reads_its_rows_and_writes_a_row_a_bag() -> None:
    # 6400 of 100 000 rows of 64 x 4 B, 128 bags; int64 indices and offsets.
    found = work("aten::_embedding_bag", [[100000, 64], [6400], [128]], [FLOAT, LONG, LONG])
    assert found.bytes == 6400 * 64 * 4 + 128 * 64 * 4 + 6400 * 8 + 128 * 8


def test_index_put_reads_values_and_writes_as_many() -> None:
    found = work("aten::index_put_", [[1000, 64], [], [256, 64], []],
                 [FLOAT, "", FLOAT, NUMBER])  # fmt: skip
    assert found.bytes == 2 * 256 * 64 * 4


def test_the_product_of_an_einsum_is_the_batched_one_inside_it() -> None:
    # einsum("bhqd,bhkd->bhqk"): 8 x 12 heads of 197 x 64 with 64 x 197.
    batch, n, d = 96, 197, 64
    found = work("aten::bmm", [[batch, n, d], [batch, d, n]], [BF16, BF16])
    assert found.flops == 2 * batch * n * d * n
    assert found.bytes == batch * (n * d + d * n + n * n) * 2


def test_grouped_product_counts_every_expert() -> None:
    # 8192 tokens of 2048, 16 experts of 2048 x 1408 in bf16.
    found = work("aten::_grouped_mm", [[8192, 2048], [16, 2048, 1408], [16]], [BF16, BF16, "int"])
    assert found.flops == 2 * 8192 * 2048 * 1408
    assert found.bytes == (8192 * 2048 + 16 * 2048 * 1408 + 8192 * 1408) * 2
    assert found.bound == "upper"


def test_scaled_product_writes_the_type_that_is_asked_for() -> None:
    # e4m3 operands of 1 B, two fp32 scales, a bf16 result (enum 15).
    found = work("aten::_scaled_mm",
                 [[4096, 8192], [8192, 1024], [], [], [], [], [], []],
                 [FP8, FP8, FLOAT, FLOAT, "", "", NUMBER, NUMBER],
                 ["", "", "", "", "", "", "15", "True"])  # fmt: skip
    assert found.flops == 2 * 4096 * 8192 * 1024
    assert found.bytes == 4096 * 8192 + 8192 * 1024 + 4096 * 1024 * 2 + 2 * 4
    assert found.precision == "fp8"


TRANSPOSED = ["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "True", "[0, 0]", "1"]


def test_transposed_convolution_multiplies_every_input_with_the_kernel() -> None:
    # DCGAN: (8 - 1) x 2 - 2 x 1 + (4 - 1) + 0 + 1 = 16; w is [Ci, Co, 4, 4].
    found = work("aten::convolution",
                 [[64, 512, 8, 8], [512, 256, 4, 4], [256], [], [], [], [], [], []],
                 [FLOAT, FLOAT, FLOAT, LIST, LIST, LIST, NUMBER, LIST, NUMBER],
                 TRANSPOSED)  # fmt: skip
    assert found.flops == 2 * (64 * 512 * 8 * 8) * (256 * 4 * 4)
    assert found.bytes == (64 * 512 * 64 + 512 * 256 * 16 + 64 * 256 * 16 * 16 + 256) * 4


def test_transposed_convolution_of_groups_and_with_output_padding() -> None:
    # (7 - 1) x 2 - 2 x 1 + (3 - 1) + 1 + 1 = 14; two groups of 32 in and 16 out channels.
    places = ["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "True", "[1, 1]", "2"]
    found = work("aten::convolution",
                 [[4, 64, 7, 7], [64, 16, 3, 3], [], [], [], [], [], [], []],
                 [HALF, HALF, "", LIST, LIST, LIST, NUMBER, LIST, NUMBER], places)  # fmt: skip
    assert found.flops == 2 * (4 * 64 * 49) * (16 * 9)
    assert found.bytes == (4 * 64 * 49 + 64 * 16 * 9 + 4 * 32 * 14 * 14) * 2


def test_dilated_grouped_convolution() -> None:
    # 56 + 2 x 2 - 2 x (3 - 1) - 1 + 1 = 56; 32 groups of 4 channels in and out.
    found = work("aten::cudnn_convolution",
                 [[16, 128, 56, 56], [128, 4, 3, 3], [], [], [], [], [], [], []],
                 [HALF, HALF, LIST, LIST, LIST, *[NUMBER] * 4],
                 ["", "", "[2, 2]", "[1, 1]", "[2, 2]", "32", "False", "False", "True"])  # fmt: skip
    image = 16 * 128 * 56 * 56
    assert found.flops == 2 * image * 4 * 9
    assert found.bytes == (2 * image + 128 * 4 * 9) * 2


def test_backward_of_a_strided_convolution_does_two_products() -> None:
    # dx reads dy and w; dw reads dy and x; 112 x 112 results of 3 x 7 x 7 products each.
    found = work("aten::convolution_backward",
                 [[32, 64, 112, 112], [32, 3, 224, 224], [64, 3, 7, 7], *[[]] * 8],
                 [FLOAT, FLOAT, FLOAT, *[LIST] * 4, NUMBER, LIST, NUMBER, LIST],
                 ["", "", "", "[0]", "[2, 2]", "[3, 3]", "[1, 1]", "False", "[0, 0]", "1",
                  "[True, True, False]"])  # fmt: skip
    dy, x, w = 32 * 64 * 112 * 112, 32 * 3 * 224 * 224, 64 * 3 * 49
    assert found.flops == 2 * (2 * dy * 3 * 49)
    assert found.bytes == ((dy + w + x) + (dy + x + w)) * 4


def test_depthwise_convolution() -> None:
    found = work("aten::_conv_depthwise2d",
                 [[8, 96, 28, 28], [96, 1, 3, 3], [], [], [], [], []],
                 [HALF, HALF, LIST, "", LIST, LIST, LIST],
                 ["", "", "[3, 3]", "", "[1, 1]", "[1, 1]", "[1, 1]"])  # fmt: skip
    image = 8 * 96 * 28 * 28
    assert found.flops == 2 * image * 9
    assert found.bytes == (2 * image + 96 * 9) * 2


def test_attention_with_an_expanded_bias_reads_the_bias_once() -> None:
    # q, k, v, out of 4 x 16 x 1024 x 64; a bias of 1024 x 1024 for all of them; fp32 statistics.
    tensor = [4, 16, 1024, 64]
    found = work("aten::_scaled_dot_product_efficient_attention",
                 [tensor, tensor, tensor, [4, 16, 1024, 1024], [], [], [], []],
                 [HALF] * 4 + [NUMBER] * 4, ["", "", "", "", "True", "0.", "False", ""],
                 strides=[[1 << 20, 1 << 16, 64, 1]] * 3 + [[0, 0, 1024, 1], [], [], [], []])  # fmt: skip
    size = 4 * 16 * 1024 * 64
    assert found.flops == 2 * 64 * 1024 * 1024 * (64 + 64)
    assert found.bytes == 4 * size * 2 + 1024 * 1024 * 2 + 4 * 16 * 1024 * 4


def test_causal_attention_with_fewer_key_heads_and_longer_keys() -> None:
    # Top-left aligned: 512 queries of 2048 keys see 1 + 2 + … + 512 pairs; 8 key heads for 32.
    found = work("aten::_scaled_dot_product_flash_attention",
                 [[2, 32, 512, 128], [2, 8, 2048, 128], [2, 8, 2048, 128], [], [], [], []],
                 [BF16] * 3 + [NUMBER] * 4, ["", "", "", "0.", "True", "False", ""])  # fmt: skip
    assert found.flops == 2 * 64 * (512 * 513 // 2) * 256
    q, k = 2 * 32 * 512 * 128, 2 * 8 * 2048 * 128
    assert found.bytes == (2 * q + 2 * k) * 2 + 64 * 512 * 4


def test_backward_of_attention_does_five_products_for_two() -> None:
    # Scores again, dV, dP, dQ and dK: 2 x pairs x (3 x 64 + 2 x 64), halved by the causal mask.
    tensor = [8, 12, 1024, 64]
    found = work("aten::_scaled_dot_product_flash_attention_backward",
                 [tensor] * 5 + [[8, 12, 1024]] + [[]] * 9,
                 [BF16] * 5 + [FLOAT] + ["", "", *[NUMBER] * 4, LONG, LONG, ""],
                 [""] * 10 + ["0.", "True", "", "", ""])  # fmt: skip
    size, pairs = 8 * 12 * 1024 * 64, 1024 * 1025 // 2
    assert found.flops == 2 * 96 * pairs * 5 * 64
    # q, k, v, out, dout read; dq, dk, dv written; 4 B of statistics a row.
    assert found.bytes == 8 * size * 2 + 96 * 1024 * 4


def test_backward_of_efficient_attention_masked_from_the_bottom_right() -> None:
    # 128 new queries after 384 old ones: query i sees 385 + i keys of 512.
    q, k = [2, 128, 8, 64], [2, 512, 8, 64]
    found = work("aten::_efficient_attention_backward",
                 [q, q, k, k, [], q, [], [], [], [], [2, 8, 128], *[[]] * 4],
                 [HALF] * 4 + [""] + [HALF, "", "", NUMBER, NUMBER, FLOAT, NUMBER, LONG, LONG,
                                      NUMBER],
                 [""] * 11 + ["0.", "", "", "2"])  # fmt: skip
    pairs = sum(385 + query for query in range(128))
    assert found.flops == 2 * 16 * pairs * 5 * 64


def test_bilinear_upsampling_and_its_gradient() -> None:
    forward = work("aten::upsample_bilinear2d", [[4, 64, 32, 32], [], [], [], []],
                   [FLOAT, LIST, NUMBER, "", ""], ["", "[64, 64]", "False", "", ""])  # fmt: skip
    assert forward.bytes == 4 * 64 * (32 * 32 + 64 * 64) * 4
    backward = work("aten::upsample_bilinear2d_backward", [[4, 64, 64, 64], [], [], [], [], []],
                    [FLOAT, LIST, LIST, NUMBER, "", ""],
                    ["", "[64, 64]", "[4, 64, 32, 32]", "False", "", ""])  # fmt: skip
    assert backward.bytes == 4 * 64 * (64 * 64 + 32 * 32) * 4


LISTS = [[1000, 1000], [1000]]
MULTI = "multi_tensor_apply_kernel<TensorListMetadata<4>, FusedAdamMathFunctor<float, 4>>"


@pytest.mark.parametrize(("maxima", "passes"), [([], 7), (LISTS, 9)])
def test_fused_adam_reads_four_lists_and_writes_three(maxima: list[Any], passes: int) -> None:
    # amsgrad keeps a list of maxima, read and written.
    found = work("aten::_fused_adam_", [LISTS, LISTS, LISTS, LISTS, maxima, [[], []]],
                 ["TensorList"] * 6, kernels=(MULTI,))  # fmt: skip
    assert found.bytes == passes * (1000 * 1000 + 1000) * 4


@pytest.mark.parametrize(("momentum", "passes"), [([], 3), (LISTS, 5)])
def test_fused_sgd_touches_the_momentum_only_if_there_is_one(
    momentum: list[Any], passes: int
) -> None:
    kernel = MULTI.replace("FusedAdamMathFunctor", "FusedSgdMathFunctor")
    found = work("aten::_fused_sgd_", [LISTS, LISTS, momentum], ["TensorList"] * 3,
                 kernels=(kernel,))  # fmt: skip
    assert found.bytes == passes * (1000 * 1000 + 1000) * 4


def test_foreach_addcdiv_reads_three_lists_and_writes_one() -> None:
    kernel = "multi_tensor_apply_kernel<TensorListMetadata<3>, PointwiseOpScalarFunctor<c10::Half>>"
    found = work("aten::_foreach_addcdiv_", [LISTS, LISTS, LISTS, []],
                 ["TensorList"] * 3 + [NUMBER], kernels=(kernel,))  # fmt: skip
    assert found.bytes == 4 * (1000 * 1000 + 1000) * 2


@pytest.mark.parametrize(("reduction", "written"), [("1", 1), ("0", 512 * 1000)])
def test_losses_of_two_tensors_write_a_number_or_a_tensor(reduction: str, written: int) -> None:
    for name in ("mse_loss", "smooth_l1_loss", "huber_loss"):
        found = work(f"aten::{name}", [[512, 1000], [512, 1000], []], [FLOAT, FLOAT, NUMBER],
                     ["", "", reduction])  # fmt: skip
        assert found.bytes == (2 * 512 * 1000 + written) * 4


def test_backward_of_cross_entropy() -> None:
    # Gradient of log-softmax: gradient and result read, gradient written; 1024 x 50 257 in bf16.
    found = work("aten::_log_softmax_backward_data", [[1024, 50257], [1024, 50257], [], []],
                 [BF16, BF16, NUMBER, NUMBER], ["", "", "1", "15"])  # fmt: skip
    assert found.bytes == 3 * 1024 * 50257 * 2
    # Gradient of the likelihood: a sector of 32 B and a target of 8 B a row.
    rows = work("aten::nll_loss_backward", [[], [1024, 50257], [1024], [], [], [], []],
                [BF16, BF16, LONG, "", NUMBER, NUMBER, BF16])  # fmt: skip
    assert rows.bytes == 1024 * (32 + 8)


def test_pooling_and_its_gradient() -> None:
    forward = work("aten::avg_pool2d", [[8, 64, 56, 56], [], [], [], [], [], []],
                   [HALF, LIST, LIST, LIST, NUMBER, NUMBER, ""],
                   ["", "[2, 2]", "[2, 2]", "[0, 0]", "False", "True", ""])  # fmt: skip
    assert forward.bytes == 8 * 64 * (56 * 56 + 28 * 28) * 2
    backward = work("aten::_adaptive_avg_pool2d_backward", [[8, 2048, 1, 1], [8, 2048, 7, 7]],
                    [HALF, HALF])  # fmt: skip
    assert backward.bytes == 8 * 2048 * (1 + 49) * 2


def test_scan_of_truth_values_writes_int64() -> None:
    found = work("aten::cumsum", [[64, 4096], [], []], ["bool", NUMBER, NUMBER], ["", "1", ""])
    assert found.bytes == 64 * 4096 * (1 + 8)


def test_fused_root_mean_square_norm() -> None:
    # 4096 rows of 8192 in bf16: read and written, a weight, fp32 statistics of each row.
    found = work("aten::_fused_rms_norm", [[4096, 8192], [], [8192], []],
                 [BF16, LIST, BF16, NUMBER], ["", "[8192]", "", "1e-06"])  # fmt: skip
    assert found.bytes == 2 * 4096 * 8192 * 2 + 8192 * 2 + 4096 * 4


PERMUTED: list[Any] = [[26], [26, 16], [3424], [], []]


def test_permuted_values_are_known_where_their_number_is_recorded() -> None:
    # As an 8-rank DLRM records it, the number of results added: 26 x 16 lengths and 3424 values.
    types = ["int", "int", "int", "", NUMBER]
    found = work("fbgemm::permute_2D_sparse_data", PERMUTED, types, ["", "", "", "", "3424"])
    assert found.bytes == (26 + 2 * 26 * 16 + 2 * 3424) * 4
    silent = work("fbgemm::permute_2D_sparse_data", PERMUTED, types)
    assert silent.bytes is None
    assert "several times" in silent.reason


def test_a_tensor_of_unknown_type_is_no_number() -> None:
    # Left out, it would be read as an addition of a number: 32 bytes of three times as many.
    found = work("aten::add", [[4], [4], []], [FLOAT, "quint4x2", NUMBER])
    assert found.bytes is None
    assert found.reason == "elements of type 'quint4x2' have no known size"
    bias = work("aten::addmm", [[8], [4, 4], [4, 8]], ["mystery", BF16, BF16])
    assert bias.bytes is None and bias.flops is None


@pytest.mark.parametrize(
    ("name", "dims", "types"),
    [
        ("aten::scatter_add_", [[4], []], [FLOAT, NUMBER]),
        ("aten::_grouped_mm", [[8, 4], [2, 5, 6], [2]], [BF16, BF16, "int"]),
        ("aten::convolution", [[1, 3, 8, 8], [4, 3, 3, 3], []], [FLOAT, FLOAT, ""]),
        ("aten::embedding_dense_backward", [[2, 4], [2], []], [FLOAT, LONG, NUMBER]),
        ("aten::upsample_bilinear2d", [[1, 1, 2, 2], [], []], [FLOAT, LIST, NUMBER]),
        ("aten::_fused_adam_", [[], [], [], [], [], []], ["TensorList"] * 6),
        ("aten::add", [[4], [4], []], ["complex quaternion", FLOAT, NUMBER]),
        ("aten::_scaled_dot_product_flash_attention", [[1, 1, 8, 8]] * 3, [BF16] * 3),
    ],
)
def test_what_is_not_recorded_gives_no_figure_and_a_reason(
    name: str, dims: list[Any], types: list[str]
) -> None:
    found = work(name, dims, types)
    assert found.bytes is None and found.flops is None
    assert found.reason

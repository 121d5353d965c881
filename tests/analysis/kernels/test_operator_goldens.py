"""Bytes and flops of recorded calls, each with its arithmetic written out.

The arguments are those of real events: shapes, types and concrete inputs as the profiler
printed them. M = 1024 x 1024, G = 1024 M.
"""

from __future__ import annotations

from typing import Any

import pytest

from whichlayer.analysis.kernels.calls import Launch, OpCall
from whichlayer.analysis.kernels.work import Work, work_of

BF16, HALF, FLOAT = "c10::BFloat16", "c10::Half", "float"


def work(
    name: str,
    dims: list[Any],
    types: list[str],
    concrete: list[str] | None = None,
    strides: list[Any] | None = None,
    kernels: tuple[str, ...] = (),
    context: OpCall | None = None,
    **extra: Any,
) -> Work:
    detail: dict[str, Any] = {"Input Dims": dims, "Input type": types, **extra}
    if concrete is not None:
        detail["Concrete Inputs"] = concrete
    if strides is not None:
        detail["Input Strides"] = strides
    launches = [Launch(kernel) for kernel in kernels]
    return work_of(OpCall.from_detail(name, detail, launches, context))


def test_add_reads_two_and_writes_one() -> None:
    # 8192 x 8192 x 4 B = 256 MiB; two reads and a write.
    found = work("aten::add", [[8192, 8192], [8192, 8192], []], [FLOAT, FLOAT, "Scalar"],
                 ["", "", "1"])  # fmt: skip
    assert found.bytes == 3 * 8192 * 8192 * 4


def test_add_with_a_broadcast_operand_reads_it_once() -> None:
    # (128 x 197 x 768 read + the same written) x 2 B + 197 x 768 x 2 B.
    found = work("aten::add", [[128, 197, 768], [1, 197, 768], []], [BF16, BF16, "Scalar"],
                 ["", "", "1"])  # fmt: skip
    assert found.bytes == 2 * 128 * 197 * 768 * 2 + 197 * 768 * 2


def test_add_in_place_reads_and_writes_itself() -> None:
    # 128 x 768 x 14 x 14 x 2 B twice, and 768 x 2 B of bias.
    found = work("aten::add_", [[128, 768, 14, 14], [1, 768, 1, 1], []],
                 [BF16, BF16, "Scalar"])  # fmt: skip
    assert found.bytes == 2 * 128 * 768 * 14 * 14 * 2 + 768 * 2


def test_mul_by_a_number_keeps_the_tensors_type() -> None:
    # A wrapped double does not widen BF16: 3136 x 12 x 8 x 8 x 2 B read and written, 8 B number.
    found = work("aten::mul", [[3136, 12, 8, 8], []], [BF16, "double"])
    assert found.bytes == 2 * 3136 * 12 * 64 * 2 + 8


def test_mixed_types_promote() -> None:
    # bf16 + fp32 gives fp32: 1000 x (2 + 4 + 4).
    found = work("aten::add", [[1000], [1000], []], [BF16, FLOAT, "Scalar"])
    assert found.bytes == 1000 * (2 + 4 + 4)


def test_a_trailing_tensor_is_the_output_not_an_input() -> None:
    # clamp_min with out: 32 x 512 x 14 x 14 x 4 B read and written once, not read twice.
    found = work("aten::clamp_min", [[32, 512, 14, 14], [], [32, 512, 14, 14]],
                 [FLOAT, "Scalar", FLOAT])  # fmt: skip
    assert found.bytes == 2 * 32 * 512 * 14 * 14 * 4


def test_a_comparison_writes_one_byte_an_element() -> None:
    # eq of int64 with a number: 16 x 559 x (8 + 1).
    found = work("aten::eq", [[16, 559], []], ["long int", "Scalar"], ["", "1"])
    assert found.bytes == 16 * 559 * (8 + 1)


def test_where_reads_its_condition_and_both_branches() -> None:
    # 1 M x (1 + 2 + 2 + 2).
    found = work("aten::where", [[1024, 1024]] * 3, ["bool", BF16, BF16])
    assert found.bytes == 1024 * 1024 * 7


def test_masked_fill_in_place() -> None:
    # self 128 x 512 x 128 x 2 B twice; the mask 128 x 512 x 1 B once.
    found = work("aten::masked_fill_", [[128, 512, 128], [128, 512, 1], []],
                 [HALF, "bool", "Scalar"], ["", "", "0"])  # fmt: skip
    assert found.bytes == 2 * 128 * 512 * 128 * 2 + 128 * 512


def test_threshold_backward_reads_gradient_and_result() -> None:
    found = work("aten::threshold_backward", [[512, 512, 7, 7], [512, 512, 7, 7], []],
                 [BF16, BF16, "Scalar"])  # fmt: skip
    assert found.bytes == 3 * 512 * 512 * 49 * 2


def test_mse_loss_backward_with_a_scalar_gradient() -> None:
    # grad is 0-d (2 B); x and target read, out written: 3 x 512 x 1000 x 2 B.
    found = work("aten::mse_loss_backward", [[], [512, 1000], [512, 1000], [], [512, 1000]],
                 [BF16, BF16, BF16, "Scalar", BF16])  # fmt: skip
    assert found.bytes == 3 * 512 * 1000 * 2 + 2


def test_dropout_writes_a_byte_of_mask_an_element() -> None:
    # 32 x 512 x 768 x (2 read + 2 written + 1 mask).
    found = work("aten::native_dropout", [[32, 512, 768], [], []], [BF16, "Scalar", "Scalar"])
    assert found.bytes == 32 * 512 * 768 * 5


def test_fill_only_writes() -> None:
    found = work("aten::fill_", [[512, 8, 128, 128], []], [HALF, "Scalar"])
    assert found.bytes == 512 * 8 * 128 * 128 * 2


def test_arange_counts_its_steps() -> None:
    # ceil((559 - 0) / 1) x 8 B; the out tensor has size 0 before the call.
    found = work("aten::arange", [[], [], [], [0]], ["Scalar", "Scalar", "Scalar", "long int"],
                 ["0", "559", "1", ""])  # fmt: skip
    assert found.bytes == 559 * 8


def test_an_expanded_copy_reads_each_element_once() -> None:
    # dst 512 x 8 x 64 x 4 B; src has stride 0 over 8: 512 x 64 x 4 B.
    found = work("aten::copy_", [[512, 8, 64], [512, 8, 64], []], [FLOAT, FLOAT, "Scalar"],
                 strides=[[512, 64, 1], [64, 0, 1], []])  # fmt: skip
    assert found.bytes == 512 * 8 * 64 * 4 + 512 * 64 * 4
    assert not found.casts


def test_a_cast_reads_one_type_and_writes_another() -> None:
    found = work("aten::copy_", [[4096, 4096], [4096, 4096], []], [BF16, FLOAT, "Scalar"])
    assert found.bytes == 4096 * 4096 * (2 + 4)
    assert found.casts


def test_cat_takes_its_element_size_from_the_kernel() -> None:
    # (128 x 1 x 768 + 128 x 196 x 768) x 2 B read and written.
    kernel = "void at::native::(anonymous namespace)::CatArrayBatchedCopy<at::native::OpaqueType<2u>, unsigned int, 3, 128, 1>(int)"
    dims = [[[128, 1, 768], [128, 196, 768]], []]
    found = work("aten::cat", dims, ["TensorList", "Scalar"], ["", "1"], kernels=(kernel,))
    assert found.bytes == 2 * (128 * 768 + 128 * 196 * 768) * 2
    assert work("aten::cat", dims, ["TensorList", "Scalar"]).bytes is None


def test_sum_over_a_dimension() -> None:
    # 512 x 2 x 8256 x 4 B read, 512 x 1 x 8256 x 4 B written.
    found = work("aten::sum", [[512, 2, 8256], [], [], []],
                 [FLOAT, "ScalarList", "Scalar", "Scalar"], ["", "[1]", "True", "6"])  # fmt: skip
    assert found.bytes == 512 * 2 * 8256 * 4 + 512 * 8256 * 4


def test_a_sum_of_booleans_is_int64() -> None:
    found = work("aten::sum", [[64, 1000], [], [], []], ["bool", "ScalarList", "Scalar", ""],
                 ["", "[1]", "False", ""])  # fmt: skip
    assert found.bytes == 64 * 1000 + 64 * 8


def test_a_reduction_without_recorded_dimensions_is_a_lower_bound() -> None:
    found = work("aten::sum", [[32, 2048], [], []], [FLOAT, "GenericList", "Bool"])
    assert (found.bytes, found.bound) == (32 * 2048 * 4, "lower")


def test_mm() -> None:
    # A 512 x 1000, B 1000 x 512, C 512 x 512; 2 x 512 x 512 x 1000 flops.
    found = work("aten::mm", [[512, 1000], [1000, 512]], [BF16, BF16])
    assert found.bytes == (512 * 1000 + 1000 * 512 + 512 * 512) * 2
    assert found.flops == 2 * 512 * 512 * 1000
    assert found.precision == "bf16"


def test_addmm_reads_its_bias() -> None:
    # bias 2304, A 25088 x 768, B 768 x 2304, C 25088 x 2304.
    found = work("aten::addmm", [[2304], [25088, 768], [768, 2304], [], []],
                 [BF16, BF16, BF16, "Scalar", "Scalar"], ["", "", "", "1", "1"])  # fmt: skip
    assert found.bytes == (2304 + 25088 * 768 + 768 * 2304 + 25088 * 2304) * 2
    assert found.flops == 2 * 25088 * 2304 * 768


def test_addmm_with_beta_zero_does_not_read_its_bias() -> None:
    found = work("aten::addmm", [[64, 64], [64, 32], [32, 64], [], []],
                 [FLOAT, FLOAT, FLOAT, "Scalar", "Scalar"], ["", "", "", "0", "1"])  # fmt: skip
    assert found.bytes == (64 * 32 + 32 * 64 + 64 * 64) * 4


def test_bmm() -> None:
    # 1024 products [1,2048] x [2048,1024].
    found = work("aten::bmm", [[1024, 1, 2048], [1024, 2048, 1024]], [BF16, BF16])
    assert found.bytes == 1024 * (2048 + 2048 * 1024 + 1024) * 2
    assert found.flops == 2 * 1024 * 2048 * 1024


def test_bmm_reads_an_expanded_batch_once() -> None:
    found = work("aten::bmm", [[8, 16, 32], [8, 32, 64]], [FLOAT, FLOAT],
                 strides=[[512, 32, 1], [0, 64, 1]])  # fmt: skip
    assert found.bytes == (8 * 16 * 32 + 32 * 64 + 8 * 16 * 64) * 4


def test_baddbmm_reads_what_it_adds_to() -> None:
    # C and the result 4096 x 128 x 128, A 4096 x 128 x 16, B 4096 x 16 x 128.
    found = work("aten::baddbmm", [[4096, 128, 128], [4096, 128, 16], [4096, 16, 128], [], []],
                 [HALF, HALF, HALF, "Scalar", "Scalar"], ["", "", "", "1", "1"])  # fmt: skip
    assert found.bytes == (2 * 4096 * 128 * 128 + 2 * 4096 * 128 * 16) * 2
    assert found.flops == 2 * 4096 * 128 * 128 * 16


def test_scaled_mm_writes_its_own_type() -> None:
    # fp8 operands (1 B), a bf16 result (enumeration 15), two float scales.
    found = work(
        "aten::_scaled_mm",
        [[4096, 1024], [1024, 2048], [], [], [], [], [], []],
        ["c10::Float8_e4m3fn", "c10::Float8_e4m3fn", FLOAT, FLOAT, "", "", "Scalar", "Scalar"],
        ["", "", "", "", "", "", "15", "False"],
    )
    assert found.bytes == 4096 * 1024 + 1024 * 2048 + 4096 * 2048 * 2 + 4 + 4
    assert (found.flops, found.precision) == (2 * 4096 * 2048 * 1024, "fp8")


def test_int_mm_writes_int32() -> None:
    found = work("aten::_int_mm", [[128, 256], [256, 64]], ["signed char", "signed char"])
    assert found.bytes == 128 * 256 + 256 * 64 + 4 * 128 * 64
    assert found.precision == "int8"


def test_cudnn_convolution_has_padding_before_stride() -> None:
    # 224 / 16 = 14: result [128,768,14,14]; 2 x 128 x 768 x 196 results x 3 x 256 products.
    found = work(
        "aten::cudnn_convolution",
        [[128, 3, 224, 224], [768, 3, 16, 16], [], [], [], [], [], [], []],
        [BF16, BF16, *["ScalarList"] * 3, *["Scalar"] * 4],
        ["", "", "[0, 0]", "[16, 16]", "[1, 1]", "1", "False", "False", "True"],
    )
    out = 128 * 768 * 14 * 14
    assert found.bytes == (128 * 3 * 224 * 224 + 768 * 3 * 256 + out) * 2
    assert found.flops == 2 * out * 3 * 256


def test_miopen_convolution_has_a_bias_before_its_padding() -> None:
    # (224 + 6 - 7) // 2 + 1 = 112.
    found = work(
        "aten::miopen_convolution",
        [[512, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], [], [], []],
        [BF16, BF16, "", *["ScalarList"] * 3, *["Scalar"] * 3],
        ["", "", "", "[3, 3]", "[2, 2]", "[1, 1]", "1", "False", "False"],
    )
    out = 512 * 64 * 112 * 112
    assert found.bytes == (512 * 3 * 224 * 224 + 64 * 3 * 49 + out) * 2
    assert found.flops == 2 * out * 3 * 49


def test_a_grouped_convolution_divides_by_its_groups() -> None:
    # (128 + 4 - 5) // 2 + 1 = 64; 4 groups of 32 channels: 32 x 25 products a result.
    found = work(
        "aten::convolution",
        [[8, 128, 128, 128], [128, 32, 5, 5]],
        ["Float", "Float"],
        ["", "", "", "(2,2)", "(2,2)", "(1,1)", "False", "(0,0)", "4"],
    )
    out = 8 * 128 * 64 * 64
    assert found.flops == 2 * out * 32 * 25
    assert found.bytes == (8 * 128 * 128 * 128 + 128 * 32 * 25 + out) * 4
    assert found.precision == "fp32"


def test_a_transposed_convolution_grows() -> None:
    # (16 - 1) x 2 - 2 x 1 + (4 - 1) + 0 + 1 = 32; every input meets 4 x 16 weights.
    found = work(
        "aten::convolution",
        [[2, 8, 16, 16], [8, 4, 4, 4], [], [], [], [], [], [], []],
        [FLOAT, FLOAT, "", *["ScalarList"] * 3, "Scalar", "ScalarList", "Scalar"],
        ["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "True", "[0, 0]", "1"],
    )
    assert found.flops == 2 * (2 * 8 * 16 * 16) * 4 * 16
    assert found.bytes == (2 * 8 * 256 + 8 * 4 * 16 + 2 * 4 * 32 * 32) * 4


BACKWARD_DIMS: list[Any] = [[512, 512, 7, 7], [512, 512, 7, 7], [512, 512, 3, 3], *[[]] * 8]
BACKWARD_TYPES = [BF16, BF16, BF16, *["ScalarList"] * 4, "Scalar", "ScalarList", "Scalar",
                  "ScalarList"]  # fmt: skip
BACKWARD_NUMBERS = ["", "", "", "[0]", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"]


def test_convolution_backward_of_both_gradients() -> None:
    # Each gradient: the forward's 2 x 512^2 x 49 x 512 x 9 flops.
    found = work("aten::convolution_backward", BACKWARD_DIMS, BACKWARD_TYPES,
                 [*BACKWARD_NUMBERS, "[True, True, False]"])  # fmt: skip
    image, weight = 512 * 512 * 49 * 2, 512 * 512 * 9 * 2
    assert found.flops == 2 * (2 * 512 * 512 * 49 * 512 * 9)
    # Input gradient: grad + w + x_grad; weight gradient: grad + x + w_grad.
    assert found.bytes == (image + weight + image) + (image + image + weight)


def test_convolution_backward_of_the_weight_alone() -> None:
    found = work("aten::convolution_backward", BACKWARD_DIMS, BACKWARD_TYPES,
                 [*BACKWARD_NUMBERS, "[False, True, False]"])  # fmt: skip
    assert found.flops == 2 * 512 * 512 * 49 * 512 * 9
    assert found.bytes == 2 * 512 * 512 * 49 * 2 + 512 * 512 * 9 * 2


def test_an_old_convolution_learns_its_result_from_the_norm_after_it() -> None:
    # No numbers recorded; batch_norm took [32,64,112,112] from a 7x7 over 224.
    norm = OpCall.from_detail(
        "aten::batch_norm", {"Input Dims": [[32, 64, 112, 112]], "Input type": [FLOAT]}
    )
    dims: list[Any] = [[32, 3, 224, 224], [64, 3, 7, 7], *[[]] * 6]
    types = [FLOAT, FLOAT, *["GenericList"] * 3, "Int", "Bool", "Bool", "Bool"]
    found = work("aten::cudnn_convolution", dims, types, context=norm)
    assert found.flops == 2 * 32 * 64 * 112 * 112 * 3 * 49
    assert work("aten::cudnn_convolution", dims, types).flops is None


def test_a_neighbour_that_no_stride_explains_is_not_the_result() -> None:
    other = OpCall.from_detail(
        "aten::relu", {"Input Dims": [[32, 64, 500, 112]], "Input type": [FLOAT]}
    )
    found = work("aten::cudnn_convolution", [[32, 3, 224, 224], [64, 3, 7, 7], [], []],
                 [FLOAT, FLOAT, "GenericList", "GenericList"], context=other)  # fmt: skip
    assert found.flops is None
    assert "not recorded" in found.reason


def test_an_old_input_gradient_learns_its_size_from_the_call_around_it() -> None:
    around = OpCall.from_detail(
        "aten::cudnn_convolution_backward",
        {"Input Dims": [[32, 512, 7, 7], [32, 2048, 7, 7], [2048, 512, 1, 1]],
         "Input type": [FLOAT] * 3},
    )  # fmt: skip
    found = work("aten::cudnn_convolution_backward_input",
                 [[], [32, 2048, 7, 7], [2048, 512, 1, 1], [], []],
                 ["GenericList", FLOAT, FLOAT, "GenericList", "GenericList"],
                 context=around)  # fmt: skip
    assert found.bytes == (32 * 2048 * 49 + 2048 * 512 + 32 * 512 * 49) * 4
    assert found.flops == 2 * 32 * 2048 * 49 * 512


QKV: list[Any] = [[1, 32768, 32, 128]] * 3 + [[]] * 12
FLASH_TYPES = [BF16, BF16, BF16, "", "", *["Scalar"] * 6, "", "", "", ""]
FLASH_NUMBERS = ["", "", "", "", "", "32768", "32768", "0."]


def test_flash_attention_in_sequence_first_order() -> None:
    # 32 heads x 32768^2 pairs x 2 x (128 + 128) flops; q, k, v, out and 4 B of LSE a query.
    found = work("aten::_flash_attention_forward", QKV, FLASH_TYPES,
                 [*FLASH_NUMBERS, "False", "False", "0.088", "", "", "", ""])  # fmt: skip
    assert found.flops == 2 * 32 * 32768 * 32768 * 256
    assert found.bytes == 4 * 32768 * 32 * 128 * 2 + 4 * 32 * 32768


def test_causal_attention_counts_its_true_area() -> None:
    # n (n + 1) / 2 pairs, about half.
    found = work("aten::_flash_attention_forward", QKV, FLASH_TYPES,
                 [*FLASH_NUMBERS, "True", "False", "0.088", "", "", "", ""])  # fmt: skip
    assert found.flops == 2 * 32 * (32768 * 32769 // 2) * 256


def test_a_sliding_window_counts_its_keys() -> None:
    # 127 keys before and none after: 128 keys a query.
    found = work("aten::_flash_attention_forward", QKV, FLASH_TYPES,
                 [*FLASH_NUMBERS, "False", "False", "0.088", "127", "0", "", ""])  # fmt: skip
    assert found.flops == 2 * 32 * 32768 * 128 * 256


def test_grouped_query_attention_reads_fewer_keys() -> None:
    # 32 query heads, 8 key heads; SDPA order [B,H,S,D].
    found = work(
        "aten::_scaled_dot_product_flash_attention",
        [[4, 32, 4096, 128], [4, 8, 4096, 128], [4, 8, 4096, 128], [], [], [], []],
        [BF16, BF16, BF16, *["Scalar"] * 4],
        ["", "", "", "0.", "False", "False", ""],
    )
    assert found.flops == 2 * 4 * 32 * 4096 * 4096 * 256
    q, k = 4 * 32 * 4096 * 128 * 2, 4 * 8 * 4096 * 128 * 2
    assert found.bytes == 2 * q + 2 * k + 4 * 4 * 32 * 4096


def test_attention_backward_is_two_and_a_half_times_the_forward() -> None:
    shape = [2, 16, 1024, 64]
    found = work(
        "aten::_scaled_dot_product_flash_attention_backward",
        [shape, shape, shape, shape, shape, [2, 16, 1024], *[[]] * 9],
        [BF16] * 5 + [FLOAT, "", "", "Scalar", "Scalar", "Scalar", "Scalar", "", "", ""],
        ["", "", "", "", "", "", "", "", "1024", "1024", "0.", "False", "", "", ""],
    )
    assert found.flops == 5 * 2 * 2 * 16 * 1024 * 1024 * 64
    # q, k, v, out, grad read; three gradients written; LSE.
    assert found.bytes == 8 * 2 * 16 * 1024 * 64 * 2 + 4 * 2 * 16 * 1024


def test_packed_sequences_are_unknown() -> None:
    found = work("aten::_flash_attention_forward", [[999, 16, 64]] * 3, [BF16] * 3)
    assert not found.known
    assert "packed" in found.reason


def test_layer_norm_writes_two_statistics_a_row() -> None:
    # 3136 x 8 rows of 768: read and written, two weights, 2 x 4 B a row.
    found = work("aten::native_layer_norm", [[3136, 8, 768], [], [768], [768], []],
                 [BF16, "ScalarList", BF16, BF16, "Scalar"],
                 ["", "[768]", "", "", "1e-06"])  # fmt: skip
    assert found.bytes == 2 * 3136 * 8 * 768 * 2 + 2 * 768 * 2 + 8 * 3136 * 8


def test_layer_norm_backward_reads_gradient_and_input_once() -> None:
    # grad, x, dx; two statistics of 1024 rows; weight; two weight gradients.
    found = work(
        "aten::native_layer_norm_backward",
        [[1024, 256], [1024, 256], [], [1024, 1], [1024, 1], [256], [256], []],
        [FLOAT, FLOAT, "ScalarList", FLOAT, FLOAT, FLOAT, FLOAT, "ScalarList"],
        ["", "", "[256]", "", "", "", "", "[True, True, True]"],
    )
    assert found.bytes == 3 * 1024 * 256 * 4 + 2 * 1024 * 4 + 256 * 4 + 2 * 256 * 4


BN: list[Any] = [[512, 64, 112, 112], [64], [64], [64], [64], [], [], []]
BN_TYPES = [BF16] * 5 + ["Scalar"] * 3


def test_batch_norm_of_two_passes_reads_twice() -> None:
    statistics = "void at::native::batch_norm_collect_statistics_kernel<at::native::Var>(int)"
    image = 512 * 64 * 112 * 112 * 2
    once = work("aten::native_batch_norm", BN, BN_TYPES)
    twice = work("aten::native_batch_norm", BN, BN_TYPES, kernels=(statistics,))
    assert once.bytes == 2 * image + 8 * 64 * 2
    assert twice.bytes == 3 * image + 8 * 64 * 2
    assert (twice.bound, twice.least) == ("upper", once.bytes)


@pytest.mark.parametrize(
    ("kernel", "passes"),
    [
        ("void cudnn::bn_fw_tr_1C11_singleread<float, 512, true, 1, 2, 0>(int)", 2),
        ("void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512, true, 1>(int)", 3),
        ("void cudnn::bn_fw_inf_1C11_kernel_NCHW<float, float, true, 1>(int)", 2),
    ],
)
def test_cudnn_batch_norm_passes_by_kernel(kernel: str, passes: int) -> None:
    found = work("aten::cudnn_batch_norm", BN, BN_TYPES, kernels=(kernel,))
    assert found.bytes == passes * 512 * 64 * 112 * 112 * 2 + 8 * 64 * 2


def test_softmax_and_its_gradient() -> None:
    forward = work("aten::_softmax", [[3136, 12, 8, 8], [], []], [BF16, "Scalar", "Scalar"],
                   ["", "-1", "False"])  # fmt: skip
    assert forward.bytes == 2 * 3136 * 12 * 64 * 2
    wide = work("aten::_softmax", [[16, 1024], [], []], [HALF, "Scalar", "Scalar"],
                ["", "-1", "True"])  # fmt: skip
    assert wide.bytes == 16 * 1024 * (2 + 4)
    # Until 2021 the fourth argument is the input itself, which is not read.
    backward = work("aten::_log_softmax_backward_data", [[32, 1000], [32, 1000], [], [32, 1000]],
                    [FLOAT, FLOAT, "Int", FLOAT])  # fmt: skip
    assert backward.bytes == 3 * 32 * 1000 * 4


def test_nll_loss_gathers_one_sector_a_row() -> None:
    # 32 rows x 32 B sector, 32 targets x 8 B, two results.
    found = work("aten::nll_loss_forward", [[32, 1000], [32], [], [], []],
                 [FLOAT, "long int", "", "Int", "Int"])  # fmt: skip
    assert found.bytes == 32 * 32 + 32 * 8 + 2 * 4


def test_max_pool_writes_int64_positions() -> None:
    # (112 + 2 - 3) // 2 + 1 = 56; values of 2 B and positions of 8 B.
    found = work(
        "aten::max_pool2d_with_indices",
        [[512, 64, 112, 112], [], [], [], [], []],
        [BF16, *["ScalarList"] * 4, "Scalar"],
        ["", "[3, 3]", "[2, 2]", "[1, 1]", "[1, 1]", "False"],
    )
    assert found.bytes == 512 * 64 * 112 * 112 * 2 + 512 * 64 * 56 * 56 * (2 + 8)


def test_max_pool_backward_reads_positions_not_the_input() -> None:
    found = work(
        "aten::max_pool2d_with_indices_backward",
        [[512, 64, 56, 56], [512, 64, 112, 112], [], [], [], [], [], [512, 64, 56, 56]],
        [BF16, BF16, *["ScalarList"] * 4, "Scalar", "long int"],
    )
    assert found.bytes == 512 * 64 * 56 * 56 * (2 + 8) + 512 * 64 * 112 * 112 * 2


def test_upsampling() -> None:
    found = work("aten::upsample_nearest2d", [[1, 512, 128, 128], [], [], []],
                 [BF16, "ScalarList", "Scalar", "Scalar"], ["", "[256, 256]", "2.", "2."])  # fmt: skip
    assert found.bytes == (1 * 512 * 128 * 128 + 512 * 256 * 256) * 2


def test_index_select_is_an_upper_bound() -> None:
    # 8944 rows of 1024 x 2 B picked and written, 8944 indices.
    found = work("aten::index_select", [[151936, 1024], [], [8944]],
                 [BF16, "Scalar", "long int"], ["", "0", ""])  # fmt: skip
    assert found.bytes == 2 * 8944 * 1024 * 2 + 8944 * 8
    assert (found.bound, found.least) == ("upper", 8944 * 1024 * 2 + 8944 * 8)


def test_a_gather_reads_no_more_than_its_table() -> None:
    # 1 M picks from a table of 10 rows of 4 floats: the table once, 16 MiB written.
    found = work("aten::index_select", [[10, 4], [], [1 << 20]], [FLOAT, "Scalar", "long int"],
                 ["", "0", ""])  # fmt: skip
    assert found.bytes == 10 * 4 * 4 + (1 << 20) * 4 * 4 + (1 << 20) * 8


def test_index_learns_how_much_it_picks_from_its_grids() -> None:
    # Two kernels of 512 indices each; a slice is 1024 x 2048 x 2 B = 1024 blocks x 256 x 16 B.
    name = "void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*, int)"
    launch = Launch(name, (512, 1024, 1), (256, 1, 1))
    detail = {"Input Dims": [[8, 1024, 2048], []], "Input type": [BF16, ""]}
    found = work_of(OpCall.from_detail("aten::index", detail, [launch, launch]))
    picked, table = 2 * 512 * 1024 * 2048 * 2, 8 * 1024 * 2048 * 2
    assert found.bytes == picked + table
    wrong = Launch(name, (512, 3, 1), (256, 1, 1))
    assert not work_of(OpCall.from_detail("aten::index", detail, [wrong])).known


ADAM = "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::FusedAdamMathFunctor<float, 4, 0, false>, float const*, double>(int)"


def test_fused_adam_moves_seven_lists() -> None:
    lists = [[8, 4], [16]]
    found = work("aten::_fused_adamw_", [lists, lists, lists, lists, [], [[], []], []],
                 ["TensorList"] * 6 + ["Scalar"], kernels=(ADAM,))  # fmt: skip
    assert found.bytes == 7 * (32 + 16) * 4
    with_maximum = work("aten::_fused_adamw_", [lists] * 5 + [[[], []], []],
                        ["TensorList"] * 6 + ["Scalar"], kernels=(ADAM,))  # fmt: skip
    assert with_maximum.bytes == 9 * (32 + 16) * 4


def test_lists_too_long_to_print_are_unknown() -> None:
    found = work("aten::_foreach_add_", [[], [], []], ["TensorList", "TensorList", "Scalar"])
    assert not found.known
    assert "does not list its tensors" in found.reason


def test_triton_counts_its_pointers() -> None:
    # 888 x (4 + 8 + 1): int, long and bool; sizes are Scalars.
    found = work(
        "triton_poi_fused_add_bitwise_and_0",
        [[888], [888], [888], [], []],
        ["int", "long int", "bool", "Scalar", "Scalar"],
        ["", "", "", "0", "888"],
        kernel_backend="triton",
    )
    assert found.bytes == 888 * (4 + 8 + 1)
    # One argument may be input and output: nothing is called slow for less.
    assert found.most == 888 * (4 + 8 + 1) + 888 * 8


def test_the_compilers_own_count_wins() -> None:
    found = work("triton_poi_fused_0", [[888]], [FLOAT], kernel_backend="triton",
                 kernel_num_gb=0.25, kernel_flop=1000)  # fmt: skip
    assert (found.bytes, found.flops) == (250_000_000, 1000)


@pytest.mark.parametrize(
    "name",
    ["vllm::unified_attention_with_output", "aiter::mha_batch_prefill", "record_param_comms",
     "CompiledFunction", "fbgemm::split_embedding_codegen_lookup_sgd_function"],
)  # fmt: skip
def test_operators_whose_work_their_arguments_do_not_tell_are_unknown(name: str) -> None:
    found = work(name, [[64, 64]], [BF16])
    assert not found.known
    assert found.reason == "no model of this operator"


def test_reasons_tell_shapes_from_types() -> None:
    assert work("aten::mm", [], []).reason == "no shapes recorded"
    assert work("aten::mm", [[2, 2], [2, 2]], []).reason == "element types are not recorded"
    assert "c10::Weird" in work("aten::mm", [[2, 2], [2, 2]], ["c10::Weird", FLOAT]).reason


def test_an_unknown_type_has_no_size() -> None:
    assert not work("aten::relu", [[1024]], ["c10::SomethingNew"]).known

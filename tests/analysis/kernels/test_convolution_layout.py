"""What a convolution's layout kernels move, by the grids of real launches (MI300X)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from whichlayer.analysis.kernels.calls import Launch, OpCall
from whichlayer.analysis.kernels.convolution_layout import layout_work

BF16 = "c10::BFloat16"
BLOCK = (256, 1, 1)
X, OUT = 512 * 64 * 56 * 56 * 2, 512 * 64 * 56 * 56 * 2
W = 64 * 64 * 3 * 3 * 2


def launch(name: str, grid: int) -> Launch:
    return Launch(name, (grid, 1, 1), BLOCK)


def forward(*launches: Launch) -> OpCall:
    detail = {
        "Input Dims": [[512, 64, 56, 56], [64, 64, 3, 3], [], [], [], [], [], [], []],
        "Input type": [BF16, BF16, "", "", "", "", "Scalar", "Scalar", "Scalar"],
        "Concrete Inputs": ["", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "1", "False", "False"],
    }
    return OpCall.from_detail("aten::miopen_convolution", detail, launches)


def backward(*launches: Launch) -> OpCall:
    detail = {
        "Input Dims": [[512, 512, 7, 7], [512, 256, 14, 14], [512, 256, 3, 3], *[[]] * 8],
        "Input type": [BF16, BF16, BF16, *["ScalarList"] * 8],
        "Concrete Inputs": ["", "", "", "[0]", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]",
                            "1", "[True, True, False]"],
    }  # fmt: skip
    return OpCall.from_detail("aten::convolution_backward", detail, launches)


def test_forward_transposes_input_weight_and_result() -> None:
    # Tiles of 32 x 32 of 64 channels x 3136 pixels: 2 x 98 for each of 512 images, 256 threads
    # each. The weight: 64 matrices of 64 x 9, tiles of 16 x 32: 2 each.
    found = layout_work(forward(
        launch("batched_transpose_32x32_half", 512 * 2 * 98 * 256),
        launch("batched_transpose_16x32_half", 64 * 2 * 256),
        launch("batched_transpose_32x32_half", 512 * 2 * 98 * 256),
    ))  # fmt: skip
    assert found.bytes == 2 * (X + W + OUT)
    assert (found.category, found.bound, found.flops) == ("layout", "", None)


def test_a_fill_writes_the_result_once() -> None:
    found = layout_work(forward(
        launch("SubTensorOpWithScalar1d", 65536),
        launch("batched_transpose_16x32_half", 64 * 2 * 256),
    ))  # fmt: skip
    assert (found.bytes, found.bound) == (OUT + 2 * W, "lower")


def test_backward_tells_its_tensors_apart_by_their_grids() -> None:
    # grad: 512 images of 512 x 49, tiles 32 x 32: 16 x 2. x: 256 x 196, tiles 32 x 16: 8 x 13.
    # w: 512 matrices of 256 x 9, tiles 16 x 32: 8.
    found = layout_work(backward(
        launch("batched_transpose_32x32_half", 512 * 16 * 2 * 256),
        launch("batched_transpose_16x32_half", 512 * 8 * 256),
        launch("batched_transpose_32x16_half", 512 * 8 * 13 * 256),
        launch("SubTensorOpWithCastTensor1d", 65536),
    ))  # fmt: skip
    grad, x, w = 512 * 512 * 49 * 2, 512 * 256 * 196 * 2, 512 * 256 * 9 * 2
    # The cast reads the weight's gradient as float32 and writes it as bfloat16.
    assert found.bytes == 2 * (grad + x + w) + w + 2 * w


def test_a_grid_counted_in_blocks_tells_as_much() -> None:
    found = layout_work(forward(launch("batched_transpose_16x32_half", 64 * 2)))
    assert found.bytes == 2 * W


@pytest.mark.parametrize(
    "one",
    [
        launch("batched_transpose_32x32_half", 12345),
        launch("void cudnn::ops::nchwToNhwcKernel<float>", 64 * 2 * 256),
        Launch("batched_transpose_32x32_half"),
        launch("batched_transpose_0x0_half", 7),
    ],
)
def test_nothing_is_guessed_where_a_grid_tells_no_tensor(one: Launch) -> None:
    found = layout_work(forward(one))
    assert found.bytes is None
    assert "not told" in found.reason


def test_missing_shapes_are_a_reason() -> None:
    silent = replace(forward(launch("batched_transpose_16x32_half", 128)), dims=(), types=())
    assert layout_work(silent).reason == "no shapes recorded"

"""Shapes and types that cannot both be true give no figure, and say why."""

from __future__ import annotations

from typing import Any

import pytest

from whichlayer.analysis.kernels.work import OpCall, work_of

BF16 = "c10::BFloat16"
SIZE = [4096, 4096]


@pytest.mark.parametrize("name", ["aten::add", "aten::add_", "aten::mm", "aten::copy_"])
@pytest.mark.parametrize(
    ("dims", "types", "reason"),
    [
        ([SIZE, SIZE, []], [BF16], "not as many types"),
        ([SIZE], [BF16, BF16, "Scalar"], "not as many types"),
        ([[-5, 4096], SIZE, []], [BF16, BF16, "Scalar"], "argument 0"),
        ([SIZE, [4096, -1], []], [BF16, BF16, "Scalar"], "argument 1"),
        ([SIZE, [1.5, 4096], []], [BF16, BF16, "Scalar"], "argument 1"),
        ([SIZE, ["a", None], []], [BF16, BF16, "Scalar"], "argument 1"),
        ([SIZE, [True, 4096], []], [BF16, BF16, "Scalar"], "argument 1"),
        ([SIZE, [1 << 40, 1 << 40], []], [BF16, BF16, "Scalar"], "argument 1"),
        ([SIZE, None, []], [BF16, BF16, "Scalar"], "argument 1"),
    ],
)
def test_an_unreadable_input_leaves_no_figure_and_a_reason(
    name: str, dims: list[Any], types: list[str], reason: str
) -> None:
    call = OpCall.from_detail(name, {"Input Dims": dims, "Input type": types})
    found = work_of(call)
    assert (found.bytes, found.flops) == (None, None)
    assert reason in found.reason


def test_arguments_that_are_no_tensors_may_stand_alone() -> None:
    sizes = [SIZE, SIZE, []]
    call = OpCall.from_detail("aten::add", {"Input Dims": sizes, "Input type": [BF16, BF16]})
    assert work_of(call).bytes == 3 * 4096 * 4096 * 2
    longer = [BF16, BF16, "Scalar", "Int", ""]
    call = OpCall.from_detail("aten::add", {"Input Dims": sizes, "Input type": longer})
    assert work_of(call).bytes == 3 * 4096 * 4096 * 2

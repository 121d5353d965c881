"""What holds for every operator model, whatever the recording says."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.analysis.kernels.calls import Launch, OpCall, Tensor, Unknown, broadcast
from whichlayer.analysis.kernels.dtypes import ITEM_BYTES, dtype_of, promote
from whichlayer.analysis.kernels.work import _MODELS, has_model, operator, work_of

assert has_model("aten::mm")
NAMES = sorted(_MODELS)
TYPES = ["float", "c10::BFloat16", "long int", "bool", "double", "Scalar", "ScalarList", "",
         "TensorList", "Int", "c10::Odd"]  # fmt: skip
SIZES = st.lists(st.integers(0, 64), max_size=5)
JUNK: st.SearchStrategy[Any] = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10)
)
ARGUMENT = SIZES | st.lists(SIZES, max_size=3) | JUNK | st.lists(JUNK, max_size=3)
NUMBER = JUNK | st.sampled_from(
    ["", "[1, 2]", "True", "[True, False, True]", "-1", "(2,2)", "1e999"]
)


@given(
    name=st.sampled_from(NAMES),
    dims=st.lists(ARGUMENT, max_size=12) | JUNK,
    types=st.lists(st.sampled_from(TYPES) | JUNK, max_size=12) | JUNK,
    concrete=st.lists(NUMBER, max_size=12) | JUNK,
    strides=st.lists(SIZES | JUNK, max_size=12) | JUNK,
    grid=st.lists(st.integers(0, 1 << 40), max_size=4) | JUNK,
)
def test_no_recording_makes_a_model_raise(
    name: str, dims: Any, types: Any, concrete: Any, strides: Any, grid: Any
) -> None:
    detail = {"Input Dims": dims, "Input type": types, "Concrete Inputs": concrete,
              "Input Strides": strides}  # fmt: skip
    launch = Launch.from_detail("index_elementwise_kernel<128, 4>", {"grid": grid, "block": grid})
    work = work_of(OpCall.from_detail(name, detail, [launch]))
    for figure in (work.bytes, work.flops):
        assert figure is None or 0 <= figure < 1 << 62
    assert work.known or work.reason


@given(shapes=st.lists(st.lists(st.integers(0, 5), max_size=4), min_size=1, max_size=4))
def test_broadcasting_is_numpys(shapes: list[list[int]]) -> None:
    try:
        expected = np.broadcast_shapes(*[tuple(shape) for shape in shapes])
    except ValueError:
        with pytest.raises(Unknown):
            broadcast([tuple(shape) for shape in shapes])
    else:
        assert broadcast([tuple(shape) for shape in shapes]) == expected


@given(shape=st.lists(st.integers(1, 9), min_size=1, max_size=4), data=st.data())
def test_distinct_elements_are_those_in_memory(shape: list[int], data: st.DataObject) -> None:
    expanded = data.draw(st.lists(st.booleans(), min_size=len(shape), max_size=len(shape)))
    base = np.zeros([1 if wide else size for size, wide in zip(shape, expanded, strict=True)])
    view = np.broadcast_to(base, shape)
    strides = tuple(stride // view.itemsize for stride in view.strides)
    assert Tensor(tuple(shape), "fp64", strides).distinct == base.size
    assert Tensor(tuple(shape), "fp64").distinct == math.prod(shape)


def one_size(name: str, size: int) -> int:
    shapes: dict[str, list[list[int]]] = {
        "aten::add": [[size, 8], [size, 8]],
        "aten::mm": [[size, 8], [8, 16]],
        "aten::native_layer_norm": [[size, 8], [], [8], [8]],
        "aten::_softmax": [[size, 8]],
        "aten::copy_": [[size, 8], [size, 8]],
        "aten::sum": [[size, 8]],
    }
    detail = {"Input Dims": shapes[name], "Input type": ["float"] * len(shapes[name]),
              "Concrete Inputs": [""] * 4}  # fmt: skip
    found = work_of(OpCall.from_detail(name, detail)).bytes
    assert found is not None
    return found


@pytest.mark.parametrize(
    "name",
    ["aten::add", "aten::mm", "aten::native_layer_norm", "aten::_softmax", "aten::copy_",
     "aten::sum"],
)  # fmt: skip
@given(size=st.integers(1, 1000), more=st.integers(1, 1000))
def test_bytes_grow_with_the_shapes(name: str, size: int, more: int) -> None:
    assert one_size(name, size) < one_size(name, size + more)


@given(one=st.sampled_from(sorted(ITEM_BYTES)), two=st.sampled_from(sorted(ITEM_BYTES)))
def test_promotion_does_not_depend_on_order_and_never_narrows(one: str, two: str) -> None:
    both = promote(one, two)
    assert both == promote(two, one)
    floats = {"fp4", "fp8", "fp16", "bf16", "fp32", "fp64"}
    if {one, two} <= floats or not {one, two} & floats:
        assert ITEM_BYTES[both] >= max(ITEM_BYTES[one], ITEM_BYTES[two])


@pytest.mark.parametrize(
    ("one", "two", "both"),
    [
        ("bf16", "fp16", "fp32"),
        ("int64", "fp16", "fp16"),
        ("bool", "uint8", "uint8"),
        ("uint8", "int8", "int16"),
        ("fp32", "complex64", "complex64"),
        ("fp64", "complex64", "complex128"),
    ],
)
def test_promotion_is_pytorchs(one: str, two: str, both: str) -> None:
    assert promote(one, two) == both


@pytest.mark.parametrize(
    ("spelling", "dtype"),
    [
        ("float", "fp32"),
        ("c10::BFloat16", "bf16"),
        ("BFloat16", "bf16"),
        ("c10::Half", "fp16"),
        ("long int", "int64"),
        ("long", "int64"),
        ("long long", "int64"),
        ("unsigned char", "uint8"),
        ("c10::Float8_e4m3fn", "fp8"),
        ("c10::Float8_e5m2", "fp8"),
        ("c10::complex<float>", "complex64"),
        ("Scalar", None),
        ("TensorList", None),
        ("", None),
    ],
)
def test_type_spellings(spelling: str, dtype: str | None) -> None:
    assert dtype_of(spelling) == dtype


def test_capitalised_numbers_of_2021_are_no_tensors() -> None:
    call = OpCall("aten::x", ([], [4]), ("Double", "Float"))
    assert call.tensor(0) is None
    assert call.tensor(1) == Tensor((4,), "fp32")


def test_one_operator_has_one_model() -> None:
    with pytest.raises(ValueError, match="two models"):
        operator("mm")(lambda call: work_of(call))

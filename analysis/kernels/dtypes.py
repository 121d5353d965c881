"""Element types as traces spell them, their sizes, and PyTorch's promotion of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

#: Bytes of one element, by our name of the type.
ITEM_BYTES: Final[dict[str, int]] = {
    "bool": 1,
    "uint8": 1,
    "int8": 1,
    "uint16": 2,
    "int16": 2,
    "uint32": 4,
    "int32": 4,
    "uint64": 8,
    "int64": 8,
    "fp4": 1,  # stored as pairs: one element of the tensor is one byte
    "fp8": 1,
    "fp16": 2,
    "bf16": 2,
    "fp32": 4,
    "fp64": 8,
    "complex32": 4,
    "complex64": 8,
    "complex128": 16,
}

#: Types with a fractional part, narrow to wide.
FLOATS: Final = ("fp4", "fp8", "fp16", "bf16", "fp32", "fp64")

# Spellings of torch's profiler: caffe2 type names, then C++ names, then
# the scalar types of 2021. Seen in traces from torch 1.8 on.
_SPELLINGS: Final[dict[str, str]] = {
    "float": "fp32",
    "double": "fp64",
    "half": "fp16",
    "bfloat16": "bf16",
    "__half": "fp16",
    "__nv_bfloat16": "bf16",
    "long": "int64",
    "long int": "int64",
    "long long": "int64",
    "int": "int32",
    "short": "int16",
    "short int": "int16",
    "char": "int8",
    "signed char": "int8",
    "unsigned char": "uint8",
    "byte": "uint8",
    "bool": "bool",
    "unsigned short": "uint16",
    "unsigned int": "uint32",
    "unsigned long": "uint64",
    "uint16": "uint16",
    "uint32": "uint32",
    "uint64": "uint64",
    "complex<float>": "complex64",
    "complex<double>": "complex128",
    "complex<half>": "complex32",
    "complexhalf": "complex32",
    "complexfloat": "complex64",
    "complexdouble": "complex128",
}
#: ``dtype`` arguments are PyTorch's enumeration. Source: c10/core/ScalarType.h.
DTYPE_ENUM: Final = {
    0: "uint8", 1: "int8", 2: "int16", 3: "int32", 4: "int64", 5: "fp16", 6: "fp32", 7: "fp64",
    8: "complex32", 9: "complex64", 10: "complex128", 11: "bool", 15: "bf16", 23: "fp8",
    24: "fp8", 25: "fp8", 26: "fp8",
}  # fmt: skip
_PREFIX: Final = re.compile(r"^(?:struct )?(?:c10::|at::|std::)+")


@lru_cache(maxsize=4096)
def dtype_of(spelling: str) -> str | None:
    """Our name of an element type as a trace spells it; None where it is no element type.

    An unknown spelling is None too: its size is unknown, not four bytes.
    """
    word = _PREFIX.sub("", spelling.strip()).lower().replace("c10::", "")
    if word.startswith("float8_"):
        return "fp8"
    if word.startswith("float4_"):
        return "fp4"
    return _SPELLINGS.get(word)


def category(dtype: str) -> int:
    """Promotion category: 0 bool, 1 integer, 2 floating, 3 complex."""
    if dtype == "bool":
        return 0
    if dtype.startswith("complex"):
        return 3
    return 2 if dtype in FLOATS else 1


def promote(first: str, second: str) -> str:
    """Type that holds both, as ``torch.promote_types`` decides it."""
    if first == second:
        return first
    low, high = sorted((first, second), key=lambda name: (category(name), ITEM_BYTES[name], name))
    if category(low) < category(high):
        if category(high) == 3 and low == "fp64":
            return "complex128"
        return high
    if {low, high} == {"fp16", "bf16"}:
        return "fp32"
    if (low == "uint8" and high == "int8") or (low == "int8" and high == "uint8"):
        return "int16"
    return high


def result_type(dimensioned: Iterable[str], zero_dim: Iterable[str]) -> str | None:
    """Type of a pointwise result, as ``torch.result_type`` decides it; None without operands.

    Args:
        dimensioned: types of the operands that have dimensions.
        zero_dim: types of 0-d tensors and wrapped numbers; these only matter where their
            category is higher, and then a wrapped float counts as float32.
    """
    result: str | None = None
    for dtype in dimensioned:
        result = dtype if result is None else promote(result, dtype)
    scalar: str | None = None
    for dtype in zero_dim:
        scalar = dtype if scalar is None else promote(scalar, dtype)
    if result is None:
        return scalar
    if scalar is None or category(scalar) <= category(result):
        return result
    if category(scalar) == 2:
        return "fp32"
    return promote(result, scalar)

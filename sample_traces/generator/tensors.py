"""Tensors as the profiler sees them: shape, type and strides, and how arguments are printed."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

#: torch records no shapes for longer lists (TENSOR_LIST_DISPLAY_LENGTH_LIMIT).
LONGEST_SHOWN_LIST = 30


@dataclass(frozen=True, slots=True)
class DType:
    """An element type: its name in traces, its size, its number in c10::ScalarType."""

    name: str
    size: int
    number: int
    cpp: str


FLOAT = DType("float", 4, 6, "float")
BF16 = DType("c10::BFloat16", 2, 15, "c10::BFloat16")
LONG = DType("long int", 8, 4, "long")
BYTE = DType("unsigned char", 1, 0, "unsigned char")
BOOL = DType("bool", 1, 11, "bool")


@dataclass(frozen=True, slots=True)
class Tensor:
    """A strided tensor without its values."""

    shape: tuple[int, ...]
    dtype: DType
    strides: tuple[int, ...]

    @property
    def count(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def bytes(self) -> int:
        """Bytes of its elements."""
        return self.count * self.dtype.size

    def like(self, *shape: int) -> Tensor:
        """A contiguous tensor of this type."""
        return tensor(shape, self.dtype)

    def transposed(self, first: int, second: int) -> Tensor:
        """The view with two dimensions swapped."""
        order = list(range(len(self.shape)))
        order[first], order[second] = order[second], order[first]
        return Tensor(
            tuple(self.shape[i] for i in order), self.dtype, tuple(self.strides[i] for i in order)
        )


@dataclass(frozen=True, slots=True)
class WrappedNumber:
    """A Python number that became a tensor without dimensions (``x * 0.5``)."""

    type_name: str


def contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Row-major strides of a shape."""
    strides = [1] * len(shape)
    for i in range(len(shape) - 2, -1, -1):
        strides[i] = strides[i + 1] * shape[i + 1]
    return tuple(strides)


def tensor(shape: tuple[int, ...], dtype: DType) -> Tensor:
    """A contiguous tensor."""
    return Tensor(tuple(shape), dtype, contiguous(tuple(shape)))


def channels_last(n: int, c: int, h: int, w: int, dtype: DType) -> Tensor:
    """An image batch in the channels-last format."""
    return Tensor((n, c, h, w), dtype, (h * w * c, 1, w * c, c))


#: What an operator may be called with; a ``str`` is printed as it stands (``"cuda:0"``).
Argument = (
    Tensor | WrappedNumber | bool | int | float | str | None | list[int] | list[bool] | list[Tensor]
)


def print_arguments(arguments: tuple[Argument, ...]) -> dict[str, list[Any]]:
    """The four lists that ``record_shapes`` adds to an operator, in Kineto's order."""
    printed = [_print(argument) for argument in arguments]
    return {
        "Concrete Inputs": [p[0] for p in printed],
        "Input type": [p[1] for p in printed],
        "Input Strides": [p[2] for p in printed],
        "Input Dims": [p[3] for p in printed],
    }


def _print(argument: Argument) -> tuple[str, str, list[Any], list[Any]]:
    if argument is None:
        return "", "", [], []
    if isinstance(argument, Tensor):
        return "", argument.dtype.name, list(argument.strides), list(argument.shape)
    if isinstance(argument, WrappedNumber):
        return "", argument.type_name, [], []
    if isinstance(argument, list):
        return _print_list(argument)
    return _print_number(argument), "Scalar", [], []


def _print_list(
    items: list[int] | list[bool] | list[Tensor],
) -> tuple[str, str, list[Any], list[Any]]:
    if not items or not isinstance(items[0], Tensor):
        return "[" + ", ".join(str(item) for item in items) + "]", "ScalarList", [], []
    tensors = [item for item in items if isinstance(item, Tensor)]
    if len(tensors) > LONGEST_SHOWN_LIST:
        return "", "TensorList", [], []
    return ("", "TensorList", [list(t.strides) for t in tensors], [list(t.shape) for t in tensors])


def _print_number(value: float | str) -> str:
    if isinstance(value, float):
        text = format(value, ".17g")
        return text if any(c in text for c in ".en") else text + "."
    return str(value)

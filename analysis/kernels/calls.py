"""One operator call as the profiler recorded it: shapes, types, numbers and strides.

What a trace holds about an argument is loose: ``[]`` is a number, a 0-d tensor, a missing
value or a list too long to print, and the type string decides which. This module is the
only place that knows; operator models ask for "the tensor at 0" and get it or an
:class:`Unknown` that says what was missing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from whichlayer.analysis.kernels.dtypes import ITEM_BYTES, dtype_of
from whichlayer.analysis.kernels.unreadable import is_damaged, unpaired
from whichlayer.analysis.quick_values import quick

if TYPE_CHECKING:
    from whichlayer.analysis.kernels.work import Work

#: No real tensor has this many elements; larger figures are damaged input.
MAX_ELEMENTS: Final = 1 << 48

_NUMBER: Final = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|inf|nan)", re.IGNORECASE)


class Unknown(Exception):
    """A figure that the recording does not determine; the message is the reason."""


@quick
@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor argument.

    Attributes:
        shape: sizes; empty for a 0-d tensor or a wrapped number.
        dtype: a name of :mod:`whichlayer.analysis.kernels.dtypes`.
        strides: as recorded, or None.
    """

    shape: tuple[int, ...]
    dtype: str
    strides: tuple[int, ...] | None = None

    @property
    def count(self) -> int:
        """Elements as the operator sees them."""
        return math.prod(self.shape)

    @property
    def distinct(self) -> int:
        """Elements in memory: a dimension of stride 0 repeats the same ones."""
        if self.strides is None or len(self.strides) != len(self.shape):
            return self.count
        if self.count == 0:
            return 0
        pairs = zip(self.shape, self.strides, strict=True)
        return math.prod(size for size, stride in pairs if stride != 0)

    @property
    def item_bytes(self) -> int:
        """Bytes of one element."""
        return ITEM_BYTES[self.dtype]

    @property
    def bytes(self) -> int:
        """Bytes of memory that reading it once moves."""
        return self.distinct * self.item_bytes


@quick
@dataclass(frozen=True, slots=True)
class Launch:
    """One kernel of a call: its name, and grid and block where they are recorded."""

    name: str
    grid: tuple[int, ...] = ()
    block: tuple[int, ...] = ()

    @classmethod
    def from_detail(cls, name: str, detail: Mapping[str, Any]) -> Launch:
        """Read a kernel's launch shape leniently."""
        return cls(name, _shape(detail.get("grid")) or (), _shape(detail.get("block")) or ())


class _Memory:
    """What was found out about a call, shared by its copies."""

    __slots__ = ("alone", "looked", "shapes", "strange", "tensors", "unreadable")

    def __init__(self) -> None:
        #: By argument; None until somebody asks.
        self.tensors: list[Tensor | None] | None = None
        #: See ``OpCall.strange``.
        self.strange = ""
        #: See ``OpCall.unreadable``.
        self.unreadable = ""
        #: See ``OpCall.shape_key``.
        self.shapes: tuple[object, ...] = ()
        #: Whether somebody looked at what the call launched, or at its neighbour.
        self.looked = False
        #: See ``work_alone``.
        self.alone: tuple[Work, bool] | None = None


@quick
@dataclass(frozen=True, slots=True)
class OpCall:
    """One recorded call of an operator.

    Attributes:
        name: as recorded, such as ``aten::mm``.
        dims: what ``Input Dims`` holds for each argument.
        types: ``Input type`` of each argument.
        concrete: ``Concrete Inputs``, or None where the profiler recorded none.
        strides: ``Input Strides``, or None.
        _launches: see :attr:`launches`.
        _context: what a convolution's result went into, or the call around a gradient.
        extra: everything else that was recorded (a Triton kernel's own figures).
        memory: what was worked out already.
    """

    name: str
    dims: tuple[Any, ...]
    types: tuple[str, ...]
    concrete: tuple[Any, ...] | None = None
    strides: tuple[Any, ...] | None = None
    _launches: tuple[Launch, ...] = ()
    _context: OpCall | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    memory: _Memory = field(default_factory=_Memory, compare=False, repr=False)

    @classmethod
    def from_detail(
        cls,
        name: str,
        detail: Mapping[str, Any],
        launches: Sequence[Launch] = (),
        context: OpCall | None = None,
    ) -> OpCall:
        """Read a call from the arguments of an operator event, whatever shape they are in."""
        dims = _sequence(detail.get("Input Dims", detail.get("Input dims")))
        types = _sequence(detail.get("Input type"))
        concrete = detail.get("Concrete Inputs")
        strides = detail.get("Input Strides")
        return cls(
            name=name,
            dims=dims,
            types=tuple([item if isinstance(item, str) else "" for item in types]),
            concrete=_sequence(concrete) if isinstance(concrete, list | tuple) else None,
            strides=_sequence(strides) if isinstance(strides, list | tuple) else None,
            _launches=tuple(launches),
            _context=context,
            extra=detail,
        )

    def launching(self, launches: Sequence[Launch], context: OpCall | None = None) -> OpCall:
        """The same call with what it launched; what was read of its tensors is kept."""
        return OpCall(
            self.name, self.dims, self.types, self.concrete, self.strides, tuple(launches),
            context, self.extra, self.memory,
        )  # fmt: skip

    @property
    def launches(self) -> tuple[Launch, ...]:
        """The GPU kernels that the call launched, where known."""
        self.memory.looked = True
        return self._launches

    @property
    def context(self) -> OpCall | None:
        """The call that tells a size this one did not record, or None."""
        self.memory.looked = True
        return self._context

    @property
    def kernels(self) -> tuple[str, ...]:
        """Names of the kernels that the call launched, where known."""
        return tuple(launch.name for launch in self.launches)

    @property
    def arguments(self) -> int:
        """How many arguments were recorded."""
        return min(len(self.dims), len(self.types))

    @property
    def recorded(self) -> bool:
        """Whether shapes were recorded at all."""
        return self.arguments > 0

    @property
    def silence(self) -> str:
        """Why nothing is known of the arguments, where :attr:`recorded` is false."""
        return "element types are not recorded" if self.dims else "no shapes recorded"

    def tensor(self, index: int) -> Tensor | None:
        """The tensor at a position, or None where that argument is something else."""
        tensors = self.memory.tensors
        if tensors is None:
            tensors = self._read()
        return tensors[index] if 0 <= index < len(tensors) else None

    @property
    def shape_key(self) -> tuple[object, ...]:
        """Equal for calls whose recorded shapes are: something hashable for each argument."""
        if self.memory.tensors is None:
            self._read()
        return self.memory.shapes

    def _read(self) -> list[Tensor | None]:
        """Read all arguments, once for all copies of the call."""
        memory, types, strides = self.memory, self.types, self.strides
        shapes = [_shape(size) for size in self.dims]
        pairs = zip(self.dims, shapes, strict=True)
        memory.shapes = tuple([repr(size) if one is None else one for size, one in pairs])
        memory.unreadable = unpaired(self.dims, types)
        found: list[Tensor | None] = []
        for index, (spelling, shape) in enumerate(zip(types, shapes, strict=False)):
            tensor = None
            if shape is not None:
                dtype = dtype_of(spelling)
                if dtype is None:
                    if shape and spelling and not memory.strange:
                        memory.strange = spelling
                # Files of 2021 write numbers as "Int", "Bool", "Double".
                elif shape or not spelling[:1].isupper():
                    laid = self._strides(index, len(shape)) if strides is not None else None
                    tensor = Tensor(shape, dtype, laid)
            elif is_damaged(self.dims[index], spelling) and not memory.unreadable:
                memory.unreadable = f"the shape of argument {index} is not readable"
            found.append(tensor)
        memory.tensors = found
        return found

    def need(self, index: int) -> Tensor:
        """The tensor at a position.

        Raises:
            Unknown: the argument was not recorded as a tensor.
        """
        found = self.tensor(index)
        if found is None:
            if not self.recorded:
                raise Unknown(self.silence)
            if index < len(self.types) and self.types[index] and index < len(self.dims):
                raise Unknown(f"argument {index} is {self.types[index]!r:.40}, not a known tensor")
            raise Unknown("the operator does not list its tensors")
        return found

    def tensors(self, start: int = 0, stop: int | None = None) -> list[Tensor]:
        """All tensors among the arguments start to stop."""
        tensors = self.memory.tensors
        if tensors is None:
            tensors = self._read()
        if stop is None and not start:
            return [one for one in tensors if one is not None]
        return [one for one in tensors[start:stop] if one is not None]

    def strange(self) -> str:
        """The type of the first argument with a shape whose type nobody knows, or empty."""
        if self.memory.tensors is None:
            self._read()
        return self.memory.strange

    def unreadable(self) -> str:
        """Why what is recorded of some argument cannot be told; empty where all can."""
        if self.memory.tensors is None:
            self._read()
        return self.memory.unreadable

    def shapes(self, index: int) -> list[tuple[int, ...]] | None:
        """Shapes of a list of tensors, or None where the profiler did not print them."""
        if not 0 <= index < len(self.dims) or not isinstance(self.dims[index], list | tuple):
            return None
        shapes = [_shape(item) for item in self.dims[index]]
        if not shapes or any(shape is None for shape in shapes):
            return None
        if not any(isinstance(item, list | tuple) for item in self.dims[index]):
            return None
        return [shape for shape in shapes if shape is not None]

    def out(self, arity: int) -> Tensor | None:
        """The ``out`` tensor that follows the arity arguments of the functional schema.

        An ``out`` of size 0 is not resized yet and says nothing.
        """
        for index in range(self.arguments - 1, arity - 1, -1):
            found = self.tensor(index)
            if found is not None and found.count > 0:
                return found
        return None

    def text(self, index: int) -> str:
        """``Concrete Inputs`` at a position as text, empty where nothing was recorded."""
        if self.concrete is None or not 0 <= index < len(self.concrete):
            return ""
        value = self.concrete[index]
        return "" if value is None else str(value)

    def numbers(self, index: int) -> tuple[float, ...] | None:
        """The number or list of numbers at a position, or None."""
        text = self.text(index).strip()
        if not text or text[:1] not in "[(-+.0123456789":
            return None
        return tuple(float(match) for match in _NUMBER.findall(text[:4096]))

    def number(self, index: int) -> float | None:
        """The one number at a position, or None."""
        found = self.numbers(index)
        return found[0] if found is not None and len(found) == 1 else None

    def ints(self, index: int) -> tuple[int, ...] | None:
        """The list of integers at a position, or None."""
        found = self.numbers(index)
        if found is None or not all(math.isfinite(value) for value in found):
            return None
        return tuple(int(value) for value in found)

    def flag(self, index: int) -> bool | None:
        """The truth value at a position, or None."""
        return {"true": True, "1": True, "false": False, "0": False}.get(
            self.text(index).strip().lower()
        )

    def flags(self, index: int) -> tuple[bool, ...] | None:
        """The list of truth values at a position, or None."""
        words = re.findall(r"true|false", self.text(index).lower())
        return tuple(word == "true" for word in words) or None

    def _strides(self, index: int, rank: int) -> tuple[int, ...] | None:
        if self.strides is None or index >= len(self.strides):
            return None
        value = self.strides[index]
        if not isinstance(value, list | tuple) or len(value) != rank:
            return None
        if not all(isinstance(item, int) and not isinstance(item, bool) for item in value):
            return None
        return tuple(value)


def _sequence(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else ()


def _shape(value: Any) -> tuple[int, ...] | None:
    if not isinstance(value, list | tuple):
        return None
    if not value:
        return ()
    # Subclasses of int (truth values among them) are no sizes.
    if set(map(type, value)) != {int} or min(value) < 0 or max(value) > MAX_ELEMENTS:
        return None
    shape = tuple(value)
    return shape if len(shape) <= 64 and math.prod(shape) <= MAX_ELEMENTS else None


def broadcast(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Shape of a pointwise result, by NumPy's rule.

    Raises:
        Unknown: the shapes do not go together.
    """
    rank = max((len(shape) for shape in shapes), default=0)
    result = [1] * rank
    for shape in shapes:
        for offset, size in enumerate(reversed(shape), start=1):
            if size == 1:
                continue
            if result[-offset] not in (1, size):
                raise Unknown("the recorded shapes do not broadcast")
            result[-offset] = size
    return tuple(result)


class Calls:
    """The operator calls of a recording, each distinct one read once."""

    def __init__(self, strings: Sequence[str], detail: Callable[[int], Mapping[str, Any]]) -> None:
        """Take names by ``name_id`` and arguments by ``detail_id``."""
        self._strings = strings
        self._detail = detail
        self._read: dict[tuple[int, int], OpCall] = {}

    def of(self, name_id: int, detail_id: int) -> OpCall:
        """The call of that name and those arguments, without what it launched."""
        key = name_id, detail_id
        found = self._read.get(key)
        if found is None:
            found = OpCall.from_detail(self._strings[name_id], self._detail(detail_id))
            self._read[key] = found
        return found

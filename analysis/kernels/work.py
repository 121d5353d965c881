"""The work of one operator call: bytes it has to move and matrix flops it has to do.

Bytes are the compulsory traffic: every input read once, every output written once. An
operator without a model, or whose recording lacks what its model needs, has no figure and
a reason; nothing is guessed.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final

from whichlayer.analysis.kernels.calls import OpCall, Tensor, Unknown, broadcast
from whichlayer.analysis.plugins import load_plugin_models, report_model
from whichlayer.analysis.quick_values import quick

__all__ = ["OpCall", "Tensor", "Unknown", "Work", "broadcast", "has_model", "operator", "work_of"]

#: A larger figure is damaged input, and would not fit the columns.
_LARGEST: Final = 1 << 62


@quick
@dataclass(frozen=True, slots=True)
class Work:
    """What a call has to do.

    Attributes:
        bytes: compulsory traffic, or None.
        flops: matrix operations, multiply and add counted apart; None where the operator
            does none that count.
        precision: type of the operands of those flops (``fp32`` may run as TF32), or None.
        category: ``matmul``, ``convolution``, ``attention``, ``pointwise``, ``copy``,
            ``reduction``, ``norm``, ``softmax``, ``loss``, ``embedding``, ``pooling``,
            ``optimizer``, ``fill``, ``compiled``, ``sort`` or empty.
        bound: ``lower`` where every kernel that does this moves more than ``bytes``,
            ``upper`` where it may move less, else empty.
        least: of an upper bound, the bytes that are moved in any case.
        most: what may be moved where ``bytes`` counts only what must be; None where equal.
        strides: whether strides were recorded, so that an expanded input would show.
        dims: M, N, K of a product, channels out and in of a convolution; empty elsewhere.
        contiguous: sizes of the rows in memory that a matrix kernel loads and stores.
        casts: copies that change the type.
        reason: why a figure is missing, or what limits it.
    """

    bytes: int | None = None
    flops: int | None = None
    precision: str | None = None
    category: str = ""
    bound: str = ""
    least: int | None = None
    most: int | None = None
    strides: bool = True
    dims: tuple[int, ...] = ()
    contiguous: tuple[int, ...] = ()
    casts: bool = False
    reason: str = ""

    @property
    def known(self) -> bool:
        """Whether there is any figure."""
        return self.bytes is not None or self.flops is not None


Model = Callable[[OpCall], Work]

_MODELS: dict[str, Model] = {}
#: Operators whose models come with whichlayer; others are a plugin's, which may fail.
_SHIPPED: set[str] = set()


def operator(*names: str) -> Callable[[Model], Model]:
    """Register a model for the operators of these names (``aten::`` unless they have another).

    Raises:
        ValueError: a name has a model already.
    """

    def register(model: Model) -> Model:
        for name in names:
            full = name if "::" in name else f"aten::{name}"
            if full in _MODELS:
                raise ValueError(f"{full} has two models")
            _MODELS[full] = model
        return model

    return register


@cache
def _load_models() -> None:
    package = importlib.import_module("whichlayer.analysis.kernels.operators")
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda info: info.name):
        importlib.import_module(f"{package.__name__}.{info.name}")
    _SHIPPED.update(_MODELS)
    load_plugin_models()


def has_model(name: str) -> bool:
    """Whether some module knows this operator."""
    _load_models()
    return name in _MODELS


def work_of(call: OpCall) -> Work:
    """Bytes and flops of a call, or the reason why they are unknown."""
    _load_models()
    model = _MODELS.get(call.name)
    if model is None and call.extra.get("kernel_backend") == "triton":
        model = _MODELS["triton::"]
    if model is None:
        return Work(reason="no model of this operator")
    if not call.recorded:
        return Work(reason=call.silence)
    strange = call.strange()
    if strange:  # left out, it would count as a number
        return Work(reason=f"elements of type {strange!r:.40} have no known size")
    unreadable = call.unreadable()
    if unreadable:
        return Work(reason=unreadable)
    try:
        work = model(call)
    except Unknown as why:
        return Work(reason=str(why))
    except Exception as error:  # a stranger's code may fail in any way, ours must not
        if call.name in _SHIPPED:
            raise
        return Work(reason=report_model(call.name, error))
    if not isinstance(work, Work):
        return Work(reason=report_model(call.name, TypeError("it gave no Work")))
    if max(work.bytes or 0, work.flops or 0) > _LARGEST:
        return Work(reason="the recorded shapes are not credible")
    return work if call.strides is not None else _without_strides(work)


def work_alone(call: OpCall) -> tuple[Work, bool]:
    """Work of a call by its arguments, and whether nothing that it launched could change that.

    Worked out once for each call that was read.
    """
    memory = call.memory
    if memory.alone is None:
        memory.looked = False
        work = work_of(call)
        memory.alone = work, not memory.looked
    return memory.alone


def _without_strides(work: Work) -> Work:
    # Several times as fast as dataclasses.replace, and every call of older files comes here.
    return Work(
        work.bytes, work.flops, work.precision, work.category, work.bound, work.least, work.most,
        False, work.dims, work.contiguous, work.casts, work.reason,
    )  # fmt: skip

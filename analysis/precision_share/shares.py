"""Time of products by precision, and of casts between precisions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import numpy as np

from whichlayer.analysis.kernels.dtypes import FLOATS
from whichlayer.analysis.kernels.names import family
from whichlayer.analysis.precision_share.advice import Advice, advise
from whichlayer.analysis.precision_share.by_name import precision_by_name
from whichlayer.analysis.results import Analysis, KernelGroup
from whichlayer.analysis.vendor.inventory import is_kernel

UNKNOWN: Final = "unknown"
#: What multiplies matrices. A Triton kernel may: only a template is known to.
_PRODUCTS: Final = frozenset({"matmul", "convolution", "attention"})
_CASTS: Final = frozenset({"aten::copy_", "aten::_to_copy", "aten::to"})
_MUCH: Final = 0.01
_TYPE: Final = re.compile(r"(\w+)\[")
#: What to record where no types are.
RECORD_TYPES: Final = "record with torch.profiler.profile(record_shapes=True) to see operand types"


@dataclass(frozen=True, slots=True)
class PrecisionShare:
    """Products of one precision.

    Attributes:
        precision: ``fp32``, ``tf32``, ``bf16`` … or ``unknown``.
        time_ns: of their kernels in the window.
        share: of the time of all products.
        calls: kernels.
        by_name_ns: of ``time_ns``, known by the kernel's name alone.
        tensor_core_ns: on matrix units; the rest is not, or not known to be.
        operators: those with the most time.
    """

    precision: str
    time_ns: int
    share: float
    calls: int
    by_name_ns: int
    tensor_core_ns: int
    operators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Precisions:
    """All products of a window.

    Attributes:
        shares: by precision, most time first.
        product_ns: time of all products; 0 without any.
        busy_ns: time of everything that ran.
        cast_ns: time of copies between floating-point types; None where no types are recorded.
        casts: how many.
        advice: both halves of the fix, or None where there is nothing to change.
        record: what to record to know more, or empty.
    """

    shares: tuple[PrecisionShare, ...]
    product_ns: int
    busy_ns: int
    cast_ns: int | None
    casts: int
    advice: Advice | None
    record: str

    def share_of(self, precision: str) -> float:
        """Share of the products' time that ran in a precision."""
        return next((one.share for one in self.shares if one.precision == precision), 0.0)


def precision_shares(analysis: Analysis) -> Precisions:
    """Sum the groups of a window by precision."""
    groups = [g for g in analysis.kernels if _is_product(analysis, g)]
    product = sum(group.total_ns for group in groups)
    found: dict[str, list[KernelGroup]] = {}
    for group in groups:
        found.setdefault(_precision(group), []).append(group)
    shares = tuple(
        sorted(
            (_share(name, members, product) for name, members in found.items()),
            key=lambda one: (-one.time_ns, one.precision),
        )
    )
    casts = [group for group in analysis.kernels if is_cast(group)]
    typed = any(_TYPE.search(group.shapes) for group in analysis.kernels)
    unknown = next((one.share for one in shares if one.precision == UNKNOWN), 0.0)
    return Precisions(
        shares=shares,
        product_ns=product,
        busy_ns=sum(group.total_ns for group in analysis.kernels),
        cast_ns=sum(group.total_ns for group in casts) if typed else None,
        casts=sum(group.calls for group in casts),
        advice=advise(analysis, {one.precision: one.share for one in shares}),
        record=RECORD_TYPES if groups and (unknown >= _MUCH or not typed) else "",
    )


def is_cast(group: KernelGroup) -> bool:
    """Whether a group copies between floating-point types, by its operator's own arguments."""
    if group.operator not in _CASTS or not group.rows.size:
        return False
    types = _TYPE.findall(group.shapes)[:2]
    return len(set(types)) == 2 and set(types) <= set(FLOATS)


def _is_product(analysis: Analysis, group: KernelGroup) -> bool:
    if not is_kernel(analysis, group):
        return False
    if group.precision is not None or group.name.startswith("triton_tem_"):
        return family(group.name) in _PRODUCTS | {"compiled", "other"}
    return family(group.name) in _PRODUCTS


def _precision(group: KernelGroup) -> str:
    return group.precision or precision_by_name(group.name) or UNKNOWN


def _share(precision: str, members: list[KernelGroup], product: int) -> PrecisionShare:
    time = sum(group.total_ns for group in members)
    operators: dict[str, int] = {}
    for group in members:
        if group.operator:
            operators[group.operator] = operators.get(group.operator, 0) + group.total_ns
    named = sorted(operators, key=lambda name: (-operators[name], name))
    return PrecisionShare(
        precision=precision,
        time_ns=time,
        share=time / product if product else 0.0,
        calls=sum(group.calls for group in members),
        by_name_ns=int(np.sum([g.total_ns for g in members if g.precision is None], dtype=int)),
        tensor_core_ns=sum(group.total_ns for group in members if group.tensor_cores),
        operators=tuple(named[:3]),
    )

"""How much of the kernel time has known bytes and known flops, and what the rest lacks.

Kernel time is the device's own work in the window: collectives and copies to or from the host
are not in it. Bytes are asked of all of it, flops of the kernels that do any that count:
products, convolutions and attention, by what is known of them, else by their name.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.kernels.calls import OpCall
from whichlayer.analysis.kernels.names import family
from whichlayer.analysis.kernels.numbering import first_of, number_pairs
from whichlayer.analysis.kernels.work import has_model
from whichlayer.analysis.results import Analysis, KernelGroup, Role
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

#: Families of kernels whose flops count.
MATRIX_FAMILIES: Final = frozenset({"matmul", "convolution", "attention"})
#: Kernels that Inductor writes around a product.
_COMPILED_PRODUCT: Final = "triton_tem_"

#: Calls into compiled code, C++ autograd and engines: what they touch, or how much of it, is in
#: weights, caches and lengths that are no argument.
_OPAQUE: Final = re.compile(
    r"torch::autograd::CppNode<|CompiledFunction|Torch-Compiled Region|record_param_comms"
    r"|(?:vllm|sglang|sgl_kernel|aiter)::\w*(?:attention|moe|mha|paged|fmha)"
    r"|fbgemm::(?:(?:split|dense|ssd)_embedding|permute_(?:2D_|1D_)?sparse)"
)

NO_LAUNCH: Final = "no launch in the file"
NO_OPERATOR: Final = "no operator around its launch"
NO_SHAPES: Final = "no shapes recorded"
NO_MODEL: Final = "no model of this operator"
UNLISTED: Final = "the operator does not list its tensors"
NO_SIZE: Final = "the copy's size is not recorded"


@dataclass(frozen=True, slots=True)
class Missing:
    """Kernel time without a figure, for one reason.

    Attributes:
        reason: why, one of the texts of this module.
        bytes_ns: time of kernels without known bytes.
        flops_ns: time of kernels that have flops, without known ones.
        operators: those concerned, the one with the most time first.
    """

    reason: str
    bytes_ns: int
    flops_ns: int
    operators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Coverage:
    """Of how much kernel time bytes and flops are known.

    Attributes:
        kernel_ns: time of the device's own work in the window, each instant counted once.
        bytes_ns: of that, with known bytes.
        matrix_ns: of that, time of kernels that have flops at all.
        flops_ns: of ``matrix_ns``, with known flops.
        missing: why the rest is not known, the reason with the most time first.
    """

    kernel_ns: int
    bytes_ns: int
    matrix_ns: int
    flops_ns: int
    missing: tuple[Missing, ...]

    @property
    def bytes_share(self) -> float | None:
        """Share of kernel time with known bytes; None where no kernel ran."""
        return self.bytes_ns / self.kernel_ns if self.kernel_ns else None

    @property
    def flops_share(self) -> float | None:
        """Share of the time of kernels with flops of which they are known; None without any."""
        return self.flops_ns / self.matrix_ns if self.matrix_ns else None


def coverage_of(analysis: Analysis) -> Coverage:
    """The coverage of an analysis' window."""
    activities, groups = analysis.activities, analysis.kernels
    if not groups:
        return Coverage(0, 0, 0, 0, ())
    work = (activities.role == Role.COMPUTE) & (activities.group >= 0) & (activities.owned_ns > 0)
    matrix = np.array([has_flops(group) for group in groups], np.bool_)
    flops = np.array([group.flops is not None for group in groups], np.bool_)
    size = np.array([group.bytes is not None for group in groups], np.bool_)
    at = np.flatnonzero(work)
    group, time = activities.group[at], activities.owned_ns[at]
    no_bytes, no_flops = ~size[group], (matrix & ~flops)[group]
    lacking = no_bytes | no_flops
    return Coverage(
        int(time.sum()),
        int(time[~no_bytes].sum()),
        int(time[matrix[group]].sum()),
        int(time[flops[group]].sum()),
        _missing(analysis, at[lacking], no_bytes[lacking], no_flops[lacking]),
    )


def has_flops(group: KernelGroup) -> bool:
    """Whether a group does flops that count, known or not."""
    if group.flops is not None:
        return True
    named = family(group.name) in MATRIX_FAMILIES or group.name.startswith(_COMPILED_PRODUCT)
    # A kernel whose operator is known to do no products only sounds like one.
    return named and (group.bytes is None or not group.operator)


def _missing(
    analysis: Analysis,
    at: NDArray[np.intp],
    no_bytes: NDArray[np.bool_],
    no_flops: NDArray[np.bool_],
) -> tuple[Missing, ...]:
    """The reasons of activities without figures, each asked once for calls that are alike."""
    trace, activities = analysis.trace, analysis.activities
    row, operator = activities.row[at], activities.op_row[at].astype(np.int64)
    time = activities.owned_ns[at]
    alike = np.where(operator >= 0, trace.detail_id[np.maximum(operator, 0)], -1).astype(np.int64)
    names = np.where(operator >= 0, trace.name_id[np.maximum(operator, 0)], -1).astype(np.int64)
    kernel = trace.kind[row] == SliceKind.KERNEL
    state = (trace.launch[row] >= 0) * 2 + kernel
    inverse, count = number_pairs(names * 4 + state, alike)
    sums: dict[str, list[int]] = {}
    operators: dict[str, Counter[str]] = {}
    lost = np.zeros((2, count), np.int64)
    for place, lacks in enumerate((no_bytes, no_flops)):
        np.add.at(lost[place], inverse[lacks], time[lacks])
    first = first_of(inverse, count)
    for index, one in enumerate(first.tolist()):
        reason = _reason(trace, int(row[one]), int(operator[one]))
        total = sums.setdefault(reason, [0, 0])
        of_reason = operators.setdefault(reason, Counter())
        for place in range(2):
            total[place] += int(lost[place, index])
        if operator[one] >= 0:
            of_reason[trace.name(int(operator[one]))] += int(lost[:, index].max())
    found = [
        Missing(
            reason, total[0], total[1], tuple(name for name, _ in operators[reason].most_common())
        )
        for reason, total in sums.items()
    ]
    return tuple(sorted(found, key=lambda one: (-max(one.bytes_ns, one.flops_ns), one.reason)))


def _reason(trace: Trace, row: int, operator: int) -> str:
    """Why nothing is known of an activity."""
    if trace.kind[row] != SliceKind.KERNEL:
        return NO_SIZE
    if trace.producer == "nsight":
        return NO_SHAPES
    if operator < 0:
        return NO_LAUNCH if trace.launch[row] < 0 else NO_OPERATOR
    call = OpCall.from_detail(trace.name(operator), trace.detail(operator))
    if not call.recorded:
        return NO_SHAPES
    opaque = _OPAQUE.match(call.name) is not None
    return UNLISTED if opaque or has_model(call.name) else NO_MODEL

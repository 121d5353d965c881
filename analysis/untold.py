"""How much time may be of a layer or a rule although the recording does not tell: limits need it.

Idle time whose cause is unknown may be of any layer that a gap can have; where the launch waited in
the queue it was not the host that was late, and only other ranks can have been. A kernel that is not
judged may lose its time to a rule that kernels of its family can break; one that runs above the roof
loses none, and where at least half of the time of such kernels is judged the rest is taken to be alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.gaps.catalogue import cause_rules
from whichlayer.analysis.gaps.unrecorded import unattributed_fix
from whichlayer.analysis.kernels.names import family
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.memory.usage import RECORD_MEMORY
from whichlayer.analysis.results import Analysis, KernelGroup, Role
from whichlayer.analysis.settings import enabled
from whichlayer.analysis.trace.kinds import SliceKind

#: Of the time in which kernels run, so much has to be judged; the rest is then taken to be alike.
LEAST_JUDGED: Final = 0.5
#: What to record so that kernels are judged.
RECORD_KERNELS: Final = "record shapes, and name the GPU with --device-model"
_RECORD_OPERATORS: Final = "record with ProfilerActivity.CPU: it shows operators"
#: Causes of idle time before work that had been launched in time; all are of several ranks.
_OF_QUEUED: Final = ("exposed-comm", "p2p-exposed", "pipeline-bubble")
#: A launch that takes no longer is near what launching itself takes.
_SHORT_NS: Final = 12_000
_NARROW: Final = ("bf16", "fp16", "fp8", "int8", "fp4")
_AT_ROOF: Final = frozenset({"cache-resident", "above-roof", "broadcast"})
_OF_MEMORY: Final = ("memory-churn", "memory-near-limit")
_OF_OPERATORS: Final = (
    "conv-bias-before-bn", "constant-from-cpu", "data-parallel", "grad-zero-fill", "loop-indexing",
)  # fmt: skip
_PRODUCTS: Final = ("matmul", "convolution", "other")


def _of(*families: str) -> Callable[[KernelGroup], bool]:
    return lambda group: family(group.name) in families


def _wide(group: KernelGroup) -> bool:
    return group.precision not in _NARROW and _of(*_PRODUCTS, "attention")(group)


def _short(group: KernelGroup) -> bool:
    return group.median_ns <= _SHORT_NS


def _any(group: KernelGroup) -> bool:
    return True


#: Which kernels may lose time to a rule, by what their names tell.
_MAY_BREAK: Final[dict[str, tuple[Layer, Callable[[KernelGroup], bool]]]] = {
    "cast-churn": (Layer.PRECISION, _of("copy", "pointwise", "other")),
    "fp32-matmul": (Layer.PRECISION, _wide),
    "copy-storm": (Layer.PYTORCH, _of("copy", "other")),
    "unfused-attention": (Layer.PYTORCH, _of("matmul", "softmax", "other")),
    "unfused-elementwise": (Layer.RUNTIME, _of("pointwise", "norm", "other")),
    "kernel-selection": (Layer.BOUNDARY, _of(*_PRODUCTS)),
    "latency-bound": (Layer.BOUNDARY, _short),
    "layout-copy": (Layer.BOUNDARY, _of("layout", "copy", "other")),
    **{
        rule: (Layer.CUDA, _any)
        for rule in ("compute-bound-slow", "custom-kernel", "kernel-drift", "low-occupancy",
                     "memory-bound-slow", "small-grid", "wave-tail")
    },
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Untold:
    """Time of the window, over its devices, of which nothing tells that it is not so.

    Attributes:
        gap_ns: idle of unknown cause.
        kernel_ns: of kernels that are not judged.
        record: what would tell, of the larger first; empty where there is nothing.
    """

    gap_ns: int
    kernel_ns: int
    record: str

    @property
    def total_ns(self) -> int:
        """Both together."""
        return self.gap_ns + self.kernel_ns


def untold_of_layer(analysis: Analysis, layer: Layer) -> Untold:
    """What may be lost to a layer beyond what is known to be; nothing to what is no layer."""
    if layer in (Layer.NONE, Layer.UNKNOWN):
        return Untold(0, 0, "")
    causes = {rule.id for rule in cause_rules().values() if rule.layer == layer}
    broken = {rule for rule, (owner, _) in _MAY_BREAK.items() if owner == layer}
    return _untold(analysis, causes, broken)


def untold_of_rule(analysis: Analysis, rule: str) -> Untold:
    """What a rule may find beyond what it finds; nothing of rules that own no time."""
    cause = cause_rules().get(rule)
    owned = cause is not None and cause.layer not in (Layer.NONE, Layer.UNKNOWN)
    return _untold(analysis, {rule} if owned else set(), {rule} & set(_MAY_BREAK))


def untold_of_kernels(analysis: Analysis) -> Untold:
    """What any rule about kernels may find beyond what it finds."""
    return _untold(analysis, set(), set(_MAY_BREAK))


def needed(analysis: Analysis, rule: str) -> str:
    """What to record for a rule that found nothing because it had nothing to look at, or empty."""
    trace = analysis.trace
    if rule in _OF_MEMORY and not np.isfinite(trace.instants.value).any():
        return f"no memory events in this recording: {RECORD_MEMORY}"
    if rule in _OF_OPERATORS and not (trace.kind == SliceKind.CPU_OP).any():
        return f"no operators in this recording: {_RECORD_OPERATORS}"
    return ""


def _untold(analysis: Analysis, causes: set[str], broken: set[str]) -> Untold:
    options = analysis.options
    causes = {rule for rule in causes if enabled(options, rule)}
    broken = {rule for rule in broken if enabled(options, rule)}
    gap_ns, piece = _gaps(analysis, causes)
    kernel_ns, group = _kernels(analysis, broken)
    record = []
    if piece >= 0:
        record.append(unattributed_fix(analysis.trace, analysis.gaps, piece))
    if group is not None:
        record.append(_record_kernels(group))
    if kernel_ns > gap_ns:
        record.reverse()
    return Untold(gap_ns, kernel_ns, "; ".join(record))


def _gaps(analysis: Analysis, causes: set[str]) -> tuple[int, int]:
    """Idle time that may have one of these causes, and the longest piece of it, -1 for none."""
    gaps, trace = analysis.gaps, analysis.trace
    names = np.array([name == "unattributed" for name in gaps.rule_ids], np.bool_)
    if not causes or not len(gaps) or not names.any():
        return 0, -1
    unknown: NDArray[np.bool_] = names[gaps.cause]
    launched = gaps.launch_row >= 0
    queued = launched & (trace.end_ns[np.where(launched, gaps.launch_row, 0)] <= gaps.start_ns)
    ranks = bool((analysis.activities.role == Role.COMM).any())
    if not (ranks and causes & set(_OF_QUEUED)):
        unknown &= ~queued
    if not causes - set(_OF_QUEUED):
        unknown &= queued
    length = np.where(unknown, gaps.end_ns - gaps.start_ns, 0)
    return int(length.sum()), int(np.argmax(length)) if unknown.any() else -1


def _kernels(analysis: Analysis, broken: set[str]) -> tuple[int, KernelGroup | None]:
    """Time of unjudged kernels that may break one of these rules, and the group with most of it.

    Nothing where at least :data:`LEAST_JUDGED` of the kernels of that kind are judged.
    """
    done = analysis.activities
    mine = (done.role == Role.COMPUTE) & (done.group >= 0) & (done.owned_ns > 0)
    if not broken or not mine.any():
        return 0, None
    size, owned = len(analysis.kernels), np.where(mine, done.owned_ns, 0).astype(np.float64)
    group = np.maximum(done.group, 0)
    every = np.bincount(group, weights=owned, minlength=size)
    judged = np.bincount(group, weights=np.where(done.judged, owned, 0.0), minlength=size)
    if not any(family(one.name) == "softmax" for one in analysis.kernels):
        broken = broken - {"unfused-attention"}
    tests = [_MAY_BREAK[rule][1] for rule in sorted(broken)]
    for index, one in enumerate(analysis.kernels):
        if not _AT_ROOF.isdisjoint(one.flags) or not any(test(one) for test in tests):
            every[index] = judged[index] = 0.0
    missing = every - judged
    if judged.sum() >= LEAST_JUDGED * every.sum() or not missing.any():
        return 0, None
    return int(missing.sum()), analysis.kernels[int(np.argmax(missing))]


def _record_kernels(group: KernelGroup) -> str:
    """Why a group is not judged, and what would have told its bytes."""
    why = group.why.removeprefix("not judged: ")
    if group.shapes:
        return why
    return f"{why}: {RECORD_KERNELS}" if why else RECORD_KERNELS

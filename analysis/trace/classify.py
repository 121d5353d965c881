"""What kind of slice an event is, from its category and, in old files, its name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whichlayer.analysis.trace.columns import Bool
from whichlayer.analysis.trace.kinds import GPU_WORK, LaneKind, SliceKind

#: Categories by kind, of every producer seen; Kineto's are the names in its ActivityType.cpp.
_CATEGORIES: dict[SliceKind, tuple[str, ...]] = {
    SliceKind.CPU_OP: ("cpu_op", "Operator"),
    SliceKind.ANNOTATION: ("user_annotation",),
    SliceKind.PYTHON: ("python_function",),
    SliceKind.RUNTIME: (
        "cuda_runtime",
        "cuda_driver",
        "Runtime",
        "hip_runtime",
        "hip_driver",
        "hip_api",
        "xpu_runtime",
        "xpu_driver",
        "mtia_runtime",
        "glow_runtime",
        "privateuse1_runtime",
        "privateuse1_driver",
    ),
    SliceKind.KERNEL: ("kernel", "Kernel", "concurrent_kernel"),
    SliceKind.MEMCPY: ("gpu_memcpy", "Memcpy"),
    SliceKind.MEMSET: ("gpu_memset", "Memset"),
    SliceKind.GPU_ANNOTATION: ("gpu_user_annotation",),
    SliceKind.GPU_SYNC: ("cuda_sync", "xpu_sync"),
    SliceKind.OVERHEAD: ("overhead",),
    SliceKind.PROFILER: ("Trace",),
}

_KIND_OF = {name: kind for kind, names in _CATEGORIES.items() for name in names}

#: Beginnings of names that PyTorch gives to annotations; up to 2021 they had category Operator.
_ANNOTATION_NAMES = (
    "ProfilerStep#",
    "Optimizer.step#",
    "Optimizer.zero_grad#",
    "enumerate(DataLoader)#",
)

_LANE_KINDS = {
    SliceKind.CPU_OP: LaneKind.CPU_THREAD,
    SliceKind.ANNOTATION: LaneKind.CPU_THREAD,
    SliceKind.PYTHON: LaneKind.CPU_THREAD,
    SliceKind.RUNTIME: LaneKind.CPU_THREAD,
    SliceKind.GPU_ANNOTATION: LaneKind.GPU_ANNOTATION,
    SliceKind.GPU_SYNC: LaneKind.GPU_SYNC,
    SliceKind.OVERHEAD: LaneKind.OVERHEAD,
} | dict.fromkeys(GPU_WORK, LaneKind.GPU_STREAM)

#: Kinds whose lane is a stream of a device.
ON_GPU = frozenset({*GPU_WORK, SliceKind.GPU_ANNOTATION, SliceKind.GPU_SYNC})


def kind_of_category(category: str) -> SliceKind:
    """The kind of a slice of this category; OTHER for unknown ones."""
    return _KIND_OF.get(category, SliceKind.OTHER)


def lane_kind(kind: SliceKind) -> LaneKind:
    """The kind of lane that slices of a kind are drawn in."""
    return _LANE_KINDS.get(kind, LaneKind.OTHER)


def annotation_names(names: Sequence[str]) -> Bool:
    """Which names are annotations although their category says operator: bool (n,)."""
    return np.array([name.startswith(_ANNOTATION_NAMES) for name in names], bool)

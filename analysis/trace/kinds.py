"""Kinds of slices and lanes: what an event is, whoever recorded it."""

from __future__ import annotations

from enum import IntEnum


class SliceKind(IntEnum):
    """What a slice is; the value is its code in ``Trace.kind``."""

    CPU_OP = 0  # an operator: cat cpu_op, Operator
    ANNOTATION = 1  # record_function, ProfilerStep#N, Optimizer.step#…, enumerate(DataLoader)#…
    PYTHON = 2  # a Python frame or nn.Module
    RUNTIME = 3  # a call of the CUDA, HIP, XPU … runtime or driver
    KERNEL = 4
    MEMCPY = 5
    MEMSET = 6
    GPU_ANNOTATION = 7  # shares the GPU's lanes but is no work
    GPU_SYNC = 8  # cat cuda_sync: what a stream or the host waited for
    OVERHEAD = 9  # the profiler's own work, and lazy module loading
    PROFILER = 10  # cat Trace: the recording itself, as long as all of it
    OTHER = 11


#: Kinds that occupy a GPU.
GPU_WORK = (SliceKind.KERNEL, SliceKind.MEMCPY, SliceKind.MEMSET)


class LaneKind(IntEnum):
    """What a lane shows."""

    GPU_STREAM = 0
    GPU_ANNOTATION = 1
    GPU_SYNC = 2
    CPU_THREAD = 3
    OVERHEAD = 4
    OTHER = 5

"""Which runtime calls put kernels on a GPU."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.among import among
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

#: CUDA's runtime and driver, HIP, XPU and the like; cudaLaunchHostFunc launches no kernel.
_LAUNCH = re.compile(r"Launch\w*Kernel|KernelLaunch|GraphLaunch(?!\w*Kernel)|^cudaLaunch(_v\d+)?$")


def is_launch(name: str) -> bool:
    """Whether a call of that name launches kernels.

    >>> [is_launch(name) for name in ("cuLaunchKernelEx", "cudaLaunchHostFunc_v10000")]
    [True, False]
    """
    return _LAUNCH.search(name) is not None


def launch_rows(trace: Trace) -> NDArray[np.int32]:
    """The calls that launch kernels, by trace row."""
    return _calls(trace, is_launch)


def graph_launch_rows(trace: Trace) -> NDArray[np.int32]:
    """The calls that launch whole graphs, by trace row."""
    return _calls(trace, lambda name: is_launch(name) and "Graph" in name)


def _calls(trace: Trace, wanted: Callable[[str], bool]) -> NDArray[np.int32]:
    rows = np.flatnonzero((trace.kind == SliceKind.RUNTIME) & ~trace.stray)
    ids = [i for i in np.unique(trace.name_id[rows]).tolist() if wanted(trace.strings[i])]
    return rows[among(trace.name_id[rows], ids)].astype(np.int32)

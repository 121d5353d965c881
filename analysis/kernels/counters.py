"""The command that reads a kernel's hardware counters: what no recording of times can tell.

Divergence, bank conflicts, what warps wait for and how many bytes really moved need counters,
and those need the kernel to run again. The command names the kernel and which of its launches
to measure, counted from the beginning of the recording.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.kernels.names import function_name
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

Int64 = NDArray[np.int64]

#: A function's name, which a command line takes as it is.
_PLAIN: Final = re.compile(r"[A-Za-z_]\w{0,511}", re.ASCII)
_PROGRAM: Final = "python TRAIN.py"


class LaunchNumbers:
    """Which launch of its function each kernel of a recording is."""

    def __init__(self, trace: Trace, vendor: str) -> None:
        """Number all kernels; ``vendor`` decides by what name tools know them."""
        rows = np.flatnonzero((trace.kind == SliceKind.KERNEL) & ~trace.stray)
        self._vendor = vendor
        self._names: dict[int, str] = {}
        ids: dict[str, int] = {}
        of_name = np.zeros(len(trace.strings) + 1, np.int64)
        for name in np.unique(trace.name_id[rows]).tolist():
            base = function_name(trace.strings[name].removesuffix(".kd"))
            of_name[name] = ids.setdefault(base, len(ids))
            self._names[name] = base
        launch = trace.launch[rows]
        when = np.where(launch >= 0, trace.start_ns[np.maximum(launch, 0)], trace.start_ns[rows])
        function = of_name[trace.name_id[rows]]
        order = np.lexsort((rows, trace.start_ns[rows], when, function))
        first = np.searchsorted(function[order], np.arange(len(ids)))
        rank = np.empty(len(rows), np.int64)
        rank[order] = np.arange(len(rows)) - first[function[order]]
        self._rows, self._rank, self._trace = rows, rank, trace

    def command(self, row: int) -> str:
        """The command for one kernel; empty where its vendor has no tool that is known here."""
        at = int(np.searchsorted(self._rows, row))
        if at >= len(self._rows) or self._rows[at] != row:
            return ""
        name, number = self._names[int(self._trace.name_id[row])], int(self._rank[at])
        if not _PLAIN.fullmatch(name):
            return ""
        if self._vendor == "nvidia":
            return (
                f"ncu --set full --kernel-name {name} --launch-skip {number} "
                f"--launch-count 1 {_PROGRAM}"
            )
        if self._vendor == "amd":
            return f"rocprof-compute profile -n whichlayer -k {name} -- {_PROGRAM}"
        return ""

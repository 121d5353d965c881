"""The command that reads a kernel's hardware counters: what no recording of times can tell.

Divergence, bank conflicts, what warps wait for and how many bytes really moved need counters,
and those need the kernel to run again. The command names the kernel and which of its launches
to measure, counted from the beginning of the recording.

``ncu`` compares ``--kernel-name`` with the function's name without templates and parameters
(``--kernel-name-base function``, its default), as a whole, or anywhere in it after ``regex:``;
``--launch-skip`` counts the launches that match, on all devices (Nsight Compute CLI, filter options).
"""

from __future__ import annotations

import re
import shlex
from typing import Final

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.kernels.names import function_name
from whichlayer.analysis.kernels.numbering import number_keys
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

Int64 = NDArray[np.int64]

#: A function's name, which a command line takes as it is.
_PLAIN: Final = re.compile(r"[A-Za-z_]\w{0,511}", re.ASCII)
#: What a command line takes in quotes: no control characters, and nothing that begins as an option.
_QUOTABLE: Final = re.compile(r"[!-,.-~][ -~]{0,511}")
#: What means something in a regular expression, of ECMAScript as of POSIX.
_SPECIAL: Final = re.compile(r"[.\[\]{}()\\*+?|^$]")
_PROGRAM: Final = "python TRAIN.py"


def _escaped(found: re.Match[str]) -> str:
    return "\\" + found[0]


class LaunchNumbers:
    """Which launch of its function each kernel of a recording is."""

    def __init__(self, trace: Trace, vendor: str) -> None:
        """Take a recording; ``vendor`` decides by which tool."""
        self._trace = trace
        self._vendor = vendor
        rows = np.flatnonzero(trace.kind == SliceKind.KERNEL)
        ids: dict[str, int] = {}
        self._of_name = np.full(len(trace.strings) + 1, -1, np.int64)
        for name in number_keys(trace.name_id[rows])[1].tolist():
            base = function_name(trace.strings[name].removesuffix(".kd"))
            self._of_name[name] = ids.setdefault(base, len(ids))
        self._names = list(ids)
        function = self._of_name[trace.name_id[rows]]
        # Small numbers are sorted by radix, in linear time.
        small = function.astype(np.uint16) if len(ids) <= 1 << 16 else function
        self._rows = rows[np.argsort(small, kind="stable")]
        self._offsets = np.concatenate(([0], np.cumsum(np.bincount(function)))).tolist()
        self._ranked: dict[int, tuple[NDArray[np.intp], Int64]] = {}

    def command(self, row: int) -> str:
        """The command for one kernel; empty where its vendor has no tool that is known here."""
        function = int(self._of_name[self._trace.name_id[row]])
        name = self._names[function] if function >= 0 else ""
        plain = _PLAIN.fullmatch(name) is not None
        if self._vendor == "nvidia" and (plain or _QUOTABLE.fullmatch(name)):
            wanted = name if plain else shlex.quote(f"regex:^{_SPECIAL.sub(_escaped, name)}$")
            return (
                f"ncu --set full --kernel-name {wanted} "
                f"--launch-skip {self._number(function, row)} --launch-count 1 {_PROGRAM}"
            )
        if self._vendor == "amd" and plain:
            return f"rocprof-compute profile -n whichlayer -k {name} -- {_PROGRAM}"
        return ""

    def _number(self, function: int, row: int) -> int:
        """How many kernels of that function were launched before this one."""
        if function not in self._ranked:
            trace = self._trace
            rows = self._rows[self._offsets[function] : self._offsets[function + 1]]
            launch, start = trace.launch[rows], trace.start_ns[rows]
            when = np.where(launch >= 0, trace.start_ns[np.maximum(launch, 0)], start)
            rank = np.arange(len(rows))
            if (np.diff(when) <= 0).any():
                rank[np.lexsort((start, when))] = np.arange(len(rows))
            self._ranked[function] = rows, rank
        rows, rank = self._ranked[function]
        return int(rank[np.searchsorted(rows, row)])

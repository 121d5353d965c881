"""What torch.compile made of a window, all in one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.among import among
from whichlayer.analysis.compiled.breaks import RECORD_BREAKS, GraphBreak, break_list, unproven
from whichlayer.analysis.compiled.compiles import Compiles, compiles_of
from whichlayer.analysis.compiled.graphs import (
    CompiledRegion,
    compiled_rows,
    graph_of,
    host_spans,
    region_list,
    variants,
)
from whichlayer.analysis.compiled.triton import TritonKernel, triton_kernels
from whichlayer.analysis.findings.where import holds_stacks
from whichlayer.analysis.gaps.host import launching_lanes
from whichlayer.analysis.results import Analysis

NOT_USED: Final = "no compiled region and no kernel of Inductor's in the window"


@dataclass(frozen=True, slots=True)
class CompileReport:
    """Regions, breaks, compiles and kernels, and compiled time against eager.

    Attributes:
        used: anything compiled ran in the window.
        regions: by graph; envelopes, never added up.
        variants: regions that exist in several variants.
        breaks: proven ones by place.
        unproven: how often a region followed another without a proof of why.
        compiles: of the recording.
        kernels: those that Inductor wrote.
        triton_ns: their time in the window.
        compiled_ns, eager_ns: kernel time launched in compiled graphs, and elsewhere.
        unknown_ns: kernel time without a launch, or launched by a CUDA or HIP graph that
            no compiled graph launched.
        compiled_host_ns, eager_host_ns: time of the threads that launch, in compiled graphs and
            elsewhere in the window; None where the recording has no such thread.
        record: what to record to know more, or empty.
    """

    used: bool
    regions: tuple[CompiledRegion, ...]
    variants: tuple[str, ...]
    breaks: tuple[GraphBreak, ...]
    unproven: int
    compiles: Compiles
    kernels: tuple[TritonKernel, ...]
    triton_ns: int
    compiled_ns: int
    eager_ns: int
    unknown_ns: int
    compiled_host_ns: int | None
    eager_host_ns: int | None
    record: str

    @property
    def compiled_share(self) -> float | None:
        """Of the kernel time whose launch is known."""
        known = self.compiled_ns + self.eager_ns
        return self.compiled_ns / known if known else None


def compile_report(analysis: Analysis) -> CompileReport:
    """What torch.compile made of the window."""
    trace, activities = analysis.trace, analysis.activities
    launches = _launches(analysis)
    of_launch = graph_of(trace, launches)
    kernels = triton_kernels(analysis)
    owned = activities.owned_ns
    hidden = (launches < 0) | (_by_graph(analysis, launches) & (of_launch < 0))
    compiled = ~hidden & (of_launch >= 0)
    eager = ~hidden & (of_launch < 0)
    regions = region_list(analysis, of_launch)
    host = _host(analysis)
    loose = unproven(analysis)
    breaks = break_list(analysis)
    record = RECORD_BREAKS if loose and not breaks and not holds_stacks(trace) else ""
    return CompileReport(
        used=bool(regions or kernels),
        regions=regions,
        variants=variants(trace),
        breaks=breaks,
        unproven=loose,
        compiles=compiles_of(analysis),
        kernels=kernels,
        triton_ns=sum(kernel.time_ns for kernel in kernels),
        compiled_ns=int(owned[compiled].sum()),
        eager_ns=int(owned[eager].sum()),
        unknown_ns=int(owned[hidden].sum()),
        compiled_host_ns=None if host is None else host[0],
        eager_host_ns=None if host is None else host[1],
        record=record,
    )


def _launches(analysis: Analysis) -> NDArray[np.int64]:
    """The launch of each activity, -1 where the file holds none."""
    trace, rows = analysis.trace, analysis.activities.row
    return trace.launch[rows].astype(np.int64) if len(trace) else np.full(len(rows), -1, np.int64)


def _by_graph(analysis: Analysis, launches: NDArray[np.int64]) -> NDArray[np.bool_]:
    """What a CUDA or HIP graph launched: where it was captured is not told."""
    ids = [i for i, name in enumerate(analysis.trace.strings) if "GraphLaunch" in name[:40]]
    if not ids:
        return np.zeros(len(launches), np.bool_)
    named = among(analysis.trace.name_id[np.maximum(launches, 0)], ids)
    return named & (launches >= 0)


def _host(analysis: Analysis) -> tuple[int, int] | None:
    """Time in compiled graphs and outside of them, of the threads that launch work."""
    trace, window = analysis.trace, analysis.window
    lanes = launching_lanes(trace)
    if not lanes or not len(compiled_rows(trace)):
        return None
    spans = host_spans(trace, window)
    lanes = [lane for lane in lanes if lane in spans]
    if not lanes:
        return None
    inside = sum(spans[lane].total for lane in lanes)
    return inside, len(lanes) * (window.end_ns - window.start_ns) - inside

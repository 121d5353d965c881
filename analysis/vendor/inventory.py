"""What ties a program to one vendor: every library with its share of the busy time."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

import numpy as np

from whichlayer.analysis.among import among
from whichlayer.analysis.kernels.names import short_name
from whichlayer.analysis.results import Analysis, KernelGroup
from whichlayer.analysis.trace.kinds import SliceKind
from whichlayer.analysis.vendor.libraries import (
    COPIES,
    UNKNOWN,
    Library,
    extension,
    library_of,
)
from whichlayer.analysis.vendor.reach import Reach, reach_of

_GRAPH_LAUNCHES: Final = ("cudaGraphLaunch", "hipGraphLaunch", "cuGraphLaunch")
_EXAMPLES: Final = 3
#: What to record where nothing tells how a library was reached.
RECORD_OPERATORS: Final = (
    "no operator is recorded around those launches: record a few steps with ProfilerActivity.CPU, "
    "from before they begin and without CUDA graphs, to see what reaches these libraries"
)


class Tie(StrEnum):
    """Whether the work of a library can run on another vendor's GPU."""

    PORTABLE = "portable"  # its kernels exist there
    MODEL = "portable-model"  # PyTorch's operator picks another library there
    TIED = "tied"  # called directly, and for one vendor, or for two by their own builds
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class LibraryUse:
    """One library, reached in one way.

    Attributes:
        library: which.
        reach: through what.
        tie: what that means for another vendor's GPU.
        time_ns: of its kernels in the window, each instant counted once.
        share: of the busy time of the window.
        calls: kernels.
        kernels, operators: names of those with the most time.
    """

    library: Library
    reach: Reach
    tie: Tie
    time_ns: int
    share: float
    calls: int
    kernels: tuple[str, ...]
    operators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Inventory:
    """All libraries of a window, most time first.

    Attributes:
        uses: the libraries.
        busy_ns: what shares are of: kernels, copies and memsets in the window.
        portable_share, model_share, tied_share, unknown_share: by :class:`Tie`; of a busy
            time of 0 all are None.
        graph_launches: calls that launched a graph.
        graph_ns: time of the kernels that graphs launched.
        record: what to record to know more, or empty.
    """

    uses: tuple[LibraryUse, ...]
    busy_ns: int
    portable_share: float | None
    model_share: float | None
    tied_share: float | None
    unknown_share: float | None
    graph_launches: int
    graph_ns: int
    record: str


@dataclass(slots=True)
class _Sum:
    time_ns: int = 0
    calls: int = 0
    kernels: dict[str, int] = field(default_factory=dict)
    operators: dict[str, int] = field(default_factory=dict)


def vendor_inventory(analysis: Analysis) -> Inventory:
    """The libraries whose kernels ran in the window."""
    vendors = {device.vendor for device in analysis.devices if device.vendor}
    vendor = vendors.pop() if len(vendors) == 1 else ""
    sums: dict[tuple[Library, Reach], _Sum] = {}
    for group in analysis.kernels:
        library, reach = _source(analysis, group, vendor)
        one = sums.setdefault((library, reach), _Sum())
        one.time_ns += group.total_ns
        one.calls += group.calls
        _add(one.kernels, group.short_name or short_name(group.name), group.total_ns)
        _add(one.operators, group.operator, group.total_ns)
    busy = sum(one.time_ns for one in sums.values())
    uses = tuple(
        sorted(
            (_use(library, reach, one, busy) for (library, reach), one in sums.items()),
            key=lambda use: (-use.time_ns, use.library.name, use.reach),
        )
    )
    launches, graph_ns = _graphs(analysis)
    hidden = any(use.tie is Tie.UNKNOWN and not use.operators for use in uses)
    return Inventory(
        uses=uses,
        busy_ns=busy,
        portable_share=_share(uses, busy, Tie.PORTABLE),
        model_share=_share(uses, busy, Tie.MODEL),
        tied_share=_share(uses, busy, Tie.TIED),
        unknown_share=_share(uses, busy, Tie.UNKNOWN),
        graph_launches=launches,
        graph_ns=graph_ns,
        record=RECORD_OPERATORS if hidden else "",
    )


def tie_of(library: Library, reach: Reach) -> Tie:
    """What a library means for another vendor's GPU.

    Some that run on two vendors' GPUs (FlashAttention, vLLM) do so by builds of their own: they
    are ties all the same where they are called directly.
    """
    if library is UNKNOWN:
        return Tie.MODEL if reach is Reach.OPERATOR else Tie.UNKNOWN
    if library.portable:
        return Tie.PORTABLE
    if not library.model_level:
        return Tie.TIED
    if reach in (Reach.OPERATOR, Reach.COMPILER):
        return Tie.MODEL
    return Tie.TIED if reach is Reach.DIRECT else Tie.UNKNOWN


def _source(analysis: Analysis, group: KernelGroup, vendor: str) -> tuple[Library, Reach]:
    if not is_kernel(analysis, group):
        return COPIES, Reach.OPERATOR
    library, reach = library_of(group.name, vendor), reach_of(group.operator, group.name)
    if library is UNKNOWN and reach is Reach.DIRECT:
        library = extension(group.operator, vendor)
    return library, reach


def is_kernel(analysis: Analysis, group: KernelGroup) -> bool:
    """Whether a group is of kernels, not of copies and fills by the runtime."""
    rows = group.rows[:1]
    return not (rows < len(analysis.trace)).any() or bool(
        analysis.trace.kind[rows[0]] == SliceKind.KERNEL
    )


def _use(library: Library, reach: Reach, one: _Sum, busy: int) -> LibraryUse:
    return LibraryUse(
        library=library,
        reach=reach,
        tie=tie_of(library, reach),
        time_ns=one.time_ns,
        share=one.time_ns / busy if busy else 0.0,
        calls=one.calls,
        kernels=_most(one.kernels),
        operators=_most(one.operators),
    )


def _add(into: dict[str, int], name: str, ns: int) -> None:
    if name:
        into[name] = into.get(name, 0) + ns


def _most(names: dict[str, int]) -> tuple[str, ...]:
    return tuple(sorted(names, key=lambda name: (-names[name], name))[:_EXAMPLES])


def _share(uses: tuple[LibraryUse, ...], busy: int, tie: Tie) -> float | None:
    return sum(use.time_ns for use in uses if use.tie is tie) / busy if busy else None


def _graphs(analysis: Analysis) -> tuple[int, int]:
    """Graph launches whose kernels ran in the window, and the time of those kernels."""
    trace, activities = analysis.trace, analysis.activities
    ids = [i for i, name in enumerate(trace.strings) if name.startswith(_GRAPH_LAUNCHES)]
    if not ids:
        return 0, 0
    launch = trace.launch[activities.row]
    inside = (launch >= 0) & (activities.owned_ns > 0)
    if not inside.any():
        return 0, 0
    inside &= among(trace.name_id[np.maximum(launch, 0)], ids)
    return len(np.unique(launch[inside])), int(activities.owned_ns[inside].sum())

"""What a recording holds, judged by what is in the file: settings alone are often absent."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import GPU_WORK, SliceKind

_SHAPE_KEYS = frozenset({"Input Dims", "Input dims"})
_STACK_KEYS = frozenset({"Call stack"})


@dataclass(frozen=True, slots=True)
class Recorded:
    """Which kinds of information a trace holds.

    Attributes:
        gpu: kernels, copies or memsets.
        launches: runtime or driver calls.
        operators: CPU operators.
        steps: ``ProfilerStep#N`` annotations.
        shapes: the operators' input shapes.
        stacks: Python frames, or call stacks of operators.
        modules: ``nn.Module`` frames.
        flows: arrows between events.
        memory: allocator events.
        counters: counter tracks.
    """

    gpu: bool
    launches: bool
    operators: bool
    steps: bool
    shapes: bool
    stacks: bool
    modules: bool
    flows: bool
    memory: bool
    counters: bool

    def as_dict(self) -> dict[str, bool]:
        """The same, by name."""
        return {item.name: getattr(self, item.name) for item in fields(self)}


def find_recorded(trace: Trace) -> Recorded:
    """Look through the columns of a trace for each kind of information."""
    held = {int(kind) for kind in np.unique(trace.kind)}
    frames = trace.part is not None and trace.part.frames
    return Recorded(
        gpu=any(kind in held for kind in GPU_WORK),
        launches=SliceKind.RUNTIME in held,
        operators=SliceKind.CPU_OP in held,
        steps=bool(trace.steps),
        shapes=_holds(trace, _SHAPE_KEYS),
        stacks=SliceKind.PYTHON in held or frames or _holds(trace, _STACK_KEYS),
        modules=_holds_modules(trace),
        flows=len(trace.flows.id) > 0,
        memory=bool(np.isfinite(trace.instants.value).any()),
        counters=len(trace.counters.time_ns) > 0,
    )


def _holds(trace: Trace, keys: frozenset[str]) -> bool:
    """Whether any operator has a value under one of these keys."""
    details = trace.detail_id[trace.kind == SliceKind.CPU_OP]
    return any(
        bool(detail.get(key))
        for detail in (trace.detail_by_id(int(detail_id)) for detail_id in np.unique(details))
        for key in keys
    )


def _holds_modules(trace: Trace) -> bool:
    names = np.unique(trace.name_id[trace.kind == SliceKind.PYTHON])
    return any(trace.strings[int(name_id)].startswith("nn.Module:") for name_id in names)

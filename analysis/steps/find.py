"""The steps of a recording: those that annotations mark, else those that can be inferred."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from whichlayer.analysis.steps.from_launches import by_period
from whichlayer.analysis.steps.from_marks import by_marks
from whichlayer.analysis.steps.model import StepSet
from whichlayer.analysis.trace.columns import StepSource, Trace
from whichlayer.analysis.trace.steps import engine_steps

#: What to record where nothing marks the steps.
RECORD = "call prof.step() after every step, so that steps are marked"

_HOW = {
    StepSource.PROFILER: "ProfilerStep annotations",
    StepSource.GPU_ANNOTATION: "ProfilerStep annotations on the GPU",
    StepSource.VLLM: "annotations of the serving engine",
    StepSource.SGLANG: "annotations of the serving engine",
}

_known: WeakKeyDictionary[Trace, StepSet] = WeakKeyDictionary()


def steps_of(trace: Trace) -> StepSet:
    """The steps of a recording; only those of ``Trace.steps`` decide the default window."""
    found = _known.get(trace)
    if found is None:
        found = _known[trace] = _find(trace)
    return found


def _find(trace: Trace) -> StepSet:
    if trace.steps:
        source = trace.steps[0].source
        return StepSet(trace.steps, source, _HOW[source])
    if engine := engine_steps(trace):
        source = engine[0].source
        return StepSet(engine, source, _HOW[source])
    inferred = by_marks(trace) or by_period(trace)
    if inferred is None:
        return StepSet((), None, "nothing marks steps, and nothing is shown to repeat", RECORD)
    return StepSet(inferred.steps, StepSource.INFERRED, inferred.how, RECORD)

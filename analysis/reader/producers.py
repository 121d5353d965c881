"""Which program wrote a Chrome trace, and why its timeline is shown but not judged.

The categories of Kineto prove what ran on a GPU and what launched it. Other programs' traces
look alike and do not: their device lanes may hold kernels, the operations around them and
whole steps side by side, so a sum over them would be no busy time. They are shown as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from whichlayer.analysis.errors import TraceWarning
from whichlayer.analysis.trace.kinds import GPU_WORK, SliceKind
from whichlayer.analysis.trace.lanes import Naming

_KINETO_KEYS: Final = frozenset({"schemaVersion", "deviceProperties", "baseTimeNanoseconds"})
_KINETO_KINDS: Final = frozenset(
    {SliceKind.CPU_OP, SliceKind.RUNTIME, SliceKind.KERNEL, SliceKind.PROFILER}
)
_ONNX: Final = frozenset({"Session", "Node", "Kernel", "Api"})
_ASCEND: Final = frozenset(
    {"Ascend Hardware", "CANN", "HCCL", "Overlap Analysis", "AI Core Freq", "Communication"}
)
_ROCPROF_THREAD: Final = re.compile(r"Hip \d+\Z")
_XLA_PROCESS: Final = re.compile(r"/(device|host):\w+:?")


@dataclass(frozen=True, slots=True)
class Traits:
    """What tells producers apart.

    Attributes:
        header: the top-level keys of the file.
        kinds: the kinds of its slices.
        categories: the categories of its events, without the empty one.
        naming: names of processes and threads.
    """

    header: Mapping[str, Any]
    kinds: Collection[SliceKind]
    categories: Collection[str]
    naming: Naming


@dataclass(frozen=True, slots=True)
class Producer:
    """A program that writes traces.

    Attributes:
        name: as in ``Trace.producer``.
        wrote: whether it wrote a trace of these traits.
        why: why there is no GPU verdict where no slice is known GPU work; empty where the
            gates of quality know better.
    """

    name: str
    wrote: Callable[[Traits], bool]
    why: str


def _is_onnx(traits: Traits) -> bool:
    return "Session" in traits.categories and set(traits.categories) <= _ONNX


def _is_ascend(traits: Traits) -> bool:
    naming = traits.naming
    named = bool(_ASCEND & {name.strip() for name in naming.processes.values()})
    return named or "NPU" in naming.labels.values()


def _is_xla(traits: Traits) -> bool:
    metadata = traits.header.get("metadata")
    if isinstance(metadata, Mapping) and metadata.get("highres-ticks") is True:
        return True
    return any(_XLA_PROCESS.match(name) for name in traits.naming.processes.values())


def _is_rocprof(traits: Traits) -> bool:
    threads = traits.naming.threads.values()
    return "api_op" in traits.categories or any(_ROCPROF_THREAD.match(name) for name in threads)


def _is_kineto(traits: Traits) -> bool:
    return bool(_KINETO_KEYS & traits.header.keys() or _KINETO_KINDS & set(traits.kinds))


def _is_mtia(traits: Traits) -> bool:
    return _is_kineto(traits) and any(name.startswith("mtia_") for name in traits.categories)


#: In the order in which they are asked; the last is whoever remains.
_PRODUCERS: Final = (
    Producer(
        "onnxruntime",
        _is_onnx,
        "an ONNX Runtime profile without kernels: its *_kernel_time spans are the host's",
    ),
    Producer(
        "ascend",
        _is_ascend,
        "an Ascend trace: NPU lanes are shown and not judged, for the layers here are a GPU's",
    ),
    Producer(
        "xla",
        _is_xla,
        "an XLA trace (JAX, TensorFlow): device lanes are shown and not judged, for it tells "
        "neither kernels from the operations around them nor what launched them",
    ),
    Producer(
        "rocprof",
        _is_rocprof,
        "a rocprof trace: queues are shown and not judged, for no category tells their kernels",
    ),
    Producer(
        "pytorch",
        _is_mtia,
        "a trace of MTIA: its lanes are shown and not judged, for Kineto records no kernels there",
    ),
    Producer("pytorch", _is_kineto, ""),
    Producer(
        "chrome",
        lambda _: True,
        "no category of this trace (such as kernel or gpu_memcpy) tells GPU work: the timeline "
        "is shown and not judged",
    ),
)


def tell_producer(traits: Traits) -> Producer:
    """Who wrote a trace of these traits."""
    return next(producer for producer in _PRODUCERS if producer.wrote(traits))


def verdict_warnings(producer: Producer, kinds: Collection[SliceKind]) -> list[TraceWarning]:
    """Why there will be no GPU verdict, where the producer alone tells."""
    if not producer.why or any(kind in GPU_WORK for kind in kinds):
        return []
    return [TraceWarning("Q1", f"no GPU verdict: {producer.why}")]

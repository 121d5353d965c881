"""The operator calls of one occurrence of a chain: their bytes, and what one hands to the next."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.kernels.calls import Calls, Launch, Tensor
from whichlayer.analysis.kernels.names import family
from whichlayer.analysis.kernels.work import Work, work_of
from whichlayer.analysis.results import Analysis

Int64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Part:
    """One operator call of a chain, or a kernel whose operator is not known.

    Attributes:
        operator: its name, or empty.
        kernels: names of its kernels.
        work: its bytes and flops.
        tensors: those that were recorded.
        result: shape and element size of what it makes, None where that is not known.
    """

    operator: str
    kernels: tuple[str, ...]
    work: Work
    tensors: tuple[Tensor, ...]
    result: tuple[tuple[int, ...], int] | None

    @property
    def triton(self) -> bool:
        """Whether torch.compile wrote it."""
        return self.kernels[0].startswith("triton_")

    @property
    def family(self) -> str:
        """The kind of work that its first telling kernel does."""
        told = (family(name) for name in self.kernels)
        return next((word for word in told if word != "other"), "other")


class Parts:
    """The operator calls of an analysis's chains; equal ones are worked out once."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._calls = Calls(analysis.trace.strings, analysis.trace.detail_by_id)
        self._known: dict[tuple[int, ...], Part] = {}

    def of(self, members: Int64) -> tuple[Part, ...]:
        """The operator calls of some kernels in order; kernels of one call are one part."""
        trace, acts = self._analysis.trace, self._analysis.activities
        if not len(members):
            return ()
        rows, operators = acts.row[members], acts.op_row[members]
        edges = [0, *(np.flatnonzero(operators[1:] != operators[:-1]) + 1).tolist(), len(members)]
        names, details = trace.name_id[rows].tolist(), trace.detail_id[rows].tolist()
        calls = operators[edges[:-1]]
        whose = zip(
            (calls >= 0).tolist(), trace.name_id[calls].tolist(), trace.detail_id[calls].tolist(),
            strict=True,
        )  # fmt: skip
        found = []
        for (low, high), (known, *call) in zip(pairwise(edges), whose, strict=True):
            if not known:
                own = (trace.strings[name] for name in names[low:high])
                found += [Part("", (name,), _NOTHING, (), None) for name in own]
                continue
            key = (*call, *names[low:high], *details[low:high])
            if key not in self._known:
                self._known[key] = self._part(call, names[low:high], details[low:high])
            found.append(self._known[key])
        return tuple(found)

    def _part(self, operator: list[int], names: list[int], details: list[int]) -> Part:
        """A call and its kernels, each by the numbers of its name and its arguments."""
        trace = self._analysis.trace
        launches = [
            Launch.from_detail(trace.strings[name], trace.detail_by_id(detail))
            for name, detail in zip(names, details, strict=True)
        ]
        call = self._calls.of(*operator).launching(launches)
        work = work_of(call)
        tensors = tuple(tensor for tensor in call.tensors() if tensor.shape)
        kernels = tuple(launch.name for launch in launches)
        return Part(call.name, kernels, work, tensors, _result(work, tensors))


def handed(giver: Part, taker: Part) -> int:
    """Bytes that one call hands to the next by their shapes, 0 where nothing shows it.

    Views keep the elements, so their number and size decide.
    """
    best = 0
    made = [giver.result] if giver.result is not None else []
    if giver.triton:
        made = [(tensor.shape, tensor.item_bytes) for tensor in giver.tensors]
    for shape, item in made:
        count = math.prod(shape)
        if any(one.count == count and one.item_bytes == item for one in taker.tensors):
            best = max(best, count * item)
    return best


def reads_product(taker: Part, product: Part) -> bool:
    """Whether a call has a tensor of exactly the shape and type that a product makes."""
    if product.result is None:
        return False
    shape, item = product.result
    return any(one.shape == shape and one.item_bytes == item for one in taker.tensors)


_NOTHING = Work(reason="no operator around its launch")


def _result(work: Work, tensors: tuple[Tensor, ...]) -> tuple[tuple[int, ...], int] | None:
    if not tensors:
        return None
    if work.category == "matmul" and len(work.dims) == 3:
        m, n, _ = work.dims
        batch = tensors[-1].shape[:1] if len(tensors[-1].shape) == 3 else ()
        return (*batch, m, n), tensors[-1].item_bytes
    if work.category in ("pointwise", "copy", "norm", "softmax"):
        largest = max(tensors, key=lambda tensor: tensor.count)
        return largest.shape, largest.item_bytes
    return None

"""Operators that only write: fills, random numbers, ranges."""

from __future__ import annotations

import math

from whichlayer.analysis.kernels.calls import OpCall, Tensor, Unknown
from whichlayer.analysis.kernels.work import Work, operator


@operator("fill_", "zero_", "fill", "full_like", "ones_like", "zeros_like")
def fill(call: OpCall) -> Work:
    """Self is written, never read."""
    return Work(bytes=call.need(0).bytes, category="fill")


@operator("normal_", "uniform_", "random_", "exponential_", "log_normal_", "cauchy_", "geometric_")
def random_fill(call: OpCall) -> Work:
    """Self is written."""
    return Work(bytes=call.need(0).bytes, category="fill")


@operator("bernoulli_", "bernoulli")
def bernoulli(call: OpCall) -> Work:
    """Self is written; probabilities given as a tensor are read."""
    x, p = call.need(0), call.tensor(1)
    read = p.bytes if p is not None and p.shape else 0
    if not call.name.endswith("_"):
        read += x.bytes
    return Work(bytes=x.bytes + read, category="fill")


@operator("arange", "range")
def arange(call: OpCall) -> Work:
    """[start,] end, [step,] out: the out tensor has size 0 before the call."""
    numbers = [call.number(index) for index in range(3)]
    given = [value for value in numbers if value is not None]
    tensors = call.tensors()
    if not given or not tensors:
        raise Unknown("the range's bounds or type are not recorded")
    start, end, step = 0.0, given[0], 1.0
    if len(given) >= 2:
        start, end = given[0], given[1]
    if len(given) == 3:
        step = given[2]
    if step == 0 or not all(math.isfinite(value) for value in (start, end, step)):
        raise Unknown("the range's bounds are not credible")
    count = max(0, math.ceil((end - start) / step))
    return Work(bytes=Tensor((count,), tensors[-1].dtype).bytes, category="fill")


@operator("eye", "linspace", "logspace", "randperm")
def sized_by_out(call: OpCall) -> Work:
    """Only the out tensor tells the size."""
    tensors = [tensor for tensor in call.tensors() if tensor.count > 0]
    if not tensors:
        raise Unknown("the result's size is not recorded")
    return Work(bytes=tensors[-1].bytes, category="fill")

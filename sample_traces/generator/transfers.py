"""Copies between host and device, and the calls that wait for them."""

from __future__ import annotations

from sample_traces.generator.eager import Eager
from sample_traces.generator.machine import DEFAULT_STREAM
from sample_traces.generator.records import Activity, Call
from sample_traces.generator.tensors import Tensor


def to_device(
    rt: Eager, x: Tensor, pinned: bool, stream: int = DEFAULT_STREAM, planted: bool = False
) -> Activity:
    """``x.to("cuda")``; from pinned memory with ``non_blocking=True``.

    From pageable memory the copy blocks the caller, and ``copy_`` synchronises after it.
    """
    arguments = (x, None, None, "cuda:0", None, pinned, False, None)
    with (
        rt.op("aten::to", *arguments, pre=2.0, post=0.8),
        rt.op("aten::_to_copy", *arguments[:-2], None, pre=3.0, post=1.0),
    ):
        with rt.op(
            "aten::empty_strided",
            list(x.shape),
            list(x.strides),
            x.dtype.number,
            0,
            "cuda:0",
            None,
            pre=4.0,
            post=1.0,
        ):
            pass
        with rt.op("aten::copy_", x, x, pinned, pre=5.0, post=1.4):
            if pinned:
                activity = rt.thread.copy(x.bytes, "HtoD pinned", stream, planted)
                rt.thread.call("cudaEventRecord", 1.1)
            else:
                activity = rt.thread.copy(x.bytes, "HtoD pageable", stream, planted)
                rt.thread.synchronize("cudaStreamSynchronize", rt.machine.stream_end(stream))
    return activity


def item(rt: Eager, x: Tensor, staging: str = "pageable") -> list[Call]:
    """``x.item()``: a copy of one element that waits for all earlier work of the stream.

    ``staging`` is where torch puts the element: pageable memory until 2.5, pinned memory later.
    Returns the two calls, of which the first (pageable) or the second (pinned) waits.
    """
    with (
        rt.op("aten::item", x, pre=2.0, post=0.8),
        rt.op("aten::_local_scalar_dense", x, pre=2.6, post=1.0),
    ):
        copy = rt.thread.copy(x.dtype.size, f"DtoH {staging}")
        wait = rt.thread.synchronize("cudaStreamSynchronize", rt.machine.stream_end())
    return [copy.call, wait]

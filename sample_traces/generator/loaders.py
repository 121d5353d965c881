"""``DataLoader`` as the main thread sees it: with the work in-process or in worker processes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from sample_traces.generator.eager import Eager
from sample_traces.generator.optimisers import annotation
from sample_traces.generator.records import OpEvent
from sample_traces.generator.tensors import Tensor, tensor

_DATALOADER = "torch/utils/data/dataloader.py"
_FETCH = "torch/utils/data/_utils/fetch.py"
_COLLATE = "torch/utils/data/_utils/collate.py"


def _next_frames(rt: Eager, iterator: str) -> ExitStack:
    stack = ExitStack()
    stack.enter_context(rt.thread.frame(f"{_DATALOADER}(701): __next__", pre=2.0))
    stack.enter_context(annotation(rt, f"enumerate(DataLoader)#{iterator}.__next__"))
    return stack


def next_in_process(rt: Eager, batch: int, sample: Callable[[], Tensor], label: Tensor) -> OpEvent:
    """A batch with ``num_workers=0``: every sample is made, and pinned, on the calling thread.

    Returns the annotation of the call.
    """
    thread = rt.thread
    with _next_frames(rt, "_SingleProcessDataLoaderIter"):
        call = thread.open_ops[-1]
        with (
            thread.frame(f"{_DATALOADER}(757): _next_data", pre=2.0),
            thread.frame(f"{_FETCH}(28): fetch", pre=1.0),
        ):
            with thread.frame(f"{_FETCH}(50): <listcomp>"):
                for _ in range(batch):
                    image = sample()
            images = _collate(rt, [image] * batch, label)
        with thread.frame("torch/utils/data/_utils/pin_memory.py(63): pin_memory", pre=2.0):
            _pin(rt, images)
            _pin(rt, label)
    return call


def _collate(rt: Eager, images: list[Tensor], label: Tensor) -> Tensor:
    thread = rt.thread
    out = tensor((len(images), *images[0].shape), images[0].dtype)
    with (
        thread.frame(f"{_COLLATE}(252): default_collate", pre=1.5),
        thread.frame(f"{_COLLATE}(117): collate", pre=3.0),
    ):
        with (
            thread.frame(f"{_COLLATE}(148): collate_tensor_fn", pre=2.0),
            thread.frame("<built-in method stack of type object at 0x7f2a60d5dfe0>"),
            rt.op("aten::stack", images, 0, pre=20.0, post=1.0),
            rt.op("aten::cat", images, 0, pre=8.0, post=1.0),
        ):
            thread.spend(out.bytes / 9_000)  # a host copy at 9 GB/s
        with (
            thread.frame(f"{_COLLATE}(148): collate_tensor_fn", pre=2.0),
            thread.frame("<built-in method tensor of type object at 0x7f2a60d5dfe0>"),
        ):
            thread.spend(14.0)
            with rt.op("aten::lift_fresh", label, pre=0.8):
                pass
    return out


def _pin(rt: Eager, x: Tensor) -> None:
    """``x.pin_memory()``, into memory that the host allocator had cached."""
    with (
        rt.op("aten::pin_memory", x, None, pre=3.0),
        rt.op("aten::_pin_memory", x, None, pre=3.0),
        rt.op("aten::copy_", x, x, False, pre=2.0),
    ):
        rt.thread.spend(x.bytes / 9_000)


def next_from_workers(rt: Eager, wait: float, pinned: bool) -> OpEvent:
    """A batch with worker processes, after waiting ``wait`` microseconds for it.

    Returns the annotation of the call.
    """
    thread = rt.thread
    with _next_frames(rt, "_MultiProcessingDataLoaderIter"):
        call = thread.open_ops[-1]
        with thread.frame(f"{_DATALOADER}(1456): _next_data", pre=3.0):
            with thread.frame(f"{_DATALOADER}(1410): _get_data", pre=1.0):
                if pinned:
                    with (
                        thread.frame(f"{_DATALOADER}(1251): _try_get_data", pre=1.0),
                        thread.frame("queue.py(154): get", pre=2.0),
                        thread.frame("threading.py(288): wait", pre=2.0),
                        thread.frame("<built-in method acquire of _thread.lock object at 0x7f2a>"),
                    ):
                        thread.spend(wait)
                else:
                    with (
                        thread.frame(f"{_DATALOADER}(1251): _try_get_data", pre=1.0),
                        thread.frame("multiprocessing/queues.py(98): get", pre=2.0),
                        thread.frame("multiprocessing/connection.py(246): recv_bytes", pre=2.0),
                        thread.frame("<built-in function read>"),
                    ):
                        thread.spend(wait)
            with (
                thread.frame(f"{_DATALOADER}(1527): _process_data", pre=2.0),
                thread.frame(f"{_DATALOADER}(1501): _try_put_index", pre=12.0),
            ):
                pass
    return call

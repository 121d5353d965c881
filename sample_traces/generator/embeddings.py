"""Embedding tables."""

from __future__ import annotations

from sample_traces.generator.eager import Eager
from sample_traces.generator.kernels import Kernel
from sample_traces.generator.pointwise import empty, fill_
from sample_traces.generator.records import Work
from sample_traces.generator.tensors import Tensor, tensor
from sample_traces.generator.views import reshape, view


def embedding(rt: Eager, table: Tensor, indices: Tensor) -> Tensor:
    """``F.embedding`` and the gradient of its table."""
    rows, width = indices.count, table.shape[1]
    out = tensor((*indices.shape, width), table.dtype)
    t = table.dtype.cpp
    with rt.op(
        "aten::embedding", table, indices, -1, False, False, differentiable=True, pre=2.4
    ) as event:
        flat = reshape(rt, indices, (rows,))
        with rt.op("aten::index_select", table, 0, flat, pre=2.2, post=0.8):
            empty(rt, (0,), table.dtype)
            info = "at::cuda::detail::TensorInfo"
            arguments = (
                f"{info}<{t}, unsigned int>, {info}<{t} const, unsigned int>, "
                f"{info}<long const, unsigned int>, int, int, unsigned int, unsigned int, long"
            )
            rt.launch(
                Kernel(
                    "void at::native::(anonymous namespace)::indexSelectLargeIndex"
                    f"<{t}, long, unsigned int, 2, 2, -2, true>({arguments})",
                    (max(1, min(rows * width // 128, 8 * rt.machine.gpu.sms)), 1, 1),
                    (128, 1, 1),
                    32,
                    Work(float(2 * out.bytes + indices.bytes)),
                    0.84,
                )
            )
        view(rt, tensor((rows, width), table.dtype), out.shape)
        rt.record(
            "EmbeddingBackward0", event, out, lambda: _backward(rt, table, indices, out), [table]
        )
    return out


def _backward(rt: Eager, table: Tensor, indices: Tensor, out: Tensor) -> None:
    """Few distinct rows, as in a small batch, so the sort of the indices is left out."""
    t = table.dtype.cpp
    with (
        rt.op("aten::embedding_backward", out, indices, table.shape[0], -1, False, False),
        rt.op("aten::embedding_dense_backward", out, indices, table.shape[0], -1, False, pre=4.0),
    ):
        with rt.op("aten::zeros", list(table.shape), table.dtype.number, 0, "cuda:0", False):
            fill_(rt, table, 0)
        rt.launch(
            Kernel(
                "void at::native::(anonymous namespace)::embedding_backward_feature_kernel"
                f"<{t}, float, long>(long const*, {t} const*, {t}*, int, long, int)",
                (max(1, table.shape[1] // 32), 1, 1),
                (32, 32, 1),
                48,
                Work(float(2 * out.bytes + indices.bytes)),
                0.8,
                12_800,
            )
        )

"""Scaled dot-product attention on the flash kernels, and its backward."""

from __future__ import annotations

from sample_traces.generator.eager import Eager
from sample_traces.generator.kernels import Kernel
from sample_traces.generator.records import Work
from sample_traces.generator.tensors import FLOAT, LONG, Tensor, tensor
from sample_traces.generator.views import transpose

#: FlashAttention 2 on a device that runs wgmma: its share of the reachable matrix rate.
FORWARD_QUALITY = 0.52
BACKWARD_QUALITY = 0.47


def _traits(head: int) -> str:
    inner = f"{head}, 128, 64, 4, cutlass::bfloat16_t"
    return (
        f"pytorch_flash::Flash_fwd_kernel_traits<{head}, 128, 64, 4, false, false, "
        f"cutlass::bfloat16_t, pytorch_flash::Flash_kernel_traits<{inner}> >"
    )


def _backward_traits(head: int) -> str:
    inner = f"{head}, 64, 128, 8, cutlass::bfloat16_t"
    return (
        f"pytorch_flash::Flash_bwd_kernel_traits<{head}, 64, 128, 8, 2, 4, 2, false, false, "
        f"cutlass::bfloat16_t, pytorch_flash::Flash_kernel_traits<{inner}> >"
    )


def attention(rt: Eager, q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
    """``F.scaled_dot_product_attention`` of [batch, heads, length, head] tensors."""
    batch, heads, length, head = q.shape
    keys = k.shape[2]
    out = tensor((batch, length, heads, head), q.dtype).transposed(1, 2)
    pairs = length * (length + 1) / 2 if causal else float(length * keys)
    flops = 4.0 * batch * heads * pairs * head
    grouped = heads != k.shape[1]
    with (
        rt.op(
            "aten::scaled_dot_product_attention",
            q,
            k,
            v,
            None,
            0.0,
            causal,
            None,
            grouped,
            differentiable=True,
            pre=6.0,
            post=1.0,
        ),
        rt.op(
            "aten::_scaled_dot_product_flash_attention",
            q,
            k,
            v,
            0.0,
            causal,
            False,
            None,
            differentiable=True,
            pre=2.4,
            post=1.4,
        ) as event,
    ):
        _forward(rt, (q, k, v), out, flops, causal)
        rt.record(
            "ScaledDotProductFlashAttentionBackward0",
            event,
            out,
            lambda: _backward(rt, (q, k, v), causal, 2.5 * flops),
        )
    return out


def _forward(
    rt: Eager, qkv: tuple[Tensor, Tensor, Tensor], out: Tensor, flops: float, causal: bool
) -> None:
    batch, heads, length, head = qkv[0].shape
    views = [transpose(rt, x, 1, 2) for x in qkv]
    options = (length, qkv[1].shape[2], 0.0, causal, False, None, None, None, None, None)
    flags = f"false, {'true' if causal else 'false'}, false, false, true, true, false, false"
    name = f"void pytorch_flash::flash_fwd_kernel<{_traits(head)}, {flags}>"
    moved = sum(x.bytes for x in qkv) + out.bytes + 4 * batch * heads * length
    work = Work(float(moved), flops, "bf16")
    grid = (-(-length // 128), batch, heads)
    with rt.op("aten::_flash_attention_forward", *views, None, None, *options, pre=7.0, post=2.2):
        full = f"{name}(pytorch_flash::Flash_fwd_params)"
        rt.launch(Kernel(full, grid, (128, 1, 1), 255, work, FORWARD_QUALITY, 65_536))
    transpose(rt, views[0], 1, 2)


def _backward(rt: Eager, qkv: tuple[Tensor, Tensor, Tensor], causal: bool, flops: float) -> None:
    batch, heads, length, head = qkv[0].shape
    lse = tensor((batch, heads, length), FLOAT)
    seed = tensor((), LONG)
    out = tensor((batch, length, heads, head), qkv[0].dtype)
    swapped = out.transposed(1, 2)
    options = (lse, None, None, length, qkv[1].shape[2], 0.0, causal, seed, seed, None)
    with rt.op(
        "aten::_scaled_dot_product_flash_attention_backward",
        swapped,
        *qkv,
        swapped,
        *options,
        pre=2.0,
        post=1.0,
    ):
        views = [transpose(rt, x, 1, 2) for x in qkv]
        with rt.op(
            "aten::_flash_attention_backward",
            out,
            *views,
            out,
            *options,
            None,
            None,
            pre=7.0,
            post=2.0,
        ):
            _backward_kernels(rt, qkv[0], flops, causal)


def _backward_kernels(rt: Eager, q: Tensor, flops: float, causal: bool) -> None:
    batch, heads, length, head = q.shape
    traits = _backward_traits(head)
    blocks = -(-length // 64)
    flags = f"false, {'true' if causal else 'false'}, false, false, true, true, false"
    parameters = "(pytorch_flash::Flash_bwd_params)"
    rt.launch(
        Kernel(
            f"void pytorch_flash::flash_bwd_dot_do_o_kernel<true, {traits}>{parameters}",
            (blocks, batch, heads),
            (256, 1, 1),
            40,
            Work(float(2 * q.bytes)),
            0.8,
        )
    )
    rt.launch(
        Kernel(
            "void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel"
            f"<{traits}, {flags}>{parameters}",
            (-(-length // 128), batch, heads),
            (256, 1, 1),
            255,
            Work(float(8 * q.bytes), flops, "bf16"),
            BACKWARD_QUALITY,
            147_456,
        )
    )
    rt.launch(
        Kernel(
            f"void pytorch_flash::flash_bwd_convert_dq_kernel<{traits}>(pytorch_flash::Flash_bwd_params, int)",
            (blocks, batch, heads),
            (256, 1, 1),
            56,
            Work(float(3 * q.bytes)),
            0.8,
            16_384,
        )
    )

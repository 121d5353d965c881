"""Matrix products: the operators around them and the cuBLAS kernels of each device."""

from __future__ import annotations

from sample_traces.generator.devices import H100, Gpu
from sample_traces.generator.eager import Eager
from sample_traces.generator.kernels import Grid, Kernel
from sample_traces.generator.records import OpEvent, Work
from sample_traces.generator.reductions import sum_rows
from sample_traces.generator.tensors import BF16, Tensor, tensor
from sample_traces.generator.views import reshape, t, view

#: Quality of a large product: its share of the rate that good products reach on the device.
LARGE = 0.95


def gemm_kernel(
    gpu: Gpu, m: int, k: int, n: int, layout: str, a: Tensor, precision: str, extra: int = 0
) -> Kernel:
    """The kernel of ``[m, k] @ [k, n]``; ``layout`` as cuBLAS names it ("tn", "nn", "nt")."""
    size = (m * k + k * n + m * n + extra) * a.dtype.size
    work = Work(float(size), 2.0 * m * n * k, precision, precision == "fp32", "aten::mm")
    quality = LARGE if m * n >= 1 << 20 else 0.6
    if m == 1:
        return _gemv(k, n, work)
    if precision == "fp32":
        grid = (-(-n // 128), -(-m // 128), 1)
        return Kernel(f"ampere_sgemm_128x128_{layout}", grid, (256, 1, 1), 118, work, 0.965, 16_896)
    if precision == "tf32":
        name = f"cutlass_80_tensorop_s1688gemm_128x128_32x3_{layout}_align4"
        full = f"void cutlass::Kernel<{name}>({name}::Params)"
        grid = (-(-m // 128), -(-n // 128), 1)
        return Kernel(full, grid, (128, 1, 1), 230, work, quality, 98_304)
    if gpu is H100:
        name = (
            f"sm90_xmma_gemm_bf16bf16_bf16f32_f32_{layout}_n_tilesize128x128x64_"
            "warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas"
        )
        return Kernel(
            name,
            _persistent_grid(m, n),
            (384, 1, 1),
            168,
            work,
            quality,
            231_424,
            "cudaLaunchKernelExC",
        )
    name = f"ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_{layout}"
    grid = (-(-n // 128), -(-m // 128), 1)
    return Kernel(name, grid, (128, 1, 1), 234, work, quality, 81_920)


def _persistent_grid(m: int, n: int) -> Grid:
    across, down = -(-n // 128), -(-m // 128)
    return (30, 4, 1) if across * down >= 120 else (across, down, 1)


def _gemv(k: int, n: int, work: Work) -> Kernel:
    def strided(const: str) -> str:
        return f"cublasGemvTensorStridedBatched<__nv_bfloat16{const}>"

    params = (
        f"cublasGemvParamsEx<int, {strided(' const')}, {strided(' const')}, {strided('')}, float>"
    )
    name = (
        "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, __nv_bfloat16, "
        "__nv_bfloat16, __nv_bfloat16, float, false, true, true, false, 7, false, "
        f"{params} >({params})"
    )
    return Kernel(name, (-(-n // 4), 1, 1), (32, 4, 1), 158, work, 0.74, 528)


def precision_of(rt: Eager, a: Tensor, allow_tf32: bool = False) -> str:
    """The precision in which a product of such tensors runs."""
    if a.dtype is BF16:
        return "bf16"
    return "tf32" if allow_tf32 else "fp32"


def mm(rt: Eager, a: Tensor, b: Tensor, layout: str, allow_tf32: bool = False) -> Tensor:
    """``aten::mm`` without gradient."""
    m, k = a.shape
    n = b.shape[1]
    with rt.op("aten::mm", a, b, pre=6.5, post=1.6):
        _prepare(rt)
        rt.launch(gemm_kernel(rt.machine.gpu, m, k, n, layout, a, precision_of(rt, a, allow_tf32)))
    return tensor((m, n), a.dtype)


def _prepare(rt: Eager) -> None:
    if rt.machine.gpu is H100:
        rt.thread.call("cudaFuncSetAttribute", 0.35)


def linear(
    rt: Eager, x: Tensor, weight: Tensor, bias: Tensor | None = None, allow_tf32: bool = False
) -> Tensor:
    """``F.linear`` and its backward; leading dimensions are folded into the rows."""
    n, k = weight.shape
    rows = x.count // k
    flat = tensor((rows, k), x.dtype)
    out = tensor((*x.shape[:-1], n), x.dtype)
    with rt.op("aten::linear", x, weight, bias, differentiable=True, pre=1.6, post=0.7):
        if bias is not None:
            _addmm(rt, x, flat, weight, bias, allow_tf32)
        else:
            _matmul(rt, x, flat, weight, allow_tf32)
    return out


def _addmm(
    rt: Eager, x: Tensor, flat: Tensor, weight: Tensor, bias: Tensor, allow_tf32: bool
) -> None:
    (rows, k), n = flat.shape, weight.shape[0]
    if x.shape != flat.shape:
        reshape(rt, x, flat.shape)
    wt = t(rt, weight)
    gpu = rt.machine.gpu
    with rt.op(
        "aten::addmm", bias, flat, wt, 1, 1, differentiable=True, pre=7.5, post=1.8
    ) as event:
        _prepare(rt)
        rt.launch(gemm_kernel(gpu, rows, k, n, "tn", flat, precision_of(rt, flat, allow_tf32), n))
        _record_product(rt, "AddmmBackward0", event, flat, weight, bias, allow_tf32)
    if x.shape != flat.shape:
        view(rt, tensor((rows, n), x.dtype), (*x.shape[:-1], n))


def _matmul(rt: Eager, x: Tensor, flat: Tensor, weight: Tensor, allow_tf32: bool) -> None:
    rows, n = flat.shape[0], weight.shape[0]
    wt = t(rt, weight)
    with rt.op("aten::matmul", x, wt, differentiable=True, pre=1.4, post=0.7):
        if x.shape != flat.shape:
            reshape(rt, x, flat.shape)
        with rt.op("aten::mm", flat, wt, differentiable=True, pre=6.5, post=1.6) as event:
            _prepare(rt)
            rt.launch(
                gemm_kernel(
                    rt.machine.gpu,
                    rows,
                    flat.shape[1],
                    n,
                    "tn",
                    flat,
                    precision_of(rt, flat, allow_tf32),
                )
            )
            _record_product(rt, "MmBackward0", event, flat, weight, None, allow_tf32)
        if x.shape != flat.shape:
            view(rt, tensor((rows, n), x.dtype), (*x.shape[:-1], n), "aten::_unsafe_view")


def _record_product(
    rt: Eager,
    name: str,
    event: OpEvent,
    flat: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    allow_tf32: bool,
) -> None:
    rows, n = flat.shape[0], weight.shape[0]
    gradient = tensor((rows, n), flat.dtype)

    def backward() -> None:
        mm(rt, gradient, weight, "nn", allow_tf32)
        with rt.op("aten::t", gradient, pre=0.8, post=0.35):
            pass
        mm(rt, gradient.transposed(0, 1), flat, "nt", allow_tf32)
        if bias is not None:
            sum_rows(rt, gradient)

    parameters = [weight] if bias is None else [weight, bias]
    rt.record(name, event, gradient, backward, parameters)

"""What runs on the GPU: names as CUDA libraries give them, and the shapes of launches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_ELEMENTWISE = (
    "void at::native::vectorized_elementwise_kernel<{width}, at::native::{functor}, "
    "std::array<char*, {arrays}ul> >(int, at::native::{functor}, std::array<char*, {arrays}ul>)"
)
_REDUCE = (
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<c10::BFloat16, "
    "at::native::{functor}<c10::BFloat16, float, float, c10::BFloat16>, unsigned int, "
    "c10::BFloat16, 4> >(at::native::ReduceOp<c10::BFloat16, at::native::{functor}"
    "<c10::BFloat16, float, float, c10::BFloat16>, unsigned int, c10::BFloat16, 4>)"
)
_COPY = (
    "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda"
    "(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#7}::operator()() "
    "const::{lambda(float)#1}, std::array<char*, 2ul>, 4, TrivialOffsetCalculator<1, unsigned "
    "int>, TrivialOffsetCalculator<1, unsigned int>, at::native::memory::LoadWithCast<1>, "
    "at::native::memory::StoreWithCast<1> >(int, at::native::direct_copy_kernel_cuda"
    "(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#7}::operator()() "
    "const::{lambda(float)#1}, std::array<char*, 2ul>, TrivialOffsetCalculator<1, unsigned int>, "
    "TrivialOffsetCalculator<1, unsigned int>, at::native::memory::LoadWithCast<1>, "
    "at::native::memory::StoreWithCast<1>)"
)
_CAT = (
    "void at::native::(anonymous namespace)::CatArrayBatchedCopy_aligned16_contig<at::native::"
    "(anonymous namespace)::OpaqueType<2u>, unsigned int, 3, 128, 1>(at::native::(anonymous "
    "namespace)::OpaqueType<2u>*, at::native::(anonymous namespace)::CatArrInputTensorMetadata<"
    "at::native::(anonymous namespace)::OpaqueType<2u>, unsigned int, 128, 1>, at::native::"
    "(anonymous namespace)::TensorSizeStride<unsigned int, 4u>, int, unsigned int)"
)
_FLASH = (
    "void flash::flash_{way}_kernel<Flash_{way}_kernel_traits<128, 128, 64, 4, false, false, "
    "cutlass::bfloat16_t, Flash_kernel_traits<128, 128, 64, 4, cutlass::bfloat16_t> >, false, "
    "true, false, false, true, true, false, false>(flash::Flash_{way}_params)"
)
_ADAM = (
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
    "namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::"
    "FusedAdamMathFunctor<float, 4, (at::native::(anonymous namespace)::ADAM_MODE)1, false>, "
    "float const*, double, double, double, double, double, bool, float const*, float const*>("
    "at::native::(anonymous namespace)::FusedOptimizerTensorListMetadata<4>, at::native::"
    "(anonymous namespace)::FusedAdamMathFunctor<float, 4, (at::native::(anonymous namespace)::"
    "ADAM_MODE)1, false>, float const*, double, double, double, double, double, bool, float "
    "const*, float const*)"
)
_NORM = (
    "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>"
    "(int, float, c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, float*, "
    "float*, c10::BFloat16*)"
)
_NORM_BACKWARD = (
    "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel_vectorized<c10::BFloat16,"
    " float>(c10::BFloat16 const*, c10::BFloat16 const*, float const*, float const*, "
    "c10::BFloat16 const*, c10::BFloat16*, int)"
)


@dataclass(frozen=True, slots=True)
class Kernel:
    """A family of kernels that one operator launches.

    Attributes:
        names: one is taken per launch, by the shape of the step.
        microseconds: time of the shortest launch.
        block: threads per block.
        registers, shared: registers per thread, bytes of shared memory.
    """

    names: tuple[str, ...]
    microseconds: int
    block: int = 128
    registers: int = 32
    shared: int = 0


def _elementwise(functor: str, microseconds: int = 3) -> Kernel:
    names = tuple(
        _ELEMENTWISE.format(width=width, functor=functor, arrays=arrays)
        for width in (4, 8)
        for arrays in (2, 3)
    )
    return Kernel(names, microseconds)


_GEMM = tuple(
    f"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize{m}x{n}x{k}_warpgroupsize1x1x1_"
    "execute_segment_k_off_kernel__5x_cublas"
    for m in (64, 128, 256)
    for n in (64, 128, 256)
    for k in (32, 64)
) + tuple(
    "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_"
    f"{m}x{n}_{k}x4_tn_align8>(cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_{m}x{n}_{k}x4_tn_"
    "align8::Params)"
    for m in (64, 128, 256)
    for n in (64, 128)
    for k in (32, 64)
)

KERNELS: Final = {
    "add": _elementwise("CUDAFunctor_add<c10::BFloat16>"),
    "mul": _elementwise("BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, MulFunctor>"),
    "gelu": _elementwise("GeluCUDAKernelImpl(at::TensorIteratorBase&, GeluType)", 5),
    "fill": _elementwise("FillFunctor<c10::BFloat16>", 2),
    "cast": Kernel((_COPY,), 4),
    "sum": Kernel(
        (_REDUCE.format(functor="sum_functor"), _REDUCE.format(functor="MeanOps")), 6, 512
    ),
    "cat": Kernel((_CAT,), 5, 512),
    "norm": Kernel((_NORM,), 7, 256, 40, 24),
    "norm_backward": Kernel((_NORM_BACKWARD,), 12, 256, 56, 48),
    "gemm": Kernel(_GEMM, 24, 384, 168, 213_504),
    "flash": Kernel((_FLASH.format(way="fwd"),), 40, 128, 255, 81_920),
    "flash_backward": Kernel((_FLASH.format(way="bwd_dq_dk_dv_loop"),), 95, 256, 255, 147_456),
    "dropout": Kernel(
        tuple(f"triton_poi_fused_native_dropout_add_view_{index}" for index in range(48)), 4
    ),
    "routing": Kernel(
        tuple(f"triton_red_fused_softmax_topk_scatter_{index}" for index in range(24)), 8, 256
    ),
    "adam": Kernel((_ADAM,), 30, 512, 32),
    "all_reduce": Kernel(
        ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",),
        180,
        544,
        96,
        67_584,
    ),
}

LAUNCHES: Final = (("cudaLaunchKernel", 211), ("cudaLaunchKernelExC", 430))

#: Calls that launch nothing, each with its callback id.
OTHER_CALLS: Final = (
    ("cudaStreamIsCapturing", 317),
    ("cudaEventRecordWithFlags", 333),
    ("cudaStreamWaitEvent", 147),
    ("cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", 251),
    ("cudaEventQuery", 136),
)

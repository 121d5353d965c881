"""A kernel's short name tells the type of its data, or none; never that of something else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.analysis.kernels.data_types import data_type
from whichlayer.analysis.kernels.product_names import product_name

CALL = "{lambda()#1}::operator()() const::"
NEW_CALL = "[lambda() (instance 1)]::operator ()() const::"


def elementwise(functor: str) -> str:
    loop = "(at::TensorIteratorBase&, T const&)::{lambda(int, bool)#1}"
    return (
        "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast"
        f"<{functor}>{loop}>(int, at::native::gpu_kernel_impl_nocast<{functor}>{loop})"
    )


@pytest.mark.parametrize("bytes_each", [1, 2, 4, 8, 16])
def test_bytes_of_unknown_type_are_told_by_their_size_alone(bytes_each: int) -> None:
    opaque = f"at::native::(anonymous namespace)::OpaqueType<{bytes_each}u>"
    cat = f"void at::native::(anonymous namespace)::CatArrayBatchedCopy<{opaque}, unsigned int, 4>"
    put = elementwise(f"at::native::index_put_kernel_impl<{opaque} >(int)::{{lambda(int)#1}}")
    assert data_type(cat) == data_type(put) == f"{8 * bytes_each}-bit"


@pytest.mark.parametrize(
    ("functor", "told"),
    [
        (f"where_kernel_impl(at::TensorIterator&)::{CALL}{{lambda(bool, long, long)#1}}", "int64"),
        (f"where_kernel_impl(at::TensorIterator&)::{CALL}{{lambda(bool, bool, bool)#1}}", "bool"),
        (f"masked_fill_kernel(at::TensorIterator&)::{CALL}{{lambda(float, bool)#1}}", "fp32"),
        (f"direct_copy_kernel_cuda(at::T&)::{CALL}{{lambda(int)#1}}", "int32"),
        (f"direct_copy_kernel_cuda(at::T &)::{NEW_CALL}[lambda(float) (instance 1)]", "fp32"),
        (f"direct_copy_kernel_cuda(at::T&)::{CALL}{{lambda(c10::complex<float>)#1}}", "complex64"),
        (f"direct_copy_kernel_cuda(at::T&)::{CALL}{{lambda(c10::Float8_e4m3fn)#1}}", "fp8_e4m3"),
        (f"direct_copy_kernel_cuda(at::T&)::{CALL}{{lambda(c10::Unheard)#1}}", ""),
        (("at::native::BinaryFunctor<c10::Half, c10::Half, c10::Half, at::native::atan2_kernel_cuda"
         f"(at::T&)::{CALL}{{lambda(float, float)#1}}>"), "fp16"),
        ("at::native::CUDAFunctor_add<double>", "fp64"),
    ],
)  # fmt: skip
def test_the_type_of_the_data_is_told_not_of_conditions_offsets_or_sums(
    functor: str, told: str
) -> None:
    assert data_type(elementwise(functor)) == told


@pytest.mark.parametrize(
    "name",
    [
        "void at::native::vectorized_gather_kernel<16, long>(char *, char *, T2 *, int, long)",
        (
            "void at::native::(anonymous namespace)::elementwise_kernel_with_index<int, "
            f"at::native::arange_cuda_out(at::Tensor&)::{CALL}{CALL}{{lambda(long)#1}}>(int)"
        ),
        "void at::native::unrolled_elementwise_kernel<at::native::Unheard, unsigned int>(char)",
        "at::native::nothing",
    ],
)
def test_types_of_positions_are_no_types_of_data(name: str) -> None:
    assert data_type(name) == ""


def test_a_reduction_is_of_what_it_reads_not_of_what_it_adds_up_in() -> None:
    total = "at::native::sum_functor<c10::BFloat16, float, c10::BFloat16>::operator()"
    name = (
        "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<c10::BFloat16, "
        f"at::native::func_wrapper_t<c10::BFloat16, {total}(at::T&)::{{lambda(float, float)#1}}>>>"
    )
    assert data_type(name) == "bf16"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEE", "fp32"),
        ("_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIN3c108BFloat16EEE",
         "bf16"),
        (("_ZN2at6native29vectorized_elementwise_kernelILi4EZZZNS0_23direct_copy_kernel_cudaERNS_18"
         "TensorIteratorBaseEENKUlvE1_clEvENKUlvE8_clEvEUlN3c108BFloat16EE_St5arrayIPcLm2EEEE"),
         "bf16"),
        (("_ZN2at6native18elementwise_kernelILi128ELi2EZNS0_22gpu_kernel_impl_nocastIZZZNS0_12_GLOBAL"
         "__N_117where_kernel_implERNS_14TensorIteratorEENKUlvE_clEvENKUlvE7_clEvEUlbllE_EEvRNS_18"
         "TensorIteratorBaseERKT_EUliE_EEviT1_"), "int64"),
    ],
)  # fmt: skip
def test_mangled_names_tell_the_same_type(name: str, told: str) -> None:
    assert data_type(name) == told


@given(st.text(alphabet="_ZNIEUlfbic10284<>(){}:Lx ", max_size=120))
def test_no_name_breaks_it(text: str) -> None:
    assert isinstance(data_type(text), str)
    assert isinstance(data_type("_ZN2at6native" + text), str)
    assert isinstance(product_name("sm90_xmma_gemm_" + text), str)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("sm80_xmma_gemm_tf32f32_tf32f32_f32_nn_n_tilesize128x64x16_stage4_warpsize2x2x1_kernel",
         "gemm tf32 128x64x16 nn_n sm80_xmma"),
        ("sm90_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize64x64x64_g1",
         "fprop fp16 64x64x64 nhwckrsc_nhwc sm90_xmma"),
        ("cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_void_bf16_128x128x64_2x1x1_0_tnn_x",
         "gemm bf16 128x128x64 tnn sm90_cutlass3x"),
        # Operands of a type that is not known are not told by guess.
        ("sm90_xmma_gemm_new8new8_new8f32_f32_tn_n_tilesize64x64x64_kernel",
         "sm90_xmma_gemm_new8new8_new8f32_f32_tn_n_tilesize64x64x64_kernel"),
        ("volta_sgemm_128x32_nt", ""),
    ],
)  # fmt: skip
def test_what_a_library_does_comes_before_how(name: str, told: str) -> None:
    assert product_name(name) == told

"""Kernel names for people, and what names tell about the hardware."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.recordings import loaded
from whichlayer.analysis.kernels.marks import precision_of, takes_shortcuts, tensor_cores
from whichlayer.analysis.kernels.names import SHORT_LENGTH, family, short_name
from whichlayer.analysis.kernels.names_apart import names_apart
from whichlayer.analysis.trace.kinds import SliceKind

ADD = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
    "at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>, "
    "at::detail::Array<char*, 3>)"
)
COPY = (
    "void at::native::elementwise_kernel_manual_unroll<128, 8, at::native::gpu_kernel_impl_nocast"
    "<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() "
    "const::{lambda()#12}::operator()() const::{lambda(c10::BFloat16)#1}>(at::TensorIteratorBase&, "
    "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3} const&)::"
    "{lambda(int, bool)#1}>(int, at::native::gpu_kernel_impl_nocast)"
)
SUM = (
    "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<float, "
    "at::native::func_wrapper_t<float, at::native::sum_functor<float, float, float>::operator()"
    "(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, float, 4> >(at::native)"
)
LAYER_NORM = (
    "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float, "
    "false>(int, float, c10::BFloat16 const*, float*)"
)
FLASH = (
    "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4, "
    "false, false, cutlass::bfloat16_t>, false, true>(pytorch_flash::Flash_fwd_params)"
)
TENSILE = (
    "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT320x224x64_MI16x16x1_SN_LDSB0_AFC1_AG0_AFEM1"
)
MANGLED = "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi64ELi8ELb0EL"
XMMA = (
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1"
    "_execute_segment_k_off_kernel__5x_cublas"
)


@pytest.mark.parametrize(
    ("name", "short"),
    [
        (ADD, "add elementwise fp32"),
        (COPY, "copy elementwise bf16"),
        (SUM, "sum reduce fp32"),
        (LAYER_NORM, "layer_norm bf16"),
        (FLASH, "flash_fwd_kernel d64"),
        (TENSILE, "Cijk Alik_Bljk BBS MT320x224x64 MI16x16x1"),
        (MANGLED, "add_rmsnorm_quant_kernel"),
        (XMMA, "gemm bf16 128x128x64 tn_n sm90_xmma"),
        (
            "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_nt_align4>(Params)",
            "cutlass_80_tensorop_s1688gemm_64x64_nt_align4",
        ),
        (
            "void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 512, true, 1>(float, float)",
            "cudnn bn_bw_1C11_kernel_new",
        ),
        (
            "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)",
            "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t",
        ),
        ("triton_poi_fused_addmm_gelu_view_15", "triton_poi_fused_addmm_gelu_view_15"),
        ("nvjet_tst_64x16_64x16_2x4_2cta_h_bz_bias_TNT",) * 2,
        ("volta_sgemm_128x32_nt",) * 2,
        ("attn_fwd.kd", "attn_fwd"),
        ("void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*)",
         "vllm rotary_embedding_kernel"),
        ("std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, float>(int)",
         "gemvx"),
        ("Memcpy DtoD (Device -> Device)", "Memcpy DtoD"),
    ],
)  # fmt: skip
def test_short_names_keep_what_people_look_for(name: str, short: str) -> None:
    assert short_name(name) == short


TABLE = [
    tuple(line.split("\t"))
    for line in (Path(__file__).parent / "kernel_names.tsv").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize(("short", "name"), TABLE)
def test_names_of_every_library_are_made_readable(short: str, name: str) -> None:
    assert short_name(name) == short


def test_the_number_that_a_compiler_ends_a_name_with_stays() -> None:
    words = "_".join(["layer_norm"] * 12)
    assert short_name(f"triton_red_fused_{words}_17").endswith("…_17")
    assert len(short_name(f"triton_red_fused_{words}_17")) == SHORT_LENGTH


@given(st.lists(st.text(max_size=90), max_size=12))
def test_kernels_of_one_trace_have_names_of_their_own(names: list[str]) -> None:
    apart = names_apart(names)
    assert set(apart) == set(names)
    assert len(set(apart.values())) == len(apart)
    assert all(0 < len(short) <= SHORT_LENGTH for short in apart.values())
    assert apart == names_apart(reversed(names))


@given(st.lists(st.sampled_from(["int", "long", "4", "float"]), min_size=2, max_size=30))
def test_kernels_that_differ_in_templates_alone_have_names_of_their_own(words: list[str]) -> None:
    names = [f"void cub::Scan<{', '.join(words[: i + 1])}>(int)" for i in range(len(words))]
    assert len(set(names_apart(names).values())) == len(names)


def test_what_tells_kernels_apart_is_said_where_it_is_short() -> None:
    add = "void at::native::{}elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(int)"
    names = {add.format(""), add.format("vectorized_"), add.format("unrolled_"), "sgemm"}
    assert sorted(names_apart(names).values()) == [
        "add elementwise fp32", "add elementwise fp32 [unrolled]",
        "add elementwise fp32 [vectorized]", "sgemm",
    ]  # fmt: skip


def test_kernels_of_real_recordings_have_names_of_their_own(traces: Path) -> None:
    for file in ("kineto_resnet50_workers0.json.gz", "tl_mi300_ddp_resnet18.json.gz"):
        trace = loaded(traces / file)
        used = np.unique(trace.name_id[trace.kind == SliceKind.KERNEL]).tolist()
        apart = names_apart(trace.strings[i] for i in used)
        assert len(set(apart.values())) == len(used) > 20


@given(name=st.text(max_size=200))
def test_any_name_becomes_one_printable_line(name: str) -> None:
    short = short_name(name)
    assert short
    assert len(short) <= SHORT_LENGTH
    assert "\n" not in short
    assert "\x1b" not in short
    assert family(name)


@given(depth=st.integers(0, 3000), char=st.sampled_from("<>(){}:"))
def test_unbalanced_names_are_read_in_linear_time(depth: int, char: str) -> None:
    assert short_name("void at::native::f" + char * depth)


def test_names_with_markup_stay_text() -> None:
    assert short_name("kernel[bold]x[/bold]") == "kernel[bold]x[/bold]"
    assert "\x1b" not in short_name("\x1b[31mred_kernel(int)")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (ADD, "pointwise"),
        (COPY, "copy"),
        (SUM, "reduction"),
        (LAYER_NORM, "norm"),
        (FLASH, "attention"),
        (TENSILE, "matmul"),
        (XMMA, "matmul"),
        ("void implicit_convolve_sgemm<float, float, 1024>(int)", "convolution"),
        ("batched_transpose_16x32_half", "layout"),
        ("void fbgemm_gpu::permute_2D_lengths_kernel<int>(int)", "other"),
        ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)", "communication"),
        ("triton_red_fused_add_0", "compiled"),
    ],
)
def test_families_by_name(name: str, expected: str) -> None:
    assert family(name) == expected


@pytest.mark.parametrize(
    ("name", "vendor", "expected"),
    [
        ("volta_sgemm_128x32_nt", "nvidia", False),
        ("volta_scudnn_128x64_relu_interior_nn_v1", "nvidia", False),
        ("cutlass_80_simt_sgemm_128x64_8x5_tn_align1", "nvidia", False),
        ("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_ffma", "nvidia", False),
        ("cutlass_80_tensorop_s1688gemm_64x64_32x6_tn_align4", "nvidia", True),
        ("ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_tn", "nvidia", True),
        ("turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_tn", "nvidia", True),
        ("nvjet_tst_128x256_64x4_2x1_v_bz_TNT", "nvidia", True),
        (XMMA, "nvidia", True),
        (FLASH, "nvidia", True),
        (TENSILE, "amd", True),
        ("Cijk_Ailk_Bljk_SB_MT64x64x16_SN_1LDSB0", "amd", False),
        ("triton_tem_fused_mm_0", "nvidia", None),
        ("GammaBetaBackwardCUDAKernel", "nvidia", False),
        (ADD, "nvidia", False),
        ("SubTensorOpWithScalar1d", "amd", False),
    ],
)
def test_tensor_cores_by_name_negatives_first(
    name: str, vendor: str, expected: bool | None
) -> None:
    assert tensor_cores(name, vendor) is expected


@pytest.mark.parametrize(
    ("names", "operands", "vendor", "has_tf32", "expected"),
    [
        (("ampere_sgemm_128x64_nn",), "fp32", "nvidia", True, "fp32"),
        # TF32 kernels may lack "tf32" in their name.
        (("cutlass_80_tensorop_s1688gemm_128x128_32x3_nn_align4",), "fp32", "nvidia", True, "tf32"),
        (("sm80_xmma_gemm_tf32f32_tf32f32_f32_tn_n",), "fp32", "nvidia", True, "tf32"),
        (("triton_tem_fused_mm_0",), "fp32", "nvidia", True, None),
        (("triton_tem_fused_mm_0",), "fp32", "nvidia", False, "fp32"),
        ((XMMA,), "bf16", "nvidia", True, "bf16"),
        (("Cijk_Ailk_Bljk_SB_MT64x64x16_MI16x16x4x1_SN",), "fp32", "amd", True, "fp32"),
        # The split-K reduction beside a TF32 product works in FP32.
        (("void splitKreduce_kernel<float>(int)", "cutlass_80_tensorop_s1688gemm_64x64_nt"),
         "fp32", "nvidia", True, "tf32"),
    ],
)  # fmt: skip
def test_precision_of_products_by_name(
    names: tuple[str, ...], operands: str, vendor: str, has_tf32: bool, expected: str | None
) -> None:
    assert precision_of(names, operands, vendor, has_tf32=has_tf32) == expected


def test_winograd_and_fft_do_fewer_products() -> None:
    assert takes_shortcuts("volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1")
    assert takes_shortcuts("void fft2d_r2c_32x32<float>(int)")
    assert not takes_shortcuts("volta_sgemm_128x32_nt")


def test_a_long_name_of_one_word_is_read_quickly() -> None:
    # Each pattern looks at no more than a functor's length from any letter.
    name = "void at::native::vectorized_elementwise_kernel<" + "a" * 100_000
    assert short_name(name).startswith("elementwise")

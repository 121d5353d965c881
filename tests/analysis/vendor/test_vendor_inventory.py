"""Libraries by their kernels' names, and how they are reached."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.program import Program
from tests.support.recordings import analysed
from whichlayer.analysis.report.text_vendor import vendor_lines
from whichlayer.analysis.vendor.inventory import Tie, tie_of, vendor_inventory
from whichlayer.analysis.vendor.libraries import UNKNOWN, library_of
from whichlayer.analysis.vendor.reach import Reach, reach_of


@pytest.mark.parametrize(
    ("name", "vendor", "library"),
    [
        ("nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT", "nvidia", "cuBLAS, CUTLASS"),
        ("void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_64x64>(P)", "", "cuBLAS, CUTLASS"),
        ("void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<x>>>(P)",
         "nvidia", "FlashAttention"),
        ("void pytorch_flash::flash_fwd_kernel<T>(P)", "nvidia", "PyTorch's flash attention"),
        ("void at::native::vectorized_elementwise_kernel<4, F>(int)", "", "PyTorch (ATen)"),
        ("void (anonymous namespace)::softmax_warp_forward<c10::Half, float>(P)", "",
         "PyTorch (ATen)"),
        ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)", "nvidia", "NCCL"),
        ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)", "amd", "RCCL"),
        ("Cijk_Alik_Bljk_BBS_BH_MT32x32x256", "amd", "hipBLASLt and rocBLAS (Tensile)"),
        ("void cudnn::bn_fw_tr_1C11_kernel_NCHW<float>(P)", "nvidia", "cuDNN"),
        ("triton_red_fused_add_mean_0", "", "Triton, by the compiler"),
        ("_matmul_ogs_NNT_bf16xbf16xmxfp4", "amd", "Triton, by hand"),
        ("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bE", "amd", "aiter"),
        ("void transformer_engine::normalization::ln_fwd<T>(P)", "", "TransformerEngine"),
    ],
)  # fmt: skip
def test_a_library_is_known_by_its_kernels(name: str, vendor: str, library: str) -> None:
    assert library_of(name, vendor).name == library


def test_the_types_in_a_template_do_not_make_a_kernel_pytorchs() -> None:
    assert library_of("void rotary_embedding_kernel<c10::BFloat16, true>(long)", "") is UNKNOWN


@given(st.text(max_size=300), st.sampled_from(["nvidia", "amd", "intel", ""]))
def test_any_name_has_a_library_and_a_reach(name: str, vendor: str) -> None:
    assert tie_of(library_of(name, vendor), reach_of(name, name)) in Tie


@pytest.mark.parametrize(
    ("operator", "reach"),
    [
        ("aten::mm", Reach.OPERATOR),
        ("vllm::moe_forward", Reach.DIRECT),
        ("torch::autograd::CppNode<SplitLookupFunction>", Reach.DIRECT),
        ("autograd::engine::evaluate_function: MmBackward0", Reach.OPERATOR),
        ("", Reach.UNKNOWN),
        ("FlashAttnFunc", Reach.UNKNOWN),
    ],
)
def test_namespaces_tell_pytorchs_operators_from_extensions(operator: str, reach: Reach) -> None:
    assert reach_of(operator, "kernel") is reach


def test_the_same_library_is_portable_through_aten_and_a_tie_when_called(tmp_path: Path) -> None:
    program = Program()
    for at, operator in ((0.0, "aten::mm"), (200.0, "my_ext::gemm")):
        program.operator(operator, at, 20)
        program.kernel("ampere_sgemm_128x128_nn", at + 30, 100, (at + 5, 3))
    found = vendor_inventory(program.analysis(tmp_path))
    assert {use.reach: use.tie for use in found.uses} == {
        Reach.OPERATOR: Tie.MODEL, Reach.DIRECT: Tie.TIED,
    }  # fmt: skip
    assert (found.model_share, found.tied_share, found.unknown_share) == (0.5, 0.5, 0.0)


def test_only_ties_are_told(tmp_path: Path) -> None:
    program = Program()
    program.operator("aten::mm", 0, 20)
    program.kernel("ampere_sgemm_128x128_nn", 30, 100, (5, 3))
    assert vendor_lines(program.analysis(tmp_path)) == []
    program.operator("my_ext::magic", 200, 20)
    program.kernel("magic_kernel", 230, 100, (205, 3))
    assert "extension my_ext" in " ".join(vendor_lines(program.analysis(tmp_path)))


def test_what_a_graph_launched_is_of_unknown_reach(tmp_path: Path) -> None:
    program = Program()
    number = program.call("cudaGraphLaunch", 0, 5)
    program.kernel("ampere_sgemm_128x128_nn", 10, 100, correlation=number)
    found = vendor_inventory(program.analysis(tmp_path))
    assert found.unknown_share == 1.0 and found.record
    assert (found.graph_launches, found.graph_ns) == (1, 100_000)


def test_libraries_of_recordings(traces: Path) -> None:
    b200 = vendor_inventory(analysed(traces / "tl_b200_vllm_eager.json.gz"))
    assert b200.uses[0].library.name == "TensorRT-LLM kernels"
    assert b200.tied_share is not None and b200.tied_share > 0.75
    resnet = vendor_inventory(analysed(traces / "kineto_resnet50_workers4.json.gz"))
    assert resnet.uses[0].library.name == "cuDNN" and resnet.tied_share == 0
    for found in (b200, resnet):
        shares = (found.portable_share, found.model_share, found.tied_share, found.unknown_share)
        assert sum(share or 0.0 for share in shares) == pytest.approx(1.0)
        assert sum(use.time_ns for use in found.uses) == found.busy_ns

"""In which precision products ran, and what to change above and below."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.program import Program
from tests.support.recordings import analysed
from whichlayer.analysis.precision_share.by_name import precision_by_name
from whichlayer.analysis.precision_share.shares import precision_shares
from whichlayer.analysis.report.text_precision import precision_lines

FP32, TF32 = "ampere_sgemm_128x128_nn", "cutlass_80_tensorop_s1688gemm_64x64_nn_align4"


@pytest.mark.parametrize(
    ("name", "precision"),
    [
        ("volta_sgemm_128x64_nt", "fp32"),
        ("cutlass_80_tensorop_s1688gemm_64x64_32x4_nn_align1", "tf32"),
        ("ampere_fp16_s1688gemm_fp16_128x128_ldg8_f2f_nn", "fp16"),
        ("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64", "bf16"),
        ("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64_ffma", "fp32"),
        ("Cijk_Alik_Bljk_BBS_BH_Bias_MT32x32x256", "bf16"),
        ("Cijk_Ailk_Bjlk_SB_MT64x16x16", "fp32"),
        ("Cijk_Alik_Bljk_HHS_BH_MT64x64x32", "fp16"),
        ("bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2", "fp8"),
        ("void paged_attention<__hip_bfloat16, (vllm::Fp8KVCacheDataType)0>(P)", "bf16"),
        ("nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT", None),
    ],
)
def test_names_tell_the_precision_or_nothing(name: str, precision: str | None) -> None:
    assert precision_by_name(name) == precision


def products(*kernels: tuple[str, float], dtype: str = "float") -> Program:
    program = Program()
    for at, (name, length) in enumerate(kernels):
        told: dict[str, Any] = {
            "Input Dims": [[512, 512 + at], [512 + at, 512]],
            "Input type": [dtype] * 2,
        }
        program.operator("aten::mm", 1000.0 * at, 10, **told)
        program.kernel(name, 1000.0 * at + 20, length, (1000.0 * at + 2, 3))
    return program


def test_fp32_products_on_tensor_cores_have_both_halves_of_a_fix(tmp_path: Path) -> None:
    analysis = products((FP32, 300), (TF32, 100)).analysis(tmp_path)
    found = precision_shares(analysis)
    assert found.share_of("fp32") == 0.75 and found.share_of("tf32") == 0.25
    assert found.advice is not None and "set_float32_matmul_precision" in found.advice.above
    assert "TF32 156" in found.advice.below
    text = "\n".join(precision_lines(analysis))
    assert "above" in text and "below" in text


def test_where_tf32_is_on_already_the_policy_is_not_what_to_change(tmp_path: Path) -> None:
    found = precision_shares(products((FP32, 100), (TF32, 300)).analysis(tmp_path))
    assert found.advice is not None and "already" in found.advice.above
    assert "set_float32_matmul_precision" not in found.advice.above


def test_products_in_bf16_leave_nothing_to_say(tmp_path: Path) -> None:
    name = "ampere_bf16_s16816gemm_bf16_128x128_nn"
    analysis = products((name, 100), dtype="c10::BFloat16").analysis(tmp_path)
    assert precision_shares(analysis).advice is None
    assert precision_lines(analysis) == []


def test_casts_are_counted_where_types_are_recorded(tmp_path: Path) -> None:
    program = products((FP32, 100))
    told: dict[str, Any] = {"Input Dims": [[64, 64]] * 2, "Input type": ["c10::BFloat16", "float"]}
    program.operator("aten::copy_", 5000, 10, **told)
    program.kernel("unrolled_elementwise_kernel", 5020, 50, (5002, 3))
    same: dict[str, Any] = {"Input Dims": [[64, 64]] * 2, "Input type": ["float", "float"]}
    program.operator("aten::copy_", 6000, 10, **same)
    program.kernel("unrolled_elementwise_kernel", 6020, 70, (6002, 3))
    found = precision_shares(program.analysis(tmp_path))
    assert (found.casts, found.cast_ns) == (1, 50_000)


def test_without_types_casts_are_unknown_and_products_known_by_name(tmp_path: Path) -> None:
    program = Program()
    program.operator("aten::mm", 0, 10)
    program.kernel(FP32, 20, 100, (2, 3))
    found = precision_shares(program.analysis(tmp_path))
    assert found.cast_ns is None and "record_shapes" in found.record
    assert found.shares[0].by_name_ns == found.product_ns == 100_000


def test_precisions_of_recordings(traces: Path) -> None:
    resnet = precision_shares(analysed(traces / "kineto_resnet50_workers4.json.gz"))
    assert resnet.share_of("fp32") == 1.0
    assert resnet.advice is not None and resnet.advice.faster == "fp16"
    particle = precision_shares(analysed(traces / "pt_a100pcie_particle.json"))
    assert particle.cast_ns is not None and particle.cast_ns > 0.15 * particle.busy_ns
    sglang = precision_shares(analysed(traces / "tl_mi300_sglang_decode.json.gz"))
    assert sglang.share_of("fp8") == 0.0

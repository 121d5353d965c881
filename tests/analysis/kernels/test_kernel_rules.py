"""Each rule fires where it should and nowhere else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from whichlayer.analysis.kernels.advice import fix_for
from whichlayer.analysis.kernels.measure import Floor, Measured
from whichlayer.analysis.kernels.peaks import DeviceMatch, match_device
from whichlayer.analysis.kernels.rulebook import Rulebook
from whichlayer.analysis.kernels.ruling import Ruling, rule_on
from whichlayer.analysis.kernels.work import Work
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import Options

FLOOR = Floor(2000.0, measured=True)


def card(name: str) -> DeviceMatch:
    return match_device(None, {}, Options(device_model=name))


H100, A100, V100, T4 = (card(name) for name in ("H100 SXM5", "A100 SXM4 80", "V100 SXM2", "T4"))
MI300X, GEFORCE, P100 = card("MI300X"), card("RTX 4090"), card("P100 PCIe 16 GB")
TENSOR = ("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64",)


def memory(share: float, time_us: float = 1000.0, peaks: DeviceMatch = H100) -> Measured:
    """A pointwise call that reaches a share of the data sheet's bandwidth."""
    size = round(share * (peaks.bandwidth_gbps or 0) * time_us * 1e3)
    return Measured("aten::add", ("add",), Work(size, category="pointwise"), 1, 1, time_us * 1e3,
                    FLOOR, peaks)  # fmt: skip


def product(
    share: float,
    *,
    precision: str = "bf16",
    kernels: tuple[str, ...] = TENSOR,
    rows: tuple[int, ...] = (4096,),
    peaks: DeviceMatch = H100,
    time_us: float = 1000.0,
    category: str = "matmul",
) -> Measured:
    """A product that reaches a share of eff x the dense rate, with negligible bytes."""
    rate = peaks.rate(precision)
    assert rate is not None
    flops = round(share * peaks.eff * rate * 1e3 * time_us * 1e3)
    work = Work(1000, flops, precision, category, dims=(4096, 4096, 4096), contiguous=rows)
    return Measured("aten::mm", kernels, work, 1, 1, time_us * 1e3, FLOOR, peaks, precision)


def ruled(measured: Measured) -> tuple[str, Layer]:
    ruling = rule_on(measured)
    assert ruling.judged, ruling.why
    return ruling.rule, ruling.layer


def loss_of(measured: Measured) -> float:
    ruling = rule_on(measured)
    if measured.time_ns <= ruling.roof_ns:
        return 0.0
    return max(0.0, measured.time_ns - ruling.ideal_ns)


@pytest.mark.parametrize("share", [0.80, 0.9, 1.0])
def test_eighty_percent_of_the_bandwidth_is_the_roof(share: float) -> None:
    assert ruled(memory(share)) == ("at-roof", Layer.NONE)
    assert loss_of(memory(share)) == 0


def test_just_below_the_roof_something_is_lost_that_no_rule_explains() -> None:
    ruling = rule_on(memory(0.75))
    assert (ruling.rule, ruling.layer) == ("", Layer.UNKNOWN)
    # 1 ms - (2 us + 0.75 / 0.9 x 1 ms).
    assert loss_of(memory(0.75)) == pytest.approx(1e6 - 2e3 - 0.75 / 0.9 * 1e6, rel=1e-6)


def test_under_sixty_percent_is_a_slow_memory_bound_kernel() -> None:
    assert ruled(memory(0.59)) == ("memory-bound-slow", Layer.CUDA)
    assert ruled(memory(0.61))[0] == ""


def test_the_floor_is_taken_off_before_a_kernel_is_called_slow() -> None:
    # 10 us of which 2 are floor: 50 % of the whole is 62.5 % of what remains.
    assert ruled(memory(0.50, time_us=10.0))[0] == ""
    assert ruled(memory(0.45, time_us=10.0))[0] == "memory-bound-slow"


def test_three_trivial_kernels_long_is_too_short_to_be_called_slow() -> None:
    assert ruled(memory(0.1, time_us=6.0))[0] != "memory-bound-slow"
    assert ruled(memory(0.1, time_us=6.1))[0] == "memory-bound-slow"


def test_short_kernels_are_latency_bound() -> None:
    ruling = rule_on(memory(0.1, time_us=2.5))
    assert (ruling.rule, ruling.layer, ruling.bound) == (
        "latency-bound",
        Layer.BOUNDARY,
        "latency",
    )


def test_a_short_kernel_far_beyond_its_floor_is_not_latency_bound() -> None:
    assert ruled(memory(0.01, time_us=5.0))[0] == ""


def test_an_assumed_floor_never_excuses_a_loss() -> None:
    assumed = replace(memory(0.1, time_us=3.0), floor=Floor())
    assert rule_on(assumed).rule == "latency-bound"
    # The classification takes 2 us, the ideal only what every GPU needs, 1 us.
    assert loss_of(assumed) == pytest.approx(3000 - (1000 + 0.1 / 0.9 * 3000), rel=1e-3)


def test_an_assumed_floor_blames_no_kernel_whose_bytes_take_less() -> None:
    assumed = replace(memory(0.01, time_us=18.0), floor=Floor())
    assert ruled(assumed)[0] == ""


def test_a_product_at_what_good_products_reach_is_at_the_roof() -> None:
    assert ruled(product(0.85)) == ("at-roof", Layer.NONE)
    assert ruled(product(0.84))[0] == ""


def test_the_compute_roof_is_that_of_the_card_not_of_its_sheet() -> None:
    # 50 % of an MI300X's 1307 TFLOP/s is what its best products reach.
    good = product(0.93, peaks=MI300X, kernels=("Cijk_Alik_Bljk_BBS_BH_MT256x224x64_MI16x16x1",))
    assert good.rate_share == pytest.approx(0.5, abs=0.01)
    assert ruled(good)[0] == "at-roof"


def test_a_slow_product_with_nothing_wrong_is_the_kernels_own() -> None:
    assert ruled(product(0.59)) == ("compute-bound-slow", Layer.CUDA)
    assert ruled(product(0.61))[0] == ""
    assert ruled(product(0.3, time_us=49.0))[0] == ""


@pytest.mark.parametrize(
    ("kernels", "rows"),
    [
        (("cutlass_80_simt_hgemm_128x64_nn",), (4096,)),
        (("cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_nn_align1",), (4096,)),
        (TENSOR, (4097,)),
    ],
)
def test_a_wrong_kernel_is_the_librarys_choice(
    kernels: tuple[str, ...], rows: tuple[int, ...]
) -> None:
    slow = product(0.5, kernels=kernels, rows=rows)
    assert ruled(slow) == ("kernel-selection", Layer.BOUNDARY)


def test_odd_sizes_at_full_speed_are_no_problem() -> None:
    assert ruled(product(0.9, rows=(4097,)))[0] == "at-roof"


def test_matrix_vector_products_are_never_blamed_on_selection() -> None:
    slow = product(0.3, rows=(4097,))
    vector = replace(slow, work=replace(slow.work, dims=(1, 4096, 4097)))
    assert ruled(vector)[0] != "kernel-selection"


def test_align_eight_is_not_align_one() -> None:
    fine = ("cutlass_80_tensorop_bf16_s16816gemm_bf16_128x128_tn_align16",)
    assert ruled(product(0.5, kernels=fine))[0] == "compute-bound-slow"


SGEMM = ("ampere_sgemm_128x128_nn",)


@pytest.mark.parametrize(
    ("peaks", "faster", "words"),
    [
        (A100, "tf32", "set_float32_matmul_precision('high')"),
        (H100, "tf32", "set_float32_matmul_precision('high')"),
        (GEFORCE, "bf16", "autocast(dtype=torch.bfloat16)"),
        (card("L40"), "bf16", "autocast(dtype=torch.bfloat16)"),
        (card("A10"), "bf16", "autocast(dtype=torch.bfloat16)"),
        (card("A10G"), "bf16", "autocast(dtype=torch.bfloat16)"),
        (V100, "fp16", "autocast(dtype=torch.float16)"),
        (T4, "fp16", "autocast(dtype=torch.float16)"),
        (MI300X, "bf16", "autocast(dtype=torch.bfloat16)"),
    ],
    ids=lambda value: getattr(value, "model", None),
)
def test_fp32_products_lose_against_the_precision_that_the_card_has(
    peaks: DeviceMatch, faster: str, words: str
) -> None:
    kernels = SGEMM if peaks.vendor == "nvidia" else ("Cijk_Ailk_Bljk_SB_MT64x64x16_MI16x16x4x1",)
    at_fp32_roof = product(0.95, precision="fp32", kernels=kernels, peaks=peaks)
    assert ruled(at_fp32_roof) == ("fp32-matmul", Layer.PRECISION)
    # The ideal is that of the proposed precision: flops / (eff x its rate), and the floor.
    flops = at_fp32_roof.work.flops
    assert flops is not None
    ideal = 2000 + flops / (peaks.eff * peaks.tflops[faster] * 1e3)
    assert loss_of(at_fp32_roof) == pytest.approx(at_fp32_roof.time_ns - ideal, rel=1e-6)
    assert faster.upper() in rule_on(at_fp32_roof).why
    fix = fix_for("fp32-matmul", peaks)
    assert words in fix
    assert ("set_float32_matmul_precision" in fix) == (faster == "tf32")


def test_cards_without_tensor_cores_run_fp32_well() -> None:
    confirmed = replace(P100, unconfirmed=frozenset())
    at_roof = product(0.95, precision="fp32", kernels=SGEMM, peaks=confirmed)
    assert ruled(at_roof)[0] == "at-roof"


def test_memory_bound_fp32_products_gain_nothing_from_narrower_arithmetic() -> None:
    thin = product(0.2, precision="fp32", kernels=SGEMM, peaks=A100)
    size = round(0.9 * 2039 * thin.time_ns)
    assert ruled(replace(thin, work=replace(thin.work, bytes=size)))[0] == "at-roof"


def test_tf32_products_are_judged_as_tf32() -> None:
    kernels = ("cutlass_80_tensorop_s1688gemm_128x128_32x3_nn_align4",)
    assert ruled(product(0.9, precision="tf32", kernels=kernels, peaks=A100))[0] == "at-roof"


def test_pointwise_fp32_is_not_a_matter_of_precision() -> None:
    assert ruled(memory(0.3))[0] == "memory-bound-slow"


def doubts(measured: Measured) -> Ruling:
    ruling = rule_on(measured)
    assert not ruling.judged
    assert ruling.layer == Layer.UNKNOWN
    return ruling


def test_an_impossible_matrix_rate_is_flagged_not_judged() -> None:
    assert "impossible" in doubts(product(1.2 / H100.eff)).flags
    # GeForce clocks exceed the data sheet's.
    assert rule_on(product(1.2, peaks=GEFORCE)).judged
    assert "impossible" in doubts(product(1.35, peaks=GEFORCE)).flags


def test_winograd_may_exceed_the_peak_honestly() -> None:
    kernels = ("volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1",)
    fast = product(1.5 / V100.eff, precision="fp32", kernels=kernels, peaks=V100,
                   category="convolution")  # fmt: skip
    assert rule_on(fast).judged


def test_more_than_memory_gives_is_impossible_only_beyond_the_cache() -> None:
    assert "impossible" in doubts(memory(1.3)).flags
    # 60 MB at 1.2 x: 10 MB beyond the 50 MB of L2 must have come from memory.
    assert "above-roof" in doubts(memory(1.2, time_us=15.0)).flags


def test_data_that_fits_half_of_a_split_cache_is_cache_resident() -> None:
    ruling = doubts(memory(1.5, time_us=4.0))
    assert "cache-resident" in ruling.flags
    assert "cache" in ruling.why


def test_without_strides_a_rate_above_the_roof_may_be_a_broadcast() -> None:
    fast = memory(1.3)
    ruling = doubts(replace(fast, work=replace(fast.work, strides=False)))
    assert "broadcast" in ruling.flags
    assert "impossible" not in ruling.flags


def test_bytes_that_every_kernel_exceeds_prove_no_slowness() -> None:
    slow = memory(0.3)
    ruling = doubts(replace(slow, work=replace(slow.work, bound="lower")))
    assert "lower bound" in ruling.why
    fast = memory(0.85)
    assert ruled(replace(fast, work=replace(fast.work, bound="lower")))[0] == "at-roof"


def test_an_upper_bound_above_the_roof_is_the_roof_where_less_is_certain() -> None:
    both = memory(1.2)
    assert both.work.bytes is not None
    sure = replace(both, work=replace(both.work, bound="upper", least=both.work.bytes * 2 // 3))
    ruling = rule_on(sure)
    assert ruling.judged
    assert ruling.rule == "at-roof"
    assert "above-roof" in ruling.flags


def test_nothing_is_called_slow_for_bytes_that_may_have_moved() -> None:
    slow = memory(0.5)
    assert slow.work.bytes is not None
    maybe = replace(slow, work=replace(slow.work, most=slow.work.bytes * 2))
    assert ruled(maybe)[0] == "at-roof"
    assert "up to 100%" in rule_on(maybe).why


def test_unconfirmed_peaks_give_figures_and_no_verdict() -> None:
    ruling = doubts(memory(0.3, peaks=card("GH200 96")))
    assert "not confirmed" in ruling.why
    assert ruling.bound == "memory"


def test_a_confirmed_rate_beside_an_unconfirmed_bandwidth_is_enough_for_a_product() -> None:
    assert ruled(product(0.9, peaks=card("GH200 96")))[0] == "at-roof"


def test_without_peaks_there_is_no_verdict() -> None:
    unknown = DeviceMatch(None, "not in the table", "nvidia")
    ruling = doubts(replace(memory(0.3), peaks=unknown))
    assert "not in the table" in ruling.why


def test_a_precision_that_nothing_tells_is_not_guessed() -> None:
    slow = replace(product(0.5, precision="fp32", kernels=("triton_tem_mm",), peaks=A100),
                   precision=None)  # fmt: skip
    assert "FP32 or TF32" in doubts(slow).why


def test_unknown_work_carries_its_reason() -> None:
    blank = replace(memory(0.3), work=Work(reason="no shapes recorded"))
    assert doubts(blank).why == "no shapes recorded"


def test_a_call_of_zero_ticks_is_not_judged() -> None:
    assert "clock tick" in doubts(replace(memory(0.3), time_ns=0.0)).why


def test_thresholds_can_be_replaced() -> None:
    lenient = Rulebook.of(Options(settings={"memory-bound-slow": {"bandwidth": 0.2}}))
    assert rule_on(memory(0.3), lenient).rule == ""
    assert rule_on(memory(0.3)).rule == "memory-bound-slow"


def test_layout_kernels_of_a_convolution_are_lost_whole() -> None:
    layout = replace(memory(0.9), work=Work(category="layout"), operator="aten::convolution")
    assert ruled(layout) == ("layout-copy", Layer.BOUNDARY)
    assert loss_of(layout) == layout.time_ns


def test_every_rule_has_a_fix() -> None:
    for rule in ("at-roof", "memory-bound-slow", "compute-bound-slow", "latency-bound",
                 "kernel-selection", "fp32-matmul", "layout-copy", "unfused-attention"):  # fmt: skip
        assert fix_for(rule, H100)
    assert fix_for("no-such-rule", H100) == ""


def balanced(fp32_to_bytes: float, time: float) -> Measured:
    """An FP32 product: its flops take so many times as long as its bytes, and it likewise."""
    size = 1 << 30
    bare = Measured("aten::mm", ("ampere_sgemm_128x128_nn",), Work(size, category="matmul"), 1, 1,
                    0.0, FLOOR, A100, "fp32")  # fmt: skip
    rate = A100.rate("fp32")
    assert rate is not None
    flops = round(fp32_to_bytes * bare.memory_ns * A100.eff * rate * 1e3)
    work = Work(size, flops, "fp32", "matmul", dims=(4096, 4096, 4096), contiguous=(4096,))
    return replace(bare, work=work, time_ns=time * bare.memory_ns)


def test_fp32_is_blamed_only_where_its_flops_take_longer_than_its_bytes() -> None:
    assert rule_on(balanced(2.0, 2.5)).rule == "fp32-matmul"
    assert rule_on(balanced(0.9, 2.5)).rule == "memory-bound-slow"


def test_fp32_is_not_blamed_where_a_narrower_type_would_gain_little() -> None:
    # TF32 would be bound by the same bytes: 1.2 times as fast is less than the rule asks for.
    assert rule_on(balanced(1.1, 1.2)).rule != "fp32-matmul"
    assert rule_on(balanced(1.1, 1.3)).rule == "fp32-matmul"

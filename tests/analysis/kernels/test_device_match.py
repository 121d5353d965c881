"""Every GPU name seen in recordings finds its row, and no other."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.analysis.kernels.device_table import DEVICE_ROWS
from whichlayer.analysis.kernels.peaks import device_entry, match_device
from whichlayer.analysis.results import Options

# Name, bytes, SMs, capability, row: as read from recordings.
SEEN = [
    ("", 206_141_652_992, 304, (9, 4), "MI300X"),
    ("AMD Instinct MI300X", 206_141_652_992, 304, (9, 4), "MI300X"),
    ("AMD Instinct MI300X VF", 205_571_227_648, 304, (9, 4), "MI300X"),
    ("AMD Instinct MI210", 68_702_699_520, 104, (9, 0), "MI210"),
    ("AMD Radeon Graphics", 68_702_699_520, 104, (9, 0), "MI210"),
    ("ARTEMIS", None, None, None, None),
    ("NVIDIA A100 80GB PCIe", 84_987_740_160, 108, (8, 0), "A100 PCIe 80"),
    ("NVIDIA A100-PCIE-40GB", 42_346_610_688, 108, (8, 0), "A100 PCIe 40"),
    ("NVIDIA A100-PG509-200", 42_505_273_344, 108, (8, 0), "A100 PG509"),
    ("NVIDIA A100-PG509-200", 85_000_000_000, 108, (8, 0), "A100 PG509 80"),
    ("NVIDIA A100-SXM4-80GB", 85_095_874_560, 108, (8, 0), "A100 SXM4 80"),
    ("NVIDIA A10G", 23_696_375_808, 80, (8, 6), "A10G"),
    ("NVIDIA B200", 191_503_138_816, 148, (10, 0), "B200 HGX"),
    ("NVIDIA B300 SXM6 AC", 287_431_131_136, 148, (10, 3), "B300 HGX"),
    ("NVIDIA GH200 480GB", 101_468_602_368, 132, (9, 0), "GH200 96"),
    ("NVIDIA GH200 480GB", 150_000_000_000, 132, (9, 0), "GH200 144"),
    ("NVIDIA GeForce RTX 2080 Ti", 11_554_586_624, 68, (7, 5), "GeForce RTX 2080 Ti"),
    ("NVIDIA GeForce RTX 4060", 8_585_084_928, 24, (8, 9), "GeForce RTX 4060"),
    ("NVIDIA H100 80GB HBM3", 85_018_279_936, 132, (9, 0), "H100 SXM5 80"),
    ("NVIDIA H100", 102_085_492_736, 132, (9, 0), "H100 96 GB"),
    ("Quadro GP100", 17_069_309_952, 56, (6, 0), "GP100"),
    ("Tesla P100-PCIE-16GB", 17_071_734_784, 56, (6, 0), "P100 PCIe 16 GB"),
    ("Tesla T4", 15_835_660_288, 40, (7, 5), "T4"),
    ("Tesla V100-DGXS-32GB", 34_087_305_216, 80, (7, 0), "V100 SXM2"),
    ("Tesla V100-DGXS-32GB", 34_084_028_416, None, (7, 0), "V100 SXM2"),
    ("Tesla V100-SXM2-16GB", 16_945_512_448, 80, (7, 0), "V100 SXM2"),
    ("NVIDIA A10", 24_000_000_000, 72, (8, 6), "A10"),
    ("NVIDIA L40", 48_000_000_000, 142, (8, 9), "L40"),
    ("NVIDIA L40S", 48_000_000_000, 142, (8, 9), "L40S"),
    ("NVIDIA H200 NVL", 150_000_000_000, 132, (9, 0), "H200 NVL"),
    ("NVIDIA GB200", 190_000_000_000, 152, (10, 0), "GB200"),
    ("AMD Instinct MI325X", 275_000_000_000, 304, (9, 4), "MI325X"),
]


def entry(
    name: str, memory: float | None, units: int | None, capability: tuple[int, int] | None
) -> dict[str, Any]:
    found: dict[str, Any] = {"id": 0, "name": name}
    if memory is not None:
        found["totalGlobalMem"] = memory
    if units is not None:
        found["numSms"] = units
    if capability is not None:
        found["computeMajor"], found["computeMinor"] = capability
    return found


@pytest.mark.parametrize(("name", "memory", "units", "capability", "row"), SEEN)
def test_names_of_recordings_find_their_row(
    name: str,
    memory: float | None,
    units: int | None,
    capability: tuple[int, int] | None,
    row: str | None,
) -> None:
    header = {"hip_runtime_version": 1} if not name else {}
    match = match_device(entry(name, memory, units, capability), header, Options())
    assert match.model == row


def test_the_form_of_2021_without_units_is_matched() -> None:
    old = {"id": 0, "name": "Tesla V100-DGXS-32GB", "totalGlobalMem": 34_084_028_416, "major": 7}
    match = match_device(old, {}, Options())
    assert (match.model, match.bandwidth_gbps, match.confirmed) == ("V100 SXM2", 900, True)


def test_an_empty_name_needs_units_and_memory_of_one_product() -> None:
    header = {"hip_driver_version": 1}
    by_memory = match_device(entry("", 275e9, 304, (9, 4)), header, Options())
    assert by_memory.model == "MI325X"
    # 256 units and 288 GiB are an MI350X or an MI355X: only the name tells.
    assert match_device(entry("", 309e9, 256, (9, 5)), header, Options()).model is None


def test_compute_capability_nine_is_not_hopper_on_amd() -> None:
    amd = match_device(entry("", 206e9, 304, (9, 4)) | {"warpSize": 64}, {}, Options())
    assert amd.vendor == "amd"
    assert amd.bandwidth_gbps == 5300


def test_a_mig_slice_is_scaled_by_units_and_memory() -> None:
    slice_ = entry("NVIDIA A100-SXM4-40GB MIG 3g.20gb", 21.2e9, 54, (8, 0))
    match = match_device(slice_, {}, Options())
    assert match.model == "A100 SXM4 40"
    assert match.bandwidth_gbps == pytest.approx(1555 / 2, rel=0.01)
    assert match.tflops["bf16"] == pytest.approx(156, rel=0.01)
    assert "54 of 108" in match.note
    assert match.confirmed


@pytest.mark.parametrize(
    ("name", "units"),
    [
        ("NVIDIA GeForce RTX 4090 Laptop GPU", 76),
        ("NVIDIA GeForce RTX 4080 SUPER", 80),
        ("NVIDIA GeForce RTX 4080 SUPER", 76),
    ],
)
def test_another_product_under_a_known_name_gives_no_verdict(name: str, units: int) -> None:
    match = match_device(entry(name, 16e9, units, (8, 9)), {}, Options())
    assert match.model is not None
    assert not match.confirmed
    assert "bandwidth" in match.unconfirmed


def test_figures_from_general_knowledge_alone_are_unconfirmed() -> None:
    p100 = match_device(entry("Tesla P100-PCIE-16GB", 17.07e9, 56, (6, 0)), {}, Options())
    assert {"bandwidth", "fp32"} <= p100.unconfirmed
    gh200 = match_device(entry("NVIDIA GH200 480GB", 101e9, 132, (9, 0)), {}, Options())
    assert gh200.unconfirmed == {"bandwidth"}
    a100 = match_device(entry("NVIDIA A100-SXM4-80GB", 85e9, 108, (8, 0)), {}, Options())
    assert a100.confirmed


def test_an_unlisted_card_says_about_what_its_units_give() -> None:
    match = match_device(entry("NVIDIA Z1", 80e9, 100, (9, 0)), {}, Options())
    # 100 SMs x 2048 FMA x 2 x 1.7 GHz = 696 TFLOP/s.
    assert match.model is None
    assert match.tflops["bf16"] == pytest.approx(696.3, rel=1e-3)
    assert match.bandwidth_gbps is None
    assert "about 696" in match.note
    assert not match.confirmed


def test_an_unlisted_card_that_records_its_clocks_has_a_bandwidth() -> None:
    card = entry("NVIDIA Z1", 80e9, 100, (9, 0))
    card |= {"memoryClockRate": 2_619_000, "memoryBusWidth": 5120, "clockRate": 1_980_000}
    match = match_device(card, {}, Options())
    # 2 x 2.619 GHz x 5120 bit / 8 = 3352 GB/s.
    assert match.bandwidth_gbps == pytest.approx(3352.3, rel=1e-3)


@pytest.mark.parametrize(
    ("typed", "row"),
    [
        ("MI300X", "MI300X"),
        ("mi300x", "MI300X"),
        ("H100 SXM5", "H100 SXM5 80"),
        ("h100-sxm5-80gb", "H100 SXM5 80"),
        ("A100-SXM4-80GB", "A100 SXM4 80"),
        ("NVIDIA A100-SXM4-80GB", "A100 SXM4 80"),
        ("B200", "B200 HGX"),
        ("rtx 4090", "GeForce RTX 4090"),
        ("A10", "A10"),
        ("H200", "H200 SXM"),
        ("L40S", "L40S"),
    ],
)
def test_users_may_type_a_model_loosely(typed: str, row: str) -> None:
    assert match_device(None, {}, Options(device_model=typed)).model == row


@pytest.mark.parametrize("row", DEVICE_ROWS, ids=lambda row: row.name)
def test_every_row_is_found_by_its_own_name(row: Any) -> None:
    assert match_device(None, {}, Options(device_model=row.name)).model == row.name


def test_an_ambiguous_model_lists_what_it_may_mean() -> None:
    with pytest.raises(ValueError, match=r"H100 SXM5 80.*H100 PCIe.*H100 NVL"):
        match_device(None, {}, Options(device_model="H100"))


def test_an_unknown_model_lists_near_ones() -> None:
    with pytest.raises(ValueError, match=r"MI305X.*near.*MI3[0-9]*X"):
        match_device(None, {}, Options(device_model="MI305X"))
    with pytest.raises(ValueError, match="unknown device model"):
        match_device(None, {}, Options(device_model="  "))


def test_peaks_that_the_user_gives_replace_and_are_confirmed() -> None:
    card = entry("Tesla P100-PCIE-16GB", 17.07e9, 56, (6, 0))
    options = Options(peak_bandwidth_gbps=700.0, peak_tflops={"fp32": 9.0})
    match = match_device(card, {}, options)
    assert match.bandwidth_gbps == 700.0
    assert match.rate("fp32") == 9.0
    assert match.unconfirmed == {"fp16"}


def test_a_given_fp32_rate_is_the_one_that_products_are_held_to() -> None:
    match = match_device(None, {}, Options(device_model="MI300X", peak_tflops={"fp32": 100.0}))
    assert match.rate("fp32") == 100.0


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_a_peak_must_be_a_positive_number(value: float) -> None:
    with pytest.raises(ValueError, match="positive"):
        match_device(None, {}, Options(device_model="T4", peak_bandwidth_gbps=value))


def test_rocm_agent_numbers_fall_back_to_equal_entries() -> None:
    one = {"id": 0, "name": "AMD Instinct MI300X", "numSms": 304}
    assert device_entry(9, {"deviceProperties": [one]}) == one
    eight = [dict(one, id=i) for i in range(8)]
    assert device_entry(2, {"deviceProperties": eight}) == eight[2]
    mixed = [one, {"id": 1, "name": "AMD Instinct MI210", "numSms": 104}]
    assert device_entry(7, {"deviceProperties": mixed}) is None
    assert device_entry(1, {"deviceProperties": mixed}) == mixed[1]


def test_properties_of_2021_have_another_key() -> None:
    old = {"id": 0, "name": "Tesla V100-DGXS-32GB"}
    assert device_entry(0, {"computeProperties": [old]}) == old


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)
KEYS = st.sampled_from(["id", "name", "totalGlobalMem", "numSms", "computeMajor", "warpSize"])


@given(properties=st.dictionaries(KEYS, JSON), listed=JSON)
def test_damaged_properties_never_raise(properties: dict[str, Any], listed: Any) -> None:
    match = match_device(properties, {"deviceProperties": listed}, Options())
    assert match.bandwidth_gbps is None or match.bandwidth_gbps > 0
    device_entry(0, {"deviceProperties": listed})


def test_every_rate_of_the_table_is_positive_and_every_confirmed_row_has_a_bandwidth() -> None:
    for row in DEVICE_ROWS:
        assert row.bandwidth > 0
        assert all(rate > 0 for rate in row.rates.values()), row.name
        assert row.checked.strip(), row.name
        assert row.eff is None or 0.3 <= row.eff <= 1.3, row.name


@pytest.mark.parametrize(
    ("recorded", "gbps"),
    [
        (760_080_000_000, 760.08),
        (760_080, None),
        (-1, None),
        (0, None),
        (10**30, None),
        ("x", None),
    ],
)
def test_an_unlisted_card_of_an_nsight_export_has_the_bandwidth_that_the_export_says(
    recorded: object, gbps: float | None
) -> None:
    card = {"name": "NVIDIA Thing 9000", "numSms": 68, "computeMajor": 8, "computeMinor": 6,
            "memoryBandwidth": recorded}  # fmt: skip
    found = match_device(card, {}, Options())
    assert found.model is None and found.bandwidth_gbps == gbps
    assert ("760 GB/s as recorded" in found.note) == (gbps is not None)
    assert "bandwidth" not in found.unconfirmed


def test_a_listed_card_keeps_the_bandwidth_of_its_data_sheet() -> None:
    card = {"name": "NVIDIA GeForce RTX 3080", "numSms": 68, "totalGlobalMem": 10_736_893_952,
            "memoryBandwidth": 1_000_000_000_000}  # fmt: skip
    assert match_device(card, {}, Options()).bandwidth_gbps == 760.0

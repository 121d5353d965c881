"""Products that share a name are told apart by memory and units, or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.analysis.kernels.device_names import rows_called
from whichlayer.analysis.kernels.device_table import DEVICE_ROWS, DeviceRow
from whichlayer.analysis.kernels.peaks import DeviceMatch, match_device
from whichlayer.analysis.report import render
from whichlayer.analysis.results import Options

# The fixtures of conftest.py, which cannot be imported.
Judged = Callable[..., Any]

NAMED = [(row, word) for row in DEVICE_ROWS for word in row.match]
SHARED = [
    (row, word) for row, word in NAMED if row.memory is not None and len(rows_called(word)) > 1
]
GEMM = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute"


def recognised(
    name: str, memory: float | None, units: int | None, vendor: str = "nvidia"
) -> DeviceMatch:
    brand = {"nvidia": "NVIDIA ", "amd": "AMD ", "intel": "Intel(R) "}[vendor]
    told = {"totalGlobalMem": memory, "numSms": units}
    known = {key: value for key, value in told.items() if value is not None}
    return match_device({"name": brand + name, "computeMajor": 9, **known}, {}, Options())


def middle(row: DeviceRow) -> float | None:
    return None if row.memory is None else sum(row.memory) / 2


@pytest.mark.parametrize(("row", "word"), NAMED, ids=[f"{row.name}-{word}" for row, word in NAMED])
def test_a_name_with_its_memory_and_units_finds_its_own_row(row: DeviceRow, word: str) -> None:
    found = recognised(word, middle(row), row.units or None, row.vendor)
    assert found.model == row.name
    assert "ambiguous" not in found.note


def test_rows_told_apart_by_memory_are_under_test() -> None:
    assert {row.name for row, _ in SHARED} >= {"H100 96 GB", "GH200 144", "H20 141", "A100 PG509"}


@given(
    shared=st.sampled_from(SHARED),
    memory=st.one_of(st.none(), st.floats(1e9, 400e9), st.sampled_from(
        [edge for row, _ in SHARED for edge in row.memory or ()])),
    units=st.one_of(st.none(), st.integers(1, 400), st.sampled_from(
        [one.units for _, word in SHARED for one in rows_called(word) if one.units])),
)  # fmt: skip
def test_a_shared_name_with_any_memory_is_a_row_it_fits_or_ambiguous(
    shared: tuple[DeviceRow, str], memory: float | None, units: int | None
) -> None:
    word = shared[1]
    found = recognised(word, memory, units)
    if found.model is None:
        assert "ambiguous" in found.note
        assert not found.confirmed
        return
    row = next(row for row in DEVICE_ROWS if row.name == found.model)
    assert row in rows_called(word)
    assert memory is not None and row.memory is not None
    assert row.memory[0] <= memory <= row.memory[1]
    assert units is None or abs(units / row.units - 1) <= 0.02


@pytest.mark.parametrize(
    ("name", "memory", "units"),
    [
        ("H100", 85e9, 132),
        ("H100", 85e9, 114),
        ("H100", 102e9, 114),
        ("H100", None, 132),
        ("H100 80GB", 85e9, 132),
        ("H100 MIG 1g.12gb", 12e9, 16),
        ("GH200 480GB MIG 4g.95gb", 100e9, 60),
        ("H20", None, 78),
    ],
)
def test_what_a_bare_name_leaves_open_names_no_board(
    name: str, memory: float | None, units: int
) -> None:
    found = recognised(name, memory, units)
    assert found.model is None
    assert "ambiguous" in found.note and "custom board" not in found.note
    assert found.bandwidth_gbps is None


@pytest.mark.parametrize(
    ("name", "memory", "units"),
    [("NVIDIA GeForce RTX 4090 Laptop GPU", 16e9, 76), ("NVIDIA H100", 85e9, 114)],
)
def test_a_rate_above_an_unconfirmed_roof_carries_its_flags(
    judged: Judged, call_class: Any, name: str, memory: float, units: int
) -> None:
    card = {"id": 0, "name": name, "totalGlobalMem": memory, "numSms": units,
            "computeMajor": 9, "computeMinor": 0, "warpSize": 32}  # fmt: skip
    # 2 x 4096^3 operations in 171 us: 804 TFLOP/s.
    one = call_class("aten::mm", [(GEMM, 2000, 171)], [[4096, 4096], [4096, 4096]],
                     ["c10::BFloat16"] * 2)  # fmt: skip
    recording = judged([one], card)
    group = recording.only()
    assert group.roof_fraction > 1
    assert {"above-roof", "peak-unconfirmed"} <= set(group.flags)
    assert group.rule == "" and group.lost_ns == 0
    text = render(recording.analysis, "text").decode()
    assert "peak-unconfirmed: the peak of this card is not confirmed" in text
    kernels = json.loads(render(recording.analysis, "json"))["kernels"]
    assert "peak-unconfirmed" in kernels[0]["flags"]


def test_a_rate_below_an_unconfirmed_roof_needs_no_flag(judged: Judged, call_class: Any) -> None:
    card = {"id": 0, "name": "NVIDIA H100", "totalGlobalMem": 85e9, "numSms": 114,
            "computeMajor": 9, "computeMinor": 0, "warpSize": 32}  # fmt: skip
    one = call_class("aten::mm", [(GEMM, 2000, 400)], [[4096, 4096], [4096, 4096]],
                     ["c10::BFloat16"] * 2)  # fmt: skip
    assert not {"above-roof", "peak-unconfirmed"} & set(judged([one], card).only().flags)

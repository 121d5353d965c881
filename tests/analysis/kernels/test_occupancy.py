"""Residency on an SM is what CUDA's occupancy calculator says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.recordings import loaded
from whichlayer.analysis.kernels.device_table import DEVICE_ROWS, capability_of
from whichlayer.analysis.kernels.occupancy import LaunchShape, Residency, residency
from whichlayer.analysis.kernels.peaks import match_device
from whichlayer.analysis.kernels.sm_limits import LIMITS, limits_of
from whichlayer.analysis.results import Options
from whichlayer.analysis.trace.kinds import SliceKind

A100, H100, T4, V100 = LIMITS[8, 0], LIMITS[9, 0], LIMITS[7, 5], LIMITS[7, 0]
KB = 1024


def on(limits: Any, threads: int, registers: int, shared: int = 0, blocks: int = 1000) -> Residency:
    found = residency(LaunchShape(blocks, threads, registers, shared), limits, 100)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("limits", "threads", "registers", "shared", "resident", "limiter"),
    [
        (A100, 256, 32, 0, 8, "warps"),  # 8 warps of 64
        (A100, 1024, 32, 0, 2, "warps"),
        (A100, 32, 16, 0, 32, "blocks"),
        # 255 x 32 registers are 8192 a warp: 2 of a scheduler's 16384, 8 on the SM, 4 a block.
        (A100, 128, 255, 0, 2, "registers"),
        # 48 x 32 = 1536: 10 warps a scheduler, 40 on the SM, 8 a block.
        (A100, 256, 48, 0, 5, "registers"),
        # 49 x 32 = 1568, given out as 1792: 9 warps a scheduler, 36 on the SM.
        (A100, 256, 49, 0, 4, "registers"),
        # 163 KB and the 1 KB that the system takes: one block of 164 KB.
        (A100, 128, 32, 163 * KB, 1, "shared memory"),
        (A100, 128, 32, 81 * KB, 2, "shared memory"),
        (A100, 128, 32, 81 * KB + 1, 1, "shared memory"),
        (H100, 128, 32, 100 * KB, 2, "shared memory"),  # 2 x 101 KB of 228
        # Before Ampere nothing is taken, and units are 256 bytes.
        (V100, 64, 32, 48 * KB, 2, "shared memory"),
        (V100, 32, 32, 3 * KB, 32, "blocks"),
        (T4, 256, 32, 0, 4, "warps"),  # 32 warps of 1024 threads
    ],
)
def test_blocks_on_an_sm_are_those_of_the_calculator(
    limits: Any, threads: int, registers: int, shared: int, resident: int, limiter: str
) -> None:
    found = on(limits, threads, registers, shared)
    assert (found.resident, found.limiter) == (resident, limiter)
    assert found.occupancy == resident * threads / 32 / limits.warps


def test_waves_are_the_grid_over_what_runs_at_once() -> None:
    found = on(A100, 256, 32, blocks=1200)  # 8 blocks on each of 100 SMs
    assert found.waves == 1.5
    assert found.tail == 0.75


def test_a_block_whose_size_is_no_multiple_of_a_warp_takes_whole_warps() -> None:
    assert on(A100, 33, 32).occupancy == on(A100, 64, 32).occupancy


@pytest.mark.parametrize(
    "detail",
    [
        {},
        {"grid": [1, 1, 1]},
        {"grid": [1, 1, 1], "block": []},
        {"grid": [0, 1, 1], "block": [32, 1, 1]},
        {"grid": [True, 1, 1], "block": [32, 1, 1]},
        {"grid": [1, 1, 1], "block": [4096, 1, 1]},
        {"grid": [1, 1, 1], "block": [float("nan"), 1, 1]},
        {"grid": [1 << 40, 1 << 40, 1], "block": [32, 1, 1]},
        {"grid": "1,1,1", "block": [32, 1, 1]},
    ],
)
def test_a_launch_without_usable_sizes_is_unknown(detail: dict[str, Any]) -> None:
    assert LaunchShape.from_detail(detail) is None


@pytest.mark.parametrize("registers", [None, True, -1, 256, "32", float("inf")])
def test_unusable_registers_leave_residency_unknown(registers: Any) -> None:
    shape = LaunchShape.from_detail(
        {"grid": [8, 1, 1], "block": [128, 1, 1], "registers per thread": registers,
         "shared memory": 0}
    )  # fmt: skip
    assert shape is not None
    assert residency(shape, A100, 108) is None


def test_a_grid_in_work_items_is_divided_by_the_block() -> None:
    detail = {"grid": [1000, 2, 1], "block": [256, 1, 1]}
    shape = LaunchShape.from_detail(detail, in_threads=True)
    assert shape is not None
    assert shape.blocks == 8
    assert residency(shape, A100, 108) is None  # AMD records no registers


def test_what_cannot_have_run_is_unknown() -> None:
    assert residency(LaunchShape(8, 1024, 255, 0), A100, 108) is None
    assert residency(LaunchShape(8, 32, 32, 1 << 20), A100, 108) is None


@given(
    threads=st.integers(1, 1024),
    registers=st.integers(0, 254),
    shared=st.integers(0, 227 * KB),
    limits=st.sampled_from(list(LIMITS.values())),
)
def test_more_registers_or_shared_memory_never_fit_more_blocks(
    threads: int, registers: int, shared: int, limits: Any
) -> None:
    less = residency(LaunchShape(1, threads, registers, shared), limits, 10)
    more = residency(LaunchShape(1, threads, registers + 1, shared + 1), limits, 10)
    if more is not None:
        assert less is not None
        assert more.resident <= less.resident
        assert 0 < more.occupancy <= 1


def test_every_nvidia_row_has_limits_for_when_it_is_named_by_hand() -> None:
    for row in DEVICE_ROWS:
        capability = capability_of(row.name)
        assert (capability in LIMITS) == (row.vendor == "nvidia"), row.name


def test_a_named_card_brings_its_sms_and_a_recorded_one_its_own() -> None:
    named = match_device(None, {}, Options(device_model="B200"))
    assert (named.units, named.sm) == (148, LIMITS[10, 0])
    entry = {"name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85_095_874_560, "numSms": 98,
             "computeMajor": 8, "computeMinor": 0, "warpSize": 32,
             "sharedMemPerMultiprocessor": 100 * KB}  # fmt: skip
    found = match_device(entry, {}, Options())
    assert found.units == 98
    assert found.sm is not None
    assert found.sm.shared_bytes == 100 * KB
    assert match_device(None, {}, Options(device_model="MI300X")).sm is None


@pytest.mark.parametrize("capability", [None, (99, 0), (3, 5)])
def test_an_unlisted_architecture_has_no_limits(capability: tuple[int, int] | None) -> None:
    assert limits_of(capability, {}) is None


def test_real_recordings_estimate_the_same_up_to_48_kb_of_shared_memory(traces: Path) -> None:
    """The recorded estimate is the smaller of grid over SMs and residency, as a share of warps.

    Kineto asks the calculator without the opt-in for more shared memory, and writes 0 there.
    """
    compared = 0
    for path in [*traces.glob("*.json"), *traces.glob("*.json.gz")]:
        if not path.name.startswith(
            ("hta_a100", "hta_v100", "kineto_resnet", "tl_h100", "tl_b200")
        ):
            continue
        trace = loaded(path)
        (entry, *_) = trace.header.get("deviceProperties") or [{}]
        limits = limits_of((entry.get("computeMajor", 0), entry.get("computeMinor", 0)), entry)
        rows = np.flatnonzero(trace.kind == SliceKind.KERNEL)
        for one in np.unique(trace.detail_id[rows]).tolist():
            detail = trace.detail_by_id(one)
            shape, told = LaunchShape.from_detail(detail), detail.get("est. achieved occupancy %")
            if shape is None or told is None or limits is None:
                continue
            units = entry["numSms"]
            found = residency(shape, limits, units)
            assert found is not None
            if (shape.shared_bytes or 0) > 48 * KB:
                assert told == 0
                continue
            warps = min(shape.blocks / units, found.resident) * shape.threads / 32
            assert abs(100 * warps / limits.warps - told) <= 1, (path.name, detail)
            compared += 1
    assert compared > 1000

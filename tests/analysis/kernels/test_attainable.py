"""Bandwidth that a call of its size can reach, and whether its data may be in the cache."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.analysis.kernels.attainable import attainable_gbps, fits_cache
from whichlayer.analysis.kernels.measure import Floor, Measured
from whichlayer.analysis.kernels.peaks import DeviceMatch, match_device
from whichlayer.analysis.kernels.work import Work
from whichlayer.analysis.results import Options


def card(model: str) -> DeviceMatch:
    return match_device(None, {}, Options(device_model=model))


H100 = card("H100 SXM5")  # 3350 GB/s, 50 MB of L2 in two halves
FLOOR = Floor(2000.0, measured=True)


def moving(size: int, time_ns: float = 1e5, peaks: DeviceMatch = H100) -> Measured:
    work = Work(bytes=size, category="pointwise")
    return Measured("aten::add", ("add",), work, 1, 1, time_ns, FLOOR, peaks)


def test_a_small_transfer_is_mostly_latency() -> None:
    # 1 MB: 2000 ns + 1e6 / (0.9 x 3350) = 2000 + 331.7 ns, so 1e6 / 2331.7 = 428.9 GB/s.
    assert attainable_gbps(moving(1_000_000)) == pytest.approx(428.9, rel=1e-3)


def test_half_of_the_rate_is_reached_where_latency_and_transfer_take_as_long() -> None:
    # Hockney's n1/2: 2000 ns x 3015 GB/s = 6.03 MB.
    assert attainable_gbps(moving(6_030_000)) == pytest.approx(3015 / 2)


def test_a_large_transfer_comes_near_to_what_kernels_reach() -> None:
    # 1 GB: 2 µs + 331.67 µs.
    assert attainable_gbps(moving(10**9)) == pytest.approx(1e9 / 333_674.96, rel=1e-6)


def test_every_launch_costs_its_latency() -> None:
    twice = replace(moving(1_000_000), launches=2)
    assert attainable_gbps(twice) == pytest.approx(1e6 / (4000 + 331.675), rel=1e-5)


def test_a_floor_that_matters_is_not_assumed() -> None:
    unknown = Floor()
    assert attainable_gbps(replace(moving(1_000_000), floor=unknown)) is None
    # 8 µs at most are less than 5 % of the 332 µs of a gigabyte.
    assert attainable_gbps(replace(moving(10**9), floor=unknown)) is not None


def test_arithmetic_limits_what_is_moved() -> None:
    # bf16 8192 cubed: 2 x 8192**3 / (0.75 x 989.4e3) ns = 1481.7 µs for 402.7 MB.
    work = Work(bytes=3 * 8192 * 8192 * 2, flops=2 * 8192**3, precision="bf16", category="matmul")
    product = replace(moving(1), work=work, precision="bf16")
    assert attainable_gbps(product) == pytest.approx(402_653_184 / (2000 + 1_481_720), rel=1e-3)
    # Whether it ran in FP32 or TF32 decides by how much.
    assert attainable_gbps(replace(product, precision=None)) is None


@pytest.mark.parametrize("size", [None, 0])
def test_without_bytes_there_is_no_figure(size: int | None) -> None:
    nothing = replace(moving(1), work=Work(bytes=size))
    assert attainable_gbps(nothing) is None
    assert fits_cache(nothing) is (None if size is None else True)


def test_a_card_that_is_not_known_has_no_figure() -> None:
    unknown = replace(moving(1_000), peaks=DeviceMatch(None, "not in the table", ""))
    assert attainable_gbps(unknown) is None
    assert fits_cache(unknown) is None


@pytest.mark.parametrize(
    ("model", "usable"),
    [
        ("H100 SXM5", 25_000_000),  # 50 MB in two halves
        ("B200", 63_000_000),  # 126 MB in two halves
        ("MI300X", 288_000_000),  # 32 MB of L2 and 256 MB of Infinity Cache
        ("RTX 4090", 72_000_000),  # one L2
    ],
)
def test_what_fits_the_cache_depends_on_how_it_is_built(model: str, usable: int) -> None:
    peaks = card(model)
    assert fits_cache(moving(usable, peaks=peaks)) is True
    assert fits_cache(moving(usable + 1, peaks=peaks)) is False


@given(st.integers(1, 1 << 40), st.integers(1, 1 << 40))
def test_larger_transfers_attain_more_and_never_more_than_well_made_kernels(
    one: int, other: int
) -> None:
    small, large = (attainable_gbps(moving(size)) for size in sorted((one, other)))
    assert small is not None and large is not None
    assert 0 < small <= large * (1 + 1e-12)
    assert large < 0.9 * 3350

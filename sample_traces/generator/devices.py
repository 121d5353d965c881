"""The simulated GPUs: what their data sheets say and what launching on them costs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU model: figures of the data sheet, then times seen in recordings of such a card.

    Rates are dense: GB/s (10^9) and TFLOP/s. ``matmul_share`` is the share of the matrix rate
    that large products reach in practice; times are in microseconds.
    """

    name: str
    memory_bytes: int
    compute_capability: tuple[int, int]
    sms: int
    shared_per_block_optin: int
    shared_per_sm: int
    bandwidth_gbps: float
    tflops: dict[str, float]
    matmul_share: float
    launch_latency_us: float
    spacing_us: float
    floor_us: float
    pinned_gbps: float
    pageable_gbps: float
    runtime_version: int
    driver_version: int
    cupti_version: int


A100 = Gpu(
    name="NVIDIA A100-SXM4-80GB",
    memory_bytes=85_095_874_560,
    compute_capability=(8, 0),
    sms=108,
    shared_per_block_optin=166_912,
    shared_per_sm=167_936,
    bandwidth_gbps=2039.0,
    tflops={"fp32": 19.5, "tf32": 156.0, "bf16": 312.0},
    matmul_share=0.85,
    launch_latency_us=2.3,
    spacing_us=1.5,
    floor_us=2.2,
    pinned_gbps=24.6,
    pageable_gbps=5.6,
    runtime_version=12040,
    driver_version=12080,
    cupti_version=22,
)

H100 = Gpu(
    name="NVIDIA H100 80GB HBM3",
    memory_bytes=85_018_279_936,
    compute_capability=(9, 0),
    sms=132,
    shared_per_block_optin=232_448,
    shared_per_sm=233_472,
    bandwidth_gbps=3350.0,
    tflops={"fp32": 67.0, "tf32": 494.7, "bf16": 989.4},
    matmul_share=0.75,
    launch_latency_us=1.6,
    spacing_us=1.25,
    floor_us=1.5,
    pinned_gbps=52.0,
    pageable_gbps=9.0,
    runtime_version=12040,
    driver_version=12090,
    cupti_version=22,
)

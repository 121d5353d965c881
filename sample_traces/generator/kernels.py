"""Kernels: launch shape, resources, and how long the device needs for their work."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from math import prod
from typing import Any

from sample_traces.generator.devices import Gpu
from sample_traces.generator.noise import Noise
from sample_traces.generator.records import Work

Grid = tuple[int, int, int]

#: Above this, the estimate that the profiler prints knows no resident block: it prints 0 %.
DEFAULT_SHARED_BYTES = 49_152


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel as launched; ``quality`` is the share of the roof that it reaches."""

    name: str
    grid: Grid
    block: Grid
    registers: int
    work: Work
    quality: float = 0.9
    shared: int = 0
    call: str = "cudaLaunchKernel"


def kernel_duration(gpu: Gpu, kernel: Kernel, noise: Noise) -> int:
    """Nanoseconds on an otherwise idle device.

    The larger of bytes over bandwidth and flops over the reachable matrix rate, divided by the
    kernel's quality, plus part of the floor of a trivial kernel; in ticks of 32 ns.
    """
    work = kernel.work
    moving = work.bytes / (gpu.bandwidth_gbps * kernel.quality)  # bytes / (GB/s) = ns
    computing = 0.0
    if work.flops:
        rate = gpu.tflops[work.precision] * gpu.matmul_share * kernel.quality
        computing = work.flops / (rate * 1e3)
        # A product that is memory bound moves its bytes as well as a copy does.
        moving = work.bytes / (gpu.bandwidth_gbps * 0.88)
    floor = gpu.floor_us * 1e3 * (0.75 + 0.5 * noise.uniform("floor"))
    duration = noise.around(max(moving, computing), 0.008, "kernel")
    if duration < 8 * floor:
        duration += floor
    return max(800, round(duration / 32) * 32)


def launch_details(gpu: Gpu, kernel: Kernel) -> dict[str, Any]:
    """The arguments that Kineto prints after the correlation of a kernel."""
    blocks_per_sm = prod(kernel.grid) / gpu.sms
    warps = -(-prod(kernel.block) // 32)
    return {
        "registers per thread": kernel.registers,
        "shared memory": kernel.shared,
        "blocks per SM": _float32(blocks_per_sm),
        "warps per SM": _float32(prod(kernel.grid) * (prod(kernel.block) / 32) / gpu.sms),
        "grid": list(kernel.grid),
        "block": list(kernel.block),
        "est. achieved occupancy %": _occupancy(gpu, kernel, blocks_per_sm, warps),
    }


def _occupancy(gpu: Gpu, kernel: Kernel, blocks_per_sm: float, warps: int) -> int:
    if kernel.shared > DEFAULT_SHARED_BYTES:
        return 0
    registers = -(-kernel.registers * 32 // 256) * 256 * warps
    resident = min(32, 64 // warps, 65_536 // registers)
    if kernel.shared:
        resident = min(resident, gpu.shared_per_sm // (kernel.shared + 1024))
    return round(min(blocks_per_sm, resident) * warps / 64 * 100)


def _float32(value: float) -> float:
    rounded: float = struct.unpack("f", struct.pack("f", value))[0]
    return rounded

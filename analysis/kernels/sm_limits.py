"""What one multiprocessor of each NVIDIA architecture holds at once.

Warps, blocks and shared memory: the table of technical specifications by compute capability in
the CUDA C++ Programming Guide. Allocation units, partitions of the register file and the 1 KB
that the system takes of each block's shared memory from 8.0 on: CUDA's ``cuda_occupancy.h``
(``cudaOccRegAllocationGranularity``, ``cudaOccSubPartitionsPerMultiprocessor``,
``cudaOccSMemAllocationGranularity``). A recording's own ``deviceProperties`` come first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

#: Threads of a warp on every NVIDIA GPU.
WARP: Final = 32
_KB: Final = 1024


@dataclass(frozen=True, slots=True)
class SmLimits:
    """What fits one SM.

    Attributes:
        warps: resident at once.
        blocks: resident at once.
        shared_bytes: shared memory at the largest carve-out.
        registers: 32-bit registers.
        partitions: the schedulers among which registers are split.
        register_unit: registers are given to a warp in multiples of this.
        shared_unit: shared memory is given to a block in multiples of this.
        reserved_bytes: shared memory that the system takes of every block.
    """

    warps: int
    blocks: int
    shared_bytes: int
    registers: int = 65536
    partitions: int = 4
    register_unit: int = 256
    shared_unit: int = 128
    reserved_bytes: int = 1024


def _older(warps: int, blocks: int, shared_kb: int, partitions: int = 4) -> SmLimits:
    """Before Ampere: units of 256 bytes, and nothing reserved."""
    return SmLimits(warps, blocks, shared_kb * _KB, partitions=partitions, shared_unit=256,
                    reserved_bytes=0)  # fmt: skip


#: By compute capability.
LIMITS: Final[Mapping[tuple[int, int], SmLimits]] = {
    (6, 0): _older(64, 32, 64, partitions=2),
    (6, 1): _older(64, 32, 96),
    (6, 2): _older(64, 32, 64),
    (7, 0): _older(64, 32, 96),
    (7, 2): _older(64, 32, 96),
    (7, 5): _older(32, 16, 64),
    (8, 0): SmLimits(64, 32, 164 * _KB),
    (8, 6): SmLimits(48, 16, 100 * _KB),
    (8, 7): SmLimits(48, 16, 164 * _KB),
    (8, 9): SmLimits(48, 24, 100 * _KB),
    (9, 0): SmLimits(64, 32, 228 * _KB),
    (10, 0): SmLimits(64, 32, 228 * _KB),
    (10, 3): SmLimits(64, 32, 228 * _KB),
    (12, 0): SmLimits(48, 24, 100 * _KB),
    (12, 1): SmLimits(48, 24, 100 * _KB),
}


def limits_of(capability: tuple[int, int] | None, entry: Mapping[str, Any]) -> SmLimits | None:
    """Limits of an NVIDIA GPU; None for a capability that is not listed.

    Args:
        capability: (major, minor), or None.
        entry: of ``deviceProperties``; what it tells of an SM replaces the table's figures.
    """
    found = LIMITS.get(capability) if capability is not None else None
    if found is None:
        return None
    threads = _positive(entry.get("maxThreadsPerMultiprocessor"))
    shared = _positive(entry.get("sharedMemPerMultiprocessor"))
    registers = _positive(entry.get("regsPerMultiprocessor"))
    return replace(
        found,
        warps=max(threads // WARP, 1) if threads else found.warps,
        shared_bytes=shared or found.shared_bytes,
        registers=registers or found.registers,
    )


def _positive(value: Any) -> int:
    usable = isinstance(value, int) and not isinstance(value, bool) and 0 < value <= 1 << 24
    return value if usable else 0

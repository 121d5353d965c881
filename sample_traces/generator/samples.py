"""The list of samples."""

from __future__ import annotations

from collections.abc import Callable

from sample_traces.generator.programs import (
    dataloader_bound,
    fp32_matmul_a100,
    healthy,
    host_sync,
    launch_bound_decode,
    memory_bound_slow,
    unpinned_copies,
)
from sample_traces.generator.sample import Sample

BUILDERS: dict[str, Callable[[], Sample]] = {
    dataloader_bound.NAME: dataloader_bound.build,
    host_sync.NAME: host_sync.build,
    launch_bound_decode.NAME: launch_bound_decode.build,
    unpinned_copies.NAME: unpinned_copies.build,
    memory_bound_slow.NAME: memory_bound_slow.build,
    fp32_matmul_a100.NAME: fp32_matmul_a100.build,
    healthy.NAME: healthy.build,
}

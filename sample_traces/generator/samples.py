"""The list of samples."""

from __future__ import annotations

from collections.abc import Callable

from sample_traces.generator.programs import (
    dataloader_bound,
    healthy,
    host_sync,
    unpinned_copies,
)
from sample_traces.generator.sample import Sample

BUILDERS: dict[str, Callable[[], Sample]] = {
    dataloader_bound.NAME: dataloader_bound.build,
    host_sync.NAME: host_sync.build,
    unpinned_copies.NAME: unpinned_copies.build,
    healthy.NAME: healthy.build,
}

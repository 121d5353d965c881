"""The arguments of events that analysis needs, kept as text and stored once per distinct set.

Arguments that differ from event to event (indices, addresses, sequence numbers) are left
out: nothing would be shared. ``Trace.args`` reads those from the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whichlayer.analysis.reader.repair import decode_value
from whichlayer.analysis.trace.kinds import GPU_WORK, SliceKind

_COLLECTIVE = (
    "Collective name",
    "In msg nelems",
    "Out msg nelems",
    "Group size",
    "dtype",
    "In split size",
    "Out split size",
    "Process Group Name",
    "Process Group Description",
    "Process Group Ranks",
    "Rank",
    "Src Rank",
    "Dst Rank",
)

_OPERATOR = (
    "Input Dims",
    "Input dims",
    "Input type",
    "Input Strides",
    "Concrete Inputs",
    "Output dims",
    "Output type",
    "Fwd thread id",
    "Call stack",
    "Module Hierarchy",
    "kernel_backend",
    "kernel_file",
    "kernel_hash",
    "kernel_kwargs",
    "kernel_name",
    "kernel_num_gb",
    "kernel_flop",
    "grid",
    "num_warps",
    "num_stages",
    "stream",
    *_COLLECTIVE,
)

_RUNTIME = (
    "cbid",
    "cid",
    "grid",
    "block",
    "shared memory",
    "kernel",
    "grid dim",
    "block dim",
    "shared size",
    "Kernel",
    "bytes",
    "size",
    "kind",
)

_DEVICE = (
    "device",
    "stream",
    "grid",
    "block",
    "registers per thread",
    "shared memory",
    "blocks per SM",
    "warps per SM",
    "est. achieved occupancy %",
    "theoretical occupancy %",
    "bytes",
    "kind",
    "graph id",
    *_COLLECTIVE,
)

_SYNC = (
    "device",
    "stream",
    "cuda_sync_kind",
    "wait_on_stream",
    "wait_on_cuda_event_id",
    "wait_on_cuda_event_record_corr_id",
)

#: The arguments that ``Trace.detail`` gives, by kind of slice.
DETAIL_KEYS: Mapping[SliceKind, tuple[str, ...]] = {
    SliceKind.CPU_OP: _OPERATOR,
    SliceKind.ANNOTATION: _OPERATOR,
    SliceKind.RUNTIME: _RUNTIME,
    SliceKind.GPU_ANNOTATION: ("device", "stream"),
    SliceKind.GPU_SYNC: _SYNC,
} | dict.fromkeys(GPU_WORK, _DEVICE)


def decode_detail(detail: bytes) -> Mapping[str, Any]:
    """The kept arguments of one event, as recorded."""
    decoded = decode_value(detail)
    return decoded if isinstance(decoded, dict) else {}

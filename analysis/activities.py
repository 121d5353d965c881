"""GPU activities: which slices occupy a device, and what each counts as."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.among import among
from whichlayer.analysis.states import Role
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import GPU_WORK, SliceKind

#: Names of kernels that communicate. Source: the communication libraries' kernel names as
#: seen in recordings (NCCL, RCCL, NVSHMEM, symmetric memory, vLLM, DeepEP, oneCCL, HCCL).
COLLECTIVE = re.compile(
    r"nccl|rccl|nvshmem|multimem|symm_mem|cross_device_reduce|one_shot_all|two_shot_all"
    r"|deep_ep|oneccl|hccl",
    re.IGNORECASE,
)

#: Copies that stay on one device are its own work; all others are transfers.
ON_DEVICE_COPY = re.compile(r"\bDtoD\b|Device -> Device|Device To Device", re.IGNORECASE)
_PEER_COPY = re.compile(r"\bPtoP\b|Peer", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Activities:
    """The activities of one device, sorted by start (ties: by end, then trace row).

    Attributes:
        number: the device as recorded.
        row: int32 (n,), trace rows.
        start_ns, end_ns: int64 (n,).
        role: uint8 (n,), a ``Role``.
        launch: int32 (n,), trace row of the launch, -1 where the file holds none.
        lane: int32 (n,).
    """

    number: int
    row: NDArray[np.int32]
    start_ns: NDArray[np.int64]
    end_ns: NDArray[np.int64]
    role: NDArray[np.uint8]
    launch: NDArray[np.int32]
    lane: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.row)


def role_of(kind: int, name: str) -> Role:
    """What one activity counts as.

    Device-to-device copies and memsets are the device's own work; transfers to or from the
    host or a peer are copies; kernels that communicate are comm.
    """
    if kind == SliceKind.KERNEL:
        return Role.COMM if COLLECTIVE.search(name) else Role.COMPUTE
    if kind == SliceKind.MEMCPY:
        on_device = ON_DEVICE_COPY.search(name) and not _PEER_COPY.search(name)
        return Role.COMPUTE if on_device else Role.COPY
    return Role.COMPUTE


def collect_activities(trace: Trace) -> tuple[Activities, ...]:
    """The activities of every device that has any, by device number."""
    rows = np.flatnonzero(among(trace.kind, GPU_WORK) & ~trace.stray)
    if not len(rows):
        return ()
    device_of_lane = np.array([lane.device for lane in trace.lanes], np.int64)
    device = device_of_lane[trace.lane_id[rows]]
    return tuple(_one_device(trace, int(n), rows[device == n]) for n in np.unique(device))


def _one_device(trace: Trace, number: int, rows: NDArray[np.intp]) -> Activities:
    start, end = trace.start_ns[rows], trace.end_ns[rows]
    order = np.lexsort((rows, end, start))
    row = rows[order].astype(np.int32)
    return Activities(
        number=number,
        row=row,
        start_ns=trace.start_ns[row],
        end_ns=trace.end_ns[row],
        role=roles_of(trace, row),
        launch=trace.launch[row],
        lane=trace.lane_id[row],
    )


def roles_of(trace: Trace, rows: NDArray[np.int32]) -> NDArray[np.uint8]:
    """As :func:`role_of`, of many activities: uint8 (rows,)."""
    keys = trace.name_id[rows].astype(np.int64) * 16 + trace.kind[rows]
    unique, inverse = np.unique(keys, return_inverse=True)
    roles = np.array(
        [role_of(int(key) % 16, trace.strings[int(key) // 16]) for key in unique], np.uint8
    )
    return roles[inverse]

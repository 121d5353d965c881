"""Small Nsight Systems exports, written row by row with the columns that analysis needs."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MACHINE = 281474976710656  # the bits above process and thread that every recording has

PLACE = ("start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid")
SCHEMA: dict[str, tuple[str, ...]] = {
    "StringIds": ("id INTEGER PRIMARY KEY", "value TEXT"),
    "CUPTI_ACTIVITY_KIND_KERNEL": (
        *PLACE, "demangledName", "shortName", "mangledName", "registersPerThread", "gridX",
        "gridY", "gridZ", "blockX", "blockY", "blockZ", "staticSharedMemory",
        "dynamicSharedMemory", "graphNodeId", "graphId",
    ),
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": (*PLACE, "graphId", "graphExecId"),
    "CUPTI_ACTIVITY_KIND_MEMCPY": (*PLACE, "bytes", "copyKind", "srcKind", "dstKind"),
    "CUPTI_ACTIVITY_KIND_MEMSET": (*PLACE, "value", "bytes", "memKind"),
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": (*PLACE, "syncType", "eventId", "eventSyncId"),
    "CUPTI_ACTIVITY_KIND_CUDA_EVENT": (
        "deviceId", "contextId", "streamId", "correlationId", "globalPid", "eventId",
        "eventSyncId",
    ),
    "CUPTI_ACTIVITY_KIND_RUNTIME": (
        "start", "end", "eventClass", "globalTid", "correlationId", "nameId", "returnValue",
    ),
    "CUPTI_ACTIVITY_KIND_OVERHEAD": (
        "start", "end", "globalTid", "correlationId", "nameId", "overheadType",
    ),
    "PROFILER_OVERHEAD": ("start", "end", "globalTid", "nameId", "overheadType"),
    "NVTX_EVENTS": (
        "start", "end", "eventType", "text", "globalTid", "endGlobalTid", "textId", "domainId",
    ),
    "OSRT_API": ("start", "end", "globalTid", "nameId"),
    "GPU_METRICS": ("timestamp", "typeId", "metricId", "value"),
    "TARGET_INFO_GPU_METRICS": ("typeId", "metricId", "metricName"),
    "PROCESSES": ("globalPid", "pid", "name"),
    "ThreadNames": ("nameId", "priority", "globalTid"),
    "TARGET_INFO_GPU": (
        "id", "name", "totalMemory", "memoryBandwidth", "clockRate", "smCount", "computeMajor",
        "computeMinor", "threadsPerWarp", "l2CacheSize",
    ),
    "TARGET_INFO_CUDA_DEVICE": ("gpuId", "cudaId", "pid"),
    "TARGET_INFO_SESSION_START_TIME": ("utcEpochNs",),
    "META_DATA_EXPORT": ("name", "value"),
}  # fmt: skip


def global_pid(pid: int) -> int:
    return MACHINE | pid << 24


def global_tid(pid: int, tid: int) -> int:
    return global_pid(pid) | tid


@dataclass
class Export:
    """An export under construction; times are nanoseconds."""

    rows: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict)
    texts: dict[str, int] = field(default_factory=dict)

    def add(self, table: str, **values: Any) -> None:
        self.rows.setdefault(table, []).append(values)

    def text(self, value: str) -> int:
        return self.texts.setdefault(value, len(self.texts) + 1)

    def call(
        self, name: str, start: int, end: int, correlation: int, pid: int = 100, tid: int = 101
    ) -> None:
        self.add(
            "CUPTI_ACTIVITY_KIND_RUNTIME", start=start, end=end, eventClass=0,
            globalTid=global_tid(pid, tid), correlationId=correlation, nameId=self.text(name),
            returnValue=0,
        )  # fmt: skip

    def place(
        self, start: int, end: int, correlation: int, pid: int, device: int, stream: int
    ) -> dict[str, int]:
        return {
            "start": start, "end": end, "deviceId": device, "contextId": 1 + device,
            "streamId": stream, "correlationId": correlation, "globalPid": global_pid(pid),
        }  # fmt: skip

    def kernel(
        self,
        name: str,
        start: int,
        end: int,
        correlation: int,
        *,
        pid: int = 100,
        device: int = 0,
        stream: int = 7,
        **more: Any,
    ) -> None:
        known = {
            "demangledName": self.text(name), "shortName": self.text("short"),
            "registersPerThread": 32, "gridX": 4, "gridY": 2, "gridZ": 1, "blockX": 128,
            "blockY": 1, "blockZ": 1, "staticSharedMemory": 16, "dynamicSharedMemory": 1024,
        }  # fmt: skip
        place = self.place(start, end, correlation, pid, device, stream)
        self.add("CUPTI_ACTIVITY_KIND_KERNEL", **{**place, **known, **more})

    def copy(
        self,
        start: int,
        end: int,
        correlation: int,
        kinds: tuple[int, int, int],
        *,
        size: int = 4096,
        pid: int = 100,
        device: int = 0,
        stream: int = 7,
    ) -> None:
        place = self.place(start, end, correlation, pid, device, stream)
        kind, source, target = kinds
        self.add(
            "CUPTI_ACTIVITY_KIND_MEMCPY", **place, bytes=size, copyKind=kind, srcKind=source,
            dstKind=target,
        )  # fmt: skip

    def range(
        self,
        text: str | None,
        start: int,
        end: int | None,
        *,
        pid: int = 100,
        tid: int = 101,
        **more: Any,
    ) -> None:
        known = {"eventType": 59, "domainId": 0, "globalTid": global_tid(pid, tid)}
        self.add("NVTX_EVENTS", **{"text": text, "start": start, "end": end, **known, **more})

    def write(
        self, folder: Path, *, name: str = "export.sqlite", without: tuple[str, ...] = ()
    ) -> Path:
        """The export as a file; ``without`` names tables, or columns as ``table.column``."""
        path = folder / name
        path.unlink(missing_ok=True)
        connection = sqlite3.connect(path)
        strings = [{"id": number, "value": text} for text, number in self.texts.items()]
        for table, columns in SCHEMA.items():
            rows = strings if table == "StringIds" else self.rows.get(table, [])
            kept = [one for one in columns if f"{table}.{one.split()[0]}" not in without]
            if table in without or not kept or (not rows and table != "StringIds"):
                continue
            typed = [one if " " in one else f'"{one}"' for one in kept]
            connection.execute(f"CREATE TABLE {table} ({', '.join(typed)})")
            names = [one.split()[0] for one in kept]
            marks = ", ".join("?" * len(names))
            connection.executemany(
                f"INSERT INTO {table} VALUES ({marks})",
                [[row.get(name) for name in names] for row in rows],
            )
        connection.commit()
        connection.close()
        return path


def training() -> Export:
    """One step of one process: an operator launches a kernel, a copy and a memset run."""
    made = Export()
    made.range("ProfilerStep#3", 900, 9_000)
    made.range("aten::mm, op_id = 7, sizes = [[2, 3], [3, 4]]", 1_000, 2_000)
    made.call("cudaLaunchKernel_v7000", 1_100, 1_200, 1)
    made.kernel("void gemm<(int)128, (bool)1>(int)", 1_300, 2_300, 1)
    made.call("cudaMemcpyAsync_v3020", 2_000, 2_100, 2)
    made.copy(2_400, 2_900, 2, (1, 0, 2))
    made.call("cudaMemsetAsync_v3020", 2_900, 3_000, 3)
    made.add(
        "CUPTI_ACTIVITY_KIND_MEMSET", **made.place(3_100, 3_200, 3, 100, 0, 7), value=0, bytes=64,
        memKind=2,
    )  # fmt: skip
    made.add("PROCESSES", globalPid=global_pid(100), pid=100, name="python3")
    made.add("ThreadNames", nameId=made.text("main"), globalTid=global_tid(100, 101))
    return made

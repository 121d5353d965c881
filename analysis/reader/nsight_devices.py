"""What an Nsight Systems export says of its GPUs, processes and itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final

from whichlayer.analysis.reader.nsight_database import MISSING, Database
from whichlayer.analysis.trace.lanes import Id, Naming

#: A global thread number is a machine, a process and a thread: 16, 24 and 24 bits.
_BITS: Final = 24
_MASK: Final = (1 << _BITS) - 1

_GPU_TABLES: Final = ("TARGET_INFO_GPU", "TARGET_INFO_CUDA_GPU")

#: Columns of a GPU by the keys that Kineto's ``deviceProperties`` have for the same.
_PROPERTIES: Final = {
    "totalGlobalMem": "totalMemory",
    "computeMajor": "computeMajor",
    "computeMinor": "computeMinor",
    "numSms": "smCount",
    "warpSize": "threadsPerWarp",
    "maxThreadsPerBlock": "maxThreadsPerBlock",
    "regsPerBlock": "maxRegistersPerBlock",
    "regsPerMultiprocessor": "maxRegistersPerSm",
    "sharedMemPerBlock": "maxShmemPerBlock",
    "sharedMemPerMultiprocessor": "maxShmemPerSm",
    "sharedMemPerBlockOptin": "maxShmemPerBlockOptin",
    "l2CacheSize": "l2CacheSize",
    "clockRate": "clockRate",
    "memoryBandwidth": "memoryBandwidth",
}


def process_of(number: int) -> int:
    """The process of a global thread or process number, machine included."""
    return number & ~_MASK


def thread_of(number: int) -> int:
    """The thread of a global thread number, as the system numbers it."""
    return number & _MASK


class Processes:
    """The processes of an export: how the trace calls each of them."""

    def __init__(self) -> None:
        self._names: dict[int, Id] = {}
        self._taken: set[Id] = set()

    def id_of(self, process: int) -> Id:
        """The number of a process; one that two machines share gets the second's as text."""
        found = self._names.get(process)
        if found is None:
            found = process >> _BITS & _MASK
            if found in self._taken:
                found = f"{found} on {process >> 2 * _BITS & 0xFFFF}"
            self._names[process] = found
            self._taken.add(found)
        return found

    def known(self) -> Mapping[int, Id]:
        """Every process met so far."""
        return self._names


class Devices:
    """Which GPU of the machine a process means by a device number.

    CUDA numbers the GPUs that a process sees, so that two processes with a GPU each may both
    call theirs 0; an export that lists the GPUs tells which is which.
    """

    def __init__(self, database: Database) -> None:
        self._gpu: dict[tuple[int, int], int] = {}
        self._of_any: defaultdict[int, set[int]] = defaultdict(set)
        self._context: dict[tuple[int, int], int] = {}
        for chunk in database.chunks("TARGET_INFO_CUDA_DEVICE", ("gpuId", "cudaId", "pid")):
            for _, gpu, device, pid in chunk:
                if gpu >= 0 and device >= 0:
                    self._gpu[pid, device] = gpu
                    self._of_any[device].add(gpu)

    def gpu_of(self, process: int, device: int) -> int:
        """The GPU that a process calls ``device``; that number itself where nothing tells."""
        found = self._gpu.get((process >> _BITS & _MASK, device))
        if found is None and len(self._of_any.get(device, ())) == 1:
            (found,) = self._of_any[device]
        return device if found is None else found

    def meet(self, process: int, context: int, device: int) -> None:
        """Remembers on which device a context of a process works."""
        if context >= 0:
            self._context.setdefault((process, context), device)

    def of_context(self, process: int, context: int, device: int) -> int:
        """The device of a context; synchronisations are recorded with device 0 whatever theirs."""
        return self._context.get((process, context), device)

    @property
    def told(self) -> bool:
        """Whether the export lists the GPUs of its processes."""
        return bool(self._gpu)


def read_header(database: Database) -> dict[str, Any]:
    """The header keys of the trace: what recorded it, and the GPUs as Kineto describes them."""
    made = dict(_pairs(database, "META_DATA_EXPORT"))
    header: dict[str, Any] = {
        "profiler": made.get("EXPORT_PRODUCT_NAME", "NVIDIA Nsight Systems"),
        "profiler_version": made.get("EXPORT_PRODUCT_VERSION"),
        "export_schema_version": made.get("EXPORT_SCHEMA_VERSION"),
        "deviceProperties": _gpus(database),
    }
    return {key: value for key, value in header.items() if value}


def wall_clock(database: Database) -> int | None:
    """Nanoseconds since 1970 at the export's time 0, None where not recorded."""
    made = dict(_pairs(database, "META_DATA_EXPORT"))
    if made.get("EXPORT_PARAM_TIME_NORMALIZE") == "true":
        return 0
    shift = made.get("EXPORT_PARAM_TIME_SHIFT", "0")
    for chunk in database.chunks("TARGET_INFO_SESSION_START_TIME", ("utcEpochNs",)):
        start = chunk[0][1]
        if start > 0 and shift.removeprefix("-").isdecimal() and len(shift) < 20:
            base = int(start) - int(shift)
            return base if base >= 0 else None
    return None


def read_naming(
    database: Database, processes: Processes, devices: set[int], naming: Naming
) -> None:
    """Adds the names of the processes and threads of the trace."""
    known = processes.known()
    for chunk in database.chunks("PROCESSES", ("globalPid",), ("name",)):
        for _, number, name in chunk:
            pid = known.get(number)
            # The lanes of a GPU have its number where a process has its own.
            if pid is not None and name and pid not in devices:
                naming.processes[pid] = name
    for chunk in database.chunks("ThreadNames", ("globalTid", "nameId")):
        names = database.strings({row[2] for row in chunk})
        for _, number, name_id in chunk:
            pid = known.get(process_of(number))
            if pid is not None and name_id in names:
                naming.threads[pid, thread_of(number)] = names[name_id]


def _pairs(database: Database, table: str) -> Iterator[tuple[str, str]]:
    for chunk in database.chunks(table, (), ("name", "value")):
        for _, name, value in chunk:
            if name is not None and value is not None:
                yield name, value


def _gpus(database: Database) -> list[dict[str, Any]]:
    for table in _GPU_TABLES:
        present = database.columns.get(table, ())
        number = "id" if "id" in present else "cudaId"
        columns = (number, *_PROPERTIES.values())
        found = []
        for chunk in database.chunks(table, columns, ("name",)):
            for _, identity, *values, name in chunk:
                pairs = zip(_PROPERTIES, values, strict=True)
                entry = {key: value for key, value in pairs if value != MISSING}
                if entry.get("clockRate"):
                    entry["clockRate"] //= 1000  # Hz here, kHz in CUDA's properties
                found.append({"id": identity, "name": name or "", **entry})
        if found:
            return found
    return []

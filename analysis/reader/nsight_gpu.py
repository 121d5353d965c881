"""What ran on the GPUs: kernels, graphs, copies, memsets and synchronisations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from whichlayer.analysis.reader.nsight_database import MISSING, Row
from whichlayer.analysis.reader.nsight_devices import process_of
from whichlayer.analysis.reader.nsight_names import copy_name, fill_name, kernel_name, sync_name
from whichlayer.analysis.reader.nsight_slices import Batch, NsightSlices
from whichlayer.analysis.trace.kinds import SliceKind

_PREFIX: Final = "CUPTI_ACTIVITY_KIND_"
KERNELS: Final = f"{_PREFIX}KERNEL"
GRAPHS: Final = f"{_PREFIX}GRAPH_TRACE"
COPIES: Final = f"{_PREFIX}MEMCPY"
FILLS: Final = f"{_PREFIX}MEMSET"
SYNCS: Final = f"{_PREFIX}SYNCHRONIZATION"
EVENTS: Final = f"{_PREFIX}CUDA_EVENT"

#: Columns of every activity, in this order.
_PLACE: Final = (
    "start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid",
)  # fmt: skip
_SHAPE: Final = (
    "registersPerThread", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ",
    "staticSharedMemory", "dynamicSharedMemory", "graphId",
)  # fmt: skip
_NAMES: Final = ("demangledName", "shortName", "mangledName")

#: Stands for "no stream" and "no event" in records of CUPTI.
_NOTHING: Final = 0xFFFFFFFF

#: Columns without which a table of activities says too little.
NEEDED: Final = ("start", "end", "deviceId", "streamId", "correlationId", "globalPid")

Chunks = Iterator[int]


def add_kernels(found: NsightSlices) -> Chunks:
    """Takes the kernels; yields how many came, chunk by chunk."""
    category = found.strings["kernel"]
    for chunk in found.database.chunks(KERNELS, (*_PLACE, *_NAMES, *_SHAPE)):
        texts = [found.names([row[8 + index] for row in chunk]) for index in range(len(_NAMES))]
        names = [
            found.strings[kernel_name(full or short or mangled or f"kernel {row[8]}")]
            for full, short, mangled, row in zip(*texts, chunk, strict=True)
        ]
        places = [_place(found, SliceKind.KERNEL, row) for row in chunk]
        details = [
            _kernel_detail(found, place, row[11:]) for place, row in zip(places, chunk, strict=True)
        ]
        found.add(_batch(KERNELS, SliceKind.KERNEL, chunk, names, category, places, details))
        yield len(chunk)


def _kernel_detail(found: NsightSlices, place: tuple[int, ...], shape: Row) -> int:
    def arguments() -> dict[str, Any]:
        registers, *sizes, static, dynamic, graph = shape
        made: dict[str, Any] = {"device": place[0], "stream": place[1]}
        if min(sizes) >= 0:
            made |= {"grid": sizes[:3], "block": sizes[3:]}
        if registers >= 0:
            made["registers per thread"] = registers
        if static >= 0 and dynamic >= 0:
            made["shared memory"] = static + dynamic
        return made | ({"graph id": graph} if graph > 0 else {})

    return found.detail((SliceKind.KERNEL, *place[:2], *shape), arguments)


def add_graphs(found: NsightSlices) -> Chunks:
    """Takes launches of graphs that were recorded as a whole, without their kernels."""
    category = found.strings["kernel"]
    for chunk in found.database.chunks(GRAPHS, (*_PLACE, "graphId")):
        names = [
            found.strings[f"CUDA graph {row[8]}" if row[8] >= 0 else "CUDA graph"] for row in chunk
        ]
        places = [_place(found, SliceKind.KERNEL, row) for row in chunk]
        details = [
            _plain_detail(found, GRAPHS, {"device": place[0], "stream": place[1]})
            for place in places
        ]
        found.add(_batch(GRAPHS, SliceKind.KERNEL, chunk, names, category, places, details))
        yield len(chunk)


def add_copies(found: NsightSlices) -> Chunks:
    """Takes the copies."""
    columns = (*_PLACE, "bytes", "copyKind", "srcKind", "dstKind")
    category = found.strings["gpu_memcpy"]
    for chunk in found.database.chunks(COPIES, columns):
        names = [found.strings[copy_name(*row[9:12])] for row in chunk]
        places = [_place(found, SliceKind.MEMCPY, row) for row in chunk]
        details = _sizes(found, SliceKind.MEMCPY, chunk, places)
        found.add(_batch(COPIES, SliceKind.MEMCPY, chunk, names, category, places, details))
        yield len(chunk)


def add_fills(found: NsightSlices) -> Chunks:
    """Takes the memsets."""
    category = found.strings["gpu_memset"]
    for chunk in found.database.chunks(FILLS, (*_PLACE, "bytes", "memKind")):
        names = [found.strings[fill_name(row[9])] for row in chunk]
        places = [_place(found, SliceKind.MEMSET, row) for row in chunk]
        details = _sizes(found, SliceKind.MEMSET, chunk, places)
        found.add(_batch(FILLS, SliceKind.MEMSET, chunk, names, category, places, details))
        yield len(chunk)


def _sizes(
    found: NsightSlices, kind: SliceKind, chunk: list[Row], places: list[tuple[int, ...]]
) -> list[int]:
    details = []
    for (device, stream, *_), row in zip(places, chunk, strict=True):
        size = row[8]
        arguments = {"device": device, "stream": stream}
        if size >= 0:
            arguments["bytes"] = size
        details.append(_plain_detail(found, kind, arguments))
    return details


def add_syncs(found: NsightSlices) -> Chunks:
    """Takes the synchronisations, which lie on the stream that waits."""
    recorded = _event_records(found)
    category = found.strings["cuda_sync"]
    columns = (*_PLACE, "syncType", "eventId", "eventSyncId")
    for chunk in found.database.chunks(SYNCS, columns):
        places = [_place(found, SliceKind.GPU_SYNC, row) for row in chunk]
        names = [found.strings[sync_name(row[8])] for row in chunk]
        details = []
        for place, row in zip(places, chunk, strict=True):
            waits_on = recorded.get((row[7], row[10]), (-1, -1))
            arguments = {
                "device": place[0],
                "stream": place[1],
                "cuda_sync_kind": sync_name(row[8]),
                "wait_on_stream": waits_on[0],
                "wait_on_cuda_event_id": row[9] if 0 <= row[9] < _NOTHING else -1,
                "wait_on_cuda_event_record_corr_id": waits_on[1],
            }
            details.append(_plain_detail(found, SliceKind.GPU_SYNC, arguments))
        found.add(_batch(SYNCS, SliceKind.GPU_SYNC, chunk, names, category, places, details))
        yield len(chunk)


def _plain_detail(found: NsightSlices, kind: SliceKind | str, arguments: dict[str, Any]) -> int:
    return found.detail((kind, *arguments.items()), lambda: arguments)


def _event_records(found: NsightSlices) -> dict[tuple[int, int], tuple[int, int]]:
    """Stream and launch number of recorded events, by process and the number of the record."""
    records: dict[tuple[int, int], tuple[int, int]] = {}
    columns = ("globalPid", "eventSyncId", "streamId", "correlationId")
    for chunk in found.database.chunks(EVENTS, columns):
        for _, process, number, stream, correlation in chunk:
            if number != MISSING:
                records[process, number] = (_stream(stream), max(correlation, -1))
    return records


def _place(found: NsightSlices, kind: SliceKind, row: Row) -> tuple[int, ...]:
    """Device, stream, lane and launch number of an activity."""
    _, _, _, device, context, stream, correlation, process = row[:8]
    key = (kind, device, context, stream, process)
    place = found.places.get(key)
    if place is None:
        place = found.places[key] = _where(found, kind, device, context, stream, process)
    return *place[:3], found.correlation(place[3], correlation)


def _where(
    found: NsightSlices, kind: SliceKind, device: int, context: int, stream: int, process: int
) -> tuple[int, int, int, int | None]:
    owner = found.owner(process if process == MISSING else process_of(process))
    if owner is not None:
        if kind == SliceKind.GPU_SYNC:
            device = found.devices.of_context(owner, context, device)
        else:
            found.devices.meet(owner, context, device)
        device = found.devices.gpu_of(owner, device)
    device, stream = max(device, -1), _stream(stream)
    return device, stream, found.stream_lane(kind, owner, device, stream), owner


def _stream(number: int) -> int:
    return number if 0 <= number < _NOTHING else -1


def _batch(
    table: str,
    kind: SliceKind,
    chunk: list[Row],
    names: list[int],
    category: int,
    places: list[tuple[int, ...]],
    details: list[int],
) -> Batch:
    return Batch(
        table=table,
        kind=kind,
        key=[row[0] for row in chunk],
        start=[row[1] for row in chunk],
        end=[row[2] for row in chunk],
        name=names,
        category=category,
        lane=[place[2] for place in places],
        correlation=[place[3] for place in places],
        detail=details,
    )

"""What a Chrome trace holds, counted by plain ``json`` and ``Decimal``.

Nothing is shared with the reader that this checks.
"""

from __future__ import annotations

import gc
import gzip
import json
import zipfile
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from pathlib import Path
from typing import Any

STREAMS = {"kernel", "Kernel", "gpu_memcpy", "gpu_memset", "Memcpy", "Memset"}
CPU = {
    "cpu_op", "Operator", "user_annotation", "python_function", "cuda_runtime", "cuda_driver",
    "Runtime", "xpu_runtime", "xpu_driver", "mtia_runtime",
}  # fmt: skip


@dataclass(frozen=True)
class Counts:
    """Of a whole trace; ``total_ns`` is the sum of the lengths of its slices."""

    slices: int
    lanes: int
    flows: int
    samples: int
    series: int
    instants: int
    total_ns: int


def events_of(path: Path) -> list[Any]:
    if path.suffix == ".gz":
        text = gzip.decompress(path.read_bytes())
    elif path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            text = archive.read(archive.namelist()[0])
    else:
        text = path.read_bytes()
    document = json.loads(text.decode("utf-8-sig", "replace"), parse_float=Decimal)
    return list(document if isinstance(document, list) else document["traceEvents"])


def count_of(path: Path) -> Counts:
    """The counts of a file; looking for cycles among millions of plain values is time lost."""
    gc.disable()
    try:
        return count(events_of(path))
    finally:
        gc.enable()


def nanoseconds(microseconds: Decimal) -> int:
    return int((microseconds * 1000).to_integral_value(ROUND_HALF_EVEN))


def microseconds(value: object) -> Decimal | None:
    if isinstance(value, bool) or value is None:
        return None
    try:
        found = value if isinstance(value, Decimal) else Decimal(str(value).strip())
    except InvalidOperation:
        return None
    return found if found.is_finite() else None


def number(value: Any) -> Any:
    if type(value) is int:
        return value
    text = str(value)
    return int(text) if text.removeprefix("-").isdecimal() and text.isascii() else value


def is_number(value: Any) -> bool:
    if isinstance(value, str):
        try:
            return float(value) == float(value)
        except ValueError:
            return False
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def lane_of(event: Mapping[str, Any]) -> tuple[Any, ...]:
    category = event.get("cat", "")
    pid, tid = number(event.get("pid", "")), number(event.get("tid", ""))
    if category in STREAMS or category in ("gpu_user_annotation", "cuda_sync", "xpu_sync"):
        arguments = event.get("args") or {}
        device, stream = arguments.get("device"), arguments.get("stream")
        tid = int(tid.split()[1]) if isinstance(tid, str) and tid.startswith("stream ") else tid
        device = number(device) if device is not None else -1
        stream = number(stream) if stream is not None else -1
        where = ("stream" if category in STREAMS else category).replace("xpu_sync", "cuda_sync")
        return (where, pid if device == -1 else device, tid if stream == -1 else stream)
    where = "cpu" if category in CPU else "overhead" if category == "overhead" else "other"
    return (where, pid, tid)


def count(events: list[Any]) -> Counts:
    stretches: list[tuple[tuple[Any, ...], Decimal, Decimal]] = []
    flows = samples = instants = 0
    series = set()
    pairs: list[tuple[Decimal, dict[str, Any]]] = []
    for event in events:
        if not isinstance(event, dict):
            continue
        phase, start = event.get("ph"), microseconds(event.get("ts"))
        if start is None:
            continue
        if phase == "X":
            length = max(microseconds(event.get("dur")) or Decimal(0), Decimal(0))
            stretches.append((lane_of(event), start, start + length))
        elif phase in ("B", "E", "b", "e"):
            pairs.append((start, event))
        elif phase in ("s", "t", "f"):
            flows += 1
        elif phase in ("i", "I", "R", "n"):
            instants += 1
        elif phase == "C":
            for field, value in (event.get("args") or {}).items():
                if is_number(value):
                    samples += 1
                    series.add((str(event.get("pid")), event.get("name"), event.get("id"), field))
    stretches += matched(pairs, max((end for _, _, end in stretches), default=Decimal(0)))
    return Counts(
        slices=len(stretches),
        lanes=len({lane for lane, _, _ in stretches}),
        flows=flows,
        samples=samples,
        series=len(series),
        instants=instants,
        total_ns=sum(nanoseconds(end) - nanoseconds(start) for _, start, end in stretches),
    )


def matched(
    pairs: list[tuple[Decimal, dict[str, Any]]], last: Decimal
) -> list[tuple[tuple[Any, ...], Decimal, Decimal]]:
    """Begins with their ends; those without one last as long as the trace."""
    last = max([last, *(time for time, _ in pairs)])
    open_: defaultdict[Any, list[tuple[Decimal, dict[str, Any]]]] = defaultdict(list)
    found = []
    for time, event in sorted(pairs, key=lambda pair: pair[0]):
        phase, category = event["ph"], event.get("cat", "")
        lane: tuple[Any, ...] = lane_of(event)
        key: Any = lane[1:]
        if phase in "be":
            local = json.dumps(event.get("id2"), default=str)
            process = event.get("pid") if event.get("id2") else None
            key = (category, event.get("id"), event.get("scope"), local, process)
            lane = ("async", number(event.get("pid")), category)
        if phase in "Bb":
            open_[key].append((time, event))
            continue
        name = event.get("name", "")
        for place in range(len(open_[key]) - 1, -1, -1):
            if not name or open_[key][place][1].get("name", "") == name:
                start, begun = open_[key].pop(place)
                if phase == "e":
                    lane = ("async", number(begun.get("pid")), begun.get("cat", ""))
                else:
                    lane = lane_of(begun)
                found.append((lane, start, time))
                break
    for stack in open_.values():
        for start, begun in stack:
            if begun["ph"] == "b":
                lane = ("async", number(begun.get("pid")), begun.get("cat", ""))
            else:
                lane = lane_of(begun)
            found.append((lane, start, last))
    return found

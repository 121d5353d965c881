"""Titles of lanes that tell each lane from the others of its trace.

A thread's name or number says enough where one process was recorded. Where several were, where
the name says nothing ("thread 0") or the process is a device, the process is said as well; what
is still alike gets the number of its stream or thread.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from whichlayer.analysis.text import clean
from whichlayer.analysis.trace.columns import Lane
from whichlayer.analysis.trace.kinds import LaneKind
from whichlayer.tui.lanes import ShownLane

_DEVICE = re.compile(r"^/?device:|\b[GNTX]PU\b|[GNTX]PU:?\d|ascend|hccl|accelerator", re.IGNORECASE)
_PREFIX = re.compile(r"^/(?:device:)?")

#: Groups whose titles stand for a lane of their own; Python frames lie below their thread.
_TITLED = ("gpu", "note", "cpu", "other")


def tell_apart(lanes: Sequence[ShownLane]) -> None:
    """Give each lane a title that no other has, as far as the trace tells them apart."""
    titled = [lane for lane in lanes if lane.group in _TITLED and not lane.title.startswith(" ")]
    for lane in titled:
        if lane.lane.kind == LaneKind.OVERHEAD:
            lane.title = f"{lane.title} overhead"
    places: dict[str, set[object]] = {}
    for lane in titled:
        places.setdefault(lane.title, set()).add(lane.lane.pid)
    for lane in titled:
        place, shared = lane.lane, len(places[lane.title]) > 1
        if place.kind == LaneKind.OTHER and (shared or _says_process(place)):
            lane.title = " ".join(part for part in (_process(place), _thread(place)) if part)
    for how in (_with_stream, _with_thread, _with_process):
        alike = _alike(titled)
        for lane in titled:
            if lane.title in alike:
                lane.title = how(lane)


def _alike(lanes: Sequence[ShownLane]) -> set[str]:
    """The titles that several lanes have."""
    counts = Counter(lane.title for lane in lanes)
    return {title for title, count in counts.items() if count > 1}


def _says_process(lane: Lane) -> bool:
    """Whether the process says more than the thread's name does."""
    process = clean(lane.process).strip()
    return bool(process) and (_is_number(lane) or _DEVICE.search(process) is not None)


def _is_number(lane: Lane) -> bool:
    """Whether a thread has no name but its number."""
    return lane.name.strip() in ("", str(lane.tid), f"thread {lane.tid}")


def _process(lane: Lane) -> str:
    return _PREFIX.sub("", clean(lane.process).strip()) or clean(str(lane.pid))


def _thread(lane: Lane) -> str:
    tid = clean(str(lane.tid)).strip()
    if _is_number(lane):
        return f"t{tid}" if isinstance(lane.tid, int) else tid
    return clean(lane.name).strip()


def _with_stream(lane: ShownLane) -> str:
    """``GPU0 sync`` of stream 7 becomes ``GPU0 s7 sync``."""
    first, _, rest = lane.title.partition(" ")
    if lane.lane.stream < 0 or not rest or lane.group not in ("gpu", "note"):
        return lane.title
    stream = f"s{lane.lane.stream}"
    return lane.title if rest.startswith(stream) else f"{first} {stream} {rest}"


def _with_thread(lane: ShownLane) -> str:
    tid = clean(str(lane.lane.tid)).strip()
    if lane.lane.kind not in (LaneKind.CPU_THREAD, LaneKind.OTHER, LaneKind.OVERHEAD):
        return lane.title
    return lane.title if tid in lane.title else f"{lane.title} {tid}"


def _with_process(lane: ShownLane) -> str:
    return f"{lane.title} {clean(str(lane.lane.pid)).strip()}"

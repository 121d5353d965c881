"""What the recorder adds to a trace that torch has written: what recording cost, and whose lane is whose.

torch takes metadata only while it records, and puts the Python frames of all threads that run no
operators on one lane, thread 0; the recorder's own threads are among them.
"""

from __future__ import annotations

import json
from typing import Any, Final

_TAIL: Final = 1 << 16
"""So much of a trace's end is looked at for the end of its events."""

OTHER_THREADS: Final = "recorder and other Python threads without operators"
_LAST: Final = 1 << 29


def add_to(trace: bytearray, header: dict[str, Any], pid: int, *, stacks: bool) -> None:
    """Add fields to a trace's header, and name the lane that the recorder's threads are on.

    A trace of another layout than torch's stays as it is.

    Args:
        trace: JSON text, an object; changed in place.
        header: values by key.
        pid: the process that was recorded.
        stacks: it holds Python frames, so there is such a lane.
    """
    end = trace.rfind(b"}")
    if end < 0 or not trace[:end].strip():
        return
    fields = ", ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in header.items())
    comma = b"" if trace[:end].rstrip().endswith(b"{") else b", "
    trace[end:] = comma + fields.encode() + b"}\n"
    events_end = trace.rfind(b"\n  ]", max(end - _TAIL, 0), end)
    if stacks and events_end >= 0 and trace[:events_end].rstrip().endswith(b"}"):
        trace[events_end:events_end] = _lane(pid)


def _lane(pid: int) -> bytes:
    place = {"ph": "M", "ts": 0, "pid": pid, "tid": 0}
    events = (
        {**place, "name": "thread_name", "args": {"name": OTHER_THREADS}},
        {**place, "name": "thread_sort_index", "args": {"sort_index": _LAST}},
    )
    return b"".join(b",\n  " + json.dumps(event).encode() for event in events)

"""Reads the names of processes and threads (phase ``M``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from whichlayer.analysis.reader.arguments import as_int64
from whichlayer.analysis.reader.events import DECODE_ERRORS, Event, as_text
from whichlayer.analysis.reader.groups import as_number
from whichlayer.analysis.reader.lanes import stream_number
from whichlayer.analysis.trace.lanes import Naming


class _Arguments(msgspec.Struct, gc=False):
    name: Any = None
    labels: Any = None
    sort_index: Any = None


_DECODER = msgspec.json.Decoder(_Arguments)


def read_metadata(events: Sequence[Event], naming: Naming) -> None:
    """Adds what metadata events say to the names known so far; the last word counts."""
    for event in events:
        try:
            arguments = _DECODER.decode(event.args)
        except DECODE_ERRORS:
            continue
        pid = as_number(event.pid)
        thread = (pid, stream_number(as_number(event.tid)))
        if event.name == "process_name":
            naming.processes[pid] = as_text(arguments.name)
        elif event.name == "process_labels":
            naming.labels[pid] = as_text(arguments.labels)
        elif event.name == "thread_name":
            naming.threads[thread] = as_text(arguments.name)
        elif event.name == "process_sort_index":
            naming.process_order[pid] = as_int64(arguments.sort_index)
        elif event.name == "thread_sort_index":
            naming.thread_order[thread] = as_int64(arguments.sort_index)

"""Reads one trace with one reader, in a process of its own: ``python child.py READER FILE``.

Prints one line of JSON: user and system CPU seconds and wall seconds of the reading, imports
left out, and the largest memory that the process ever held, in bytes. The seconds include those
of the processes that it starts; their memory is told by cores.py. It imports nothing but
the reader, so that it runs in the virtual environment of any of them.
"""

from __future__ import annotations

import importlib
import json
import resource
import sys
import time
from collections.abc import Callable

Read = Callable[[str], object]


def whichlayer() -> Read:
    """The whole load: columns, sorting, nesting, launch join."""
    opening = importlib.import_module("whichlayer.analysis.reader.opening")
    formats = importlib.import_module("whichlayer.analysis.reader.formats")
    list(formats.trace_formats())  # imports the readers
    read: Read = opening.open_trace
    return read


def json_load() -> Read:
    """The standard library's parser, which gives dictionaries and no more."""

    def read(path: str) -> object:
        with open(path, encoding="utf-8") as file:
            return json.load(file)

    return read


def hta() -> Read:
    """HolisticTraceAnalysis's parser with its default back end, before any analysis."""
    trace = importlib.import_module("hta.common.trace")
    read: Read = trace.parse_trace_file
    return read


READERS = {"whichlayer": whichlayer, "whichlayer .gz": whichlayer, "json": json_load, "hta": hta}


def peak_bytes() -> int:
    """The largest resident memory of this process, in bytes."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest if sys.platform == "darwin" else largest * 1024


def cpu_s() -> float:
    """User and system time of this process and of those that it started and that have ended."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def main() -> None:
    """Reads and prints."""
    reader, path = sys.argv[1:]
    read = READERS[reader]()
    before, begun = cpu_s(), time.perf_counter()
    read(path)
    wall, cpu = time.perf_counter() - begun, cpu_s() - before
    print(json.dumps({"cpu_s": cpu, "wall_s": wall, "peak_bytes": peak_bytes()}))


if __name__ == "__main__":
    main()

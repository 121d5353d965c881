"""From the end of a window to its picture: ``python -m benchmarks.live_latency``.

A program on the CPU (torch has to be installed) records windows whose traces have about 20 MB. Told are,
by the clock and in CPU time: what torch takes to stop the profiler and to write the trace, in which its
program stands still; what it takes until the trace is sent and kept; and what the screen takes to
read it, to analyse it and to prepare its rows. Medians, scaled to 20 MB.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from whichlayer.analysis.live.child import recorder_environment
from whichlayer.analysis.live.events import Left, Window, WindowArrived
from whichlayer.analysis.live.history import History
from whichlayer.analysis.live.recorder_options import RecorderOptions
from whichlayer.analysis.live.server import LiveServer
from whichlayer.analysis.options import Options
from whichlayer.tui.live.analyst import Analyst
from whichlayer.tui.live.server_feed import shot_of

PROGRAM = """
import sys, time, torch
from torch.autograd import profiler

def timed(owner, name):
    call = getattr(owner, name)
    def ours(*args, **kwargs):
        before = time.thread_time()
        try:
            return call(*args, **kwargs)
        finally:
            print(name, time.thread_time() - before, file=log, flush=True)
    setattr(owner, name, ours)

log = open(sys.argv[3], "w")
timed(profiler, "_disable_profiler")
timed(profiler.profile, "export_chrome_trace")
torch.set_num_threads(1)
layers = [torch.nn.Linear(16, 16) for _ in range(int(sys.argv[1]))]
model = torch.nn.Sequential(*layers)
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
for _ in range(int(sys.argv[2])):
    model(torch.randn(4, 16)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    time.sleep(0.5)
"""

_STEPS = 3
_MEGABYTES = 20.0

Part = tuple[str, float, float]
"""What is done, and its seconds by the clock and of CPU."""


def measure(layers: int, windows: int) -> list[tuple[float, list[Part]]]:
    """Megabytes and parts of each window; the first, for which modules are imported, is left out."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "cpu")
        server = LiveServer(History())
        address = server.listen()
        options = RecorderOptions(window=_STEPS, every=_STEPS + 3)
        steps = (windows + 1) * (_STEPS + 3) + 6
        command = [sys.executable, "-c", PROGRAM, str(layers), str(steps), str(log)]
        program = subprocess.Popen(command, env=recorder_environment(os.environ, address, options))
        analyst = Analyst(Options(), lambda message: None)
        found = []
        try:
            before = time.process_time()
            while not isinstance(event := server.events.get(timeout=300), Left):
                if isinstance(event, WindowArrived):
                    received = time.process_time() - before
                    found.append((event.window, received, _shown(analyst, event.window)))
                before = time.process_time()
        finally:
            program.wait()
            server.close()
        stops, exports = _cpu(log, "_disable_profiler"), _cpu(log, "export_chrome_trace")
    return [
        (window.trace_bytes / 1e6, _parts(window, received, shown, stop, export))
        for (window, received, shown), stop, export in list(
            zip(found, stops, exports, strict=False)
        )[1:]
    ]


def _cpu(log: Path, name: str) -> list[float]:
    lines = [line.split() for line in log.read_text().splitlines()]
    return [float(seconds) for called, seconds in lines if called == name]


def _shown(analyst: Analyst, window: Window) -> Part:
    began, cpu = time.perf_counter(), time.thread_time()
    analyst._opened(shot_of(window))
    clock, cpu = time.perf_counter() - began, time.thread_time() - cpu
    return "the screen reads, analyses and prepares it", clock, cpu


def _parts(
    window: Window, received: float, shown: Part, stop_cpu: float, export_cpu: float
) -> list[Part]:
    cost = window.cost
    stop = 0.0 if cost is None else (cost.stop_ns or 0) / 1e9
    export = (window.export_ns or 0) / 1e9
    whole = (window.arrived_ns - (window.ended_ns or 0)) / 1e9
    return [
        ("torch stops the profiler", stop, stop_cpu),
        ("torch writes the trace", export, export_cpu),
        ("it is sent and kept", whole - stop - export, received),
        shown,
    ]


def main() -> None:
    """Print medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=300)
    parser.add_argument("--windows", type=int, default=5)
    typed = parser.parse_args()
    found = measure(typed.layers, typed.windows)
    size = statistics.median(megabytes for megabytes, _ in found)
    print(f"{len(found)} windows of {size:.1f} MB, scaled to {_MEGABYTES:.0f} MB, seconds")
    print(f"{'':<46}{'clock':>8}{'CPU':>8}")
    rows = [(name, [place]) for place, (name, _, _) in enumerate(found[0][1])]
    rows += [("all of it", [0, 1, 2, 3]), ("all but torch's own", [2, 3])]
    for name, places in rows:
        clock, cpu = (_median(found, places, column) for column in (0, 1))
        print(f"{name:<46}{clock:8.2f}{cpu:8.2f}")


def _median(found: list[tuple[float, list[Part]]], places: list[int], column: int) -> float:
    seconds = (sum(_seconds(parts[one])[column] for one in places) / mb for mb, parts in found)
    return _MEGABYTES * statistics.median(seconds)


def _seconds(part: Part) -> tuple[float, float]:
    return part[1], part[2]


if __name__ == "__main__":
    main()

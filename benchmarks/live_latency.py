"""From the end of a window to what the screen has of it: ``python -m benchmarks.live_latency``.

A program on the CPU (torch has to be installed) records windows whose traces have about 20 MB. Told are
what torch took to write the trace, in which its program stands still; what else it took until the server told
of the window; and what reading the trace and analysing it takes. Medians.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from whichlayer.analysis import analyse, load
from whichlayer.analysis.live.child import recorder_environment
from whichlayer.analysis.live.events import Left, WindowArrived
from whichlayer.analysis.live.history import History
from whichlayer.analysis.live.recorder_options import RecorderOptions
from whichlayer.analysis.live.server import LiveServer

PROGRAM = """
import sys, torch
torch.set_num_threads(1)
layers = [torch.nn.Linear(16, 16) for _ in range(int(sys.argv[1]))]
model = torch.nn.Sequential(*layers)
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
for _ in range(int(sys.argv[2])):
    model(torch.randn(4, 16)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
"""

_STEPS = 3


def measure(layers: int, windows: int) -> list[dict[str, float]]:
    """Figures of each window: megabytes, and seconds of each part."""
    server = LiveServer(History())
    address = server.listen()
    options = RecorderOptions(window=_STEPS, every=_STEPS + 3)
    command = [sys.executable, "-c", PROGRAM, str(layers), str(windows * (_STEPS + 3) + 6)]
    program = subprocess.Popen(command, env=recorder_environment(os.environ, address, options))
    found = []
    try:
        while not isinstance(event := server.events.get(timeout=300), Left):
            if isinstance(event, WindowArrived):
                found.append(_figures(event))
    finally:
        program.wait()
        server.close()
    return found


def _figures(event: WindowArrived) -> dict[str, float]:
    window = event.window
    began = time.perf_counter()
    trace = load(Path(window.path))
    read = time.perf_counter()
    analyse(trace)
    done = time.perf_counter()
    export = (window.export_ns or 0) / 1e9
    whole = (window.arrived_ns - (window.ended_ns or 0)) / 1e9
    return {
        "trace, MB": window.trace_bytes / 1e6,
        "torch writes the trace, s": export,
        "torch stops the profiler, it is sent and kept, s": whole - export,
        "reading it, s": read - began,
        "analysing it, s": done - read,
    }


def main() -> None:
    """Print medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=1500)
    parser.add_argument("--windows", type=int, default=5)
    typed = parser.parse_args()
    found = measure(typed.layers, typed.windows)
    print(f"{len(found)} windows")
    for name in found[0]:
        print(f"{name:<56} {statistics.median(one[name] for one in found):7.2f}")


if __name__ == "__main__":
    main()

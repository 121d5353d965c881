"""A long recording, and whether either side grows: ``python -m benchmarks.live_soak --minutes 30``.

A program on the CPU (torch has to be installed) is recorded with a window every few seconds. Resident
memory and open descriptors of the program and of this process, which takes, reads and analyses every
window as a screen does, are printed now and then.
"""

from __future__ import annotations

import argparse
import os
import queue
import subprocess
import sys
import time
from pathlib import Path

from whichlayer.analysis import analyse, load
from whichlayer.analysis.live.child import recorder_environment
from whichlayer.analysis.live.events import StateTold, WindowArrived
from whichlayer.analysis.live.history import History
from whichlayer.analysis.live.recorder_options import RecorderOptions
from whichlayer.analysis.live.server import LiveServer

PROGRAM = """
import sys, time, torch
torch.set_num_threads(1)
model = torch.nn.Sequential(*[torch.nn.Linear(16, 16) for _ in range(40)])
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
ends = time.monotonic() + float(sys.argv[1])
while time.monotonic() < ends:
    model(torch.randn(4, 16)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    time.sleep(0.05)
"""

_HISTORY_BYTES = 4 << 20
"""So little that the oldest windows go while it runs."""


def resident_mb(pid: int) -> float:
    """Megabytes of a process that are in memory."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def descriptors(pid: int) -> int:
    """How many are open."""
    return len(os.listdir(f"/proc/{pid}/fd"))


def soak(seconds: float, every: int, tell_seconds: float) -> None:
    """Record for so long, and print figures now and then."""
    server = LiveServer(History(most_disk_bytes=_HISTORY_BYTES))
    address = server.listen()
    options = RecorderOptions(window=3, every=every)
    environment = recorder_environment(os.environ, address, options)
    command = [sys.executable, "-c", PROGRAM, str(seconds)]
    program = subprocess.Popen(command, env=environment)
    began = told = time.monotonic()
    windows = dropped = 0
    print("  min  windows  dropped  kept  program MB  fds  screen MB  fds", flush=True)
    while program.poll() is None:
        try:
            event = server.events.get(timeout=1)
        except queue.Empty:
            continue
        if isinstance(event, StateTold):
            dropped = event.dropped
        elif isinstance(event, WindowArrived):
            windows += 1
            analyse(load(event.window.path))
        if time.monotonic() - told >= tell_seconds and program.poll() is None:
            told = time.monotonic()
            kept = len(server.history.windows())
            print(
                f"{(told - began) / 60:5.1f}  {windows:7}  {dropped:7}  {kept:4}  "
                f"{resident_mb(program.pid):10.1f}  {descriptors(program.pid):3}  "
                f"{resident_mb(os.getpid()):9.1f}  {descriptors(os.getpid()):3}",
                flush=True,
            )
    server.close()
    print(f"exit status {program.wait()}, {windows} windows, {dropped} dropped")


def main() -> None:
    """Soak."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--every", type=int, default=40, help="steps from window to window")
    parser.add_argument("--tell", type=float, default=60, help="seconds from line to line")
    typed = parser.parse_args()
    soak(typed.minutes * 60, typed.every, typed.tell)


if __name__ == "__main__":
    main()

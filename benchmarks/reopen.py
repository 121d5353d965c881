"""Compare reading a trace with reopening it: ``python -m benchmarks.reopen FILE… --rounds 5``.

In a cache folder of its own, each run in a process of its own: the trace is read and kept, then
read and reopened in turn. Told are the seconds to the trace and to all that the first whole
frame needs, both after the imports, and the memory then held: the process's own, and what is
mapped from files, which the system can take back. ``python -m benchmarks.screen`` measures the
same on the screen.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks.measure import machine

_MODES = ("read", "reopen")
_FIGURES = ("trace_s", "trace_cpu_s", "frame_s", "frame_cpu_s")


def open_once(path: str, mode: str) -> dict[str, float]:
    """What one opening takes, in this process.

    Args:
        path: the trace.
        mode: ``keep`` reads it and writes its entry, ``reopen`` takes it from there.
    """
    from whichlayer.analysis.cache.reuse import keep
    from whichlayer.analysis.cache.texts import StoredTexts
    from whichlayer.analysis.reader.formats import trace_formats
    from whichlayer.analysis.reader.opening import open_trace
    from whichlayer.tui.document import Extent
    from whichlayer.tui.first_frame import prepared

    list(trace_formats())  # imports the readers
    wall, cpu = time.perf_counter(), time.process_time()
    trace = open_trace(path, cache=mode != "read", keep=False)
    told = {"trace_s": time.perf_counter() - wall, "trace_cpu_s": time.process_time() - cpu}
    if (mode == "reopen") != isinstance(trace.strings, StoredTexts):
        raise SystemExit(f"{path}: {mode} did something else")
    prepared(trace, Extent.WHOLE)
    told |= {"frame_s": time.perf_counter() - wall, "frame_cpu_s": time.process_time() - cpu}
    told |= _memory()
    wall = time.perf_counter()
    if mode == "keep" and not keep(trace):
        raise SystemExit(f"{path} was not kept")
    return told | {"keep_s": time.perf_counter() - wall}


def _memory() -> dict[str, float]:
    """Resident megabytes of this process, by where they come from; Linux tells."""
    names = {"RssAnon": "own_mb", "RssFile": "mapped_mb", "VmHWM": "peak_mb"}
    told = dict.fromkeys(names.values(), float("nan"))
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return told
    for name, _, value in (line.partition(":") for line in lines):
        if name in names:
            told[names[name]] = int(value.split()[0]) * 1024 / 1e6
    return told


def run(path: Path, mode: str, home: str) -> dict[str, float]:
    """One opening in a process of its own.

    Raises:
        RuntimeError: it failed.
    """
    command = [sys.executable, "-m", "benchmarks.reopen", str(path), "--once", mode]
    environment = {**os.environ, "XDG_CACHE_HOME": home}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    told: dict[str, float] = json.loads(done.stdout)
    return told


def compare(path: Path, rounds: int) -> list[str]:
    """The lines of a Markdown table for one file, without its head."""
    with tempfile.TemporaryDirectory() as home:
        kept = run(path, "keep", home)
        size = sum(file.stat().st_size for file in Path(home).rglob("*.columns"))
        runs = {mode: [run(path, mode, home) for _ in range(rounds)] for mode in _MODES}
    head = (
        f"{path.stat().st_size / 1e6:.0f} MB, entry {size / 1e6:.0f} MB in {kept['keep_s']:.2f} s"
    )
    return [f"| {head} | {mode} | {' | '.join(_cells(runs[mode]))} |" for mode in _MODES]


def _cells(told: Sequence[dict[str, float]]) -> list[str]:
    cells = []
    for name in _FIGURES:
        values = [one[name] for one in told]
        cells.append(f"{median(values):.2f} ({min(values):.2f}-{max(values):.2f})")
    memory = ("own_mb", "mapped_mb", "peak_mb")
    return cells + [f"{median(one[name] for one in told):.0f}" for name in memory]


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--once", choices=["keep", *_MODES], help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.once:
        print(json.dumps(open_once(str(options.files[0]), options.once)))
        return 0
    print(f"Machine: {machine()}; medians of {options.rounds}, least and most in brackets\n")
    print(
        "| JSON | way | s to the trace | CPU s | s to the frame | CPU s | own MB | mapped MB "
        "| peak MB |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for path in options.files:
        print("\n".join(compare(path, options.rounds)), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Make a big trace: ``python -m benchmarks.make_trace OUT.json 250 --layout lines --gz``.

The same arguments give the same bytes. Sizes are decompressed megabytes (10**6), and are
exceeded by at most one training step.
"""

from __future__ import annotations

import argparse
import gzip
import shutil
import tempfile
from pathlib import Path
from random import Random

from benchmarks.trace_maker.layouts import LAYOUTS
from benchmarks.trace_maker.program import Program

_BLOCK = 1 << 20
_COMPRESSION = 6


def make_trace(
    path: Path, megabytes: float, *, layout: str = "pretty", seed: int = 7, stacks: bool = True
) -> int:
    """Writes a trace.

    Args:
        path: the file.
        megabytes: its size.
        layout: a key of ``LAYOUTS``.
        seed: other seeds give other programs.
        stacks: record Python frames.

    Returns:
        How many events it holds.
    """
    program = Program(LAYOUTS[layout], Random(seed), stacks=stacks)
    size = int(megabytes * 1e6)
    # Kineto writes what happened on the host before what CUPTI recorded.
    with path.open("w", encoding="ascii") as file, tempfile.TemporaryFile("w+") as activities:
        written = file.write(LAYOUTS[layout].head)
        while written < size:
            host, gpu = program.step()
            written += file.write(host) + activities.write(gpu)
        activities.seek(0)
        shutil.copyfileobj(activities, file, _BLOCK)
        file.write(program.closing().removesuffix(","))
        file.write(LAYOUTS[layout].tail)
    return program.recorder.events


def compress(path: Path) -> Path:
    """Writes ``<path>.gz`` as Kineto would; the same bytes every time."""
    packed = path.with_name(path.name + ".gz")
    with (
        path.open("rb") as plain,
        packed.open("wb") as file,
        gzip.GzipFile("", "wb", _COMPRESSION, file, mtime=0) as stream,
    ):
        shutil.copyfileobj(plain, stream, _BLOCK)
    return packed


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("megabytes", type=float)
    parser.add_argument("--layout", choices=[*LAYOUTS], default="pretty")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--no-stacks", action="store_true", help="no Python frames")
    parser.add_argument("--gz", action="store_true", help="write PATH.gz beside it as well")
    options = parser.parse_args(arguments)
    events = make_trace(
        options.path,
        options.megabytes,
        layout=options.layout,
        seed=options.seed,
        stacks=not options.no_stacks,
    )
    size = options.path.stat().st_size
    print(f"{options.path}: {size:,} bytes, {events:,} events, {size / events:.0f} bytes each")
    if options.gz:
        packed = compress(options.path)
        print(f"{packed}: {packed.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

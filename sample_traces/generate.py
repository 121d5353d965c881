"""Make the sample traces, or check that the committed ones are what the generator makes.

Run ``python sample_traces/generate.py`` to write ``<name>.json.gz`` and ``<name>.truth.json``
beside this file, with ``--check`` to compare instead, with names to take only those.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def main(arguments: list[str] | None = None) -> int:
    """Write or check the samples; the exit status is 1 when a committed file differs."""
    sys.path.insert(0, str(FOLDER.parent))
    from sample_traces.generator.samples import BUILDERS

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*BUILDERS, []], help="default: all")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    options = parser.parse_args(arguments)
    different = []
    for name in options.names or BUILDERS:
        sample = BUILDERS[name]()
        truth = json.dumps(sample.truth, indent=1) + "\n"
        if options.check:
            if not _matches(name, sample.trace, truth):
                different.append(name)
        else:
            _write(name, sample.trace, truth)
    for name in different:
        print(f"{name}: the committed files differ from what the generator makes")
    return 1 if different else 0


def _paths(name: str) -> tuple[Path, Path]:
    return FOLDER / f"{name}.json.gz", FOLDER / f"{name}.truth.json"


def _write(name: str, trace: str, truth: str) -> None:
    trace_path, truth_path = _paths(name)
    with open(trace_path, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(trace.encode())
    truth_path.write_text(truth, encoding="utf-8")
    print(
        f"{trace_path.name}: {len(trace) / 1e6:.1f} MB, {trace_path.stat().st_size / 1e3:.0f} kB gz"
    )


def _matches(name: str, trace: str, truth: str) -> bool:
    trace_path, truth_path = _paths(name)
    # zlib versions pack differently: what must agree is the content.
    return (
        trace_path.is_file()
        and truth_path.is_file()
        and gzip.decompress(trace_path.read_bytes()) == trace.encode()
        and truth_path.read_text(encoding="utf-8") == truth
    )


if __name__ == "__main__":
    sys.exit(main())

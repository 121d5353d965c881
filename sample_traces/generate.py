"""Make the sample traces, or check that the committed ones are what the generator makes.

The windows of ``whichlayer demo --live`` are among them, in the folder ``live``.

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
    different = [] if options.names else _windows(options.check)
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


def _windows(check: bool) -> list[str]:
    """Write the windows of the live demonstration, or name those that differ."""
    from sample_traces.generator.phases import WINDOWS

    different = []
    for name, build in WINDOWS.items():
        path = FOLDER / "live" / f"{name}.json.gz"
        text = build()
        if not check:
            path.parent.mkdir(exist_ok=True)
            _pack(path, text)
        elif not path.is_file() or gzip.decompress(path.read_bytes()) != text.encode():
            different.append(f"live/{name}")
    return different


def _pack(path: Path, text: str) -> None:
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(text.encode())


def _paths(name: str) -> tuple[Path, Path]:
    return FOLDER / f"{name}.json.gz", FOLDER / f"{name}.truth.json"


def _write(name: str, trace: str, truth: str) -> None:
    trace_path, truth_path = _paths(name)
    _pack(trace_path, trace)
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

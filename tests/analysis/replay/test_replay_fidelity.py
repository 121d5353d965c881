"""With nothing taken away, a replay is the recording."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.simulator.cases import alone, herrings
from tests.simulator.engine import run
from tests.simulator.recording import write
from tests.support.recordings import analysed
from tests.support.replaying import Base, base_replay
from whichlayer.analysis import load

TARGET_NS = 2_000
"""Median error of kernel starts: the design's target for fully linked recordings."""


def gpu_recordings(folder: Path) -> list[Path]:
    names = [
        path for path in folder.glob("**/*") if path.name.endswith((".json", ".gz", ".sqlite"))
    ]
    return sorted(path for path in names if path.name != "expected.json")


@pytest.fixture(scope="module")
def replayed(traces: Path) -> list[tuple[Path, Base]]:
    """Every recording with GPU activity, replayed as it is."""
    bases = ((path, base_replay(analysed(path).trace)) for path in gpu_recordings(traces))
    return [(path, base) for path, base in bases if base is not None]


def test_kernel_starts_of_every_linked_recording_are_reproduced(
    replayed: list[tuple[Path, Base]],
) -> None:
    table, missed, judged = [], [], 0
    for path, base in replayed:
        error = np.abs(base.error_ns)
        median, ninth = np.percentile(error, [50, 90]) / 1000
        table.append(
            f"{path.name:40} {len(error):6d} {base.linked:7.1%} {median:8.2f} {ninth:9.2f} µs"
        )
        if base.linked == 1.0:
            judged += 1
            missed += [path.name] if np.median(error) > TARGET_NS else []
    print(
        "\n".join([f"{'recording':40} {'work':>6} {'linked':>7} {'median':>8} {'p90':>9}", *table])
    )
    assert judged >= 25
    assert not missed


def test_the_window_of_every_linked_recording_is_reproduced(
    replayed: list[tuple[Path, Base]],
) -> None:
    for path, base in replayed:
        if base.linked < 1.0:
            continue
        work = base.schedule.work
        span = int(work.end_ns.max() - work.start_ns.min())
        last = int(work.end_ns.argmax())
        assert abs(int(base.error_ns[last])) <= max(0.01 * span, 10_000), path.name


@pytest.mark.parametrize("index", range(0, 120, 17))
def test_a_simulated_recording_is_reproduced(index: int, tmp_path: Path) -> None:
    case = [*alone(4), *herrings(5, 1)][index]
    path = tmp_path / "run.pt.trace.json"
    write(run(case.program()), case.recording, path, case.seed)
    base = base_replay(load(path))
    assert base is not None
    # A call's own latency varies by some microseconds, and no replay knows it.
    assert float(np.median(np.abs(base.error_ns))) <= 4_000

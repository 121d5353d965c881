"""The timing of gap analysis finds every part that it names, and adds up."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.gaps import main, times_of

SAMPLE = Path(__file__).parents[2] / "sample_traces" / "dataloader_bound.json.gz"


def test_parts_of_an_analysis_are_timed_and_are_all_of_it() -> None:
    times = times_of(SAMPLE)
    assert times.events > 1000 and times.gaps > 0 and times.passes > 0
    assert {"gaps", "kernels", "budget", "schedule", "pass"} <= times.seconds.keys()
    parts = sum(seconds for part, seconds in times.seconds.items() if part != "all")
    assert abs(parts - times.seconds["all"]) < 0.05


def test_traces_are_made_in_the_sizes_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--events", "0.02", "--rounds", "1"]) == 0
    cells = [cell.strip() for cell in capsys.readouterr().out.splitlines()[-1].split("|")]
    assert cells[1] == "0.02M"
    assert 15_000 < int(cells[2].replace(",", "")) < 60_000


def test_a_trace_that_cannot_be_read_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="nothing"):
        times_of(tmp_path / "nothing.json")

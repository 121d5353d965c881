"""What shares something is run by one process, and what takes longest begins."""

from __future__ import annotations

from pathlib import Path

from tests.support.sharing_out import LONG, unit_of

ROOT = Path(__file__).parents[1]


def test_files_that_take_long_are_there_and_named_once() -> None:
    assert [name for name in LONG if not (ROOT / name).is_file()] == []
    assert len(LONG) == len(set(LONG))


def test_what_reads_the_same_recordings_is_one_unit_and_other_files_are_their_own() -> None:
    for name in ("test_real_recordings.py", "communication/test_communication_of_recordings.py"):
        assert unit_of(f"tests/analysis/{name}::test_x[a::b]") == "real recordings"
    for name in ("gaps/test_simulated_causes.py", "replay/test_replay_removals.py"):
        assert unit_of(f"tests/analysis/{name}::test_x") == "simulated cases"
    assert unit_of("tests/test_cli.py::test_y") == "tests/test_cli.py"

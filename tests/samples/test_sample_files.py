"""The committed samples are what the generator makes, small, and plain JSON."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "sample_traces"
SAMPLES = {
    "dataloader_bound",
    "host_sync",
    "launch_bound_decode",
    "unpinned_copies",
    "memory_bound_slow",
    "fp32_matmul_a100",
    "healthy",
}


def test_there_is_one_sample_per_verdict() -> None:
    found = {path.name.removesuffix(".json.gz") for path in FOLDER.glob("*.json.gz")}
    assert found == SAMPLES
    assert {path.name for path in FOLDER.glob("*.truth.json")} == {
        f"{name}.truth.json" for name in SAMPLES
    }


def test_generator_makes_exactly_the_committed_files(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(FOLDER / "generate.py"), "--check"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_check_notices_a_changed_file(tmp_path: Path) -> None:
    copy = tmp_path / "sample_traces"
    copy.mkdir()
    for path in (FOLDER / "generate.py", *FOLDER.glob("memory_bound_slow.*")):
        (copy / path.name).write_bytes(path.read_bytes())
    (copy / "generator").symlink_to(FOLDER / "generator")
    truth = copy / "memory_bound_slow.truth.json"
    truth.write_text(truth.read_text("utf-8").replace("cuda", "pytorch"), "utf-8")
    done = subprocess.run(
        [sys.executable, str(copy / "generate.py"), "--check", "memory_bound_slow"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout.startswith("memory_bound_slow: the committed files differ")


def test_generator_needs_only_the_standard_library_and_itself() -> None:
    for path in (FOLDER / "generator").rglob("*.py"):
        for module in re.findall(r"^(?:from|import) (\w+)", path.read_text("utf-8"), re.MULTILINE):
            assert module == "sample_traces" or module in sys.stdlib_module_names, path


def test_sample_is_below_a_megabyte(name: str) -> None:
    assert (FOLDER / f"{name}.json.gz").stat().st_size < 1_000_000


def test_gzip_header_holds_no_time_and_no_name(name: str) -> None:
    header = (FOLDER / f"{name}.json.gz").read_bytes()[:10]
    assert header[:2] == b"\x1f\x8b"
    assert header[3:8] == bytes(5), "flags and modification time must be zero"


def test_sample_is_plain_json_with_the_keys_of_kineto(text: str) -> None:
    parsed: dict[str, Any] = json.loads(text)
    assert list(parsed) == [
        "schemaVersion",
        "deviceProperties",
        "cuda_runtime_version",
        "cupti_version",
        "record_shapes",
        "cuda_driver_version",
        "with_stack",
        "trace_id",
        "displayTimeUnit",
        "baseTimeNanoseconds",
        "traceEvents",
        "traceName",
    ]
    assert parsed["baseTimeNanoseconds"] % 7_889_238_000_000_000 == 0


@pytest.mark.parametrize("key", ["ts", "dur"])
def test_times_are_printed_with_three_decimals(text: str, key: str) -> None:
    printed = re.findall(rf'"{key}": ([^,\n]+)', text)
    assert printed
    assert all(re.fullmatch(r"\d+\.\d{3}", time) for time in printed)

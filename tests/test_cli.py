from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pexpect
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.tui import cli
from whichlayer.tui.arguments import (
    parse_count,
    parse_flops,
    parse_rate,
    parse_span,
    parse_steps,
    parse_time,
)
from whichlayer.tui.defect import TRACEBACK_VARIABLE
from whichlayer.tui.samples import sample_names, sample_path

Run = Callable[..., subprocess.CompletedProcess[bytes]]

_EVENTS: list[dict[str, Any]] = [
    {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 100.0, "dur": 20.0,
     "args": {"External id": 1}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 105.0,
     "dur": 5.0, "args": {"correlation": 7}},
    {"ph": "X", "cat": "kernel", "name": "void add_kernel()", "pid": 0, "tid": 7, "ts": 112.0,
     "dur": 30.5, "args": {"correlation": 7, "device": 0, "stream": 7}},
]  # fmt: skip


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """One operator that launches one kernel, recorded as rank 3."""
    path = tmp_path / "trace.json"
    header = {"schemaVersion": 1, "distributedInfo": {"rank": 3, "world_size": 8}}
    path.write_text(json.dumps({**header, "traceEvents": _EVENTS}))
    return path


def run(*arguments: str, **settings: Any) -> subprocess.CompletedProcess[bytes]:
    """The command in a process of its own."""
    command = [sys.executable, "-m", "whichlayer", *arguments]
    return subprocess.run(command, capture_output=True, timeout=60, check=False, **settings)


@pytest.fixture
def here(capfd: pytest.CaptureFixture[str]) -> Run:
    """The command in this process, by what a process of its own calls too."""

    def run_here(*arguments: str) -> subprocess.CompletedProcess[bytes]:
        capfd.readouterr()
        status = cli.main(arguments)
        sys.stderr.flush()
        told = capfd.readouterr()
        return subprocess.CompletedProcess(arguments, status, told.out.encode(), told.err.encode())

    return run_here


def assert_one_line_of_error(done: subprocess.CompletedProcess[bytes], *parts: str) -> None:
    error = done.stderr.decode()
    assert done.returncode == cli.WRONG_INPUT, error
    assert done.stdout == b""
    assert error.startswith("whichlayer: ") and error.endswith("\n") and error.count("\n") == 1
    assert error[:-1].isprintable()
    for part in parts:
        assert part in error


def test_report_writes_text_and_nothing_to_standard_error(trace: Path) -> None:
    done = run("report", str(trace))
    assert (done.returncode, done.stderr) == (cli.FINE, b"")
    assert b"LAYERS" in done.stdout and b"trace.json" in done.stdout


def test_report_writes_json_to_a_file(here: Run, trace: Path, tmp_path: Path) -> None:
    output = tmp_path / "report.json"
    done = here("report", str(trace), "--format", "json", "-o", str(output))
    assert (done.returncode, done.stdout, done.stderr) == (cli.FINE, b"", b"")
    report = json.loads(output.read_bytes())
    assert report["devices"][0]["busy_us"] == 30.5
    assert report["trace"]["rank"] == 3


def test_report_of_standard_output_is_that_of_a_file(trace: Path, tmp_path: Path) -> None:
    output = tmp_path / "report.txt"
    assert run("report", str(trace), "-o", str(output)).returncode == cli.FINE
    assert run("report", str(trace), "-o", "-").stdout == output.read_bytes()


def test_report_reads_what_is_compressed(here: Run, trace: Path, tmp_path: Path) -> None:
    packed = tmp_path / "packed.json.gz"
    packed.write_bytes(gzip.compress(trace.read_bytes()))
    assert here("report", str(packed)).returncode == cli.FINE


def test_report_of_a_chosen_span_is_of_that_span(here: Run, trace: Path) -> None:
    done = here("report", str(trace), "--format", "json", "--span", "20:0.03ms")
    window = json.loads(done.stdout)["window"]
    assert (window["start_us"], window["end_us"]) == (20.0, 30.0)


def test_steps_and_a_span_together_are_refused(here: Run, trace: Path) -> None:
    done = here("report", str(trace), "--span", "20:30", "--steps", "1")
    assert_one_line_of_error(done, "--steps and --span")


def test_a_trace_of_the_chosen_rank_is_reported(here: Run, trace: Path) -> None:
    assert here("report", str(trace), "--rank", "3").returncode == cli.FINE


def test_a_trace_of_another_rank_is_refused(here: Run, trace: Path) -> None:
    done = here("report", str(trace), "--rank", "4")
    assert_one_line_of_error(done, str(trace), "--rank 4", "is of rank 3")


def test_report_never_overwrites_the_trace(here: Run, trace: Path, tmp_path: Path) -> None:
    before = trace.read_bytes()
    link = tmp_path / "link.json"
    link.symlink_to(trace)
    assert_one_line_of_error(here("report", str(trace), "-o", str(link)), "the trace itself")
    assert trace.read_bytes() == before


def test_report_to_an_unwritable_path_is_one_line(here: Run, trace: Path, tmp_path: Path) -> None:
    for output in (tmp_path, tmp_path / "missing" / "report.txt"):
        assert_one_line_of_error(here("report", str(trace), "-o", str(output)), str(output))


def _bad_inputs(folder: Path) -> dict[str, bytes]:
    return {
        "empty.json": b"",
        "text.json": b"this is no JSON\n",
        "other.json": b'{"name": "package", "version": 1}',
        "pointer.json": b"version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 3\n",
        "broken.json.gz": b"\x1f\x8bnot really",
    }


@pytest.mark.parametrize("name", ["empty.json", "text.json", "other.json", "pointer.json"])
@pytest.mark.parametrize("command", ["report", None])
def test_a_file_that_is_no_trace_is_one_line(
    here: Run, tmp_path: Path, name: str, command: str | None
) -> None:
    path = tmp_path / name
    path.write_bytes(_bad_inputs(tmp_path)[name])
    arguments = [command, str(path)] if command else [str(path)]
    assert_one_line_of_error(here(*arguments), str(path))


@pytest.mark.parametrize("command", ["report", None])
def test_a_missing_file_and_an_empty_folder_are_one_line(
    here: Run, tmp_path: Path, command: str | None
) -> None:
    for path in (tmp_path / "missing.json", tmp_path):
        arguments = [command, str(path)] if command else [str(path)]
        assert_one_line_of_error(here(*arguments), str(path))


def test_a_file_name_with_escape_codes_is_told_without_them(here: Run, tmp_path: Path) -> None:
    assert_one_line_of_error(here("report", str(tmp_path / "no\x1b[31m\nsuch\x07.json")), "such")


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("report",),
        ("report", "a.json", "b.json"),
        ("report", "a.json", "--format", "xml"),
        ("report", "a.json", "--no-such-option"),
        ("report", "a.json", "--span", "5"),
        ("report", "a.json", "--span", "5:4"),
        ("report", "a.json", "--span", "a:b"),
        ("report", "a.json", "--steps", "5:3"),
        ("report", "a.json", "--steps", "x"),
        ("report", "a.json", "--device", "-1"),
        ("report", "a.json", "--device", "one"),
        ("report", "a.json", "--peak-bandwidth", "0"),
        ("report", "a.json", "--peak-bandwidth", "nan"),
        ("report", "a.json", "--peak-flops", "bf16"),
        ("report", "a.json", "--peak-flops", "int3=5"),
        ("report", "a.json", "--fo", "json"),
        ("report", "a\x1b[31m.json", "--bad\x1b[31m"),
        ("demo", "no such sample"),
        ("rules", "no-such-rule"),
    ],
)
def test_a_wrong_command_line_is_one_line(here: Run, arguments: tuple[str, ...]) -> None:
    assert_one_line_of_error(here(*arguments))


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        (("repotr", "trace.json"), "no such file or command: repotr; did you mean report?"),
        (("rule",), "no such file or command: rule; did you mean rules?"),
        (("Demo",), "did you mean demo?"),
        (("live", "--span", "1:2"), "commands are "),
        (("missing.json",), "missing.json: No such file"),
        (("./repotr",), "./repotr: No such file"),
    ],
)
def test_a_mistyped_command_is_named_and_a_missing_file_is_not_taken_for_one(
    here: Run, typed: tuple[str, ...], told: str
) -> None:
    assert_one_line_of_error(here(*typed), told)


def test_a_file_with_the_name_of_no_command_is_a_file(trace: Path) -> None:
    trace.rename(trace.with_name("repotr"))
    assert_one_line_of_error(run("repotr", cwd=trace.parent), "the screen needs a terminal")


@pytest.mark.parametrize("arguments", [("--help",), ("report", "--help")])
def test_help_names_every_kind_of_input(here: Run, arguments: tuple[str, ...]) -> None:
    told = " ".join(here(*arguments).stdout.decode().split())
    for kind in (".json", ".gz", ".zst", ".zip", ".sqlite", "folder", "- for standard input"):
        assert kind in told


@pytest.mark.parametrize("empty", ['{"traceEvents": []}'])
def test_a_trace_without_events_is_one_that_says_so(here: Run, tmp_path: Path, empty: str) -> None:
    path = tmp_path / "empty.json"
    path.write_text(empty)
    done = here("report", str(path))
    assert (done.returncode, done.stderr) == (cli.FINE, b"")
    assert b"RECORDING  no events" in done.stdout and b"LAYERS" not in done.stdout


def test_the_first_sample_exists() -> None:
    assert sample_path(cli._FIRST_SAMPLE).is_file()


def test_an_unknown_sample_lists_those_that_there_are(here: Run) -> None:
    assert_one_line_of_error(here("demo", "nothing"), "'nothing'", *sample_names())


def test_the_screen_needs_a_terminal(trace: Path) -> None:
    assert_one_line_of_error(run(str(trace)), "terminal", "whichlayer report")


@pytest.mark.parametrize("name", ["missing.json", "empty.json", "text.json", "other.json"])
def test_a_screen_on_what_is_no_trace_ends_with_one_line(tmp_path: Path, name: str) -> None:
    if name in _bad_inputs(tmp_path):
        (tmp_path / name).write_bytes(_bad_inputs(tmp_path)[name])
    child = pexpect.spawn(
        sys.executable, ["-m", "whichlayer", str(tmp_path / name)], timeout=60, encoding="utf-8"
    )
    child.expect_exact("whichlayer: ")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == cli.WRONG_INPUT
    said = child.before or ""
    assert name in said and said.count("\n") == 1


@pytest.mark.parametrize(
    ("option", "reason"),
    [
        (("--steps", "900:901"), "step"),
        (("--device", "77"), "77"),
        (("--device-model", "no such card"), "no such card"),
    ],
)
def test_an_option_that_does_not_fit_the_trace_is_one_line(
    here: Run, trace: Path, option: tuple[str, str], reason: str
) -> None:
    assert_one_line_of_error(here("report", str(trace), *option), str(trace), reason)


def test_rules_lists_every_rule_with_its_thresholds(here: Run) -> None:
    done = here("rules")
    assert (done.returncode, done.stderr) == (cli.FINE, b"")
    listed = done.stdout.decode()
    for rule_id in ("dataloader-wait", "host-sync", "at-roof", "fp32-matmul"):
        assert f"\n{rule_id} " in "\n" + listed
    assert " = 0." in listed


def test_a_rule_is_explained_in_full(here: Run) -> None:
    done = here("rules", "dataloader-wait")
    explained = done.stdout.decode()
    assert done.returncode == cli.FINE
    assert explained.startswith("dataloader-wait: ")
    assert "  fix  " in explained and "  thresholds  " in explained


@pytest.mark.parametrize("arguments", [("--help",), ("report", "--help"), ("demo", "--help")])
def test_help_is_printed(here: Run, arguments: tuple[str, ...]) -> None:
    done = here(*arguments)
    assert (done.returncode, done.stderr) == (cli.FINE, b"")
    assert b"usage: whichlayer" in done.stdout and b"--span" in done.stdout


def test_version_is_printed() -> None:
    done = run("--version")
    assert (done.returncode, done.stderr) == (cli.FINE, b"")
    assert done.stdout.startswith(b"whichlayer ")


def test_a_reader_that_stops_early_is_no_error(trace: Path) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    command = [sys.executable, "-m", "whichlayer", "report", str(trace), "--format", "json"]
    with os.fdopen(write_end, "wb") as output:
        done = subprocess.run(
            command, stdout=output, stderr=subprocess.PIPE, timeout=60, check=False
        )
    assert (done.returncode, done.stderr) == (cli.FINE, b"")


def test_a_closed_standard_output_is_one_line(trace: Path) -> None:
    shell = f'exec "{sys.executable}" -m whichlayer report "{trace}" >&-'
    done = subprocess.run(["sh", "-c", shell], capture_output=True, timeout=60, check=False)
    assert_one_line_of_error(done, "standard output")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_report_that_only_a_part_of_fits_on_the_disk_is_an_error(
    trace: Path, tmp_path: Path, unbuffered: str
) -> None:
    command = [sys.executable, "-m", "whichlayer", "report", str(trace), "--format", "json"]
    with (tmp_path / "report.json").open("wb") as output:
        done = subprocess.run(
            command, stdout=output, stderr=subprocess.PIPE, timeout=60, check=False,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512)),
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith(b"whichlayer: ") and done.stderr.count(b"\n") == 1


def test_an_interrupt_is_quiet(trace: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "load_typed", interrupt)
    assert cli.main(["report", str(trace)]) == 128 + signal.SIGINT
    assert capfd.readouterr() == ("", "")


def test_a_defect_is_one_line_that_says_where(
    trace: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("two\nlines")

    monkeypatch.setattr(cli, "load_typed", fail)
    monkeypatch.delenv(TRACEBACK_VARIABLE, raising=False)
    assert cli.main(["report", str(trace)]) == cli.DEFECT
    error = capfd.readouterr().err
    assert error.count("\n") == 1 and "ValueError" in error and "test_cli.py:" in error
    monkeypatch.setenv(TRACEBACK_VARIABLE, "1")
    assert cli.main(["report", str(trace)]) == cli.DEFECT
    assert "Traceback" in capfd.readouterr().err


def test_options_reach_the_screen(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from whichlayer.tui import app
    from whichlayer.tui.wanted import Wanted

    seen: list[Any] = []

    def run_screen(*arguments: object, cache: bool, ahead: object, wanted: object) -> int:
        seen.extend((*arguments, cache, ahead, wanted))
        return cli.FINE

    monkeypatch.setattr(app, "run", run_screen)
    for stream in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(f"sys.{stream}.isatty", lambda: True, raising=False)
    arguments = ["--steps", "3:5", "--device", "1", "--peak-flops", "bf16=989", "--no-cache"]
    assert cli.main([str(trace), *arguments]) == cli.FINE
    path, options, cache, ahead, wanted = seen
    assert (path, cache, ahead) == (str(trace), False, None)
    assert wanted == Wanted(None, None, None, None)
    assert (options.steps, options.device, options.peak_tflops) == ((3, 5), 1, {"bf16": 989.0})


@given(st.integers(0, 2**53))
def test_a_plain_number_is_the_microseconds_of_a_report(ns: int) -> None:
    assert parse_time(f"{ns // 1000}.{ns % 1000:03d}") == ns
    assert parse_time(f"{ns}ns") == parse_time(f" {ns} ns ") == ns


@pytest.mark.parametrize(
    ("text", "ns"),
    [("1", 1_000), ("1us", 1_000), ("1µs", 1_000), ("1.5ms", 1_500_000), ("2s", 2_000_000_000),
     (".5ms", 500_000), ("3.", 3_000)],
)  # fmt: skip
def test_times_have_units(text: str, ns: int) -> None:
    assert parse_time(text) == ns


@pytest.mark.parametrize(
    "text", ["", "-1", "1e3", "nan", "1 min", "1,5", "١", "9" * 400, "99999999999s"]
)
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        parse_time(text)


def test_steps_are_a_range_or_one() -> None:
    assert parse_steps("3:5") == (3, 5)
    assert parse_steps("3") == (3, 3)


def test_spans_mix_units() -> None:
    assert parse_span("500:1.5ms") == (500_000, 1_500_000)


@pytest.mark.parametrize(("text", "wrong"), [("0:0", "holds no time"), ("3:2", "ends before")])
def test_an_empty_span_is_told_from_one_that_is_the_wrong_way_round(text: str, wrong: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=wrong):
        parse_span(text)


@given(st.text(max_size=30))
def test_any_text_is_a_value_or_a_refusal(text: str) -> None:
    for parse in (parse_time, parse_span, parse_steps, parse_rate, parse_flops, parse_count):
        try:
            parse(text)
        except argparse.ArgumentTypeError as refusal:
            assert str(refusal)


def test_rates_name_their_precision() -> None:
    assert parse_flops("BF16=989.4") == ("bf16", 989.4)

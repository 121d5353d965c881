"""Processes that read for this one: they end with it, and losing one loses nothing."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from tests.support.chrome_text import LAYOUTS, write_file
from tests.support.whole_trace import everything
from whichlayer.analysis.reader import cores as cores_module
from whichlayer.analysis.reader import open_trace, sharing, workers
from whichlayer.analysis.reader.block import Cut
from whichlayer.analysis.reader.cores import VARIABLE, Cores, usable_cores
from whichlayer.analysis.reader.framing import Limits
from whichlayer.analysis.reader.keep import Keep
from whichlayer.analysis.reader.messages import receive, send
from whichlayer.analysis.reader.progress import Progress, Report
from whichlayer.analysis.reader.read_chrome_json import read_chrome_json
from whichlayer.analysis.reader.source import TraceSource
from whichlayer.analysis.reader.worker import READY
from whichlayer.analysis.reader.workers import Answer, Workers

EVENTS = 40_000
SHARED = Cores(2, block=1 << 17, sample=0, least=0)
LIMITS = Limits(1 << 16, 1 << 19, 1 << 22)

#: What a worker is told to do is done within this time, or never.
SOON_S = 60


class Started(Workers):
    """Workers that are waited for."""

    made: list[Started]

    def __init__(self, count: int, keep: Keep | None = None) -> None:
        super().__init__(count, keep)
        self.made.append(self)

    @property
    def ready(self) -> bool:
        return self._ready.wait(SOON_S if self._processes else 0)

    @property
    def pids(self) -> list[int]:
        return [process.pid for process in self._processes]


@pytest.fixture
def made() -> Iterator[list[Started]]:
    """The workers that were started, of which none may be left."""
    Started.made = []
    with patch.object(workers, "Workers", Started):
        yield Started.made
    for one in Started.made:
        assert all(process.returncode is not None for process in one._processes)
        assert not any(exists(pid) for pid in one.pids)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace that takes some dozen blocks."""
    events: list[dict[str, Any]] = []
    for n in range(EVENTS):
        event = {"ph": "X", "ts": 3 * n, "dur": 2, "pid": 1, "tid": n % 7, "name": f"op {n % 99}"}
        kind: dict[str, Any] = {
            "cat": "cpu_op",
            "args": {"External id": n, "Input Dims": [[n % 50]]},
        }
        if n % 4 == 0:
            kind = {"cat": "kernel", "args": {"correlation": n, "stream": n % 3, "device": 0}}
        elif n % 11 == 0:
            kind = {"ph": "Bbse"[n % 4], "cat": "ac2g", "id": n % 13}
        events.append(event | kind)
    path = tmp_path_factory.mktemp("workers") / "trace.json"
    path.write_text(write_file(events, LAYOUTS["kineto"]), encoding="utf-8")
    return path


def read(path: Path, cores: Cores = SHARED, report: Report | None = None) -> dict[str, Any]:
    with TraceSource(str(path)) as source:
        trace = read_chrome_json(source, report, LIMITS, cores)
    return everything(trace, with_arguments=False)


@pytest.fixture(scope="module")
def alone(path: Path) -> dict[str, Any]:
    """The trace as one process reads it."""
    return read(path, Cores(0))


def exists(pid: int) -> bool:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


def test_workers_give_the_very_same_trace_and_print_nothing(
    path: Path,
    alone: dict[str, Any],
    made: list[Started],
    capfd: pytest.CaptureFixture[str],
) -> None:
    asked: list[int] = []

    def answer(self: Started, cuts: Sequence[Cut]) -> Answer:
        asked.append(sum(len(text) for _, text in cuts))
        return Workers.read(self, cuts)

    with patch.object(Started, "read", answer):
        assert read(path) == alone
    assert len(made) == 1 and len(made[0].pids) == 2
    assert sum(asked) > 0.9 * path.stat().st_size - 2 * LIMITS.chunk
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("victims", [1, 2])
@pytest.mark.parametrize("block", [0, 7])
def test_a_killed_worker_loses_nothing(
    path: Path,
    alone: dict[str, Any],
    made: list[Started],
    victims: int,
    block: int,
) -> None:
    blocks: list[Sequence[Cut]] = []

    def killing(self: Started, cuts: Sequence[Cut]) -> Answer:
        blocks.append(cuts)
        if len(blocks) == block + 1:
            for pid in self.pids[:victims]:
                os.kill(pid, signal.SIGKILL)
        return Workers.read(self, cuts)

    with patch.object(Started, "read", killing):
        assert read(path) == alone
    assert len(blocks) > block


def test_a_worker_that_hangs_is_given_up_and_progress_goes_on(
    path: Path, alone: dict[str, Any], made: list[Started]
) -> None:
    seen: list[Progress] = []

    def stopping(self: Started, cuts: Sequence[Cut]) -> Answer:
        for pid in self.pids:
            os.kill(pid, signal.SIGSTOP)
        return Workers.read(self, cuts)

    with patch.object(Started, "read", stopping), patch.object(sharing, "_PATIENCE_S", 0.5):
        assert read(path, report=seen.append) == alone
    told = [one.events for one in seen]
    assert told == sorted(told)
    assert max(told.count(one) for one in set(told)) >= 3


@pytest.mark.parametrize(
    "executable",
    ["", None, "/nowhere/python3", "/bin/sh", "python-that-says-other-things"],
    ids=repr,
)
def test_without_an_interpreter_one_process_reads_all(
    path: Path,
    alone: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    executable: str | None,
) -> None:
    if executable and "/" not in executable:
        script = tmp_path / executable
        script.write_text("#!/bin/sh\necho something else entirely\n")
        script.chmod(0o755)
        executable = str(script)
    monkeypatch.setattr(sys, "executable", executable)
    assert read(path) == alone


def test_a_cancelled_reading_leaves_no_process(path: Path, made: list[Started]) -> None:
    def cancel(progress: Progress) -> None:
        if made and progress.events > EVENTS // 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read(path, report=cancel)
    assert made[0].pids


def start() -> subprocess.Popen[bytes]:
    command = workers._command()
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)
    assert process.stdout is not None
    assert process.stdout.read(len(READY)) == READY
    return process


def test_a_worker_ends_when_nobody_sends_any_more() -> None:
    with start() as process:
        assert process.stdin is not None
        process.stdin.write(b"half a mess")
        process.stdin.close()
        assert process.wait(SOON_S) == 0


def test_a_worker_ends_when_nobody_listens_any_more() -> None:
    with start() as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdout.close()
        send(process.stdin, ([(0, bytearray(b'{"ph":"X","ts":1}'))], None))
        assert process.wait(SOON_S) == 0


def test_an_interrupt_is_for_the_program_not_for_its_workers() -> None:
    with start() as process:
        assert process.stdin is not None and process.stdout is not None
        process.send_signal(signal.SIGINT)
        cuts = [(5, bytearray(b'{"ph":"X","ts":1}')), (90, bytearray(b"]"))]
        send(process.stdin, (cuts, None))
        columns = receive(process.stdout)
        assert (columns.events, len(columns.spans), columns.spans[0].offset) == (1, 1, 5)
        process.stdin.close()
        assert process.wait(SOON_S) == 0


BEGIN = """
import json, os, signal, sys, threading
sys.path[:] = json.loads(sys.argv[2])
from whichlayer.analysis.reader import cores, open_trace, workers
cores.Cores.of_machine = classmethod(lambda cls: cls(2, block=1 << 16, sample=0, least=0))
class Workers(workers.Workers):
    @property
    def ready(self):
        return self._ready.wait(60)
    def read(self, cuts):
        asked(self)
        return super().read(cuts)
workers.Workers = Workers
"""

READS = """
def asked(workers):
    print("asked")
print(len(open_trace(sys.argv[1])))
"""

ENDS = """
def asked(workers):
    for process in workers._processes:
        os.kill(process.pid, signal.SIGSTOP)
        print(process.pid)
    begun.set()
begun = threading.Event()
threading.Thread(target=open_trace, args=(sys.argv[1],), daemon=True).start()
begun.wait(60)
"""


def run_script(path: Path, text: str, options: Sequence[str] = ()) -> list[str]:
    """The words that a script prints, run as a user would run it."""
    script = path.with_name("script.py")
    script.write_text(BEGIN + text)
    places = json.dumps([*sys.path, str(Path(__file__).parents[3])])
    done = subprocess.run(
        [sys.executable, *options, str(script), str(path), places],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        timeout=2 * SOON_S,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


@pytest.mark.parametrize("options", [[], ["-I"], ["-S"], ["-E", "-s", "-O"]], ids=repr)
def test_a_script_without_a_guard_reads_with_workers(
    path: Path, alone: dict[str, Any], options: list[str]
) -> None:
    *asked, slices = run_script(path, READS, options)
    assert len(asked) > 1
    assert int(slices) == len(alone["start_ns"][1]) // 8


def test_a_program_that_ends_waits_for_no_worker_and_leaves_none(path: Path) -> None:
    pids = run_script(path, ENDS)
    assert len(pids) >= 2
    assert not any(exists(int(pid)) for pid in pids)


@pytest.mark.parametrize(
    ("said", "workers"), [("1", 1), ("2", 2), ("3", 3), ("99", 4), ("0", 0), ("-4", -1), ("", -1)]
)
def test_the_environment_says_how_many_cores(
    monkeypatch: pytest.MonkeyPatch, said: str, workers: int
) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0))
    monkeypatch.setenv(VARIABLE, said)
    found = Cores.of_machine().workers
    monkeypatch.delenv(VARIABLE)
    assert found == (workers if workers >= 0 else Cores.of_machine().workers)
    assert 1 <= Cores.of_machine().workers <= 4


def test_small_files_are_read_by_one_process(path: Path, made: list[Started]) -> None:
    assert open_trace(path).events == EVENTS
    assert not made


def test_a_crowded_machine_is_not_given_more_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr(cores_module, "usable_cores", lambda: 3)
    monkeypatch.delenv(VARIABLE, raising=False)
    found = []
    for load in (0.5, 15.9, 16.0):
        monkeypatch.setattr(os, "getloadavg", lambda load=load: (load, 0.0, 0.0))
        found.append(Cores.of_machine().workers)
    assert found == [3, 3, 1]
    monkeypatch.setenv(VARIABLE, "2")
    assert Cores.of_machine().workers == 2


@pytest.mark.parametrize(
    ("quota", "cores"),
    [
        (("150000 100000",), 1),
        (("200000 100000\n",), 2),
        (("50000 100000",), 1),
        (("max 100000",), 64),
        (("-1\n", "100000\n"), 64),
        (("300000\n", "100000\n"), 3),
        (("0 0",), 64),
        (("",), 64),
        ((), 64),
    ],
    ids=repr,
)
def test_a_container_may_use_no_more_cores_than_its_quota(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quota: tuple[str, ...], cores: int
) -> None:
    paths = [tmp_path / name for name in ("first", "second")]
    for path, text in zip(paths, quota, strict=False):
        path.write_text(text)
    given = tuple(str(path) for path in paths[: max(1, len(quota))])
    monkeypatch.setattr(cores_module, "_QUOTAS", (given,))
    monkeypatch.setattr(os, "process_cpu_count", lambda: 64, raising=False)
    assert usable_cores() == cores

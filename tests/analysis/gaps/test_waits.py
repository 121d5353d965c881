"""A thread that waits works at nothing: no Python overhead, and said for what it waits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support.program import MAIN, Program, gap_time
from whichlayer.analysis.gaps.explain import explain_gap
from whichlayer.analysis.gaps.waits import Wait, wait_of
from whichlayer.analysis.results import Analysis, GapText

LOOP = "server.py(10): loop"
LISTENS = [
    ["asyncio/base_events.py(1922): _run_once", "selectors.py(451): select",
     "<built-in method poll of select.epoll object at 0x7f>"],
    ["zmq/sugar/poll.py(106): poll", "<built-in function zmq_poll>"],
    ["multiprocessing/connection.py(250): recv", "multiprocessing/connection.py(382): _recv",
     "<built-in function read>"],
    ["socket.py(293): accept", "<built-in method _accept of socket object at 0x7f>"],
    ["selectors.py(558): select", "<built-in method control of select.kqueue object at 0x7f>"],
    ["/usr/lib/python3.12/selectors.py(468): select"],
    ["<built-in method run_until_complete of uvloop.Loop object at 0x7f>"],
]  # fmt: skip
LOCKS = [
    ["queue.py(171): get", "threading.py(355): wait",
     "<built-in method acquire of _thread.lock object at 0x7f>"],
    ["concurrent/futures/_base.py(428): result", "threading.py(355): wait",
     "<method 'acquire' of '_thread.lock' objects>"],
    ["<built-in method get of _queue.SimpleQueue object at 0x7f>"],
]  # fmt: skip
PROCESSES = [
    ["subprocess.py(1264): wait", "<built-in function waitpid>"],
    ["vllm/distributed/shm_broadcast.py(455): acquire_read", "<built-in function sched_yield>"],
]
SLEEP = ["<built-in function sleep>"]
WORKS = [
    ["json/__init__.py(299): loads", "json/decoder.py(332): decode"],
    ["tokenizer.py(40): encode", "<built-in method encode of builtins.Tokenizer object at 0x7f>"],
    ["multiprocessing/connection.py(250): recv", "<built-in function loads>"],
    ["mylib/queue.py(12): get"],
    ["pathlib.py(1050): read_bytes", "<built-in method read of _io.BufferedReader object at 0x7f>"],
]


def served(frames: list[str], length: float = 8000) -> Program:
    """Work, a stretch in these frames, one in the other, and work again; three times."""
    program = Program()
    for n in range(3):
        begin = (length + 300) * n
        program.kernel("forward", begin + 10, 100, (begin, 5))
        for depth, name in enumerate([LOOP, *frames]):
            program.frame(name, begin + 120, length)
            program.events[-1]["dur"] = length - 2 * depth
            program.events[-1]["ts"] = begin + 120 + depth
        program.kernel("forward", begin + 140 + length, 100, (begin + 130 + length, 5))
    return program


def longest(analysis: Analysis) -> GapText:
    gaps = analysis.gaps
    unknown = np.array([gaps.rule(i) == "unattributed" for i in range(len(gaps))])
    return explain_gap(analysis, int(((gaps.end_ns - gaps.start_ns) * unknown).argmax()))


@pytest.mark.parametrize("frames", [*LISTENS, *LOCKS, *PROCESSES, SLEEP], ids=lambda f: f[-1])
@pytest.mark.parametrize("length", [8000, 600])
def test_a_wait_is_no_work_of_python_and_its_reason_unknown(
    tmp_path: Path, frames: list[str], length: float
) -> None:
    told = gap_time(served(frames, length).analysis(tmp_path))
    assert told["unattributed"] > 3 * (length - 40)
    assert told.get("python-overhead", 0) < 60


@pytest.mark.parametrize("frames", WORKS, ids=lambda f: f[-1])
def test_python_that_works_is_python_overhead(tmp_path: Path, frames: list[str]) -> None:
    told = gap_time(served(frames).analysis(tmp_path))
    assert told["python-overhead"] > 3 * 7900


@pytest.mark.parametrize("frames", LISTENS, ids=lambda f: f[-1])
def test_what_waits_for_requests_says_so_and_not_that_a_thread_is_waited_for(
    tmp_path: Path, frames: list[str]
) -> None:
    text = longest(served(frames).analysis(tmp_path))
    evidence = " ".join(text.evidence)
    assert f"waited in {frames[-1]}, for a message, a connection or a timer" in evidence
    assert "another thread" not in evidence
    assert "wait for requests" in text.fix and "move it out" not in text.fix


def test_a_sleep_is_the_programs_own_pause_at_its_place(tmp_path: Path) -> None:
    program = served(SLEEP)
    program.frame("logger.py(3): flush", 120, 7900, thread=MAIN + 7)
    text = longest(program.analysis(tmp_path))
    evidence = " ".join(text.evidence)
    assert f"slept in <built-in function sleep>, called in {LOOP}" in evidence
    assert "another thread" not in evidence and "interpreter lock" not in evidence
    assert "the program sleeps here" in text.fix
    assert str(text.where) == "server.py:10"


@pytest.mark.parametrize("company", [True, False])
def test_a_lock_waits_for_another_thread_where_there_is_one(tmp_path: Path, company: bool) -> None:
    program = served(LOCKS[0])
    if company:
        program.frame("worker.py(3): run", 50, 9000, thread=MAIN + 7)
    evidence = " ".join(longest(program.analysis(tmp_path)).evidence)
    assert f"waited in {LOCKS[0][-1]}" in evidence
    assert (", for another thread" in evidence) == company


def looped(wait: float, work: float, frame: str = SLEEP[0]) -> Program:
    """As :func:`served`, but the wait is many of a loop that works in between."""
    program = served([])
    at = 121.0
    while at + wait < 8100:
        program.frame(frame, at, wait)
        at += wait + work
    return program


def test_a_loop_that_sleeps_and_looks_again_waits(tmp_path: Path) -> None:
    program = looped(150, 9)
    told = gap_time(program.analysis(tmp_path))
    assert told["unattributed"] > 7900
    assert told["python-overhead"] < 2 * 8000 + 100  # of the two other stretches


def test_locks_that_are_free_leave_python_what_it_is(tmp_path: Path) -> None:
    frame = "<built-in method acquire of _thread.RLock object at 0x7f>"
    told = gap_time(looped(2, 15, frame).analysis(tmp_path))
    assert told["python-overhead"] > 3 * 7900


def test_a_wait_inside_of_the_loader_is_the_loaders(tmp_path: Path) -> None:
    frames = ["torch/utils/data/dataloader.py(1400): _next_data", *LISTENS[2]]
    told = gap_time(served(frames).analysis(tmp_path))
    assert told["dataloader-wait"] > 3 * 7900
    assert "unattributed" not in told or told["unattributed"] < 60


@pytest.mark.parametrize(("frames", "loads"), [(LOCKS[0], True), (SLEEP, False)])
def test_only_a_lock_is_charged_to_a_thread_that_loads(
    tmp_path: Path, frames: list[str], loads: bool
) -> None:
    program = served(frames)
    loader = "torch/utils/data/dataloader.py(1400): _next_data"
    program.frame(loader, 1, 24_000, thread=MAIN + 7)
    told = gap_time(program.analysis(tmp_path))
    assert ("dataloader-wait" in told) == loads


@pytest.mark.parametrize(
    ("name", "wait"),
    [
        ("<built-in method select of Tensor object at 0x7f>", None),
        ("<built-in method select of type object at 0x7f>", None),
        ("<built-in method wait of Event object at 0x7f>", None),
        ("<built-in method get of dict object at 0x7f>", None),
        ("<built-in method release of _thread.lock object at 0x7f>", None),
        ("<built-in method wait of PyCapsule object at 0x7f>", Wait.PROCESS),
        ("<built-in method acquire of _multiprocessing.SemLock object at 0x7f>", Wait.PROCESS),
        ("<cyfunction Socket.recv at 0x7f>", Wait.MESSAGE),
        ("torch/distributed/tensor/_dispatch.py(170): dispatch", None),
        ("mylib/selectors.py(3): select", None),
        ("C:\\Python311\\lib\\selectors.py(305): select", Wait.MESSAGE),
        ("threading.py(359): wait", Wait.THREAD),
    ],
)
def test_what_a_name_waits_for(name: str, wait: Wait | None) -> None:
    assert wait_of(name) == wait

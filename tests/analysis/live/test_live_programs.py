"""Real programs under a recorder: output, results and exit status are those without it."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.support.live_peer import Ran, await_socket, left_over, plain, ran, started, wait_for
from whichlayer.analysis import load
from whichlayer.analysis.live.events import Joined, Left, Noted, StateTold, WindowArrived
from whichlayer.analysis.live.protocol import Phase
from whichlayer.analysis.live.recorder_options import RecorderOptions
from whichlayer.analysis.trace.columns import Trace

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="records with torch"
)

OFTEN = RecorderOptions(window=2, every=6)
ON_DEMAND = RecorderOptions(window=2, every=0)
NEVER = RecorderOptions(window=1, every=1_000_000)

LOG_PREFIX = re.compile(rb"^[WEI]\d{4} [\d:.]+ \d+ ", re.MULTILINE)
"""Time and process in front of what torch logs."""

TRAINING = """
    import sys, threading, time
    import torch
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(pause=0.0):
        loss = model(torch.randn(4, 8)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        time.sleep(pause)
        return loss.item()
"""


def script(folder: Path, *bodies: str) -> Path:
    path = folder / "program.py"
    path.write_text("\n".join(textwrap.dedent(body) for body in bodies), encoding="utf-8")
    return path


def loaded(found: Ran) -> list[Trace]:
    return [load(event.window.path) for event in found.windows]


def same_as_without(path: Path, found: Ran) -> None:
    """Standard output, standard error and exit status, with nothing left behind."""
    without = plain(path)
    assert (found.status, found.out) == (without.status, without.out)
    assert LOG_PREFIX.sub(b"", found.err) == LOG_PREFIX.sub(b"", without.err)
    assert found.left == []


def test_a_training_loop_is_recorded_and_its_losses_are_the_same(tmp_path: Path) -> None:
    body = """
        class Numbers(torch.utils.data.Dataset):
            def __len__(self): return 32
            def __getitem__(self, index): return torch.full((8,), float(index))

        scaler = torch.amp.GradScaler("cpu")
        critic = torch.optim.Adam(model.parameters(), lr=1e-3)
        for epoch in range(2):  # workers are forked, the second time around a window
            loader = torch.utils.data.DataLoader(Numbers(), batch_size=2, num_workers=2)
            for number, batch in enumerate(loader):
                loss = model(batch).square().mean() / 2
                scaler.scale(loss).backward()
                if number % 2:  # gradients of two batches
                    scaler.step(optimizer)
                    scaler.update()
                    critic.step()
                    optimizer.zero_grad()
                print(f"{loss.item():.9f}")
                time.sleep(0.01)
        print(sys.path[0] != "", torch.rand(1).item(), file=sys.stderr)
        sys.exit(3)
    """
    path = script(tmp_path, TRAINING, body)
    found = ran(path, OFTEN)
    assert found.status == 3
    same_as_without(path, found)
    windows = [event.window for event in found.windows]
    assert len(windows) >= 2
    first, last = windows[0].first_step or 0, windows[0].last_step or 0
    assert last - first == 1
    trace = loaded(found)[0]
    assert [step.number for step in trace.steps] == [first, last]
    names = {trace.strings[one] for one in set(trace.name_id.tolist())}
    assert "Optimizer.step#SGD.step" in names
    assert any("program.py" in name for name in names), "Python stacks are recorded"


def test_an_inference_loop_is_recorded_and_its_model_saved_as_it_was(tmp_path: Path) -> None:
    body = """
        import copy, io, pickle

        class Takes(torch.nn.Module):
            def forward(self, batch):
                time.sleep(0.02)  # as work would: calls are seen by looking at stacks
                return batch

        model = torch.nn.Sequential(torch.nn.Linear(8, 8), Takes())
        before = pickle.dumps(model)
        with torch.no_grad():
            for number in range(80):
                out = model(torch.randn(3, 8))
        print(out.sum().item(), pickle.dumps(model) == before, copy.deepcopy(model).__dict__.keys())
    """
    path = script(tmp_path, TRAINING, body)
    found = ran(path, OFTEN)
    assert found.windows, found
    same_as_without(path, found)
    joined = [event.recorder.mode for event in found.events if isinstance(event, Joined)]
    assert joined == ["inference"]


@pytest.mark.parametrize(
    ("end", "status"),
    [
        ("raise ValueError('planned')", 1),
        ("__import__('os')._exit(4)", 4),
        ("__import__('os').kill(__import__('os').getpid(), 15)", -signal.SIGTERM),
        ("__import__('os').kill(__import__('os').getpid(), 9)", -signal.SIGKILL),
        ("threading.Thread(target=lambda: [step() for _ in range(9)]).start()", 0),
    ],
)
def test_a_program_ends_as_it_would_even_inside_a_window(
    tmp_path: Path, end: str, status: int
) -> None:
    body = f"""
        for _ in range(5):
            step(0.02)
        print("so far", flush=True)
        {end}
    """
    path = script(tmp_path, TRAINING, body)
    found = ran(path, RecorderOptions(window=100, every=200))
    assert found.status == status
    assert found.out == b"so far\n"
    assert [type(event) for event in found.events if isinstance(event, (Joined, Left))] == [
        Joined,
        Left,
    ]
    assert b"whichlayer" not in found.err
    assert found.left == []


def test_a_program_that_profiles_itself_keeps_its_profile_and_shows_it(tmp_path: Path) -> None:
    body = """
        from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler
        import pathlib
        for _ in range(4):
            step(0.02)  # a window of ours begins
        folder = pathlib.Path(sys.argv[0]).parent / "own"
        with profile(
            activities=[ProfilerActivity.CPU],
            schedule=schedule(wait=1, warmup=1, active=2, repeat=2),
            on_trace_ready=tensorboard_trace_handler(str(folder), use_gzip=True),
        ) as own:
            for _ in range(9):
                step()
                own.step()
        for trace in folder.iterdir():
            print(trace.name.endswith(".pt.trace.json.gz"), trace.stat().st_size > 1000)
        with torch.autograd.profiler.profile() as old:
            step()
        print(len(old.function_events) > 10)
        for _ in range(30):
            step(0.01)
    """
    path = script(tmp_path, TRAINING, body)
    found = ran(path, RecorderOptions(window=3, every=8))
    assert found.out == b"True True\nTrue True\nTrue\n", found.err
    shutil.rmtree(tmp_path / "own")
    same_as_without(path, found)
    own = [event.window.own for event in found.windows]
    assert own.count(True) == 2
    assert False in own, "ours go on afterwards"
    assert all(len(trace) for trace in loaded(found))


def test_torch_compile_breaks_no_graph_and_warns_of_nothing_more(tmp_path: Path) -> None:
    body = """
        import warnings
        from torch._dynamo.utils import counters
        warnings.simplefilter("always")
        compiled = torch.compile(model, backend="eager")
        whole = torch.compile(lambda: optimizer.step(), backend="eager")
        for number in range(12):
            compiled(torch.randn(4, 8)).square().mean().backward()
            whole() if number % 2 else optimizer.step()
            optimizer.zero_grad(set_to_none=False)
            time.sleep(0.02)
        print(sum(counters["graph_break"].values()), dict(counters["stats"]))
    """
    path = script(tmp_path, TRAINING, body)
    found = ran(path, OFTEN)
    assert found.windows
    same_as_without(path, found)


def test_output_that_is_redirected_stays_where_it_is(tmp_path: Path) -> None:
    body = """
        import os, pathlib
        log = os.open(pathlib.Path(sys.argv[0]).parent / "log", os.O_CREAT | os.O_WRONLY, 0o600)
        os.dup2(log, 1)
        os.dup2(log, 2)
        for number in range(12):
            print(number, step(0.02) > 0, flush=True)
        print(sorted(os.listdir("/proc/self/fd"))[:3])
    """
    path = script(tmp_path, TRAINING, body)
    found = ran(path, OFTEN)
    assert (found.status, found.out, found.err, found.left) == (0, b"", b"", [])
    assert found.windows
    lines = (tmp_path / "log").read_text().splitlines()
    assert lines == [f"{number} True" for number in range(12)] + ["['0', '1', '2']"]


def test_forks_spawned_processes_and_threads_do_what_they_would(tmp_path: Path) -> None:
    body = """
        import multiprocessing, os

        def child():
            with torch.no_grad():
                print("child", model(torch.ones(1, 8)).shape, sys.getprofile(), flush=True)

        if __name__ == "__main__":
            for number in range(8):
                step(0.02)
                if number == 4:  # inside a window
                    pid = os.fork()
                    if not pid:
                        child()
                        os._exit(0)
                    print(os.waitpid(pid, 0)[1], flush=True)
            for method in ("fork", "spawn"):
                process = multiprocessing.get_context(method).Process(target=child)
                process.start()
                process.join()
                print(process.exitcode, flush=True)
            threads = [threading.Thread(target=step) for _ in range(3)]
            [thread.start() or thread.join() for thread in threads]
            print(threading.active_count() >= 1)
    """
    path = script(tmp_path, TRAINING, body)
    found = ran(path, RecorderOptions(window=4, every=100))
    same_as_without(path, found)
    assert found.windows


def test_the_profile_of_another_tool_is_whole(tmp_path: Path) -> None:
    body = """
        import cProfile, pstats
        profile = cProfile.Profile()
        profile.enable()
        for _ in range(12):
            step(0.01)
        profile.disable()
        stats = pstats.Stats(profile).stats
        print(sorted(calls[0] for name, calls in stats.items() if name[2] in ("step", "backward")))
    """
    path = script(tmp_path, TRAINING, body)
    found = ran(path, OFTEN)
    assert found.windows
    same_as_without(path, found)


def test_every_rank_of_a_job_is_recorded_by_its_number(tmp_path: Path) -> None:
    body = """
        import os
        import torch.distributed as dist
        job, wrapped = "RANK" in os.environ, model
        if job:
            dist.init_process_group("gloo")
            wrapped = torch.nn.parallel.DistributedDataParallel(model)
        for number in range(12):
            wrapped(torch.randn(4, 8)).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            time.sleep(0.02)
        if not job or dist.get_rank() == 0:
            print(sum(one.sum().item() for one in model.parameters()))
        if job:
            dist.barrier()
            dist.destroy_process_group()
    """
    path = script(tmp_path, TRAINING, body)
    launcher = [
        *(sys.executable, "-m", "torch.distributed.run", "--standalone"),
        "--nproc-per-node=2",
    ]
    found = ran(path, OFTEN, launcher=launcher)
    # Both ranks have the same batches: the mean of their gradients is that of one alone.
    assert (found.status, found.out, found.left) == (0, plain(path).out, [])
    joined = {event.recorder.rank for event in found.events if isinstance(event, Joined)}
    assert joined == {0, 1}
    names = {event.window.path.name.split("_")[0] for event in found.windows}
    assert names == {"rank0", "rank1"}


ENDLESS = """
    import os, pathlib
    stop = pathlib.Path(sys.argv[1])
    number = 0
    while not stop.exists() and number < 20000:
        step(0.005)
        number += 1
    for _ in range(5):
        step()
    open_files = {os.readlink(f"/proc/self/fd/{one}") for one in os.listdir("/proc/self/fd")
                  if os.path.lexists(f"/proc/self/fd/{one}")}
    print(number > 3, sorted(one for one in open_files if "whichlayer" in one), flush=True)
"""


def test_a_screen_that_dies_inside_a_window_leaves_the_program_as_it_was(tmp_path: Path) -> None:
    path, stop = script(tmp_path, TRAINING, ENDLESS), tmp_path / "stop"
    command = [sys.executable, str(path), str(stop)]
    with started(command, RecorderOptions(window=50, every=60), tmp_path / "w") as run:
        server, program = run
        wait_for(server, StateTold, lambda state: state.phase is Phase.RECORDING)
        for peer in server._peers.values():
            peer.end()  # as the system does for a screen that is killed
        wait_for(server, Left)
        socket_path = Path(os.environ["XDG_RUNTIME_DIR"], "whichlayer", f"{program.pid}.sock")
        assert socket_path.exists(), "another screen may join"
        socket_path.unlink()  # and if somebody removes it, that is no harm either
        stop.touch()
        out, err = program.communicate()
    assert (program.returncode, out, err) == (0, b"True []\n", b"")
    assert left_over() == []


def test_a_screen_that_reads_nothing_never_holds_the_program_up(tmp_path: Path) -> None:
    body = """
        for number in range(60):
            step(0.02)
        print("done")
    """
    path = script(tmp_path, TRAINING, body)
    with started([sys.executable, str(path)], OFTEN, tmp_path / "w") as (server, program):
        wait_for(server, Joined)
        for peer in server._peers.values():
            peer.socket.setsockopt(1, 8, 1)  # SO_RCVBUF
            peer.wait_at_most = _sleep  # type: ignore[method-assign]
        out, err = program.communicate()
        assert (program.returncode, out, err) == (0, b"done\n", b"")


def _sleep(seconds: int) -> None:
    import time

    time.sleep(20)


@pytest.mark.parametrize("fault", ["no temporary folder", "disk full"])
def test_a_window_that_cannot_be_written_is_lost_and_said(tmp_path: Path, fault: str) -> None:
    faults = {
        "no temporary folder": "import tempfile; tempfile.tempdir = '/proc/nowhere'",
        "disk full": "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))",
    }
    body = """
        for number in range(20):
            step(0.02)
        print("done")
    """
    path = script(tmp_path, TRAINING, faults[fault], body)
    found = ran(path, OFTEN)
    assert (found.status, found.out, found.err, found.left) == (0, b"done\n", b"", [])
    assert not found.windows
    notes = [event.text for event in found.events if isinstance(event, Noted)]
    assert any("is lost" in note for note in notes), notes
    dropped = [event.dropped for event in found.events if isinstance(event, StateTold)]
    assert max(dropped) >= 1


def test_an_armed_program_is_listed_joined_recorded_and_left(tmp_path: Path) -> None:
    arm = "from whichlayer.live import arm\narm(window=2)\n"
    path, stop = script(tmp_path, arm, TRAINING, ENDLESS), tmp_path / "stop"
    program = subprocess.Popen(
        [sys.executable, str(path), str(stop)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"KINETO_LOG_LEVEL": "99", **os.environ},
    )
    whichlayer = [sys.executable, "-m", "whichlayer", "attach"]
    try:
        listed = b""
        await_socket(program)
        while str(program.pid).encode() not in listed and program.poll() is None:
            listed = subprocess.run(whichlayer, capture_output=True, check=True).stdout
        target = tmp_path / "joined.json.gz"
        join = [*whichlayer, str(program.pid), "--steps", "4", "-o", str(target)]
        for _ in range(2):  # it can be joined again
            done = subprocess.run(join, capture_output=True, check=False)
            assert (done.returncode, done.stderr) == (0, b"")
            assert str(target).encode() in done.stdout
            assert len(load(target).steps) == 4
        stop.touch()
        out, err = program.communicate()
    finally:
        program.kill()
    assert (program.returncode, out, err) == (0, b"True []\n", b"")
    assert str(path).encode() in listed
    assert left_over() == []


def test_a_profile_of_the_programs_own_streams_to_a_screen(tmp_path: Path) -> None:
    body = """
        from torch.profiler import ProfilerActivity, profile, schedule
        from whichlayer.live import stream
        seen = []
        with profile(
            activities=[ProfilerActivity.CPU],
            schedule=schedule(wait=1, warmup=1, active=2, repeat=1),
            on_trace_ready=stream(seen.append),
        ) as own:
            for _ in range(6):
                step()
                own.step()
        print(len(seen))
    """
    found = ran(script(tmp_path, TRAINING, body), ON_DEMAND)
    assert (found.status, found.out, found.err, found.left) == (0, b"1\n", b"", [])
    assert [event.window.own for event in found.windows] == [True]
    assert isinstance(found.windows[0], WindowArrived)


def test_nothing_is_recorded_unless_a_step_comes(tmp_path: Path) -> None:
    path = script(tmp_path, "import torch\nprint(torch.ones(2).sum().item())")
    found = ran(path, NEVER)
    assert (found.status, found.out, found.err, found.left) == (0, b"2.0\n", b"", [])
    assert found.events == []

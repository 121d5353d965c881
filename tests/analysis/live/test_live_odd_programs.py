"""Programs that do what few programs do, under a recorder: they notice nothing of it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.analysis.live.test_live_programs import (
    OFTEN,
    TRAINING,
    same_as_without,
    script,
)
from tests.support.live_peer import Ran, left_over, plain, ran, started
from whichlayer.analysis.live.events import Joined
from whichlayer.analysis.live.recorder_options import RecorderOptions

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="records with torch"
)

IN_A_HOOK = """
    import os
    from torch.optim.optimizer import register_optimizer_step_post_hook
    seen = []

    def hook(optimizer, args, kwargs):
        seen.append(len(seen))
        if len(seen) == 6:
            {act}

    register_optimizer_step_post_hook(hook)
    for number in range(16):
        step(0.02)
    print("all", len(seen), flush=True)
"""

ODD = {
    "os._exit in a hook of a step": IN_A_HOOK.format(act="os._exit(7)"),
    "a fork in a hook of a step": IN_A_HOOK.format(
        act="pid = os.fork()\n            if not pid:\n                step(); os._exit(5)\n"
        "            print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)"
    ),
    "an exception in a hook of a step": IN_A_HOOK.format(act="raise RuntimeError('planned')"),
    "signal handlers of its own": """
        import os, signal
        seen = []
        for number in (signal.SIGUSR1, signal.SIGTERM, signal.SIGALRM, signal.SIGINT):
            signal.signal(number, lambda number, frame: seen.append(number))
        signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
        for number in range(14):
            step(0.01)
            for one in (signal.SIGUSR1, signal.SIGTERM, signal.SIGINT):
                os.kill(os.getpid(), one)
        signal.setitimer(signal.ITIMER_REAL, 0)
        print([seen.count(one) for one in (signal.SIGUSR1, signal.SIGTERM, signal.SIGINT)])
        print(seen.count(signal.SIGALRM) > 5, [signal.getsignal(s).__name__ for s in (10, 15)])
    """,
    "persistent workers that are spawned": """
        class Numbers(torch.utils.data.Dataset):
            def __len__(self): return 24
            def __getitem__(self, index): return torch.full((8,), float(index))

        if __name__ == "__main__":
            loader = torch.utils.data.DataLoader(
                Numbers(), batch_size=4, num_workers=2, persistent_workers=True,
                multiprocessing_context="spawn",
            )
            for epoch in range(3):
                for batch in loader:
                    loss = model(batch).square().mean()
                    loss.backward()
                    optimizer.step()
                    optimizer.zero_grad()
                    print(f"{loss.item():.9e}")
                    time.sleep(0.01)
    """,
    "the standard descriptors closed": """
        import os
        print("before", flush=True)
        for number in (0, 1, 2):
            os.close(number)
        opened = [os.open("/dev/null", os.O_RDWR) for _ in range(3)]
        for number in range(14):
            step(0.02)
        os._exit(0 if opened == [0, 1, 2] else 9)
    """,
    "another working folder and other text": """
        import os, pathlib
        home = pathlib.Path(sys.argv[0]).resolve().parent / "é 日本 'x'"
        home.mkdir(exist_ok=True)
        os.chdir(home)
        for number in range(14):
            step(0.02)
        print(pathlib.Path.cwd().name, sorted(os.listdir(".")), "→ ß 😀")
    """,
    "every descriptor that there is": """
        import os, resource
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        for number in range(3):
            step(0.02)
        taken = []
        try:
            while True:
                taken.append(os.open("/dev/null", os.O_RDONLY))
        except OSError as error:
            print(error.errno)
        for number in range(12):
            step(0.02)
        [os.close(one) for one in taken]
        for number in range(12):
            step(0.02)
        print("done")
    """,
    "numbers drawn and threads set": """
        import random
        torch.set_num_threads(2)
        torch.use_deterministic_algorithms(True)
        drop = torch.nn.Dropout(0.5)
        for number in range(16):
            step(0.01)
            drop(torch.ones(5))
        print(torch.initial_seed(), torch.rand(3).tolist(), torch.get_num_threads())
        print(torch.get_rng_state().sum().item(), torch.is_grad_enabled())
        random.seed(1)
        print(random.random(), [p.sum().item().hex() for p in model.parameters()])
    """,
    "escape codes and much output": """
        for number in range(14):
            step(0.02)
            sys.stdout.write("\\x1b[31mred\\x1b]0;title\\x07\\x00\\r" * 2000)
            sys.stderr.buffer.write(bytes(range(256)) * 100)
        sys.stdout.flush()
    """,
    "a garbage collector that is watched and frozen": """
        import gc
        told = []
        gc.callbacks.append(lambda phase, info: told.append(phase))
        gc.freeze()
        for number in range(14):
            step(0.02)
            gc.collect()
        print(len(told) == 28, len(gc.callbacks))
    """,
    "a trace function and an audit hook": """
        events = []
        sys.addaudithook(lambda name, args: None)
        sys.settrace(lambda frame, event, arg: None)
        threading.settrace(lambda frame, event, arg: None)
        for number in range(14):
            step(0.01)
        print(sys.gettrace() is not None)
    """,
    "a daemon thread that steps at the end": """
        def work():
            while True:
                step(0.01)
        threading.Thread(target=work, daemon=True).start()
        time.sleep(0.5)
        print("over")
    """,
}


KINETO_SAYS = {
    # It opens a file of /proc when a window ends.
    "every descriptor that there is": b"Failed to read process name for pid ",
    # Of a program that imports torch in one thread and runs its steps in another.
    "a daemon thread that steps at the end": b"ERROR: External init callback must run in same thread",
}
"""What torch's Kineto writes to standard error whatever it is told, a line or more of its own."""


@pytest.mark.parametrize("what", ODD)
def test_a_program_that_does_this_ends_prints_and_computes_as_without(
    tmp_path: Path, what: str
) -> None:
    path = script(tmp_path, TRAINING, ODD[what])
    found = ran(path, OFTEN)
    said = KINETO_SAYS.get(what)
    if said is not None:
        lines = found.err.splitlines(keepends=True)
        found.err = b"".join(line for line in lines if not line.startswith(said))
    same_as_without(path, found)
    assert any(isinstance(event, Joined) for event in found.events)


@pytest.mark.parametrize("pause", [0.0, 0.6])
def test_descriptors_that_a_program_closes_and_takes_are_its_own(
    tmp_path: Path, pause: float
) -> None:
    """As daemons do; the recorder's end, behind the program's, may neither close nor tell them."""
    before = """
        import atexit, os, socket, warnings
        warnings.simplefilter("always")
        taken = []

        def last():  # registered before torch is there, so called when the recorder is done
            for one, other in taken:
                other.setblocking(False)
                one.send(b"mine")
                os.write(1, other.recv(99) + b"\\n")
                one.close()
                other.close()

        atexit.register(last)
    """
    body = f"""
        for number in range(14):
            step(0.01)
        time.sleep({pause})
        os.closerange(3, 256)
        taken += [socket.socketpair() for _ in range(30)]
        for number in range(40):
            step(0.02)
        print("end")
    """
    path = script(tmp_path, before, TRAINING, body)
    found = ran(path, OFTEN)
    same_as_without(path, found)
    assert found.out.count(b"mine\n") == 30


def test_a_sitecustomize_and_a_path_of_its_own_are_the_programs(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text("import sys\nsys.own = 'seen'\n")
    (tmp_path / "site" / "helper.py").write_text("def told(): return 'helped'\n")
    body = """
        import helper
        for number in range(14):
            step(0.02)
        print(sys.own, helper.told(), [one for one in sys.path if "inject" in one])
    """
    path = script(tmp_path, TRAINING, body)
    own = {
        "PYTHONPATH": os.pathsep.join([str(tmp_path / "site"), os.environ.get("PYTHONPATH", "")])
    }
    found = ran(path, OFTEN, environment=own)
    assert (found.status, found.out, found.err) == (0, b"seen helped []\n", b"")
    assert found.windows and found.left == []


def test_a_module_is_recorded_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    body = (
        "if __name__ == '__main__':\n    [step(0.02) for _ in range(14)]\n    print(sys.argv[1:])"
    )
    text = "\n".join([textwrap.dedent(TRAINING), body])
    (tmp_path / "package" / "train.py").write_text(text)
    command = [sys.executable, "-m", "package.train", "--lr", "1"]
    place = {"PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    with started(command, OFTEN, tmp_path / "w", place) as (_, program):
        out, err = program.communicate(timeout=120)
    assert (program.returncode, out, err) == (0, b"['--lr', '1']\n", b"")
    assert list((tmp_path / "w").glob("rank0_window*.json.gz"))


def test_two_programs_without_ranks_are_told_apart_by_their_processes(tmp_path: Path) -> None:
    path = script(tmp_path, TRAINING, "for number in range(20):\n    step(0.02)")
    both = tmp_path / "both.py"
    both.write_text(
        "import subprocess, sys\n"
        f"programs = [subprocess.Popen([sys.executable, {str(path)!r}]) for _ in range(2)]\n"
        "sys.exit(sum(one.wait() for one in programs))\n"
    )
    found = ran(both, OFTEN)
    assert (found.status, found.out, found.err, found.left) == (0, b"", b"", [])
    pids = {event.recorder.pid for event in found.events if isinstance(event, Joined)}
    assert len(pids) == 2
    names = {event.window.path.name.split("_")[0]: event.window for event in found.windows}
    assert len(names) == 2 and "rank0" in names
    assert {window.recorder.pid for window in names.values()} == pids


@pytest.mark.skipif(importlib.util.find_spec("accelerate") is None, reason="launches with it")
def test_what_accelerate_launches_is_recorded(tmp_path: Path) -> None:
    body = """
        from accelerate import Accelerator
        accelerator = Accelerator(cpu=True)
        model, optimizer = accelerator.prepare(model, optimizer)
        for number in range(16):
            loss = model(torch.randn(4, 8)).square().mean()
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            time.sleep(0.01)
        print(loss.item().hex())
    """
    path = script(tmp_path, TRAINING, body)
    launcher = [
        *(sys.executable, "-m", "accelerate.commands.launch"),
        *("--cpu", "--num_processes=1", "--num_machines=1", "--mixed_precision=no"),
        *("--dynamo_backend=no", "--num_cpu_threads_per_process=1"),
    ]
    found, without = ran(path, OFTEN, launcher=launcher), plain(path)
    assert (found.status, found.out) == (without.status, without.out)
    assert found.status == 0 and found.windows and found.left == []


@pytest.mark.parametrize("flag", ["-I", "-E", "-S"])
def test_a_python_that_cannot_load_the_recorder_is_told_of(tmp_path: Path, flag: str) -> None:
    """Without our folder on its path there is nothing to record with: the summary says so."""
    path = script(tmp_path, "print('plain')")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "whichlayer", "run", "--headless", "-o", str(tmp_path / "w")),
            *("--", sys.executable, flag, str(path)),
        ],
        capture_output=True, check=False, cwd=Path(__file__).parents[3],
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, b"plain\n")
    assert b"nothing was recorded" in done.stderr and flag.encode() in done.stderr
    assert left_over() == []


def test_results_are_the_same_to_the_last_bit(tmp_path: Path) -> None:
    body = """
        for number in range(60):
            loss = step(0.002)
        print(loss.hex(), [p.detach().numpy().tobytes().hex() for p in model.parameters()])
        print(torch.get_rng_state().numpy().tobytes().hex()[:4000])
    """
    path = script(tmp_path, TRAINING, body)
    found: Ran = ran(path, RecorderOptions(window=5, every=10))
    assert len(found.windows) >= 2
    same_as_without(path, found)

"""What the recorder costs a program between windows: ``python -m benchmarks.live_hooks``.

The optimizer's hook, the count of a module's calls and the recorder's own bookkeeping are called
directly, so that the figure is the hook's alone; torch has to be installed. CPU time of the calling
thread, the least of several rounds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

from whichlayer.analysis.live.counted_call import count_calls, stop_counting
from whichlayer.analysis.live.recorder_options import RecorderOptions
from whichlayer.analysis.live.session import Session

_CALLS = 20_000
_ROUNDS = 5
LIMIT_US = 10.0


def cost_us(call: Callable[[], object]) -> float:
    """CPU microseconds of one call."""
    best = float("inf")
    for _ in range(_ROUNDS):
        before = time.thread_time_ns()
        for _ in range(_CALLS):
            call()
        best = min(best, (time.thread_time_ns() - before) / 1e3 / _CALLS)
    return best


def measure() -> dict[str, float]:
    """Microseconds by kind of hook, with the cost of an empty call taken off."""
    torch: Any = import_module("torch")
    session = Session(RecorderOptions(every=0))
    session._known = True  # nobody is to be connected
    hooks = session.hooks
    hooks._is_compiling = torch.compiler.is_compiling
    model = torch.nn.Identity()
    first, second = (torch.optim.SGD([torch.zeros(1)], lr=0.1) for _ in range(2))
    hooks._optimizer_stepped(first, (), {})
    empty = cost_us(lambda: None)
    found = {
        "an optimizer's step": cost_us(lambda: hooks._optimizer_stepped(first, (), {})) - empty,
        "a step of another optimizer": cost_us(lambda: hooks._has_gone(second)) - empty,
    }
    hooks.mode = "inference"
    uncounted = cost_us(lambda: model(None))
    count_calls(model, hooks._called)
    found["a call of a module"] = cost_us(lambda: model(None)) - uncounted
    stop_counting(model)
    return found


def main() -> None:
    """Print the table."""
    for name, microseconds in measure().items():
        verdict = "ok" if microseconds <= LIMIT_US else f"more than {LIMIT_US:.0f} µs"
        print(f"{name:<30} {microseconds:6.2f} µs  {verdict}")


if __name__ == "__main__":
    main()

"""Where a program's steps end, found without a change to it.

Training: a step ends when its optimizer has stepped. Of several optimizers that take turns the
first one seen decides; if it is not used any more, the next one does.

Inference: a step is a call of the outermost module. torch's global forward hooks are not used for
it: with them ``torch.compile`` warns and traces otherwise. The outermost call is looked for in the
stacks of the program's threads instead, a few times a second until it is found, and the calls of
that module alone are counted. Calls inside a data loader are no steps.
"""

from __future__ import annotations

import multiprocessing
import sys
import threading
import weakref
from collections.abc import Callable
from importlib import import_module
from types import CodeType, FrameType
from typing import Any, Final

from whichlayer.analysis.live.counted_call import count_calls, stop_counting
from whichlayer.analysis.live.own_thread import begin_thread

_PATIENCE: Final = 32
"""So often another optimizer steps, and the deciding one counts as gone."""

_LOOKS_PER_SECOND: Final = 20
_FEWEST_LOOKS: Final = 3
"""A module has to be outermost in so many looks, so that no loss or metric is taken for the model."""

_SILENT_SECONDS: Final = 10.0
"""A module that is not called for so long may have been replaced: it is looked for anew."""


class StepHooks:
    """Tells a recorder when steps end; everything here runs inside the profiled program."""

    def __init__(self, on_step: Callable[[], None]) -> None:
        """Prepare; nothing is hooked yet.

        Args:
            on_step: called at the end of each step, by the thread that ran it. Never raises.
        """
        self.mode = ""
        self._on_step = on_step
        self._handle: Any = None
        self._is_compiling: Callable[[], bool] = bool
        self._leader: weakref.ref[Any] | None = None
        self._others: dict[int, int] = {}
        self._module: weakref.ref[Any] | None = None
        self._calls = 0
        self._stopped = threading.Event()

    def install(self) -> None:
        """Hook optimizers, and look for a model until there is one."""
        self._is_compiling = import_module("torch.compiler").is_compiling
        hook = import_module("torch.optim.optimizer").register_optimizer_step_post_hook
        self._handle = hook(self._optimizer_stepped)
        if not multiprocessing.current_process().daemon:
            begin_thread(self._look, "whichlayer-steps")

    def remove(self) -> None:
        """Leave the program as it was."""
        self._stopped.set()
        handle, self._handle = self._handle, None
        if handle is not None:
            handle.remove()
        self._unfollow()

    def _optimizer_stepped(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if self._is_compiling():
            return  # traced by torch.compile: nothing of this may get into the graph
        leader = self._leader() if self._leader is not None else None
        if optimizer is not leader:
            if leader is not None and not self._has_gone(optimizer):
                return
            self._leader = weakref.ref(optimizer)
        if self._others:
            self._others.clear()
        if self.mode != "training":
            self._train()
        self._on_step()

    def _has_gone(self, other: Any) -> bool:
        """Whether another optimizer has stepped so often that the deciding one counts as gone."""
        times = self._others.get(id(other), 0) + 1
        self._others[id(other)] = times
        return times > _PATIENCE

    def _train(self) -> None:
        """An optimizer has stepped: calls of modules are parts of steps from now on."""
        self.mode = "training"
        self._stopped.set()
        self._unfollow()

    def _look(self) -> None:
        try:
            self._find_models()
        except Exception:  # noqa: BLE001  an unusual module must not print a traceback
            self._unfollow()

    def _find_models(self) -> None:
        """Find the outermost module that is called; again where that one is not called any more."""
        kind: type = import_module("torch.nn").Module
        codes = _call_codes(kind)
        seen: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        while not self._stopped.wait(1 / _LOOKS_PER_SECOND):
            for thread, frame in sys._current_frames().items():
                module = None if thread == threading.get_ident() else _outermost(frame, codes)
                if isinstance(module, kind):
                    seen[module] = seen.get(module, 0) + 1
                    if seen[module] >= _FEWEST_LOOKS and not self._stopped.is_set():
                        seen.clear()
                        self._follow(module)
                        del module
                        break
            else:
                continue
            del frame
            self._wait_for_silence()

    def _follow(self, module: Any) -> None:
        """Count the calls of a module as steps."""
        count_calls(module, self._called)
        self._module = weakref.ref(module)
        self.mode = "inference"
        if self._stopped.is_set():  # an optimizer has stepped meanwhile
            self._unfollow()

    def _wait_for_silence(self) -> None:
        calls = -1
        while calls != self._calls:
            calls = self._calls
            if self._stopped.wait(_SILENT_SECONDS):
                return
        self._unfollow()

    def _unfollow(self) -> None:
        module = self._module() if self._module is not None else None
        self._module = None
        if module is not None:
            stop_counting(module)

    def _called(self) -> None:
        self._calls += 1
        if self.mode == "inference":
            self._on_step()


def _call_codes(module: type) -> frozenset[CodeType]:
    """The code of what a call of a module runs through."""
    names = ("_wrapped_call_impl", "_call_impl", "__call__")
    codes = (getattr(getattr(module, name, None), "__code__", None) for name in names)
    return frozenset(code for code in codes if isinstance(code, CodeType))


def _outermost(frame: FrameType | None, codes: frozenset[CodeType]) -> Any:
    """The module whose call is the outermost of a stack; None where no module is called.

    Calls inside a loader or an import are none of the model.
    """
    found = None
    while frame is not None:
        if frame.f_code in codes:
            found = frame
        elif frame.f_code.co_name in ("fetch", "_worker_loop", "_find_and_load"):
            return None
        frame = frame.f_back
    return None if found is None else found.f_locals.get("self")

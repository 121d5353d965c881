"""Where a program's steps end, found without a change to it.

Training: a step ends when its optimizer has stepped. Of several optimizers that take turns the
first one seen decides; if it is not used any more, the next one does.

Inference: a step is a forward call of the outermost module. torch's global forward hooks are not
used for it: with them ``torch.compile`` warns and traces otherwise. The outermost call is looked for
in the stacks of the program's threads instead, a few times a second until it is found, and that
module alone gets a hook. Threads of data loaders and whatever runs in a loader's process are no steps.
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

_PATIENCE: Final = 8
"""So many steps of others in a row, and the deciding optimizer counts as gone."""

_LOOKS_PER_SECOND: Final = 20
_FEWEST_LOOKS: Final = 3
"""A module has to be outermost in so many looks, so that no loss or metric is taken for the model."""


class StepHooks:
    """Tells a recorder when steps end; everything here runs inside the profiled program."""

    def __init__(self, on_step: Callable[[], None]) -> None:
        """Prepare; nothing is hooked yet.

        Args:
            on_step: called at the end of each step, by the thread that ran it. Never raises.
        """
        self.mode = ""
        self._on_step = on_step
        self._handles: list[Any] = []
        self._leader: weakref.ref[Any] | None = None
        self._others = 0
        self._module: weakref.ref[Any] | None = None
        self._stopped = threading.Event()

    def install(self) -> None:
        """Hook optimizers, and look for a model until there is one."""
        hook = import_module("torch.optim.optimizer").register_optimizer_step_post_hook
        self._handles.append(hook(self._optimizer_stepped))
        if not multiprocessing.current_process().daemon:
            threading.Thread(target=self._look, name="whichlayer-steps", daemon=True).start()

    def remove(self) -> None:
        """Leave the program as it was."""
        self._stopped.set()
        handles, self._handles = self._handles, []
        for handle in handles:
            handle.remove()

    def _optimizer_stepped(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        leader = self._leader() if self._leader is not None else None
        if optimizer is not leader:
            self._others += 1
            if leader is not None and self._others <= _PATIENCE:
                return
            self._leader = weakref.ref(optimizer)
        self._others = 0
        if self.mode != "training":
            self._train()
        self._on_step()

    def _train(self) -> None:
        """An optimizer has stepped: forward calls are parts of steps from now on."""
        self.mode = "training"
        self._stopped.set()
        if self._module is not None:
            self._module = None
            while len(self._handles) > 1:
                self._handles.pop().remove()

    def _look(self) -> None:
        """Find the outermost module whose forward runs."""
        kind: type = import_module("torch.nn").Module
        codes = _call_codes(kind)
        seen: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        while not self._stopped.wait(1 / _LOOKS_PER_SECOND):
            for thread, frame in sys._current_frames().items():
                module = None if thread == threading.get_ident() else _outermost(frame, codes)
                if not isinstance(module, kind):
                    continue
                seen[module] = seen.get(module, 0) + 1
                if seen[module] >= _FEWEST_LOOKS and not self._stopped.is_set():
                    self._follow(module)
                    return

    def _follow(self, module: Any) -> None:
        """Count the forward calls of a module as steps."""
        self.mode = "inference"
        self._module = weakref.ref(module)
        self._handles.append(module.register_forward_hook(self._forwarded))

    def _forwarded(self, module: Any, args: Any, output: Any) -> None:
        self._on_step()


def _call_codes(module: type) -> frozenset[CodeType]:
    """The code of what a call of a module runs through."""
    names = ("_wrapped_call_impl", "_call_impl", "__call__")
    codes = (getattr(getattr(module, name, None), "__code__", None) for name in names)
    return frozenset(code for code in codes if isinstance(code, CodeType))


def _outermost(frame: FrameType | None, codes: frozenset[CodeType]) -> Any:
    """The module whose call is the outermost of a stack; None where no module is called.

    Calls inside an optimizer's step, a loader or an import are none of the model.
    """
    found = None
    while frame is not None:
        if frame.f_code in codes:
            found = frame
        elif frame.f_code.co_name in ("fetch", "_worker_loop", "_find_and_load"):
            found = None
            break
        frame = frame.f_back
    return None if found is None else found.f_locals.get("self")

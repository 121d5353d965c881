"""Counting the calls of one module, invisibly to whatever else looks at it.

A forward hook would be saved with the model, copied with it, compiled by TorchScript and traced by
``torch.compile``. torch calls a module through its ``_compiled_call_impl`` where that is set, and leaves
that out of what it saves. So the count goes there; where a model saves itself all the same, it is saved
as None, which is what a module has there without us.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from importlib import import_module
from typing import Any

_NAME = "_compiled_call_impl"


class CountedCall:
    """Calls a module as it would be called without this, and tells that it was."""

    def __init__(self, module: Any, original: Any, called: Callable[[], None]) -> None:
        """Take the place of a module's ``_compiled_call_impl``.

        Args:
            module: not kept alive by this.
            original: what was there before; None where nothing was.
            called: told after each call; never raises.
        """
        self._module = weakref.ref(module)
        self.original = original
        self._called = called
        self._is_compiling: Callable[[], bool] = import_module("torch.compiler").is_compiling

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the module."""
        call = self.original or self._module()._call_impl  # type: ignore[union-attr]
        result = call(*args, **kwargs)
        if not self._is_compiling():
            self._called()
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        return type(None), ()


def count_calls(module: Any, called: Callable[[], None]) -> None:
    """Tell of each call of a module from the next one on."""
    original = getattr(module, _NAME, None)
    # Not setattr: a compiled module hands attributes on to the one that it wraps.
    module.__dict__[_NAME] = CountedCall(module, original, called)


def stop_counting(module: Any) -> None:
    """Leave a module as it was, unless somebody has changed it since."""
    counted = module.__dict__.get(_NAME)
    if not isinstance(counted, CountedCall):
        return
    if counted.original is None:
        del module.__dict__[_NAME]
    else:
        module.__dict__[_NAME] = counted.original

"""Living beside a profiler of the program's own: it always goes first, and its traces are used.

torch allows one profiler at a time and raises where a second starts. So the program's own is
announced to the recorder just before it starts, and what it exports is read once it is written.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any


class ForeignProfiler:
    """Watches for profilers that the program starts."""

    def __init__(
        self,
        begins: Callable[[], None],
        ends: Callable[[], None],
        exported: Callable[[str], None],
    ) -> None:
        """Prepare; nothing is wrapped yet.

        Args:
            begins: called before one starts, in its thread.
            ends: called after one has ended.
            exported: called with the path of each Chrome trace that one wrote.
        """
        self._begins, self._ends, self._exported = begins, ends, exported
        self._wrapped: list[tuple[type, str, Any, Any]] = []

    def install(self) -> None:
        """Wrap the methods by which profilers start, end and export."""
        module = import_module("torch.autograd.profiler")
        for name in ("_prepare_trace", "_start_trace"):
            self._wrap(module.profile, name, before=self._begins, failed=self._ends)
        self._wrap(module.profile, "__exit__", after=lambda args: self._ends())
        # torch.profiler exports through this one, too, before it compresses.
        self._wrap(module.profile, "export_chrome_trace", after=self._after_export)
        for other in (module.emit_nvtx, module.emit_itt):
            self._wrap(other, "__enter__", before=self._begins, failed=self._ends)
            self._wrap(other, "__exit__", after=lambda args: self._ends())

    def remove(self) -> None:
        """Put the methods back, unless somebody else has replaced them since."""
        for owner, name, original, ours in reversed(self._wrapped):
            if owner.__dict__.get(name) is ours:
                setattr(owner, name, original)
        self._wrapped.clear()

    def _after_export(self, args: tuple[Any, ...]) -> None:
        if len(args) > 1 and isinstance(args[1], (str, os.PathLike)):
            self._exported(os.fspath(args[1]))

    def _wrap(
        self,
        owner: type,
        name: str,
        before: Callable[[], None] = lambda: None,
        after: Callable[[tuple[Any, ...]], None] = lambda args: None,
        failed: Callable[[], None] = lambda: None,
    ) -> None:
        from whichlayer.analysis.live.torch_window import is_our_own

        original = owner.__dict__.get(name)
        if not callable(original):
            return  # a torch that has no such method has no such way to start one

        @functools.wraps(original)
        def ours(*args: Any, **kwargs: Any) -> Any:
            if is_our_own():
                return original(*args, **kwargs)
            with suppress(Exception):  # the program's own profiler must not notice
                before()
            try:
                result = original(*args, **kwargs)
            except BaseException:
                with suppress(Exception):
                    failed()
                raise
            with suppress(Exception):
                after(args)
            return result

        setattr(owner, name, ours)
        self._wrapped.append((owner, name, original, ours))

"""Living beside a profiler of the program's own: it always goes first, and its traces are used.

torch allows one profiler at a time and raises where a second starts. So the program's own is
announced to the recorder just before it starts, and what it exports is read once it is written.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
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
        inner = import_module("torch.autograd.profiler").profile
        outer = import_module("torch.profiler")._KinetoProfile
        for name in ("_prepare_trace", "_start_trace"):
            self._wrap(inner, name, before=lambda args: self._begins())
        self._wrap(inner, "__exit__", after=lambda args: self._ends())
        self._wrap(outer, "export_chrome_trace", after=self._after_export)

    def remove(self) -> None:
        """Put the methods back, unless somebody else has replaced them since."""
        for owner, name, original, ours in reversed(self._wrapped):
            if owner.__dict__.get(name) is ours:
                setattr(owner, name, original)
        self._wrapped.clear()

    def _after_export(self, args: tuple[Any, ...]) -> None:
        path = args[1] if len(args) > 1 else None
        if isinstance(path, str):
            self._exported(path)

    def _wrap(
        self,
        owner: type,
        name: str,
        before: Callable[[tuple[Any, ...]], None] = lambda args: None,
        after: Callable[[tuple[Any, ...]], None] = lambda args: None,
    ) -> None:
        from whichlayer.analysis.live.torch_window import is_our_own

        original = owner.__dict__.get(name)
        if not callable(original):
            return  # a torch that has no such method has no such way to start one

        @functools.wraps(original)
        def ours(*args: Any, **kwargs: Any) -> Any:
            if is_our_own():
                return original(*args, **kwargs)
            _quietly(before, args)
            result = original(*args, **kwargs)
            _quietly(after, args)
            return result

        setattr(owner, name, ours)
        self._wrapped.append((owner, name, original, ours))


def _quietly(call: Callable[[tuple[Any, ...]], None], args: tuple[Any, ...]) -> None:
    try:
        call(args)
    except Exception:  # noqa: BLE001  the program's own profiler must not notice
        return

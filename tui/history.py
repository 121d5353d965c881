"""The way back: the spans and selections that were looked at before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whichlayer.tui.view import View


class History:
    """The spans that were looked at before, and those that undoing has left behind."""

    #: More than anyone steps back, little enough to forget.
    LIMIT = 200

    def __init__(self) -> None:
        """Start empty."""
        self._past: list[View] = []
        self._future: list[View] = []

    def note(self, old: View, new: View) -> bool:
        """Remember a view if the one after it shows another span, or a selection."""
        if _shown(old) == _shown(new):
            return False
        self._past = [*self._past[-self.LIMIT + 1 :], old]
        self._future.clear()
        return True

    def back(self, now: View) -> View:
        """The view before, on the cells of now; ``now`` where there is none."""
        return self._step(self._past, self._future, now)

    def forward(self, now: View) -> View:
        """The view that was undone last; ``now`` where there is none."""
        return self._step(self._future, self._past, now)

    def carry(self, carried: Callable[[View], View]) -> None:
        """Turn every view into what it is in another state of the trace."""
        self._past = [carried(view) for view in self._past]
        self._future = [carried(view) for view in self._future]

    @staticmethod
    def _step(source: list[View], target: list[View], now: View) -> View:
        if not source:
            return now
        target.append(now)
        then = source.pop()
        return replace(now.seen_as(then), selection=then.selection, anchor_ns=None)


def _shown(view: View) -> tuple[object, ...]:
    """What makes another view; of a selection that is drawn every move would be one."""
    return view.port.start_ns, view.port.end_ns, view.selection is not None

"""Takes a view along when more of the trace is known: the same instants, lanes and rows.

While a file is read, lanes appear between those that are there, and an earlier event moves the
time that counts as zero. What the user looks at must not move with them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace

from whichlayer.tui import travel
from whichlayer.tui.document import Document
from whichlayer.tui.lanes import ShownLane
from whichlayer.tui.view import View
from whichlayer.tui.viewport import Viewport

#: Groups of lanes that are a part of what was recorded as one.
_PARTS = frozenset({"python", "counter", "instant"})


def shift_between(old: Document, new: Document) -> int:
    """What an instant of one document has to be moved by to be the same in the other (ns)."""
    return old.trace.origin_ns - new.trace.origin_ns


def opened(document: Document, cells: int) -> View:
    """The first view of a document: all of it."""
    port = Viewport.over(document.low_ns, document.high_ns, cells)
    return View(port, cursor_ns=port.start_ns)


def carried(
    view: View, old: Document, new: Document, follows: bool = False, touched: bool = True
) -> View:
    """A view of one document as a view of another that knows more of the same trace.

    Args:
        view: of the old document.
        old: the document before.
        new: the document now.
        follows: show all of the new one, as all of the old one was shown.
        touched: the user has moved; else the cursor stays at the beginning of the first line.
    """
    if not touched:
        first = opened(new, view.port.cells)
        return replace(first, lines=view.lines, edition=view.edition + 1)
    view, here = _moved(view, old, new)
    if follows:
        view = replace(view, port=view.port.fitted())
    return view if here is None else travel.dealt(new, view, here)


def carried_roughly(view: View, old: Document, new: Document) -> View:
    """As :func:`carried` for views that nobody sees now: their lines are dealt when one does."""
    view, here = _moved(view, old, new)
    return view if here is None else travel.on_lane(new, view, *here)


def lane_keys(lanes: Sequence[ShownLane]) -> list[Hashable]:
    """What a lane is known by whichever others there are.

    A lane's name may come after its slices, and its Python frames become a lane of their own
    only once there are others.
    """
    met: Counter[Hashable] = Counter()
    keys: list[Hashable] = []
    for shown in lanes:
        lane = shown.lane
        part = shown.group if shown.group in _PARTS else ""
        key = (lane.pid, lane.tid, lane.kind, lane.device, lane.stream, part)
        met[key] += 1
        keys.append((*key, met[key]))
    return keys


def _moved(view: View, old: Document, new: Document) -> tuple[View, tuple[int, int] | None]:
    """The view in the other document, on no line yet, and the lane and depth of its line."""
    places = {key: index for index, key in enumerate(lane_keys(new.lanes))}
    moved = [places.get(key, -1) for key in lane_keys(old.lanes)]
    rows = travel.rows_of(old, view)
    here = rows[view.row] if view.row < len(rows) else None
    shift = shift_between(old, new)
    port = _within(view.port, new, shift)
    view = replace(
        view,
        port=port,
        cursor_ns=port.clamp(view.cursor_ns + shift),
        row=0,
        selection=_clamped(view.selection, port, shift),
        anchor_ns=None if view.anchor_ns is None else port.clamp(view.anchor_ns + shift),
        folds={moved[lane]: fold for lane, fold in view.folds.items() if moved[lane] >= 0},
        used=(),
        outer=(),
        around=None,
        order=view.order.carried(moved, len(new.lanes)),
        edition=view.edition + 1,
    )
    if here is None or moved[here.lane] < 0:
        return view, None
    lane = moved[here.lane]
    return view, (lane, min(here.depth, new.lanes[lane].depth - 1))


def _within(port: Viewport, document: Document, shift: int) -> Viewport:
    high = max(document.high_ns, document.low_ns + port.cells)
    limits = replace(port, low_ns=document.low_ns, high_ns=high)
    return limits.to(port.start_ns + shift, port.end_ns + shift)


def _clamped(span: tuple[int, int] | None, port: Viewport, shift: int) -> tuple[int, int] | None:
    if span is None:
        return None
    low, high = (port.clamp(time + shift) for time in span)
    return (low, high) if high > low else None

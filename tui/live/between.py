"""Takes a view along from one window to another: the same place in it, on the same lane."""

from __future__ import annotations

from dataclasses import replace

from whichlayer.tui import travel
from whichlayer.tui.carry import lane_keys, opened
from whichlayer.tui.document import Document
from whichlayer.tui.view import View


def carried_between(view: View, old: Document, new: Document, touched: bool) -> View:
    """A view of one window as a view of another one, to compare the two.

    Args:
        view: of the old window.
        old: the window before.
        new: the window now.
        touched: the user has moved: the span keeps its length and its distance from the start
            of the analysed window. Else all of the new window is shown.
    """
    places = {key: index for index, key in enumerate(lane_keys(new.lanes))}
    moved = [places.get(key, -1) for key in lane_keys(old.lanes)]
    rows = travel.rows_of(old, view)
    here = rows[view.row] if view.row < len(rows) else None
    folds = {moved[lane]: fold for lane, fold in view.folds.items() if moved[lane] >= 0}
    first = opened(new, view.port.cells)
    first = replace(first, order=view.order.carried(moved, len(new.lanes)), clock=view.clock)
    after = replace(first, lines=view.lines, edition=view.edition + 1, folds=folds)
    devices = 1 if new.analysis is None else max(len(new.analysis.devices), 1)
    after = replace(after, device=min(view.device, devices - 1))
    if not touched:
        return after
    shift = new.home[0] - old.home[0]
    port = after.port.to(view.port.start_ns + shift, view.port.end_ns + shift)
    after = replace(after, port=port, cursor_ns=port.clamp(view.cursor_ns + shift))
    if here is None or moved[here.lane] < 0:
        return after
    lane = moved[here.lane]
    return travel.dealt(new, after, (lane, min(here.depth, new.lanes[lane].depth - 1)))

"""The parts of a view as acts hold them: as they were, and so that they outlive what is shown.

Within one state of the trace a part is put back exactly. Once more of the file is known, or
another window is shown, its times and lanes are found anew.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from whichlayer.tui import travel
from whichlayer.tui.carry import lane_keys
from whichlayer.tui.document import Document
from whichlayer.tui.lane_order import LaneOrder
from whichlayer.tui.lanes import Fold, ShownLane
from whichlayer.tui.undo import Part
from whichlayer.tui.view import View

Keys = tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Where one looks, on the file's own clock; two are alike where they show the same span."""

    start_ns: int
    end_ns: int
    cursor_ns: int = field(compare=False)
    lane: Hashable = field(compare=False)
    depth: int = field(compare=False)
    view: View = field(compare=False)

    @property
    def cursor(self) -> object:
        """Where the cursor is in it."""
        return self.cursor_ns, self.lane, self.depth


@dataclass(frozen=True, slots=True)
class Selected:
    """What is selected or begun to be, on the file's own clock."""

    span: tuple[int, int] | None
    anchor_ns: int | None


@dataclass(frozen=True, slots=True)
class Lanes:
    """Which lanes are shown, in which order, in how many rows; ``keys`` say what they are of."""

    order: LaneOrder
    folds: Mapping[int, Fold]
    keys: Keys = field(compare=False)
    here: tuple[int, int] | None = field(compare=False)
    view: View = field(compare=False)


@dataclass(frozen=True, slots=True)
class DeviceShown:
    """The device that strips and panels show, by its number in the recording."""

    number: int | None
    view: View = field(compare=False)


class LaneKeys:
    """What the lanes of now are known by: the same tuple while they are the same lanes."""

    def __init__(self) -> None:
        """Of no lanes yet."""
        self._lanes: tuple[ShownLane, ...] = ()
        self._keys: Keys = ()

    def of(self, lanes: tuple[ShownLane, ...]) -> Keys:
        """One key for each lane."""
        if self._lanes is not lanes:
            self._lanes, self._keys = lanes, tuple(lane_keys(lanes))
        return self._keys


def value_of(part: Part, document: Document, view: View, keys: Keys) -> Any:
    """What an act holds of a part of the view, of lanes that are known by ``keys``."""
    origin = document.trace.origin_ns
    if part is Part.CLOCK:
        return view.clock
    if part is Part.DEVICE:
        return DeviceShown(_number(document, view.device), view)
    if part is Part.SELECTION:
        span, anchor = view.selection, view.anchor_ns
        return Selected(
            None if span is None else (span[0] + origin, span[1] + origin),
            None if anchor is None else anchor + origin,
        )
    rows = travel.rows_of(document, view)
    here = rows[view.row] if view.row < len(rows) else None
    if part is Part.LANES:
        on = None if here is None else (here.lane, here.depth)
        return Lanes(view.order, view.folds, keys, on, view)
    port = view.port
    return Place(
        port.start_ns + origin,
        port.end_ns + origin,
        view.cursor_ns + origin,
        None if here is None else keys[here.lane],
        0 if here is None else here.depth,
        view,
    )


def with_value(part: Part, document: Document, view: View, keys: Keys, value: Any) -> View:
    """The view with a part as an act holds it."""
    if isinstance(value, Place):
        return _placed(document, view, keys, value)
    if isinstance(value, Lanes):
        return _with_lanes(document, view, keys, value)
    if isinstance(value, DeviceShown):
        return _with_device(document, view, value)
    if isinstance(value, Selected):
        return _selected(document, view, value)
    return replace(view, clock=bool(value)) if part is Part.CLOCK else view


def _placed(document: Document, view: View, keys: Keys, place: Place) -> View:
    if place.view.edition == view.edition:
        return view.seen_as(place.view)
    origin, port = document.trace.origin_ns, view.port
    port = port.to(place.start_ns - origin, place.end_ns - origin)
    view = replace(view, port=port, cursor_ns=port.clamp(place.cursor_ns - origin))
    if place.lane not in keys:
        return view
    return travel.on_lane(document, view, keys.index(place.lane), place.depth)


def _with_lanes(document: Document, view: View, keys: Keys, lanes: Lanes) -> View:
    if lanes.view.edition == view.edition:
        view = replace(view, order=lanes.order, folds=lanes.folds)
        return travel.on_row(document, view, lanes.view.row)
    places = {key: index for index, key in enumerate(keys)}
    moved = [places.get(key, -1) for key in lanes.keys]
    folds = {moved[lane]: fold for lane, fold in lanes.folds.items() if moved[lane] >= 0}
    order = lanes.order.carried(moved, len(document.lanes))
    if not order.listed(len(document.lanes)):
        return view  # none of the lanes that it showed is here
    view = travel.arranged(document, replace(view, folds=folds), order)
    if lanes.here is None or moved[lanes.here[0]] < 0:
        return view
    view = travel.on_lane(document, view, moved[lanes.here[0]], lanes.here[1])
    return travel.on_row(document, view, view.row)


def _with_device(document: Document, view: View, shown: DeviceShown) -> View:
    analysis = document.analysis
    for index, device in enumerate(analysis.devices if analysis is not None else ()):
        if device.number == shown.number:
            then = shown.view
            same = (then.edition, then.order, then.folds) == (view.edition, view.order, view.folds)
            return replace(view, device=index, row=then.row if same else view.row)
    return view


def _selected(document: Document, view: View, selected: Selected) -> View:
    origin, port, span = document.trace.origin_ns, view.port, None
    if selected.span is not None:
        low, high = (port.clamp(time - origin) for time in selected.span)
        span = (low, high) if high > low else None
    anchor = selected.anchor_ns
    at = None if anchor is None else port.clamp(anchor - origin)
    return replace(view, selection=span, anchor_ns=at)


def _number(document: Document, device: int) -> int | None:
    analysis = document.analysis
    if analysis is None or device >= len(analysis.devices):
        return None
    return analysis.devices[device].number

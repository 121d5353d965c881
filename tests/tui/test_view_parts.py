"""Parts of a view as acts hold them: found again by what they are of."""

from __future__ import annotations

from dataclasses import replace

from whichlayer.tui import travel
from whichlayer.tui.carry import opened
from whichlayer.tui.document import Document
from whichlayer.tui.undo import OF_VIEW, Part
from whichlayer.tui.view import View
from whichlayer.tui.view_parts import LaneKeys, value_of, with_value


def with_devices(document: Document, *numbers: int) -> Document:
    analysis = document.analysis
    assert analysis is not None
    devices = tuple(replace(analysis.devices[0], number=number) for number in numbers)
    return replace(document, analysis=replace(analysis, devices=devices))


def test_every_part_of_a_view_is_put_back_exactly(document: Document) -> None:
    first = travel.with_lines(document, opened(document, 100), 30)
    keys = LaneKeys().of(document.lanes)
    then = travel.refolded(document, first.zoomed(4).selected(500_000, 700_000), 1)
    then = travel.arranged(document, then, then.order.hiding(0).pinning(2))
    for part in OF_VIEW:
        value = value_of(part, document, then, keys)
        first = with_value(part, document, first, keys, value)
        assert value_of(part, document, first, keys) == value
    assert (first.port, first.folds, first.order) == (then.port, then.folds, then.order)
    assert first.selection == then.selection


def test_a_device_is_known_by_its_number(document: Document) -> None:
    two, turned = with_devices(document, 0, 1), with_devices(document, 3, 1, 0)
    view = replace(opened(document, 100), device=1)
    keys = LaneKeys().of(document.lanes)
    shown = value_of(Part.DEVICE, two, view, keys)
    assert shown != value_of(Part.DEVICE, two, replace(view, device=0), keys)
    assert with_value(Part.DEVICE, two, replace(view, device=0), keys, shown).device == 1
    later = replace(view, device=0, edition=view.edition + 1)
    assert with_value(Part.DEVICE, turned, later, keys, shown).device == 1
    gone = with_devices(document, 7)
    assert with_value(Part.DEVICE, gone, later, keys, shown) == later


def test_lanes_that_are_not_there_are_left_out(document: Document) -> None:
    def shown(view: View) -> list[int]:
        return view.order.listed(len(document.lanes))

    keys = LaneKeys().of(document.lanes)
    view = opened(document, 100)
    value = value_of(Part.LANES, document, replace(view, order=view.order.hiding(1)), keys)
    later = replace(view, edition=view.edition + 1)
    assert 1 not in shown(with_value(Part.LANES, document, later, keys, value))
    others = (*keys[:1], ("another",), *keys[2:])
    assert 1 in shown(with_value(Part.LANES, document, later, others, value))

"""The view as a command line that opens exactly there, and the way back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from whichlayer.analysis.options import Options
from whichlayer.tui import carry, lanes_as_text, travel
from whichlayer.tui.dealt_rows import used_rows
from whichlayer.tui.document import Document
from whichlayer.tui.go_to import wall_clock_ns
from whichlayer.tui.lane_spec import lane_names, parse_name, place_of, places_of
from whichlayer.tui.shell_words import shell_word
from whichlayer.tui.undo import Part
from whichlayer.tui.view import View
from whichlayer.tui.wanted import RowsFor, Wanted

#: The options that tell of a part of the screen; the other parts are the user's own, such as the
#: theme, or lie beside the recording, such as bookmarks.
OPTIONS_OF: Final[Mapping[Part, tuple[str, ...]]] = {
    Part.FILTER: ("--filter",),
    Part.SEARCH: ("--find",),
    Part.QUEUE: ("--queue",),
    Part.LANES: ("--lanes", "--rows-for", "--top"),
    Part.CLOCK: ("--clock",),
    Part.SELECTION: ("--select", "--mark"),
    Part.TABLE: ("--group-by", "--sort"),
    Part.HEAT: ("--heat-rows",),
    Part.COLOURS: ("--colour-by",),
    Part.FULL: ("--only",),
    Part.PLACE: ("--view", "--at", "--lane"),
    Part.DEVICE: ("--gpu",),
}


def command_line(path: str, options: Options, wanted: Wanted) -> str:
    """A command that opens a trace with a view."""
    named = f"./{path}" if path.startswith("-") else path
    return " ".join(map(shell_word, ["whichlayer", named, *_analysed(options), *_words(wanted)]))


def wanted_view(document: Document, view: View, rest: Wanted) -> Wanted:
    """What asks for a view, besides the rest that is no part of one.

    Args:
        document: what is shown.
        view: of it.
        rest: what else is asked for.
    """
    names = lane_names(lane.title for lane in document.lanes)
    rows = travel.rows_of(document, view)
    lane = None
    if view.row < len(rows):
        lane = f"{names[rows[view.row].lane]}/{rows[view.row].depth}"
    wanted = replace(
        rest,
        view=(view.port.start_ns, view.port.end_ns),
        at=view.cursor_ns,
        select=view.selection,
        mark=view.anchor_ns,
        lane=lane,
        lanes=lanes_as_text.lanes_as_text(view.order, view.folds, names),
        clock=view.clock,
    )
    opened = as_opened(document, view, wanted)
    if travel.rows_of(document, opened) != rows and view.used and view.around is not None:
        low, high = max(view.around[0], 0), view.around[1]
        usual = used_rows(document.lanes, low, high, {})
        counts = tuple(
            (names[index], count)
            for index, (count, found) in enumerate(zip(view.used, usual, strict=True))
            if count != found
        )
        wanted = replace(wanted, rows_for=RowsFor((low, high), counts))
    if opened.device != view.device:
        wanted = replace(wanted, gpu=_number(document, view.device))
    return wanted


def as_opened(document: Document, view: View, wanted: Wanted) -> View:
    """What a command line would open on the screen of a view."""
    first = replace(carry.opened(document, view.port.cells), lines=view.lines)
    return opened_at(document, travel.first_look(document, first), wanted)


def opened_at(document: Document, view: View, wanted: Wanted) -> View:
    """The first view as the command line asks for it; what is not there is left as it is."""
    view = _with_lanes(document, view, wanted)
    if wanted.clock and wall_clock_ns(document.trace) is not None:
        view = replace(view, clock=True)
    if wanted.view is not None:
        view = replace(view, port=view.port.to(*wanted.view))
    if wanted.select is not None:
        view = view.selected(*wanted.select)
        if wanted.view is None and view.selection is not None:
            view = view.holding(*view.selection, 0.8)
    if wanted.mark is not None:
        view = replace(view, anchor_ns=view.port.clamp(wanted.mark))
    at = wanted.at
    if at is None and (wanted.view or wanted.select):
        low, high = wanted.select or (view.port.start_ns, view.port.end_ns)
        at = (low + high) // 2
    if at is not None:
        at = view.port.clamp(at)
        stays = wanted.view is not None or view.port.shows(at)
        view = view.pointed(at, view.row) if stays else view.at(at)
    return _with_device(document, _on_lane(document, view, wanted), wanted.gpu)


def missing(document: Document, wanted: Wanted) -> list[str]:
    """What is asked for and is not there, a few words each."""
    names = lane_names(lane.title for lane in document.lanes)
    absent = [str(name.title) for name in lanes_as_text.arranged_as(wanted.lanes, names).missing]
    if wanted.lane is not None and _row_of(document, wanted.lane) is None:
        absent.append(wanted.lane)
    words = [f"no lane {name}" for name in dict.fromkeys(absent)]
    if wanted.gpu is not None and _device(document, wanted.gpu) is None:
        words.append(f"no GPU {wanted.gpu}")
    if wanted.clock and wall_clock_ns(document.trace) is None:
        words.append("no wall clock recorded")
    return words


def _with_lanes(document: Document, view: View, wanted: Wanted) -> View:
    if not wanted.lanes:
        return view
    names = lane_names(lane.title for lane in document.lanes)
    made = lanes_as_text.arranged_as(wanted.lanes, names)
    view = replace(view, folds=made.folds, used=(), outer=(), around=None)
    return travel.arranged(document, view, made.order)


def _on_lane(document: Document, view: View, wanted: Wanted) -> View:
    """The cursor on its line, and lines dealt for what is in sight or for what is asked."""
    rows = travel.rows_of(document, view)
    here = (rows[view.row].lane, rows[view.row].depth) if view.row < len(rows) else None
    found = None if wanted.lane is None else _row_of(document, wanted.lane)
    if found is not None and found[0] not in view.order.hidden:
        here = found
    view = travel.dealt(document, view, here)
    if wanted.rows_for is not None and view.used:
        places = places_of(lane_names(lane.title for lane in document.lanes))
        low, high = wanted.rows_for.span
        used = list(used_rows(document.lanes, low, high, {}))
        for name, count in wanted.rows_for.counts:
            lane = place_of(name, places)
            if lane is not None:
                used[lane] = count
        outer = travel.outer_around(document, low, high, here)
        view = replace(view, used=tuple(used), outer=outer, around=(low, high))
        view = view if here is None else travel.on_lane(document, view, *here)
    return travel.on_row(document, view, view.row)


def _row_of(document: Document, text: str) -> tuple[int, int] | None:
    """A lane and a row of it by ``NAME`` or ``NAME/ROW``."""
    places = places_of(lane_names(lane.title for lane in document.lanes))
    name, slash, depth = text.rpartition("/")
    lane = place_of(parse_name(name), places) if slash and depth.isdecimal() else None
    if lane is None:
        depth, lane = "0", place_of(parse_name(text), places)
    if lane is None:
        return None
    return lane, min(int(depth[:6]), document.lanes[lane].depth - 1)


def _with_device(document: Document, view: View, number: int | None) -> View:
    device = None if number is None else _device(document, number)
    return view if device is None else replace(view, device=device)


def _device(document: Document, number: int) -> int | None:
    devices = () if document.analysis is None else document.analysis.devices
    return next((i for i, device in enumerate(devices) if device.number == number), None)


def _number(document: Document, device: int) -> int | None:
    devices = () if document.analysis is None else document.analysis.devices
    return devices[device].number if device < len(devices) else None


def _words(wanted: Wanted) -> list[str]:
    """The options that ask for a view."""
    texts = {
        "--view": wanted.view and _span(*wanted.view),
        "--at": None if wanted.at is None else _micros(wanted.at),
        "--select": wanted.select and _span(*wanted.select),
        "--lane": wanted.lane,
        "--mark": None if wanted.mark is None else _micros(wanted.mark),
        "--gpu": wanted.gpu,
        "--lanes": ",".join(map(str, wanted.lanes)),
        "--rows-for": None if wanted.rows_for is None else _rows_for(wanted.rows_for),
        "--top": wanted.top,
        "--filter": wanted.filter,
        "--find": wanted.find,
        "--colour-by": wanted.colour_by,
        "--group-by": wanted.group_by,
        "--sort": wanted.sort,
        "--heat-rows": wanted.heat_rows,
        "--only": wanted.only,
    }
    words: list[str] = []
    for name, text in texts.items():
        if text not in (None, ""):
            # A value that begins with a dash would be taken for an option.
            dashed = str(text).startswith("-")
            words += [f"{name}={text}"] if dashed else [name, str(text)]
    flags = {"--clock": wanted.clock, "--queue": wanted.queue}
    return [*words, *(name for name, is_set in flags.items() if is_set)]


def _rows_for(rows: RowsFor) -> str:
    counts = (f"{name}={count}" for name, count in rows.counts)
    return ",".join((_span(*rows.span), *counts))


def _analysed(options: Options) -> list[str]:
    words: list[str] = []
    if options.span_ns is not None:
        words += ["--span", _span(*options.span_ns)]
    if options.steps is not None:
        words += ["--steps", f"{options.steps[0]}:{options.steps[1]}"]
    if options.device is not None:
        words += ["--device", str(options.device)]
    if options.device_model is not None:
        words += ["--device-model", options.device_model]
    if options.peak_bandwidth_gbps is not None:
        words += ["--peak-bandwidth", f"{options.peak_bandwidth_gbps!r}"]
    for precision, rate in options.peak_tflops.items():
        words += ["--peak-flops", f"{precision}={rate!r}"]
    if options.link_gbps is not None:
        words += ["--link-bandwidth", f"{options.link_gbps!r}"]
    return words


def _span(low_ns: int, high_ns: int) -> str:
    return f"{_micros(low_ns)}:{_micros(high_ns)}"


def _micros(ns: int) -> str:
    """Microseconds, exact to the nanosecond; the command line knows nothing before zero."""
    whole, part = divmod(max(ns, 0), 1000)
    return f"{whole}" + (f".{part:03d}".rstrip("0") if part else "") + "us"

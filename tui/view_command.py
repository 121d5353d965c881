"""The view as a command line that opens exactly there, and the way back."""

from __future__ import annotations

import shlex
from dataclasses import replace

from whichlayer.analysis.options import Options
from whichlayer.tui import travel
from whichlayer.tui.document import Document
from whichlayer.tui.view import View
from whichlayer.tui.wanted import Wanted


def command_line(path: str, options: Options, document: Document, view: View) -> str:
    """A command that opens a trace with this view."""
    words = ["whichlayer", path, *_analysed(options)]
    words += ["--view", _span(view.port.start_ns, view.port.end_ns)]
    words += ["--at", _micros(view.cursor_ns)]
    if view.selection is not None:
        words += ["--select", _span(*view.selection)]
    rows = travel.rows_of(document, view)
    if view.row < len(rows):
        row = rows[view.row]
        words += ["--lane", f"{document.lanes[row.lane].title.strip()}/{row.depth}"]
    if path.startswith("-"):
        words[1] = f"./{path}"
    return " ".join(map(shlex.quote, words))


def opened_at(document: Document, view: View, wanted: Wanted) -> View:
    """The first view as the command line asks for it; what is not there is left as it is."""
    if wanted.lane is not None:
        view = _on_lane(document, view, wanted.lane)
    if wanted.view is not None:
        view = replace(view, port=view.port.to(*wanted.view))
    if wanted.select is not None:
        view = view.selected(*wanted.select)
        if wanted.view is None and view.selection is not None:
            view = view.holding(*view.selection, 0.8)
    at = wanted.at
    if at is None and (wanted.view or wanted.select):
        low, high = wanted.select or (view.port.start_ns, view.port.end_ns)
        at = (low + high) // 2
    if at is not None:
        at = view.port.clamp(at)
        shown = view.port.shows(at)
        view = view.pointed(at, view.row) if shown else view.at(at)
    return view


def _on_lane(document: Document, view: View, name: str) -> View:
    title, slash, depth = name.rpartition("/")
    if not slash or not depth.isdecimal():
        title, depth = name, "0"
    for index, lane in enumerate(document.lanes):
        if lane.title.strip() == title.strip():
            view = travel.on_lane(document, view, index, int(depth[:6]))
            return travel.on_row(document, view, view.row)
    return view


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

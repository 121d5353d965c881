"""Bookmarks as a list, and the view that each stands for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from whichlayer.analysis.report.units import count_text, time_text
from whichlayer.analysis.text import clean
from whichlayer.tui import travel
from whichlayer.tui.document import Document
from whichlayer.tui.go_to import exact_text
from whichlayer.tui.notes_file import Bookmark, new_bookmark
from whichlayer.tui.view import View
from whichlayer.tui.widgets.list_sheet import Listed


def name_of(mark: Bookmark) -> str:
    """What the user called it, safe to show."""
    return clean(mark.name)


def bookmark_here(document: Document, view: View, name: str) -> Bookmark:
    """A bookmark of the cursor, its lane and what is seen or selected."""
    rows = travel.rows_of(document, view)
    lane = document.lanes[rows[view.row].lane].title if view.row < len(rows) else ""
    low, high = view.selection or (view.port.start_ns, view.port.end_ns)
    origin = document.trace.origin_ns
    if view.selection is not None:
        return new_bookmark(name, origin + low, high - low, lane.strip())
    return new_bookmark(name, origin + view.cursor_ns, 0, lane.strip())


def at_bookmark(document: Document, view: View, mark: Bookmark) -> View:
    """The view with a bookmark in sight: its span selected, else the cursor on it."""
    start = mark.clock_ns - document.trace.origin_ns
    for index, lane in enumerate(document.lanes):
        if mark.lane and lane.title.strip() == mark.lane:
            view = travel.on_lane(document, view, index)
            view = travel.on_row(document, view, view.row)
            break
    if mark.span_ns:
        end = start + mark.span_ns
        low, high = view.port.clamp(start), view.port.clamp(end)
        if high > low:
            return replace(view.holding(low, high, 0.8).selected(low, high)).at(low)
    return replace(view, anchor_ns=None, selection=None).at(start)


def bookmark_list(document: Document, marks: Sequence[Bookmark], path: Path | None) -> Listed:
    """A line for each bookmark, in order of time."""
    origin = document.trace.origin_ns
    rows = [
        (
            name_of(mark),
            clean(mark.lane),
            exact_text(mark.clock_ns - origin),
            time_text(mark.span_ns) if mark.span_ns else "",
        )
        for mark in marks
    ]
    where = "kept while this screen is open" if path is None else clean(path.name)
    return Listed(
        f"{count_text(len(rows), 'bookmark')} · {where}",
        ("name", "lane", "time", "span"),
        rows,
        "no bookmark yet: M sets one at the cursor",
        "enter goes there · d deletes · r renames · esc closes",
    )

"""Where a chain leads: from work to its launch, from a launch to its work, from a gap to its cause.

Pure functions from a document and a view to another view; None where there is nowhere to go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from whichlayer.analysis.trace.kinds import GPU_WORK, SliceKind
from whichlayer.tui.document import Document
from whichlayer.tui.lanes import ShownRow
from whichlayer.tui.travel import on_slice, slice_at, to_slice_row
from whichlayer.tui.view import View

if TYPE_CHECKING:
    from whichlayer.tui.chain import Chain

#: What is followed to the work that it started; anything else first to what explains a gap.
_CALLERS = (SliceKind.CPU_OP, SliceKind.PYTHON)


def along_chain(document: Document, view: View, chain: Chain, slice_row: int) -> View:
    """The cursor on another link of a chain; where that lies around the launch, at the launch.

    So going up from a kernel changes the line and not the zoom.
    """
    trace = document.trace
    launch = next((link.row for link in chain.links if link.word == "launch"), -1)
    at = int(trace.start_ns[launch]) if launch >= 0 else -1
    start, end = int(trace.start_ns[slice_row]), int(trace.end_ns[slice_row])
    around = (
        launch not in (-1, slice_row)
        and trace.lane_id[launch] == trace.lane_id[slice_row]
        and start <= at < end
        and end - start > 2 * view.port.span_ns // view.port.cells
    )
    if not around:
        return to_slice_row(document, view, slice_row)
    return on_slice(document, view.at(at), slice_row)


def follow_link(
    document: Document, rows: tuple[ShownRow, ...], view: View, foot: int = -1
) -> View | None:
    """From a kernel to its launch, from what launched to the work, from a gap to its culprit.

    Args:
        document: what is shown.
        rows: its lines.
        view: what is looked at.
        foot: GPU work that the user came from, which its launch leads back to; -1 for none.
    """
    trace = document.trace
    here = slice_at(document, rows, view)
    target = -1
    if here >= 0 and trace.kind[here] in GPU_WORK:
        target = int(trace.launch[here])
    elif here >= 0 and foot >= 0 and trace.launch[foot] == here:
        target = foot
    elif here >= 0 and len(document.launched_by(here)):
        target = int(document.launched_by(here)[0])
    if target < 0 and here >= 0 and trace.kind[here] in _CALLERS:
        target = _started(document, here)
    if target < 0:
        target = _culprit(document, view)
    if target < 0 and here >= 0:
        target = _started(document, here)
    if target < 0:
        return None
    return to_slice_row(document, view, target)


def gap_ends(document: Document, view: View) -> tuple[int, int]:
    """Trace rows of the work that ends the gap at the cursor, and of its launch; -1 for none."""
    if document.analysis is None or view.device >= len(document.gaps):
        return -1, -1
    gaps = document.gaps[view.device]
    place = gaps.at(view.cursor_ns)
    if place < 0:
        return -1, -1
    table, index = document.analysis.gaps, int(gaps.index[place])
    return int(table.next_row[index]), int(table.launch_row[index])


def _started(document: Document, row: int) -> int:
    """The first GPU work that was launched inside a slice, or -1."""
    return -1 if document.links is None else document.links.chain(row).foot


def _culprit(document: Document, view: View) -> int:
    if document.analysis is None or view.device >= len(document.gaps):
        return -1
    gaps = document.gaps[view.device]
    place = gaps.at(view.cursor_ns)
    if place < 0:
        return -1
    table, index = document.analysis.gaps, int(gaps.index[place])
    rows = (table.culprit_row[index], table.launch_row[index], table.next_row[index])
    return next((int(row) for row in rows if row >= 0), -1)

"""A recording as it is known while its file is read: events in the order of the file."""

from __future__ import annotations

from dataclasses import replace

from tests.tui.recording import LANES, Slice, build_trace, step_slices
from whichlayer.analysis.trace.columns import Lane, Trace
from whichlayer.tui.document import Document, Extent, open_document


def on_clock(slices: list[Slice], origin_ns: int) -> list[Slice]:
    """Slices on the clock of a file, whose 0 lies so long before the recording."""
    return [(s[0], s[1], s[2], s[3] + origin_ns, s[4] + origin_ns, *s[5:]) for s in slices]


def known_of(slices: list[Slice], lanes: tuple[Lane, ...] = LANES) -> Trace:
    """The trace of slices on a file's clock: its time 0 is where the first of them begins."""
    origin = min(s[3] for s in slices)
    return build_trace(on_clock(slices, -origin), lanes, origin_ns=origin)


def part_of(slices: list[Slice], extent: Extent = Extent.READING) -> Document:
    """A document of slices on a file's clock."""
    return replace(open_document(known_of(slices)), extent=extent)


def file_order(clock_ns: int = 10**12) -> list[Slice]:
    """The recording as Kineto writes it: threads first, what ran on the GPU last.

    Without the frame around everything, so that time grows with what is known.
    """
    slices = on_clock([s for s in step_slices() if "<module>" not in s[2]], clock_ns)
    return sorted(slices, key=lambda s: (s[0] < 2, s[3]))

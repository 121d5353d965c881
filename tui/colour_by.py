"""The code by which every slice is coloured, for each way of colouring the timeline."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import GPU_WORK, LaneKind
from whichlayer.tui.counter_row import CounterRow
from whichlayer.tui.document import Document
from whichlayer.tui.families import families_of
from whichlayer.tui.instant_lanes import InstantRow
from whichlayer.tui.raster import Row
from whichlayer.tui.slots import FIRST_HUE, FIRST_LAYER, HUES, PLAIN, ColourBy, hue_of

if TYPE_CHECKING:
    from whichlayer.analysis.results import Analysis

UInt8 = NDArray[np.uint8]
AnyRow = TypeVar("AnyRow", bound=Row)

#: Share of a kernel's time that it must lose for its owner to be named.
_NAMED_SHARE = 0.1


class Colouring:
    """How a document's slices are coloured; rows take their colours when first drawn."""

    def __init__(self, document: Document, by: ColourBy) -> None:
        """Work out the codes, by row of the trace."""
        self.by = by
        self.codes = codes_by(document, by)
        self._names = document.names
        self._rows: WeakKeyDictionary[Row, Row] = WeakKeyDictionary()

    def row(self, row: AnyRow) -> AnyRow:
        """A row of the timeline in these colours; counters and instants have their own."""
        if isinstance(row, CounterRow | InstantRow):
            return row
        found = self._rows.get(row)
        if found is None:
            found = copy(row)
            found.recolour(self.codes[row.slices])
            self._rows[row] = found
        assert isinstance(found, type(row))
        return found

    def name_of(self, row: int) -> str:
        """What a bar says: where its colour is an owner's, that letter first."""
        name = self._names.short(row)
        layer = int(self.codes[row]) - FIRST_LAYER
        if self.by is not ColourBy.OWNER or not 0 <= layer < len(Layer):
            return name
        return f"{Layer(layer).text.letter} {name}"


def codes_by(document: Document, by: ColourBy) -> UInt8:
    """The code of every slice of the trace: uint8 (n,), see ``slots``."""
    trace = document.trace
    if by is ColourBy.NAME:
        return codes_by_name(trace)
    if by is ColourBy.STREAM:
        return codes_by_stream(trace)
    if by is ColourBy.OWNER and document.analysis is not None:
        return codes_by_owner(document.analysis)
    return families_of(trace)


def codes_by_name(trace: Trace) -> UInt8:
    """By the name as recorded: one name has one hue in every recording."""
    hues = np.zeros(len(trace.strings), dtype=np.uint8)
    used = np.zeros(len(trace.strings), dtype=np.bool_)
    used[trace.name_id] = True
    for name in np.flatnonzero(used).tolist():
        hues[name] = hue_of(trace.strings[name])
    return np.asarray(hues[trace.name_id], dtype=np.uint8)


def codes_by_stream(trace: Trace) -> UInt8:
    """By the stream of GPU work, and of the work that a call launches; the rest is plain."""
    streams = [lane.kind == LaneKind.GPU_STREAM for lane in trace.lanes]
    place = np.cumsum(streams) - 1
    hues = np.where(streams, FIRST_HUE + place % HUES, PLAIN).astype(np.uint8)
    codes = np.asarray(hues[trace.lane_id], dtype=np.uint8)
    work = np.isin(trace.kind, GPU_WORK) & (trace.launch >= 0)
    codes[trace.launch[work]] = codes[work]
    return codes


def codes_by_owner(analysis: Analysis) -> UInt8:
    """By who owns what a kernel loses, and the gaps that a slice of the host is the cause of.

    What was not judged is plain, and so is what causes no gap. The longest of a slice's gaps
    says whose it is.
    """
    codes = np.full(len(analysis.trace), PLAIN, dtype=np.uint8)
    gaps, kernels = analysis.gaps, analysis.activities
    blamed = np.flatnonzero(gaps.culprit_row >= 0)
    length = gaps.end_ns[blamed] - gaps.start_ns[blamed]
    blamed = blamed[np.argsort(length, kind="stable")]  # the longest is written last
    codes[gaps.culprit_row[blamed]] = FIRST_LAYER + gaps.layer[blamed]
    loses = kernels.loss_ns >= np.maximum(_NAMED_SHARE * kernels.owned_ns, 1)
    owner = np.where(loses, kernels.layer, np.uint8(Layer.NONE))
    told = kernels.judged | loses
    codes[kernels.row[told]] = FIRST_LAYER + owner[told]
    return codes

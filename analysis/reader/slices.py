"""Turns complete events (``X``) into columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields

import numpy as np

from whichlayer.analysis.reader.arguments import ArgumentReader, Arguments
from whichlayer.analysis.reader.complete import Complete, Framed
from whichlayer.analysis.reader.decimals import parse_times
from whichlayer.analysis.reader.details import DETAIL_KEYS
from whichlayer.analysis.reader.events import Event, pick
from whichlayer.analysis.reader.groups import Groups
from whichlayer.analysis.reader.intern import Intern
from whichlayer.analysis.reader.keep import OUTLINE, Keep, Reach, kept_outside
from whichlayer.analysis.reader.lanes import Lanes
from whichlayer.analysis.reader.numbering import Numbering
from whichlayer.analysis.reader.recurring import Renumbered
from whichlayer.analysis.trace.assemble import Slices
from whichlayer.analysis.trace.classify import ON_GPU
from whichlayer.analysis.trace.columns import Bool, Int32, Int64
from whichlayer.analysis.trace.dropped import Dropped
from whichlayer.analysis.trace.kinds import SliceKind


@dataclass(slots=True)
class SliceBuilder:
    """Collects slices, chunk by chunk.

    Attributes:
        bad_start: how many events had no usable start and were left out.
        bad_duration: how many had no usable duration.
        negative_duration: how many had a negative one.
        keep: ``OUTLINE``, or the stretch that is wanted, or None for all.
        reach: takes note of the times that are seen.
        dropped: what an outline leaves out.
    """

    groups: Groups
    strings: Intern[str]
    lanes: Lanes
    keep: Keep | None = None
    reach: Reach = field(default_factory=Reach)
    dropped: Dropped = field(default_factory=Dropped)
    arguments: ArgumentReader = field(default_factory=ArgumentReader)
    bad_start: int = 0
    bad_duration: int = 0
    negative_duration: int = 0
    _chunks: list[Slices] = field(default_factory=list)
    _heads: Renumbered[Event] | None = None

    def add(self, events: Sequence[Event], group: Int32, number: Int64) -> None:
        """Takes complete events.

        Args:
            events: of phase ``X``.
            group: the group of each.
            number: the place of each among all events of the file.
        """
        start = parse_times([one.ts for one in events])
        duration = parse_times([one.dur for one in events])
        start_ns, end_ns = start.rounded(), start.plus(duration)
        backward = end_ns < start_ns
        self.bad_start += int(start.bad.sum())
        self.bad_duration += int((duration.bad & ~start.bad).sum())
        self.negative_duration += int((backward & ~start.bad).sum())
        end_ns = np.where(backward, start_ns, end_ns)
        bad = start.bad
        self.reach.note(start_ns[~bad], end_ns[~bad])
        if self.keep is not None:
            rows = self._kept(events, group, start_ns, end_ns, bad)
            events, group, number = pick(events, rows), group[rows], number[rows]
            start_ns, end_ns, bad = start_ns[rows], end_ns[rows], bad[rows]
        strings = self.strings
        name_id = np.fromiter([strings[one.name] for one in events], np.int32, len(events))
        columns = self._columns(start_ns, end_ns, name_id, group, number)
        for kind in np.bincount(columns.kind).nonzero()[0].tolist():
            rows = np.flatnonzero(columns.kind == kind)
            found = None
            if kind in DETAIL_KEYS:
                texts = [one.args for one in pick(events, rows)]
                found = self.arguments.read(SliceKind(kind), texts)
            self._fill(columns, found, group[rows], SliceKind(kind), rows)
        if bool(bad.any()):
            columns.take(np.flatnonzero(~bad))
        self._chunks.append(columns)

    def add_complete(self, complete: Complete, before: int) -> None:
        """Takes complete events that were read by line, of which all are kept.

        Args:
            complete: the events.
            before: how many events precede their chunk in the file.
        """
        if self._heads is None or self._heads.texts is not complete.heads:
            self._heads = Renumbered(complete.heads, self._of_heads, 2)
        group, name_id = self._heads.of(complete.head)
        columns = self._columns(
            complete.start_ns, complete.end_ns, name_id, group, complete.row + before
        )
        for kind in np.bincount(columns.kind).nonzero()[0].tolist():
            if kind not in DETAIL_KEYS:
                rows = np.flatnonzero(columns.kind == kind)
                self._fill(columns, None, group[rows], SliceKind(kind), rows)
        for one in complete.arguments:
            if isinstance(one, Framed):
                found = self.arguments.framed(one)
            else:
                found = self.arguments.columns(one.layout, one.found)
            self._fill(columns, found, group[one.at], one.kind, one.at)
        self._chunks.append(columns)

    def _of_heads(self, events: list[Event]) -> Sequence[Sequence[int] | Int32]:
        """The groups and the names of some events."""
        return self.groups.of(events), [self.strings[one.name] for one in events]

    def _columns(
        self, start_ns: Int64, end_ns: Int64, name_id: Int32, group: Int32, number: Int64
    ) -> Slices:
        """Columns of slices before it is known what arguments and lanes say."""
        count = len(group)
        return Slices(
            start_ns=start_ns,
            end_ns=end_ns,
            name_id=name_id,
            category_id=self.groups.category_id[group],
            kind=self.groups.kind[group],
            lane_id=np.zeros(count, np.int32),
            correlation=np.full(count, -1, np.int64),
            external_id=np.full(count, -1, np.int64),
            detail_id=np.full(count, -1, np.int32),
            event=number,
        )

    def _kept(
        self, events: Sequence[Event], group: Int32, start_ns: Int64, end_ns: Int64, bad: Bool
    ) -> Int64:
        """The rows that are kept of a file of which a part is wanted; an outline notes others.

        Among those of an outline are bad ones, which have lanes as any.
        """
        assert self.keep is not None
        if self.keep != OUTLINE:
            return np.flatnonzero(self.keep.inside(start_ns, end_ns) & ~bad)
        kind = self.groups.kind[group]
        kept = kept_outside(kind, lambda: [one.name for one in events])
        dropped = ~kept & ~bad
        self.lanes.of_groups(group[dropped])
        self.dropped.add(start_ns[dropped], end_ns[dropped], kind[dropped])
        return np.flatnonzero(kept | bad)

    def _fill(
        self,
        columns: Slices,
        found: Arguments | None,
        group: Int32,
        kind: SliceKind,
        rows: Int64,
    ) -> None:
        """Fills in what arguments and lanes say of the rows of one kind."""
        if found is not None:
            columns.external_id[rows] = found.external_id
            columns.detail_id[rows] = found.detail_id
            if kind in ON_GPU or kind == SliceKind.RUNTIME:
                columns.correlation[rows] = found.correlation
            if kind in ON_GPU:
                lanes = self.lanes.of_streams(group, found.device, found.stream)
                columns.lane_id[rows] = lanes
                return
        columns.lane_id[rows] = self.lanes.of_groups(group)

    def take(self, other: SliceBuilder, numbering: Numbering) -> None:
        """Adds the slices of another, which is used up."""
        details = self.arguments.take(other.arguments)
        for chunk in other._chunks:
            chunk.name_id = numbering.strings[chunk.name_id]
            chunk.category_id = numbering.strings[chunk.category_id]
            chunk.lane_id = numbering.lanes[chunk.lane_id]
            chunk.detail_id = details[chunk.detail_id]
            chunk.event += numbering.events
        self._chunks += other._chunks
        self.dropped.take(other.dropped)
        self.bad_start += other.bad_start
        self.bad_duration += other.bad_duration
        self.negative_duration += other.negative_duration

    def complete(self, outline: Slices, stretch: SliceBuilder) -> None:
        """Takes slices of an outline, and those of a stretch that another has read."""
        keep = stretch.keep
        assert keep is not None and not self._chunks
        self._chunks = [outline, *stretch._chunks]
        both = self.finish()
        both.take(np.argsort(both.event, kind="stable"))
        self._chunks = [both]
        self.dropped = self.dropped.without(keep.low_ns, keep.high_ns)
        self.keep = keep

    @property
    def last_ns(self) -> int:
        """When the last slice so far ends, on the file's own clock."""
        ends = [int(chunk.end_ns.max()) for chunk in self._chunks if len(chunk.end_ns)]
        if len(self.dropped):
            ends.append(self.dropped.bounds()[2])
        return max(ends, default=0)

    def so_far(self, more: Slices) -> tuple[Slices, Dropped]:
        """A copy of all slices so far, in the order they came, and of some more.

        Returns:
            The slices, and what was dropped so far.
        """
        if len(self._chunks) > 1:  # what was copied once is copied as one piece from then on
            self._chunks = [_joined(self._chunks)]
        dropped = Dropped()
        dropped.take(self.dropped)
        return _joined([*self._chunks, self._wanted(more, dropped)]), dropped

    def _wanted(self, slices: Slices, dropped: Dropped) -> Slices:
        """What is kept of slices that were made otherwise; they have no arguments."""
        if self.keep is None:
            return slices
        inside = self.keep.inside(slices.start_ns, slices.end_ns)
        strings = list(self.strings)
        kept = inside | kept_outside(
            slices.kind, lambda: [strings[one] for one in slices.name_id.tolist()]
        )
        dropped.add(slices.start_ns[~kept], slices.end_ns[~kept], slices.kind[~kept])
        slices.take(np.flatnonzero(kept))
        return slices

    def finish_with(self, more: Slices) -> tuple[Slices, Dropped]:
        """All slices, in the order they came, and some more; no slices are kept here.

        Returns:
            The slices, and what was dropped of all. Those of ``more`` are not noted here: they
            come anew with the next call.
        """
        dropped = Dropped()
        dropped.take(self.dropped)
        self._chunks.append(self._wanted(more, dropped))
        return self.finish(), dropped

    def finish(self) -> Slices:
        """All slices, in the order they came; nothing is kept here."""
        first, *rest = self._chunks
        self._chunks = []
        for column in fields(Slices):
            parts = [getattr(chunk, column.name) for chunk in (first, *rest)]
            setattr(first, column.name, np.concatenate(parts))
            for chunk in rest:
                setattr(chunk, column.name, None)
        return first


def _joined(chunks: Sequence[Slices]) -> Slices:
    """New columns that hold those of all chunks."""
    names = [column.name for column in fields(Slices)]
    return Slices(**{name: np.concatenate([getattr(c, name) for c in chunks]) for name in names})

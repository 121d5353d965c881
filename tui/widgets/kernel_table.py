"""The kernel table: what each group of kernels takes, how fast it is, and whose the loss is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events
from textual.strip import Strip

from whichlayer.analysis.report.units import (
    NOT_NEEDED,
    ROOF_MARK,
    UNKNOWN,
    rate_text,
    share_text,
    time_text,
)
from whichlayer.analysis.text import clean
from whichlayer.tui.deferred import Deferred
from whichlayer.tui.messages import HeadingClicked, StretchChosen, SubjectChosen
from whichlayer.tui.view import View
from whichlayer.tui.widgets.pane import Piece, shortened, strip_of
from whichlayer.tui.widgets.panel import Panel

# The table waits for the analysis, the first timeline does not.
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from whichlayer.analysis.layers import Layer
    from whichlayer.analysis.results import KernelGroup
    from whichlayer.tui import alike, kernel_grouping, labels_apart, summary
    from whichlayer.tui.kernel_grouping import Grouping
    from whichlayer.tui.summary import Ranked
else:
    alike = Deferred("whichlayer.tui.alike")
    labels_apart = Deferred("whichlayer.tui.labels_apart")
    kernel_grouping = Deferred("whichlayer.tui.kernel_grouping")
    summary = Deferred("whichlayer.tui.summary")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of figures: heading, width, text of a row, and its order (largest first)."""

    title: str
    cells: int
    text: Callable[[Ranked], str]
    order: Callable[[Ranked], float]


def _number(value: float | None) -> float:
    return -1.0 if value is None else value


def _roof(share: float | None) -> str:
    if share is None:
        return UNKNOWN
    if not share:
        return NOT_NEEDED
    return f"{100 * share:.0f} %" if share >= 0.005 else "<1 %"


def _each(row: Ranked) -> str:
    return time_text(row.time_ns // row.calls) if row.calls else UNKNOWN


def _lost(row: Ranked) -> str:
    judged = row.group.lost_ns or row.group.roof_fraction is not None
    return time_text(row.group.lost_ns) if judged else UNKNOWN


COLUMNS = (
    Column("time", 9, lambda r: time_text(r.time_ns), lambda r: r.time_ns),
    Column("share", 7, lambda r: share_text(r.share), lambda r: r.share),
    Column("calls", 6, lambda r: f"{r.calls}", lambda r: r.calls),
    Column("GB/s", 6, lambda r: rate_text(r.group.gbps), lambda r: _number(r.group.gbps)),
    Column(
        "%roof",
        6,
        lambda r: _roof(r.group.roof_fraction),
        lambda r: _number(r.group.roof_fraction),
    ),
    Column("a call", 9, lambda r: _each(r), lambda r: r.time_ns / max(r.calls, 1)),
    Column("lost", 9, lambda r: _lost(r), lambda r: r.group.lost_ns),
    Column("TF/s", 6, lambda r: rate_text(r.group.tflops), lambda r: _number(r.group.tflops)),
)


@dataclass(frozen=True, slots=True)
class TableLook:
    """How rows are made and sorted; two are alike wherever the table's cursor is."""

    sort: int
    grouping: Grouping | None
    chosen: int = field(default=0, compare=False)
    top: int = field(default=0, compare=False)

    @property
    def sort_word(self) -> str:
        """The column that rows are sorted by."""
        return COLUMNS[self.sort].title

    @property
    def grouping_word(self) -> str:
        """What makes kernels one row."""
        return str((self.grouping or kernel_grouping.Grouping.SHAPE).value)


#: Below this width the name gets too little, and the columns that say least go first.
_LEAST_NAME = 16
_DISPENSABLE = ("share", "calls", "GB/s")

#: Columns that come where names have this much beside them, the first first.
_MORE, _AMPLE_NAME = ("a call", "lost", "TF/s"), 40
_OWNER = 3

#: Cells that a name keeps before what differs between rows of one name gets any, and cells in
#: which that tells anything.
_KEPT_NAME, _LEAST_DIFFERENCE = 12, 5


class KernelTable(Panel):
    """Groups of kernels within the selection, else within the analysed window."""

    HELP = (
        "Kernels of one name and one set of shapes; b groups them by name, operator, module or "
        "family, o shows them as a roofline. GB/s is a lower bound: the bytes "
        "that its operator cannot avoid over its time. %roof: the time "
        "that a well-made kernel would take on this card, as a share of what this one took; "
        f"{NOT_NEEDED} where it need not run at all (copies and casts that a change avoids); "
        "such a kernel reaches 90 % of the data sheet's bandwidth, and of its matrix rate "
        "what good large products reach there. – where a figure is not known, with the "
        "reason in the region pane. "
        f"by: the layer that owns what is lost, {ROOF_MARK} where it is at the roof, ? where no rule "
        f"explains it, {UNKNOWN} where the "
        "kernel is not judged. Of rows with one name the shapes, dimmed, tell them apart. "
        "Wide tables also tell the time of a call on the average, the time lost above the ideal, and "
        "the flops achieved. "
        "The calls of the chosen row are lit on the timeline. Enter: the longest call."
    )

    def __init__(self, *, id: str | None = None) -> None:
        """Start empty, by time."""
        super().__init__(id=id)
        self._rows: list[Ranked] | None = None
        self._sort = 0
        self._grouping: Grouping | None = None
        self._apart: tuple[list[Ranked], int, dict[int, str], list[str]] | None = None

    def document_changed(self) -> None:
        """Rank anew."""
        self._rows = None

    def view_changed(self, old: View | None) -> None:
        """Rank anew when the selection changes."""
        if old is None or self.view is None or old.selection != self.view.selection:
            self._rows = None
            self.refresh()

    @property
    def rows(self) -> list[Ranked]:
        """The ranked groups, in the chosen order."""
        if self._rows is None:
            analysis = None if self.document is None else self.document.analysis
            self._rows = []
            if analysis is not None:
                self._rows = kernel_grouping.grouped(
                    analysis, self._span, self.grouping, self._mask
                )
            order = COLUMNS[self._sort].order
            self._rows.sort(key=lambda row: -order(row))
            self.chosen = min(self.chosen, max(len(self._rows) - 1, 0))
            self.top = min(self.top, max(len(self._rows) - self.body_height, 0))
        return self._rows

    @property
    def lines(self) -> int:
        """One per group."""
        return len(self.rows)

    @property
    def body_height(self) -> int:
        """The heading takes a line."""
        return max(self.size.height - 1, 1)

    @property
    def grouping(self) -> Grouping:
        """What makes kernels one row."""
        return self._grouping or kernel_grouping.Grouping.SHAPE

    @property
    def look(self) -> TableLook:
        """How its rows are made and sorted now."""
        return TableLook(self._sort, self._grouping, self.chosen, self.top)

    def look_as(self, look: TableLook) -> None:
        """Make and sort rows so, with the cursor where it was then."""
        self._sort, self._grouping = look.sort, look.grouping
        self._rows = None
        self.chosen, self.top = look.chosen, look.top
        self.refresh()
        if self.has_focus:
            self.line_chosen()

    def group_by_next(self) -> str:
        """Let rows be the next grouping; what to say of it."""
        self.look_as(TableLook(self._sort, self.grouping.following))
        analysis = None if self.document is None else self.document.analysis
        modules = self._grouping is kernel_grouping.Grouping.MODULE
        if modules and analysis is not None and not kernel_grouping.has_modules(analysis):
            return "no modules here: record with_stack=True or with_modules=True"
        return f"rows of the kernel table: {self.grouping.value}"

    @property
    def chosen_group(self) -> int | None:
        """Index of the chosen group in the analysis; None where rows hold several."""
        if self.grouping is not kernel_grouping.Grouping.SHAPE or not self.rows:
            return None
        return self.rows[self.chosen].index

    def choose_group(self, index: int) -> None:
        """Put the cursor on a group; rows are groups again."""
        if self.grouping is not kernel_grouping.Grouping.SHAPE:
            self._grouping, self._rows = None, None
        for place, row in enumerate(self.rows):
            if row.index == index:
                self.choose(place)

    def sort_by_next(self) -> str:
        """Order by the next column; its title."""
        self.sort_by((self._sort + 1) % len(COLUMNS))
        return COLUMNS[self._sort].title

    def sort_by(self, column: int) -> None:
        """Order by a column, by its place in ``COLUMNS``."""
        self._sort = column
        self._rows = None
        self.refresh()

    def line_chosen(self) -> None:
        """The region pane speaks of the chosen group."""
        rows = self.rows
        self.post_message(SubjectChosen(rows[self.chosen].group if rows else None))

    def follow(self) -> None:
        """Go to the longest call of the chosen group."""
        analysis = None if self.document is None else self.document.analysis
        if analysis is None or not self.rows:
            return
        row = summary.longest_call(analysis, self.rows[self.chosen].group, self._span, self._mask)
        if row >= 0:
            trace = analysis.trace
            start, end = int(trace.start_ns[row]), int(trace.end_ns[row])
            self.post_message(StretchChosen(start, end, row))

    def render_line(self, y: int) -> Strip:
        """The heading, then the groups in sight."""
        palette, width = self.palette, self.size.width
        columns = self._columns()
        name = max(width - sum(c.cells for c in columns) - _OWNER, 4)
        if y == 0:
            sort = COLUMNS[self._sort].title
            marks = [c.title + ("▾" if c.title == sort else "") for c in columns]
            text = "".join(f"{mark:>{c.cells}}" for mark, c in zip(marks, columns, strict=True))
            # Without a grouping nothing is imported for its name: this may be the first picture.
            title = "kernel" if self._grouping is None else self._grouping.value
            heading = shortened(title, name)
            return strip_of([(f"{heading}{text} by", palette.dim)], width, palette.text)
        rows, index = self.rows, self.top + y - 1
        if index >= len(rows):
            empty = self._nothing() if y == 1 and not rows else ""
            return strip_of([(empty, palette.dim)], width, palette.text)
        row = rows[index]
        style = palette.text
        if index == self.chosen:
            style = palette.chosen if self.has_focus else palette.marked
        figures = "".join(f"{c.text(row):>{c.cells}}" for c in columns)
        dim = palette.dim if style is palette.text else style
        differs = self._difference(index, name)
        pieces: list[Piece] = [
            (self._named(index, name, name - cell_len(differs)), style),
            (differs, dim),
            (figures + " ", style),
            self._owner(row.group),
        ]
        return strip_of(pieces, width, style)

    def on_click(self, event: events.Click) -> None:
        """Choose a row; a second click goes to its longest call; a heading sorts."""
        x, y = self.content_place(event)
        if y == 0:
            self._sort_at(x)
        if y <= 0:
            return
        self.choose(self.top + y - 1)
        if event.chain == 2:
            self.follow()

    def _owner(self, group: KernelGroup) -> Piece:
        """Whose the loss is; what nothing is known of has another mark than what nobody owns."""
        layer: Layer = group.layer
        if layer.text.letter == "?" and not group.lost_ns:
            return UNKNOWN, self.palette.dim
        if group.roof_fraction and layer.text.letter == "·" and not group.lost_ns:
            return ROOF_MARK, self.palette.dim
        return layer.text.letter, self.palette.layer(layer, strong=group.lost_ns > 0)

    def _difference(self, index: int, room: int) -> str:
        """What tells a row from others that look alike, with a space before it; or nothing."""
        text = self._told(room)[0].get(index, "")
        return shortened(f" {text}", cell_len(text) + 1) if text else ""

    def _told(self, room: int) -> tuple[dict[int, str], list[str]]:
        """What tells rows of one name apart, and the names that leave room for it."""
        rows, known = self.rows, self._apart
        if known is not None and known[0] is rows and known[1] == room:
            return known[2], known[3]
        names = [clean(row.group.short_name) for row in rows]
        if self.grouping is kernel_grouping.Grouping.MODULE:
            # Of a module's path its end says most.
            names = [name[::-1] for name in names]
        found: dict[int, str] = {}
        rooms = dict.fromkeys(names, room)
        whole = labels_apart.labels_apart(rooms)
        if self.grouping is kernel_grouping.Grouping.SHAPE:
            found, beside = _differences_beside(rows, names, room)
            labels = labels_apart.labels_apart({**rooms, **beside})
            # A name that only a number would tell apart there does without what differs.
            crowded = labels.numbered - whole.numbered
            found = {index: text for index, text in found.items() if names[index] not in crowded}
            kept = {name: cells for name, cells in beside.items() if name not in crowded}
            whole = labels_apart.labels_apart({**rooms, **kept}) if crowded else labels
        texts = [whole.of[name] for name in names]
        if self.grouping is kernel_grouping.Grouping.MODULE:
            texts = [text[::-1] for text in texts]
        self._apart = (rows, room, found, texts)
        return found, texts

    def _named(self, index: int, room: int, left: int) -> str:
        """What a row is about, in the cells that are left."""
        return shortened(self._told(room)[1][index], left)

    @property
    def _mask(self) -> NDArray[np.bool_] | None:
        """What the filter lets through, by row of the trace."""
        chosen = None if self.document is None else self.document.filter
        return None if chosen is None else chosen.mask

    @property
    def _span(self) -> tuple[int, int] | None:
        return None if self.view is None else self.view.selection

    def _columns(self) -> list[Column]:
        """The columns that there is room for; the one that rows are sorted by is among them."""
        sort = COLUMNS[self._sort]
        columns = [self._wide(c) for c in COLUMNS if c.title not in _MORE or c is sort]
        room = self.size.width - _OWNER - sum(c.cells for c in columns)
        for title in _DISPENSABLE:
            if room >= _LEAST_NAME:
                break
            gone = [c for c in columns if c.title == title and title != sort.title]
            columns = [c for c in columns if c not in gone]
            room += sum(c.cells for c in gone)
        for more in (c for c in COLUMNS if c.title in _MORE and c is not sort):
            room -= more.cells
            if room < _AMPLE_NAME:
                break
            columns.append(more)
        order = [column.title for column in COLUMNS]
        return sorted(columns, key=lambda column: order.index(column.title))

    def _wide(self, column: Column) -> Column:
        """A column with a blank before its heading and before its longest figure."""
        is_sort = column.title == COLUMNS[self._sort].title
        cells = max(column.cells, len(column.title) + is_sort + 1)
        if column.title == "calls":
            cells = max(cells, len(str(max((row.calls for row in self.rows), default=0))) + 1)
        return replace(column, cells=cells)

    def _sort_at(self, x: int) -> None:
        place = self.size.width - _OWNER
        for column in reversed(self._columns()):
            place -= column.cells
            if place <= x < place + column.cells:
                titles = [one.title for one in COLUMNS]
                self.post_message(HeadingClicked(titles.index(column.title)))

    def _nothing(self) -> str:
        analysis = None if self.document is None else self.document.analysis
        if analysis is None:
            return self.waiting
        if self._mask is not None:
            return "the filter lets no kernel through: x shows all"
        return (
            "no kernels here"
            if analysis.kernels or self._span is not None
            else "no kernels in this recording"
        )


def _differences_beside(
    rows: Sequence[Ranked], names: Sequence[str], room: int
) -> tuple[dict[int, str], dict[str, int]]:
    """What differs between rows of one name, by row, and the cells that leaves to the name.

    A name has its room first; what differs has the rest, and nothing where that is too little.
    """
    told = alike.differences([row.group for row in rows], lambda g: clean(g.short_name))
    by_name: dict[str, list[int]] = {}
    for index in told:
        by_name.setdefault(names[index], []).append(index)
    found: dict[int, str] = {}
    beside: dict[str, int] = {}
    for name, places in by_name.items():
        if max(cell_len(told[index]) for index in places) > room - _KEPT_NAME - 1:
            told.update(zip(places, alike.without_common([told[i] for i in places]), strict=True))
        longest = max(cell_len(told[index]) for index in places)
        kept = max(min(cell_len(name), _KEPT_NAME), room - 1 - longest)
        most = room - kept - 1
        if most < min(longest, _LEAST_DIFFERENCE):
            continue
        texts = labels_apart.told_apart([told[index] for index in places], [most] * len(places))
        found.update(zip(places, texts, strict=True))
        beside[name] = kept
    return found, beside

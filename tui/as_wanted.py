"""The screen as a command line asks for it, and the command line that asks for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from textual import on

from whichlayer.analysis.text import clean
from whichlayer.tui.deferred import Deferred
from whichlayer.tui.looking import Looking
from whichlayer.tui.messages import TimelineResized
from whichlayer.tui.slots import ColourBy
from whichlayer.tui.undo import Part
from whichlayer.tui.view_options import HEAT_ROWS, SORTS

# What the first picture does without comes with the panes: it brings NumPy.
if TYPE_CHECKING:
    from whichlayer.tui import kernel_grouping, launch_lanes, travel, view_command
    from whichlayer.tui.document import Document
    from whichlayer.tui.view import View
    from whichlayer.tui.wanted import Wanted
    from whichlayer.tui.widgets.timeline import Timeline
else:
    kernel_grouping = Deferred("whichlayer.tui.kernel_grouping")
    launch_lanes = Deferred("whichlayer.tui.launch_lanes")
    travel = Deferred("whichlayer.tui.travel")
    view_command = Deferred("whichlayer.tui.view_command")


class AsWanted(Looking):
    """The screen, opened as it is asked for.

    What is asked for is applied once the trace is analysed, and until the user moves again where
    rows come to lie otherwise: once the screen is laid out, and once the filter has its answer.
    """

    def __init__(self, wanted: Wanted | None = None, **settings: Any) -> None:
        """Take the view that is asked for once the trace is analysed."""
        super().__init__(**settings)
        self._wanted = wanted or None
        self._placing: Wanted | None = None
        if wanted:
            # Who asks for a stretch asks for the whole view, as whoever copied it saw it.
            self._state_read = wanted.view is not None
            self._queue_shown = wanted.queue

    def wanted_now(self) -> Wanted:
        """What asks for the screen of now.

        Raises:
            RuntimeError: there is no view yet.
        """
        from whichlayer.tui.wanted import Wanted

        if self.document is None or self.look is None:
            raise RuntimeError("no view")
        table, colours = self.part_now(Part.TABLE), self.part_now(Part.COLOURS)
        heat = self.part_now(Part.HEAT).kind
        rest = Wanted(
            filter=self.part_now(Part.FILTER),
            find=self.part_now(Part.SEARCH),
            colour_by="" if colours is ColourBy.FAMILY else colours.name.lower(),
            queue=self.part_now(Part.QUEUE).shown,
            group_by="" if table.grouping is None else table.grouping.name.lower(),
            sort=SORTS[table.sort] if table.sort else "",
            # A window is copied as the one file that it is: there are no other ranks in it.
            heat_rows="" if HEAT_ROWS[heat] in ("steps", "ranks") else HEAT_ROWS[heat],
            only=self.part_now(Part.FULL),
        )
        wanted = view_command.wanted_view(self.document, self.look, rest)
        timeline = self._lanes_pane
        usual = timeline.top_for(self.look.row, 0)
        return wanted if timeline.top == usual else replace(wanted, top=timeline.top)

    def look_at(self, view: View, noted: bool = True, run: str = "") -> None:
        """Who moves wants nothing else any more."""
        self._placing = None
        super().look_at(view, noted, run)

    def first_view(self, document: Document, view: View) -> View:
        """What an analysed trace opens with, as far as it is asked for."""
        view = travel.first_look(document, view)
        if self._wanted is None:
            if (crowd := document.crowd) is not None:
                self.say(crowd.told)
            return view
        self._placing, self._wanted = self._wanted, None
        self._touched = True
        self.call_after_refresh(self._open_rest, self._placing)
        return self.placed(document, view)

    def placed(self, document: Document, view: View) -> View:
        """A view that nobody has moved in once more as it was asked for, in the room of now."""
        if self._placing is None:
            return view
        height = self._lanes_pane.size.height
        return view_command.opened_at(document, replace(view, lines=height), self._placing)

    def scroll_as_wanted(self) -> None:
        """The lines that were asked for at the top of the timeline."""
        if self._placing is not None and self.look is not None:
            self._lanes_pane.scroll_rows_to(self._placing.top or 0, self.look.row)

    @property
    def _lanes_pane(self) -> Timeline:
        from whichlayer.tui.widgets.timeline import Timeline

        return self.screen_stack[0].query_one(Timeline)

    @on(TimelineResized)
    def _placed_again(self) -> None:
        if self._placing is not None and self.document is not None and self.look is not None:
            self._show(self.placed(self.document, self.look))
            self.scroll_as_wanted()

    def _open_rest(self, wanted: Wanted) -> None:
        """What is asked for besides the view; what cannot be had is told."""
        document = self.document
        if document is None:
            return
        absent = view_command.missing(document, wanted)
        if wanted.queue and not launch_lanes.shows_launches(document):
            self._queue_shown = False
            absent.append("no launch of GPU work is recorded")
        for part, value in self._rest_of(wanted):
            self.put_part(part, self.part_now(part), value)
        self._placed_again()
        if self.look is not None:
            self.opened_with_lanes(self.look)
        if absent:
            self.say(clean("not as asked for: " + " · ".join(absent)))

    def _rest_of(self, wanted: Wanted) -> Iterator[tuple[Part, Any]]:
        if wanted.colour_by:
            yield Part.COLOURS, ColourBy[wanted.colour_by.upper()]
        if wanted.sort or wanted.group_by:
            look = self.part_now(Part.TABLE)
            yield (
                Part.TABLE,
                replace(
                    look,
                    sort=SORTS.index(wanted.sort) if wanted.sort else look.sort,
                    grouping=kernel_grouping.Grouping[wanted.group_by.upper()]
                    if wanted.group_by
                    else look.grouping,
                ),
            )
        if wanted.heat_rows:
            heat = self.part_now(Part.HEAT)
            yield Part.HEAT, replace(heat, kind=HEAT_ROWS.index(wanted.heat_rows))
        if wanted.only:
            yield Part.FULL, wanted.only
        if wanted.find:
            yield Part.SEARCH, wanted.find
        if wanted.filter:
            yield Part.FILTER, wanted.filter

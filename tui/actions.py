"""What the keys do: one action per entry of the key table.

Movement keys act on the part that has the focus: the timeline, or a panel's list.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.app import SystemCommand
from textual.screen import Screen

from whichlayer.tui.chain_actions import ChainActions
from whichlayer.tui.deferred import Deferred
from whichlayer.tui.find_actions import FindActions
from whichlayer.tui.history import History
from whichlayer.tui.keys import current_keys
from whichlayer.tui.lane_actions import LaneActions
from whichlayer.tui.layout import PANELS
from whichlayer.tui.paint_actions import PaintActions
from whichlayer.tui.panel_actions import PanelActions
from whichlayer.tui.place_actions import PlaceActions
from whichlayer.tui.repaint import Shown
from whichlayer.tui.sheet_actions import SheetActions
from whichlayer.tui.span_actions import SpanActions
from whichlayer.tui.table_actions import TableActions
from whichlayer.tui.undo import OF_VIEW
from whichlayer.tui.widgets.footer import Footer
from whichlayer.tui.widgets.pane import Pane
from whichlayer.tui.widgets.panel import Panel

# Nothing here is needed for the first picture, which would wait for NumPy otherwise.
if TYPE_CHECKING:
    from whichlayer.tui import following, travel
    from whichlayer.tui.document import Document
    from whichlayer.tui.view import View
else:
    following = Deferred("whichlayer.tui.following")
    travel = Deferred("whichlayer.tui.travel")

#: Exit status of a program that Ctrl-C has ended: 128 and the number of the signal.
INTERRUPTED = 130


class KeyActions(
    FindActions,
    SpanActions,
    PlaceActions,
    PaintActions,
    ChainActions,
    SheetActions,
    LaneActions,
    PanelActions,
    TableActions,
):
    """The actions of the application; what they change goes through :meth:`look_at`."""

    #: Windows come while one looks: there are keys for that.
    LIVE = False

    document: Document | None
    look: View | None
    history: History
    shown: Shown
    gap_rank: int | None
    """Place by size of the gap that was jumped to, until anything else moves the view."""

    def bring_to_front(self, name: str) -> None:
        """Show a panel that shares its place with others."""
        raise NotImplementedError

    def follow_growth(self) -> None:
        """Show everything as it comes, if everything is what is shown now."""
        raise NotImplementedError

    def stop_reading(self) -> bool:
        """Keep what was read so far without the rest; False where nothing is being read."""
        raise NotImplementedError

    @property
    def panes(self) -> list[Pane]:
        """All parts of the screen from top to bottom."""
        return list(self.screen_stack[0].query(Pane))

    def say(self, text: str) -> None:
        """A word to the user, in place of the keys, until the next act."""
        self.screen_stack[0].query_one(Footer).say(text)

    def _panel(self) -> Panel | None:
        focused = self.focused
        return focused if isinstance(focused, Panel) else None

    def _go(self, view: View | None, otherwise: str, noted: bool = True) -> None:
        """Show a view, or say why there is none."""
        if view is None:
            self.say(otherwise)
        else:
            self.look_at(view, noted)

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """The commands of the palette: the key table, and the views."""
        for key in current_keys(self.LIVE):
            if key.id != "commands":
                run = partial(self.run_action, key.action)
                yield SystemCommand(f"{key.does[0].upper()}{key.does[1:]}", key.shown, run)
        from whichlayer.tui.sections import SECTIONS

        for one in SECTIONS:
            opened = partial(self.action_section, one.id)
            yield SystemCommand(f"View: {one.title}", one.asks, opened)

    def action_zoom(self, steps: int) -> None:
        """Zoom about the cursor."""
        if self.look is not None:
            self.look_at(self.look.zoomed(steps), run="zoom")

    def action_pan(self, share: float) -> None:
        """Pan by a share of the width."""
        if self.look is not None:
            self.look_at(self.look.panned(share * self.look.port.cells), run="pan")

    def action_fit(self) -> None:
        """Fit the window, then everything."""
        if self.look is not None and self.document is not None:
            self.look_at(travel.fit(self.document, self.look))
            self.follow_growth()

    def action_fit_thing(self) -> None:
        """Fit what is selected or under the cursor."""
        if self.look is not None and self.document is not None:
            rows = travel.rows_of(self.document, self.look)
            self._go(travel.fit_thing(self.document, rows, self.look), "nothing here to fit")

    def action_view_before(self) -> None:
        """The view before."""
        if self.look is not None:
            before = self.history.back(self.look)
            with self.one_act(*OF_VIEW):
                self._go(None if before is self.look else before, "no view before this one", False)

    def action_view_after(self) -> None:
        """The view that was undone."""
        if self.look is not None:
            after = self.history.forward(self.look)
            with self.one_act(*OF_VIEW):
                self._go(None if after is self.look else after, "no view after this one", False)

    def action_cursor(self, cells: int) -> None:
        """Move the cursor by columns, of the timeline or of a panel."""
        panel = self._panel()
        if panel is not None:
            panel.move(cells, 0)
        elif self.look is not None:
            self.look_at(self.look.cursor_moved(cells))

    def action_edge(self, side: int) -> None:
        """Go to the first or last instant, or line of a panel."""
        panel = self._panel()
        if panel is not None:
            panel.edge(side)
        elif self.look is not None:
            port = self.look.port
            self.look_at(self.look.at(port.low_ns if side < 0 else port.high_ns - 1))

    def action_row(self, rows: int) -> None:
        """Move the cursor by rows, of the timeline or of a panel."""
        panel = self._panel()
        if panel is not None:
            panel.move(0, rows)
        elif self.look is not None and self.document is not None:
            self.look_at(travel.down(self.document, self.look, rows))

    def action_page(self, pages: int) -> None:
        """Move by screenfuls of rows."""
        panel = self._panel()
        if panel is not None:
            panel.page(pages)
            return
        self.action_row(pages * max(self.query_one("#timeline").size.height - 1, 1))

    def action_gap(self, step: int) -> None:
        """The next gap in time."""
        if not self._knows_gaps() or self.look is None or self.document is None:
            return
        word = "later" if step > 0 else "earlier"
        view = travel.to_gap(self.document, self.look, step)
        if view is None:
            self.say(f"no {word} gap")
        elif cleared := self._look_at_gap(view):
            self.say(cleared)

    def action_gap_by_size(self, step: int) -> None:
        """The gap that costs most; pressed again, the one that costs next to it, or back."""
        if not self._knows_gaps() or self.look is None or self.document is None:
            return
        rank = 0 if self.gap_rank is None else self.gap_rank + step
        view = travel.to_gap_of_rank(self.document, self.look, rank)
        if view is None:
            none = self.gap_rank is None
            self.say("no gap" if none else f"no {'smaller' if step > 0 else 'larger'} gap")
            return
        cleared = self._look_at_gap(view)
        self.gap_rank = rank
        count = len(self.document.whole_gaps[view.device])
        place = f"gap {rank + 1} of {count} by time lost"
        self.say(f"{place} · {cleared}" if cleared else place)

    def _look_at_gap(self, view: View) -> str:
        """Go to a gap; outside the selection, which panels would speak of, without that: says so."""
        span = view.selection
        if span is None or span[0] <= view.cursor_ns < span[1]:
            self.look_at(view)
            return ""
        self.look_at(view.cleared())
        return "selection cleared: z brings it back"

    def _knows_gaps(self) -> bool:
        """Whether gaps were looked for at all; where not, the user is told why."""
        from whichlayer.tui.document import Extent

        if self.document is not None and self.document.analysis is not None:
            return True
        kept = self.document is not None and self.document.extent is Extent.KEPT_PART
        self.say("a part of a trace: no gaps" if kept else "gaps are not known yet")
        return False

    def action_slice(self, step: int) -> None:
        """The next slice of the row."""
        if self.look is not None and self.document is not None:
            rows = travel.rows_of(self.document, self.look)
            view = travel.to_slice(self.document, rows, self.look, step)
            self._go(view, f"no {'later' if step > 0 else 'earlier'} slice in this row")

    def action_step(self, step: int) -> None:
        """The next recorded step."""
        if self.look is not None and self.document is not None:
            view = travel.to_step(self.document, self.look, step)
            some = bool(self.document.host_steps)
            word = "later" if step > 0 else "earlier"
            self._go(view, f"no {word} step" if some else "this recording has no steps")

    def action_clear(self) -> None:
        """Nothing selected, the timeline in focus; where that is so, the end of reading."""
        timelines = self.query("#timeline")  # none before the panes are there
        clear = self.look is None or (self.look.selection, self.look.anchor_ns) == (None, None)
        if self.leave_full():
            return
        if self.stop_search():
            self.say("search stopped")
            return
        if clear and all(one.has_focus for one in timelines):
            if self.stop_reading():
                return
            self.clear_search()
        if self.look is not None and not clear:
            self.look_at(self.look.cleared())
        self.say("")
        timelines.focus()

    def action_fold(self) -> None:
        """Show more or less of the lane of the cursor."""
        if self.look is not None and self.document is not None:
            rows = travel.rows_of(self.document, self.look)
            if self.look.row < len(rows):
                lane = rows[self.look.row].lane
                self.look_at(travel.refolded(self.document, self.look, lane))

    def action_follow(self) -> None:
        """Go to what a panel has chosen, or along a launch."""
        panel = self._panel()
        if panel is not None:
            panel.follow()
        elif self.look is not None and self.document is not None:
            rows = travel.rows_of(self.document, self.look)
            here = travel.slice_at(self.document, rows, self.look)
            chain = self.chain_of_slice(here)
            view = following.follow_link(
                self.document, rows, self.look, -1 if chain is None else chain.foot
            )
            self.came_from(here)
            self._go(view, "nothing to follow here")

    @property
    def panel_order(self) -> tuple[str, ...]:
        """The panels in the order in which they are gone through."""
        return PANELS

    def action_panel(self, step: int) -> None:
        """The next panel."""
        stops = ("timeline", *self.panel_order)
        focused = self.focused
        here = focused.id if focused is not None else None
        place = stops.index(here) if here in stops else 0
        self.bring_to_front(stops[(place + step) % len(stops)])

    def action_read(self) -> None:
        """The next screenful of the region pane, which comes to the front."""
        from whichlayer.tui.widgets.region import RegionPane

        pane = self.query_one(RegionPane)
        if pane.display:
            pane.read_on()
        else:
            self.bring_to_front("region")

    def action_redraw(self) -> None:
        """Write the whole screen: another program may have written over it."""
        self.shown.forget()
        self.refresh(layout=True)

    def action_interrupt(self) -> None:
        """Leave as a signal would have made us."""
        self.exit(INTERRUPTED, return_code=INTERRUPTED)

    def action_quality(self) -> None:
        """The quality sheet: what is missing or odd in the recording."""
        from whichlayer.tui.document import warnings_of
        from whichlayer.tui.widgets.quality_screen import QualityScreen

        self.push_screen(QualityScreen(self.panes[0].palette, warnings_of(self.document)))

    def action_help(self) -> None:
        """The help sheet."""
        from whichlayer.tui.widgets.help_screen import HelpScreen

        panes = [pane for pane in self.panes if pane.HELP]
        here = next((pane for pane in panes if pane is self.focused), None)
        self.push_screen(HelpScreen(panes[0].palette, panes, self.LIVE, here))

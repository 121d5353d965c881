"""Lanes: hide, show again, pin, move, and how many rows each has; wall-clock time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from whichlayer.tui.deferred import Deferred
from whichlayer.tui.lane_order import USUAL, LaneOrder
from whichlayer.tui.messages import DocumentOpened
from whichlayer.tui.undo import Part
from whichlayer.tui.undoing import Undoing

# There are no lanes before the first picture.
if TYPE_CHECKING:
    from pathlib import Path

    from whichlayer.analysis.options import Options
    from whichlayer.tui import carry, dealt_rows, go_to, launch_lanes, travel, view_state
    from whichlayer.tui.document import Document
    from whichlayer.tui.lanes import Fold
    from whichlayer.tui.view import View
else:
    carry = Deferred("whichlayer.tui.carry")
    dealt_rows = Deferred("whichlayer.tui.dealt_rows")
    go_to = Deferred("whichlayer.tui.go_to")
    launch_lanes = Deferred("whichlayer.tui.launch_lanes")
    travel = Deferred("whichlayer.tui.travel")
    view_state = Deferred("whichlayer.tui.view_state")


@dataclass(frozen=True, slots=True)
class QueueShown:
    """Whether lanes of launches are there, and how lanes were when they were."""

    shown: bool
    lanes: Any = field(default=None, compare=False)


class LaneActions(Undoing):
    """``X D ^ 8 9 0 shift+up shift+down W Q``, and the menu of a lane's label."""

    def __init__(self, **settings: Any) -> None:
        """Nothing was kept or read yet."""
        super().__init__(**settings)
        self._state_read = False
        self._queue_shown = False
        self._kept: tuple[LaneOrder, dict[int, Fold], bool] = (USUAL, {}, False)

    @property
    def opened_with(self) -> tuple[str, Options]:
        """The file and the options that were asked for on the command line."""
        raise NotImplementedError

    def action_hide_lane(self) -> None:
        """Hide the lane of the cursor."""
        here = self._here()
        if here is None:
            return
        document, view, lane = here
        if len(view.order.listed(len(document.lanes))) < 2:
            self.say("the last lane stays")
            return
        self._arrange_lanes(view.order.hiding(lane))
        title = document.lanes[lane].title.strip()
        self.say(f"{title} is hidden: D shows hidden lanes, u undoes")

    def action_show_lanes(self) -> None:
        """The hidden lanes as a list; enter shows one again."""
        document, view = self.document, self.look
        hidden = sorted(view.order.hidden) if view is not None else []
        if document is None or view is None or not hidden:
            self.say("no lane is hidden")
            return
        from whichlayer.tui.widgets.list_sheet import Listed, ListSheet

        names = [(document.lanes[lane].title.strip(),) for lane in hidden]
        listed = Listed("hidden lanes", ("lane",), [("all of them",), *names], "",
                        "enter shows it again · esc closes")  # fmt: skip

        def chosen(row: int | None) -> None:
            if row is not None and self.look is not None:
                mine = hidden if row == 0 else [hidden[row - 1]]
                self._arrange_lanes(self.look.order.showing(*mine))

        sheet = ListSheet(self.panes[0].palette, listed)
        self.push_screen(sheet.opened_by("show-lanes"), chosen)

    def action_pin_lane(self) -> None:
        """Pin the lane of the cursor to the top, or let it go."""
        here = self._here()
        if here is not None:
            _, view, lane = here
            self._arrange_lanes(view.order.pinning(lane))

    def action_move_lane(self, step: int) -> None:
        """Move the lane of the cursor past its neighbour."""
        here = self._here()
        if here is None:
            return
        document, view, lane = here
        order = view.order.moving(lane, step, len(document.lanes))
        if order == view.order:
            self.say(f"it is the {'last' if step > 0 else 'first'} lane")
        else:
            self._arrange_lanes(order)

    def action_lane_rows(self, step: int) -> None:
        """One row more or less of the lane of the cursor; 0: as many as there is room for."""
        here = self._here()
        if here is None:
            return
        document, view, lane = here
        if step == 0:
            self._arrange_lanes(view.order.sized(lane, 0))
            return
        shown = sum(1 for row in travel.rows_of(document, view) if row.lane == lane)
        # More lines than there are rows make rows higher.
        wanted = min(max(shown + step, 1), document.lanes[lane].depth * dealt_rows.MOST_LINES)
        if wanted == shown:
            self.say("the lane can be no higher" if step > 0 else "the last row stays")
        else:
            self._arrange_lanes(view.order.sized(lane, wanted))

    def action_clock(self) -> None:
        """Times since the recording began, or on the wall clock."""
        if self.document is None or self.look is None:
            return
        if go_to.wall_clock_ns(self.document.trace) is None:
            self.say("the recording does not tell its wall clock (baseTimeNanoseconds)")
            return
        view = replace(self.look, clock=not self.look.clock)
        self.look_at(view)
        at = go_to.wall_clock_text(self.document.trace, view.cursor_ns)
        self.say(f"wall clock: the cursor is at {at}" if view.clock else "time since the start")

    def action_queue(self) -> None:
        """Show or hide how many launches are queued on each device, and how late they run."""
        document = self.document
        if document is None or document.analysis is None:
            self.say("launches are not known yet")
            return
        with self.one_act(Part.QUEUE):
            if not self._show_queue(document, not self._queue_shown):
                self.say("no launch of GPU work is recorded")

    def with_queue(self, document: Document) -> Document:
        """A new document as it is to be shown: with lanes of launches, where they are asked for."""
        analysis = document.analysis
        if not self._queue_shown or analysis is None or launch_lanes.shows_launches(document):
            return document
        return launch_lanes.with_launches(document, analysis)

    def _show_queue(self, document: Document, shows: bool) -> bool:
        """Show lanes of launches or none; False where there are none to show."""
        if not shows:
            shown = launch_lanes.without_launches(document)
        elif document.analysis is not None:
            shown = launch_lanes.with_launches(document, document.analysis)
        else:
            return False
        if shown is document:
            return False
        self._queue_shown = shows
        self.post_message(DocumentOpened(shown))
        return True

    def part_now(self, part: Part) -> Any:
        """Whether launches have lanes."""
        if part is not Part.QUEUE:
            return super().part_now(part)
        return QueueShown(self._queue_shown, super().part_now(Part.LANES))

    def put_part(self, part: Part, before: Any, after: Any) -> str:
        """Show lanes of launches or none, arranged as they were."""
        if part is not Part.QUEUE:
            return super().put_part(part, before, after)
        document = self.document
        if document is None or not self._show_queue(document, after.shown):
            return "no launch of GPU work is recorded here"
        self.call_later(self.put_lanes, after.lanes)
        return ""

    def open_lane_menu(self, lane: int) -> None:
        """What can be done with a lane, as a list: for the mouse."""
        document, view = self.document, self.look
        if document is None or view is None or lane >= len(document.lanes):
            return
        from whichlayer.tui.widgets.list_sheet import Listed, ListSheet

        pinned = lane in view.order.pinned
        acts: list[tuple[str, str, Callable[[], None]]] = [
            ("hide it", "X", self.action_hide_lane),
            ("unpin it" if pinned else "pin it to the top", "^", self.action_pin_lane),
            ("move it up", "⇧↑", partial(self.action_move_lane, -1)),
            ("move it down", "⇧↓", partial(self.action_move_lane, 1)),
            ("one row more", "9", partial(self.action_lane_rows, 1)),
            ("one row less", "8", partial(self.action_lane_rows, -1)),
            ("as many rows as there is room for", "0", partial(self.action_lane_rows, 0)),
            ("show hidden lanes", "D", self.action_show_lanes),
        ]
        title = document.lanes[lane].title.strip()
        listed = Listed(f"lane {title}", ("what", "key"), [(word, key) for word, key, _ in acts],
                        "", "enter does it · esc closes")  # fmt: skip

        def chosen(row: int | None) -> None:
            if row is not None and self.document is not None and self.look is not None:
                self.look_at(travel.on_lane(self.document, self.look, lane), False)
                acts[row][2]()

        self.push_screen(ListSheet(self.panes[0].palette, listed), chosen)

    def as_left(self, document: Document, view: View) -> View:
        """The view with the lanes as they were left, the first time there is an analysis."""
        if self._state_read or document.analysis is None:
            return view
        self._state_read = True
        state = view_state.read_state(self._state_path, carry.lane_keys(document.lanes))
        if state is None:
            return view
        folds = {**(state.folds or {}), **view.folds}
        clock = state.clock and go_to.wall_clock_ns(document.trace) is not None
        view = replace(view, order=state.order, folds=folds, clock=clock)
        self._kept = (view.order, dict(view.folds), view.clock)
        return travel.on_row(document, view, view.row)

    @property
    def _state_path(self) -> Path | None:
        return view_state.state_path(self.opened_with[0])

    def _here(self) -> tuple[Document, View, int] | None:
        document, view = self.document, self.look
        if document is None or view is None:
            return None
        rows = travel.rows_of(document, view)
        if view.row >= len(rows):
            return None
        return document, view, rows[view.row].lane

    def _arrange_lanes(self, order: LaneOrder) -> None:
        document, view = self.document, self.look
        if document is None or view is None:
            return
        view = travel.arranged(document, view, order)
        self.look_at(view)

    def opened_with_lanes(self, view: View) -> None:
        """What was opened so is not kept before it is changed."""
        self._kept = (view.order, dict(view.folds), view.clock)

    def keep_changed(self, view: View) -> None:
        """Keep lanes, folds and clock of a view if they are not those that were kept last."""
        now = (view.order, dict(view.folds), view.clock)
        if now == self._kept or self.document is None or self.document.analysis is None:
            return
        self._kept = now
        keys = carry.lane_keys(self.document.lanes)
        state = view_state.ViewState(view.order, view.folds, view.clock)
        try:
            view_state.write_state(self._state_path, keys, state)
        except OSError as error:
            self.say(f"kept only until you leave: {error.strerror or error}")

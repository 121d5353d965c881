"""Taking acts back and doing them again, whatever they changed.

Each module of actions answers for its own parts: ``part_now`` and ``put_part`` are overridden
one after the other, and pass on what is not theirs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from whichlayer.tui.acting import Acting
from whichlayer.tui.deferred import Deferred
from whichlayer.tui.undo import OF_VIEW, Act, Acts, Change, Part, act_of

# Nothing was done before the first picture.
if TYPE_CHECKING:
    from whichlayer.tui import undo_words, view_parts
else:
    undo_words = Deferred("whichlayer.tui.undo_words")
    view_parts = Deferred("whichlayer.tui.view_parts")


class Undoing(Acting):
    """``u U``."""

    def __init__(self, **settings: Any) -> None:
        """Nothing was done."""
        super().__init__(**settings)
        self.acts = Acts()
        self._before: dict[Part, Any] | None = None
        self._lane_keys: view_parts.LaneKeys | None = None

    def part_now(self, part: Part) -> Any:
        """The value of a part of the screen; equal ones look alike."""
        if part not in OF_VIEW or self.document is None or self.look is None:
            return None
        return view_parts.value_of(part, self.document, self.look, self._keys)

    def put_part(self, part: Part, before: Any, after: Any) -> str:
        """Give a part another value; why that cannot be done, or nothing."""
        return ""

    def show_again(self) -> None:
        """Show the same view anew: something else is known of it."""
        raise NotImplementedError

    @contextmanager
    def one_act(self, *parts: Part, run: str = "") -> Iterator[None]:
        """Whatever changes these parts meanwhile is one act that can be taken back.

        Acts within an act are a part of it.

        Args:
            parts: what may change.
            run: acts of one run that follow on one another are taken back at once.
        """
        outer = self._before
        before: dict[Part, Any] = {} if outer is None else outer
        self._before = before
        for part in parts:
            if part not in before:
                before[part] = self.part_now(part)
        try:
            yield
        finally:
            self._before = outer
            if outer is None:
                self._note(before, run)

    def note_change(self, part: Part, before: Any, after: Any) -> None:
        """Remember an act whose values are known."""
        act = act_of([self._change(part, before, after, "")])
        if act is not None:
            self.acts.note(act)

    def action_undo(self) -> None:
        """Take the last act back."""
        act = self.acts.next_back()
        if act is None:
            self.say("nothing to undo")
        elif wrong := self._put(act.taken_back()):
            self.say(f"not undone: {wrong}")
        else:
            self.acts.step_back()
            self.say(f"undone: {act.word} · {self.redo_key} does it again")

    def action_redo(self) -> None:
        """Do again what was taken back last."""
        act = self.acts.next_forward()
        if act is None:
            self.say("nothing to do again")
        elif wrong := self._put(act):
            self.say(f"not done: {wrong}")
        else:
            self.acts.step_forward()
            self.say(f"done again: {act.word}")

    @property
    def redo_key(self) -> str:
        """The key that does it again, as people read it."""
        from whichlayer.tui.keys import current_keys

        return next((key.shown.split()[0] for key in current_keys() if key.id == "redo"), "redo")

    def leave_recording(self) -> None:
        """Another recording is on the screen."""
        self.acts.leave_recording()
        self._lane_keys = None

    def _put(self, act: Act) -> str:
        """Give every part that an act changed the value after it; why not, or nothing."""
        outer, self._before = self._before, {}  # what this changes is no act of its own
        try:
            for change in act.changes:
                if change.part not in OF_VIEW:
                    wrong = self.put_part(change.part, change.before, change.after)
                    if wrong:
                        return wrong
            self._put_view([change for change in act.changes if change.part in OF_VIEW])
        finally:
            self._before = outer
        return ""

    def _put_view(self, changes: list[Change]) -> None:
        document, view = self.document, self.look
        if document is None or view is None or not changes:
            return
        order = list(reversed(OF_VIEW))  # lanes before what lies on them
        for change in sorted(changes, key=lambda one: order.index(one.part)):
            view = view_parts.with_value(change.part, document, view, self._keys, change.after)
        self.look_at(view)

    def put_lanes(self, lanes: Any) -> None:
        """Arrange the lanes of now as those of before were; no act of its own."""
        document, view = self.document, self.look
        if document is not None and view is not None and lanes is not None:
            self.look = view_parts.with_value(Part.LANES, document, view, self._keys, lanes)
            self.show_again()

    def _note(self, before: dict[Part, Any], run: str) -> None:
        now = {part: self.part_now(part) for part in before}
        changes = [
            self._change(part, then, now[part], run)
            for part, then in before.items()
            if then is not None and now[part] != then
        ]
        was, place = before.get(Part.PLACE), now.get(Part.PLACE)
        along = None
        if was is not None and place is not None and was.cursor != place.cursor:
            along = Change(Part.PLACE, was, place)
        act = act_of(changes, run, along)
        if act is not None:
            self.acts.note(act)

    def _change(self, part: Part, before: Any, after: Any, run: str) -> Change:
        return Change(
            part, before, after, undo_words.word_of(part, before, after, self._title, run)
        )

    def _title(self, lane: int) -> str:
        lanes = () if self.document is None else self.document.lanes
        return lanes[lane].title.strip() if lane < len(lanes) else "lane"

    @property
    def _keys(self) -> view_parts.Keys:
        if self._lane_keys is None:
            self._lane_keys = view_parts.LaneKeys()
        return self._lane_keys.of(() if self.document is None else self.document.lanes)

"""Going to a typed place, bookmarks, and the view as a command line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from whichlayer.tui.deferred import Deferred
from whichlayer.tui.prompting import Prompting
from whichlayer.tui.widgets.prompt import Asked

# Nobody goes anywhere before the first picture.
if TYPE_CHECKING:
    from whichlayer.analysis.options import Options
    from whichlayer.tui import bookmark_list, go_to, notes_file, travel, view_command
    from whichlayer.tui.notes_file import Bookmark, NotesFile
else:
    bookmark_list = Deferred("whichlayer.tui.bookmark_list")
    go_to = Deferred("whichlayer.tui.go_to")
    notes_file = Deferred("whichlayer.tui.notes_file")
    travel = Deferred("whichlayer.tui.travel")
    view_command = Deferred("whichlayer.tui.view_command")

GO_TO = Asked(
    "place", "go to ", "12.5ms (plain: µs) · +100us -1ms · step 3 · 50% · start end"
)  # fmt: skip
NAME = Asked("bookmark", "bookmark ", "a name for this place, then enter")

#: Share of the width that a step takes when it is gone to.
_STEP_SHARE = 0.94


class PlaceActions(Prompting):
    """``g M ' y``."""

    def __init__(self, **settings: Any) -> None:
        """No notes are read before someone asks."""
        super().__init__(**settings)
        self._notes: NotesFile | None = None

    @property
    def opened_with(self) -> tuple[str, Options]:
        """The file and the options that were asked for on the command line."""
        raise NotImplementedError

    def show_bookmarks(self) -> None:
        """Mark those that were kept on the ruler, once there is anything to mark them on."""
        if self._notes is None:
            self._show_marks(self.notes.read())

    def _show_marks(self, marks: Sequence[Bookmark]) -> None:
        from whichlayer.tui.widgets.ruler import Ruler

        self.screen_stack[0].query_one(Ruler).mark_places(marks)

    @property
    def notes(self) -> NotesFile:
        """The notes on this trace."""
        if self._notes is None:
            self._notes = notes_file.NotesFile(self.opened_with[0])
        return self._notes

    # Keys

    async def action_go_to(self) -> None:
        """Ask where to go."""
        document, view = self.document, self.look
        if document is None or view is None:
            self.say("nothing to go to yet")
            return
        clock = go_to.wall_clock_text(document.trace, view.cursor_ns)
        hint = f"{GO_TO.hint} · {clock[11:19]} (UTC)" if clock else GO_TO.hint
        await self.open_prompt(replace(GO_TO, hint=hint))

    async def action_bookmark(self) -> None:
        """Ask for the name of this place."""
        document, view = self.document, self.look
        if document is None or view is None:
            self.say("nothing to mark yet")
            return
        here = travel.slice_at(document, travel.rows_of(document, view), view)
        await self.open_prompt(NAME, document.names.short(here) if here >= 0 else "")

    def action_bookmarks(self) -> None:
        """The bookmarks as a list: go to one, delete one."""
        document = self.document
        if document is None:
            self.say("nothing was read yet")
            return
        from whichlayer.tui.widgets.list_sheet import Listed, ListSheet

        notes = self.notes
        marks = notes.read()
        self._show_marks(marks)
        if notes.told:
            self.say(notes.told)

        def remove(row: int) -> Listed:
            try:
                notes.remove(marks[row])
            except OSError as error:
                self.say(f"the bookmark is still there: {error.strerror or error}")
            marks[:] = notes.read()
            self._show_marks(marks)
            return bookmark_list.bookmark_list(document, marks, notes.path)

        def chosen(row: int | None) -> None:
            if row is not None and self.look is not None and self.document is not None:
                self.look_at(bookmark_list.at_bookmark(self.document, self.look, marks[row]))
                self.say(f"bookmark {bookmark_list.name_of(marks[row])}")

        listed = bookmark_list.bookmark_list(document, marks, notes.path)
        sheet = ListSheet(self.panes[0].palette, listed, 0, remove)
        self.push_screen(sheet.opened_by("bookmarks"), chosen)

    def action_copy_view(self) -> None:
        """Copy a command line that opens exactly here."""
        document, view = self.document, self.look
        if document is None or view is None:
            self.say("nothing to copy yet")
            return
        path, options = self.opened_with
        if path == "-":
            self.say("what came through a pipe cannot be opened again")
            return
        text = view_command.command_line(path, options, document, view)
        self.copy_to_clipboard(text)
        self.say(f"copied: {text}")

    # The prompt

    def prompt_typed(self, purpose: str, text: str) -> None:
        """Say at once what is wrong with a place."""
        if purpose != "place" or self.prompt is None:
            super().prompt_typed(purpose, text)
            return
        said, wrong = self._preview_of(text) if text.strip() else ("", False)
        self.prompt.say(said, wrong)

    def prompt_entered(self, purpose: str, text: str, listed: bool) -> None:
        """Go there, or keep the bookmark."""
        if purpose == "place":
            if text.strip():
                self._go_to_text(text)
        elif purpose == "bookmark":
            if text.strip():
                self._keep(text.strip())
        else:
            super().prompt_entered(purpose, text, listed)

    def _place(self, text: str) -> int | tuple[int, int]:
        document, view = self.document, self.look
        assert document is not None
        assert view is not None
        limits = (view.port.low_ns, view.port.high_ns)
        return go_to.place_of(text, document.trace, document.host_steps, view.cursor_ns, limits)

    def _preview_of(self, text: str) -> tuple[str, bool]:
        document = self.document
        try:
            place = self._place(text)
        except go_to.WrongPlace as error:
            return str(error), True
        at = place if isinstance(place, int) else place[0]
        clock = "" if document is None else go_to.wall_clock_text(document.trace, at)
        return f"{go_to.exact_text(at)}{f' · {clock}' if clock else ''}", False

    def _go_to_text(self, text: str) -> None:
        view = self.look
        if view is None or self.document is None:
            return
        try:
            place = self._place(text)
        except go_to.WrongPlace as error:
            self.say(str(error))
            return
        if isinstance(place, int):
            self.look_at(view.at(place))
        else:
            port = view.port.around(place[0], place[1], _STEP_SHARE)
            self.look_at(replace(view, port=port).pointed(place[0], view.row))

    def _keep(self, name: str) -> None:
        document, view = self.document, self.look
        if document is None or view is None:
            return
        mark = bookmark_list.bookmark_here(document, view, name)
        try:
            self.notes.add(mark)
        except OSError as error:
            self.say(f"kept only until you leave: {error.strerror or error}")
            return
        finally:
            self._show_marks(self.notes.read())
        where = self.notes.path
        kept = "kept until you leave" if where is None else f"kept in {where.name}"
        self.say(self.notes.told or f"bookmark {bookmark_list.name_of(mark)} {kept}; ' lists")

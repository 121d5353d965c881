"""Going to a typed place, bookmarks, and the view as a command line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from whichlayer.tui.deferred import Deferred
from whichlayer.tui.prompting import Prompting
from whichlayer.tui.undo import Part
from whichlayer.tui.widgets.prompt import Asked

# Nobody goes anywhere before the first picture.
if TYPE_CHECKING:
    from whichlayer.analysis.options import Options
    from whichlayer.tui import bookmark_list, go_to, notes_file, ruler, travel, view_command
    from whichlayer.tui.notes_file import Bookmark, NotesFile
    from whichlayer.tui.wanted import Wanted
else:
    bookmark_list = Deferred("whichlayer.tui.bookmark_list")
    go_to = Deferred("whichlayer.tui.go_to")
    notes_file = Deferred("whichlayer.tui.notes_file")
    ruler = Deferred("whichlayer.tui.ruler")
    travel = Deferred("whichlayer.tui.travel")
    view_command = Deferred("whichlayer.tui.view_command")

GO_TO = Asked(
    "place", "go to ", "12.5 {unit} · +100us -1ms · 10ms:25ms · step 3 · 50% · start end"
)  # fmt: skip
RENAME = Asked("rename", "rename to ", "another name for this bookmark, then enter")
NAME = Asked("bookmark", "bookmark ", "a name for this place, then enter")

#: Share of the width that a step takes when it is gone to.
_STEP_SHARE = 0.94


@dataclass(frozen=True, slots=True)
class Kept:
    """A bookmark as an act holds it, with the file that it is in."""

    mark: Bookmark
    notes: NotesFile = field(compare=False, repr=False)

    @property
    def name(self) -> str:
        """What the user called it."""
        return self.mark.name


class PlaceActions(Prompting):
    """``g M ' y``."""

    def __init__(self, **settings: Any) -> None:
        """No notes are read before someone asks."""
        super().__init__(**settings)
        self._notes: NotesFile | None = None
        self._renamed: Bookmark | None = None

    @property
    def opened_with(self) -> tuple[str, Options]:
        """The file and the options that were asked for on the command line."""
        raise NotImplementedError

    def show_bookmarks(self) -> None:
        """Mark those that were kept on the ruler, once there is anything to mark them on."""
        if self._notes is None or self._notes.trace != self.opened_with[0]:
            self._show_marks(self.notes.read())

    def _show_marks(self, marks: Sequence[Bookmark]) -> None:
        from whichlayer.tui.widgets.ruler import Ruler

        self.screen_stack[0].query_one(Ruler).mark_places(marks)

    @property
    def notes(self) -> NotesFile:
        """The notes on this trace."""
        path = self.opened_with[0]  # of a live screen that of the window on it
        if self._notes is None or self._notes.trace != path:
            self._notes = notes_file.NotesFile(path)
        return self._notes

    def put_part(self, part: Part, before: Any, after: Any) -> str:
        """A bookmark gone, there again, or by its other name, in its file too."""
        if part is not Part.MARKS:
            return super().put_part(part, before, after)
        notes = (after or before).notes
        try:
            if after is None:
                notes.remove(before.mark)
            else:
                notes.add(after.mark)
        except OSError as error:
            return f"{error.strerror or error}"
        finally:
            self._show_marks(self.notes.read())
        return ""

    # Keys

    async def action_go_to(self) -> None:
        """Ask where to go."""
        document, view = self.document, self.look
        if document is None or view is None:
            self.say("nothing to go to yet")
            return
        clock = go_to.wall_clock_text(document.trace, view.cursor_ns)
        unit = next(name for scale, name in ruler.UNITS if scale == self._plain_ns)
        hint = GO_TO.hint.format(unit=unit) + (f" · {clock[11:19]} (UTC)" if clock else "")
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
            else:
                self.note_change(Part.MARKS, Kept(marks[row], notes), None)
                self.say(f"deleted: {bookmark_list.name_of(marks[row])} · u brings it back")
            marks[:] = notes.read()
            self._show_marks(marks)
            return bookmark_list.bookmark_list(document, marks, notes.path)

        def chosen(row: int | None) -> None:
            if row is not None and self.look is not None and self.document is not None:
                self.look_at(bookmark_list.at_bookmark(self.document, self.look, marks[row]))
                self.say(f"bookmark {bookmark_list.name_of(marks[row])}")

        listed = bookmark_list.bookmark_list(document, marks, notes.path)

        async def rename(row: int) -> None:
            self._renamed = marks[row]
            await self.open_prompt(RENAME, marks[row].name)

        sheet = ListSheet(self.panes[0].palette, listed, 0, remove)
        sheet.renaming = rename
        self.push_screen(sheet.opened_by("bookmarks"), chosen)

    def wanted_now(self) -> Wanted:
        """What asks for the screen of now."""
        raise NotImplementedError

    def action_copy_view(self) -> None:
        """Copy a command line that opens exactly here."""
        if self.document is None or self.look is None:
            self.say("nothing to copy yet")
            return
        path, options = self.opened_with
        if path == "-":
            self.say("what came through a pipe cannot be opened again")
            return
        text = view_command.command_line(path, options, self.wanted_now())
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
        elif purpose == "rename":
            if text.strip() and self._renamed is not None:
                self._rename_mark(self._renamed, text.strip())
        else:
            super().prompt_entered(purpose, text, listed)

    def _place(self, text: str) -> int | tuple[int, int]:
        document, view = self.document, self.look
        assert document is not None
        assert view is not None
        return go_to.place_of(
            text, document.trace, document.host_steps, view.cursor_ns,
            (view.port.low_ns, view.port.high_ns), self._plain_ns,
        )  # fmt: skip

    @property
    def _plain_ns(self) -> int:
        """The unit of a number without one: that of the ruler, where people read it."""
        return 1000 if self.look is None else ruler.axis_of(self.look.port).plain_ns

    def _preview_of(self, text: str) -> tuple[str, bool]:
        document = self.document
        try:
            place = self._place(text)
        except go_to.WrongPlace as error:
            return str(error), True
        if isinstance(place, tuple):
            return f"{go_to.exact_text(place[0])} to {go_to.exact_text(place[1])}", False
        at = place
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

    def _rename_mark(self, mark: Bookmark, name: str) -> None:
        named = notes_file.renamed(mark, name)
        before, after = Kept(mark, self.notes), Kept(named, self.notes)
        self.note_change(Part.MARKS, before, after)
        wrong = self.put_part(Part.MARKS, before, after)
        self.say(f"kept only until you leave: {wrong}" if wrong else
                 f"bookmark {bookmark_list.name_of(named)}")  # fmt: skip

    def _keep(self, name: str) -> None:
        document, view = self.document, self.look
        if document is None or view is None:
            return
        mark = bookmark_list.bookmark_here(document, view, name)
        self.note_change(Part.MARKS, None, Kept(mark, self.notes))
        try:
            self.notes.add(mark)
        except OSError as error:
            self.say(f"kept only until you leave: {error.strerror or error}")
            return
        finally:
            self._show_marks(self.notes.read())
        where = self.notes.where
        kept = f"kept in {where}" if where else "kept until you leave"
        self.say(self.notes.told or f"bookmark {bookmark_list.name_of(mark)} {kept}; ' lists")

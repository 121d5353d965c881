"""What lies over the screen: every sheet is put away in the same ways."""

from __future__ import annotations

from typing import Generic, Self, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from whichlayer.tui.keys import current_keys

Result = TypeVar("Result")


class LeavesOnce(ModalScreen[Result], Generic[Result]):
    """Is put away once: of keys that come all at once more than one may ask for it."""

    _is_left = False

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """Close with a result; nothing where it is closed already or lies under another one.

        Textual would close what lies on top by then, and fail where nothing does.
        """
        if self._is_left or not self.is_current:
            return AwaitComplete()
        self._is_left = True
        return super().dismiss(result)


class OverScreen(LeavesOnce[Result | None], Generic[Result]):
    """Closed by the key that opens it, whatever the user made that, and by a click beside it."""

    #: Id (``whichlayer.tui.keys``) of the key that opens it, or empty.
    OWN = ""

    def opened_by(self, key: str) -> Self:
        """Say which key opens it, by its id; the sheet itself."""
        self._own = key
        return self

    @property
    def body(self) -> Widget:
        """What is not beside the sheet."""
        return self.children[0]

    def action_leave(self) -> None:
        """Close."""
        self.dismiss(None)

    def on_key(self, event: events.Key) -> None:
        """The key that opens it closes it, unless it means something else here."""
        if self._is_left:
            return  # it was pressed for what comes after
        own = getattr(self, "_own", self.OWN)
        keys = next((key.keys for key in current_keys(live=True) if key.id == own), ())
        if event.key in keys and event.key not in self._bindings.key_to_bindings:
            event.stop()
            event.prevent_default()
            self.action_leave()

    def on_click(self, event: events.Click) -> None:
        """A click beside the sheet closes it."""
        if not self.body.region.contains(event.screen_x, event.screen_y):
            self.action_leave()


class ScrolledSheet(OverScreen[None]):
    """One text that scrolls by keys and by the wheel."""

    BINDINGS = [  # noqa: RUF012
        ("escape,q,enter", "leave", "close"),
        ("down,j", "scroll(1)", "a line down"),
        ("up,k", "scroll(-1)", "a line up"),
        ("pagedown,space", "page(1)", "a screenful down"),
        ("pageup,b", "page(-1)", "a screenful up"),
        ("home,g", "edge(0)", "to the top"),
        ("end,G", "edge(1)", "to the end"),
    ]

    #: Id of the text's frame, which the style sheet knows.
    FRAME = ""

    #: The frame; it may be gone already when keys and messages come that were sent before.
    _frame: VerticalScroll

    def compose(self) -> ComposeResult:
        """The text in its frame."""
        self._frame = VerticalScroll(id=self.FRAME)
        with self._frame:
            self.entitle(self._frame)
            yield self.content()

    def entitle(self, frame: VerticalScroll) -> None:
        """Write what stands in the frame's lines."""
        raise NotImplementedError

    def content(self) -> Static:
        """The text."""
        raise NotImplementedError

    def on_mount(self) -> None:
        """Keys go to the frame."""
        if not self._is_left:
            self._frame.focus()

    def action_scroll(self, lines: int) -> None:
        """Scroll by lines."""
        self._frame.scroll_relative(y=lines, animate=False)

    def action_page(self, pages: int) -> None:
        """Scroll by screenfuls."""
        lines = max(self._frame.size.height - 1, 1)
        self._frame.scroll_relative(y=pages * lines, animate=False)

    def action_edge(self, side: int) -> None:
        """The beginning or the end."""
        self._frame.scroll_to(y=side * self._frame.max_scroll_y, animate=False)

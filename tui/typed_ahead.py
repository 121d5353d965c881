"""Keys that were pressed before what they are for was there: a prompt, the palette."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from textual import events
from textual.app import App
from textual.widget import Widget


class TypedAheadApp(App[int]):
    """Gives a key to what has the focus when its turn comes, not when it was pressed.

    A paste, ``tmux send-keys`` and slow links send many keys at once; Textual gives all of them to
    what has the focus then, so that the text after ``/`` or ``:`` would be taken for commands.
    """

    def __init__(self) -> None:
        """No key is under way."""
        super().__init__()
        self._sent_to: WeakKeyDictionary[events.Key, Widget | None] = WeakKeyDictionary()

    async def on_event(self, event: events.Event) -> None:
        """Note where a key is sent to; one behind others goes the way that they went."""
        if not isinstance(event, events.Key) or event.is_forwarded:
            await super().on_event(event)
            return
        before = next(reversed(list(self._sent_to.values())), None)
        behind = before is not None and before is not self.focused and before.is_attached
        self._sent_to[event] = before if behind else self.focused
        if before is None or not behind:
            await super().on_event(event)
        elif not await self._check_bindings(event.key, priority=True):
            before._forward_event(event)

    async def _on_key(self, event: events.Key) -> None:
        """Send a key that nobody took on to what has got the focus meanwhile, if anything has."""
        focused = self.focused
        is_new = event in self._sent_to and self._sent_to.pop(event) is not focused
        if focused is None or not is_new or not takes_text(focused):
            return  # Textual calls the handler of its own class next
        event.prevent_default()
        again = events.Key(event.key, event.character)
        self._sent_to[again] = focused
        focused._forward_event(again)


def takes_text(widget: Widget) -> bool:
    """Whether letters are text to a widget."""
    from textual.widgets import Input

    return isinstance(widget, Input) or getattr(widget, "TAKES_TEXT", False)

"""Opening and closing the prompt, whatever it is for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textual import on

from whichlayer.tui.undoing import Undoing
from whichlayer.tui.widgets.footer import Footer
from whichlayer.tui.widgets.prompt import Asked, Prompt

#: What was typed for one purpose that is remembered.
_MOST_PAST = 100


class Prompting(Undoing):
    """One prompt at a time, in place of the keys; what is typed goes to its purpose.

    ``prompt_typed``, ``prompt_entered`` and ``prompt_left`` are overridden, one module of
    actions after the other: each answers to its own purposes and passes the rest on.
    """

    def __init__(self, **settings: Any) -> None:
        """No prompt is open."""
        super().__init__(**settings)
        self._past: dict[str, list[str]] = {}
        self._focus_before: str | None = None

    @property
    def prompt(self) -> Prompt | None:
        """The open prompt."""
        found = self.screen_stack[0].query(Prompt)
        return found.first() if found else None

    async def open_prompt(self, asked: Asked, text: str = "") -> None:
        """Ask for something to be typed, in place of the keys."""
        if self.prompt is not None:
            return
        self.say("")
        screen = self.screen_stack[0]
        footer = screen.query_one(Footer)
        focused = screen.focused
        self._focus_before = None if focused is None else focused.id
        made = Prompt(asked, text, tuple(self._past.get(asked.purpose, ())))
        made.paint_with(footer.palette)
        with self.batch_update():
            footer.display = False
            await screen.mount(made, after=footer)
            screen.set_focus(made)

    async def close_prompt(self) -> None:
        """Put the prompt away; the keys are back."""
        prompt, screen = self.prompt, self.screen_stack[0]
        if prompt is None:
            return
        with self.batch_update():
            held = prompt.has_focus
            await prompt.remove()
            screen.query_one(Footer).display = True
            before = screen.query(f"#{self._focus_before or 'timeline'}")
            if held and before:
                screen.set_focus(before.first())
        for key in prompt.typed_ahead:
            self.post_message(key)

    def remember(self, purpose: str, text: str) -> None:
        """Let the up key bring back what was typed."""
        past = self._past.setdefault(purpose, [])
        if text and (not past or past[-1] != text):
            self._past[purpose] = [*past, text][-_MOST_PAST:]

    def typed_before(self, purpose: str) -> Sequence[str]:
        """What was typed for a purpose, the latest last."""
        return self._past.get(purpose, ())

    @on(Prompt.Typed)
    def _typed(self, message: Prompt.Typed) -> None:
        self.prompt_typed(message.purpose, message.text)

    @on(Prompt.Entered)
    async def _entered(self, message: Prompt.Entered) -> None:
        self.remember(message.purpose, message.text)
        await self.close_prompt()
        self.prompt_entered(message.purpose, message.text, message.listed)

    @on(Prompt.Left)
    async def _left(self, message: Prompt.Left) -> None:
        if self.prompt is None:
            return  # put away already
        await self.close_prompt()
        self.prompt_left(message.purpose)

    def prompt_typed(self, purpose: str, text: str) -> None:
        """The text of the prompt is another one now."""

    def prompt_entered(self, purpose: str, text: str, listed: bool) -> None:
        """The text was entered."""

    def prompt_left(self, purpose: str) -> None:
        """The prompt was left without entering anything."""

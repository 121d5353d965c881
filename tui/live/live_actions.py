"""What the keys of the live screen do: move among windows, record, save, leave."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from textual import on
from textual.app import SuspendNotSupported
from textual.message import Message

from whichlayer.analysis.text import clean
from whichlayer.tui.app import WhichlayerApp
from whichlayer.tui.live.after import hand_over
from whichlayer.tui.live.feed import Feed
from whichlayer.tui.live.model import LiveModel
from whichlayer.tui.live.output_pane import OutputAsked, OutputScreen
from whichlayer.tui.live.output_text import ProgramOutput
from whichlayer.tui.live.quit_screen import Choice, QuitScreen
from whichlayer.tui.live.rank_list import rank_list
from whichlayer.tui.live.shots import Shot
from whichlayer.tui.live.strip import ShotPicked
from whichlayer.tui.messages import DocumentOpened, RankOpened
from whichlayer.tui.widgets.list_sheet import ListSheet
from whichlayer.tui.widgets.prompt import Asked

if TYPE_CHECKING:
    from whichlayer.analysis.live.child import Child
    from whichlayer.tui.rank_heat import RankWindow

SAVE: Final = Asked("save-window", "save as ", "a file name; compressed if it ends on .gz")
STEPS: Final = Asked("record-steps", "record ", "how many of the next steps, such as 10")

_MOST_STEPS: Final = 1_000_000


@dataclass
class Saved(Message):
    """Saving a window has ended."""

    said: str


class LiveActions(WhichlayerApp):
    """The actions that only a live screen has; what they change goes through the model.

    Attributes:
        feed: where windows come from.
        child: the program, if it runs under this screen.
        model: the windows.
        output: what the program prints.
        choice: what becomes of the program once the screen is left.
        shown_id: number of the window that is shown.
    """

    feed: Feed
    child: Child | None
    model: LiveModel
    output: ProgramOutput
    choice: Choice
    shown_id: int | None = None
    _goal: RankOpened | None = None
    _saved_shot: Shot | None = None

    def model_changed(self) -> None:
        """Show the window that is wanted now, and have analysed what is missing."""
        raise NotImplementedError

    @property
    def output_title(self) -> str:
        """What the output is: of the program, or told about recording."""
        return " output " if self.child is not None else " messages "

    @property
    def shown_shot(self) -> Shot | None:
        """The window that is shown."""
        return None if self.shown_id is None else self.model.shots.get(self.shown_id)

    def action_window(self, step: int) -> None:
        """The window before or after."""
        shot = self.model.beside(step)
        if shot is None:
            self.say("no newer window yet" if step > 0 else "no older window")
            return
        self._pick(shot.id)

    @on(ShotPicked)
    def _shot_picked(self, message: ShotPicked) -> None:
        self._pick(message.shot_id)

    def _pick(self, shot_id: int) -> None:
        if shot_id in self.model.failed:
            self.say(clean(f"this window cannot be shown: {self.model.failed[shot_id]}"))
            self.model.choose(shot_id)
        elif not self.model.choose(shot_id):
            self.say("the file of this window is gone")
            return
        else:
            self.say("")
        self.model_changed()

    @on(RankOpened)
    def _rank_opened(self, message: RankOpened) -> None:
        """Another rank's window, at the span that was chosen there."""
        shot = self.model.shots.get(message.shot_id)
        if shot is None or shot.id in self.model.gone:
            self.say("the file of this window is gone")
            return
        self.say("")
        self._goal = message
        self.model.choose_source(shot.source)
        self.model.choose(shot.id)
        self.model_changed()

    def rank_windows(self) -> list[RankWindow]:
        """The window of each rank: the one that is shown, of others the newest that is known."""
        from whichlayer.tui.rank_heat import RankWindow

        model, shown, found = self.model, self.shown_shot, []
        for source in model.parties:
            shots = [
                s for s in model.shots.values() if s.source == source and s.id not in model.gone
            ]
            if not shots:
                continue
            known = [shot for shot in shots if shot.id in model.judged]
            mine = shown if shown in shots else (known or shots)[-1]
            is_shown = mine is shown
            document = self.feed.held(mine) or (self.document if is_shown else None)
            kept = "" if mine.id not in model.judged else "no longer in memory: J opens it"
            why = clean(model.failed.get(mine.id, kept))
            label = source or "no rank told"
            found.append(RankWindow(mine.id, label, document, is_shown, why))
        return found

    def action_live(self) -> None:
        """The newest window from now on."""
        self.say("")
        self.model.follow()
        self._touched = False
        newest = self.model.newest_judged
        if newest is not None and newest.id == self.shown_id and self.document is not None:
            self.post_message(DocumentOpened(self.document))
        self.model_changed()

    def action_record(self) -> None:
        """A window of the next steps."""
        self.say(self.feed.record(0, self.model.source))

    async def action_record_steps(self) -> None:
        """Ask how many steps."""
        if self.feed.records:
            await self.open_prompt(STEPS)
        else:
            self.action_record()

    def action_pause_recording(self) -> None:
        """No windows unasked; or again."""
        self.say(self.feed.pause(self.model.source))

    async def action_save_window(self) -> None:
        """Ask for a file name."""
        shot = self.shown_shot
        if shot is None:
            self.say("no window to save yet")
            return
        self._saved_shot = shot
        await self.open_prompt(SAVE, self.feed.save_name(shot))

    def prompt_entered(self, purpose: str, text: str, listed: bool) -> None:
        """A file name, or a number of steps."""
        if purpose == SAVE.purpose:
            self._save(text.strip())
        elif purpose == STEPS.purpose:
            count = int(text) if text.strip().isdecimal() and len(text) < 10 else 0
            if 1 <= count <= _MOST_STEPS:
                self.say(self.feed.record(count, self.model.source))
            else:
                self.say(f"a number of steps from 1 to {_MOST_STEPS:,}")
        else:
            super().prompt_entered(purpose, text, listed)

    def _save(self, name: str) -> None:
        shot = self._saved_shot
        if shot is None or not name:
            return
        target = Path(name).expanduser()
        if target.is_dir():
            target = target / self.feed.save_name(shot)
        if target.exists():
            self.say(clean(f"{target} exists already: nothing is written over"))
            return

        def save() -> None:
            try:
                self.feed.save(shot, target)
                said = f"saved as {target}"
            except KeyError:
                said = "not saved: the file of this window is gone"
            except OSError as error:
                said = f"not saved: {target}: {error.strerror or error}"
            self.post_message(Saved(said))

        self.say("saving …")
        threading.Thread(target=save, name="save", daemon=True).start()

    @on(Saved)
    def _saved(self, message: Saved) -> None:
        self.say(clean(message.said))

    def action_output(self) -> None:
        """All of the program's output."""
        palette = self.panes[0].palette
        self.push_screen(OutputScreen(self.output, palette, self.output_title))

    def action_keyboard(self) -> None:
        """The terminal to the program, to answer what it asks or to use its debugger."""
        child = self.child
        if child is None or child.status is not None:
            self.say("no program runs in this terminal")
            return
        try:
            with self.suspend():
                hand_over(child, self.output)
        except SuspendNotSupported:
            self.say("this terminal cannot be handed over")
            return
        child.resize(*terminal_of(self.size.width, self.size.height))
        self.say("the keyboard is the screen's again")

    @on(OutputAsked)
    def _output_asked(self) -> None:
        self.action_output()

    def action_ranks(self) -> None:
        """Choose whose windows are shown."""
        sources = self.model.sources
        if len(sources) < 2:
            self.say("only one rank or process here" if sources else "nobody connected yet")
            return
        place = sources.index(self.model.source) if self.model.source in sources else 0
        self.model.arrived = ""

        def chosen(row: int | None) -> None:
            if row is not None:
                self.model.choose_source(sources[row])
                self._touched = False
                self.model_changed()

        sheet = ListSheet(self.panes[0].palette, rank_list(self.model), place)
        self.push_screen(sheet.opened_by("rank"), chosen)

    async def action_quit(self) -> None:
        """Leave; where a program runs under this screen, ask what becomes of it."""
        self._ask_and_leave(0)

    def action_interrupt(self) -> None:
        """As a signal would: the program is asked about first; a second Ctrl-C stops both."""
        self._ask_and_leave(130)

    def _ask_and_leave(self, status: int) -> None:
        if self.child is None or self.child.status is not None:
            self.exit(status, return_code=status)
            return

        def chosen(choice: Choice | None) -> None:
            if choice is not None:
                self.choice = choice
                self.exit(status, return_code=status)

        self.push_screen(QuitScreen(self.panes[0].palette, self.feed.name), chosen)


def terminal_of(width: int, height: int) -> tuple[int, int]:
    """Rows and columns of the program's terminal: what its output has on the whole screen."""
    return max(height - 2, 1), max(width - 2, 1)

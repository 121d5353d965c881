"""The live screen: the application as the view of one window, with a frame of all windows around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message

import whichlayer.tui.panes  # noqa: F401  so that the screen begins with all of them
from whichlayer.analysis.options import Options
from whichlayer.analysis.text import clean
from whichlayer.tui.document import Document
from whichlayer.tui.history import History
from whichlayer.tui.keys import bindings
from whichlayer.tui.layout import Arrangement
from whichlayer.tui.live.after import status_text
from whichlayer.tui.live.analyst import Analyst, ShotAnalysed, ShotBegun
from whichlayer.tui.live.between import carried_between
from whichlayer.tui.live.feed import Feed
from whichlayer.tui.live.frame_css import FRAME_CSS
from whichlayer.tui.live.live_actions import LiveActions, terminal_of
from whichlayer.tui.live.live_line import LiveLine, standing
from whichlayer.tui.live.live_verdict import LiveVerdict
from whichlayer.tui.live.loader import NoLoader
from whichlayer.tui.live.model import LiveModel
from whichlayer.tui.live.output_pane import OutputPane
from whichlayer.tui.live.output_text import ProgramOutput
from whichlayer.tui.live.quit_screen import Choice
from whichlayer.tui.live.shots import Shot
from whichlayer.tui.live.strip import WindowStrip
from whichlayer.tui.live.telemetry import Telemetry, find_driver
from whichlayer.tui.messages import DocumentOpened
from whichlayer.tui.view import View
from whichlayer.tui.widgets.footer import Footer
from whichlayer.tui.widgets.header import Header
from whichlayer.tui.widgets.heatmap import Heatmap

if TYPE_CHECKING:
    from whichlayer.analysis.live.child import Child
    from whichlayer.tui.wanted import Wanted

#: Times a second at which output, telemetry and phases are looked at: what is shown of them
#: costs at most a few hundred bytes each.
_RENEWALS: Final = 5
_TELEMETRY_EVERY: Final = 10

#: Heights of the terminal from which the step and busy lines of the strip are shown, and the
#: lines that the program's output has.
_STRIP_FROM, _OUTPUT_FROM = 30, 36
_OUTPUT_LINES: Final = 4

#: Words of the footer that make sense only where something can be recorded.
_RECORDING_WORDS: Final = frozenset({"record", "pause"})

_WINDOW_PARTS: Final = ("overview", "ruler", "layers", "timeline", "panels")


@dataclass
class Happened(Message):
    """The feed has told something."""

    event: Any


class LiveApp(LiveActions):
    """One window of many on the screen, the newest until the user moves."""

    LIVE = True
    CSS = FRAME_CSS
    BINDINGS: ClassVar[list[BindingType]] = [
        one for one in bindings(live=True) if one.id not in {usual.id for usual in bindings()}
    ]

    def __init__(
        self,
        feed: Feed,
        options: Options,
        child: Child | None = None,
        analyst: Analyst | None = None,
        telemetry: Telemetry | None = None,
        watches_gpus: bool = True,
        wanted: Wanted | None = None,
    ) -> None:
        """Prepare; nothing runs before the screen is there.

        Args:
            feed: where windows come from.
            options: of the analyses.
            child: the program, if it runs under this screen; started with it.
            analyst: who analyses windows; one of its own where None.
            telemetry: what the GPUs do; one of its own where None.
            watches_gpus: the windows are of programs on this machine.
            wanted: the view that is asked for of the first window.
        """
        super().__init__(NoLoader(feed.name, options), wanted)
        self.feed, self.child = feed, child
        self.model = LiveModel()
        self.output = ProgramOutput()
        self.choice = Choice.LEAVE
        self._windows_analyst = analyst or Analyst(options, self.post_message)
        self._telemetry = telemetry or Telemetry(find_driver)
        self._watches_gpus = watches_gpus
        self._analysing: int | None = None
        self._notes_told = 0
        self._renewals = 0
        self._gpus: tuple[str, ...] = ()
        self._told_end = False
        self._output_lines = 0

    # The frame

    def compose(self) -> ComposeResult:
        """The usual parts, with the strip below the verdict and the output above the keys."""
        for part in super().compose():
            if part.id == "footer":
                yield OutputPane(self.output, self.output_title, id="output")
            if part.id == "verdict":
                yield LiveVerdict(self._waits_for, id="verdict")
                yield WindowStrip(self.model, id="strip")
                yield LiveLine(
                    self.model,
                    lambda: self._gpus,
                    self._end,
                    lambda: self.feed.stands,
                    lambda: self.feed.is_saved,
                    id="live",
                )
            else:
                yield part

    def on_mount(self) -> None:
        """Start everything that tells something."""
        super().on_mount()
        footer = self.screen_stack[0].query_one(Footer)
        footer.live = True
        footer.left_out = frozenset() if self.feed.records else _RECORDING_WORDS
        self._rename()
        self.screen_stack[0].query_one(Heatmap).ranks = self.rank_windows
        self._windows_analyst.start()
        if self._watches_gpus:
            self._telemetry.start()
        if self.child is not None:
            size = self.size
            try:
                self.child.start(self.output.feed, *terminal_of(size.width, size.height))
            except OSError as error:
                self.error = error
                self.exit(2, return_code=2)
                return
        self.feed.start(lambda event: self.post_message(Happened(event)))
        self.set_interval(1 / _RENEWALS, self._renew)

    def on_unmount(self) -> None:
        """Nobody waits for anything any more."""
        self.feed.stop()
        self._windows_analyst.stop()
        self._telemetry.stop()
        super().on_unmount()

    def on_resize(self, event: events.Resize) -> None:
        """The program's terminal is as large as its pane can become."""
        if self.child is not None:
            self.child.resize(*terminal_of(event.size.width, event.size.height))
        super().on_resize(event)

    def _arrange(self, width: int, height: int) -> None:
        strip, output = self._frame_lines(height)
        first = self.screen_stack[0]
        has_window = self.document is not None
        first.query_one("#strip").styles.height = strip
        pane = first.query_one("#output")
        pane.display = output > 0 or not has_window
        pane.styles.height = output if has_window else "1fr"
        super()._arrange(width, max(height - strip - 1 - output, 1))

    def place_parts(self, arranged: Arrangement) -> None:
        """Until there is a window its parts leave their room to the output."""
        if self.document is not None:
            super().place_parts(arranged)
            return
        for name in _WINDOW_PARTS:
            self.screen_stack[0].query_one(f"#{name}").display = False

    def _frame_lines(self, height: int) -> tuple[int, int]:
        """Lines of the strip and of the output beside a window."""
        output = _OUTPUT_LINES if height >= _OUTPUT_FROM and self.child is not None else 0
        has_figures = height >= _STRIP_FROM and self.document is not None
        return (3 if has_figures else 1), output

    def _waits_for(self) -> str:
        """What is said in the place of a verdict while there is no window."""
        model = self.model
        failed = next((model.failed[s.id] for s in model.line if s.id in model.failed), "")
        if self._analysing is not None:
            return "analysing the first window …"
        if failed:
            return f"no window could be read yet: {clean(failed)}"
        ended = self._end()
        return f"{ended}, and no window has come: q leaves" if ended else self.feed.waits_for

    def _end(self) -> str:
        status = None if self.child is None else self.child.status
        return "" if status is None else f"the program has ended with {status_text(status)}"

    # What happens

    @on(Happened)
    def _happened(self, message: Happened) -> None:
        self.feed.apply(self.model, message.event)
        self.model_changed()

    @on(ShotBegun)
    def _shot_begun(self, message: ShotBegun) -> None:
        self._analysing = message.shot_id
        self._refresh_frame()

    @on(ShotAnalysed)
    def _shot_analysed(self, message: ShotAnalysed) -> None:
        if self._analysing == message.shot.id:
            self._analysing = None
        shot = self.model.shots.get(message.shot.id)
        if shot is None or (shot.path, shot.file_bytes) != (
            message.shot.path, message.shot.file_bytes
        ):  # fmt: skip
            return  # it has been written anew meanwhile, and is analysed again
        if message.document is None or message.judged is None:
            self.model.failed[shot.id] = message.error
            self.model.note(f"{shot.label}: {message.error}")
        else:
            self.model.shots[shot.id] = self.feed.learned(shot, message.document)
            self.model.judged[shot.id] = message.judged
            self.model.settle()
            if self.feed.preferred in self.model.sources:
                self.model.prefer(self.feed.preferred)
            elif worst := self.model.begin_with_worst():
                count = len(self.model.sources)
                self.model.note(f"{worst} is shown: it loses the most of {count}; J lists them")
            self.feed.hold(shot, message.document)
            if shot.id == self.shown_id:
                self.shown_id = None  # it holds something else now
        self.model_changed()

    def model_changed(self) -> None:
        """Show the window that is wanted now, and have analysed what is missing."""
        self.model.meet()
        wanted = self.model.wanted()
        missing: list[Shot] = []
        if wanted is not None and wanted.id != self.shown_id:
            document = self.feed.held(wanted)
            if document is None and wanted.id not in self.model.failed:
                missing = [wanted]
            elif document is not None:
                self._open(wanted, document)
        self._windows_analyst.want([*missing, *self.model.queue()])
        self.screen_stack[0].query_one(Heatmap).ranks_changed()
        self._refresh_frame()

    def _open(self, shot: Shot, document: Document) -> None:
        self.shown_id = self.model.chosen = shot.id
        self.feed.pin({shot.id})
        self._rename()
        self.post_message(DocumentOpened(document))

    def carried(self, view: View, old: Document, document: Document) -> View:
        """Of the same window as usual; of another one the same place, if the user has moved."""
        if old.trace is document.trace:
            return super().carried(view, old, document)
        self.history = History()
        self.leave_recording()
        if self.model.following:
            self._touched = False
        return carried_between(view, old, document, self._touched)

    def _draw(self, message: DocumentOpened) -> None:
        first = self.document is None
        super()._draw(message)
        if first:
            self.call_after_refresh(self._first_window)
        goal = self._goal
        if goal is not None and goal.shot_id == self.shown_id:
            self._goal = None
            self._span_opened(goal.span)
        elif goal is not None and goal.shot_id != self.model.chosen:
            self._goal = None  # the user has gone elsewhere before it was there

    def _first_window(self) -> None:
        self.arrange_again()
        self.query_one("#timeline").focus()

    def look_at(self, view: View, noted: bool = True, run: str = "") -> None:
        """Who moves wants to see this window: the next one does not take its place."""
        if self.model.following and self.model.chosen is not None:
            self.model.choose(self.model.chosen)
            self._refresh_frame()
        super().look_at(view, noted, run)

    def _renew(self) -> None:
        """What changes without anything happening: output, telemetry, the end of the program."""
        screens = self.screen_stack
        if not screens or not screens[0].query(OutputPane):
            return  # the screen is being put away
        first = screens[0]
        self._renewals += 1
        self.output.take()
        new = self.model.noted - self._notes_told
        for note in list(self.model.notes)[-new:] if new else []:
            self.output.say(clean(note))
        self._notes_told = self.model.noted
        if self._renewals % _TELEMETRY_EVERY == 1:
            self._gpus = self._telemetry.texts
        ended = self._end()
        if ended and not self._told_end:
            self._told_end = True
            first.query_one(Footer).left_out = _RECORDING_WORDS  # there is nothing to record
            first.query_one(Footer).refresh()
            self.model.note(ended)
            self._refresh_frame()
        first.query_one(OutputPane).renew()
        first.query_one(LiveLine).renew()
        first.query_one(LiveVerdict).renew()

    def _refresh_frame(self) -> None:
        if not self.screen_stack or not self.screen_stack[0].query(OutputPane):
            return
        strip = self.screen_stack[0].query_one(WindowStrip)
        strip.busy_with = self._analysing
        strip.refresh()
        self.screen_stack[0].query_one(LiveLine).renew()
        self.screen_stack[0].query_one(LiveVerdict).renew()
        self._rename()

    def _rename(self) -> None:
        shot = self.shown_shot
        parts = [self.feed.name]
        if shot is not None:
            parts += [part for part in (shot.source, self.feed.title_of(shot)) if part]
        word = standing(self.model, bool(self._end()), self.feed.is_saved).word
        self.screen_stack[0].query_one(Header).rename(" · ".join(map(clean, parts)), word)

    @property
    def opened_with(self) -> tuple[str, Options]:
        """The file of the window that is shown, and the options."""
        _, options = super().opened_with
        shot = self.shown_shot
        return (self.feed.name if shot is None else str(shot.path)), options

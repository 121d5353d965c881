"""The application: puts the parts on the screen and gives them what they show."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.console import RenderableType
from textual import on
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.screen import Screen

from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.text import clean
from whichlayer.tui.acting import NOT_THERE_YET
from whichlayer.tui.as_wanted import AsWanted
from whichlayer.tui.colours import DARK, THEMES
from whichlayer.tui.deferred import Deferred
from whichlayer.tui.keys import bindings, rebind
from whichlayer.tui.load import Loader
from whichlayer.tui.loading import Loading, Stage
from whichlayer.tui.messages import (
    DocumentOpened,
    LoadFailed,
    LoadProgressed,
    PanesImported,
)
from whichlayer.tui.palette import palette_for
from whichlayer.tui.repaint import Shown, difference
from whichlayer.tui.screen_settings import screen_settings
from whichlayer.tui.signals import leave_on_signals
from whichlayer.tui.themes import theme_of
from whichlayer.tui.widgets.footer import Footer
from whichlayer.tui.widgets.header import Header
from whichlayer.tui.widgets.opening import Opening
from whichlayer.tui.widgets.trace_screen import TraceScreen
from whichlayer.tui.widgets.verdict_line import VerdictLine

# What the first picture does without comes with the panes: it brings NumPy.
if TYPE_CHECKING:
    from textual.command import Provider

    from whichlayer.analysis.options import Options
    from whichlayer.analysis.results import Analysis
    from whichlayer.analysis.trace.columns import Trace
    from whichlayer.tui import carry, travel
    from whichlayer.tui import panes as trace_panes
    from whichlayer.tui.ahead import Ahead
    from whichlayer.tui.document import Document
    from whichlayer.tui.view import View
    from whichlayer.tui.wanted import Wanted
else:
    carry = Deferred("whichlayer.tui.carry")
    trace_panes = Deferred("whichlayer.tui.panes")
    travel = Deferred("whichlayer.tui.travel")

WRONG_INPUT = 2

#: Keys that are answered before there is anything they could act on.
_EARLY_ACTIONS = frozenset({"quit", "interrupt", "theme", "redraw", "clear"})


def thing_commands() -> type[Provider]:
    """Kernels, steps and findings by name; imported likewise."""
    from whichlayer.tui.thing_commands import ThingCommands

    return ThingCommands


def key_commands() -> type[Provider]:
    """The commands of the palette; imported when it is opened, it is no part of the start."""
    from whichlayer.tui.commands import KeyCommands

    return KeyCommands


class WhichlayerApp(AsWanted):
    """One trace on one screen."""

    CSS_PATH = Path(__file__).with_name("app.tcss")
    TITLE = "whichlayer"
    BINDINGS: ClassVar[list[BindingType]] = list(bindings())
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {
        key_commands,
        thing_commands,
    }

    def __init__(self, loader: Loader, wanted: Wanted | None = None) -> None:
        """Take the loader of the trace, which starts when the screen is there.

        Args:
            loader: of the trace.
            wanted: the view that is asked for once the trace is analysed.
        """
        super().__init__(wanted)
        self.error: BaseException | None = None
        self.document: Document | None = None
        self.look: View | None = None
        self._loader = loader
        self._loading = Loading()
        self.shown = Shown()
        rebind(self._bindings, self.LIVE)
        for colours in THEMES.values():
            self.register_theme(theme_of(colours))
        # Before anything is painted: a change of theme would paint it all again.
        self.set_reactive(App.theme, screen_settings.theme or DARK.name)
        if screen_settings.theme:  # the sheet has the variables of Textual's own theme by now
            self.stylesheet.set_variables(self.get_css_variables())

    def get_default_screen(self) -> Screen[None]:
        """The one screen."""
        return TraceScreen(id="_default")

    def compose(self) -> ComposeResult:
        """The lines at the top, the timeline, the panels, the keys; only the lines at first."""
        yield Header(self._loader.path, id="header")
        yield VerdictLine(id="verdict")
        if "whichlayer.tui.panes" in sys.modules:
            yield from trace_panes.panes()
        else:
            yield Opening(id="opening")
        yield Footer(id="footer")

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        """Write to the terminal what is not there already."""
        super()._display(screen, difference(renderable, self.shown))

    def _fatal_error(self) -> None:
        """Let a defect end the program as one of its reader does, in one line and with its status.

        Textual would print a page of local variables.
        """
        self.error = self.error or self._exception
        self._close_messages_no_wait()

    def on_mount(self) -> None:
        """Begin to load, once the first picture is drawn."""
        self.app_suspend_signal.subscribe(self, lambda _: self.shown.forget())
        self.app_resume_signal.subscribe(self, lambda _: self.action_redraw())
        self.theme_changed_signal.subscribe(self, lambda _: self._repaint())
        leave_on_signals(lambda status: self.exit(status, return_code=status))
        self._panes_mounted()
        self.call_after_refresh(self._loader.start, self.post_message)

    @on(PanesImported)
    async def _panes_imported(self) -> None:
        with self.batch_update():
            await self._mount_panes()

    async def _mount_panes(self) -> None:
        if not self._has_panes:
            await self.query_one(Opening).remove()
            await self.mount(*trace_panes.panes(), before="#footer")
            self._arranged = None
            self._panes_mounted()

    def _panes_mounted(self) -> None:
        self._arrange(self.size.width, self.size.height)
        self._repaint()
        if self._has_panes:
            self.query_one("#timeline").focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether an action makes sense now."""
        if self.prompt is not None and self.prompt.has_focus:
            return False  # every key is the prompt's
        if action == "panel" and len(self.screen_stack) > 1:
            return False  # tab is the sheet's
        return action in _EARLY_ACTIONS or self._has_panes

    def on_unmount(self) -> None:
        """Nobody waits for the loader any more."""
        self._loader.stop()
        self.keep_sizes_now(leaving=True)
        self.close_finder()

    def stop_reading(self) -> bool:
        """Keep what was read so far without the rest; False where nothing is being read."""
        if self._loading.stage not in (Stage.RECEIVING, Stage.READING):
            return False
        if self._loading.can_stop:
            self._loader.keep_part()
            self.say("reading stops: what was read is kept")
        else:
            self.say("nothing can be kept yet: q leaves")
        return True

    @on(LoadProgressed)
    def _load_progressed(self, message: LoadProgressed) -> None:
        self._loading = message.loading
        first = self.screen_stack[0]
        first.query_one(Header).report(message.loading)
        first.query_one(VerdictLine).report(message.loading)
        reads = message.loading.stage == Stage.READING
        first.query_one(Footer).offer_stop(reads and message.loading.can_stop)
        if message.loading.stage == Stage.STOPPED:
            self.say("")

    @on(LoadFailed)
    def _load_failed(self, message: LoadFailed) -> None:
        self.error = message.error
        self.exit(WRONG_INPUT, return_code=WRONG_INPUT)

    @on(DocumentOpened)
    async def _document_opened(self, message: DocumentOpened) -> None:
        with self.batch_update():
            await self._mount_panes()
            self._draw(message)

    def _draw(self, message: DocumentOpened) -> None:
        self.call_after_refresh(message.drawn.set)
        old, document = self.document, self.with_finds(self.with_queue(message.document))
        self.document = document
        view = carry.opened(document, self._cells) if self.look is None else self.look
        if old is not None and old.lanes is not document.lanes:
            view = self.carried(view, old, document)
        view = self.as_left(document, view)
        if document.analysis is not None:
            self.show_bookmarks()
        if document.analysis is not None and not self._touched:
            view = self.first_view(document, view)
        elif self._touched:
            view = travel.on_row(document, view, view.row)
            same = old is not None and old.trace is document.trace
            view = self.placed(document, view) if same else view
        self.look = view
        footer = self.screen_stack[0].query_one(Footer)
        if document.analysis is not None and footer.said.endswith(NOT_THERE_YET):
            footer.say("")
        self._arrange(self.size.width, self.size.height)
        self.scroll_as_wanted()

    @property
    def opened_with(self) -> tuple[str, Options]:
        """The file and the options that were asked for on the command line."""
        return self._loader.path, self._loader.options

    @property
    def source_name(self) -> str:
        """What is shown: a path, or what stands for one."""
        return self._loader.path

    @property
    def span_maker(self) -> tuple[Options, Callable[[Trace, Options], Analysis]]:
        """With which options and by what spans are analysed."""
        return self._loader.maker

    def copy_to_clipboard(self, text: str) -> None:
        """Copy; what is no text, such as bytes of a file's name, as question marks."""
        super().copy_to_clipboard(text.encode("utf-8", "replace").decode())

    def _repaint(self) -> None:
        palette = palette_for(self.theme, self.console.color_system, plain=self.no_color)
        for pane in self.panes:
            pane.paint_with(palette)


def run(
    path: str,
    options: Options,
    cache: bool = False,
    ahead: Ahead | None = None,
    wanted: Wanted | None = None,
) -> int:
    """Show a trace until the user leaves.

    Args:
        path: the trace.
        options: what was asked for on the command line.
        cache: reopen it from the user's cache, and put it there.
        ahead: what opens it already where it is in the cache.
        wanted: the view that is asked for.

    Returns:
        0, 130 after Ctrl-C, or 2 if the trace cannot be opened (then with one line on standard
        error).

    Raises:
        Exception: whatever else went wrong while loading, once the screen is put away.
    """
    app = WhichlayerApp(Loader(path, options, cache=cache, ahead=ahead), wanted)
    app.run()
    if app.error is None:
        return app.return_code or 0
    if isinstance(app.error, TraceError):
        print(f"whichlayer: {clean(str(app.error))}", file=sys.stderr)
        return WRONG_INPUT
    raise app.error

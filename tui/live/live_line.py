"""The line under the strip: whether the newest window is followed, and what the recorder does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Final

from rich.cells import cell_len
from textual.strip import Strip

from whichlayer.analysis.report.units import bytes_text, time_text
from whichlayer.analysis.text import clean
from whichlayer.tui.live.model import LiveModel
from whichlayer.tui.live.strip import sparkline
from whichlayer.tui.view import View
from whichlayer.tui.widgets.pane import Pane, Piece, strip_of

_SPARK_CELLS: Final = 16
_BETWEEN: Final = "  "


@dataclass(frozen=True, slots=True)
class Standing:
    """How the screen stands to the program: as the line says it, and in a word in the header."""

    tag: str
    word: str


LIVE: Final = Standing("● LIVE", "● live ")
PAUSED: Final = Standing("■ PAUSED FOLLOWING", "■ paused ")
APART: Final = Standing("■ NOT CONNECTED", "■ not connected ")
ENDED: Final = Standing("■ ENDED", "■ ended ")
SAVED: Final = Standing("○ SAVED", "○ saved ")


def standing(model: LiveModel, ended: bool, saved: bool = False) -> Standing:
    """How the screen stands: nothing is live where nothing comes.

    Args:
        model: what has come.
        ended: the program has.
        saved: everything was there before anybody looked.
    """
    if ended:
        return ENDED
    if saved:
        return SAVED
    if not model.following:
        return PAUSED
    gone = model.told and all(told.gone for told in model.told.values())
    return APART if gone else LIVE


class LiveLine(Pane):
    """What is followed; phase; steps; dropped windows; GPUs; the last note, as far as it fits."""

    HELP = (
        "LIVE: the newest window is shown as it comes; PAUSED FOLLOWING: you have moved, G is "
        "back; ENDED: the program has, no more windows come; SAVED: all traces of the folder were there "
        "before it was opened, and those that come are shown. Then what the recorder does, the last steps' lengths without the profiler, "
        "windows that were lost, what the GPUs do now, and what was last told."
    )

    def __init__(
        self,
        model: LiveModel,
        telemetry: Callable[[], tuple[str, ...]],
        ended: Callable[[], str],
        stands: Callable[[], str],
        saved: Callable[[], bool] = lambda: False,
        *,
        id: str | None = None,
    ) -> None:
        """Take what is known.

        Args:
            model: the windows.
            telemetry: what the GPUs do, the longest text first; or nothing.
            ended: how the program has ended, or empty while it runs.
            stands: what is said where no recorder tells what it does.
            saved: whether everything was there before anybody looked.
            id: of the pane.
        """
        super().__init__(id=id)
        self.model = model
        self._telemetry, self._ended, self._stands = telemetry, ended, stands
        self._saved = saved
        self._painted: object = None

    def view_changed(self, old: View | None) -> None:
        """Nothing here depends on the view."""

    def renew(self) -> None:
        """Repaint if there is anything else to say."""
        said = self._parts()
        if said != self._painted:
            self._painted = said
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line."""
        palette, colours = self.palette, self.palette.colours
        ground = palette.style(colours.text, colours.surface)
        quiet = palette.style(colours.dim, colours.surface)
        tag, rest = self._parts()
        grounds = {LIVE.tag: colours.accent, ENDED.tag: colours.dim, SAVED.tag: colours.dim}
        mark = palette.style(colours.canvas, grounds.get(tag, colours.warning), True)
        pieces: list[Piece] = [(f" {tag} ", mark), (" ", ground)]
        left = self.size.width - cell_len(tag) - 3
        for place, texts in enumerate(rest):
            fitting = (text for text in texts if cell_len(text) + len(_BETWEEN) <= left)
            part = next(fitting, texts[-1] if place == 0 else "")
            if not part:
                continue  # a later one may be shorter
            need = cell_len(part) + len(_BETWEEN)
            warns = part.startswith("!")
            style = palette.style(colours.warning, colours.surface, True) if warns else (
                quiet if place else ground
            )  # fmt: skip
            pieces.append((part + _BETWEEN, style))
            left -= need
        return strip_of(pieces, self.size.width, ground)

    def _parts(self) -> tuple[str, tuple[tuple[str, ...], ...]]:
        """The tag, and what is said behind it: each in a text, or in ever shorter ones."""
        model, ended = self.model, self._ended()
        first = ended or _phase(model) or self._stands()
        texts = [(first,), *((part,) for part in _recording(model)), self._telemetry()]
        shot = None if model.chosen is None else model.shots.get(model.chosen)
        if shot is not None and shot.facts:
            texts.append((shot.facts[0],))
        if model.notes and (last := clean(model.notes[-1])) != first:
            texts.append((last,))
        return standing(model, bool(ended), self._saved()).tag, tuple(texts)


def _recording(model: LiveModel) -> list[str]:
    """Who is shown, what is newer or lost, how fast steps are, what is being written."""
    now, parts = model.now, []
    if others := model.parties_text:
        here = f"{model.source or 'no rank told'}, one of {len(model.parties)}: J"
        shown = " and is shown" if model.arrived == model.source else ""
        came = f"{model.arrived} has arrived{shown}, {others}"
        parts.append(came if model.arrived else here)
    newer = _newer(model)
    if newer and not model.following:
        parts.append(f"{newer} newer")
    if now.dropped:
        parts.append(f"! {now.dropped} dropped")
    if now.step is not None and now.step:
        parts.append(_steps(now.step, now.step_us))
    parts += [f"writing {clean(name)} {bytes_text(size)}" for name, size in model.writing[:2]]
    if len(model.writing) > 2:
        parts.append(f"and {len(model.writing) - 2} more being written")
    return parts


def _phase(model: LiveModel) -> str:
    now = model.now
    if now.failure:
        return f"! {clean(now.failure)}"
    phase = clean(now.phase)
    return f"◉ {phase}" if now.active else phase


def _newer(model: LiveModel) -> int:
    """Windows that have come since the chosen one."""
    return sum(1 for shot in model.line if model.chosen is not None and shot.id > model.chosen)


def _steps(step: int, lengths: tuple[int, ...]) -> str:
    """``step 1,234  12.3 ms ▂▃▂``: the count, the median of the last ones, and they."""
    if not lengths:
        return f"step {step:,}"
    middle = time_text(int(median(lengths)) * 1000)
    return f"step {step:,}  {middle} {sparkline(lengths, _SPARK_CELLS)}"

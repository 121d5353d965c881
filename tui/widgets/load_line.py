"""The line that tells how far loading is: a bar, then figures, as many as fit."""

from __future__ import annotations

from rich.cells import cell_len

from whichlayer.analysis.report.units import count_text, rate_text
from whichlayer.tui.loading import Loading, Stage
from whichlayer.tui.palette import Palette
from whichlayer.tui.widgets.pane import Piece

#: Cells of the bar: fewer tell nothing, more tell nothing more.
_LEAST_BAR, _MOST_BAR = 10, 48

_MEGA, _GIGA = 10**6, 10**9

#: Seconds from which the remaining time is told in minutes.
_MINUTES_FROM_S = 100

#: Ends of a bar in eighths of a cell.
_EIGHTHS = " ▏▎▍▌▋▊▉"

#: Stages without figures.
_WORDS = {
    Stage.OPENING: "opening …",
    Stage.SORTING: "putting events in order …",
    Stage.ANALYSING: "analysing …",
}


def stands_still(stage: Stage) -> bool:
    """Whether nothing but time tells that something is being done."""
    return stage in (Stage.SORTING, Stage.ANALYSING)


def load_line(loading: Loading, width: int, palette: Palette, passed_s: int = 0) -> list[Piece]:
    """The pieces of a line of ``width`` cells.

    Args:
        loading: what is told.
        width: cells there are.
        palette: the colours.
        passed_s: seconds since the stage began, told from the first on where nothing else moves.
    """
    word = _WORDS.get(loading.stage)
    if word is not None:
        passed = f" {time_passed(passed_s)}" if passed_s and stands_still(loading.stage) else ""
        events = f"  {count_text(loading.events, 'event')}" if loading.events else ""
        room = width - cell_len(word) - 1
        passed = passed if cell_len(passed) <= room else ""
        events = events if cell_len(passed + events) <= room else ""
        return [(f" {word}{passed}", palette.text), (events, palette.dim)]
    head = f" {loading.stage.value} "
    share = loading.share
    figures = _fitting(loading, width - cell_len(head) - (_LEAST_BAR + 2 if share else 0))
    text = "".join(f"  {figure}" for figure in figures)
    if share is None:
        return [(head, palette.text), (text, palette.dim)]
    cells = min(max(width - cell_len(head) - cell_len(text) - 1, _LEAST_BAR), _MOST_BAR)
    done, rest = _bar(share, cells)
    colours = palette.colours
    return [
        (head, palette.text),
        (done, palette.style(colours.accent, colours.surface)),
        (rest, palette.style(colours.accent, colours.surface)),
        (text, palette.dim),
    ]


def short_state(loading: Loading) -> str:
    """The state in a word and a mark, for the end of the header."""
    if loading.stage == Stage.READY:
        return "● ready "
    if loading.stage == Stage.STOPPED:
        return "◐ stopped "
    share = "" if loading.stage != Stage.READING or loading.share is None else (
        f" {loading.share:.0%}"
    )  # fmt: skip
    return f"○ {loading.stage.value}{share or ' …'} "


def _bar(share: float, cells: int) -> tuple[str, str]:
    """A bar that ends on an eighth of a cell; its full part, and what follows."""
    eighths = int(share * cells * 8)
    full, part = divmod(eighths, 8)
    end = _EIGHTHS[part] if part and full < cells else ""
    return "█" * full + end, " " * (cells - full - len(end))


def _fitting(loading: Loading, room: int) -> list[str]:
    """The figures in their order on the line; those that say least go first."""
    share = "" if loading.share is None else f"{loading.share:4.0%}"
    rate = "" if loading.rate is None else f"{rate_text(loading.rate / _MEGA)} MB/s"
    left = "" if loading.left_s is None else f"{_time_left(loading.left_s)} left"
    events = count_text(loading.events, "event") if loading.events else ""
    figures = [share, _amount(loading.bytes_read, loading.bytes_total), rate, left, events]
    for least in (4, 2, 1, 3):
        if sum(cell_len(figure) + 2 for figure in figures if figure) <= room:
            break
        figures[least] = ""
    return [figure for figure in figures if figure]


def _amount(read: int, total: int) -> str:
    """``104 of 252 MB``; without a total ``104 MB``."""
    scale, unit = (_GIGA, "GB") if max(read, total) >= _GIGA else (_MEGA, "MB")
    digits = 2 if unit == "GB" else 0 if max(read, total) >= 10 * _MEGA else 1
    of = f" of {total / scale:.{digits}f}" if total else ""
    return f"{read / scale:.{digits}f}{of} {unit}"


def time_passed(seconds: int) -> str:
    """``9 s``, ``2 min 5 s``: never rounded, so that it can be seen to move."""
    minutes, rest = divmod(seconds, 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _time_left(seconds: float) -> str:
    if seconds >= _MINUTES_FROM_S:
        return f"{round(seconds / 60)} min"
    return f"{max(round(seconds), 1)} s"

"""What an act did, in the words of the footer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from whichlayer.analysis.text import clean
from whichlayer.tui.undo import Part

if TYPE_CHECKING:
    from whichlayer.tui.view_parts import Lanes

#: A longer query is cut.
_MOST_QUERY = 40


def word_of(part: Part, before: Any, after: Any, title: Callable[[int], str], run: str) -> str:
    """What an act did to a part, in a few words.

    Args:
        part: which.
        before: its value then.
        after: its value now.
        title: of a lane, by its number.
        run: of the act.
    """
    if part in (Part.FILTER, Part.SEARCH):
        if not after:
            return f"{part.value} {_query(before)} off" if before else f"{part.value} off"
        return f"{part.value} {_query(after)}"
    if part is Part.LANES:
        return lanes_word(before, after, title)
    if part is Part.PLACE:
        return run if run in ("pan", "zoom") else part.value
    word = _PLAIN.get(part)
    return word(before, after) if word is not None else part.value


def lanes_word(before: Lanes, after: Lanes, title: Callable[[int], str]) -> str:
    """What was done to which lane."""
    then, now = before.order, after.order
    hidden, shown = now.hidden - then.hidden, then.hidden - now.hidden
    pinned, freed = set(now.pinned) - set(then.pinned), set(then.pinned) - set(now.pinned)
    sized = {lane for lane, _ in set(now.rows) ^ set(then.rows)}
    folded = {lane for lane in {*before.folds, *after.folds}
              if before.folds.get(lane) != after.folds.get(lane)}  # fmt: skip
    for lanes, what in ((hidden, "hidden"), (shown, "shown again"), (pinned, "pinned"),
                        (freed, "no longer pinned"), (sized, "in other rows"),
                        (folded, "folded")):  # fmt: skip
        if len(lanes) == 1:
            return f"{title(next(iter(lanes)))} {what}"
        if lanes:
            return f"{len(lanes)} lanes {what}"
    return "lane moved"


def _query(text: str) -> str:
    text = clean(text)
    return text if len(text) <= _MOST_QUERY else text[: _MOST_QUERY - 1] + "…"


def _selection(_before: Any, after: Any) -> str:
    if after.span is not None:
        return "selection"
    return "selection cleared" if after.anchor_ns is None else "mark"


def _table(before: Any, after: Any) -> str:
    if before.grouping != after.grouping:
        return f"kernel table by {after.grouping_word}"
    return f"kernels sorted by {after.sort_word}"


def _bookmark(before: Any, after: Any) -> str:
    if before is None:
        return f"bookmark {clean(after.name)}"
    if after is None:
        return f"bookmark {clean(before.name)} deleted"
    return f"bookmark {clean(before.name)} renamed"


_PLAIN: dict[Part, Callable[[Any, Any], str]] = {
    Part.SELECTION: _selection,
    Part.TABLE: _table,
    Part.MARKS: _bookmark,
    Part.CLOCK: lambda _, after: "wall clock" if after else "time since the start",
    Part.HEAT: lambda _, after: f"heatmap by {after.word}",
    Part.COLOURS: lambda _, after: f"bars coloured by {after.value}",
    Part.THEME: lambda _, after: f"colours {after}",
    Part.FULL: lambda before, after: f"{after or before} {'' if after else 'no longer '}"
                                     "on the whole screen",
    Part.QUEUE: lambda _, after: f"launch lanes {'shown' if after.shown else 'hidden'}",
}  # fmt: skip

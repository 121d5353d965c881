"""Every key, once: bindings, help sheet, footer, command palette and docs are made of this."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whichlayer.tui.screen_settings import writes_unicode

if TYPE_CHECKING:  # what keys there are is asked without a screen too
    from textual.binding import Binding, BindingsMap


@dataclass(frozen=True, slots=True)
class Key:
    """One thing that the user can do from the keyboard.

    Attributes:
        id: stable word, for key maps.
        keys: the keys that do it, as Textual names them; the first is the one shown.
        action: the action of the application.
        does: what it does, in a few words.
        group: heading in the help sheet.
        hint: what the footer shows: keys (a pair shares one entry), then one word; or empty.
        mouse: the mouse act that does the same, or empty.
        live: it makes sense only where windows come while one looks.
        also: other words that people look for it by in the palette.
    """

    id: str
    keys: tuple[str, ...]
    action: str
    does: str
    group: str
    hint: str = ""
    mouse: str = ""
    live: bool = False
    also: str = ""

    @property
    def shown(self) -> str:
        """The keys as people read them."""
        return " ".join(dict.fromkeys(readable(key) for key in self.keys))


BACKSPACE = "⌫"

_READABLE = {
    "plus": "+",
    "slash": "/",
    "apostrophe": "'",
    "asterisk": "*",
    "ampersand": "&",
    "exclamation_mark": "!",
    "equals_sign": "=",
    "minus": "-",
    "left_parenthesis": "(",
    "right_parenthesis": ")",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "comma": ",",
    "full_stop": ".",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "question_mark": "?",
    "at": "@",
    "vertical_line": "|",
    "tilde": "~",
    "underscore": "_",
    "percent_sign": "%",
    "dollar_sign": "$",
    "ctrl+up": "^↑",
    "ctrl+down": "^↓",
    "ctrl+left": "^←",
    "ctrl+right": "^→",
    "number_sign": "#",
    "circumflex_accent": "^",
    "shift+up": "⇧↑",
    "shift+down": "⇧↓",
    "left": "←",
    "right": "→",
    "up": "↑",
    "down": "↓",
    "shift+left": "⇧←",
    "shift+right": "⇧→",
    "escape": "esc",
    "space": "space",
    "enter": "enter",
    "tab": "tab",
    "shift+tab": "⇧tab",
    "pageup": "pgup",
    "pagedown": "pgdn",
    "colon": ":",
    "semicolon": ";",
    "ctrl+p": "^p",
    "ctrl+c": "^c",
    "ctrl+l": "^l",
    "ctrl+r": "^r",
    "backspace": BACKSPACE,
    "backslash": "\\",
}


def symbol(name: str) -> str:
    """A key as the table writes it in hints, from its name in Textual."""
    return _READABLE.get(name, name)


def readable(name: str) -> str:
    """A key as people read it on this terminal, from its name in Textual."""
    found = symbol(name)
    return "bksp" if found == BACKSPACE and not writes_unicode() else found


_VIEW, _GO, _SELECT, _PANELS, _OTHER = "View", "Go to", "Select", "Lanes and panels", "General"
_FIND, _LIVE = "Search and filter", "While it runs"

KEYS: tuple[Key, ...] = (
    Key("zoom-in", ("w", "plus", "equals_sign"), "zoom(1)", "zoom in about the cursor", _VIEW,
        "ws zoom", "wheel up"),
    Key("zoom-out", ("s", "minus"), "zoom(-1)", "zoom out", _VIEW, mouse="wheel down"),
    Key("pan-left", ("a",), "pan(-0.25)", "pan to earlier", _VIEW, "ad pan", "shift + wheel"),
    Key("pan-right", ("d",), "pan(0.25)", "pan to later", _VIEW, mouse="shift + wheel"),
    Key("fit", ("f",), "fit", "fit the analysed window, then everything", _VIEW, "f fit",
        also="zoom all reset whole trace"),
    Key("fit-thing", ("F",), "fit_thing", "fit the selection, or what the cursor is on",
        _VIEW, mouse="double click", also="zoom to selection"),
    Key("view-before", ("z",), "view_before", "view before: span and selection", _VIEW,
        also="back history"),
    Key("view-after", ("Z",), "view_after", "view after", _VIEW, also="forward history"),
    Key("undo", ("u",), "undo", "undo the last act of any kind: filter, lanes, colours, bookmark …",
        _VIEW, "uU undo", also="revert"),
    Key("redo", ("U", "ctrl+r"), "redo", "do again what was undone", _VIEW, also="repeat"),
    Key("left", ("h", "left"), "cursor(-1)", "cursor one column to earlier", _GO, mouse="click"),
    Key("right", ("l", "right"), "cursor(1)", "cursor one column to later", _GO, mouse="click"),
    Key("far-left", ("H", "shift+left"), "cursor(-10)", "cursor ten columns to earlier", _GO),
    Key("far-right", ("L", "shift+right"), "cursor(10)", "cursor ten columns to later", _GO),
    Key("start", ("home",), "edge(-1)", "start of the recording", _GO,
        mouse="click in the overview"),
    Key("end", ("end",), "edge(1)", "end of the recording", _GO, mouse="click in the overview"),
    Key("next-gap", ("right_square_bracket",), "gap(1)", "next gap of 0.1 % of the "
        "window or more, else any, at its main piece", _GO, "[] gap"),
    Key("previous-gap", ("left_square_bracket",), "gap(-1)", "gap before of 0.1 % or "
        "more, else any", _GO),
    Key("smaller-gap", ("right_curly_bracket",), "gap_by_size(1)", "gap that costs most; "
        "again: the next", _GO, "{} largest",
        also="largest"),
    Key("larger-gap", ("left_curly_bracket",), "gap_by_size(-1)", "back to the gap "
        "that costs more", _GO),
    Key("next-slice", ("full_stop",), "slice(1)", "next kernel or slice of the row", _GO),
    Key("previous-slice", ("comma",), "slice(-1)", "kernel or slice before", _GO),
    Key("next-step", ("greater_than_sign",), "step(1)", "next step", _GO, "<> step"),
    Key("previous-step", ("less_than_sign",), "step(-1)", "step before", _GO),
    Key("cause", ("backspace",), "chain(1)", "up the chain: GPU work, launch, operator, module, Python", _GO,
        "⌫\\ chain", also="flow launch arrow who started this parent follow"),
    Key("effect", ("backslash",), "chain(-1)", "down the chain, towards the GPU work", _GO,
        also="flow children launched"),
    Key("go-to", ("g",), "go_to", "go to a time, step or share that is typed", _GO, "g go to",
        also="jump time position goto"),
    Key("bookmark", ("M",), "bookmark", "bookmark this place or selection by a name", _GO,
        also="note label annotate"),
    Key("bookmarks", ("apostrophe",), "bookmarks", "bookmarks: go to one, delete one", _GO,
        also="notes list"),
    Key("search", ("slash",), "search", "search names, lanes, arguments …; tab lists what is found",
        _FIND, "/ search", also="find grep"),
    Key("next-hit", ("n",), "hit(1)", "next hit", _FIND),
    Key("previous-hit", ("N",), "hit(-1)", "hit before", _FIND),
    Key("search-this", ("asterisk",), "search_this", "search for the name under the cursor", _FIND),
    Key("hits", ("i",), "hits", "hits by name, with counts and times", _FIND,
        also="search results list"),
    Key("filter", ("ampersand",), "filter", "show only what a query finds", _FIND,
        also="hide only show grep"),
    Key("unfilter", ("x",), "unfilter", "filter off: show everything", _FIND),
    Key("select", ("v", "space"), "select", "begin a selection, end it", _SELECT, "v select", "drag",
        also="range span"),
    Key("mark", ("m",), "mark", "set a mark at the edge of a slice; again: measure from it",
        _SELECT, "m measure", also="measure ruler distance"),
    Key("select-this", ("V",), "select_this", "select the slice or gap at the cursor; again: what "
        "is around it", _SELECT, also="range span"),
    Key("clear", ("escape",), "clear", "clear the selection, back to the timeline; else stop reading",
        _SELECT,
        mouse="right click", also="deselect none"),
    Key("row-up", ("k", "up"), "row(-1)", "row above", _PANELS, mouse="click"),
    Key("row-down", ("j", "down"), "row(1)", "row below", _PANELS, mouse="click"),
    Key("page-up", ("pageup",), "page(-1)", "a screenful of rows up", _PANELS,
        mouse="wheel over the labels"),
    Key("page-down", ("pagedown",), "page(1)", "a screenful of rows down", _PANELS,
        mouse="wheel over the labels"),
    Key("fold", ("c",), "fold", "show one, some or all rows of the lane", _PANELS,
        mouse="click on its label", also="collapse expand lane track"),
    Key("hide-lane", ("X",), "hide_lane", "hide the lane of the cursor", _PANELS,
        mouse="right click on its label", also="remove track"),
    Key("show-lanes", ("D",), "show_lanes", "hidden lanes: show one or all again", _PANELS,
        mouse="right click on a label", also="unhide tracks"),
    Key("pin-lane", ("circumflex_accent",), "pin_lane", "pin the lane to the top; again: let it go",
        _PANELS, mouse="right click on its label", also="sticky track"),
    Key("lane-up", ("shift+up",), "move_lane(-1)", "move the lane up", _PANELS,
        mouse="right click on its label", also="reorder move track"),
    Key("lane-down", ("shift+down",), "move_lane(1)", "move the lane down", _PANELS,
        mouse="right click on its label", also="reorder move track"),
    Key("lane-taller", ("9",), "lane_rows(1)", "one row more of the lane; beyond all: rows higher", _PANELS,
        mouse="right click on its label", also="resize height track"),
    Key("lane-shorter", ("8",), "lane_rows(-1)", "one row less of the lane, or rows lower", _PANELS,
        mouse="right click on its label", also="resize height track"),
    Key("lane-usual", ("0",), "lane_rows(0)", "as many rows of the lane as there is room for",
        _PANELS, mouse="right click on its label", also="reset height track"),
    Key("clock", ("W",), "clock", "times since the start, or on the wall clock", _VIEW,
        also="utc absolute relative time"),
    Key("follow", ("enter",), "follow", "go to what is chosen: gap, longest call, launch", _PANELS,
        mouse="click on a heatmap cell, double click on a table row"),
    Key("next-panel", ("tab",), "panel(1)", "next panel", _PANELS, "tab panel", "click on a panel"),
    Key("previous-panel", ("shift+tab",), "panel(-1)", "panel before", _PANELS),
    Key("only", ("vertical_line",), "only", "the part in focus on the whole screen; again: all", _PANELS,
        mouse="double click on its title", also="full screen fullscreen maximize zoom panel"),
    Key("panels-higher", ("ctrl+up", "tilde"), "panel_lines(2)", "panels higher", _PANELS,
        mouse="drag a panel's title", also="resize"),
    Key("panels-lower", ("ctrl+down", "underscore"), "panel_lines(-2)", "panels lower", _PANELS,
        mouse="drag a panel's title", also="resize"),
    Key("panel-wider", ("ctrl+right", "percent_sign"), "panel_width(1)", "the panel wider", _PANELS,
        also="resize"),
    Key("panel-narrower", ("ctrl+left", "dollar_sign"), "panel_width(-1)", "the panel narrower",
        _PANELS, also="resize"),
    Key("read", ("r",), "read", "read on in the region pane; at its end: from the start", _PANELS,
        mouse="wheel over the region pane"),
    Key("sort", ("t",), "sort", "sort the kernel table by the next column", _PANELS,
        mouse="click on a heading", also="order column"),
    Key("group-by", ("b",), "group_by", "rows of the kernel table: by shape, kernel, operator, module, "
        "family", _PANELS, also="aggregate"),
    Key("roofline", ("o",), "roofline", "roofline of the selection or window", _PANELS,
        also="arithmetic intensity flops"),
    Key("sections", ("A",), "sections", "views: custom kernel, vendor ties, compile, memory, steps …",
        _PANELS, "A views"),
    Key("finding", ("I",), "finding", "the finding in full: place with its source, regions", _PANELS,
        also="advice fix recommendation"),
    Key("folded", ("B",), "folded", "all steps over one another: where they differ", _PANELS,
        also="compare steps overlay"),
    Key("heat-rows", ("R",), "heat_rows", "rows of the heatmap: steps, streams, devices, ranks", _PANELS,
        also="heatmap ranks"),
    Key("queue", ("Q",), "queue", "show or hide the queue and the launch delay of each GPU", _PANELS,
        also="launch delay queue depth"),
    Key("older-window", ("left_parenthesis",), "window(-1)", "window before", _LIVE, "() window",
        "click on its cell", live=True),
    Key("newer-window", ("right_parenthesis",), "window(1)", "window after", _LIVE, live=True),
    Key("live", ("G",), "live", "back to the newest window, and follow", _LIVE, "G live", live=True),
    Key("record", ("e",), "record", "record a window now", _LIVE, "e record", live=True,
        also="capture profile"),
    Key("record-steps", ("E",), "record_steps", "record as many of the next steps as are typed",
        _LIVE, live=True),
    Key("pause", ("p",), "pause_recording", "pause recording; again: record on", _LIVE, "p pause",
        live=True),
    Key("save", ("S",), "save_window", "save this window to a file", _LIVE, "S save", live=True,
        also="export write"),
    Key("output", ("O",), "output", "the program's output on the whole screen", _LIVE, "O output",
        "click on its pane", live=True, also="log stdout"),
    Key("keyboard", ("semicolon",), "keyboard", "the keyboard to the program, until Ctrl-]", _LIVE,
        live=True),
    Key("rank", ("J",), "ranks", "ranks and processes: choose whose windows are shown", _LIVE,
        live=True, also="process"),
    Key("quality", ("exclamation_mark",), "quality", "how far the recording can be trusted", _OTHER,
        mouse="click on the notes in the header", also="warnings data trust"),
    Key("copy-view", ("y",), "copy_view", "copy a command line that opens exactly this view", _OTHER,
        also="share link clipboard"),
    Key("copy", ("Y",), "copy", "copy the fix, place, snippet or command of what is chosen", _OTHER,
        also="clipboard"),
    Key("edit", ("number_sign",), "edit", "open the line of code of what is chosen in $VISUAL or $EDITOR",
        _OTHER, also="source code editor"),
    Key("explain", ("at",), "explain", "explain owner, cause and numbers of what is chosen", _OTHER,
        also="what is this meaning glossary help"),
    Key("redraw", ("ctrl+l",), "redraw", "draw the screen anew", _OTHER, also="refresh repaint"),
    Key("theme", ("T",), "theme", "dark, light or colour-blind colours", _OTHER,
        also="light dark colour blind color"),
    Key("colour-by", ("C",), "colour_by", "colour bars by kernel family, owner, stream or name", _OTHER,
        also="color"),
    Key("legend", ("K",), "legend", "legend: what the colours in sight stand for, with times", _OTHER,
        also="colors key"),
    Key("picture", ("P",), "picture", "write this view as SVG and as text beside where you are", _OTHER,
        also="screenshot export svg image"),
    Key("commands", ("colon", "ctrl+p"), "command_palette", "commands by name", _OTHER,
        ": commands"),
    Key("help", ("question_mark",), "help", "this help", _OTHER, "? help", also="keys shortcuts"),
    Key("interrupt", ("ctrl+c",), "interrupt", "quit with status 130: interrupted", _OTHER),
    Key("quit", ("q",), "quit", "quit", _OTHER, "q quit", also="exit leave close"),
)  # fmt: skip


_in_use = KEYS


def use_keys(table: Iterable[Key]) -> None:
    """Let this table take the place of ``KEYS`` in everything that binds or shows keys."""
    global _in_use
    _in_use = tuple(table)


def current_keys(live: bool = False) -> tuple[Key, ...]:
    """The keys in use: ``KEYS``, but for those that the user has set.

    Args:
        live: those of a live screen too.
    """
    return tuple(key for key in _in_use if live or not key.live)


def rebind(bound: BindingsMap, live: bool = False) -> None:
    """Bind the keys in use in place of those of ``KEYS``."""
    if _in_use is KEYS:
        return
    from textual.binding import BindingsMap

    ids = {key.id for key in KEYS}
    for name, found in list(bound.key_to_bindings.items()):
        bound.key_to_bindings[name] = [one for one in found if one.id not in ids]
    for name, found in BindingsMap(bindings(live)).key_to_bindings.items():
        bound.key_to_bindings[name] = [*found, *bound.key_to_bindings.get(name, [])]


def bindings(live: bool = False) -> list[Binding]:
    """The bindings of the application."""
    from textual.binding import Binding

    return [
        Binding(
            ",".join(key.keys), key.action, key.does, id=key.id, show=False,
            # The screen would take these for itself.
            priority=bool(_CLAIMED & set(key.keys)),
        )
        for key in current_keys(live)
    ]  # fmt: skip


_CLAIMED = {"tab", "shift+tab", "ctrl+c"}


def footer_hints(live: bool = False) -> list[tuple[str, str]]:
    """(keys, word) of what the footer shows: help, quit and commands, then those of a live screen."""
    shown = [key for key in current_keys(live) if key.hint]
    first = sorted((key for key in shown if key.id in _FIRST), key=lambda key: _FIRST.index(key.id))
    rest = [key for key in shown if key.id not in _FIRST]
    ordered = [*first, *sorted(rest, key=lambda key: not key.live)]
    pairs = (key.hint.split(" ", 1) for key in ordered)
    return [(_on_terminal(keys), word) for keys, word in pairs]


def _on_terminal(keys: str) -> str:
    """The keys of a hint in what the terminal can write."""
    if BACKSPACE not in keys or writes_unicode():
        return keys
    parts = keys.split("/") if "/" in keys else list(keys)
    return "/".join("bksp" if part == BACKSPACE else part for part in parts)


def key_shown(id: str) -> str:
    """The first key of an action, as people read it."""
    return next((readable(key.keys[0]) for key in current_keys() if key.id == id and key.keys), id)


#: What the footer shows at every width: from there all others are found, by keys or mouse.
_FIRST = ("help", "quit", "commands")


def hinted(keys: str, live: bool = False) -> list[tuple[str, Key]]:
    """The keys of an entry of the footer, each with what it does.

    >>> [(text, key.id) for text, key in hinted("ws")], hinted("tab")[0][1].id
    ([('w', 'zoom-in'), ('s', 'zoom-out')], 'next-panel')
    """
    by_name = {readable(name): key for key in current_keys(live) for name in key.keys}
    for parts in ([keys], list(keys), keys.split("/")):
        if all(part in by_name for part in parts):
            return [(part, by_name[part]) for part in parts]
    return []

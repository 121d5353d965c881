"""What a program prints, as lines that are safe to show: its colours are kept, nothing else acts.

A terminal's worth of cursor movement is understood, as progress bars use it: carriage return,
backspace, up, down, to a column, erase. All other control sequences vanish; no control character
ever reaches the real terminal.
"""

from __future__ import annotations

import codecs
import re
import threading
from collections import deque
from typing import Any, Final

from rich.cells import cell_len
from rich.color import Color
from rich.style import Style

Piece = tuple[str, Style]

#: Lines that are kept, cells of one, and lines at the end that can still be written over.
MOST_LINES: Final = 5_000
MOST_CELLS: Final = 2_000
_ACTIVE: Final = 60

#: Bytes that wait to be taken, and that are taken at once: the rest is left out.
_MOST_WAITING: Final = 256 * 1024
TAKEN_AT_ONCE: Final = 96 * 1024

_TAB: Final = 8
_LONGEST_SEQUENCE: Final = 4096

_PLAIN = Style.null()

_SEQUENCE = re.compile(
    r"\x1b\[([0-?]*)[ -/]*([@-~])"  # CSI
    r"|\x1b[PX^_\]][^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC, DCS and the like
    r"|\x1b[ -/]*[0-OQ-WYZ\\`-~]"  # what is left of escapes
)
_TEXT = re.compile(r"[^\x00-\x1f\x7f-\x9f]+")


class ProgramOutput:
    """Bytes in, lines out; :meth:`feed` may be called by any thread and never blocks for long."""

    def __init__(self) -> None:
        """Nothing was printed."""
        self._lock = threading.Lock()
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self._left_out = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._style = _PLAIN
        self._done: deque[tuple[Piece, ...]] = deque(maxlen=MOST_LINES)
        self._lines: list[list[tuple[str, Style]]] = [[]]
        self._row = self._column = 0
        self.edition = 0

    def feed(self, data: bytes) -> None:
        """Take what the program has printed."""
        with self._lock:
            self._waiting.append(data)
            self._size += len(data)
            while self._size > _MOST_WAITING and len(self._waiting) > 1:
                dropped = self._waiting.popleft()
                self._size -= len(dropped)
                self._left_out += len(dropped)
            if self._size > _MOST_WAITING:
                (whole,) = self._waiting
                kept = whole[-_MOST_WAITING:]
                self._left_out += len(whole) - len(kept)
                self._waiting, self._size = deque([kept]), len(kept)

    def take(self) -> bool:
        """Make lines of what waits, a bounded part of it; whether there was anything."""
        with self._lock:
            left_out, self._left_out = self._left_out, 0
            data = b"".join(self._waiting)
            part, rest = data[:TAKEN_AT_ONCE], data[TAKEN_AT_ONCE:]
            self._waiting = deque([rest] if rest else [])
            self._size = len(rest)
        if left_out:
            self.say(f"{left_out:,} bytes of output left out: they came too fast to be shown")
        if part:
            self._write(self._decoder.decode(part))
        if part or left_out:
            self.edition += 1
        return bool(part or left_out)

    def say(self, text: str) -> None:
        """A line of ours among those of the program."""
        if self._lines[-1]:
            self._row, self._column = len(self._lines) - 1, 0
            self._new_line()
        self._row = len(self._lines) - 1
        self._lines[self._row] = [(char, Style(bold=True)) for char in f"• {text}"[:MOST_CELLS]]
        self._column = 0
        self._new_line()
        self.edition += 1

    def lines(self) -> list[tuple[Piece, ...]]:
        """All lines that are kept, oldest first, without an empty one at the end."""
        active = [_pieces(line) for line in self._lines]
        while active and not active[-1]:
            active.pop()
        return [*self._done, *active]

    def last(self, count: int) -> list[tuple[Piece, ...]]:
        """The last lines."""
        active = [_pieces(line) for line in self._lines[-count - 1 :]]
        while active and not active[-1]:
            active.pop()
        if len(active) >= count:
            return active[-count:] if count else []
        done = list(self._done)[-(count - len(active)) :]
        return [*done, *active]

    def _write(self, text: str) -> None:
        text = self._rest + text
        self._rest = ""
        place = 0
        while place < len(text):
            found = _TEXT.match(text, place)
            if found is not None:
                self._put(found.group())
                place = found.end()
                continue
            char = text[place]
            if char == "\x1b":
                sequence = _SEQUENCE.match(text, place)
                if sequence is not None:
                    self._obey(sequence)
                    place = sequence.end()
                    continue
                if _may_go_on(text, place):
                    self._rest = text[place:]
                    return
            else:
                self._control(char)
            place += 1

    def _control(self, char: str) -> None:
        if char == "\n":
            self._new_line()
        elif char == "\r":
            self._column = 0
        elif char == "\b":
            self._column = max(self._column - 1, 0)
        elif char == "\t":
            self._column = min((self._column // _TAB + 1) * _TAB, MOST_CELLS)

    def _put(self, text: str) -> None:
        line, style = self._lines[self._row], self._style
        for char in text:
            if self._column >= MOST_CELLS:
                return
            if not char.isprintable():
                char = "\N{REPLACEMENT CHARACTER}"
            while len(line) < self._column:
                line.append((" ", _PLAIN))
            if cell_len(char) == 0:
                continue  # what joins the character before it would make widths differ
            line[self._column : self._column + 1] = [(char, style)]
            self._column += 1

    def _new_line(self) -> None:
        self._column = 0
        self._row += 1
        if self._row >= len(self._lines):
            self._lines.append([])
            while len(self._lines) > _ACTIVE:
                self._done.append(_pieces(self._lines.pop(0)))
            self._row = len(self._lines) - 1

    def _obey(self, sequence: re.Match[str]) -> None:
        final = sequence.group(2)
        if final is None:
            return
        if final == "m":
            self._style = styled(self._style, sequence.group(1))
            return
        first = sequence.group(1).split(";")[0]
        count = int(first[:5]) if first.isdecimal() else 0
        if final in "AF":
            self._row = max(self._row - max(count, 1), 0)
        elif final in "BE":
            self._row = min(self._row + max(count, 1), len(self._lines) - 1)
        elif final == "C":
            self._column = min(self._column + max(count, 1), MOST_CELLS)
        elif final == "D":
            self._column = max(self._column - max(count, 1), 0)
        elif final == "G":
            self._column = min(max(count, 1) - 1, MOST_CELLS)
        elif final == "K":
            self._erase(count)
        elif final == "J" and count in (0, 2, 3):
            self._erase(0 if count == 0 else 2)
            del self._lines[self._row + 1 :]
        if final in "EF":
            self._column = 0

    def _erase(self, part: int) -> None:
        line = self._lines[self._row]
        if part == 0:
            del line[self._column :]
        elif part == 1:
            line[: self._column] = [(" ", _PLAIN)] * min(self._column, len(line))
        else:
            line.clear()


def _may_go_on(text: str, place: int) -> bool:
    """Whether an escape at the end may be the beginning of a longer one."""
    rest = text[place:]
    if len(rest) > _LONGEST_SEQUENCE:
        return False
    if len(rest) == 1:
        return True
    if rest[1] == "[":
        return re.fullmatch(r"\x1b\[[0-?]*[ -/]*", rest) is not None
    if rest[1] in "PX^_]":
        return re.fullmatch(r"\x1b[PX^_\]][^\x07\x1b]*\x1b?", rest) is not None
    return re.fullmatch(r"\x1b[ -/]+", rest) is not None


def _pieces(line: list[tuple[str, Style]]) -> tuple[Piece, ...]:
    """Neighbours of one style together, spaces at the end left out."""
    end = len(line)
    while end and line[end - 1] == (" ", _PLAIN):
        end -= 1
    pieces: list[Piece] = []
    run: list[str] = []
    style = _PLAIN
    for char, its in line[:end]:
        if its is not style and run:
            pieces.append(("".join(run), style))
            run = []
        style = its
        run.append(char)
    if run:
        pieces.append(("".join(run), style))
    return tuple(pieces)


_FLAGS: Final[dict[int, dict[str, Any]]] = {
    1: {"bold": True}, 2: {"dim": True}, 3: {"italic": True}, 4: {"underline": True},
    7: {"reverse": True}, 9: {"strike": True},
    22: {"bold": False, "dim": False}, 23: {"italic": False}, 24: {"underline": False},
    27: {"reverse": False}, 29: {"strike": False},
}  # fmt: skip


def styled(style: Style, parameters: str) -> Style:
    """A style after a ``CSI … m``; what is not understood changes nothing."""
    codes = [int(one[:4]) if one.isdecimal() else 0 for one in re.split("[;:]", parameters)]
    while codes:
        code = codes.pop(0)
        if code == 0:
            style = _PLAIN
        elif code in _FLAGS:
            style = style + Style(**_FLAGS[code])
        elif 30 <= code <= 37 or 90 <= code <= 97:
            style = style + Style(color=Color.from_ansi(code - 30 if code < 90 else code - 82))
        elif 40 <= code <= 47 or 100 <= code <= 107:
            style = style + Style(bgcolor=Color.from_ansi(code - 40 if code < 100 else code - 92))
        elif code in (38, 48):
            colour = _extended(codes)
            if colour is not None:
                style = style + (Style(color=colour) if code == 38 else Style(bgcolor=colour))
        elif code == 39:
            style = style.without_color + Style.from_color(None, style.bgcolor)
        elif code == 49:
            style = style.without_color + Style.from_color(style.color, None)
    return style


def _extended(codes: list[int]) -> Color | None:
    kind = codes.pop(0) if codes else -1
    if kind == 5 and codes:
        return Color.from_ansi(min(codes.pop(0), 255))
    if kind == 2 and len(codes) >= 3:
        red, green, blue = (min(codes.pop(0), 255) for _ in range(3))
        return Color.from_rgb(red, green, blue)
    codes.clear()  # what follows belongs to a colour that is not understood
    return None

"""A picture of dots in cells of text: eight to a cell in Braille, one to a cell in ASCII."""

from __future__ import annotations

from itertools import groupby

Run = tuple[str, int]
"""Text and the ink that all of it has."""

#: No ink: an empty cell.
BLANK = -1

_BRAILLE = 0x2800
#: Bit of the dot in column x and row y of a cell, as Unicode numbers them.
_BITS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))


class Canvas:
    """A grid of dots; a cell takes the ink of the dot that was set last, or of its text."""

    def __init__(self, cells: int, rows: int, ascii_only: bool = False) -> None:
        """Start empty, ``cells`` times ``rows`` cells large."""
        self.cells, self.rows = max(cells, 0), max(rows, 0)
        self.ascii_only = ascii_only
        self._across, self._down = (1, 1) if ascii_only else (2, 4)
        self._glyphs = [[0] * self.cells for _ in range(self.rows)]
        self._inks = [[BLANK] * self.cells for _ in range(self.rows)]
        self._texts: dict[tuple[int, int], str] = {}

    @property
    def width(self) -> int:
        """Dots across."""
        return self.cells * self._across

    @property
    def height(self) -> int:
        """Dots down."""
        return self.rows * self._down

    def dot(self, x: int, y: int, ink: int, glyph: str = ".") -> None:
        """Set a dot, counted from the top left; ``glyph`` stands for it in ASCII."""
        if not (0 <= x < self.width and 0 <= y < self.height):
            return
        cell, row = x // self._across, y // self._down
        if self.ascii_only:
            self._glyphs[row][cell] = ord(glyph)
        else:
            self._glyphs[row][cell] |= _BITS[x % 2][y % 4]
        if (row, cell) not in self._texts:
            self._inks[row][cell] = ink

    def disc(self, x: int, y: int, radius: float, ink: int, glyph: str = "o") -> None:
        """Set all dots within a radius; in ASCII the one in the middle."""
        if self.ascii_only:
            self.dot(x, y, ink, glyph)
            return
        reach = int(radius)
        for dx in range(-reach, reach + 1):
            for dy in range(-reach, reach + 1):
                if dx * dx + dy * dy <= radius * radius:
                    self.dot(x + dx, y + dy, ink)

    def ring(self, x: int, y: int, radius: float, ink: int, glyph: str = "#") -> None:
        """Set the dots about a radius away; in ASCII the one in the middle."""
        if self.ascii_only:
            self.dot(x, y, ink, glyph)
            return
        reach = int(radius) + 1
        for dx in range(-reach, reach + 1):
            for dy in range(-reach, reach + 1):
                if abs((dx * dx + dy * dy) ** 0.5 - radius) < 0.5:
                    self.dot(x + dx, y + dy, ink)

    def text(self, cell: int, row: int, text: str, ink: int) -> bool:
        """Write over dots, if all of it fits and no other text is there.

        Returns:
            Whether it was written.
        """
        if not (0 <= row < self.rows and 0 <= cell and cell + len(text) <= self.cells):
            return False
        places = [(row, cell + index) for index in range(-1, len(text) + 1)]
        if any(place in self._texts for place in places):
            return False
        for place, character in zip(places[1:-1], text, strict=True):
            self._texts[place] = character
            self._inks[row][place[1]] = ink
        return True

    def lines(self) -> list[list[Run]]:
        """The picture from the top, each line as runs of one ink that fill its width."""
        return [self._line(row) for row in range(self.rows)]

    def _line(self, row: int) -> list[Run]:
        marks = [(self._character(row, cell), self._inks[row][cell]) for cell in range(self.cells)]
        return [
            ("".join(character for character, _ in run), ink)
            for ink, run in groupby(marks, key=lambda mark: mark[1])
        ]

    def _character(self, row: int, cell: int) -> str:
        text = self._texts.get((row, cell))
        if text is not None:
            return text
        glyph = self._glyphs[row][cell]
        if not glyph:
            return " "
        return chr(glyph) if self.ascii_only else chr(_BRAILLE + glyph)

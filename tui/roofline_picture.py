"""A roofline as lines of text: axes, roofs, and the points of groups of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from whichlayer.analysis.layers import Layer
from whichlayer.tui.braille import BLANK, Canvas, Run
from whichlayer.tui.roofline import Point, Roof, Roofline, Scale, prefixed, scale_of

#: Inks of layers follow those of the frame.
_LAYERS = 10


class Ink(IntEnum):
    """What a cell of the picture shows; points have the ink of their owner."""

    BLANK = BLANK
    LABEL = 0
    AXIS = 1
    ROOF = 2
    ROOF_NAME = 3
    CHOSEN = 4
    TITLE = 5


def layer_ink(layer: Layer) -> int:
    """The ink of the points of a layer."""
    return _LAYERS + int(layer)


def layer_of(ink: int) -> Layer | None:
    """The layer of an ink, None for the frame."""
    return Layer(ink - _LAYERS) if ink >= _LAYERS else None


#: Cells of the labels at the left of a plot, and of the axis itself.
_LABEL_CELLS = 5
#: Lines of a plot that are not for dots: the title, the axis, its labels, its name.
_FRAME_ROWS = 4

#: Points of a smaller share of the time do not stretch the axis of rates.
_RULING = 0.0002

#: From these shares of the time on a point has this radius in dots, and this glyph in ASCII.
SIZES = ((0.15, 3.5, "@"), (0.05, 2.5, "O"), (0.01, 1.5, "o"), (0.001, 1.0, "."), (0.0, 0.0, "."))


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a point was drawn, in cells of the picture."""

    point: Point
    cell: int
    row: int


@dataclass(frozen=True, slots=True)
class Picture:
    """Lines of the picture and the places of its points."""

    lines: tuple[tuple[Run, ...], ...]
    placed: tuple[Placed, ...]


@dataclass(frozen=True, slots=True)
class _Plot:
    """One of the two plots: what is in it and what its axes say."""

    title: str
    x_name: str
    y_name: str
    points: tuple[Point, ...]
    roofs: tuple[Roof, ...]
    slope: float | None = None


def draw(
    roofline: Roofline, cells: int, rows: int, chosen: int | None, ascii_only: bool = False
) -> Picture:
    """Draw both plots side by side, or the one that has points.

    Args:
        roofline: what to draw.
        cells: columns that there are.
        rows: lines that there are.
        chosen: index into ``Analysis.kernels`` of the group to highlight, or None.
        ascii_only: draw without any other characters.
    """
    plots = _plots(roofline)
    widths = [cells] if len(plots) == 1 else [cells * 11 // 20, cells - cells * 11 // 20]
    drawn = [
        _draw(plot, width - (index > 0), rows, chosen, ascii_only)
        for index, (plot, width) in enumerate(zip(plots, widths, strict=True))
    ]
    lines: list[tuple[Run, ...]] = []
    for parts in zip(*(picture.lines for picture in drawn), strict=True):
        joined: list[Run] = []
        for index, part in enumerate(parts):
            joined += [(" ", int(Ink.BLANK)), *part] if index else part
        lines.append(tuple(joined))
    placed = list(drawn[0].placed)
    for picture in drawn[1:]:
        placed += [Placed(one.point, one.cell + widths[0] + 1, one.row) for one in picture.placed]
    return Picture(tuple(lines), tuple(placed))


def _plots(roofline: Roofline) -> list[_Plot]:
    plots = []
    if roofline.compute or not roofline.memory:
        plots.append(
            _Plot(
                "matrix work: FLOP/s",
                "FLOP per byte",
                "FLOP/s",
                roofline.compute,
                roofline.roofs,
                roofline.bandwidth,
            )
        )
    if roofline.memory:
        band = roofline.bandwidth
        roofs = (Roof("memory", band),) if band else ()
        plots.append(
            _Plot("all other kernels: B/s", "bytes per call", "B/s", roofline.memory, roofs)
        )
    return plots


def _draw(plot: _Plot, cells: int, rows: int, chosen: int | None, ascii_only: bool) -> Picture:
    canvas = Canvas(cells - _LABEL_CELLS - 1, rows - _FRAME_ROWS, ascii_only)
    if canvas.cells < 4 or canvas.rows < 2:
        blank = ((" " * max(cells, 0), int(Ink.BLANK)),)
        return Picture(tuple(blank for _ in range(rows)), ())
    levels = [roof.level for roof in plot.roofs]
    ridges = [level / plot.slope for level in levels] if plot.slope else []
    # What takes next to no time may lie on the lower edge: it must not squeeze all the others.
    ruling = [point for point in plot.points if point.share >= _RULING] or plot.points
    x = scale_of([point.x for point in plot.points], ridges, canvas.width)
    y = scale_of([point.y for point in ruling], levels, canvas.height)
    _roofs(canvas, plot, x, y)
    placed, mark = _points(canvas, plot.points, x, y, chosen)
    lines = [[(f"{plot.title:<{cells}}"[:cells], int(Ink.TITLE))]]
    lines += _with_labels(canvas, y, mark)
    lines += _under(canvas, x, plot.x_name, mark)
    return Picture(
        tuple(tuple(line) for line in lines),
        tuple(
            Placed(
                point,
                _LABEL_CELLS + 1 + at // (canvas.width // canvas.cells),
                1 + down // (canvas.height // canvas.rows),
            )
            for point, at, down in placed
        ),
    )


def _roofs(canvas: Canvas, plot: _Plot, x: Scale, y: Scale) -> None:
    """The limits: flat from the ridge on, and the slope of the bandwidth up to the last ridge."""
    top = canvas.height - 1
    highest = max((roof.level for roof in plot.roofs), default=None)
    for at in range(canvas.width):
        value = x.value(at)
        for roof in plot.roofs:
            if plot.slope is None or value * plot.slope >= roof.level:
                canvas.dot(at, top - y.place(roof.level), Ink.ROOF, "-")
        if plot.slope is not None:
            level = value * plot.slope
            if y.low <= level <= (highest if highest is not None else y.high):
                canvas.dot(at, top - y.place(level), Ink.ROOF, "/")
    if plot.slope is not None:
        _join(canvas, plot.slope, x, y, highest)
    for roof in plot.roofs:
        unit = "FLOP/s" if plot.slope is not None else "B/s"
        text = f"{roof.name} {prefixed(roof.level)}{unit}"
        row = (top - y.place(roof.level)) // (canvas.height // canvas.rows)
        for place in (row - 1, row + 1):
            if canvas.text(canvas.cells - len(text), place, text, Ink.ROOF_NAME):
                break
    if plot.slope is not None:
        _name_slope(canvas, plot.slope, x, y, highest)


def _join(canvas: Canvas, slope: float, x: Scale, y: Scale, highest: float | None) -> None:
    """Fill the dots between the columns of a steep slope."""
    if canvas.ascii_only:
        return
    top = canvas.height - 1
    limit = highest if highest is not None else y.high
    for down in range(canvas.height):
        level = y.value(top - down)
        if level <= limit and x.low <= level / slope <= x.high:
            canvas.dot(x.place(level / slope), down, Ink.ROOF)


def _name_slope(canvas: Canvas, slope: float, x: Scale, y: Scale, highest: float | None) -> None:
    """The bandwidth beside its slope: to the left of it, where there is room."""
    text = f"{prefixed(slope)}B/s"
    across, down = canvas.width // canvas.cells, canvas.height // canvas.rows
    places = []
    for row in range(canvas.rows // 4, canvas.rows):
        level = y.value(canvas.height - 1 - row * down)
        if highest is None or level <= highest:
            places.append((x.place(level / slope) // across, row))
    for left in (True, False):
        for cell, row in places:
            at = cell - len(text) - 1 if left else cell + 3
            if at >= 1 and canvas.text(at, row, text, Ink.ROOF_NAME):
                return


def _points(
    canvas: Canvas, points: Sequence[Point], x: Scale, y: Scale, chosen: int | None
) -> tuple[list[tuple[Point, int, int]], tuple[int, int] | None]:
    """Draw the points, the largest on top, and a ring around the chosen one."""
    top, placed, mark = canvas.height - 1, [], None
    for point in reversed(points):
        at, down = x.place(point.x), top - y.place(point.y)
        radius, glyph = next((r, g) for share, r, g in SIZES if point.share >= share)
        canvas.disc(at, down, radius, layer_ink(point.row.group.layer), glyph)
        placed.append((point, at, down))
    for point, at, down in placed:
        if point.row.index == chosen:
            radius, _ = next((r, g) for share, r, g in SIZES if point.share >= share)
            canvas.disc(at, down, radius, Ink.CHOSEN, "#")
            canvas.ring(at, down, radius + 2, Ink.CHOSEN)
            mark = (at, down)
    return placed, mark


def _with_labels(canvas: Canvas, y: Scale, mark: tuple[int, int] | None) -> list[list[Run]]:
    """The picture with its ticks at the left; where two fall on a line, the higher."""
    down = canvas.height // canvas.rows
    names: dict[int, str] = {}
    for value in y.ticks():
        names[(canvas.height - 1 - y.place(value)) // down] = prefixed(value)
    chosen = None if mark is None else mark[1] // down
    bar, tick, pointer = ("|", "+", ">") if canvas.ascii_only else ("│", "┤", "▶")
    lines: list[list[Run]] = []
    for row, runs in enumerate(canvas.lines()):
        edge = tick if row in names else bar
        ink = Ink.AXIS
        if row == chosen:
            edge, ink = pointer, Ink.CHOSEN
        label = f"{names.get(row, ''):>{_LABEL_CELLS}}"
        lines.append([(label, int(Ink.LABEL)), (edge, int(ink)), *runs])
    return lines


def _under(canvas: Canvas, x: Scale, name: str, mark: tuple[int, int] | None) -> list[list[Run]]:
    """The axis below with its ticks, and what it measures."""
    across = canvas.width // canvas.cells
    corner, line, tick, pointer = (
        ("+", "-", "+", "^") if canvas.ascii_only else ("└", "─", "┬", "▲")
    )
    axis = [line] * canvas.cells
    labels = Canvas(canvas.cells, 1)
    for value in x.ticks():
        cell = x.place(value) // across
        text = prefixed(value)
        at = min(max(cell - len(text) // 2, 0), canvas.cells - len(text))
        if labels.text(at, 0, text, Ink.LABEL):
            axis[cell] = tick
    margin = (" " * (_LABEL_CELLS + 1), int(Ink.BLANK))
    runs: list[Run] = [("".join(axis), int(Ink.AXIS))]
    if mark is not None:
        cell = mark[0] // across
        text = "".join(axis)
        runs = [
            (text[:cell], int(Ink.AXIS)),
            (pointer, int(Ink.CHOSEN)),
            (text[cell + 1 :], int(Ink.AXIS)),
        ]
    return [
        [(" " * _LABEL_CELLS, int(Ink.BLANK)), (corner, int(Ink.AXIS)), *runs],
        [margin, *labels.lines()[0]],
        [margin, (f"{name:^{canvas.cells}}"[: canvas.cells], int(Ink.LABEL))],
    ]

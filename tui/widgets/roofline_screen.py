"""The roofline over the screen: every group of kernels under the roofs of its card."""

from __future__ import annotations

import re

from rich.style import Style
from textual import events
from textual.app import ComposeResult
from textual.strip import Strip
from textual.widget import Widget

from whichlayer.analysis.kernels.throughput import throughput_of
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.report.units import UNKNOWN, rate_text, share_text, time_text
from whichlayer.analysis.results import Analysis, KernelGroup
from whichlayer.analysis.text import clean
from whichlayer.tui.palette import Palette
from whichlayer.tui.roofline import Point, prefixed, roofline_of
from whichlayer.tui.roofline_picture import SIZES, Ink, Picture, draw, layer_of
from whichlayer.tui.widgets.over_screen import OverScreen
from whichlayer.tui.widgets.pane import Piece, shortened, strip_of

#: Lines below the picture: name, operator, two of figures, why, legend.
_DETAILS = 6
_FEW_DETAILS = 4
#: Below this height the details are the most important ones only.
_HIGH = 20
#: A click further away than this many cells chooses nothing.
_NEAR = 6

#: For terminals without anything else.
_ASCII = str.maketrans({"·": "-", "…": "~", "–": "-", "µ": "u", "≤": "<", "↑": "up", "↓": "down",
                        "×": "x", "↔": "-"})  # fmt: skip

#: What the screen returns: a group, and whether its longest call is asked for.
Choice = tuple[int, bool]

#: Rates as the reason of a judgement gives them.
_RATES_IN_WHY = re.compile(
    r"(?:^|(?<=; ))[\d.e+]+ (?:[GT]B/s|TFLOP/s \w+), \d+% of the data sheet(?:; |(?= \()|$)"
)


class RooflineScreen(OverScreen[Choice]):
    """A picture over the screen; closing it leaves its group chosen in the kernel table."""

    BINDINGS = [  # noqa: RUF012
        ("escape,q", "leave", "close"),
        ("down,j,right,l,tab", "next(1)", "next group by time"),
        ("up,k,left,h,shift+tab", "next(-1)", "group before"),
        ("home", "edge(0)", "the group with the most time"),
        ("end", "edge(-1)", "the one with the least"),
        ("enter", "follow", "go to its longest call"),
    ]

    OWN = "roofline"

    def __init__(
        self,
        palette: Palette,
        analysis: Analysis,
        device: int,
        span: tuple[int, int] | None,
        chosen: int | None = None,
        ascii_only: bool = False,
    ) -> None:
        """Take what is to be shown.

        Args:
            palette: the colours.
            analysis: what is known.
            device: index of the device whose roofs are drawn.
            span: the selection, or None for the analysed window.
            chosen: index of the group that is highlighted at first.
            ascii_only: draw without any other characters.
        """
        super().__init__()
        self.plot = RooflinePlot(palette, analysis, device, span, chosen, ascii_only)

    def compose(self) -> ComposeResult:
        """One picture, as large as the screen."""
        yield self.plot

    def action_next(self, step: int) -> None:
        """Choose the next group by time."""
        self.plot.choose(self.plot.place + step)

    def action_edge(self, place: int) -> None:
        """Choose the first or the last group by time."""
        self.plot.choose(place % max(len(self.plot.points), 1))

    def action_follow(self) -> None:
        """Close, and go to the longest call of the group."""
        self.dismiss(None if self.plot.chosen is None else (self.plot.chosen, True))

    def action_leave(self) -> None:
        """Close."""
        self.dismiss(None if self.plot.chosen is None else (self.plot.chosen, False))


class RooflinePlot(Widget):
    """The picture and what it says of the chosen group."""

    ALLOW_SELECT = False

    def __init__(
        self,
        palette: Palette,
        analysis: Analysis,
        device: int,
        span: tuple[int, int] | None,
        chosen: int | None,
        ascii_only: bool,
    ) -> None:
        """Choose the group that takes most time, unless another is asked for."""
        super().__init__(id="roofline")
        self._palette, self._ascii = palette, ascii_only
        self.roofline = roofline_of(analysis, device, span)
        self._of_span = span is not None
        self.points = self.roofline.points
        places = {point.row.index: place for place, point in enumerate(self.points)}
        self.place = places.get(-1 if chosen is None else chosen, 0)
        self._picture: Picture | None = None
        what = "selection" if span is not None else "window"
        shown = f"{time_text(self.roofline.total_ns)} of kernels in the {what}"
        card = clean(self.roofline.device)
        mfu = None if span is not None else throughput_of(analysis).mfu
        steps = "" if mfu is None else f"MFU of the steps {share_text(mfu)}"
        title = " · ".join(part for part in ("roofline", card, shown, steps) if part)
        keys = "↑ ↓ group · enter longest call · esc closes"
        if ascii_only:
            self.styles.border = ("ascii", palette.colours.accent)
            title, keys = title.translate(_ASCII), keys.translate(_ASCII)
        self.border_title, self.border_subtitle = title, keys

    @property
    def chosen(self) -> int | None:
        """Index of the highlighted group, or None where none has figures."""
        return self.points[self.place].row.index if self.points else None

    def choose(self, place: int) -> None:
        """Highlight another group."""
        place = min(max(place, 0), max(len(self.points) - 1, 0))
        if place != self.place:
            self.place = place
            self._picture = None
            self.refresh()

    def on_resize(self) -> None:
        """Draw anew."""
        self._picture = None

    @property
    def picture(self) -> Picture:
        """The picture at the size of now."""
        if self._picture is None:
            rows = max(self.size.height - self._details, 0)
            self._picture = draw(self.roofline, self.size.width, rows, self.chosen, self._ascii)
        return self._picture

    @property
    def _details(self) -> int:
        return _DETAILS if self.size.height >= _HIGH else _FEW_DETAILS

    def render_line(self, y: int) -> Strip:
        """A line of the picture, or one of what is said below it."""
        width, text = self.size.width, self._palette.text
        lines = self.picture.lines
        if y < len(lines):
            return strip_of([(run, self._style(ink)) for run, ink in lines[y]], width, text)
        said = self._said()
        index = y - len(lines)
        return strip_of(said[index] if index < len(said) else [], width, text)

    def on_click(self, event: events.Click) -> None:
        """Choose the nearest point; a second click goes to its longest call."""
        gutter = self.gutter
        x, y = event.x - gutter.left, event.y - gutter.top
        near = [
            (abs(one.cell - x) + 2 * abs(one.row - y), -one.point.row.time_ns, one.point)
            for one in self.picture.placed
        ]
        distance, _, point = min(near, default=(_NEAR + 1, 0, None), key=lambda one: one[:2])
        if point is None or distance > _NEAR:
            return
        self.choose(self.points.index(point))
        if event.chain == 2 and isinstance(self.screen, RooflineScreen):
            self.screen.action_follow()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The next group by time."""
        event.stop()
        self.choose(self.place + 1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The group before."""
        event.stop()
        self.choose(self.place - 1)

    def _style(self, ink: int) -> Style:
        palette = self._palette
        layer = layer_of(ink)
        if layer is not None:
            return palette.dim if layer == Layer.NONE else palette.layer(layer, strong=False)
        return {
            Ink.AXIS: palette.faint,
            Ink.ROOF: palette.dim,
            Ink.ROOF_NAME: palette.text,
            Ink.CHOSEN: palette.accent,
            Ink.TITLE: palette.strong,
        }.get(Ink(ink), palette.dim)

    def _said(self) -> list[list[Piece]]:
        palette, width = self._palette, self.size.width
        if not self.points:
            return [[(shortened(line, width), palette.dim)] for line in self._nothing()]
        point = self.points[self.place]
        group = point.row.group
        place = f"  {self.place + 1} of {len(self.points)} by time"
        room = max(width - 4 - len(place), 4)
        name: list[Piece] = [
            (f" {group.layer.text.letter} ", palette.layer(group.layer, strong=True)),
            (f" {shortened(clean(group.short_name), room)}", palette.strong),
            (place, palette.dim),
        ]
        lines = [_figures(point), _rates(point)]
        if self.size.height >= _HIGH:
            lines = [clean(f"{group.operator} {group.shapes}"), *lines, _why(group)]
        said = [name, *([(f"    {shortened(line, width - 4)}", palette.text)] for line in lines)]
        said.append([(self._legend(), palette.dim)])
        if not self._ascii:
            return said
        return [[(text.translate(_ASCII), style) for text, style in line] for line in said]

    def _nothing(self) -> list[str]:
        """Why there is no point, one reason a line, as many as there is room for."""
        roofline = self.roofline
        if not roofline.total_ns:
            here = "the selection" if self._of_span else "the window"
            return [f"no kernel runs in {here}: select a stretch with work, or esc and f for all"]
        lines = ["no kernel here has known flops or bytes:"]
        for why, time_ns in roofline.reasons[: self._details - 2]:
            share = share_text(time_ns, roofline.total_ns)
            lines.append(f"  {share} of the time: {clean(why)}")
        more = len(roofline.reasons) - (self._details - 2)
        last = [f"  and {more} more reasons: the region pane tells that of each kernel"]
        lines += last if more > 0 else [self._legend()] if roofline.note else []
        return [line.translate(_ASCII) for line in lines] if self._ascii else lines

    def _legend(self) -> str:
        """Sizes of points, and what is not in the picture."""
        if self.roofline.note:
            return clean(f"no roofs: {self.roofline.note}")
        sizes = "  ".join(
            f"{glyph} {100 * share:.0f} %" for share, _, glyph in reversed(SIZES) if share >= 0.01
        )
        points = f"{sizes} of the time" if self._ascii else "size: share of the time"
        text = f"{points} · colour: owner of the loss"
        missing = self.roofline.unplaced_ns
        if missing:
            share = share_text(missing, self.roofline.total_ns)
            text = f"without figures: {time_text(missing)} ({share}) · {text}"
        return text


def _why(group: KernelGroup) -> str:
    """How it was judged, without the rates, which stand in the line above."""
    flags = f"[{', '.join(group.flags)}] " if group.flags else ""
    why = _RATES_IN_WHY.sub("", clean(group.why)).strip().removesuffix(";")
    return flags + (
        why or group.rule or ("no rule explains it" if group.lost_ns else "at the roof")
    )


def _figures(point: Point) -> str:
    row, group = point.row, point.row.group
    parts = [
        f"{time_text(row.time_ns)} ({share_text(point.share)})",
        f"{row.calls} calls",
    ]
    if group.roof_fraction is not None:
        parts.append(f"{100 * group.roof_fraction:.0f} % of roof")
    if group.lost_ns:
        parts.append(f"{time_text(group.lost_ns)} lost")
    parts.append(f"{group.bound} bound")
    return "  ".join(parts)


def _rates(point: Point) -> str:
    group = point.row.group
    parts = [_of(group.gbps, "GB/s", group.bandwidth_fraction, "data sheet")]
    if group.flops is not None:
        parts.append(_of(group.tflops, "TFLOP/s", group.flops_fraction, _dense(group)))
        parts.append(f"{prefixed(point.x)} FLOP/B")
    else:
        parts.append(f"{prefixed(point.x)}B per call")
    return "  ".join(parts)


def _dense(group: KernelGroup) -> str:
    return f"{group.precision} dense" if group.precision else "the dense rate"


def _of(value: float | None, unit: str, share: float | None, whole: str) -> str:
    if value is None:
        return f"{UNKNOWN} {unit}"
    return f"{rate_text(value)} {unit}" + ("" if share is None else f", {share:.0%} of {whole}")

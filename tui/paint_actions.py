"""How the timeline is coloured, what its colours stand for, and pictures of the screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from textual.filter import LineFilter, Monochrome, NoColor

from whichlayer.tui.colours import THEMES
from whichlayer.tui.deferred import Deferred
from whichlayer.tui.screen_settings import THEME_PREFIX, writes_unicode
from whichlayer.tui.slots import ColourBy
from whichlayer.tui.undo import Part
from whichlayer.tui.undoing import Undoing
from whichlayer.tui.widgets.header import Header

# Nobody asks for these before the first picture.
if TYPE_CHECKING:
    from whichlayer.tui import legend, pictures
    from whichlayer.tui.widgets.timeline import Timeline
else:
    legend = Deferred("whichlayer.tui.legend")
    pictures = Deferred("whichlayer.tui.pictures")


class PaintActions(Undoing):
    """``C K P T``."""

    def __init__(self, **settings: Any) -> None:
        """Bars have the colours of their families."""
        super().__init__(**settings)
        self.coloured_by = ColourBy.FAMILY
        self._makes_plain = not writes_unicode()
        self._plain_for = ""
        self._plain: list[LineFilter] = []

    @property
    def _timeline(self) -> Timeline:
        from whichlayer.tui.widgets.timeline import Timeline

        return self.screen_stack[0].query_one(Timeline)

    def part_now(self, part: Part) -> Any:
        """What colours tell, and the theme."""
        if part is Part.COLOURS:
            return self.coloured_by
        return self._theme_word if part is Part.THEME else super().part_now(part)

    def put_part(self, part: Part, before: Any, after: Any) -> str:
        """Let colours tell something else, or be others."""
        if part is Part.COLOURS:
            self._colour(after)
        elif part is Part.THEME:
            self.theme = next(name for name in THEMES if _word_of(name) == after)
        else:
            return super().put_part(part, before, after)
        return ""

    @property
    def _theme_word(self) -> str:
        return _word_of(self.theme)

    def action_theme(self) -> None:
        """The next theme: dark, light, and both for the colour-blind."""
        names = list(THEMES)
        with self.one_act(Part.THEME):
            self.theme = names[(names.index(self.theme) + 1) % len(names)]
        self.say(f"colours: {self._theme_word}")

    def action_colour_by(self) -> None:
        """Let colours tell the next thing of bars."""
        by = self.coloured_by.following
        if by is ColourBy.OWNER and (self.document is None or self.document.analysis is None):
            by = by.following  # owners are not known yet
        with self.one_act(Part.COLOURS):
            self._colour(by)
        self.say(f"bars are coloured by {by.value}")

    def _colour(self, by: ColourBy) -> None:
        self.coloured_by = by
        self._timeline.colour(by)
        self.screen_stack[0].query_one(Header).tell_colours(by)

    def action_legend(self) -> None:
        """What the colours in sight stand for."""
        if self.document is None or self.look is None:
            self.say("nothing is drawn yet")
            return
        from whichlayer.tui.widgets.legend_screen import LegendScreen

        timeline = self._timeline
        sections = legend.legend_of(self.document, timeline.drawn_rows(), self.look.port,
                                    self.coloured_by)  # fmt: skip
        self.push_screen(LegendScreen(timeline.palette, self.coloured_by, sections))

    def action_picture(self) -> None:
        """Write what the screen shows as SVG and as text."""
        try:
            paths = pictures.write_pictures(self, self.source_name)
        except OSError as error:
            self.say(f"no picture: {error.strerror or error}")
        else:
            self.say(f"wrote {paths[0]} and {paths[1].name}")

    @property
    def source_name(self) -> str:
        """What is shown: a path, or what stands for one."""
        raise NotImplementedError

    def get_line_filters(self) -> Sequence[LineFilter]:
        """What lines go through: Textual's filters, but without colours only attributes."""
        found = super().get_line_filters()
        if not self._makes_plain and not self.no_color:
            return found
        from whichlayer.tui import plain_filters

        if self._plain_for != self.theme:
            self._plain_for = self.theme
            self._plain = plain_filters.filters_for(
                colours=not self.no_color,
                dark=self.current_theme.dark,
                only_ascii=self._makes_plain,
            )
        return [one for one in found if not isinstance(one, Monochrome | NoColor)] + self._plain


def _word_of(theme: str) -> str:
    """A theme as people read it."""
    return theme.removeprefix(THEME_PREFIX).replace("-", " ")

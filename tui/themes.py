"""Our colours as themes of Textual, for the parts of the screen that are its own."""

from __future__ import annotations

from textual.theme import Theme

from whichlayer.tui.colours import Colours


def theme_of(colours: Colours) -> Theme:
    """Textual's own colours (titles, help, palette of commands) from ours."""
    return Theme(
        name=colours.name,
        primary=colours.accent,
        accent=colours.accent,
        warning=colours.warning,
        foreground=colours.text,
        background=colours.canvas,
        surface=colours.surface,
        panel=colours.surface,
        dark=colours.dark,
        variables={
            "text-muted": colours.dim,
            "text-disabled": colours.dim,
            "surface-lighten-2": colours.faint,
            "scrollbar": colours.faint,
            "scrollbar-background": colours.surface,
        },
    )

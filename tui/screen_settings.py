"""What the user has set of the screen, for the parts of it that ask."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whichlayer.tui.locale_text import asks_for_plain_text

if TYPE_CHECKING:
    from whichlayer.analysis.config import Config

#: Themes as users write them begin after this.
THEME_PREFIX = "whichlayer-"

#: How Textual is told of the number of colours; it is read when Textual is imported.
_COLOURS = {"256": "256", "16": "standard"}


@dataclass(slots=True)
class ScreenSettings:
    """What is set.

    Attributes:
        theme: full name of a theme, or empty.
        ascii_only: everything is drawn with ASCII alone, whatever the terminal takes.
        unicode: everything is drawn with all characters, whatever the locale asks for.
        letters: bars without a name carry a letter, whatever colours the terminal has.
    """

    theme: str = ""
    ascii_only: bool = False
    unicode: bool = False
    letters: bool = False


screen_settings = ScreenSettings()


def writes_unicode() -> bool:
    """Whether the terminal takes more than ASCII, as far as settings and locale tell."""
    if screen_settings.ascii_only:
        return False
    if not screen_settings.unicode and asks_for_plain_text():
        return False
    encoding = getattr(sys.__stdout__, "encoding", None) or "utf-8"
    return "utf" in encoding.lower()


def apply_screen(config: Config) -> None:
    """Take what is set of the screen; before Textual is imported."""
    theme = config.text("screen", "theme")
    screen_settings.theme = f"{THEME_PREFIX}{theme}" if theme else ""
    screen_settings.ascii_only = config.value("screen", "ascii") is True
    screen_settings.unicode = config.value("screen", "ascii") is False
    screen_settings.letters = config.value("screen", "letters") is True
    colours = config.text("screen", "colours")
    if colours == "none":
        os.environ["NO_COLOR"] = "1"
    elif colours is not None:
        os.environ["TEXTUAL_COLOR_SYSTEM"] = _COLOURS[colours]
        os.environ.pop("NO_COLOR", None)

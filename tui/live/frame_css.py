"""Where the parts of the live screen's frame are; colours come from the palette."""

from __future__ import annotations

from typing import Final

FRAME_CSS: Final = """
#strip {
    height: 3;
    width: 1fr;
}

#live {
    height: 1;
    width: 1fr;
}

#output {
    height: 4;
    width: 1fr;
    border-top: solid $surface-lighten-2;
    border-title-color: $text-muted;
    padding: 0 1;
}

QuitScreen {
    align: center middle;
    background: $background 0%;
}

#whole-output {
    width: 1fr;
    height: 1fr;
    border: round $primary;
    background: $background;
}

#question {
    width: 64;
    max-width: 96%;
    height: auto;
    border: round $primary;
    padding: 1 2;
    background: $background;
}
"""

"""Pictures of the screen for a document: SVG, and the same as plain text."""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path
from typing import Any

from textual._compositor import LayoutUpdate
from textual.app import App

#: What a name of a file keeps of another.
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")
_ENDINGS = re.compile(r"(\.(json|gz|zst|zip|sqlite|pt|trace))+$")
_LONGEST = 60


def write_pictures(app: App[Any], source: str, folder: Path | None = None) -> tuple[Path, Path]:
    """Write the screen as SVG and as text; no file is ever written over.

    Args:
        app: what is on the screen.
        source: name of what is shown, which the names of the files begin with.
        folder: where to; the working directory if None.

    Returns:
        The SVG and the text, as seen from the working directory.

    Raises:
        OSError: a file cannot be written.
    """
    svg = app.export_screenshot(title=f"whichlayer {source}")
    text = screen_text(app)
    base = picture_name(source)
    for number in count(1):
        stem = (folder or Path()) / f"{base}-{number}"
        paths = stem.with_name(f"{stem.name}.svg"), stem.with_name(f"{stem.name}.txt")
        if paths[1].exists():
            continue
        try:
            with paths[0].open("x", encoding="utf-8") as file:
                file.write(svg)
        except FileExistsError:
            continue
        with paths[1].open("x", encoding="utf-8") as file:
            file.write(text)
        return paths
    raise AssertionError("numbers do not end")


def picture_name(source: str) -> str:
    """What the files of a trace's pictures are called, but for their number.

    >>> picture_name("runs/resnet 50.pt.trace.json.gz")
    'whichlayer-resnet-50'
    """
    name = _ENDINGS.sub("", Path(source).name)
    name = _UNFIT.sub("-", name).strip("-.")[:_LONGEST]
    return f"whichlayer-{name}" if name else "whichlayer"


def screen_text(app: App[Any]) -> str:
    """What the screen shows as lines of text, without colours and without spaces at their ends."""
    update = app.screen._compositor.render_update(full=True, screen_stack=app._background_screens)
    assert isinstance(update, LayoutUpdate)
    lines = ("".join(strip.text for strip in line).rstrip() for line in update.strips)
    return "\n".join(lines) + "\n"

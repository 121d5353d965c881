"""Draw the pictures of the README from sample traces: ``python docs/make_screens.py``.

A picture is what the application itself draws, without a terminal and whatever the one it is
started from can show. One of any trace, after keys:
``python docs/make_screens.py --keys right_curly_bracket --size 120x40 -o OUT.svg NAME``.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
from pathlib import Path

# Textual reads these when it is imported.
os.environ |= {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
os.environ["TEXTUAL_COLOR_SYSTEM"] = "truecolor"
# Pictures do not depend on how somebody left the screen.
os.environ["XDG_STATE_HOME"] = os.devnull
for _switch in ("NO_COLOR", "FORCE_COLOR", "TEXTUAL_FILTERS"):
    os.environ.pop(_switch, None)

from whichlayer.analysis.results import Options
from whichlayer.tui.app import WhichlayerApp
from whichlayer.tui.load import Loader
from whichlayer.tui.samples import sample_path

FOLDER = Path(__file__).parent
SAMPLE = "dataloader-bound"
SIZE = "152x46"
SECONDS = 120

#: Pictures by file: sample, columns x lines, and keys.
PICTURES = {
    "screen.svg": (SAMPLE, SIZE, ()),
    "roofline.svg": ("memory-bound-slow", "120x36", ("o",)),
    "search.svg": ("fp32-matmul-a100", "120x36", ("slash", *"gemm", "enter", "n")),
    "owners.svg": ("unpinned-copies", "120x36", ("C", "K")),
}

#: Seconds that panes are given to draw.
_SETTLED_S = 1.0

#: Seconds that a search, which is another thread's, is given.
_SEARCH_S = 2.0

# Textual numbers the classes of every picture anew; fixed, equal screens are equal files.
_UNIQUE = re.compile(r"terminal-\d+-")
# A picture in a README may load nothing: the reader's own monospace font does.
_FONTS = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


async def draw(path: Path, size: tuple[int, int], keys: list[str]) -> str:
    """The screen of a trace once its analysis is there, as SVG.

    Args:
        path: the trace.
        size: columns and lines.
        keys: what is typed before the picture is taken, as Textual names keys.

    Raises:
        TimeoutError: the trace was not analysed in time.
    """
    # Shown as a user in the folder of the traces would see it, not with a path of this machine.
    app = WhichlayerApp(Loader(str(path), Options()))
    async with app.run_test(size=size) as pilot:
        async with asyncio.timeout(SECONDS):
            while app.error is None and (app.document is None or app.document.analysis is None):
                await pilot.pause(0.05)
        if app.error is not None:
            raise app.error
        # The analysis is there before the panes have drawn what it says.
        await pilot.pause(_SETTLED_S)
        for key in keys:
            await pilot.press(key)
            await pilot.pause(_SEARCH_S if key == "enter" else None)
        picture = app.export_screenshot(title="whichlayer")
    return _FONTS.sub("", _UNIQUE.sub("terminal-", picture))


def main() -> None:
    """Write the pictures, or the one that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="?", help="a sample, or the path of a trace")
    parser.add_argument("--size", default=SIZE, help="columns x lines")
    parser.add_argument("--keys", default="", help="separated by commas")
    parser.add_argument("-o", "--output", type=Path, help="docs/screen.svg if not said")
    typed = parser.parse_args()
    if typed.name is None and typed.output is None and not typed.keys:
        for file, (name, size, pressed) in PICTURES.items():
            write(FOLDER / file, name, size, list(pressed))
        return
    keys = [key for key in typed.keys.split(",") if key]
    write(typed.output or FOLDER / "screen.svg", typed.name or SAMPLE, typed.size, keys)


def write(output: Path, name: str, size: str, keys: list[str]) -> None:
    """Write one picture."""
    path = Path(name) if Path(name).exists() else sample_path(name)
    columns, lines = map(int, size.split("x"))
    output.write_text(asyncio.run(draw(path, (columns, lines), keys)), encoding="utf-8")


if __name__ == "__main__":
    main()

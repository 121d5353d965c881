"""A defect of our own, as its reader is told of it."""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path
from typing import Final

from whichlayer.analysis.text import clean

TRACEBACK_VARIABLE: Final = "WHICHLAYER_TRACEBACK"
"""Environment variable that, when set, lets a defect show its traceback."""


def tell_defect(error: BaseException) -> None:
    """Say it on standard error: in one line, or with its traceback where the user wants that."""
    if sys.stderr is None:
        return
    if os.environ.get(TRACEBACK_VARIABLE):
        traceback.print_exception(error)
        return
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}; " if frames else ""
    said = f"a defect of whichlayer, please report it: {type(error).__name__}: {error} "
    print(
        f"whichlayer: {clean(said)}({clean(place)}{TRACEBACK_VARIABLE}=1 tells more)",
        file=sys.stderr,
    )

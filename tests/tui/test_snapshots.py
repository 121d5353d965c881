"""The look of the main screen, pinned: few pictures of a recording made by hand.

``pytest tests/tui/test_snapshots.py --snapshot-update`` renews them; look at the pictures then. They
hold for the version of Textual that drew them.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version

import pytest

from tests.tui.screen import LARGE, MEDIUM, SMALL, app_of
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Trace

TEXTUAL = "8.2.8"

pytestmark = pytest.mark.skipif(
    version("textual") != TEXTUAL, reason=f"pictures of Textual {TEXTUAL}"
)

SCREENS = {
    "small": (SMALL, []),
    "medium": (MEDIUM, []),
    "large": (LARGE, []),
    "legend-by-owner": (MEDIUM, ["C", "K"]),
}


@pytest.mark.parametrize("name", SCREENS)
def test_screens_look_as_they_did(
    name: str, trace: Trace, analysis: Analysis, snap_compare: Callable[..., bool]
) -> None:
    size, keys = SCREENS[name]
    assert snap_compare(app_of(trace, analysis), press=keys, terminal_size=size)

"""Which tests a run of several processes keeps together, and what it begins with.

A file's tests run in one process, so that what they share is made once. So do those of several
files that read the same real recordings or play the same simulated cases. What takes longest
begins, so that no process is left with it at the end.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

#: What a file imports that keeps what it made, and the name of all files that do: these begin.
SHARED = {
    "tests.support.recordings": "real recordings",
    "tests.simulator.played": "simulated cases",
}

#: Further files that take long, the longest first: they come next.
LONG = (
    "tests/analysis/live/test_live_programs.py",
    "tests/analysis/part/test_reading_parts.py",
    "tests/tui/live/test_live_terminal.py",
    "tests/tui/test_terminal.py",
    "tests/tui/test_keys_on_screen.py",
    "tests/analysis/reader/test_sharing.py",
    "tests/tui/live/test_run_command.py",
    "tests/analysis/findings/test_simulated_findings.py",
    "tests/tui/test_search_screen.py",
    "tests/tui/test_plain_screen.py",
    "tests/tui/test_leaving_early.py",
    "tests/analysis/reader/test_nsight_damage.py",
    "tests/tui/test_lanes_screen.py",
    "tests/tui/test_panes.py",
    "tests/analysis/reader/test_read_so_far.py",
)

_FIRST = {name: place for place, name in enumerate((*SHARED.values(), *LONG))}


@cache
def _unit(file: str) -> str:
    text = (ROOT / file).read_text("utf-8")
    return next((name for module, name in SHARED.items() if f"from {module} import" in text), file)


def unit_of(nodeid: str) -> str:
    """The name of the tests that run in one process with this one."""
    return _unit(nodeid.split("::", 1)[0])


def begin_with_the_longest(items: list[pytest.Item]) -> None:
    """Order tests by their units, and leave the order within each as it is."""
    items.sort(key=lambda item: _FIRST.get(unit_of(item.nodeid), len(_FIRST)))


def scheduler(config: pytest.Config, log: Any) -> Any:
    """Deals out whole units in the order in which they were collected."""
    config.option.loadscopereorder = False
    found: Any = import_module("xdist.scheduler").LoadScopeScheduling(config, log)
    found._split_scope = unit_of
    return found

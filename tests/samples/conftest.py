"""The sample traces, read with nothing but the json module."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "sample_traces"
NAMES = sorted(path.name.removesuffix(".json.gz") for path in FOLDER.glob("*.json.gz"))
#: ``"ts": 1.234`` to ``"ts": "1.234"``: exact nanoseconds need the decimal text.
TIMES = re.compile(r'("(?:ts|dur)": )(\d+\.\d+)')


@cache
def _text(name: str) -> str:
    return gzip.decompress((FOLDER / f"{name}.json.gz").read_bytes()).decode()


@cache
def _trace(name: str) -> dict[str, Any]:
    trace: dict[str, Any] = json.loads(TIMES.sub(r'\1"\2"', _text(name)))
    for event in trace["traceEvents"]:
        for key in ("ts", "dur"):
            if key in event:
                whole, decimals = event[key].split(".")
                event[key] = int(whole) * 1000 + int(decimals)
        event["end"] = event["ts"] + event.get("dur", 0)
    return trace


@cache
def _truth(name: str) -> dict[str, Any]:
    truth: dict[str, Any] = json.loads((FOLDER / f"{name}.truth.json").read_text("utf-8"))
    return truth


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    """Each sample in turn."""
    found: str = request.param
    return found


@pytest.fixture
def text(name: str) -> str:
    """The file as it is."""
    return _text(name)


@pytest.fixture
def trace(name: str) -> dict[str, Any]:
    """The file parsed, ``ts``, ``dur`` and ``end`` in integer nanoseconds."""
    return _trace(name)


@pytest.fixture
def truth(name: str) -> dict[str, Any]:
    """What the simulator says of the sample."""
    return _truth(name)


@pytest.fixture
def load() -> Callable[[str], tuple[dict[str, Any], dict[str, Any]]]:
    """Trace and truth of the sample with a name."""
    return lambda name: (_trace(name), _truth(name))

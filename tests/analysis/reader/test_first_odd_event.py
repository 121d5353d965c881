"""A warning about some events says at which byte the first of them stands."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.analysis import load
from whichlayer.analysis.reader.framing import Limits

SOUND: dict[str, Any] = {"ph": "X", "ts": 5, "dur": 1, "pid": 1, "tid": 2, "name": "ä"}
ODD: dict[str, tuple[dict[str, Any], str]] = {
    "no duration": (SOUND | {"dur": None}, "without a usable duration"),
    "negative": (SOUND | {"dur": -4}, "of negative duration"),
    "no time": (SOUND | {"ts": "n/a"}, "without a usable time"),
    "instant without time": (SOUND | {"ph": "i", "ts": None}, "without a usable time"),
    "begin without time": (SOUND | {"ph": "B", "ts": None}, "without a usable time"),
    "phase": (SOUND | {"ph": "?"}, "no known phase"),
    "not finite": (SOUND | {"ph": "C", "args": {"a": 1, "b": "1e999"}}, "no finite numbers"),
    "unclosed": (SOUND | {"ph": "B"}, "without an end"),
    "unmatched": (SOUND | {"ph": "E"}, "that end what never began"),
}


def written(events: list[dict[str, Any]], separator: str = ",\n ") -> bytes:
    text = separator.join(json.dumps(one, ensure_ascii=False) for one in events)
    return f'{{"schemaVersion": 1,\n "traceEvents": [\n{text}\n]}}'.encode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("odd")


@given(st.sampled_from(sorted(ODD)), st.integers(0, 60), st.integers(1, 60), st.booleans())
def test_the_byte_is_that_of_the_first_event(
    folder: Path, kind: str, before: int, between: int, zipped: bool
) -> None:
    odd, said = ODD[kind]
    text = written([*[SOUND] * before, odd, *[SOUND] * between, odd, SOUND])
    path = folder / ("trace.json.gz" if zipped else "trace.json")
    path.write_bytes(gzip.compress(text) if zipped else text)
    with patch.object(Limits.__init__, "__defaults__", (300, 3000, 30_000)):
        warnings = load(path).warnings
    (warning,) = (one for one in warnings if said in one.message)
    assert warning.count == 2
    assert warning.byte_offset == text.index(json.dumps(odd, ensure_ascii=False).encode())
    assert f"at byte {warning.byte_offset}" in warning.message

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.analysis.follow.completeness import Completeness, completeness

EVENT = {"ph": "X", "name": 'a "quoted" \\ {name}]', "ts": 1, "dur": 2, "args": {"x": [1, {}]}}
TRACE = json.dumps({"traceEvents": [EVENT] * 3, "traceName": "t"})


def state(folder: Path, data: bytes) -> Completeness:
    path = folder / "t"
    path.write_bytes(data)
    return completeness(str(path))


@pytest.mark.parametrize("text", [TRACE, TRACE + "\n\n", json.dumps([EVENT] * 3), "[]", "{}"])
def test_a_whole_file_is_whole(tmp_path: Path, text: str) -> None:
    assert state(tmp_path, text.encode()) is Completeness.WHOLE
    assert state(tmp_path, b"\xef\xbb\xbf" + text.encode()) is Completeness.WHOLE


def test_every_beginning_of_a_file_is_open(tmp_path: Path) -> None:
    for text in (TRACE, json.dumps([EVENT, EVENT])):
        for end in range(1, len(text)):
            assert state(tmp_path, text[:end].encode()) is Completeness.OPEN, text[:end]


def test_a_long_array_without_its_end_is_open_and_with_it_whole(tmp_path: Path) -> None:
    lines = ",\n".join(json.dumps(EVENT) for _ in range(2000))
    assert len(lines) > 100_000
    assert state(tmp_path, f"[\n{lines}".encode()) is Completeness.OPEN
    assert state(tmp_path, f"[\n{lines},".encode()) is Completeness.OPEN
    assert state(tmp_path, f"[\n{lines}\n]".encode()) is Completeness.WHOLE


def test_nothing_is_empty(tmp_path: Path) -> None:
    assert state(tmp_path, b"") is Completeness.EMPTY


def _zip(data: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("trace.json", data)
    return target.getvalue()


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress, _zip])
def test_compressed_files_are_whole_only_to_their_last_byte(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    data = pack(TRACE.encode())
    assert state(tmp_path, data) is Completeness.WHOLE
    for end in range(1, len(data), 7):
        assert state(tmp_path, data[:end]) is Completeness.OPEN, end


def test_compressed_text_without_an_end_is_open(tmp_path: Path) -> None:
    assert state(tmp_path, gzip.compress(TRACE[:-3].encode())) is Completeness.OPEN


@given(st.binary(max_size=200))
def test_hostile_bytes_are_answered(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    assert state(tmp_path_factory.getbasetemp(), data) in Completeness

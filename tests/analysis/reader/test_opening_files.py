"""Opening by path: what can be opened, and the one line that says why something cannot."""

from __future__ import annotations

import gc
import gzip
import io
import json
import os
import random
import zipfile
from pathlib import Path

import pytest

from tests.analysis.reader.conftest import damage
from whichlayer.analysis import Options, analyse
from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.reader import open_trace

EVENT = {"ph": "X", "name": "a", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 1, "dur": 1}
TEXT = json.dumps({"traceEvents": [EVENT]}).encode()


def refusal(path: Path | str) -> str:
    with pytest.raises(TraceError) as caught:
        open_trace(path)
    message = str(caught.value)
    assert message.isprintable() and message.startswith(str(path)), message
    return message.removeprefix(f"{path}: ")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the file is empty"),
        (b"hello", "not a trace: it is not JSON"),
        (b"\x7fELF\0\0", "not a trace: it is not JSON"),
        (b"version https://git-lfs.github.com/spec/v1\noid x\n", "a Git LFS pointer"),
        (b"{}", "JSON, but not a trace: it has no list named traceEvents"),
        (b'{"a": 1, "traceEvents": null}', "JSON, but not a trace"),
        (b'{"a": [1, 2], "b', "not JSON, or cut off before its list of events"),
        (b"null", "not a trace: it is JSON, but just null"),
        (b" true\n", "not a trace: it is JSON, but just true"),
        (b"-1.5e3", "not a trace: it is JSON, but just a number"),
        (b'"a \\"b\\" c"', "not a trace: it is JSON, but just a string"),
        (b" \n" * 5000, "there is only white space in it"),
        (b"[null, 1]", "JSON, but not a trace: its entries have no phase"),
        (b"[1, 2, 3]", "JSON, but not a trace: its entries have no phase"),
        (b'[{"a": 1}]', "JSON, but not a trace: its entries have no phase"),
        (b"[{]", "not JSON, or too damaged to read"),
        (b"\xfd7zXZ\x00\x00", "it is compressed with xz"),
        (gzip.compress(b"hello", mtime=0), "not a trace: it is not JSON"),
        (
            gzip.compress(TEXT, mtime=0)[:5],
            "nothing could be read: the gzip data end before their end",
        ),
        (b"PK\x03\x04rest", "the zip archive cannot be read"),
    ],
)
def test_what_is_no_trace_is_refused_in_one_line(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(content)
    assert refusal(path).startswith(reason)


@pytest.mark.parametrize(
    "text", ["[]", " [ ]\n", '{"traceEvents": []}', '{"traceEvents": [], "a": 1}']
)
def test_a_trace_without_events_opens_and_says_so(tmp_path: Path, text: str) -> None:
    path = tmp_path / "empty.json"
    path.write_text(text)
    trace = open_trace(path)
    assert (trace.events, len(trace), damage(trace)) == (0, 0, [])
    assert "no-events" in [warning.code for warning in trace.warnings]
    assert analyse(trace, Options()).verdict.side == "unclear"


def test_paths_that_are_no_files_are_refused_in_one_line(tmp_path: Path) -> None:
    assert refusal(tmp_path / "missing.json") == "No such file or directory"
    assert refusal(tmp_path / ("x" * 300)) == "File name too long"
    os.mkfifo(tmp_path / "pipe")
    assert refusal(tmp_path / "pipe") == "not an ordinary file"
    with pytest.raises(TraceError, match="embedded null"):
        open_trace("a\0b")


def test_unreadable_files_are_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "secret.json"
    path.write_bytes(TEXT)
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    assert refusal(path) == "Permission denied"


def test_names_with_escape_codes_do_not_reach_the_terminal(tmp_path: Path) -> None:
    with pytest.raises(TraceError) as caught:
        open_trace(tmp_path / "a\x1b[31m\nb.json")
    assert str(caught.value).isprintable()


def test_a_directory_is_opened_only_if_it_holds_one_trace(tmp_path: Path) -> None:
    assert refusal(tmp_path).startswith("a directory without traces")
    (tmp_path / "a.json").write_bytes(b"{}")
    with pytest.raises(TraceError, match=r"a\.json: JSON, but not a trace"):
        open_trace(tmp_path)
    (tmp_path / "a.json").write_bytes(TEXT)
    (tmp_path / "a.whichlayer.json").write_text("{}")
    (tmp_path / "notes.txt").write_text("")
    assert open_trace(tmp_path).events == 1
    (tmp_path / "b.json.gz").write_bytes(gzip.compress(TEXT))
    assert refusal(tmp_path) == "a directory with 2 traces; name one of them: a.json, b.json.gz"


def zipped(**files: bytes) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("_", "."), content)
    return data.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        TEXT,
        b"\xef\xbb\xbf\n " + TEXT,
        gzip.compress(TEXT),
        gzip.compress(TEXT[:20]) + gzip.compress(TEXT[20:]) + b"\0" * 100,
        zipped(readme_txt=b"hello", trace_json=TEXT),
        zipped(trace=gzip.compress(TEXT)),
    ],
    ids=["plain", "byte order mark", "gzip", "two members", "zip", "gzip in zip"],
)
def test_content_is_told_by_itself_and_not_by_the_name(tmp_path: Path, content: bytes) -> None:
    for name in ("trace.json", "trace.gz", "trace.zip", "trace"):
        path = tmp_path / name
        path.write_bytes(content)
        trace = open_trace(path)
        assert (trace.events, damage(trace), trace.path) == (1, [], str(path))
        assert trace.name(0) == "a"


def test_a_zip_of_several_traces_names_them(tmp_path: Path) -> None:
    path = tmp_path / "two.zip"
    path.write_bytes(zipped(a_json=TEXT, b_json=TEXT))
    assert refusal(path) == "the zip archive must hold one trace and holds a.json, b.json"


def numbered_events(count: int) -> bytes:
    """Events that hardly compress, so that a spot in the file is a few of them."""
    chance = random.Random(7)
    events = [EVENT | {"name": chance.randbytes(30).hex(), "ts": n} for n in range(count)]
    return json.dumps({"traceEvents": events}).encode()


def test_cut_gzip_gives_everything_before_the_cut(tmp_path: Path) -> None:
    text = numbered_events(5000)
    path = tmp_path / "cut.json.gz"
    data = gzip.compress(text)
    for share in (0.1, 0.5, 0.99):
        path.write_bytes(data[: int(len(data) * share)])
        trace = open_trace(path)
        assert damage(trace) == ["truncated"]
        assert "gzip" in trace.warnings[0].message
        assert 5000 * share - 60 < trace.events < 5000 * share + 60


def test_damaged_gzip_gives_everything_before_the_damage(tmp_path: Path) -> None:
    data = bytearray(gzip.compress(numbered_events(5000)))
    middle = len(data) // 2
    data[middle : middle + 400] = b"\xff" * 400
    path = tmp_path / "damaged.json.gz"
    path.write_bytes(gzip.compress(b"") + data)
    trace = open_trace(path)
    assert "truncated" in damage(trace)
    assert 2400 < trace.events < 2700


def test_a_wrong_checksum_costs_nothing(tmp_path: Path) -> None:
    data = bytearray(gzip.compress(numbered_events(3000)))
    data[-8] ^= 1
    path = tmp_path / "checksum.json.gz"
    path.write_bytes(data)
    trace = open_trace(path)
    assert (trace.events, damage(trace)) == (3000, ["truncated"])


def test_arguments_are_refused_once_the_file_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    event = EVENT | {"args": {"note": "first"}}
    path.write_text(json.dumps([event]))
    first, second = open_trace(path), open_trace(path)
    assert first.args(0) == {"note": "first"}
    path.write_text(json.dumps([event | {"args": {"note": "another"}}]))
    with pytest.raises(TraceError, match="has changed since"):
        second.args(0)
    path.unlink()
    with pytest.raises(TraceError, match="cannot be read again"):
        second.args(0)


def test_garbage_collection_is_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(TEXT)
    assert gc.isenabled()
    open_trace(path)
    assert gc.isenabled()
    gc.disable()
    try:
        open_trace(path)
        assert not gc.isenabled()
    finally:
        gc.enable()

"""Traces that come compressed, through a pipe, or behind a byte order mark."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.support.program import Program
from whichlayer.analysis import TraceError, load
from whichlayer.analysis.reader import standard_input, zstd_source
from whichlayer.analysis.reader.progress import Progress

zstandard = pytest.importorskip("zstandard")


def text_of(kernels: int = 3) -> bytes:
    made = Program()
    for number in range(kernels):
        made.kernel(f"kernel {number}", 10.0 * number, 5.0)
    return json.dumps(made.document()).encode()


def noisy_text() -> bytes:
    """Twenty thousand kernels that compress to many blocks."""
    made, chance = Program(), random.Random(1)
    for number in range(20_000):
        made.kernel(chance.randbytes(8).hex(), 10.0 * number, 5.0)
    return json.dumps(made.document()).encode()


def names(path: Path) -> list[str]:
    trace = load(path)
    return sorted(trace.name(row) for row in range(len(trace)))


def zstd(data: bytes, **settings: Any) -> bytes:
    compressed: bytes = zstandard.ZstdCompressor(**settings).compress(data)
    return compressed


def test_zstd_is_told_by_its_bytes_and_read(tmp_path: Path) -> None:
    plain, packed = tmp_path / "plain.json", tmp_path / "packed"
    plain.write_bytes(text_of())
    for content in (
        zstd(text_of()),
        zstd(text_of(), write_content_size=False),
        zstd(text_of()[:500]) + zstd(text_of()[500:]),
        b"\x50\x2a\x4d\x18\x04\0\0\0abcd" + zstd(text_of()),
    ):
        packed.write_bytes(content)
        assert names(packed) == names(plain)


def test_arguments_are_read_again_from_zstd(tmp_path: Path) -> None:
    path = tmp_path / "trace.json.zst"
    path.write_bytes(zstd(text_of()))
    trace = load(path)
    assert trace.args(0)["device"] == 0


def test_zstd_in_a_zip_is_read(tmp_path: Path) -> None:
    path = tmp_path / "trace.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("trace.json.zst", zstd(text_of()))
        archive.writestr("README", "about")
    assert len(names(path)) == 3


@pytest.mark.parametrize("share", [0.3, 0.7, 0.95])
def test_cut_zstd_gives_what_is_before_the_cut(tmp_path: Path, share: float) -> None:
    path = tmp_path / "trace.json.zst"
    packed = zstd(noisy_text())
    path.write_bytes(packed[: int(share * len(packed))])
    trace = load(path)
    assert 0 < len(trace) < 20_000
    assert any("zstd data end before their end" in one.message for one in trace.warnings)


def test_damaged_zstd_is_told_and_keeps_what_is_before(tmp_path: Path) -> None:
    path = tmp_path / "trace.json.zst"
    packed = bytearray(zstd(noisy_text(), write_checksum=True))
    middle = len(packed) // 2
    packed[middle : middle + 4_000] = random.Random(2).randbytes(4_000)
    path.write_bytes(bytes(packed))
    trace = load(path)
    assert 0 < len(trace) < 20_000
    assert any("zstd data are damaged" in one.message for one in trace.warnings)


def test_zstd_that_is_no_trace_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "trace.json.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd" + b"\xff" * 50)
    with pytest.raises(TraceError, match="zstd data are damaged") as error:
        load(path)
    assert "\n" not in str(error.value)


def test_without_the_package_the_line_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "trace.json.zst"
    path.write_bytes(zstd(text_of()))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(TraceError, match="pip install zstandard"):
        load(path)


def test_a_zstd_bomb_is_given_out_in_small_blocks() -> None:
    source = zstd_source.ZstdSource(io.BytesIO(zstd(bytes(50_000_000))))
    assert max(len(source.read(1 << 24)) for _ in range(10)) <= 1 << 17


def test_gzip_of_several_members_is_one_text(tmp_path: Path) -> None:
    path = tmp_path / "trace.json.gz"
    text = text_of()
    path.write_bytes(b"".join(gzip.compress(text[at : at + 97]) for at in range(0, len(text), 97)))
    assert len(names(path)) == 3


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd])
def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path, pack: Any) -> None:
    path = tmp_path / "trace"
    path.write_bytes(pack(b"\xef\xbb\xbf" + text_of()))
    assert len(names(path)) == 3
    made = Program()
    made.kernel("k", 1.0, 2.0)
    path.write_bytes(pack(b"\xef\xbb\xbf" + json.dumps(made.events).encode()))
    assert names(path) == ["k"]


READ = """
import sys, gc
from whichlayer.analysis import load
trace = load("-")
gc.collect()
print(trace.path, len(trace), trace.args(0)["device"], len(load("-")))
import glob, tempfile
print(len(glob.glob(tempfile.gettempdir() + "/whichlayer-*")))
"""


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd])
def test_standard_input_is_a_file_like_any_other(tmp_path: Path, pack: Any) -> None:
    done = subprocess.run(
        [sys.executable, "-c", READ],
        input=pack(text_of()),
        capture_output=True,
        env=os.environ | {"TMPDIR": str(tmp_path)},
        check=True,
    )
    assert done.stdout.split() == [b"-", b"3", b"0", b"3", b"1"]
    assert not list(tmp_path.iterdir())


def test_an_empty_pipe_is_one_line(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "whichlayer", "report", "-"],
        input=b"",
        capture_output=True,
        env=os.environ | {"TMPDIR": str(tmp_path)},
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == b"whichlayer: -: the file is empty\n"
    assert not list(tmp_path.iterdir())


def test_spooling_reports_and_leaves_nothing_when_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    seen: list[Progress] = []
    path = standard_input.spool(io.BytesIO(bytes(3 << 20)), seen.append)
    assert Path(path).stat().st_size == 3 << 20
    assert [one.bytes_read for one in seen] == [1 << 20, 2 << 20, 3 << 20]
    Path(path).unlink()

    def stop(_: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        standard_input.spool(io.BytesIO(b"x"), stop)
    assert not list(tmp_path.iterdir())


def test_while_a_pipe_stalls_what_came_is_told_again_and_it_can_be_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(standard_input, "_TOLD_S", 0.001)
    reading, writing = os.pipe()
    os.write(writing, b"12345")  # and no end
    seen: list[int] = []

    def stop_at_the_third(progress: Progress) -> None:
        seen.append(progress.bytes_read)
        if seen.count(5) == 3:
            raise KeyboardInterrupt

    with os.fdopen(reading, "rb", buffering=0) as pipe, pytest.raises(KeyboardInterrupt):
        standard_input.spool(pipe, stop_at_the_third)
    os.close(writing)
    assert seen == [5, 5, 5]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("selectable", [True, False])
def test_what_nobody_can_wait_for_is_read_all_the_same(
    selectable: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> object:
        raise ValueError("filedescriptor out of range in select()")

    if not selectable:
        monkeypatch.setattr("select.select", refuse)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "a").write_bytes(bytes(3 << 20))
    seen: list[Progress] = []
    with open(tmp_path / "a", "rb", buffering=0) as file:
        path = standard_input.spool(file, seen.append)
    assert Path(path).stat().st_size == seen[-1].bytes_read == 3 << 20
    Path(path).unlink()


def test_a_disk_without_room_ends_spooling_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 10}))
    with pytest.raises(TraceError, match="no room left"):
        standard_input.spool(io.BytesIO(b"x"))
    assert not list(tmp_path.iterdir())

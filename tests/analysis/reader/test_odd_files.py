"""Files that change, fail or are no files: one clean line, or what could be read, and no hanging."""

from __future__ import annotations

import errno
import gzip
import io
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.reader import open_trace, source, standard_input
from whichlayer.analysis.reader.progress import Progress
from whichlayer.analysis.trace.columns import Trace

EVENT = b'{"ph":"X","name":"event %d","cat":"cpu_op","ts":%d,"dur":1,"args":{"External id":%d}}'
MEGABYTE = 1 << 20


def text_of(size: int) -> bytes:
    """A trace of about a size."""
    count = size // 85
    return b"[" + b",\n".join(EVENT % (n, n, n) for n in range(count)) + b"]"


def refusal(path: Path | str) -> str:
    with pytest.raises(TraceError) as caught:
        open_trace(path)
    message = str(caught.value)
    assert message.isprintable()
    return message


def cut(trace: Trace) -> str:
    """What is said of a trace that is not whole."""
    (warning,) = (one for one in trace.warnings if one.code == "truncated")
    assert f"read up to byte {warning.byte_offset} of" in warning.message
    return warning.message


def once(act: Callable[[], Any]) -> Callable[[Progress], None]:
    """Progress that does something when it is first told."""
    calls: list[Progress] = []

    def told(progress: Progress) -> None:
        calls.append(progress)
        if len(calls) == 1:
            act()

    return told


def test_a_file_that_becomes_shorter_gives_what_was_read(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(text_of(4 * MEGABYTE))
    trace = open_trace(path, progress=once(lambda: os.truncate(path, 2 * MEGABYTE)))
    assert 10_000 < len(trace) < 40_000
    assert "became shorter while it was read" in cut(trace)


def test_a_file_that_is_still_written_says_so(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(text_of(3 * MEGABYTE)[:-1])

    def grow() -> None:
        with path.open("ab") as file:
            file.write(b"," + EVENT % (1, 1, 1))

    trace = open_trace(path, progress=once(grow))
    assert len(trace) == text_of(3 * MEGABYTE).count(b'"ph"') + 1
    assert "it is still being written" in cut(trace)


def test_a_file_that_is_replaced_is_read_to_its_own_end(tmp_path: Path) -> None:
    path, other = tmp_path / "trace.json", tmp_path / "other.json"
    path.write_bytes(text_of(3 * MEGABYTE))
    other.write_bytes(b"[]")
    trace = open_trace(path, progress=once(lambda: other.replace(path)))
    assert len(trace) == text_of(3 * MEGABYTE).count(b'"ph"')
    assert not [one for one in trace.warnings if one.code == "truncated"]
    with pytest.raises(TraceError, match="has changed since"):
        trace.args(0)


class Failing(io.FileIO):
    """A file on a disk that cannot be read from some place on."""

    bad_from = 2 * MEGABYTE

    def read(self, size: int | None = -1) -> bytes:
        if self.tell() >= self.bad_from:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return super().read(size) or b""


@pytest.mark.parametrize(
    "pack", [bytes, lambda text: gzip.compress(text, 0)], ids=["plain", "gzip"]
)
def test_a_disk_that_fails_gives_what_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(pack(text_of(4 * MEGABYTE)))
    monkeypatch.setattr("whichlayer.analysis.reader.source.io.FileIO", Failing)
    trace = open_trace(path)
    assert 10_000 < len(trace) < 40_000
    assert "could not be read on (Input/output error)" in cut(trace)
    monkeypatch.setattr(Failing, "bad_from", 0)
    assert refusal(path) == f"{path}: Input/output error"


def test_what_is_no_file_is_refused_without_waiting(tmp_path: Path) -> None:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "socket"))
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "socket", tmp_path / "pipe", Path("/dev/zero"), Path("/dev/null")):
        assert refusal(path) == f"{path}: not an ordinary file"
    listener.close()
    assert refusal("/proc/self/mem").startswith("/proc/self/mem: ")


def test_a_pipe_that_takes_a_files_place_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TraceError, match="not an ordinary file"):
        source.TraceSource(str(tmp_path / "pipe"))


def test_names_of_any_kind_are_opened_and_told_cleanly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (
        "-trace.json",
        "a\nb\x1b[31m.json",
        "ü 木.json",
        b"\xff.json".decode(errors="surrogateescape"),
    ):
        Path(name).write_bytes(text_of(1000))
        assert len(open_trace(name)) > 10
        Path(name).write_bytes(b"{}")
        assert refusal(name).endswith(": JSON, but not a trace: it has no list named traceEvents")
    Path("broken.json").symlink_to("nowhere")
    assert refusal("broken.json") == "broken.json: No such file or directory"
    Path("loop.json").symlink_to("loop.json")
    assert refusal("loop.json").startswith("loop.json: Too many levels of symbolic links")


def test_a_folder_of_a_hundred_thousand_files_is_told_in_one_short_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"{number}.json" for number in range(100_000)]
    monkeypatch.setattr(os, "listdir", lambda _: names)
    message = refusal(tmp_path)
    assert "a directory with 100000 traces" in message
    assert len(message) < 300 + len(str(tmp_path))


OPEN_AS_NOBODY = """
import os, sys
from whichlayer.tui.cli import main
main(["report", "other.json", "-o", os.devnull])  # imports everything while it may
os.setgroups([]); os.setgid(65534); os.setuid(65534)
sys.exit(main(["report", "secret.json"]))
"""


def test_a_file_that_may_not_be_read_is_one_line(tmp_path: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can become somebody else")
    path = tmp_path / "secret.json"
    path.write_bytes(text_of(1000))
    (tmp_path / "other.json").write_bytes(text_of(1000))
    path.chmod(0)
    tmp_path.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", OPEN_AS_NOBODY], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.stderr == b"whichlayer: secret.json: Permission denied\n"
    assert done.returncode == 2


def test_a_full_disk_names_the_folder_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    class Full(io.BytesIO):
        def write(self, _: Any) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def open_full(descriptor: int, _: str) -> Full:
        os.close(descriptor)
        return Full()

    monkeypatch.setattr("whichlayer.analysis.reader.standard_input.os.fdopen", open_full)
    with pytest.raises(TraceError) as caught:
        standard_input.spool(io.BytesIO(b"x"))
    assert str(caught.value) == (
        f"cannot write to {tmp_path} after 0 bytes: No space left on device; set TMPDIR"
    )
    assert not list(tmp_path.iterdir())


def test_a_temporary_folder_that_is_gone_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    with pytest.raises(TraceError, match="no file can be made in the temporary folder"):
        standard_input.spool(io.BytesIO(b"x"))


def test_messages_about_broken_text_hold_no_control_characters(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    for text in (
        b'{"\x1b[31m\n": {"a" \x07}, "traceEvents": [{"ph":"X","ts":1,"name":"a"}]}',
        b'[{"ph":"X","ts":1,"name":"a"},{"ph":"\x1b[0m" \x9b}, {"ph":"X"}]',
        b'{"traceEvents":[{"ph":"X","ts":1,"n\x1bn":1,"n\x1bn":2}]}',
    ):
        path.write_bytes(text)
        assert all(one.message.isprintable() for one in open_trace(path).warnings)


def test_arguments_are_found_wherever_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    for pack in (bytes, gzip.compress):
        path.write_bytes(pack(text_of(3 * MEGABYTE)))
        trace = open_trace(path)
        for row in (len(trace) - 1, 0, len(trace) // 2, *range(0, len(trace), 2500)):
            assert trace.args(row) == {"External id": int(trace.external_id[row])}

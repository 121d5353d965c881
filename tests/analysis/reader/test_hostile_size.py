"""Files made to take for ever or all the memory: the work grows with the size, and no faster.

What is counted is bytes copied and characters looked at, not time.
"""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.analysis.reader.conftest import Read
from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.reader import open_trace, recovery, structure, text_limit
from whichlayer.analysis.reader.document import Document
from whichlayer.analysis.reader.text_limit import choose_limit
from whichlayer.analysis.reader.window import Window

GOOD = b'{"ph":"X","name":"good","ts":5,"dur":1}'


class Counting(Window):
    """A window that counts the bytes that it moves."""

    def __init__(self, text: bytes) -> None:
        stream = io.BytesIO(text)
        stream.damage = ""  # type: ignore[attr-defined]
        super().__init__(stream)  # type: ignore[arg-type]
        self.moved = 0

    def fill(self, size: int) -> None:
        before = len(self.data)
        super().fill(size)
        if len(self.data) > before:
            self.moved += len(self.data)

    def drop(self, count: int) -> None:
        super().drop(count)
        self.moved += len(self.data) * (count > 0)


HEADERS: dict[str, Callable[[int], bytes]] = {
    "many keys": lambda n: b"".join(b'"k%d":%d,' % (i, i) for i in range(n // 14)),
    "one key": lambda n: b'"k":1,' * (n // 6),
    "many lists": lambda n: b'"k":[1,"]"],' * (n // 12),
    "a long string": lambda n: b'"k":"' + b"x" * n + b'",',
    "escapes": lambda n: b'"k":"' + b"\\\\" * (n // 2) + b'",',
    "a long number": lambda n: b'"k":' + b"1" * n + b",",
    "a long list": lambda n: b'"k":[' + b"{}," * (n // 3) + b"0],",
    "a deep list": lambda n: b'"k":' + b"[" * (n // 2) + b"]" * (n // 2) + b",",
    "commas": lambda n: b"," * n,
    "white space": lambda n: b" " * n,
    "empty lists of events": lambda n: b'"traceEvents":[],' * (n // 17),
}


@pytest.mark.parametrize("make", HEADERS.values(), ids=list(HEADERS))
def test_a_header_of_any_kind_is_moved_a_few_times(
    make: Callable[[int], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whichlayer.analysis.reader.document._STEP", 1 << 10)
    monkeypatch.setattr("whichlayer.analysis.reader.document._LARGEST_VALUE", 1 << 14)
    size = 1 << 18
    window = Counting(b"{" + make(size) + b'"z":1,"traceEvents":[' + GOOD + b"]}")
    document = Document(window)
    while document.find_events() and not window.data.startswith(GOOD):
        window.drop(1)
    assert window.data.startswith(GOOD)
    assert window.moved < 8 * size


def test_what_is_kept_of_a_header_is_bounded(read: Read) -> None:
    keys = b"".join(b'"k%d":%d,' % (i, i) for i in range(20_000))
    trace = read(b"{" + keys + b'"traceEvents":[' + GOOD + b"]}")
    assert len(trace.header) == 10_000
    (warning,) = (one for one in trace.warnings if one.code == "too-large")
    assert warning.count == 10_000
    large = b"".join(b'"k%d":[' % i + b"{}," * 20_000 + b"{}]," for i in range(20))
    trace = read(b"{" + large + b'"z":1,"traceEvents":[' + GOOD + b"]}")
    assert 1 < len(trace.header) < 10
    assert trace.header["z"] == 1


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Sizes of the texts that the decoders of events were given."""
    sizes: list[int] = []

    def count(decode: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
        def counted(text: bytes) -> Any:
            sizes.append(len(text))
            return decode(text)

        return counted

    for name in ("decode_loose", "decode_strict", "repair", "value_length"):
        monkeypatch.setattr(recovery, name, count(getattr(recovery, name)))
    return sizes


PIECES = (
    b'{"ph":x y},',
    b'{"ph":"X" "a"},',
    b'{"ph":"X","ts":1,"name":"a"b"c"},',
    b'{"ph":"X","ts":1}',
    b'{"ph":',
    b'{"a":',
    b'{"ph":"X","args":[{"ph":1},',
    b"[",
    b"]",
    b"{",
    b'"',
    b"\\",
    b"\0",
    b"}],",
    b']{"ph":"X","ts":1}',
)


@pytest.mark.parametrize("piece", PIECES, ids=repr)
def test_damaged_text_is_decoded_a_bounded_number_of_times(
    looked_at: list[int], piece: bytes
) -> None:
    size = 1 << 17
    recovery.recover_events(piece * (size // len(piece)) + GOOD + b"," + GOOD + b"]")
    assert sum(looked_at) < 40 * size


def test_an_event_beside_millions_of_damaged_ones_is_kept(read: Read) -> None:
    for piece in (b'{"ph":x y},', b'{"ph":"X" "a"},', b"[,", b'{"x",'):
        nested = b'{"ph":"X","name":"kept","ts":1,"args":{"a":[{"name":1},{"ph":2}]}},'
        trace = read(b"[" + piece * 20_000 + nested + piece * 20_000 + nested + GOOD + b"]")
        assert sorted(trace.name(row) for row in range(len(trace)))[-2:] == ["kept", "kept"]


@pytest.mark.parametrize("entry", [b"{}", b"[]", b"null", b"1", b'"a,"', b"[1,2]", b"-1.5e3"])
def test_entries_that_are_no_events_are_counted_without_making_any(
    read: Read, entry: bytes
) -> None:
    count = 5000
    text = b"[" + (entry + b", ") * count + GOOD + b"," + (entry + b",") * count + GOOD + b"]"
    for chunk in (200, 1 << 20):
        trace = read(text, chunk)
        assert (trace.events, len(trace)) == (2 * count + 2, 2)
        (warning,) = (one for one in trace.warnings if one.code == "no-phase")
        assert (warning.count, warning.byte_offset) == (2 * count, 1)
        assert trace.args(1) == {}


def test_nesting_is_followed_through_blocks_as_through_the_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = b'{"a\\\\":"\\"]","b":[{"c":"\\\\\\\\\\""},{}],"d":"\\\\"}' * 3
    whole = [place for at, _ in structure.Nesting().feed(text) for place in at.tolist()]
    for size in (1, 2, 3, 7):
        monkeypatch.setattr(structure, "_BLOCK", size)
        pieces = [place for at, _ in structure.Nesting().feed(text) for place in at.tolist()]
        assert pieces == whole
        scan = structure.ValueScan()
        ends = [scan.feed(text[at : at + 5]) for at in range(0, len(text), 5)]
        first = next(number for number, end in enumerate(ends) if end >= 0)
        assert 5 * first + ends[first] == len(text) // 3


@pytest.fixture(autouse=True)
def no_limit_is_left_behind() -> Iterator[None]:
    yield
    choose_limit(None)


def zipped(content: bytes) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("trace.json.gz", content)
    return data.getvalue()


PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda text: gzip.compress(text, 9),
    "zstd": lambda text: zstandard.ZstdCompressor().compress(text),
    "gzip in zip": lambda text: zipped(gzip.compress(text, 9)),
    "zip": zipped,
}


def bomb(path: Path, pack: Callable[[bytes], bytes]) -> None:
    path.write_bytes(pack(b"[" + GOOD + b"," + b" " * 8_000_000 + GOOD + b"]"))


@pytest.mark.parametrize("pack", PACKINGS.values(), ids=list(PACKINGS))
def test_a_bomb_is_read_up_to_the_limit_and_names_the_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes]
) -> None:
    monkeypatch.setattr(text_limit, "SUSPICIOUS_SIZE", 2_000_000)
    path = tmp_path / "bomb"
    bomb(path, pack)
    trace = open_trace(path)
    assert len(trace) == 1
    (warning,) = (one for one in trace.warnings if one.code == "truncated")
    assert "more than 200 times its size" in warning.message
    assert "--max-size 0" in warning.message
    assert text_limit.stopped_here(warning.message)
    assert trace.args(0) == {}
    choose_limit(0)
    assert len(open_trace(path)) == 2


def test_a_bomb_without_events_is_an_error_of_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_limit, "SUSPICIOUS_SIZE", 2_000_000)
    path = tmp_path / "bomb"
    for beginning in (b"[", b'{"a":"', b'{"a":['):
        path.write_bytes(gzip.compress(beginning + b" " * 8_000_000))
        with pytest.raises(TraceError, match="--max-size") as caught:
            open_trace(path)
        assert str(caught.value).isprintable()


def test_a_zstd_window_beyond_measure_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "trace.json.zst"
    settings = zstandard.ZstdCompressionParameters(window_log=30)
    packer = zstandard.ZstdCompressor(compression_params=settings).compressobj()
    path.write_bytes(packer.compress(b"[" + GOOD + b"]") + packer.flush())
    with pytest.raises(TraceError, match="need a window above 128 MiB: unpack them"):
        open_trace(path)


def test_the_users_limit_holds_for_any_text(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(b"[" + (GOOD + b",") * 100_000 + GOOD + b"]")
    choose_limit(2_000_000)
    trace = open_trace(path)
    assert 30_000 < len(trace) < 100_000
    (warning,) = (one for one in trace.warnings if one.code == "truncated")
    assert "the limit of 2000000 bytes (--max-size) was reached" in warning.message


def test_an_honest_file_is_no_bomb_however_small_the_sizes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_limit, "SUSPICIOUS_SIZE", 1000)
    path = tmp_path / "trace.json.gz"
    events = b",".join(
        b'{"ph":"X","name":"n%d","ts":%d.%03d,"dur":1}' % (zlib.crc32(b"%d" % i) % 97, i, i % 997)
        for i in range(50_000)
    )
    path.write_bytes(gzip.compress(b"[" + events + b"]", 9))
    assert len(open_trace(path)) == 50_000


def test_reading_stops_before_the_memory_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_limit, "available_memory", lambda: 1 << 20)
    monkeypatch.setattr(text_limit, "_STEP", 1_000_000)
    path = tmp_path / "trace.json"
    path.write_bytes(b"[" + (GOOD + b",") * 100_000 + GOOD + b"]")
    trace = open_trace(path)
    assert 0 < len(trace) < 100_000
    (warning,) = (one for one in trace.warnings if one.code == "truncated")
    assert "only 1 MiB of memory are left" in warning.message


def test_the_system_tells_how_much_memory_there_is() -> None:
    left = text_limit.available_memory()
    assert left is None or left > 0


def _peak_of(path: Path) -> tuple[int, int]:
    """Memory that a process of its own needs at most to read a file, and to import what reads."""
    code = (
        "import re, sys\n"
        "from whichlayer.analysis.reader import open_trace\n"
        "status = lambda: open('/proc/self/status').read()\n"
        "peak = lambda: int(re.search(r'VmHWM:\\s*(\\d+)', status())[1]) << 10\n"
        "before = peak()\n"
        "open_trace(sys.argv[1])\n"
        "print(before, peak())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    before, peak = map(int, done.stdout.split())
    return before, peak


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux tells it")
@pytest.mark.parametrize("where", ["name", "args", "Concrete Inputs"])
def test_strings_of_megabytes_are_not_kept(tmp_path: Path, where: str) -> None:
    path = tmp_path / "trace.json"
    size, count = 9 << 20, 6
    with path.open("w") as file:
        start = file.write('{\n  "schemaVersion": 1,\n  "traceEvents": [\n  ')
        for number in range(count):
            huge = f"{number}" + "x" * size
            name = huge if where == "name" else "n"
            told = f', "{where}": "{huge}"' if where != "name" else ""
            file.write(
                f'{{\n    "ph": "X", "cat": "cpu_op", "name": "{name}", "pid": 0, "tid": 1,\n'
                f'    "ts": {number}.125, "dur": 1.000,\n    "args": {{\n'
                f'      "External id": {number}{told}\n    }}\n  }}'
                + (",\n  " if number < count - 1 else "")
            )
        file.write("\n  ]\n}\n")
    before, peak = _peak_of(path)
    assert peak < path.stat().st_size + (64 << 20)
    assert peak - before < 9 * size  # the text, a copy or two, and what glibc leaves between
    trace = open_trace(path)
    assert len(trace) == count
    told_cut = [one for one in trace.warnings if one.code == "too-large"]
    if where == "name":
        assert len(trace.name(0)) == 1 << 16
        assert [(one.count, one.byte_offset) for one in told_cut] == [(count, start)]
    else:
        assert not told_cut
        assert len(trace.args(0)[where]) == size + 1

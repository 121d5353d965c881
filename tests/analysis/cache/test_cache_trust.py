"""Nothing in the cache is believed: what is damaged, stale, foreign or made up is read anew."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.analysis.cache.conftest import entries_of, kernel_events
from tests.support.whole_trace import everything
from whichlayer.analysis import analyse, load
from whichlayer.analysis.cache import contents, file_layout, location, reuse, version
from whichlayer.analysis.cache.identity import identify
from whichlayer.analysis.cache.version import reader_version
from whichlayer.analysis.trace.columns import Trace

Array = NDArray[Any]


def found(folder: Path, path: Path) -> Trace | None:
    """What the cache gives for a file."""
    return reuse.find(folder, identify(str(path)), str(path))


@pytest.fixture
def entry(folder: Path, path: Path) -> Path:
    """The entry of the small trace."""
    load(path, cache=True)
    (file,) = entries_of(folder)
    return file


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, bytes]:
    """A trace, its entry and the bytes of that, for the examples of a property."""
    home = tmp_path_factory.mktemp("kept")
    path = home / "trace.json"
    path.write_text(json.dumps({"h": 1, "traceEvents": kernel_events()}))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(home))
        patch.setattr(reuse, "FEWEST_EVENTS", 0)
        load(path, cache=True)
    (file,) = entries_of(home / "whichlayer")
    return path, file, file.read_bytes()


def test_every_changed_byte_is_noticed(kept: tuple[Path, Path, bytes]) -> None:
    path, file, data = kept
    # Every byte of what stands before the arrays, and enough of those.
    for at in (*range(300), *range(300, len(data), 13)):
        changed = bytearray(data)
        changed[at] ^= 1 << (at % 8)
        file.write_bytes(changed)
        assert found(file.parent, path) is None, at
    file.write_bytes(data)
    assert found(file.parent, path) is not None


@given(seed=st.integers(0, 1 << 32))
def test_any_other_damage_is_noticed(kept: tuple[Path, Path, bytes], seed: int) -> None:
    path, file, data = kept
    rng = random.Random(seed)
    at, length = rng.randrange(len(data)), rng.choice([1, 8, 64, 4096])
    ways: list[Callable[[], bytes]] = [
        lambda: data[:at],
        lambda: data + rng.randbytes(length),
        lambda: data[:at] + data[at + length :],
        lambda: data[:at] + rng.randbytes(length) + data[at:],
        lambda: data[:at] + rng.randbytes(len(data) - at),
        lambda: rng.randbytes(length),
    ]
    changed = rng.choice(ways)()
    if changed == data:
        return
    file.write_bytes(changed)
    assert found(file.parent, path) is None


def test_a_damaged_entry_is_read_anew_and_replaced(entry: Path, path: Path) -> None:
    good = entry.read_bytes()
    entry.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
    assert everything(load(path, cache=True)) == everything(load(path))
    assert len(entry.read_bytes()) == len(good)
    assert found(entry.parent, path) is not None


def stored(entry: Path) -> tuple[dict[str, Any], dict[str, Array]]:
    file = os.open(entry, os.O_RDONLY)
    header = file_layout.read_header(file)
    arrays = file_layout.read_arrays(file, header, False)
    os.close(file)
    return header.header, {name: array.copy() for name, array in arrays.items()}


def forge(entry: Path, header: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Write an entry with checksums that are right, whatever it holds."""
    with entry.open("wb") as file:
        file_layout.write_file(file, header, arrays)


BEYOND: dict[str, list[int]] = {
    "name_id": [-1, 1 << 30], "category_id": [-1, 1 << 30], "kind": [12, 255],
    "lane_id": [-1, 1, 99], "detail_id": [-2, 1 << 30], "parent": [-2, 1 << 30],
    "depth": [-1, 1 << 30], "launch": [-2, 1 << 30], "stray": [2, 255],
    "start_ns": [-(1 << 63), (1 << 63) - 1], "end_ns": [-(1 << 63), (1 << 63) - 1],
    "lane_rows": [-1, 1 << 40], "strings.bounds": [-1, 1 << 40], "details.bounds": [-1, 1 << 40],
    "instants.lane_id": [-2, 99], "instants.name_id": [-1, 1 << 30],
    "counters.series_id": [-1, 1], "flows.phase": [3], "flows.lane_id": [-2, 99],
    "flows.category_id": [-1, 1 << 30], "event": [1 << 31], "spans": [-1, 1 << 40],
    "instants.time_ns": [-(1 << 63)], "counters.time_ns": [-(1 << 63)],
    "flows.time_ns": [-(1 << 63)],
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(BEYOND))
def test_numbers_that_lead_astray_are_refused(entry: Path, path: Path, name: str) -> None:
    header, arrays = stored(entry)
    for value in BEYOND[name]:
        for place in range(len(arrays[name])):
            column = arrays[name].copy()
            if column[place] == value:
                continue
            column[place] = value
            if name == "spans" and place % 3 == 0 and value > 0:
                continue  # text that is not there is found out when it is read
            forge(entry, header, arrays | {name: column})
            assert found(entry.parent, path) is None, (name, place, value)
    forge(entry, header, arrays)
    assert found(entry.parent, path) is not None


def test_a_parent_that_follows_its_child_is_refused(entry: Path, path: Path) -> None:
    header, arrays = stored(entry)
    row = int(np.flatnonzero(arrays["parent"] >= 0)[0])
    arrays["parent"][row] = row
    forge(entry, header, arrays)
    assert found(entry.parent, path) is None


def test_slices_out_of_order_are_refused(entry: Path, path: Path) -> None:
    header, arrays = stored(entry)
    first = int(arrays["lane_rows"][0])
    arrays["start_ns"][first + 1] = arrays["start_ns"][first] - 1
    forge(entry, header, arrays)
    assert found(entry.parent, path) is None


@pytest.mark.parametrize("name", sorted(contents.ARRAYS))
def test_columns_of_another_length_or_type_or_none_at_all_are_refused(
    entry: Path, path: Path, name: str
) -> None:
    header, arrays = stored(entry)
    longer = np.append(arrays[name], arrays[name][:1] if len(arrays[name]) else [0])
    for other in (longer.astype(arrays[name].dtype), arrays[name].astype(np.float64)):
        if other.dtype == arrays[name].dtype and len(other) == len(arrays[name]):
            continue
        forge(entry, header, arrays | {name: other})
        assert found(entry.parent, path) is None, name
    forge(entry, header, {key: value for key, value in arrays.items() if key != name})
    assert found(entry.parent, path) is None


def paths_in(value: object, here: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    """Where everything is in a JSON value."""
    places = [here] if here else []
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, held in items:
        places += paths_in(held, (*here, key))
    return places


WILD = [None, True, -1, 1 << 70, 1.5, float("nan"), "", "x", [], {}, [1], {"a": 1}]


@given(data=st.data())
def test_a_header_that_was_made_up_never_raises(
    kept: tuple[Path, Path, bytes], data: st.DataObject
) -> None:
    path, file, good = kept
    file.write_bytes(good)
    header, arrays = stored(file)
    place = data.draw(st.sampled_from(sorted(paths_in(header), key=repr)))
    value = data.draw(st.sampled_from(WILD))
    inside: Any = header
    for key in place[:-1]:
        inside = inside[key]
    if data.draw(st.booleans()):
        inside[place[-1]] = value
    else:
        del inside[place[-1]]
    forge(file, header, arrays)
    trace = found(file.parent, path)
    if trace is not None:  # as good as any: it can be used
        analyse(trace)
        everything(trace, with_arguments=False)


@given(data=st.data())
def test_columns_that_were_made_up_and_pass_do_no_harm(
    kept: tuple[Path, Path, bytes], data: st.DataObject
) -> None:
    path, file, good = kept
    file.write_bytes(good)
    header, arrays = stored(file)
    name = data.draw(st.sampled_from(sorted(arrays)))
    if not len(arrays[name]):
        return
    place = data.draw(st.integers(0, len(arrays[name]) - 1))
    near = data.draw(st.integers(-3, 3))
    kind = arrays[name].dtype
    if kind.kind == "f":
        arrays[name][place] = data.draw(st.floats())
    else:
        limits = np.iinfo(kind)
        arrays[name][place] = min(max(int(arrays[name][place]) + near, limits.min), limits.max)
    forge(file, header, arrays)
    trace = found(file.parent, path)
    if trace is not None:
        analyse(trace)
        everything(trace, with_arguments=False)


@pytest.mark.parametrize(
    ("offset", "length"),
    [(0, 1), (1 << 62, 1), (-64, 1), (64, -1), (None, 1 << 60), (None, -(1 << 60))],
)
def test_arrays_that_lie_outside_are_refused(entry: Path, offset: int | None, length: int) -> None:
    file = os.open(entry, os.O_RDONLY)
    whole = file_layout.read_header(file)
    at = whole.places[0].offset if offset is None else offset
    place = whole.places[0]._replace(offset=at, length=length)
    with pytest.raises(file_layout.Damaged):
        file_layout.read_arrays(file, replace(whole, places=[place]), False)
    os.close(file)


def rewrite(path: Path, text: str, times: tuple[int, int]) -> None:
    path.write_text(text)
    os.utime(path, ns=times)


def test_a_file_that_was_rewritten_is_read_anew(entry: Path, path: Path) -> None:
    status = path.stat()
    times = (status.st_atime_ns, status.st_mtime_ns)
    rewrite(path, path.read_text().replace("aten::add", "aten::mul"), times)
    assert path.stat().st_size == status.st_size
    assert path.stat().st_mtime_ns == status.st_mtime_ns
    assert found(entry.parent, path) is None
    assert "aten::mul" in load(path, cache=True).strings


def test_a_rewritten_file_is_told_by_its_bytes_too(path: Path) -> None:
    """Where the time of the last change at all says nothing."""
    before = identify(str(path))
    status = path.stat()
    text = path.read_text().replace("aten::add", "aten::mul")
    rewrite(path, text, (status.st_atime_ns, status.st_mtime_ns))
    after = identify(str(path))
    assert before.size == after.size and before.changed[0] == after.changed[0]
    assert before.digest != after.digest


def test_a_file_that_was_touched_is_read_anew(entry: Path, path: Path) -> None:
    os.utime(path, ns=(1, 10**18))
    assert found(entry.parent, path) is None


def test_a_journal_beside_an_export_is_noticed(entry: Path, path: Path) -> None:
    assert found(entry.parent, path) is not None
    Path(f"{path}-wal").write_bytes(b"x")
    assert found(entry.parent, path) is None


def test_another_reader_reads_anew(
    entry: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reuse, "reader_version", lambda: "another")
    assert found(entry.parent, path) is None


def test_the_version_is_that_of_the_readers_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "analysis"
    for folder in ("cache", "reader", "trace"):
        (package / folder).mkdir(parents=True)
        (package / folder / "module.py").write_text("")
    for module in ("errors.py", "text.py"):
        (package / module).write_text("")
    monkeypatch.setattr(version, "__file__", str(package / "cache" / "version.py"))
    fresh = reader_version.__wrapped__
    first = fresh()
    assert first and fresh() == first
    (package / "reader" / "module.py").write_text("x = 1")
    assert fresh() not in ("", first)
    (package / "trace" / "module.py").unlink()
    assert fresh() == ""


def test_another_layout_is_not_read(
    entry: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_layout, "_VERSION", 2)
    assert found(entry.parent, path) is None


def test_an_entry_of_another_user_is_not_read(
    entry: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(location, "_user", lambda: os.geteuid() + 1)
    assert found(entry.parent, path) is None


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_an_entry_that_others_may_write_is_not_read(entry: Path, path: Path, mode: int) -> None:
    entry.chmod(mode)
    assert found(entry.parent, path) is None


def test_what_is_no_file_in_the_place_of_an_entry_is_not_followed(
    entry: Path, path: Path, tmp_path: Path
) -> None:
    good = tmp_path / "good"
    entry.rename(good)
    entry.symlink_to(good)
    assert found(entry.parent, path) is None
    entry.unlink()
    os.mkfifo(entry)  # to open it for reading would wait for ever
    assert found(entry.parent, path) is None
    entry.unlink()
    entry.mkdir()
    assert found(entry.parent, path) is None
    assert everything(load(path, cache=True)) == everything(load(path))


def test_a_file_that_changes_while_it_is_read_is_not_kept(
    folder: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = load(path, cache=True, keep=False)
    path.write_text(path.read_text().replace("aten::add", "aten::mul"))
    assert not reuse.keep(trace)
    assert not entries_of(folder)


def test_a_link_that_is_turned_while_its_file_is_read_spoils_no_entry(
    folder: Path, path: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.json"
    other.write_text(path.read_text().replace("aten::add", "aten::mul"))
    link = tmp_path / "latest.json"
    link.symlink_to(path)

    def read() -> Trace:
        link.unlink()
        link.symlink_to(other)
        trace = load(link)
        link.unlink()
        link.symlink_to(path)
        return trace

    reuse.read_through(str(link), read, keep_now=True)
    assert not entries_of(folder)
    assert "aten::add" in load(path, cache=True).strings

"""Finds the entry of a trace, and writes one.

Whatever goes wrong here, the trace is read from its own file, and nobody hears of it: a cache
is to be fast, not to be there.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final
from weakref import WeakKeyDictionary

import msgspec

from whichlayer.analysis.cache.beside import named, note
from whichlayer.analysis.cache.checks import check
from whichlayer.analysis.cache.contents import Contents, pack, unpack
from whichlayer.analysis.cache.entries import (
    entry_path,
    make_room,
    obstacle,
    part_path,
    remove_abandoned,
)
from whichlayer.analysis.cache.file_layout import (
    Array,
    Damaged,
    read_arrays,
    read_header,
    stored_size,
    write_file,
)
from whichlayer.analysis.cache.identity import Identity, identify
from whichlayer.analysis.cache.location import is_own, locate, make_folder
from whichlayer.analysis.cache.mounts import is_local
from whichlayer.analysis.cache.version import reader_version
from whichlayer.analysis.trace.columns import Trace

#: Traces with fewer events are read from their file in a quarter of a second.
FEWEST_EVENTS: Final = 50_000

#: What opening must not wait for, follow or hand on.
_FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
)

#: What traces were read from, until they are kept.
_noted: WeakKeyDictionary[Trace, Identity] = WeakKeyDictionary()


def read_through(path: str, read: Callable[[], Trace], *, keep_now: bool) -> Trace:
    """The trace of a file from the cache, else from the file.

    Args:
        path: the file.
        read: reads it; what it raises comes out of here.
        keep_now: write the entry before returning; else it is left to :func:`keep`.
    """
    folder = locate().usable
    identity = _identity(path) if folder is not None and reader_version() else None
    if folder is None or identity is None:
        return read()
    found = find(folder, identity, path)
    if found is not None:
        return found
    trace = read()
    # A link may lead elsewhere by now: what was read would be taken for the file it led to.
    if _identity(path) != identity:
        return trace
    _noted[trace] = identity
    if keep_now:
        keep(trace)
    return trace


def reopen(path: str) -> Trace | None:
    """The trace of a file from the cache, None where it is not there."""
    folder = locate().usable
    identity = _identity(path) if folder is not None and reader_version() else None
    return None if folder is None or identity is None else find(folder, identity, path)


def find(folder: Path, identity: Identity, name: str) -> Trace | None:
    """The trace of an entry, None where there is none that can be trusted.

    Args:
        folder: the cache.
        identity: of the trace's file now.
        name: the file as the user named it.
    """
    try:
        file = _open(entry_path(folder, identity.key))
    except (OSError, Damaged):
        return None
    try:
        stored = read_header(file)
        if stored.header.get("trace") != _stamp(identity):
            return None
        contents = msgspec.convert(stored.header.get("contents"), Contents)
        arrays = read_arrays(file, stored, is_local(folder))
        check(contents, arrays)
        trace = unpack(name, contents, arrays)
        note(trace, arrays)
        with contextlib.suppress(OSError):  # a disk that is read-only now
            os.utime(file)
        return trace
    # Whatever is wrong with an entry, known or not: the trace itself can be read.
    except Exception:  # noqa: BLE001
        return None
    finally:
        os.close(file)


def keep(trace: Trace, more: Callable[[], Mapping[str, Array]] | None = None) -> bool:
    """Write the entry of a trace that :func:`read_through` has read from its file.

    Args:
        trace: the trace.
        more: gives what else is to lie beside the columns; asked only where an entry is written.

    Returns:
        Whether there is one now.
    """
    identity = _noted.pop(trace, None)
    location = locate()
    if identity is None or location.usable is None or trace.events < FEWEST_EVENTS:
        return False
    # What reads traces is not needed to reopen one.
    from whichlayer.analysis.reader.text_limit import stopped_here

    if any(stopped_here(warning.message) for warning in trace.warnings):
        return False
    try:
        return _write(trace, identity, location.usable, location.limit, more)
    # A trace that is on the screen must not be lost because it cannot be kept.
    except Exception:  # noqa: BLE001
        return False


def describe(path: Path) -> tuple[str, str] | None:
    """What an entry is of, None where it is damaged.

    Returns:
        The trace's file, and why the entry will not be used for it, or empty.
    """
    try:
        file = _open(path)
    except (OSError, Damaged):
        return None
    try:
        stamp = read_header(file).header.get("trace")
    except (OSError, Damaged):
        return None
    finally:
        os.close(file)
    if not isinstance(stamp, dict) or not isinstance(name := stamp.get("path"), str):
        return None
    now = _identity(name)
    if now is None:
        return name, "gone"
    if stamp == _stamp(now):
        return name, ""
    return name, "changed" if stamp.get("reader") == reader_version() else "of another version"


def _write(
    trace: Trace,
    identity: Identity,
    folder: Path,
    limit: int,
    more: Callable[[], Mapping[str, Array]] | None,
) -> bool:
    contents, arrays = pack(trace)
    if tuple(contents["stamp"]) != (identity.size, identity.changed[0]):
        return False
    # What would be refused when it is read must not be written again and again.
    check(msgspec.convert(contents, Contents), arrays)
    if more is not None:
        arrays |= named(more())
    make_folder(folder)
    if locate().usable != folder:
        return False
    remove_abandoned(folder)
    path = entry_path(folder, identity.key)
    header = {"trace": _stamp(identity), "contents": contents}
    size = stored_size(header, arrays)
    if obstacle(folder, size) or not make_room(folder, size, limit, path):
        return False
    # The columns are of what the file held before it was read: is it the same still?
    if _identity(identity.path) != identity:
        return False
    _write_file(path, part_path(folder, identity.key), header, arrays)
    return True


def _write_file(path: Path, part: Path, header: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Put a whole file into its place at once: nobody ever sees half of one."""
    file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        with os.fdopen(file, "wb") as stream:
            write_file(stream, header, arrays)
        part.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


def _open(path: Path) -> int:
    """Open an entry.

    Raises:
        OSError: it cannot be opened.
        Damaged: it is no file that the user alone could have written.
    """
    file = os.open(path, _FLAGS)
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode) or not is_own(status):
        os.close(file)
        raise Damaged("not a file of the user's own")
    return file


def _stamp(identity: Identity) -> dict[str, Any]:
    """What an entry has to say for its columns to be those of the file, in the words of JSON."""
    stamp = asdict(identity) | {"reader": reader_version()}
    return {key: list(one) if isinstance(one, tuple) else one for key, one in stamp.items()}


def _identity(path: str) -> Identity | None:
    try:
        return identify(path)
    except (OSError, ValueError):
        return None

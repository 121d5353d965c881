"""Opens a trace by path: finds the file, tells its format, and reads it."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import replace

from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.reader import standard_input
from whichlayer.analysis.reader.formats import trace_formats
from whichlayer.analysis.reader.memory import keep_freed_memory, no_garbage_collection
from whichlayer.analysis.reader.progress import Report
from whichlayer.analysis.reader.source import TraceSource
from whichlayer.analysis.text import clean
from whichlayer.analysis.trace.columns import Trace

_LFS_POINTER = b"version https://git-lfs"
_SUFFIXES = (".json", ".json.gz", ".json.zst", ".zip", ".sqlite")
_NOTES = ".whichlayer.json"
_LISTED = 8

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_STRING = re.compile(rb'"[^"\\\x00-\x1f]*+(?:\\.[^"\\\x00-\x1f]*+)*+"')

#: Recordings whose own format only NVIDIA's programs read.
_NSIGHT_REPORTS = (".nsys-rep", ".qdrep", ".qdstrm")


def open_trace(
    path: str | os.PathLike[str],
    *,
    progress: Report | None = None,
    cache: bool = False,
    keep: bool = True,
    steps: tuple[int, int] | None = None,
    span_ns: tuple[int, int] | None = None,
) -> Trace:
    """Reads a recording, or what some of its steps or a span of time need.

    Args:
        path: a trace, a directory that holds exactly one, or ``-`` for standard input.
        progress: called now and then while the file is read; what it raises ends the
            reading and comes out of here.
        cache: take a large file's columns from the user's cache folder if they are there,
            and put them there if not; else that folder is neither read nor written. Nothing
            of standard input is ever put there.
        keep: put them there before returning; else ``whichlayer.analysis.cache.reuse.keep``
            does, once somebody calls it.
        steps: (first, last) step numbers, both in: of a large recording only what these need is
            kept, see ``whichlayer.analysis.part``. A part is never put into the cache.
        span_ns: (start, end) since the trace start; as steps, which it goes before.

    Raises:
        TraceError: there is no trace that could be read; one line that names the file.
    """
    name = os.fspath(path)
    try:
        keep_freed_memory()
        with no_garbage_collection():
            if name == standard_input.NAME:
                spooled = standard_input.spool(report=progress)
                trace = _open(spooled, progress, False, False, (steps, span_ns))
                return replace(trace, path=name)
            name = _file_at(name)
            return _open(name, progress, cache, keep, (steps, span_ns))
    except TraceError as error:
        raise TraceError(clean(f"{name}: {error}")) from error.__cause__
    except OSError as error:
        raise TraceError(clean(f"{name}: {error.strerror or error}")) from error
    except ValueError as error:  # a path with a null character
        raise TraceError(clean(f"{name}: {error}")) from error


def _open(
    path: str,
    progress: Report | None,
    cache: bool,
    keep: bool,
    wanted: tuple[tuple[int, int] | None, tuple[int, int] | None],
) -> Trace:
    """The trace of a file, or what is wanted of it: steps, span."""

    def whole() -> Trace:
        if not cache:
            return _read(path, progress)
        from whichlayer.analysis.cache.reuse import read_through

        return read_through(path, lambda: _read(path, progress), keep_now=keep)

    def reopen() -> Trace | None:
        if not cache:
            return None
        from whichlayer.analysis.cache import reuse

        return reuse.reopen(path)

    if wanted == (None, None):
        return whole()
    from whichlayer.analysis.part.needed import Wanted
    from whichlayer.analysis.part.reading import read_part

    return read_part(path, Wanted(*wanted), whole, reopen, progress)


def _read(path: str, progress: Report | None) -> Trace:
    with TraceSource(path) as source:
        if not source.size:
            raise TraceError("the file is empty")
        if source.head.startswith(_LFS_POINTER):
            raise TraceError("a Git LFS pointer, not the trace itself: run git lfs pull")
        if source.damage and not source.head:
            raise TraceError(f"nothing could be read: {source.damage}")
        for known in trace_formats():
            if known.matches(source.head):
                return known.read(source, progress)
        found = _with_damaged_beginning(source, progress)
        if found is not None:
            return found
        if source.damage:
            raise TraceError(f"nothing could be read: {source.damage}")
        if path.lower().endswith(_NSIGHT_REPORTS):
            raise TraceError(
                "a report of Nsight Systems: run nsys export --type sqlite on it first"
            )
        raise TraceError(f"not a trace: {_kind_of_text(source.head)}")


def _with_damaged_beginning(source: TraceSource, progress: Report | None) -> Trace | None:
    """What is left of a trace by its name that does not begin as any; None if it is none."""
    if not is_trace_name(os.path.basename(source.path)):
        return None
    from whichlayer.analysis.reader import read_chrome_json

    try:
        return read_chrome_json.FORMAT.read(source, progress)
    except TraceError:
        return None


def _kind_of_text(head: bytes) -> str:
    """What text that is neither an object nor a list is, by its beginning."""
    text = head.removeprefix(_BYTE_ORDER_MARK).strip()
    if text in (b"null", b"true", b"false"):
        return f"it is JSON, but just {text.decode()}"
    if _NUMBER.fullmatch(text):
        return "it is JSON, but just a number"
    if _STRING.fullmatch(text):
        return "it is JSON, but just a string"
    return "it is not JSON"


def is_trace_name(name: str) -> bool:
    """Whether a file's name is that of a trace."""
    return name.endswith(_SUFFIXES) and not name.endswith(_NOTES) and not name.startswith(".")


def traces_in(folder: str) -> list[str]:
    """The traces of a folder by their names, each as a path, in order of name.

    Raises:
        OSError: it cannot be listed.
    """
    return [
        os.path.join(folder, entry) for entry in sorted(os.listdir(folder)) if is_trace_name(entry)
    ]


def _file_at(path: str) -> str:
    """The file to read for a path.

    Raises:
        TraceError: a directory that does not hold exactly one trace, or no ordinary file.
    """
    mode = os.stat(path).st_mode
    if stat.S_ISREG(mode):
        return path
    if not stat.S_ISDIR(mode):
        raise TraceError("not an ordinary file")
    traces = traces_in(path)
    if len(traces) == 1:
        return traces[0]
    if not traces:
        raise TraceError(
            "a directory without traces (*.json, *.json.gz, *.json.zst, *.zip, *.sqlite)"
        )
    names = [os.path.basename(trace) for trace in traces]
    listed = ", ".join(names[:_LISTED]) + (", …" if len(names) > _LISTED else "")
    raise TraceError(f"a directory with {len(traces)} traces; name one of them: {listed}")

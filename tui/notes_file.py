"""Bookmarks in a file beside the trace: ``<trace>.whichlayer.json``.

Where the trace's folder cannot be written to, or is that of the samples that come with the
package, in the user's state folder. Written whole to
another file that then takes the place of the old one, so that a crash loses nothing; a file
that is damaged or somebody else's is kept aside, never overwritten.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import stat
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from whichlayer.analysis.text import clean
from whichlayer.tui import samples
from whichlayer.tui.view_state import state_folder

#: What is behind the name of the trace.
SUFFIX: Final = ".whichlayer.json"

#: What says that a file is one of ours, and of which form.
_MARK: Final = "whichlayer_notes"
_FORM: Final = 1

#: A larger file is no file of notes.
_MOST_BYTES: Final = 4_000_000
_MOST_MARKS: Final = 10_000
_MOST_NAME: Final = 500
_INT64: Final = 2**63


@dataclass(frozen=True, slots=True)
class Bookmark:
    """A named instant.

    Attributes:
        id: tells it from others with the same name.
        name: what the user calls it.
        clock_ns: the instant on the trace file's own clock, which does not depend on how much
            of the file was read.
        span_ns: length of what was seen or selected then, 0 where nothing was.
        lane: label of the lane that the cursor was on, or empty.
    """

    id: str
    name: str
    clock_ns: int
    span_ns: int = 0
    lane: str = ""


def new_bookmark(name: str, clock_ns: int, span_ns: int = 0, lane: str = "") -> Bookmark:
    """A bookmark with an id of its own."""
    return Bookmark(secrets.token_hex(6), name[:_MOST_NAME], clock_ns, max(span_ns, 0), lane)


def renamed(mark: Bookmark, name: str) -> Bookmark:
    """The same bookmark under another name."""
    return replace(mark, name=name[:_MOST_NAME])


class NotesFile:
    """The notes on one trace; every change reads the file first, so that two screens can write.

    Attributes:
        trace: its path.
        told: what the user has to know about the file, in one line, or empty.
    """

    def __init__(self, trace: str) -> None:
        """Take the path of the trace; ``-`` (a pipe) has notes while the screen is open only."""
        self.told = ""
        self.trace = trace
        self._only_here: list[Bookmark] = []
        beside, state = _places(trace)
        self._beside, self._state = beside, state

    @property
    def path(self) -> Path | None:
        """Where notes are, or would be written; None for those that are kept nowhere."""
        if self._beside is None:
            return None
        if self._beside.exists():
            return self._beside
        if self._state is not None and self._state.exists():
            return self._state
        return self._beside if os.access(self._beside.parent, os.W_OK) else self._state

    @property
    def where(self) -> str:
        """Where notes are, for the user: the file beside the trace, or the folder; or nowhere."""
        path = self.path
        if path is None:
            return ""
        if path != self._state:
            return clean(path.name)
        folder, home = str(path.parent), os.path.expanduser("~")
        short = "~" + folder[len(home) :] if folder.startswith(home + os.sep) else folder
        return clean(short)

    def read(self) -> list[Bookmark]:
        """The bookmarks in order of time; none where the file cannot be understood."""
        path = self.path
        if path is None:
            return sorted(self._only_here, key=_by_time)
        marks, wrong = _read(path)
        self.told = f"{path.name} is {wrong}: a new note would put it aside" if wrong else ""
        return sorted([*marks, *self._only_here], key=_by_time)

    def add(self, mark: Bookmark) -> None:
        """Keep one more.

        Raises:
            OSError: it cannot be written; it is kept while the screen is open.
        """
        self._only_here = _without(self._only_here, mark)
        self._change(lambda marks: [*_without(marks, mark), mark], mark)

    def remove(self, mark: Bookmark) -> None:
        """Keep one less.

        Raises:
            OSError: the file cannot be written.
        """
        self._only_here = _without(self._only_here, mark)
        self._change(lambda marks: _without(marks, mark), None)

    def _change(self, changed: Any, added: Bookmark | None) -> None:
        path = self.path
        if path is None:
            if added is not None:
                self._only_here.append(added)
            return
        try:
            self._write(path, changed)
        except OSError:
            # The folder may refuse although it looked as if it would not.
            if path == self._beside and not path.exists() and self._state is not None:
                with suppress(OSError):
                    self._write(self._state, changed)
                    return
            if added is not None:
                self._only_here.append(added)
            raise

    def _write(self, path: Path, changed: Any) -> None:
        marks, wrong = _read(path)
        self.told = ""
        if wrong:
            aside = _aside(path)
            os.replace(path, aside)
            self.told = f"{path.name} was {wrong}: it is kept as {aside.name}"
        body: dict[str, Any] = {_MARK: _FORM, "trace": os.path.basename(self.trace)}
        body["bookmarks"] = [_stored(mark) for mark in changed(marks)]
        private = path == self._state
        if private:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _replace(path, json.dumps(body, ensure_ascii=True, indent=1) + "\n", private)


def _places(trace: str) -> tuple[Path | None, Path | None]:
    """Where notes on a trace may be: beside it, and in the user's state folder."""
    if trace == "-" or not trace:
        return None, None
    whole = Path(os.path.realpath(trace))
    beside = whole.with_name(whole.name + SUFFIX)
    # A sample's folder is the package's own; what is there already is not lost sight of.
    ours = whole.is_relative_to(samples.FOLDER) and not beside.exists()
    folder = state_folder()
    if folder is None:
        return (None if ours else beside), None
    key = hashlib.sha256(os.fsencode(whole)).hexdigest()[:16]
    name = whole.name.encode("utf-8", "surrogateescape")[:100].decode("utf-8", "ignore")
    state = folder / "notes" / f"{key}-{name}{SUFFIX}"
    return (state if ours else beside), state


def _read(path: Path) -> tuple[list[Bookmark], str]:
    """The bookmarks of a file, and what is wrong with it, or nothing."""
    try:
        file = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        return [], ""
    except OSError as error:
        return [], f"not readable ({error.strerror})"
    with os.fdopen(file, "rb") as stream:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST_BYTES:
            return [], "no file of notes"
        try:
            body = json.loads(stream.read(_MOST_BYTES + 1))
        except (ValueError, RecursionError, OSError):
            return [], "damaged"
    if not isinstance(body, dict) or _MARK not in body:
        return [], "no file of notes"
    if body[_MARK] != _FORM or not isinstance(body.get("bookmarks"), list):
        return [], "of another version of whichlayer"
    found = [_mark(one) for one in body["bookmarks"][:_MOST_MARKS]]
    return [one for one in found if one is not None], ""


def _mark(stored: object) -> Bookmark | None:
    """A bookmark as stored, None where it is none."""
    if not isinstance(stored, dict):
        return None
    name, clock, span = stored.get("name"), stored.get("clock_ns"), stored.get("span_ns", 0)
    lane, known = stored.get("lane", ""), stored.get("id")
    if not isinstance(name, str) or type(clock) is not int or abs(clock) >= _INT64:
        return None
    span = span if type(span) is int and 0 <= span < _INT64 else 0
    lane = lane if isinstance(lane, str) else ""
    known = known if isinstance(known, str) and known else secrets.token_hex(6)
    return Bookmark(known[:40], name[:_MOST_NAME], clock, span, lane[:_MOST_NAME])


def _stored(mark: Bookmark) -> dict[str, Any]:
    return {"id": mark.id, "name": mark.name, "clock_ns": mark.clock_ns,
            "span_ns": mark.span_ns, "lane": mark.lane}  # fmt: skip


def _without(marks: list[Bookmark], mark: Bookmark) -> list[Bookmark]:
    return [one for one in marks if one.id != mark.id]


def _by_time(mark: Bookmark) -> tuple[int, str]:
    return mark.clock_ns, mark.id


def _aside(path: Path) -> Path:
    """A name beside a file that nothing has."""
    for number in range(1, 10_000):
        aside = path.with_name(f"{path.name}.kept-{number}")
        if not os.path.lexists(aside):
            return aside
    raise OSError(f"{path}: too many files are kept aside")


def _replace(path: Path, text: str, private: bool) -> None:
    """Write a file so that there is always the old one or the new one, whole."""
    # A shared folder's files are for those who can read the trace, unless the user said else.
    mode = 0o600 if private else 0o666
    with suppress(OSError):
        mode = stat.S_IMODE(os.stat(path).st_mode)
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), mode)
    try:
        with os.fdopen(file, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(file)
        os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(part)
        raise

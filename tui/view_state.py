"""How the lanes of a trace were left, kept in the user's state folder; always safe to delete.

Lanes are known by what they are of (process, thread, device, stream), not by their number.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from whichlayer.tui.lane_order import USUAL, LaneOrder
from whichlayer.tui.lanes import Fold

_MARK: Final = "whichlayer_view"
_FORM: Final = 1
_MOST_BYTES: Final = 4_000_000


@dataclass(frozen=True, slots=True)
class ViewState:
    """What is kept of a view.

    Attributes:
        order: hidden, pinned, moved and sized lanes.
        folds: how much of lanes is shown.
        clock: times read as wall-clock time.
    """

    order: LaneOrder = USUAL
    folds: Mapping[int, Fold] | None = None
    clock: bool = False


def state_path(trace: str) -> Path | None:
    """Where the view of a trace is kept; None where it cannot be."""
    folder = state_folder()
    if trace in ("", "-") or folder is None:
        return None
    whole = os.path.realpath(trace)
    key = hashlib.sha256(os.fsencode(whole)).hexdigest()[:24]
    return folder / "views" / f"{key}.json"


def state_folder() -> Path | None:
    """The user's state folder of this program; None where there is none."""
    base = os.environ.get("XDG_STATE_HOME", "")
    try:
        folder = Path(base) if os.path.isabs(base) else Path.home() / ".local" / "state"
    except RuntimeError:
        return None
    return folder / "whichlayer"


def read_body(path: Path | None, mark: str, form: int) -> dict[str, Any]:
    """A file of ours, of one form; empty where it is not there or cannot be understood."""
    if path is None:
        return {}
    try:
        if path.stat().st_size > _MOST_BYTES:
            return {}
        body = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) and body.get(mark) == form else {}


def write_body(path: Path, body: Mapping[str, Any]) -> None:
    """Write a file so that there is always the old one or the new one, whole.

    Raises:
        OSError: it cannot be written.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        with os.fdopen(file, "w", encoding="utf-8") as stream:
            json.dump(body, stream)
        os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(part)
        raise


def read_state(path: Path | None, keys: Sequence[Hashable]) -> ViewState | None:
    """The view as it was left; None where nothing is kept or it cannot be understood.

    Args:
        path: from :func:`state_path`.
        keys: what each lane is known by, in order.
    """
    body = read_body(path, _MARK, _FORM)
    if not body:
        return None
    places = {_word(key): index for index, key in enumerate(keys)}

    def lanes(name: str) -> list[int]:
        found = body.get(name)
        words = found if isinstance(found, list) else []
        mine = [places[word] for word in words if isinstance(word, str) and word in places]
        return list(dict.fromkeys(mine))

    def numbers(name: str) -> dict[int, int]:
        found = body.get(name)
        pairs = found.items() if isinstance(found, dict) else ()
        return {places[word]: value for word, value in pairs
                if word in places and type(value) is int and 0 <= value < 1000}  # fmt: skip

    order = LaneOrder(
        frozenset(lanes("hidden")), tuple(lanes("pinned")), (), tuple(numbers("rows").items())
    )
    moved = lanes("order")
    if moved:
        whole = LaneOrder(moved=tuple(moved)).carried(range(len(keys)), len(keys)).moved
        order = LaneOrder(order.hidden, order.pinned, whole, order.rows)
    if not order.listed(len(keys)):
        order = USUAL  # a screen without a lane helps nobody
    folds = {lane: Fold(value) for lane, value in numbers("folds").items() if value <= max(Fold)}
    return ViewState(order, folds, body.get("clock") is True)


def write_state(path: Path | None, keys: Sequence[Hashable], state: ViewState) -> None:
    """Keep a view; nothing is kept where nothing differs from the usual.

    Raises:
        OSError: it cannot be written.
    """
    if path is None:
        return
    order, folds = state.order, state.folds or {}
    if order == USUAL and not folds and not state.clock:
        with suppress(FileNotFoundError):
            path.unlink()
        return
    words = [_word(key) for key in keys]
    body: dict[str, Any] = {
        _MARK: _FORM,
        "hidden": [words[lane] for lane in sorted(order.hidden)],
        "pinned": [words[lane] for lane in order.pinned],
        "order": [words[lane] for lane in order.moved],
        "rows": {words[lane]: rows for lane, rows in order.rows},
        "folds": {words[lane]: int(fold) for lane, fold in folds.items()},
        "clock": state.clock,
    }
    write_body(path, body)


def _word(key: Hashable) -> str:
    return json.dumps(key, default=str)

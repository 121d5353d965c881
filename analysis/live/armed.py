"""The programs of this user that can be joined, and what each says of itself without being joined."""

from __future__ import annotations

import socket
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from whichlayer.analysis.live.events import Recorder, StateTold, recorder_from, state_from
from whichlayer.analysis.live.private_folder import remove_abandoned
from whichlayer.analysis.live.protocol import (
    FROM_RECORDER,
    Message,
    ProtocolError,
    receive,
    send,
)
from whichlayer.analysis.live.rendezvous import RendezvousError, armed, connect

_LOOK_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class Armed:
    """A program that can be joined.

    Attributes:
        pid: its process, by the name of its socket where that is known.
        recorder: as it introduces itself.
        state: what it is doing.
        is_watched: another screen has joined it already.
    """

    pid: int
    recorder: Recorder
    state: StateTold
    is_watched: bool

    @property
    def steps_per_second(self) -> float | None:
        """By the median of its last steps; None where it has not had two."""
        lengths = self.state.step_us
        middle = statistics.median(lengths) if lengths else 0
        return 1e6 / middle if middle > 0 else None


def look_at_all() -> list[Armed]:
    """All armed programs of this user that answer, by process; what killed ones left is removed.

    Raises:
        RendezvousError: there is no safe place for sockets.
    """
    remove_abandoned()
    looks = (_look_at(pid, path) for pid, path in sorted(armed().items()))
    return [one for one in looks if one is not None]


def _look_at(pid: int, path: Path) -> Armed | None:
    return look(lambda: connect(path, _LOOK_SECONDS), pid)


def look(reach: Callable[[], socket.socket], pid: int | None = None) -> Armed | None:
    """What a program says of itself, which does not join it; None where it does not answer.

    Args:
        reach: connects to it.
        pid: its process; None where only the program knows it.
    """
    try:
        with reach() as peer:
            peer.settimeout(_LOOK_SECONDS)
            send(peer, Message("look"))
            messages = [receive(peer, FROM_RECORDER, most_payload=0) for _ in range(3)]
    except (OSError, ProtocolError, RendezvousError):
        return None  # it has just ended, or is stuck
    kinds = [one.kind if one is not None else "" for one in messages]
    hello, state, bye = messages
    if kinds != ["hello", "state", "bye"] or hello is None or state is None or bye is None:
        return None
    recorder = recorder_from(hello, 0)
    process = recorder.pid if pid is None else pid
    return Armed(process, recorder, state_from(state, recorder), bool(bye.text("reason")))

"""Complete events of a chunk of text, as far as they can be read without knowing the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec
import numpy as np

from whichlayer.analysis.reader.details import DETAIL_KEYS
from whichlayer.analysis.reader.frames import FRAMED, FramedDetails, Frames, find_frames
from whichlayer.analysis.reader.heads import Heads
from whichlayer.analysis.reader.layouts import Layout, familiar_layout, learn_layout
from whichlayer.analysis.reader.recurring import ODD, TooMany, cut
from whichlayer.analysis.reader.together import separate
from whichlayer.analysis.trace.columns import Int32, Int64, UInt8
from whichlayer.analysis.trace.kinds import SliceKind

#: So many events show most of the keys that their kind has.
_FEW: Final = 64


_MAY_BE_FRAMED: Final = np.isin(np.arange(len(SliceKind)), FRAMED)


class _Nothing(msgspec.Struct, gc=False):
    """Arguments of which nothing is kept."""


_DECODE_NOTHING: Final = msgspec.json.Decoder(list[_Nothing | int]).decode


@dataclass(frozen=True, slots=True)
class Decoded:
    """Arguments of one kind that were decoded.

    Attributes:
        kind: theirs.
        at: which of the complete events they are of.
        layout: how they were decoded.
        found: one object each.
    """

    kind: SliceKind
    at: Int64
    layout: Layout
    found: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Framed:
    """Arguments of one kind of which most recurs.

    Attributes:
        kind: theirs.
        at: which of the complete events they are of.
        details: what ``number`` counts.
        number: int32 (n,).
        external_id, correlation: int64 (n,).
    """

    kind: SliceKind
    at: Int64
    details: FramedDetails
    number: Int32
    external_id: Int64
    correlation: Int64


@dataclass(frozen=True, slots=True)
class Complete:
    """The complete events of a chunk of text.

    Attributes:
        row: int64 (n,), the place of each among the events of the chunk, in order.
        other: int64 (m,), the places of the other events.
        heads: what ``head`` counts.
        head: int32 (n,), phase, category, name, process and thread of each.
        kind: uint8 (n,), a ``SliceKind`` each.
        start_ns, end_ns: int64 (n,).
        arguments: of those whose kind has any that are kept.
    """

    row: Int64
    other: Int64
    heads: Heads
    head: Int32
    kind: UInt8
    start_ns: Int64
    end_ns: Int64
    arguments: list[Decoded | Framed]


class ArgumentTables:
    """Reads arguments kind by kind."""

    def __init__(self) -> None:
        self._framed = {kind: FramedDetails(kind) for kind in FRAMED}
        self._various: set[SliceKind] = set()

    def renew(self) -> None:
        """Forgets what became too much."""
        for kind, details in self._framed.items():
            if details.full:
                self._framed[kind] = FramedDetails(kind)

    def read(self, kinds: UInt8, text: bytes, begin: Int64, end: Int64) -> list[Decoded | Framed]:
        """The arguments of some events.

        Args:
            kinds: uint8 (n,), a ``SliceKind`` each.
            text: where they stand.
            begin: int64 (n,), where each one's begin in it, behind the brace.
            end: int64 (n,), where they end, before the last line.

        Raises:
            ValueError, RecursionError: some are no arguments.
        """
        may_be = np.flatnonzero(_MAY_BE_FRAMED[kinds])
        frames = find_frames(text, begin[may_be], end[may_be])
        rows = may_be[frames.rows]
        every: list[Decoded | Framed] = []
        for value in np.bincount(kinds).nonzero()[0].tolist():
            kind = SliceKind(value)
            mine = kinds == value
            some = np.flatnonzero(mine[rows]) if kind in self._framed else rows[:0]
            framed = self._recurring(kind, rows, some, text, frames) if len(some) else None
            if framed is not None:
                every.append(framed)
                mine[framed.at] = False
            at = np.flatnonzero(mine)
            if len(at):
                decoded = _decoded(kind, cut(text, begin[at], end[at]))
                every += [] if decoded is None else [Decoded(kind, at, *decoded)]
        return every

    def _recurring(
        self, kind: SliceKind, rows: Int64, some: Int64, text: bytes, frames: Frames
    ) -> Framed | None:
        """Those of some arguments of which most recurs; None where hardly any recur."""
        if kind in self._various:
            return None
        details = self._framed[kind]
        try:
            number = details.numbers(text, frames.begin[some], frames.end[some])
        except TooMany:
            self._various.add(kind)
            return None
        some, number = some[number != ODD], number[number != ODD]
        external_id, correlation = frames.external_id[some], frames.correlation[some]
        return Framed(kind, rows[some], details, number, external_id, correlation)


def _decoded(kind: SliceKind, texts: Sequence[bytes]) -> tuple[Layout, list[Any]] | None:
    """Arguments, one object each; None where none are kept.

    Raises:
        ValueError, RecursionError: some are no arguments.
    """
    # A string does not go past the end of a line, so that each text is seen to end by itself.
    text = b"[{%b\n},0]" % b"\n},0,{\n".join(texts)
    if kind not in DETAIL_KEYS:
        separate(_DECODE_NOTHING(text), len(texts))
        return None
    layout = familiar_layout(kind)
    for lesson in (_FEW, len(texts)):
        try:
            return layout, separate(layout.decode_apart(text), len(texts))
        except msgspec.ValidationError:
            layout = learn_layout(kind, b"[{%b}]" % b"},{".join(texts[:lesson]))
    return layout, separate(layout.decode_apart(text), len(texts))

"""Shares the reading of a large file among processes, with the very same result.

This process decompresses the text and cuts it into blocks, the workers turn blocks into
columns, and this process joins those in the order of the text. Only ordinary text is read that
way: from the first chunk that a worker cannot read, or from where one was lost, this process
reads on as it always does.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from whichlayer.analysis.reader.block import Cut
from whichlayer.analysis.reader.collector import Collector
from whichlayer.analysis.reader.cores import Cores
from whichlayer.analysis.reader.framing import EventArray
from whichlayer.analysis.reader.source import TraceSource

if TYPE_CHECKING:
    from whichlayer.analysis.reader.workers import Answer, Workers

#: Blocks in flight for each worker: one that it reads, and one that it finds when it is done.
_AHEAD: Final = 2

#: While nothing is done, progress is told this often.
_TICK_S: Final = 0.1

#: A worker that does not answer for so long is given up.
_PATIENCE_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class _Block:
    """Text on its way.

    Attributes:
        position: bytes of the file that had been read when it was cut.
    """

    cuts: list[Cut]
    position: int
    columns: Answer

    @property
    def end(self) -> int:
        offset, text = self.cuts[-1]
        return offset + len(text)


class Sharing:
    """Reads with several processes where that pays; a context that ends them.

    Args:
        cores: how many, and when.
        source: the file.
        collector: takes what is read.
        advance: told, several times a second, how many bytes of the file have been read; what
            it raises ends the reading.
    """

    def __init__(
        self,
        cores: Cores,
        source: TraceSource,
        collector: Collector,
        advance: Callable[[int], None],
    ) -> None:
        self._cores = cores
        self._source = source
        self._collector = collector
        self._advance = advance
        self._workers: Workers | None = None
        self._from = cores.sample if cores.workers > 1 else sys.maxsize
        self._doubts = 0
        self._position = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._give_up()

    def read_on(self, array: EventArray) -> None:
        """Reads as much of an array of events as can be shared; called between two chunks.

        What is left, be it nothing, is read by iterating over the array.
        """
        if array.window.offset < self._from:
            return
        if self._workers is None:
            if self._to_come(array) < self._cores.least:
                return
            # Most files are small, and have no use for what this imports.
            from whichlayer.analysis.reader.workers import Workers

            self._workers = Workers(self._cores.workers, self._collector.keep)
        if self._workers.ready:  # until one is, this process has enough to do
            self._position = self._source.position
            self._share(array, self._workers)

    def _to_come(self, array: EventArray) -> float:
        """About how much text is still to be read, by the share of the file that was."""
        position = max(self._source.position, 1)
        return array.window.end * (self._source.size / position) - array.window.offset

    def _share(self, array: EventArray, workers: Workers) -> None:
        window = array.window
        window.keep()
        try:
            flight: deque[_Block] = deque()
            while True:
                while len(flight) < workers.count * _AHEAD and (block := self._cut(array, workers)):
                    flight.append(block)
                if not flight:
                    return
                block = flight.popleft()
                unread = self._take(block, array)
                if unread is not None:
                    for other in flight:
                        other.columns.cancel()
                    window.rewind(unread)
                    return
                window.let_go(block.end)
                self._advance(self._position)
        finally:
            window.let_go()

    def _cut(self, array: EventArray, workers: Workers) -> _Block | None:
        """The next block, handed out; None where the array may end or cannot be cut."""
        cuts: list[Cut] = []
        size = 0
        while size < self._cores.block and (cut := array.cut()):
            cuts.append(cut)
            size += len(cut[1])
        return _Block(cuts, self._source.position, workers.read(cuts)) if cuts else None

    def _take(self, block: _Block, array: EventArray) -> int | None:
        """Takes a block's columns, and tells from where on it is still to be read, if it is."""
        columns = self._answer(block.columns)
        if columns is None:
            self._give_up()
            return block.cuts[0][0]
        self._position = block.position
        spans = columns.spans
        if spans:
            self._collector.take(columns)
            for offset, text in block.cuts[: len(spans)]:
                array.note(offset, bytes(text))
        if len(spans) == len(block.cuts):
            return None
        unread = block.cuts[len(spans)][0]
        # Whatever is in flight is read in vain: the more often, the longer until the next try.
        self._from = unread + (self._cores.block << self._doubts)
        self._doubts += 1
        return unread

    def _answer(self, columns: Answer) -> Collector | None:
        """What a worker made of a block; None if it, or its worker, is lost."""
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            try:
                return columns.result(_TICK_S)
            except TimeoutError:
                self._advance(self._position)
            if time.monotonic() > deadline:
                return None

    def _give_up(self) -> None:
        self._from = sys.maxsize
        if self._workers is not None:
            self._workers.close()
            self._workers = None

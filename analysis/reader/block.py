"""The seam between text and columns.

A block is some chunks of text, each of whole events as :meth:`EventArray.cut` guesses them, and
what stands in it is a :class:`Collector`: columns, and tables of the strings, groups, lanes and
arguments that the columns refer to. It depends on nothing but the block's own text, so that it
can be made anywhere, and :meth:`Collector.take` joins it to what came before. A faster way from
text to columns takes the place of :func:`read_block`, which says what it has to give.
"""

from __future__ import annotations

from collections.abc import Iterable

from whichlayer.analysis.reader.collector import Collector
from whichlayer.analysis.reader.framing import Chunk, Span, decode_guess
from whichlayer.analysis.reader.keep import Keep
from whichlayer.analysis.reader.kineto_text import KinetoText

#: What one block has taught serves for the next.
_KINETO = KinetoText()

#: Where a chunk begins in the whole decompressed text, and its own text.
Cut = tuple[int, bytes | bytearray]


def read_block(cuts: Iterable[Cut], keep: Keep | None = None) -> Collector:
    """What stands in chunks of text, up to the first that is not plain events.

    Args:
        cuts: the chunks.
        keep: the stretch of time that is wanted, None for all.

    Returns:
        What was collected; it has one span for each chunk that was read, and fewer spans than
        there are chunks where one needs a closer look.
    """
    collector = Collector(keep)
    for offset, text in cuts:
        apart = _KINETO.read(text) if keep is None else None
        events, complete = (decode_guess(text), None) if apart is None else apart
        if events is None:
            break
        chunk = Chunk(events, [], complete)
        chunk.spans.append(Span(offset, len(text), chunk.count))
        collector.add(chunk)
    return collector

"""The words for a launch: how deep the queue was, and what led to it."""

from __future__ import annotations

from whichlayer.analysis.report.units import count_text
from whichlayer.tui.chain import Chain
from whichlayer.tui.document import Document
from whichlayer.tui.keys import key_shown
from whichlayer.tui.line import Line

#: A longer chain is told by its ends.
_MOST_LINKS = 6


def queue_lines(document: Document, gpu_row: int) -> list[Line]:
    """Queue depth at the launch of GPU work; nothing where its launch is not recorded."""
    activity = document.activity_of(gpu_row)
    if document.links is None or activity < 0:
        return []
    queued = document.links.queued(activity)
    if queued is None:
        return []
    if queued.before:
        said = f"{count_text(queued.before, 'launch call')} unfinished before it: the host is ahead"
    else:
        said = "empty: the GPU had nothing left to do when this was launched"
    if queued.unlinked:
        said += "; at least: some work has no recorded launch"
    if queued.delay_ns < 0:
        said += "; it begins before its launch: the clocks disagree"
    return [Line(said, label="queue")]


def chain_lines(document: Document, row: int) -> list[Line]:
    """The whole chain of a slice, effects first, and the keys that go along it."""
    if document.links is None:
        return []
    chain: Chain = document.links.chain(row)
    if len(chain.links) < 2:
        return []
    links = list(chain.links)
    if len(links) > _MOST_LINKS:
        links = [*links[: _MOST_LINKS - 2], *links[-2:]]
    names = document.names
    words = [(names.full if link.word == "python" else names.short)(link.row) for link in links]
    if len(links) < len(chain.links):
        words.insert(_MOST_LINKS - 2, "…")
    return [
        Line(f"{' ‹ '.join(words)} ({key_shown('cause')}, {key_shown('effect')})", label="chain")
    ]

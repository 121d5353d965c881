"""Along the chain of GPU work, launch, operators, module and Python line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whichlayer.analysis.trace.kinds import GPU_WORK
from whichlayer.tui.acting import Acting
from whichlayer.tui.deferred import Deferred
from whichlayer.tui.keys import key_shown

# There is no chain before the first picture.
if TYPE_CHECKING:
    from whichlayer.analysis.trace.columns import Trace
    from whichlayer.tui import following, travel
    from whichlayer.tui.chain import Chain
    from whichlayer.tui.document import Document
    from whichlayer.tui.view import View
else:
    following = Deferred("whichlayer.tui.following")
    travel = Deferred("whichlayer.tui.travel")

#: What is said at an end of a chain, and the key that goes the other way.
_NOWHERE = {
    1: ("nothing recorded started this", "effect", "down"),
    -1: ("nothing recorded was started by this", "cause", "up"),
}


class ChainActions(Acting):
    """Backspace and backslash."""

    def __init__(self, **settings: Any) -> None:
        """Nobody came from anywhere yet."""
        super().__init__(**settings)
        self._foot: tuple[Trace, int] | None = None

    def chain_of_slice(self, row: int) -> Chain | None:
        """The chain through a slice; None for no slice, or before the analysis."""
        document = self.document
        if document is None or document.links is None or row < 0:
            return None
        foot = self._foot[1] if self._foot and self._foot[0] is document.trace else -1
        return document.links.chain(row, foot)

    def came_from(self, row: int) -> None:
        """Remember GPU work, so that the chain leads back to it from its launch."""
        document = self.document
        if document is not None and row >= 0 and document.trace.kind[row] in GPU_WORK:
            self._foot = (document.trace, row)

    def action_chain(self, step: int) -> None:
        """The next cause of the slice at the cursor, or its next effect for a negative step."""
        document, view = self.document, self.look
        if document is None or view is None:
            return
        if document.links is None:
            self.say("chains are known once the recording is analysed")
            return
        here = travel.slice_at(document, travel.rows_of(document, view), view)
        chain = self.chain_of_slice(here)
        if chain is None:
            self._from_gap(document, view, step)
            return
        link = chain.beside(step)
        if link is None:
            text, other, way = _NOWHERE[step]
            back = f": {key_shown(other)} goes {way} the chain" if chain.beside(-step) else ""
            self.say(f"{text}{back}")
            return
        self._foot = (document.trace, chain.foot)
        self.look_at(following.along_chain(document, view, chain, link.row))
        place = chain.at + step
        self.say(f"{link.word} {place + 1} of {len(chain.links)}: {document.names.short(link.row)}")

    def _from_gap(self, document: Document, view: View, step: int) -> None:
        """To the launch that a gap waited for, or to the work that ends it."""
        ends, launch = following.gap_ends(document, view)
        target = launch if step > 0 else ends
        if ends < 0:
            self.say("no slice and no gap at the cursor")
        elif target < 0:
            self.say("the launch of the work that ends this gap is not recorded")
        else:
            self._foot = (document.trace, ends)
            self.look_at(travel.to_slice_row(document, view, target))
            word = "the launch that this gap waited for" if step > 0 else "what ends this gap"
            self.say(f"{word}: {document.names.short(target)}")

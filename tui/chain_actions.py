"""Along the chain of GPU work, launch, operators, module and Python line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whichlayer.tui.acting import Acting
from whichlayer.tui.deferred import Deferred

# There is no chain before the first picture.
if TYPE_CHECKING:
    from whichlayer.analysis.trace.columns import Trace
    from whichlayer.tui import travel
    from whichlayer.tui.chain import Chain
    from whichlayer.tui.document import Document
    from whichlayer.tui.view import View
else:
    travel = Deferred("whichlayer.tui.travel")

_NOWHERE = {
    1: "nothing recorded started this",
    -1: "nothing recorded was started by this",
}


class ChainActions(Acting):
    """``u U``."""

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
            self.say(_NOWHERE[step])
            return
        self._foot = (document.trace, chain.foot)
        self.look_at(travel.along_chain(document, view, chain, link.row))
        place = chain.at + step
        self.say(f"{link.word} {place + 1} of {len(chain.links)}: {document.names.short(link.row)}")

    def _from_gap(self, document: Document, view: View, step: int) -> None:
        """To the launch that a gap waited for, or to the work that ends it."""
        ends, launch = travel.gap_ends(document, view)
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

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
            self.say("no slice at the cursor")
            return
        link = chain.beside(step)
        if link is None:
            self.say(_NOWHERE[step])
            return
        self._foot = (document.trace, chain.foot)
        self.look_at(travel.along_chain(document, view, chain, link.row))
        place = chain.at + step
        self.say(f"{link.word} {place + 1} of {len(chain.links)}: {document.names.short(link.row)}")

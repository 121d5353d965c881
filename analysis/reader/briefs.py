"""Decodes events for an outline: of their arguments a few numbers, and no text at all.

What an outline needs is decoded at once, where reading in full decodes arguments apart, by their
kind. Text with events that need more, or with a word or a type that was not seen before, is
decoded as it always is; that decides how fast it is read, never what is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, cast

import msgspec

from whichlayer.analysis.reader.arguments import Arguments, bare_arguments
from whichlayer.analysis.reader.events import ABSENT, Event, Id, Raw
from whichlayer.analysis.reader.framing import EventDecoder
from whichlayer.analysis.reader.keep import OUTLINE, Keep
from whichlayer.analysis.reader.layouts import bare_layout
from whichlayer.analysis.reader.vocabulary import VOCABULARY, Vocabulary
from whichlayer.analysis.trace.kinds import SliceKind

#: Phases of which an outline keeps columns, or nothing.
_PHASES: Final = frozenset("XiIRnTpstf")

#: After as many chunks as this without success in a row, the next try is that far off as well.
_MOST_SKIPPED: Final = 64

#: Any kind on a GPU has all of the numbers.
_NUMBERS: Final = bare_layout(SliceKind.KERNEL)


class Brief(msgspec.Struct, gc=False):
    """What an outline needs of an event; see :class:`Event`."""

    ph: str = ""
    name: str = ""
    cat: str = ""
    pid: Id = ""
    tid: Id = ""
    ts: Raw = ABSENT
    dur: Raw = ABSENT
    args: Any = None


class BriefDecoder:
    """Decodes text for an outline.

    Args:
        vocabulary: decodes what needs more, and knows the words.
    """

    def __init__(self, vocabulary: Vocabulary = VOCABULARY) -> None:
        self._vocabulary = vocabulary
        self._words: dict[str, frozenset[Id]] = {}
        self._decoder: msgspec.json.Decoder[list[Brief]] | None = None
        self._failures = 0
        self._skip = 0

    def decode(self, text: bytes) -> list[Event]:
        """Events of ``[...]`` text of the ordinary types; see :meth:`Vocabulary.decode`.

        Returns:
            :class:`Event` all, or :class:`Brief` all, which have what an outline asks for.

        Raises:
            msgspec.ValidationError: a field has an odd type; the text may still be JSON.
            ValueError, RecursionError: the text is not JSON, or nested too deeply.
        """
        if self._skip:
            self._skip -= 1
            return self._vocabulary.decode(text)
        words = self._vocabulary.words()
        if words is not self._words or self._decoder is None:
            self._words, self._decoder = words, msgspec.json.Decoder(_list_of(words))
        try:
            found = self._decoder.decode(text)
        except msgspec.ValidationError:
            self._skip = min(self._failures, _MOST_SKIPPED)
            self._failures = 2 * self._failures + 1
            return self._vocabulary.decode(text)
        self._failures = 0
        return cast(list[Event], found)


#: What all readers of a process share.
BRIEFS: Final = BriefDecoder()


def decoder_for(keep: Keep | None) -> EventDecoder:
    """What decodes text of which just this is kept."""
    return BRIEFS if keep == OUTLINE else VOCABULARY


def numbers_of(events: Sequence[Event]) -> Arguments | None:
    """The numbers among the arguments of events, None where those are text still."""
    if not events or not isinstance(events[0], Brief):
        return None
    none = _NUMBERS.type()
    found = [none if one.args is None else one.args for one in events]
    return bare_arguments(_NUMBERS, found)


def _list_of(words: dict[str, frozenset[Id]]) -> Any:
    """The type of a list of briefs that take just these words."""
    known: dict[str, Any] = {name: Literal[tuple(some)] for name, some in words.items() if some}
    known["ph"] = Literal[tuple(words.get("ph", _PHASES) & _PHASES or _PHASES)]
    known["args"] = _NUMBERS.type | None
    brief = msgspec.defstruct(
        Brief.__name__,
        [
            (one.name, known.get(one.name, one.type), one.default)
            for one in msgspec.structs.fields(Brief)
        ],
        bases=(Brief,),
        gc=False,
    )
    return list[brief]  # type: ignore[valid-type]

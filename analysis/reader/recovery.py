"""Picks the events out of damaged text one by one, and says what is lost."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from itertools import islice
from typing import Final

import msgspec

from whichlayer.analysis.reader.brackets import bracket_entries
from whichlayer.analysis.reader.closing import closes_array, last_phase
from whichlayer.analysis.reader.events import DECODE_ERRORS, Event, decode_loose, decode_strict
from whichlayer.analysis.reader.one_event import (
    LIST,
    event_starts,
    nested_event,
    read_event,
    value_length,
)
from whichlayer.analysis.reader.patterns import no_events, sound_event
from whichlayer.analysis.reader.recovered import Found, Loss, Recovery
from whichlayer.analysis.reader.repair import (
    Repaired,
    check_encoding,
    escape_sure_quotes,
    first_difference,
    repair,
    versions,
)
from whichlayer.analysis.reader.structure import SEPARATORS

_CLOSE = re.compile(rb'\}\s*(\])(?=\s*(?:,\s*"|\}|\Z))')
_BETWEEN = re.compile(rb"[\s,]*+")
_BRACKETS = re.compile(rb"[\[\]\s,]*+")

#: Later starts that an event may reach over, since a nested object can look like one.
_REACH: Final = 4

#: Events in one text that are repaired with all means, and failures of the usual means after
#: which only sound events are looked for, lest a file that is no trace take forever.
_TRIES, _USUAL_TRIES = 200, 2000

#: Events that are decoded together while nothing is wrong with them.
_LARGEST_BATCH: Final = 256

#: What a lost block of a disk leaves: never a few spots that a repair could save.
HOLE: Final = b"\0" * 16

#: Events are rarely longer than this.
_USUAL: Final = 1 << 12

#: Largest damaged event that is repaired.
_LARGEST_REPAIR: Final = 1 << 20

_WHITE_SPACE = b" \t\r\n"
_OPEN_OR_CLOSE = b"[]"
_STRUCTURE = b"{[]"
_BRACE, _BRACKET_CLOSE = ord("{"), ord("]")


def recover_events(text: bytes, midst: bool = False, *, ended: bool = False) -> Recovery:
    """Reads what can be read of damaged text that begins between two events of an array.

    Args:
        text: as far as it is known.
        midst: it begins inside an event whose beginning was left out, so that nothing
            before the next event counts as lost.
        ended: nothing follows the text.
    """
    return _Recoverer(text, midst, ended).run()


class _Recoverer:
    """A place in the text, and what was found before it."""

    def __init__(self, text: bytes, midst: bool, ended: bool) -> None:
        self._text = text
        self._midst = midst
        self._ended = ended
        self._starts = event_starts(text)
        self._later = 0
        self._last_phase = last_phase(text)
        self._batch = 1
        self._tries = _TRIES
        self._usual_tries = _USUAL_TRIES
        self._repairable = len(text)
        self._lost_behind = -1  # so many stretches of events stand before the last lost place
        self._result = Recovery()

    def run(self) -> Recovery:
        """Goes through the text once."""
        text, result = self._text, self._result
        at = 0
        while at >= 0:
            result.consumed = at = self._pass_separators(at)
            if at == len(text):
                break
            at = self._pass_brackets(at) if text[at] in _OPEN_OR_CLOSE else self._next(at)
        result.ends_lost = self._lost_behind == len(result.spans)
        return result

    def _pass_separators(self, at: int) -> int:
        """Counts as damage whatever is not one comma between two events; other text is a loss."""
        text, spans = self._text, self._result.spans
        between = _BETWEEN.match(text, at)
        end = between.end() if between else at
        if spans and spans[-1].end == at and end < len(text) and text[end] in _STRUCTURE:
            # Brackets after a comma are an entry, those without one are counted with what they touch.
            due = {_BRACE: (1,), _BRACKET_CLOSE: (0,)}.get(text[end], (0, 1))
            if text.count(b",", at, end) not in due:
                self._repaired(at, 1)
        return end

    def _pass_brackets(self, at: int) -> int:
        """Moves past brackets that belong to nothing; -1 at one that closes the array."""
        text = self._text
        run = _BRACKETS.match(text, at)
        end = run.end() if run else at + 1
        for close in (text.rfind(b"]", at, end), text.find(b"]", at, end)):
            if close >= 0 and self._closes(close):
                self._note_brackets(at, close, alone=True)
                self._result.consumed = close
                return -1
        self._note_brackets(at, end, alone=end == len(text))
        return end

    def _note_brackets(self, at: int, end: int, *, alone: bool) -> None:
        """Counts as lost the entries that are nothing but brackets; others touch an event.

        Args:
            at: where the first bracket stands.
            end: behind the last.
            alone: no event follows without a comma.
        """
        for offset, entry, lost in bracket_entries(self._text, at, end, alone):
            if not lost:
                self._repaired(offset, 1)
            elif not self._midst:
                self._lose(offset, entry)

    def _closes(self, at: int) -> bool:
        return self._last_phase < at or closes_array(self._text, at)

    def _next(self, at: int) -> int:
        """Reads or passes what begins here and returns its end; -1 if that is not in this text."""
        starts, text = self._starts, self._text
        self._later = later = bisect_right(starts, at, self._later)
        limit = starts[later] if later < len(starts) else len(text)
        end = self._take_any(at, limit) if text[at] == _BRACE else self._take_no_events(at)
        if end >= 0:
            self._midst = False
            return end
        if self._usual_tries <= 0:
            limit = self._next_sound(at)
        elif limit < len(text) or self._ended:
            nested = nested_event(text, at, limit)
            limit = nested if nested >= 0 else limit
        return self._skip(at, limit)

    def _take_any(self, at: int, limit: int) -> int:
        """Reads the event here, by what costs least; -1 if it cannot be read."""
        end = self._take_batch(at)
        if end < 0 and self._usual_tries > 0:
            end = self._take_within(self._take_mended, at, limit)
            self._usual_tries -= end < 0
        if end < 0 and self._tries > 0:
            self._tries -= 1
            limits = [*self._starts[self._later : self._later + _REACH], len(self._text)][:_REACH]
            end = self._take(at, limits)
            end = end if end >= 0 else self._take_within(self._take_repaired, at, limit)
        elif end < 0:
            sound = sound_event().match(self._text, at)
            event = read_event(Repaired(sound[0], 0)) if sound else None
            if sound and event is not None and event.ph:
                end = self._append([event], at, sound.end(), Repaired(sound[0], 0))
        return end

    def _take_within(self, take: Callable[[int, int], int], at: int, limit: int) -> int:
        """Reads the event here by some means; the last one ends before what closes the array."""
        limits = [limit]
        if limit == len(self._text):
            closes = _CLOSE.finditer(self._text, max(at, self._last_phase))
            limits = [*(found.start(1) for found in islice(closes, _REACH)), limit]
        ends = (take(at, one) for one in limits)
        return next((end for end in ends if end >= 0), -1)

    def _take_no_events(self, at: int) -> int:
        """Reads values that are JSON but no events, between two events; -1 if it is not that."""
        text, spans = self._text, self._result.spans
        if self._lost_behind == len(spans):
            return -1
        run = no_events().match(text, at, at + _USUAL)
        if run is None or text[run.end() : run.end() + 1] not in (b"{", b"["):
            return -1
        piece = run[0].rstrip(SEPARATORS)
        events = _decoded(piece)
        return self._append(events, at, at + len(piece), Repaired(piece, 0)) if events else -1

    def _next_sound(self, at: int) -> int:
        """Where the next event is that needs no repair, or the last one of all begins."""
        sound = sound_event().search(self._text, at + 1)
        last = self._starts[-1] if self._starts else -1
        if sound:
            return sound.start()
        return last if last > at else len(self._text)

    def _take_batch(self, at: int) -> int:
        """Reads the next events together, or else just the one here; -1 if it is damaged."""
        starts, later = self._starts, self._later
        for count in (min(self._batch, len(starts) - later), 1):
            if count < 1 or later >= len(starts):
                break
            last = self._text.rfind(b"}", at, starts[later + count - 1])
            piece = self._text[at : last + 1]
            events = _decoded(piece)
            if events and all(event.ph for event in events):
                self._batch = min(2 * count, _LARGEST_BATCH)
                return self._append(events, at, at + len(piece), Repaired(piece, 0))
            self._batch = 1
            if count == 1:
                break
        return -1

    def _take_mended(self, at: int, limit: int) -> int:
        """Reads the event here if it ends before the next and usual repairs make it JSON."""
        if not self._may_repair(at, limit):
            return -1
        piece = self._text[at : self._text.rfind(b"}", at, limit) + 1]
        version = escape_sure_quotes(piece)
        event = read_event(version) if version.spots else None
        if event is None:
            mended = repair(version.text)
            version = Repaired(mended.text, mended.spots + version.spots)
            event = read_event(version) if mended.spots else None
        if event is not None and event.ph:
            return self._append([event], at, at + len(piece), version)
        return -1

    def _take(self, at: int, limits: list[int]) -> int:
        """Reads the event here and returns its end, or -1.

        An object without a phase is taken only where it is empty: damage makes nested objects
        look like events.
        """
        text = self._text
        if limits[0] - at > _USUAL:
            limits = [at + _USUAL, *limits]
        for limit in limits:
            length = value_length(text[at:limit])
            if length < 0:
                continue
            if LIST.search(text, at, at + length):
                break
            piece = text[at : at + length]
            bold = self._may_repair(at, at + length)
            for version in versions(piece) if bold else (Repaired(piece, 0),):
                event = read_event(version)
                if event is not None and (event.ph or length <= len(b"{}")):
                    return self._append([event], at, at + length, version)
        return -1

    def _take_repaired(self, at: int, limit: int) -> int:
        """As :func:`_take`, for an event that is not JSON until it is repaired."""
        if not self._may_repair(at, limit):
            return -1
        piece = self._text[at:limit].rstrip(SEPARATORS)
        for version in versions(piece):
            length = value_length(version.text) if version.spots else -1
            rest = version.text[length:]
            if length > 0 and not rest.strip(SEPARATORS).strip(b"]"):
                mended = Repaired(version.text[:length], version.spots)
                event = read_event(mended)
                if event is not None and event.ph:
                    return self._append([event], at, at + len(piece) - len(rest), mended)
        return -1

    def _may_repair(self, at: int, limit: int) -> bool:
        """Whether so much may still be repaired; every byte of a text is, a few times."""
        if self._text.find(HOLE, at, limit) >= 0:
            return False
        if limit - at > min(_LARGEST_REPAIR, self._repairable) and limit - at > _USUAL:
            return False
        self._repairable -= limit - at
        return True

    def _skip(self, at: int, limit: int) -> int:
        """Where to go on behind what cannot be read; -1 if that is not in this text."""
        close = self._close_within(at, limit)
        if close < 0 and limit == len(self._text):
            return -1
        end = close if close >= 0 else limit
        if not self._midst:
            self._lose(at, self._text[at:end].rstrip(SEPARATORS))
        return end

    def _lose(self, at: int, text: bytes) -> None:
        result, before = self._result, len(self._result.spans)
        if result.loss is None:
            result.loss = Loss(at, _reason(text))
            result.begins_lost = not before
        result.loss.places += self._lost_behind != before
        result.loss.size += len(text)
        self._lost_behind = before

    def _close_within(self, at: int, end: int) -> int:
        """Where the array's closing bracket is behind its last event, which is damaged; else -1."""
        if end < self._last_phase:
            return -1
        for found in _CLOSE.finditer(self._text, at, end):
            if found.end() > self._last_phase:
                return found.start(1)
        return -1

    def _append(self, events: list[Event], start: int, end: int, version: Repaired) -> int:
        result = self._result
        result.events += events
        result.spans.append(Found(start, end, len(events)))
        if version.spots:
            first = 0
            if result.repaired_at < 0:
                first = first_difference(self._text[start:end], version.text)
            self._repaired(start + first, version.spots)
        return end

    def _repaired(self, at: int, spots: int) -> None:
        if not self._result.repaired:
            self._result.repaired_at = at
        self._result.repaired += spots


def _decoded(text: bytes) -> list[Event] | None:
    array = b"[%b]" % text
    try:
        check_encoding(text)
        try:
            return decode_strict(array)
        except msgspec.ValidationError:
            return decode_loose(array)
    except DECODE_ERRORS:
        return None


def _reason(text: bytes) -> str:
    try:
        decode_loose(b"[%b]" % text[:_LARGEST_REPAIR].rstrip(SEPARATORS))
    except RecursionError:
        return "it is nested too deeply"
    except DECODE_ERRORS as error:
        return str(error).split(" (byte")[0].removeprefix("JSON is malformed: ")
    return "it is no event"

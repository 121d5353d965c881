"""What the live screen knows: the windows so far, the one that is shown, and how recording goes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from whichlayer.tui.live.shots import Judged, Shot

_MOST_NOTES: Final = 500
_MOST_ANALYSED: Final = 100
_STANDS_OUT: Final = 0.05
"""A rank that loses so much more of its window than the first one is the one to begin with."""

_MOST_SHOTS: Final = 5_000
"""Cells that the strip remembers, of windows whose files may be gone long since."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a recorder is doing.

    Attributes:
        phase: in words.
        active: it is recording just now.
        step: steps that have ended, None where nobody counts them.
        step_us: lengths of the last ones, oldest first.
        dropped: windows that were lost.
        failure: why it records no more, or empty.
        gone: it is connected no more.
    """

    phase: str = ""
    active: bool = False
    step: int | None = None
    step_us: tuple[int, ...] = ()
    dropped: int = 0
    failure: str = ""
    gone: bool = False


@dataclass(slots=True)
class LiveModel:
    """Changed by one thread alone, that of the screen.

    Attributes:
        shots: by number, oldest first.
        judged, failed: by number: what an analysis said, or why there is none.
        gone: numbers of those whose files are no more.
        chosen: number of the window that is shown, or None.
        following: the newest window is shown as soon as it is there.
        source: whose windows are shown.
        told: by source.
        writing: files that are still being written, with their sizes.
        notes: what the user was told last, oldest first.
        noted: how many notes there were in all.
        initial: numbers of windows that were there before anybody looked.
        arrived: the source that has come last, until one is chosen or all are listed.
    """

    shots: dict[int, Shot] = field(default_factory=dict)
    judged: dict[int, Judged] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)
    gone: set[int] = field(default_factory=set)
    chosen: int | None = None
    following: bool = True
    source: str = ""
    told: dict[str, Told] = field(default_factory=dict)
    writing: tuple[tuple[str, int], ...] = ()
    notes: deque[str] = field(default_factory=lambda: deque(maxlen=_MOST_NOTES))
    noted: int = 0
    initial: set[int] = field(default_factory=set)
    arrived: str = ""
    _met: set[str] = field(default_factory=set)
    _picked: bool = False
    _worst: str = ""

    @property
    def sources(self) -> list[str]:
        """All who record or have recorded, in the order of people: rank 2 before rank 10."""
        found = {shot.source for shot in self.shots.values()} | set(self.told)
        return sorted(found, key=_natural)

    @property
    def parties(self) -> list[str]:
        """The sources, without windows of which it is not known yet whose they are."""
        unnamed = [shot.id for shot in self.shots.values() if not shot.source]
        is_open = "" not in self.told and not any(self._is_done(one) for one in unnamed)
        return [source for source in self.sources if source or not is_open]

    @property
    def parties_text(self) -> str:
        """How many there are and the key that lists them, ``J: 2 ranks``; empty for one alone."""
        found = self.parties
        if len(found) < 2:
            return ""
        kinds = {source.partition(" ")[0] for source in found}
        kind = {"rank": "ranks", "process": "processes"}.get(kinds.pop()) if len(kinds) == 1 else ""
        return f"J: {len(found)} {kind or 'sources'}"

    @property
    def line(self) -> list[Shot]:
        """The windows of the chosen source, oldest first."""
        return [shot for shot in self.shots.values() if shot.source == self.source]

    @property
    def newest(self) -> Shot | None:
        """The newest window of the chosen source that can still be shown."""
        here = [shot for shot in self.line if shot.id not in self.gone]
        return here[-1] if here else None

    @property
    def newest_judged(self) -> Shot | None:
        """The newest window of the source whose analysis is there."""
        known = [s for s in self.line if s.id in self.judged and s.id not in self.gone]
        return known[-1] if known else None

    @property
    def now(self) -> Told:
        """What the chosen source is doing."""
        return self.told.get(self.source, Told())

    def tell(self, source: str, told: Told) -> None:
        """Take what a source is doing."""
        self.told[source] = told
        self.settle()

    def add(self, shot: Shot) -> None:
        """A window has come."""
        self.shots[shot.id] = shot
        self.settle()
        for old in list(self.shots)[: max(len(self.shots) - _MOST_SHOTS, 0)]:
            if old != self.chosen:
                self._forget(old)

    def replace(self, shot: Shot) -> None:
        """Something else is known of a window, or its file has changed: it is judged anew."""
        self.shots[shot.id] = shot
        self.judged.pop(shot.id, None)
        self.failed.pop(shot.id, None)
        self.gone.discard(shot.id)

    def remove(self, ids: Iterable[int]) -> None:
        """Files of windows are gone: their cells stay, they can be opened no more."""
        self.gone.update(one for one in ids if one in self.shots)

    def follow(self) -> None:
        """Show the newest from now on."""
        self.following = True

    def choose(self, shot_id: int) -> bool:
        """Show this window and stay there; False where its file is gone."""
        if shot_id not in self.shots or shot_id in self.gone:
            return False
        self.chosen = shot_id
        self.following = False
        return True

    def prefer(self, source: str) -> None:
        """Show the windows of a source, unless the user has picked one."""
        if not self._picked:
            self.choose_source(source)

    def choose_source(self, source: str) -> None:
        """Show the windows of another source, the newest first."""
        self.source, self._picked, self.arrived = source, True, ""
        self.following = True

    def begin_with_worst(self) -> str:
        """Once every source has a judged window: show the one that loses the most, if it stands out.

        That is done once, and never where the user has picked one.

        Returns:
            Its name where another one is shown now, else empty.
        """
        sources = self.sources
        if self._picked or self._worst or len(sources) < 2 or not self.following:
            return ""
        lost = {source: self._lost_share(source) for source in sources}
        known = {source: share for source, share in lost.items() if share is not None}
        if len(known) < len(sources):
            return ""
        self._worst = self.source
        worst = max(sources, key=lambda source: known[source])
        if known[worst] - known.get(self.source, 0.0) < _STANDS_OUT:
            return ""
        self._worst = self.source = worst
        return worst

    def _lost_share(self, source: str) -> float | None:
        """What the newest judged window of a source loses, above CUDA and in kernels."""
        shots = (shot for shot in reversed(self.shots.values()) if shot.source == source)
        judged = next((self.judged[shot.id] for shot in shots if shot.id in self.judged), None)
        return None if judged is None else judged.above_share + judged.below_share

    def beside(self, step: int) -> Shot | None:
        """The window so many places later among those that can be opened, None past the ends."""
        here = [shot for shot in self.line if shot.id not in self.gone]
        places = [index for index, shot in enumerate(here) if shot.id == self.chosen]
        if not places:
            return here[-1] if here else None
        place = places[0] + step
        return here[place] if 0 <= place < len(here) else None

    def wanted(self) -> Shot | None:
        """The window that is to be shown now: the chosen one, or the newest that is known."""
        if self.following:
            return self.newest_judged
        return None if self.chosen is None else self.shots.get(self.chosen)

    def queue(self) -> list[Shot]:
        """Windows to be analysed: the chosen one, those of the source, the newest of the others.

        The newest come first, and of thousands that are there only as many as a strip shows.
        """
        chosen = [] if self.chosen is None or self.following else [self.shots[self.chosen]]
        others = {shot.source: shot for shot in self.shots.values() if shot.source != self.source}
        order = [*chosen, *self.line[: -_MOST_ANALYSED - 1 : -1], *others.values()]
        return [s for s in dict.fromkeys(order) if not self._is_done(s.id)]

    def _is_done(self, shot_id: int) -> bool:
        return shot_id in self.judged or shot_id in self.failed or shot_id in self.gone

    def meet(self) -> None:
        """Note who has come since the last time, unless a recorder has introduced itself."""
        found = self.parties
        new = [one for one in found if one not in self._met and one not in self.told]
        late = {shot.source for shot in self.shots.values() if shot.id not in self.initial}
        for source in new if self._met else []:
            if source and source in late:
                self.arrived = source
                self.note(f"{source} has arrived, {self.parties_text}")
        self._met.update(found)

    def note(self, text: str) -> None:
        """Something that the user is to know."""
        self.notes.append(text)
        self.noted += 1

    def settle(self) -> None:
        """Until the user picks one, the first source that has windows, or else the first."""
        if self._picked:
            return
        if self._worst:
            self.source = self._worst
            return
        with_shots = {shot.source for shot in self.shots.values()}
        candidates = [one for one in self.sources if one in with_shots] or self.sources
        if self.source not in candidates or not any(shot.id == self.chosen for shot in self.line):
            self.source = candidates[0]

    def _forget(self, shot_id: int) -> None:
        self.shots.pop(shot_id, None)
        self.judged.pop(shot_id, None)
        self.failed.pop(shot_id, None)
        self.gone.discard(shot_id)


def _natural(text: str) -> tuple[str, int, str]:
    """Ranks by number, behind what has no rank."""
    word, _, number = text.rpartition(" ")
    return (word, int(number), "") if number.isdecimal() else (text, -1, "")

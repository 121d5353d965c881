r"""Lanes as they are written on the command line: names, and how lanes lie from top to bottom.

A name is the label; of several lanes with one label the second is ``label#2``. What would mean
something else in a list (``, = # \`` anywhere, ``^ - *`` in front) has a backslash before it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

MOST_ROWS: Final = 999
ONE, ALL = "one", "all"

_ANYWHERE: Final = re.compile(r"[\\,=#]")
_MEANS: Final = frozenset(",=#^-*")
_CHARACTER: Final = re.compile(r"\\(.)|(.)", re.DOTALL)
_NUMBER: Final = re.compile(r"[1-9][0-9]{0,5}")

#: Characters, each with whether it may mean something.
Tokens = list[tuple[str, bool]]


class LaneSpecError(ValueError):
    """What was typed is no list of lanes; the message is one short line."""


@dataclass(frozen=True, slots=True)
class LaneName:
    """A lane by its label, and which of those that have it, from 1."""

    title: str
    number: int = 1

    def __str__(self) -> str:
        """As it is written."""
        text = _ANYWHERE.sub(r"\\\g<0>", self.title)
        if text[:1] in ("^", "-", "*"):
            text = f"\\{text}"
        return text if self.number == 1 and text else f"{text}#{self.number}"

    @property
    def literally(self) -> LaneName:
        """The same text where the number is a part of the label."""
        end = "" if self.number == 1 else f"#{self.number}"
        return LaneName(f"{self.title}{end}".strip())


@dataclass(frozen=True, slots=True)
class LaneEntry:
    """A lane in a list from top to bottom; without a name all lanes that are not named.

    Attributes:
        name: which lane; None for the others, which lie where they usually do.
        pinned: it stays in sight at the top.
        hidden: it is not shown.
        rows: the user gave it so many, 0 for as many as there is room for.
        fold: ``one`` row, ``all`` of them, or nothing.
    """

    name: LaneName | None
    pinned: bool = False
    hidden: bool = False
    rows: int = 0
    fold: str = ""

    def __str__(self) -> str:
        """As it is written."""
        if self.name is None:
            return "*"
        lead = "^" if self.pinned else "-" if self.hidden else ""
        ends = [f"={end}" for end in (self.rows, self.fold) if end]
        return f"{lead}{self.name}{''.join(ends)}"


OTHERS: Final = LaneEntry(None)


def lane_names(titles: Iterable[str]) -> list[LaneName]:
    """The name of each lane, no two alike."""
    met: Counter[str] = Counter()
    names = []
    for title in map(str.strip, titles):
        met[title] += 1
        names.append(LaneName(title, met[title]))
    return names


def places_of(names: Sequence[LaneName]) -> dict[LaneName, int]:
    """Where each lane is."""
    return {name: index for index, name in enumerate(names)}


def place_of(name: LaneName, places: Mapping[LaneName, int]) -> int | None:
    """Which lane is meant, None where there is no such lane."""
    found = places.get(LaneName(name.title.strip(), name.number))
    return places.get(name.literally) if found is None else found


def parse_name(text: str) -> LaneName:
    """A lane's name as it is typed; what makes no sense in one is a part of the label."""
    name, ends = _name_of(_tokens(text))
    return LaneName(name.title + _text_of(ends), name.number)


def parse_lanes(text: str) -> tuple[LaneEntry, ...]:
    """The lanes of a list.

    Raises:
        LaneSpecError: it is none.
    """
    parts: list[Tokens] = [[]]
    for token in _tokens(text):
        if token == (",", True):
            parts.append([])
        else:
            parts[-1].append(token)
    entries = tuple(map(_entry, parts))
    if entries.count(OTHERS) > 1:
        raise LaneSpecError("* stands for all other lanes: once is enough")
    return entries


def parse_counts(text: str) -> tuple[tuple[LaneName, int], ...]:
    """``NAME=N,...`` as rows by lane.

    Raises:
        LaneSpecError: it is no such list.
    """
    counts = []
    for entry in parse_lanes(text):
        if entry.name is None or entry != LaneEntry(entry.name, rows=entry.rows or -1):
            raise LaneSpecError(f"{entry}: write LANE=ROWS")
        counts.append((entry.name, entry.rows))
    return tuple(counts)


def _tokens(text: str) -> Tokens:
    return [
        (match[2], match[2] in _MEANS) if match[1] is None else (match[1], False)
        for match in _CHARACTER.finditer(text)
    ]


def _text_of(tokens: Tokens) -> str:
    return "".join(character for character, _ in tokens)


def _name_of(tokens: Tokens) -> tuple[LaneName, Tokens]:
    """A name, and what follows on it from the first equals sign on."""
    end = tokens.index(("=", True)) if ("=", True) in tokens else len(tokens)
    name, rest = tokens[:end], tokens[end:]
    marks = [place for place, token in enumerate(name) if token == ("#", True)]
    number = _text_of(name[marks[-1] + 1 :]).strip() if marks else ""
    if _NUMBER.fullmatch(number):
        return LaneName(_text_of(name[: marks[-1]]), int(number)), rest
    return LaneName(_text_of(name)), rest


def _entry(tokens: Tokens) -> LaneEntry:
    text = _text_of(tokens)
    if not text.strip():
        raise LaneSpecError("a lane is left out between two commas")
    if tokens == [("*", True)]:
        return OTHERS
    pinned, hidden = tokens[0] == ("^", True), tokens[0] == ("-", True)
    name, ends = _name_of(tokens[pinned or hidden :])
    rows, fold = 0, ""
    for end in _text_of(ends).split("=")[1:]:
        if end in (ONE, ALL):
            fold = end
        elif _NUMBER.fullmatch(end) and int(end) <= MOST_ROWS:
            rows = int(end)
        else:
            raise LaneSpecError(f"{text}: rows are a number up to {MOST_ROWS}, one or all")
    return LaneEntry(name, pinned, hidden, rows, fold)

"""Labels for a set of names in little room: what the names share is cut first.

Two people who read a table to each other have nothing but its labels: no two names may have one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size

#: A word of a name with what parts it from the one before: ``_bf16``, ``Large``, ``<float``.
_WORD = re.compile(r"[\W_]*(?:[A-Z]+(?![a-z])|[A-Z]?[a-z]{3,}(?=\d)|[A-Z]?[a-z0-9]+|[^\W_])|[\W_]+")

#: Cells that the first word of a name keeps, however little room there is.
_LEAST_FIRST = 3

#: Times that labels which are alike are made anew before they are numbered.
_MOST_ROUNDS = 4

#: Cells in which numbers fit behind a beginning.
_LEAST_NUMBERED = 4


@dataclass(frozen=True, slots=True)
class Labels:
    """The label of each name.

    Attributes:
        of: by name.
        numbered: names that had too little room to be told apart but by a number.
    """

    of: Mapping[str, str]
    numbered: frozenset[str]


def labels_apart(rooms: Mapping[str, int]) -> Labels:
    """Names cut to their room, so that no two look alike.

    Names that stay different keep their beginning. Of those that would be cut to the same text
    the words go first that most of them have; where that is not enough, they are numbered.

    Args:
        rooms: cells that each name has.
    """
    found = {name: _cut(name, rooms[name]) for name in sorted(rooms)}
    telling: dict[str, set[str]] = {name: set() for name in rooms}
    for _ in range(_MOST_ROUNDS):  # what parts one group may look like what parts another
        for names in _groups(found):
            _part(sorted(names), rooms, found, telling)
    numbered: set[str] = set()
    taken, number = set(found.values()), 1
    for name in (name for names in _groups(found) for name in sorted(names)):
        if rooms[name] >= _LEAST_NUMBERED and found[name] != name:
            found[name], number = _numbered(name, number, rooms[name], taken)
            numbered.add(name)
    return Labels(found, frozenset(numbered))


def told_apart(names: Sequence[str], rooms: Sequence[int]) -> list[str]:
    """Names cut to their room as :func:`labels_apart` does; one name has the same label always.

    Args:
        names: clean; several may be the same.
        rooms: cells that each has.

    >>> told_apart(["gemm_bf16_tn_128x128", "gemm_bf16_tn_256x64", "copy"], [12, 12, 12])
    ['gemm…128x128', 'gemm…256x64', 'copy']
    """
    least: dict[str, int] = {}
    for name, room in zip(names, rooms, strict=True):
        least[name] = min(room, least.get(name, room))
    labels = labels_apart(least)
    return [labels.of[name] for name in names]


def _groups(found: Mapping[str, str]) -> list[list[str]]:
    """The names that have one label, where several do."""
    alike: dict[str, list[str]] = {}
    for name, text in found.items():
        alike.setdefault(text, []).append(name)
    return [names for names in alike.values() if len(names) > 1]


def _part(
    names: list[str],
    rooms: Mapping[str, int],
    found: dict[str, str],
    telling: Mapping[str, set[str]],
    depth: int = _MOST_ROUNDS,
) -> None:
    """Label names that look alike by the words that not all of them have.

    Those are kept in ``telling``: other names may be parted from these by others.
    """
    words = {name: [part for part in _WORD.findall(name) if part] for name in names}
    counts = Counter(word for mine in words.values() for word in set(mine))
    for name in names:
        telling[name].update(word for word in words[name] if counts[word] < len(names))
        if found[name] != name:
            found[name] = _fitted(words[name], counts, telling[name], rooms[name])
    for fewer in _groups({name: found[name] for name in names}):
        if depth and len(fewer) < len(names):
            _part(sorted(fewer), rooms, found, telling, depth - 1)
        else:
            _part_by_places(fewer, rooms, found)


def _fitted(words: list[str], counts: Mapping[str, int], telling: set[str], room: int) -> str:
    """A name without words that others have too, ``…`` for what is left out.

    What all have goes first, then the end of the first word, then what most have.
    """
    kept = set(range(len(words)))
    order = sorted(range(1, len(words)), key=lambda place: (-counts[words[place]], -place))
    for place in (place for place in order if words[place] not in telling):
        if cell_len(_joined(words, kept)) <= room:
            break
        kept.discard(place)
    over, is_cut = cell_len(_joined(words, kept)) - room, False
    # Half of a number would be another number.
    if over > 0 and cell_len(words[0]) > _LEAST_FIRST + 1 and not words[0][-1].isdecimal():
        cells = max(cell_len(words[0]) - over - 1, _LEAST_FIRST)
        words, is_cut = [set_cell_size(words[0], cells), *words[1:]], True
    for place in (place for place in order if counts[words[place]] > 1):
        if cell_len(_joined(words, kept, is_cut)) <= room:
            break
        kept.discard(place)
    for place in range(1, len(words)):  # a long word may have left room
        if cell_len(_joined(words, kept | {place}, is_cut)) > room:
            break
        kept.add(place)
    return _cut(_joined(words, kept, is_cut), room)


def _joined(words: Sequence[str], kept: Iterable[int], is_cut: bool = False) -> str:
    """The words that are kept, in their order."""
    text, last = "", -1
    for place in sorted(kept):
        gap = place > last + 1 or (is_cut and place == 1)
        text += f"…{words[place].lstrip('_ ')}" if gap else words[place]
        last = place
    return text + "…" * (last + 1 < len(words))


def _part_by_places(names: list[str], rooms: Mapping[str, int], found: dict[str, str]) -> None:
    """Label names that differ within words: a beginning, then from where they part."""
    common = _beginning(names)
    for name in names:
        if found[name] == name:
            continue
        head = set_cell_size(name, rooms[name] // 3).rstrip()
        tail = rooms[name] - cell_len(head) - 1
        rest = name[common:]
        if cell_len(rest) <= tail:
            while common and cell_len(name[common - 1 :]) <= tail:
                common -= 1
            rest = name[common:]
        found[name] = _cut(f"{head}…{_cut(rest, tail)}", rooms[name])


def _beginning(names: Sequence[str]) -> int:
    """How many characters all of them begin with."""
    first, last = min(names), max(names)  # whatever lies between them begins alike
    return next(
        (i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first)
    )


def _numbered(name: str, number: int, room: int, taken: set[str]) -> tuple[str, int]:
    """A beginning and a number from ``number`` on that no other has; the next number."""
    while True:
        tail = f"…#{number}"
        text = _cut(f"{set_cell_size(name, max(room - len(tail), 0)).rstrip()}{tail}", room)
        number += 1
        if text not in taken or len(tail) > room:
            taken.add(text)
            return text, number


def _cut(name: str, room: int) -> str:
    """A name, or as much of its beginning as there is room for."""
    if cell_len(name) <= room:
        return name
    return f"{set_cell_size(name, room - 1)}…" if room > 0 else ""

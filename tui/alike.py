"""Tells rows of the kernel table apart: names by where they differ, equal ones by their shapes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from rich.cells import cell_len, set_cell_size

from whichlayer.analysis.results import KernelGroup
from whichlayer.analysis.text import clean

_TYPE = re.compile(r"^[a-z]\w*(?=\[)")


def differences(
    groups: Sequence[KernelGroup], shown: Callable[[KernelGroup], str]
) -> dict[int, str]:
    """What differs between groups that are shown alike, by their places in ``groups``.

    Args:
        groups: the rows of the table.
        shown: the name of each as there is room for it.

    Returns:
        The shapes from the first that differs on, else the operator; only of groups of which
        there are several with one name and for which that tells anything.
    """
    alike: dict[str, list[int]] = {}
    for place, group in enumerate(groups):
        alike.setdefault(shown(group), []).append(place)
    found: dict[int, str] = {}
    for places in alike.values():
        if len(places) > 1:
            found |= _apart([groups[place] for place in places], places)
    return found


def _apart(groups: list[KernelGroup], places: list[int]) -> dict[int, str]:
    shapes = [clean(group.shapes).split() for group in groups]
    if len({tuple(one) for one in shapes}) > 1:
        same = _common(shapes)
        types = {match[0] for one in shapes for part in one if (match := _TYPE.match(part))}
        texts = [
            " ".join(_TYPE.sub("", part) if len(types) == 1 else part for part in one[same:])
            for one in shapes
        ]
    else:
        texts = [clean(group.operator).removeprefix("aten::") for group in groups]
        if len(set(texts)) == 1:
            return {}
    return {place: text for place, text in zip(places, texts, strict=True) if text}


def _common(shapes: list[list[str]]) -> int:
    """How many of their first parts are the same in all."""
    same = 0
    for parts in zip(*shapes, strict=False):
        if len(set(parts)) > 1:
            break
        same += 1
    return same


def told_apart(names: Sequence[str], rooms: Sequence[int]) -> list[str]:
    """Names cut to their room, so that different ones look different as far as there is room.

    Names that would be cut to the same text lose their middle instead: the beginning says what
    they are, and what is shown behind ``…`` is where they differ.

    Args:
        names: clean.
        rooms: cells that each has.

    >>> told_apart(["gemm_bf16_tn_128x128", "gemm_bf16_tn_256x64", "copy"], [12, 12, 12])
    ['gemm…128x128', 'gemm…_256x64', 'copy']
    """
    texts = [_cut(name, room) for name, room in zip(names, rooms, strict=True)]
    alike: dict[str, list[int]] = {}
    for place, (name, text) in enumerate(zip(names, texts, strict=True)):
        if text != name:
            alike.setdefault(text, []).append(place)
    for places in alike.values():
        mine = {names[place] for place in places}
        if len(mine) < 2 or any(cell_len(name) != len(name) for name in mine):
            continue
        common = _beginning(mine)
        ways = [
            {name: way(name, rooms[places[0]], common) for name in mine} for way in (_middle, _end)
        ]
        best = max(ways, key=lambda way: len(set(way.values())))
        if len(set(best.values())) > 1:
            for place in places:
                texts[place] = best[names[place]]
    return texts


def _beginning(names: set[str]) -> int:
    """How many characters all of them begin with."""
    first, last = min(names), max(names)  # whatever lies between them begins alike
    return next(
        (i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first)
    )


def _cut(name: str, room: int) -> str:
    if cell_len(name) <= room:
        return name
    return f"{set_cell_size(name, room - 1)}…" if room > 0 else ""


def _middle(name: str, room: int, common: int) -> str:
    """The beginning, then the name from about where it differs from others."""
    head = room // 3
    tail = max(room - head - 1, 0)
    if len(name) - common <= tail:
        return _end(name, room, common)
    return f"{name[:head]}…{_cut(name[common:], tail)}"


def _end(name: str, room: int, common: int) -> str:
    """The beginning and the end."""
    head = room // 3
    tail = max(room - head - 1, 0)
    return _cut(f"{name[:head]}…{name[len(name) - tail :]}", room)

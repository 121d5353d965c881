"""Short names of kernels that differ wherever the kernels of one trace do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from whichlayer.analysis.kernels.names import READ_LENGTH, SHORT_LENGTH, short_name

_WORD: Final = re.compile(r"[A-Za-z_]\w*|\d+")

#: What is added to a short name has at most this many characters.
_MOST_ADDED: Final = 24

#: Parts of words that say nothing beside the short name.
_NOISE: Final = re.compile(
    r"_?(?:elementwise_)?kernel(?:_cuda|_impl)?|^c10$|_?functor", re.IGNORECASE
)


def names_apart(names: Iterable[str]) -> Mapping[str, str]:
    """The short name of each name, no two of them alike.

    Where :func:`~whichlayer.analysis.kernels.names.short_name` gives several kernels one name,
    the words of their full names at which they part are added in brackets (one of them may do without); where those
    say too little or too much, a number.

    Args:
        names: as recorded; the same ones get the same answers in any order.

    >>> sorted(names_apart(["void cub::Scan<int>(int*)", "void cub::Scan<long>(long*)"]).values())
    ['cub Scan [int]', 'cub Scan [long]']
    """
    alike: dict[str, list[str]] = {}
    for name in sorted(set(names)):
        alike.setdefault(short_name(name), []).append(name)
    taken = {short for short, members in alike.items() if len(members) == 1}
    found: dict[str, str] = {}
    for short, members in alike.items():
        if len(members) == 1:
            found[members[0]] = short
            continue
        told = [" ".join(words) for words in _partings(members)]
        usable = len(set(told)) == len(told) and max(map(len, told)) <= _MOST_ADDED
        for place, name in enumerate(members, 1):
            added = told[place - 1] if usable else f"#{place}"
            found[name] = _unused(short, added, place, taken)
            taken.add(found[name])
    return found


def _unused(short: str, added: str, place: int, taken: set[str]) -> str:
    """A short name with what is added, cut to the length that all keep."""
    while True:
        tail = f" [{added}]"
        room = SHORT_LENGTH - len(tail)
        name = (short if len(short) <= room else short[: room - 1] + "…") + tail
        name = name if added else short
        if name not in taken:
            return name
        place += 1
        added = f"#{place}"


def _partings(names: Sequence[str]) -> list[list[str]]:
    """By name: its words at the places where it parts from others, in order."""
    words = [_WORD.findall(name[:READ_LENGTH]) for name in names]
    told: list[list[str]] = [[] for _ in names]
    pending = [(list(range(len(names))), 0)]
    while pending:
        members, at = pending.pop()
        while (
            at < min(len(words[i]) for i in members) and len({words[i][at] for i in members}) == 1
        ):
            at += 1
        groups: dict[str, list[int]] = {}
        for i in members:
            word = words[i][at] if at < len(words[i]) else ""
            groups.setdefault(word, []).append(i)
            if said := _NOISE.sub("", word).strip("_"):
                told[i].append(said)
        if len(groups) > 1:
            pending += [(group, at + 1) for group in groups.values() if len(group) > 1]
    return told

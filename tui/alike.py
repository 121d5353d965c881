"""What tells rows of the kernel table apart that have one name: their shapes, else the operator."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

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


def without_common(texts: Sequence[str]) -> list[str]:
    """Shapes without the extents that all of them begin with.

    >>> without_common(["[32,256,14,14]", "[32,256,28,28]"]), without_common(["[8]", "[9]"])
    (['…14,14]', '…28,28]'], ['[8]', '[9]'])
    """
    first, last = min(texts), max(texts)  # whatever lies between them begins alike
    same = 0
    while same < min(len(first), len(last)) and first[same] == last[same]:
        same += 1
    start = first.rfind(",", 0, same) + 1
    return [f"…{text[start:]}" for text in texts] if start else list(texts)

"""What of a name is written on a bar that is shorter than the name.

Whoever reads a timeline wants to know which operator, step or copy it is: namespaces, what the
autograd engine puts before a name and details in brackets go first, the number of a step last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

#: On shorter bars every cell is needed for the name; that it is cut is no news there.
_LEAST_ELLIPSIS = 6

_ENGINE = re.compile(r"^(?:\w+::)*evaluate_function: ")
_BRACKETS = re.compile(r" ?\([^()]*\)$")
_STEP = re.compile(r"^\w*?([A-Z][a-z]+)?#(\d+)$")
_NAMESPACES = re.compile(r"^(?:\w+::)+(?=\w)")


@lru_cache(maxsize=1 << 16)
def fitted(name: str, room: int) -> str:
    """A name in the room it has: whole, else its telling part, else the beginning of that.

    >>> [fitted("aten::convolution", room) for room in (20, 12, 8, 4)]
    ['aten::convolution', 'convolution', 'convolu…', 'conv']
    >>> fitted("ProfilerStep#12", 8), fitted("ProfilerStep#12", 4)
    ('Step#12', '#12')
    """
    part = name
    for part in _parts(name):
        if len(part) <= room:
            return part
    return part[:room] if room < _LEAST_ELLIPSIS else part[: room - 1] + "…"


def _parts(name: str) -> Iterator[str]:
    """A name, then ever shorter parts of it; the last is the one that is cut."""
    yield name
    step = _STEP.match(name)
    if step is not None:
        if step[1]:
            yield f"{step[1]}#{step[2]}"
        yield f"#{step[2]}"
        return
    name = _ENGINE.sub("", name)
    yield name
    name = name.strip("#=-* ") or name
    yield name
    head, mark, tail = name.partition("#")
    if mark and head and tail:
        # Which optimizer steps is said behind the mark, what is enumerated before it.
        name = tail if head.startswith("Optimizer.") else head
        yield name
    name = _NAMESPACES.sub("", name)
    yield name
    plain = _BRACKETS.sub("", name)
    if plain:
        yield plain

"""Values that are decoded together, with a zero behind each.

They come from pieces of text of which each should be one value. The zeros tell whether they are:
where one piece held two values, or two only together one, a zero would not be where it should.
"""

from __future__ import annotations

from typing import Any


def separate(found: list[Any], count: int) -> list[Any]:
    """The values without the zeros.

    Raises:
        ValueError: they are not so many, or not one of each piece.
    """
    wanted = found[::2]
    if len(found) != 2 * count or found[1::2].count(0) != count or int in set(map(type, wanted)):
        raise ValueError("pieces that are not one value each")
    return wanted

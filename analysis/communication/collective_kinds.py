"""What kind of collective a name stands for, and how nccl-tests counts its bandwidth.

Algorithm bandwidth is the size over the time; bus bandwidth is that times a factor that makes it
comparable with the speed of the links, whatever the number of ranks.
Source: nccl-tests, doc/PERFORMANCE.md and the ``GetBw`` function of each of its programs.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

ALL_REDUCE: Final = "all-reduce"
ALL_GATHER: Final = "all-gather"
REDUCE_SCATTER: Final = "reduce-scatter"
ALL_TO_ALL: Final = "all-to-all"
BROADCAST: Final = "broadcast"
REDUCE: Final = "reduce"
GATHER: Final = "gather"
SCATTER: Final = "scatter"
SEND: Final = "send"
RECEIVE: Final = "recv"
#: A kernel that sends and receives, of which no more is known: all-to-all or point to point.
SEND_RECEIVE: Final = "send-recv"
BARRIER: Final = "barrier"
DISPATCH: Final = "expert-dispatch"
COMBINE: Final = "expert-combine"
OTHER: Final = "other"

#: Kinds that no rank leaves before every other has come.
ALL_WAIT: Final = frozenset({ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL, BARRIER})

#: Kinds in which every rank gives the same number of elements.
EVEN: Final = frozenset({ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, BROADCAST, REDUCE, BARRIER})

# The longer words first: "reduce" and "gather" are parts of others.
_MARKS: Final = (
    (ALL_REDUCE, "allreduce|crossdevicereduce|customar"),
    (REDUCE_SCATTER, "reducescatter"),
    (ALL_GATHER, "allgather"),
    (ALL_TO_ALL, "alltoall|all2all"),
    (SEND_RECEIVE, "sendrecv"),
    (BROADCAST, "broadcast|bcast"),
    (BARRIER, "barrier"),
    (DISPATCH, "dispatch"),
    (COMBINE, "combine"),
    (REDUCE, "reduce"),
    (SCATTER, "scatter"),
    (GATHER, "gather"),
    (SEND, "send"),
    (RECEIVE, "recv|receive"),
)
_PATTERNS: Final = tuple((kind, re.compile(words)) for kind, words in _MARKS)
_READ: Final = 512


@lru_cache(maxsize=4096)
def kind_of(name: str) -> str:
    """The kind that a collective's, an annotation's or a kernel's name tells.

    >>> kind_of("_allgather_base"), kind_of("nccl:send 0->1"), kind_of("wait")
    ('all-gather', 'send', 'other')
    """
    word = re.sub(r"[^a-z0-9]", "", name[:_READ].split("(ncclDev")[0].lower())
    for kind, pattern in _PATTERNS:
        if pattern.search(word):
            return kind
    return OTHER


def bus_factor(kind: str, ranks: int) -> float | None:
    """Bus over algorithm bandwidth; None where nothing is moved or the kind has no such figure.

    >>> bus_factor("all-reduce", 8), bus_factor("all-gather", 4), bus_factor("broadcast", 8)
    (1.75, 0.75, 1.0)
    """
    if ranks < 2:
        return None
    if kind == ALL_REDUCE:
        return 2 * (ranks - 1) / ranks
    if kind in (ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL, GATHER, SCATTER):
        return (ranks - 1) / ranks
    return 1.0 if kind in (BROADCAST, REDUCE, SEND, RECEIVE) else None


def size_elements(kind: str, given: int | None, got: int | None, ranks: int | None) -> int | None:
    """Elements that the size of a collective counts, as nccl-tests does; None where unknown.

    Args:
        kind: of the collective.
        given: elements that this rank puts in (``In msg nelems``).
        got: elements that it gets out (``Out msg nelems``).
        ranks: how many take part.
    """
    if kind in (ALL_GATHER, GATHER):
        whole, part = got, given
    elif kind in (REDUCE_SCATTER, SCATTER):
        whole, part = given, got
    elif kind in (BROADCAST, RECEIVE):
        whole, part = (given if given else got), None
    elif kind in (ALL_REDUCE, ALL_TO_ALL, REDUCE, SEND):
        whole, part = given, None
    else:
        return None
    if whole is None and part is not None and ranks is not None:
        return part * ranks
    return whole

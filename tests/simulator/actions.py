"""A program as data: what its threads do, with every cost already drawn.

A program is run as often as wanted, with or without some of its causes, and meets the same
draws each time. A node that bears a ``cause`` disappears when that cause is taken away.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Union

MAIN = "main"
AUTOGRAD = "autograd"

COMPUTE, COMM, COPY = 0, 1, 2  # places in ``Engine.streams``


@dataclass(frozen=True, slots=True)
class Work:
    """One GPU activity; ``uid`` names it across runs of the program."""

    uid: int
    name: str
    ns: int
    latency: int
    spacing: int
    stream: int = COMPUTE
    kind: str = "kernel"
    bytes: int = 0
    comm: bool = False
    cause: str | None = None


@dataclass(frozen=True, slots=True)
class Wait:
    """Host time in which nothing is recorded beyond the frames and notes around it."""

    ns: int
    cause: str | None = None


@dataclass(frozen=True, slots=True)
class Overhead:
    """The profiler or the loader of modules at work: an event without a thread."""

    name: str
    ns: int
    cause: str | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """A runtime call that launches nothing.

    ``waits`` is ``device``, ``stream`` (the compute stream), ``past`` (an event recorded
    earlier, see ``Past``) or empty; the call then lasts ``ns`` beyond what it waits for.
    """

    name: str
    ns: int
    waits: str = ""
    cause: str | None = None
    category: str = "cuda_runtime"


@dataclass(frozen=True, slots=True)
class Launch:
    """A call that launches one activity, or all those of one graph.

    ``slow`` is spent inside the call before the work is submitted, for ``slow_cause``;
    ``slow_inside`` names the driver call recorded within, ``slow_overhead`` the event
    recorded beside it.
    """

    name: str
    ns: int
    works: tuple[Work, ...]
    cause: str | None = None
    slow: int = 0
    slow_cause: str | None = None
    slow_inside: str = ""
    slow_overhead: str = ""
    category: str = "cuda_runtime"


@dataclass(frozen=True, slots=True)
class BlockingCopy:
    """A copy call that returns when its copy is done.

    The copy cannot start before ``staging`` has passed and earlier work of the stream is
    done; the call ends ``back`` after the copy (before it where negative).
    """

    name: str
    work: Work
    staging: int
    back: int
    cause: str | None = None


@dataclass(frozen=True, slots=True)
class Join:
    """Stream ``waiter`` waits for what ``of`` holds now (an event between the two)."""

    waiter: int
    of: int
    ns: int
    cause: str | None = None


@dataclass(frozen=True, slots=True)
class Past:
    """Remember how far the compute stream has been filled, as event ``key``."""

    key: int
    ns: int
    cause: str | None = None


@dataclass(frozen=True, slots=True)
class Fetch:
    """Take the next batch from worker processes; wait where none is ready."""

    index: int
    workers: int
    prefetch: int
    cost: int
    ns: int
    wake: int
    cause: str | None = None


@dataclass(frozen=True, slots=True)
class Op:
    """An operator: ``front``, what it does inside, ``back``."""

    name: str
    front: int
    body: tuple[Node, ...] = ()
    back: int = 0
    cause: str | None = None
    shapes: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Frames:
    """Python frames around ``body``, outermost first."""

    names: tuple[str, ...]
    body: tuple[Node, ...]
    cause: str | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """An annotation around ``body``; ``role`` says when a recording holds it."""

    name: str
    role: str
    body: tuple[Node, ...]
    cause: str | None = None


@dataclass(frozen=True, slots=True)
class On:
    """Run ``body`` on the autograd thread while the main thread waits for it."""

    there: int
    back: int
    body: tuple[Node, ...]
    cause: str | None = None


@dataclass(frozen=True, slots=True)
class Instead:
    """What the program does where cause ``of`` has been taken away, and else does not."""

    of: str
    body: tuple[Node, ...]
    cause: str | None = None


Node = Union[  # noqa: UP007 - the classes name each other before they exist
    Wait, Overhead, Call, Launch, BlockingCopy, Join, Past, Fetch, Op, Frames, Note, On, Instead
]


@dataclass(frozen=True, slots=True)
class Program:
    """Steps to run: ``lead`` of them before recording starts."""

    lead: int
    steps: tuple[tuple[Node, ...], ...]
    tail: tuple[Node, ...] = ()
    first_step: int = 5
    drained: bool = True
    causes: frozenset[str] = field(default_factory=frozenset)
    noted: bool = False  # long Python stands in a ``record_function``

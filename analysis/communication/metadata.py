"""What a recording tells of each collective: kind, size, type and process group.

PyTorch writes it on the kernel (2.2 and newer) and on the operator ``record_param_comms`` around
its launch. Older recordings have the sizes on an annotation such as ``nccl:all_reduce`` there;
collectives outside of NCCL (symmetric memory, the servers' own all-reduce) on their operator.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from whichlayer.analysis.among import among
from whichlayer.analysis.communication import collective_kinds as kinds
from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.kernels.calls import MAX_ELEMENTS, OpCall
from whichlayer.analysis.kernels.dtypes import ITEM_BYTES, dtype_of
from whichlayer.analysis.text import clean
from whichlayer.analysis.trace.columns import Int32, Int64, Trace
from whichlayer.analysis.trace.kinds import SliceKind

#: How far up from the launch the descriptions of a collective stand.
_LEVELS: Final = 12
_DESCRIBES: Final = "record_param_comms"
_ANNOTATES: Final = re.compile(r"(?:nccl|rccl|xccl|ucc|hccl|gloo):")
_RANK_LIST: Final = re.compile(r"\[\s*(?:\d{1,9}\s*(?:,\s*\d{1,9}\s*)*)?\]")
_MOST_RANKS: Final = 1 << 20

#: Where the size of a collective outside of NCCL comes from.
OF_OPERATOR: Final = "the shapes of its operator"


@dataclass(frozen=True, slots=True)
class Collective:
    """What is known of collectives that are described alike; None and empty are unknown.

    Attributes:
        kind: a word of :mod:`whichlayer.analysis.communication.collective_kinds`.
        given, got: elements that this rank puts in and gets out.
        dtype: a name of :mod:`whichlayer.analysis.kernels.dtypes`.
        ranks: how many take part.
        group: name of the process group.
        group_text: its description.
        members: the global ranks that take part, as recorded, else empty.
        source: where the size comes from, in words, or empty.
    """

    kind: str
    given: int | None = None
    got: int | None = None
    dtype: str | None = None
    ranks: int | None = None
    group: str = ""
    group_text: str = ""
    members: tuple[int, ...] = ()
    source: str = ""

    @property
    def bytes(self) -> int | None:
        """The size of one call, as nccl-tests counts it."""
        elements = kinds.size_elements(self.kind, self.given, self.got, self.ranks)
        if elements is None or self.dtype is None:
            return None
        return elements * ITEM_BYTES[self.dtype]


@dataclass(frozen=True, slots=True)
class Described:
    """The collectives of a trace.

    Attributes:
        index: int32 (n,), into ``known``.
        known: the distinct descriptions.
        description: int32 (n,), the ``record_param_comms`` around each launch, -1 for none.
    """

    index: Int32
    known: tuple[Collective, ...]
    description: Int32


def describe(trace: Trace, row: Int32, launch: Int32) -> Described:
    """What is known of some collectives.

    Args:
        trace: the recording.
        row: int32 (n,), their kernels.
        launch: int32 (n,), their launches, -1 where the file holds none.
    """
    around = _around(trace, launch)
    keys = np.stack(
        [trace.name_id[row], trace.detail_id[row], *(_texts(trace, rows) for rows in around)], 1
    )
    _, first, inverse = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    number: dict[Collective, int] = {}
    code = np.empty(len(first), np.int32)
    for i, at in enumerate(first.tolist()):
        places = [int(rows[at]) for rows in around]
        found = _read(trace, int(row[at]), *places)
        code[i] = number.setdefault(found, len(number))
    return Described(code[inverse.reshape(-1)], tuple(number), around[0])


def collective_at(trace: Trace, row: int) -> Collective:
    """What is known of one collective.

    Args:
        trace: the recording.
        row: its kernel, or its operator on a thread.
    """
    launch = int(trace.launch[row])
    description = annotation = operator = -1
    for one in trace.enclosing(row if launch < 0 else launch)[:_LEVELS]:
        name, kind = trace.name(one), trace.kind[one]
        if name == _DESCRIBES:
            description = description if description >= 0 else one
        elif kind == SliceKind.CPU_OP:
            operator = operator if operator >= 0 else one
        if kind != SliceKind.PYTHON and _ANNOTATES.match(name):
            annotation = annotation if annotation >= 0 else one
    return _read(trace, row, description, annotation, operator)


def sequence_numbers(trace: Trace, described: Described, row: Int32) -> Int64:
    """The number of each collective within its process group, -1 where none is recorded.

    PyTorch 2.5 and newer records it, as ``Seq``. It differs from call to call, so it is not kept
    with what is alike: the file is read once more, if a first look finds any.

    Args:
        trace: the recording.
        described: its collectives.
        row: int32 (n,), their kernels.
    """
    found = np.full(len(row), -1, np.int64)
    recorded = np.array([bool(one.group) for one in described.known], np.bool_)
    mine = np.flatnonzero(recorded[described.index])
    for rows in (row[mine], described.description[mine]):
        there = rows >= 0
        if not there.any():
            continue
        try:
            if _count(trace.args(int(rows[there][0])).get("Seq")) is None:
                continue
            numbers = [_count(known.get("Seq")) for known in trace.args_of(rows[there])]
        except TraceError:  # the file has changed, or was no file
            return found
        found[mine[there]] = [-1 if number is None else number for number in numbers]
        return found
    return found


def _texts(trace: Trace, rows: Int32) -> Int64:
    """One number per name and details of slices, -1 for no slice."""
    names = trace.name_id[rows].astype(np.int64) << 32 | (
        trace.detail_id[rows].astype(np.int64) + 1
    )
    return np.where(rows >= 0, names, -1)


def _around(trace: Trace, launch: Int32) -> tuple[Int32, Int32, Int32]:
    """The description, the annotation and the operator around each launch, -1 for none."""
    found = [np.full(len(launch), -1, np.int32) for _ in range(3)]
    describes, annotates = _named(trace, launch)
    at = np.where(launch >= 0, trace.parent[launch], -1)
    for _ in range(_LEVELS):
        there = at >= 0
        if not there.any():
            break
        name = trace.name_id[at]
        is_description = there & among(name, describes)
        is_operator = there & ~is_description & (trace.kind[at] == SliceKind.CPU_OP)
        for place, mask in zip(
            found, (is_description, there & among(name, annotates), is_operator), strict=True
        ):
            place[mask & (place < 0)] = at[mask & (place < 0)]
        at = np.where(there, trace.parent[at], -1)
    return found[0], found[1], found[2]


def _named(trace: Trace, launch: Int32) -> tuple[Int32, Int32]:
    """The numbers of the names that describe and that annotate collectives."""
    lanes = np.unique(trace.lane_id[launch[launch >= 0]])
    cpu = among(trace.lane_id, lanes) & among(trace.kind, (SliceKind.CPU_OP, SliceKind.ANNOTATION))
    names = np.unique(trace.name_id[cpu]).tolist()
    describes = [i for i in names if trace.strings[i] == _DESCRIBES]
    annotates = [i for i in names if _ANNOTATES.match(trace.strings[i])]
    return np.array(describes, np.int32), np.array(annotates, np.int32)


def _read(trace: Trace, row: int, description: int, annotation: int, operator: int) -> Collective:
    """One collective, by all that is recorded of it."""
    kernel = trace.name(row)
    details = [trace.detail(row), trace.detail(description) if description >= 0 else {}]
    places = ("its kernel's arguments", f"{_DESCRIBES} around its launch")
    by_kernel = kinds.kind_of(kernel)
    for detail, place in zip(details, places, strict=True):
        if isinstance(detail.get("Collective name"), str):
            return _recorded(detail, by_kernel, place)
    known = Collective(by_kernel)
    if annotation >= 0:
        told = kinds.kind_of(trace.name(annotation))
        known = Collective(by_kernel if told == kinds.OTHER else told)
        known = _from_tensors(trace, annotation, known, "the annotation around its launch")
    reduces = operator >= 0 and kinds.kind_of(trace.name(operator)) == kinds.ALL_REDUCE
    if known.given is None and reduces and known.kind == kinds.ALL_REDUCE:
        known = _from_tensors(trace, operator, known, OF_OPERATOR)
    return known


def _recorded(detail: Mapping[str, Any], by_kernel: str, place: str) -> Collective:
    """A collective whose arguments were recorded."""
    kind = kinds.kind_of(str(detail["Collective name"]))
    if kind == kinds.OTHER:
        kind = by_kernel
    dtype, ranks = detail.get("dtype"), _count(detail.get("Group size"))
    given, got = _count(detail.get("In msg nelems")), _count(detail.get("Out msg nelems"))
    members = _members(detail.get("Process Group Ranks"))
    return Collective(
        kind=kind,
        given=given,
        got=got,
        dtype=dtype_of(dtype) if isinstance(dtype, str) else None,
        ranks=ranks or len(members) or None,
        group=_text(detail.get("Process Group Name")),
        group_text=_text(detail.get("Process Group Description")).replace("undefined", ""),
        members=members,
        source=place if given is not None or got is not None else "",
    )


def _from_tensors(trace: Trace, row: int, known: Collective, place: str) -> Collective:
    """The same with the size of what a slice recorded as its inputs, all of one type.

    Of an operator the first tensor counts: what follows is the result or the links' own memory.
    """
    tensors = [
        one for one in OpCall.from_detail(trace.name(row), trace.detail(row)).tensors() if one.shape
    ]
    if trace.kind[row] == SliceKind.CPU_OP:
        tensors = tensors[:1]
    elements, types = sum(one.count for one in tensors), {one.dtype for one in tensors}
    if len(types) != 1 or elements > MAX_ELEMENTS or known.kind == kinds.SCATTER:
        return known
    return replace(known, given=elements, dtype=types.pop(), source=place)


def _count(value: object) -> int | None:
    """A recorded number of things, or None where it is none or not credible."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= MAX_ELEMENTS else None


def _text(value: object) -> str:
    return clean(str(value)) if isinstance(value, str | int) else ""


def _members(value: object) -> tuple[int, ...]:
    """The ranks of a group, empty where they were not recorded in full."""
    if isinstance(value, str) and _RANK_LIST.fullmatch(value):
        return tuple(int(number) for number in re.findall(r"\d+", value))
    if isinstance(value, Sequence) and not isinstance(value, str) and len(value) < _MOST_RANKS:
        numbers = tuple(_count(number) for number in value)
        return tuple(n for n in numbers if n is not None) if None not in numbers else ()
    return ()

"""What is judged as one: the kernels of one operator call, or a single copy.

An operator's bytes are known for the whole call, so all of its kernels are judged together
and no figure is spread over them by guess. Where the innermost operator recorded nothing and
one around it did, the call around it is the unit, with everything launched inside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.among import among
from whichlayer.analysis.kernels.calls import Calls, Launch, OpCall
from whichlayer.analysis.kernels.context import NEEDS_CONTEXT, context_rows, parent_operator
from whichlayer.analysis.kernels.convolution_layout import layout_work
from whichlayer.analysis.kernels.names import family
from whichlayer.analysis.kernels.numbering import (
    first_of,
    number_hashes,
    number_keys,
    number_pairs,
)
from whichlayer.analysis.kernels.work import Work, has_model, work_alone, work_of
from whichlayer.analysis.quick_values import quick
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]

_MIX: Final = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F))
#: What is read of the kernels of one call; sorting launches hundreds.
_LAUNCHES_READ: Final = 64
#: Operators whose kernels' grids tell what their arguments do not.
NEEDS_GRID: Final = ("aten::index",)


@dataclass(frozen=True, slots=True)
class Units:
    """Activities gathered into units, and units into populations.

    A population is all units of the same operator name, arguments and kernels (or of the same
    copy and size) on devices with the same peaks.

    Attributes:
        of_activity: int64 (n,), unit of each activity, -1 for those not judged here.
        population: int64 (units,), population of each unit.
        first: int64 (populations,), a unit of each.
        launches: int64 (units,), activities in each unit.
        operator_row: int32 (units,), the operator that is judged, -1 where none.
        context_row: int32 (units,), an operator that tells what this one left out, or -1.
        layout: bool (units,), the kernels that rearrange tensors within a convolution.
        members: indices of activities sorted by unit, with ``offsets`` int64 (units + 1,).
    """

    of_activity: Int64
    population: Int64
    first: Int64
    launches: Int64
    operator_row: Int32
    context_row: Int32
    layout: NDArray[np.bool_]
    members: Int64
    offsets: Int64


def gather_units(
    trace: Trace,
    row: Int32,
    op_row: Int32,
    judged: NDArray[np.bool_],
    match: Int64,
    calls: Calls | None = None,
) -> Units:
    """Group activities.

    Args:
        trace: the recording.
        row: int32 (n,), trace rows of activities.
        op_row: int32 (n,), the operator that launched each, -1 where unknown.
        judged: bool (n,), which activities are the device's own work.
        match: int64 (n,), which peaks apply to each.
        calls: of this recording, to be read once.
    """
    kernel = trace.kind[row] == SliceKind.KERNEL
    owner = np.where(kernel & judged, judged_operator(trace, op_row, calls), -1).astype(np.int64)
    # Kernels of one call share a key; everything else is alone.
    alone = np.arange(len(row), dtype=np.int64)
    layout = _rearranges(trace, row, owner)
    shared = owner * (int(match.max(initial=0)) + 1) + match
    if layout.any():
        shared = shared * 2 + layout
    key = np.where(owner >= 0, shared, -1 - alone)[judged]
    index = np.flatnonzero(judged)
    inverse, values = number_keys(key)
    units = len(values)
    of_activity = np.full(len(row), -1, np.int64)
    of_activity[index] = inverse
    order = np.argsort(inverse, kind="stable")
    members = index[order]
    launches = np.bincount(inverse, minlength=units).astype(np.int64)
    offsets = np.concatenate(([0], np.cumsum(launches)))
    lead = members[offsets[:-1]] if units else members
    operator_row = owner[lead].astype(np.int32)
    context_row = context_rows(trace, operator_row)
    identity = _identity(trace, row, members, offsets, operator_row, context_row, match)
    identity ^= layout[lead].astype(np.uint64)
    population, count = number_hashes(identity)
    first = first_of(population, count)
    return Units(
        of_activity, population, first, launches, operator_row, context_row, layout[lead],
        members, offsets,
    )  # fmt: skip


def _rearranges(trace: Trace, row: Int32, owner: Int64) -> NDArray[np.bool_]:
    """Which kernels of convolutions only bring tensors into another layout."""
    present, values = number_keys(trace.name_id[row])
    names = np.array([_is_layout(trace.strings[name]) for name in values.tolist()], np.bool_)
    if not names.any():
        return np.zeros(len(row), np.bool_)
    products = [index for index, name in enumerate(trace.strings) if _is_convolution(name)]
    within = (owner >= 0) & among(trace.name_id[np.maximum(owner, 0)], products)
    found: NDArray[np.bool_] = within & names[present]
    main = np.zeros(len(trace), np.bool_)
    main[owner[within & ~found]] = True
    return found & main[np.maximum(owner, 0)]


def _is_layout(name: str) -> bool:
    return family(name) == "layout" or name.startswith("SubTensorOp")


def _is_convolution(name: str) -> bool:
    return "conv" in name and has_model(name)


def _identity(
    trace: Trace,
    row: Int32,
    members: Int64,
    offsets: Int64,
    operator_row: Int32,
    context_row: Int32,
    match: Int64,
) -> NDArray[np.uint64]:
    """A number per unit, equal for units of one population."""
    lead = members[offsets[:-1]]
    if not len(lead):
        return np.empty(0, np.uint64)
    words = np.random.default_rng(20).integers(1, 2**63, len(trace.strings) + 1, dtype=np.uint64)
    names = words[trace.name_id[row[members]]]
    kernels = np.add.reduceat(names, offsets[:-1])
    has_operator = operator_row >= 0
    operator_name = np.where(has_operator, trace.name_id[operator_row], len(trace.strings))
    detail = np.where(has_operator, trace.detail_id[operator_row], -1).astype(np.int64)
    copies = trace.kind[row[lead]] != SliceKind.KERNEL
    detail = np.where(copies, _copied_bytes(trace, row[lead], copies), detail)
    context = np.where(context_row >= 0, trace.detail_id[context_row], -1)
    by_grid = _names(trace, NEEDS_GRID)
    if by_grid:
        told = trace.detail_id[row[members]].astype(np.int64) ** 2
        grids = np.add.reduceat(told, offsets[:-1])
        context = np.where(among(operator_name, by_grid), grids, context)
    context = context.astype(np.int64)
    mixed = kernels * _MIX[0]
    for column in (words[operator_name], detail, context, match[lead]):
        mixed = (mixed ^ column.astype(np.uint64)) * _MIX[1]
        mixed ^= mixed >> np.uint64(29)
    return mixed


def _names(trace: Trace, names: tuple[str, ...]) -> list[int]:
    wanted = set(names)
    return [index for index, name in enumerate(trace.strings) if name in wanted]


def _copied_bytes(trace: Trace, rows: Int32, copies: NDArray[np.bool_]) -> Int64:
    """Bytes of copies and memsets, -1 where not recorded; rows that are neither give -1."""
    found = np.full(len(rows), -1, np.int64)
    ids, inverse = np.unique(trace.detail_id[rows[copies]], return_inverse=True)
    sizes = np.array([bytes_of(trace.detail_by_id(int(item))) for item in ids], np.int64)
    if len(ids):
        found[copies] = sizes[inverse]
    return found


def bytes_of(detail: object) -> int:
    """The ``bytes`` of a copy as recorded, -1 where it is missing or no count."""
    value = detail.get("bytes") if hasattr(detail, "get") else None
    if isinstance(value, str) and value.isdigit():
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 50:
        return -1
    return value


def judged_operator(trace: Trace, op_row: Int32, calls: Calls | None = None) -> Int64:
    """The operator whose figures count for each launch: int64 (n,), -1 where none.

    The innermost one; where nothing is known of it, the nearest one around it of which
    something is, and then for everything that was launched inside that one.
    """
    numbers, present = number_keys(op_row)
    known = _by_pair(trace, _may_be_known, calls or calls_of(trace))
    launchers = present
    present = present[present >= 0]
    if not len(present):
        return np.full(len(op_row), -1, np.int64)
    adopted = np.zeros(len(trace), np.bool_)
    at = present[~known(present)]
    while len(at):
        at = np.unique(parent_operator(trace, at))
        at = at[at >= 0]
        enough = known(at) if len(at) else np.empty(0, np.bool_)
        adopted[at[enough]] = True
        at = at[~enough]
    judged = present.copy()
    climb = present
    while adopted.any() and (climb >= 0).any():
        inside = (climb >= 0) & adopted[np.maximum(climb, 0)]
        judged[inside] = climb[inside]
        climb = np.where(climb >= 0, parent_operator(trace, np.maximum(climb, 0)), -1)
    # Of the values of op_row only -1 can precede the operators.
    table = np.concatenate((np.full(len(launchers) - len(present), -1, np.int64), judged))
    return table[numbers]


def _may_be_known(call: OpCall) -> bool:
    """Whether its figures are known, or may be with its kernels or its neighbours."""
    if work_alone(call)[0].known:
        return True
    if not has_model(call.name) or not call.recorded:
        return False
    return bool(call.shapes(0)) or call.name in NEEDS_GRID or call.name in NEEDS_CONTEXT


def calls_of(trace: Trace) -> Calls:
    """The operator calls of a recording."""
    return Calls(trace.strings, trace.detail_by_id)


def _by_pair(
    trace: Trace, ask: Callable[[OpCall], bool], calls: Calls
) -> Callable[[Int64], NDArray[np.bool_]]:
    """Ask once for each distinct pair of name and arguments."""
    answers: dict[tuple[int, int], bool] = {}

    def known(rows: Int64) -> NDArray[np.bool_]:
        names, details = trace.name_id[rows], trace.detail_id[rows]
        inverse, count = number_pairs(names, details)
        first = first_of(inverse, count)
        result = []
        for pair in zip(names[first].tolist(), details[first].tolist(), strict=True):
            answer = answers.get(pair)
            if answer is None:
                answer = answers[pair] = ask(calls.of(*pair))
            result.append(answer)
        return np.array(result, np.bool_)[inverse]

    return known


@quick
@dataclass(frozen=True, slots=True)
class UnitHead:
    """What tells the work of one unit of a population.

    Attributes:
        rows: trace rows of its activities.
        names: ``name_id`` of each.
        kind: of the first of them.
        operator: trace row of its operator, -1 where none.
        called: ``name_id`` and ``detail_id`` of that operator; anything where there is none.
        context: trace row of the operator that tells what that one left out, -1 where none.
        layout: these are the kernels that rearrange tensors within a convolution.
    """

    rows: list[int]
    names: list[int]
    kind: int
    operator: int
    called: tuple[int, int]
    context: int
    layout: bool


def unit_heads(trace: Trace, row: Int32, units: Units) -> Iterator[UnitHead]:
    """The first unit of each population, in order."""
    low, high = units.offsets[units.first], units.offsets[units.first + 1]
    lead = row[units.members[low]]
    several = np.flatnonzero(high - low > 1).tolist()
    rows = [[one] for one in lead.tolist()]
    names = [[one] for one in trace.name_id[lead].tolist()]
    for at in several:
        found = row[units.members[low[at] : high[at]]]
        rows[at], names[at] = found.tolist(), trace.name_id[found].tolist()
    operator = units.operator_row[units.first]
    called = zip(trace.name_id[operator].tolist(), trace.detail_id[operator].tolist(), strict=True)
    columns = zip(
        rows, names, trace.kind[lead].tolist(), operator.tolist(), called,
        units.context_row[units.first].tolist(), units.layout[units.first].tolist(), strict=True,
    )  # fmt: skip
    return (UnitHead(*column) for column in columns)


def describe_unit(
    trace: Trace, unit: UnitHead, calls: Calls
) -> tuple[OpCall, tuple[object, ...], Work]:
    """The operator call of a unit, its shapes and types (hashable), and its work."""
    if unit.kind != _KERNEL:
        return _NO_CALL, (), work_of_copy(unit.kind, bytes_of(trace.detail(unit.rows[0])))
    if unit.operator < 0:
        return _NO_CALL, (), Work(reason=_no_operator(trace, unit.rows[0]))
    if trace.producer == "nsight" and not trace.detail(unit.operator):
        return OpCall(trace.name(unit.operator), (), ()), (), Work(reason=_NSIGHT)
    call = calls.of(*unit.called)
    work, alone = work_alone(call)
    if alone and not unit.layout and unit.context < 0:
        return call, (call.shape_key, call.types, ()), work
    around = None
    if unit.context >= 0:
        around = calls.of(int(trace.name_id[unit.context]), int(trace.detail_id[unit.context]))
    call = call.launching(_launches(trace, unit.rows), around)
    beside = (around.shape_key, around.types) if around is not None else ()
    shapes = (call.shape_key, call.types, beside)
    return call, shapes, layout_work(call) if unit.layout else work_of(call)


# A member of an IntEnum is looked up slowly.
_KERNEL: Final = int(SliceKind.KERNEL)
_NO_CALL: Final = OpCall("", (), ())


def _launches(trace: Trace, rows: list[int]) -> list[Launch]:
    """The kernels of a unit."""
    return [Launch.from_detail(trace.name(row), trace.detail(row)) for row in rows[:_LAUNCHES_READ]]


def work_of_copy(kind: int, size: int) -> Work:
    """A memset writes its bytes; a copy on the device reads and writes them."""
    if size < 0:
        return Work(category="copy", reason="the copy's size is not recorded")
    if kind == SliceKind.MEMSET:
        return Work(bytes=size, category="fill")
    return Work(bytes=2 * size, category="copy")


#: Nsight Systems knows the operators of ``emit_nvtx``, mostly without their arguments.
_NSIGHT: Final = (
    "no operator shapes in an Nsight recording; record with torch.profiler record_shapes"
)


def _no_operator(trace: Trace, row: int) -> str:
    if trace.producer == "nsight":
        return _NSIGHT
    if trace.launch[row] < 0:
        return "no launch in the file"
    return "no operator around its launch"

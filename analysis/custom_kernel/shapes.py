"""(c) Do the shapes of a chain hold still over the steps?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.custom_kernel.answers import Answer, Reply
from whichlayer.analysis.custom_kernel.chains import Chain, steps_of
from whichlayer.analysis.custom_kernel.rule import RULE
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.settings import threshold
from whichlayer.analysis.text import plural

Int64 = NDArray[np.int64]


def shape_groups(analysis: Analysis, chain: Chain) -> tuple[Int64, Int64] | None:
    """Number of the shape tuple of each call, and the count of each, most frequent first.

    Returns:
        None where an operator's shapes are not recorded.
    """
    trace, acts = analysis.trace, analysis.activities
    operators = acts.op_row[chain.members]
    if (operators < 0).any():
        return None
    details, inverse = np.unique(trace.detail_id[operators], return_inverse=True)
    keys: dict[str, int] = {}
    numbers = []
    for detail in details.tolist():
        told = trace.detail_by_id(int(detail))
        dims = told.get("Input Dims", told.get("Input dims"))
        if not dims:
            return None
        key = repr((dims, told.get("Input type")))
        numbers.append(keys.setdefault(key, len(keys)))
    table = np.array(numbers, np.int64)[inverse.reshape(operators.shape)]
    _, group, count = np.unique(table, axis=0, return_inverse=True, return_counts=True)
    place = np.empty(len(count), np.int64)
    by_count = np.argsort(-count, kind="stable")
    place[by_count] = np.arange(len(count))
    return place[group.reshape(-1)], count[by_count]


def stable(analysis: Analysis, chain: Chain, groups: tuple[Int64, Int64] | None) -> Reply:
    """Whether nearly all calls share a few shape tuples, over enough steps."""
    options = analysis.options
    if groups is None:
        return Reply(
            Answer.UNKNOWN, None, "shapes of its operators are not recorded",
            "record a few steps with record_shapes=True and without CUDA graphs",
        )  # fmt: skip
    most = int(threshold(options, RULE.id, "shapes"))
    share = float(groups[1][:most].sum() / groups[1].sum())
    tuples, steps = len(groups[1]), steps_of(analysis, chain.members[:, 0])
    said = (
        f"{share:.0%} of {chain.calls} calls share {min(most, tuples)} of {tuples} shape tuples"
        if tuples > most
        else f"{plural(chain.calls, 'call')}, {plural(tuples, 'shape tuple')}"
    )
    if share < threshold(options, RULE.id, "same_shapes"):
        return Reply(Answer.NO, share, said, "pad or bucket the shapes first")
    if not analysis.window.steps:
        return Reply(
            Answer.UNKNOWN, share, f"{said}; the recording marks no steps",
            "record several steps (profiler.step())",
        )  # fmt: skip
    if steps < threshold(options, RULE.id, "steps"):
        return Reply(
            Answer.UNKNOWN, share, f"{said}, in one step only", "record several steps",
        )  # fmt: skip
    return Reply(Answer.YES, share, f"{said}, over {steps} steps")

"""Rows of the kernel table by what kernels have in common."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tui.screen import screen_of, text_of
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import Analysis, KernelGroup
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.describe import describe_group
from whichlayer.tui.kernel_grouping import Grouping, grouped, has_modules
from whichlayer.tui.summary import rank_kernels

SPANS = [None, (300_000, 1_400_000), (0, 3_000_000), (650_000, 660_000)]


@pytest.mark.parametrize("grouping", list(Grouping))
@pytest.mark.parametrize("span", SPANS)
def test_every_grouping_tells_the_same_time(
    analysis: Analysis, grouping: Grouping, span: tuple[int, int] | None
) -> None:
    activities = analysis.activities
    analysis = replace(
        analysis,
        kernels=tuple(
            replace(group, total_ns=int(activities.owned_ns[activities.group == index].sum()))
            for index, group in enumerate(analysis.kernels)
        ),
    )
    rows, plain = grouped(analysis, span, grouping), rank_kernels(analysis, span)
    assert sum(row.time_ns for row in rows) == sum(row.time_ns for row in plain)
    assert sum(row.calls for row in rows) == sum(row.calls for row in plain)
    assert [row.time_ns for row in rows] == sorted((row.time_ns for row in rows), reverse=True)


def test_operators_gather_their_kernels(analysis: Analysis) -> None:
    (row,) = grouped(analysis, None, Grouping.OPERATOR)
    assert (row.group.short_name, row.group.operator) == ("aten::mm", "aten::mm")
    assert row.group.lost_ns == 210_000 and row.group.layer == Layer.CUDA
    assert "3 groups of kernels" in row.group.why
    assert len(row.group.rows) == len(analysis.activities.row)


def test_means_are_of_the_time_of_what_is_known(analysis: Analysis) -> None:
    (row,) = grouped(analysis, None, Grouping.OPERATOR)
    # 900 µs at 90 % and 450 µs at 53 %; the collective has no roof.
    assert row.group.roof_fraction == pytest.approx((900 * 0.9 + 450 * 0.53) / 1350)
    assert row.group.gbps == 910.0
    assert row.group.bytes is None and row.group.flops is None


def test_one_name_with_several_shapes_is_one_row(analysis: Analysis) -> None:
    twin = replace(analysis.kernels[0], short_name="add", shapes="[9,9] float")
    rows = grouped(replace(analysis, kernels=(twin, *analysis.kernels[1:])), None, Grouping.NAME)
    (add,) = [row for row in rows if row.group.short_name == "add"]
    assert add.group.shapes == ""
    assert add.time_ns == sum(group.total_ns for group in analysis.kernels[:2])


def test_families_come_from_the_kernels_names(analysis: Analysis) -> None:
    names = {row.group.short_name for row in grouped(analysis, None, Grouping.FAMILY)}
    assert {"matmul", "communication"} <= names


def test_without_recorded_modules_there_is_one_row_that_says_so(analysis: Analysis) -> None:
    (row,) = grouped(analysis, None, Grouping.MODULE)
    assert row.group.short_name == "(no module recorded)"
    assert not has_modules(analysis)


async def _rows(trace: Trace, analysis: Analysis, *groups: KernelGroup) -> list[str]:
    """The table with some groups in place of the first ones."""
    kernels = (*groups, *analysis.kernels[len(groups) :])
    async with screen_of(trace, replace(analysis, kernels=kernels)) as (app, _):
        return [row.rstrip() for row in text_of(app, "kernels")]


async def test_a_kernel_that_is_not_judged_has_another_mark_than_a_loss_without_a_rule(
    trace: Trace, analysis: Analysis
) -> None:
    first, second, *_ = analysis.kernels
    unknown = replace(first, layer=Layer.UNKNOWN, lost_ns=first.total_ns // 2, rule="")
    unjudged = replace(second, layer=Layer.UNKNOWN, lost_ns=0, roof_fraction=None, rule="")
    rows = await _rows(trace, analysis, unknown, unjudged)
    assert rows[1].endswith("?")
    assert rows[2].endswith("–")
    assert "– not judged" in [line.text for line in describe_group(analysis, unjudged)]


async def test_a_kernel_that_need_not_run_has_a_mark_instead_of_no_percent(
    trace: Trace, analysis: Analysis
) -> None:
    needless = replace(analysis.kernels[0], roof_fraction=0.0)
    assert "✗" in (await _rows(trace, analysis, needless))[1]
    assert any("need not run" in line.text for line in describe_group(analysis, needless))

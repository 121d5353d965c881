from __future__ import annotations

from dataclasses import replace
from statistics import median

from hypothesis import given
from hypothesis import strategies as st

from tests.tui.live.live_screen import opened, shot
from whichlayer.analysis.layers import Layer
from whichlayer.tui.live.model import LiveModel, Told
from whichlayer.tui.live.shots import judged_of
from whichlayer.tui.live.strip import height, sparkline

JUDGED = judged_of(opened(shot(1))[1])


def test_the_figures_of_a_cell_are_those_of_the_budget() -> None:
    _, analysis = opened(shot(1))
    assert (JUDGED.side, JUDGED.owner) == ("above-cuda", Layer.RUNTIME)
    assert JUDGED.owner_share == analysis.budget.lost_to(Layer.RUNTIME) / analysis.budget.total_ns
    assert JUDGED.busy_share == (380 + 70) / 1000
    assert JUDGED.step_ns == 1_000_000


def test_the_strip_is_of_one_source_until_another_is_picked() -> None:
    model = LiveModel()
    model.tell("rank 3", Told())
    model.tell("rank 0", Told())
    assert model.source == "rank 0"
    model.add(shot(1, source="rank 3"))
    assert model.source == "rank 3", "the first that has a window"
    model.add(shot(2, source="rank 0"))
    model.choose_source("rank 0")
    assert [one.id for one in model.line] == [2] and model.sources == ["rank 0", "rank 3"]


def ranks(*lost: float | None) -> LiveModel:
    """A window of each rank, that loses so much above CUDA; None is not analysed yet."""
    model = LiveModel()
    for rank, share in enumerate(lost):
        model.add(shot(rank + 1, source=f"rank {rank}"))
        if share is not None:
            model.judged[rank + 1] = replace(JUDGED, above_share=share, below_share=0.0)
    return model


def test_of_several_ranks_the_one_that_loses_the_most_is_shown_first_once_all_are_known() -> None:
    model = ranks(0.1, 0.3, None)
    assert (model.begin_with_worst(), model.source) == ("", "rank 0")
    model.judged[3] = replace(JUDGED, above_share=0.2, below_share=0.0)
    assert (model.begin_with_worst(), model.source) == ("rank 1", "rank 1")
    model.add(shot(4, source="rank 0"))
    assert model.source == "rank 1"
    model.judged[4] = replace(JUDGED, above_share=0.9, below_share=0.0)
    assert (model.begin_with_worst(), model.source) == ("", "rank 1"), "no to and fro"


def test_ranks_that_lose_alike_or_were_chosen_stay() -> None:
    assert ranks(0.30, 0.33).begin_with_worst() == ""
    assert ranks(0.3).begin_with_worst() == ""
    model = ranks(0.1, 0.9)
    model.choose_source("rank 0")
    assert (model.begin_with_worst(), model.source) == ("", "rank 0")


def test_following_waits_for_the_analysis_of_the_newest() -> None:
    model = LiveModel()
    model.add(shot(1))
    assert model.wanted() is None
    model.judged[1] = JUDGED
    model.add(shot(2))
    wanted = model.wanted()
    assert wanted is not None and wanted.id == 1
    assert [one.id for one in model.queue()] == [2]


def test_a_window_written_anew_is_judged_anew() -> None:
    model = LiveModel()
    model.add(shot(1))
    model.judged[1] = JUDGED
    model.remove([1])
    model.replace(replace(shot(1), file_bytes=5))
    assert [one.id for one in model.queue()] == [1] and not model.gone


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("add"), st.integers(1, 30)),
            st.tuples(st.just("judge"), st.integers(1, 30)),
            st.tuples(st.just("fail"), st.integers(1, 30)),
            st.tuples(st.just("remove"), st.integers(1, 30)),
            st.tuples(st.just("choose"), st.integers(1, 30)),
            st.tuples(st.just("follow"), st.just(0)),
            st.tuples(st.just("source"), st.integers(0, 2)),
        ),
        max_size=60,
    )
)
def test_whatever_happens_the_wanted_window_can_be_shown(acts: list[tuple[str, int]]) -> None:
    model = LiveModel()
    for act, number in acts:
        if act == "add" and number not in model.shots:
            model.add(shot(number, source=f"rank {number % 3}"))
        elif act == "judge" and number in model.shots:
            model.judged[number] = JUDGED
        elif act == "fail" and number in model.shots:
            model.failed[number] = "why"
        elif act == "remove":
            model.remove([number])
        elif act == "choose" and model.choose(number):
            assert model.wanted() == model.shots[number]
        elif act == "follow":
            model.follow()
        elif act == "source" and f"rank {number}" in model.sources:
            model.choose_source(f"rank {number}")
        wanted = model.wanted()
        if model.following and wanted is not None:
            assert wanted in model.line and wanted.id in model.judged
            assert wanted.id not in model.gone
        queue = model.queue()
        assert len({one.id for one in queue}) == len(queue)
        assert {one.id for one in queue}.isdisjoint(model.gone | set(model.failed))


@given(st.lists(st.floats(0, 1e9), max_size=50), st.integers(0, 20))
def test_a_sparkline_has_a_bar_for_each_of_the_last_values(values: list[float], cells: int) -> None:
    line = sparkline(values, cells)
    assert len(line) == min(len(values), cells)
    assert set(line) <= set("▁▂▃▄▅▆▇█")
    shown = values[-len(line) :] if line else []
    if shown and max(shown) >= 1.5 * median(shown) > 0:
        assert "█" in line, "what stands out has all of the height"


def test_values_that_are_alike_are_no_solid_block_and_one_that_is_longer_stands_out() -> None:
    assert set(sparkline([30.0] * 8, 8)) == {"▆"}
    assert sparkline([30.0, 30.0, 60.0], 8)[-1] == "█"
    assert sparkline([30.0, 30.0, 60.0], 8)[0] < "▆"


def test_bars_grow_with_their_values() -> None:
    assert [height(value, 0, 7) for value in range(8)] == list("▁▂▃▄▅▆▇█")

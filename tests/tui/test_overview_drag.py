from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from whichlayer.tui.overview_drag import dragged, grip_at
from whichlayer.tui.viewport import Viewport

WHOLE = Viewport.over(0, 1_000_000, 100)


def seen(low: int, high: int) -> Viewport:
    return Viewport.over(0, 1_000_000, 80).to(low, high)


def test_the_span_moves_with_the_mouse_and_keeps_its_length() -> None:
    port = seen(400_000, 500_000)
    grip = grip_at(WHOLE, port, 45)
    assert grip.part == "span"
    moved = dragged(WHOLE, port, grip, 65)
    assert moved is not None
    assert (moved.start_ns, moved.end_ns) == (600_000, 700_000)


def test_an_end_of_the_span_can_be_dragged() -> None:
    port = seen(400_000, 500_000)
    left, right = grip_at(WHOLE, port, 39), grip_at(WHOLE, port, 50)
    assert (left.part, right.part) == ("start", "end")
    wider = dragged(WHOLE, port, left, 20)
    assert wider is not None and (wider.start_ns, wider.end_ns) == (200_000, 500_000)
    wider = dragged(WHOLE, port, right, 79)
    assert wider is not None and (wider.start_ns, wider.end_ns) == (400_000, 800_000)


def test_another_span_is_drawn_beside_it_either_way() -> None:
    port = seen(400_000, 500_000)
    for first, last in ((60, 79), (79, 60)):
        grip = grip_at(WHOLE, port, first)
        assert grip.part == "new"
        drawn = dragged(WHOLE, port, grip, last)
        assert drawn is not None and (drawn.start_ns, drawn.end_ns) == (600_000, 800_000)
    assert dragged(WHOLE, port, grip_at(WHOLE, port, 60), 61) is None


def test_where_all_is_seen_a_span_is_drawn() -> None:
    port = seen(0, 1_000_000)
    assert grip_at(WHOLE, port, 50).part == "new"


@given(st.integers(0, 99), st.integers(0, 99), st.integers(0, 900_000), st.integers(1, 10**6))
def test_every_drag_gives_a_span_within_the_recording(
    first: int, last: int, start: int, length: int
) -> None:
    port = seen(start, min(start + length, 1_000_000))
    found = dragged(WHOLE, port, grip_at(WHOLE, port, first), last)
    if found is not None:
        assert 0 <= found.start_ns < found.end_ns <= 1_000_000

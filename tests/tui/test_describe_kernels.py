"""What the region pane says of a group of kernels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from whichlayer.analysis.pipeline import analyse
from whichlayer.analysis.reader import open_trace
from whichlayer.tui.describe import describe_group

SAMPLE = Path(__file__).parents[2] / "sample_traces" / "memory_bound_slow.json.gz"


def test_a_slow_kernel_tells_how_it_fills_the_card_and_how_to_learn_more() -> None:
    analysis = analyse(open_trace(SAMPLE))
    group = next(one for one in analysis.kernels if one.counters)
    said = [line.text for line in describe_group(analysis, group)]
    assert any(
        text.endswith(f"limited by {group.limiter}, {group.waves:.3g} waves") for text in said
    )
    assert group.counters in said


def test_what_is_not_known_of_a_launch_is_not_told() -> None:
    analysis = analyse(open_trace(SAMPLE))
    known = next(one for one in analysis.kernels if one.counters)
    bare = replace(known, occupancy=None, waves=None, blocks=None, counters="", drift=None)
    said = " ".join(line.text for line in describe_group(analysis, bare))
    assert "waves" not in said
    assert "counters" not in said
    drifting = describe_group(analysis, replace(bare, blocks=1234, drift=1.25))
    assert "1,234 blocks" in [line.text for line in drifting]
    assert any(line.text.startswith("1.25 times as long") for line in drifting)

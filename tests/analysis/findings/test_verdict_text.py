"""What the first sentence says, and what it must not leave out."""

from __future__ import annotations

import pytest

from whichlayer.analysis.findings.verdict import verdict_of
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import Budget


def budget(unknown: int, unjudged: int) -> Budget:
    """A window of 1000 ns, the rest of which is at the roof."""
    return Budget(
        total_ns=1000,
        gap_ns={Layer.UNKNOWN: unknown},
        loss_ns={},
        at_roof_ns=1000 - unknown - unjudged,
        spacing_ns=0,
        unjudged_ns=unjudged,
        edge_ns=0,
    )


@pytest.mark.parametrize(("unknown", "unjudged"), [(450, 0), (0, 450), (150, 300)])
def test_a_healthy_verdict_says_how_much_is_not_known(unknown: int, unjudged: int) -> None:
    verdict = verdict_of(budget(unknown, unjudged), gpu=True)
    assert verdict.side == "healthy"
    assert verdict.text.startswith("Healthy as far as is known: ")
    assert verdict.text.endswith("but 45.0 % of the window is unknown or unjudged.")


def test_a_healthy_verdict_of_a_trace_that_is_known_says_no_more() -> None:
    text = verdict_of(budget(60, 90), gpu=True).text
    assert text == "Healthy: 0.0 % of the window in gaps above CUDA, 0.0 % lost in kernels."

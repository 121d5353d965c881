"""An Nsight Systems export on the screen: lanes, kernels, and why they have no figures."""

from __future__ import annotations

from pathlib import Path

from tests.support.nsight_export import training
from tests.tui.screen import screen_of, text_of, view_of
from whichlayer.analysis import analyse, load


async def test_an_export_is_drawn_and_says_why_its_kernels_are_not_judged(tmp_path: Path) -> None:
    made = training()
    made.rows["NVTX_EVENTS"].pop()
    made.range("aten::mm, op_id = 7", 1_000, 2_000)
    trace = load(made.write(tmp_path))
    async with screen_of(trace, analyse(trace), (200, 50)) as (app, pilot):
        assert "gemm" in text_of(app, "kernels")[1]
        assert any("GPU0 s7" in line for line in text_of(app, "timeline"))
        app.look_at(view_of(app).at(1_800 - trace.origin_ns))  # inside the kernel
        await pilot.pause()
        told = " ".join(" ".join(text_of(app, "region")).split())
        assert "no operator shapes in an Nsight recording" in told


def test_an_unjudged_operator_with_sizes_lacks_types_alone(tmp_path: Path) -> None:
    analysis = analyse(load(training().write(tmp_path)))
    (kernel,) = [group for group in analysis.kernels if "gemm" in group.name]
    assert "element types are not recorded" in kernel.why

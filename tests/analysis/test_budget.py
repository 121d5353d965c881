"""Every nanosecond of any window is accounted for, whatever runs where."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.support.program import AUTOGRAD, MAIN, Program, budget_parts
from whichlayer.analysis import Options, analyse

NAMES = (
    "ampere_sgemm_128x128_tn",
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>",
)
COPIES = (
    "Memcpy HtoD (Pageable -> Device)",
    "Memcpy DtoH (Device -> Pinned)",
    "Memcpy DtoD (Device -> Device)",
)
HOST = (
    ("cpu_op", "aten::add"),
    ("python_function", "train.py(3): f"),
    ("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"),
    ("cuda_runtime", "cudaDeviceSynchronize"),
    ("cuda_runtime", "cudaFree"),
    ("overhead", "Buffer Flush"),
)
micro = st.integers(0, 4000).map(lambda n: n / 10)
work = st.tuples(
    st.sampled_from(NAMES + COPIES), micro, micro, st.sampled_from([7, 20]), st.booleans(),
    micro, st.sampled_from([0, 1]),
)  # fmt: skip
host = st.tuples(st.sampled_from(HOST), micro, micro, st.sampled_from([MAIN, AUTOGRAD]))


def build(works: list[tuple[str, float, float, int, bool, float, int]],
          hosts: list[tuple[tuple[str, str], float, float, int]], steps: int) -> Program:  # fmt: skip
    program = Program()
    for name, start, length, stream, linked, lead, device in works:
        launch = (max(start - lead, 0.0), 3.0) if linked else None
        category = "gpu_memcpy" if name in COPIES else "kernel"
        program.kernel(
            name, start, length, launch, stream=stream, device=device, category=category,
            bytes=4096,
        )  # fmt: skip
    for (category, name), start, length, thread in hosts:
        program.slice(category, name, start, length, tid=thread)
    for number in range(steps):
        program.step(number, 100.0 * number, 95.0)
    return program


@settings(max_examples=150)
@given(
    st.lists(work, min_size=1, max_size=12),
    st.lists(host, max_size=8),
    st.integers(0, 3),
    st.one_of(st.none(), st.tuples(st.integers(0, 300), st.integers(1, 300))),
)
def test_the_parts_add_up_for_any_streams_overlaps_and_orders(
    works: list[tuple[str, float, float, int, bool, float, int]],
    hosts: list[tuple[tuple[str, str], float, float, int]],
    steps: int,
    span: tuple[int, int] | None,
) -> None:
    options = Options()
    if span is not None:
        options = Options(span_ns=(span[0] * 1000, (span[0] + span[1]) * 1000))
    with tempfile.TemporaryDirectory() as folder:
        trace = build(works, hosts, steps).trace(Path(folder))
        if span is not None:
            assume(span[0] * 1000 < trace.duration_ns)
        analysis = analyse(trace, options)
    window = analysis.window.end_ns - analysis.window.start_ns
    assert analysis.budget.total_ns == window * len(analysis.devices)
    for budget in (analysis.budget, *analysis.budget_by_device, *analysis.budget_by_step):
        assert budget_parts(budget) == budget.total_ns
        assert min(budget.at_roof_ns, budget.spacing_ns, budget.unjudged_ns, budget.edge_ns) >= 0
    for segments in analysis.segments:
        if len(segments.start_ns):
            assert (segments.start_ns[1:] == segments.end_ns[:-1]).all()
            assert segments.start_ns[0] == analysis.window.start_ns
            assert segments.end_ns[-1] == analysis.window.end_ns
    gaps = analysis.gaps
    for i in range(1, len(gaps)):
        if gaps.device[i] == gaps.device[i - 1]:
            assert gaps.start_ns[i] >= gaps.end_ns[i - 1]

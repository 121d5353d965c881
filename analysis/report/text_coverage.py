"""Coverage and throughput as text: how much is known, and what a step computes."""

from __future__ import annotations

from whichlayer.analysis.kernels.coverage import Missing, coverage_of
from whichlayer.analysis.kernels.throughput import Throughput, throughput_of
from whichlayer.analysis.report.text_layout import wrap
from whichlayer.analysis.report.units import count_text, rate_text, share_text, time_text
from whichlayer.analysis.results import Analysis

#: Reasons that are told; the JSON report has all.
_REASONS = 4
_OPERATORS = 2
#: Products, convolutions and attention: what has flops that count.
MATRIX_WORK = "matrix work"
_FLOPS_UNITS = ((10**15, "PFLOP"), (10**12, "TFLOP"), (10**9, "GFLOP"), (10**6, "MFLOP"))


def coverage_lines(analysis: Analysis) -> list[str]:
    """Of how much kernel time bytes and flops are known; empty where no kernel ran."""
    found = coverage_of(analysis)
    if not found.kernel_ns:
        return []
    text = (
        f"bytes known for {_share(found.bytes_share)} of {time_text(found.kernel_ns)} kernel time"
    )
    if found.matrix_ns:
        text += (
            f", flops for {_share(found.flops_share)} of {time_text(found.matrix_ns)} {MATRIX_WORK}"
        )
    lines = wrap(text, "COVERAGE  ")
    for one in found.missing[:_REASONS]:
        lines += wrap(_missing(one), f"    {time_text(max(one.bytes_ns, one.flops_ns)):>8}  ")
    return lines


def _share(share: float | None) -> str:
    """A share that is not all of it never reads as if it were."""
    if share is not None and 0.9995 <= share < 1:
        return ">99.9 %"
    return "all" if share == 1 else share_text(share)


def _missing(one: Missing) -> str:
    if not one.operators:
        return one.reason
    more = len(one.operators) - _OPERATORS
    named = ", ".join(one.operators[:_OPERATORS]) + (f" and {more} more" if more > 0 else "")
    return f"{one.reason} ({named})"


def throughput_lines(analysis: Analysis) -> list[str]:
    """What a step computes and how fast; empty where no kernel ran."""
    if not analysis.kernels:
        return []
    return wrap(throughput_text(throughput_of(analysis)), "THROUGHPUT  ")


def throughput_text(found: Throughput) -> str:
    """The throughput in a sentence, with the reason for what is not known."""
    if found.tflops is None:
        return f"not known: {found.reason}"
    text = (
        f"{flops_text(found.flops_per_step)} a step of {time_text(found.step_ns)}: "
        f"{rate_text(found.tflops)} TFLOP/s"
    )
    if found.mfu is None:
        text += f"; MFU not known: {found.reason}"
    else:
        text += f", MFU {share_text(found.mfu)} of {found.peak_tflops:g} {found.precision} dense"
    return (
        f"{text} ({count_text(found.steps, 'step')}; flops known for "
        f"{_share(found.covered_share)} of {MATRIX_WORK})"
    )


def flops_text(flops: int | None) -> str:
    """A count of operations in powers of a thousand.

    >>> flops_text(8_192_059_392)
    '8.19 GFLOP'
    """
    for scale, unit in _FLOPS_UNITS:
        if flops is not None and flops >= scale:
            return f"{rate_text(flops / scale)} {unit}"
    return "–" if flops is None else f"{flops} FLOP"

"""What torch.compile made, as text: only where it was used."""

from __future__ import annotations

from whichlayer.analysis.compiled.breaks import GraphBreak
from whichlayer.analysis.compiled.report import CompileReport, compile_report
from whichlayer.analysis.compiled.triton import TritonKernel
from whichlayer.analysis.report.text_layout import wrap
from whichlayer.analysis.report.units import count_text, share_text, time_text
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.text import clean, times_text

_SHOWN = 3


def compile_lines(analysis: Analysis) -> list[str]:
    """Compiled against eager, breaks, recompiles and the Triton kernels with the most time."""
    found = compile_report(analysis)
    if not found.used:
        return []
    lines = wrap("; ".join(_facts(found)), "COMPILED  ")
    for one in found.breaks[:_SHOWN]:
        lines += wrap(_break(one), "  break  ")
    if len(found.breaks) > _SHOWN:
        lines += wrap(f"{len(found.breaks) - _SHOWN} more breaks", "  ")
    if found.record:
        lines += wrap(found.record, "  ")
    for kernel in found.kernels[:_SHOWN]:
        lines += wrap(_kernel(kernel), f"  {time_text(kernel.time_ns):>8}  ")
    return lines


def _facts(found: CompileReport) -> list[str]:
    facts = []
    if found.compiled_share is not None and found.regions:
        facts.append(f"{share_text(found.compiled_share)} of the kernel time whose launch is known")
    if found.compiled_host_ns is not None and found.eager_host_ns is not None:
        whole = found.compiled_host_ns + found.eager_host_ns
        facts.append(f"{share_text(found.compiled_host_ns, whole)} of the launching threads' time")
    if found.regions:
        facts.append(count_text(len(found.regions), "compiled graph"))
    if found.kernels:
        said = count_text(len(found.kernels), "Triton kernel")
        facts.append(f"{said} with {time_text(found.triton_ns)}")
    if found.compiles.later:
        facts.append(
            f"compiled again {times_text(found.compiles.later)} after the first step, "
            f"{time_text(found.compiles.later_ns)}"
        )
    if found.variants:
        facts.append(f"variants: {clean(', '.join(found.variants[:2]))}")
    return facts


def _break(one: GraphBreak) -> str:
    place = f"{clean(one.file)}:{one.line}" if one.file is not None else "place not recorded"
    inside = f" in {clean(one.function)}" if one.function else ""
    operator = f", first {clean(one.operator)}" if one.operator else ""
    return f"{place}{inside}: {times_text(one.times)}, {time_text(one.host_ns)}{operator}"


def _kernel(one: TritonKernel) -> str:
    fused = ", ".join(one.operators[:6]) + (" …" if len(one.operators) > 6 else "")
    source = ""
    if one.file is not None:
        source = f"; {clean(one.file)}" + ("" if one.file_here else " (not on this machine)")
    calls = count_text(one.calls, "call")
    return f"{one.family} of {clean(fused) or 'no named operators'}, {calls}{source}"

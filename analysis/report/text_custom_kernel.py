"""Whether a custom kernel is justified, as text: the chain that matters most, or nothing."""

from __future__ import annotations

from whichlayer.analysis.custom_kernel.answers import Answer
from whichlayer.analysis.custom_kernel.verdicts import COST, Candidate, custom_kernels
from whichlayer.analysis.report.text_layout import fit, wrap
from whichlayer.analysis.report.units import count_text, share_text
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.text import clean

_SHOWN = 4
_WIDTH = 40
_MATTERS = 0.05
_PAYS = 0.02
"""Chains with less of the step, or whose fusion would save less, are told in JSON alone."""
_QUESTIONS = ("nothing else does it", "it owns the step", "its shapes hold still")


def custom_kernel_lines(analysis: Analysis) -> list[str]:
    """The answer for the chain with the most time; empty where none matters."""
    found = custom_kernels(analysis)
    chosen = next((one for one in found if _matters(one)), None)
    if chosen is None:
        return []
    more = len(found) - 1
    lines = wrap(_headline(chosen, more), "CUSTOM KERNEL  ")
    shown = [fit(clean(kernel), _WIDTH) for kernel in chosen.kernels[:_SHOWN]]
    rest = len(chosen.kernels) - len(shown)
    chain = " → ".join(shown) + (f" and {rest} more" if rest else "")
    facts = f"{count_text(chosen.calls, 'call')}, {share_text(chosen.share)}"
    facts += f" of the {analysis.options.whole}"
    lines += wrap(f"{chain} ({facts}{_place(chosen)})", "  ")
    for question, reply in zip(_QUESTIONS, chosen.replies, strict=True):
        lines += wrap(clean(reply.evidence), f"  {question:<22}{reply.answer.value:<9}")
    return lines


def _matters(one: Candidate) -> bool:
    """A yes, a doubt about much of the step, or a cheaper bet that would pay as much."""
    if one.answer is Answer.NO:
        pays = one.owns.answer is Answer.YES and one.nothing_captures.answer is Answer.NO
        return pays and (one.saving_share or 0.0) >= _PAYS
    return one.answer is Answer.YES or one.share >= _MATTERS


def _headline(one: Candidate, more: int) -> str:
    of = f"for the chain with the most time of {more + 1}" if more else "for the one chain there is"
    if one.answer is Answer.YES:
        return f"yes, {of}; the cost: {COST}"
    instead = f": {one.instead}" if one.instead else ""
    return f"{one.answer.value}, {of}{clean(instead)}"


def _place(one: Candidate) -> str:
    return f", {clean(str(one.where))}" if one.where.file is not None else ""

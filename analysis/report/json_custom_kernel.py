"""Candidates for a custom kernel as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from whichlayer.analysis.custom_kernel.answers import Reply
from whichlayer.analysis.custom_kernel.verdicts import COST, custom_kernels
from whichlayer.analysis.report import json_values as values
from whichlayer.analysis.results import Analysis


def custom_kernel_rows(analysis: Analysis) -> Iterator[dict[str, Any]]:
    """One object per chain of kernels."""
    for one in custom_kernels(analysis):
        yield {
            "answer": one.answer.value,
            "origin": one.origin.value,
            "kernels": values.texts(one.kernels),
            "operators": values.texts(one.operators),
            "calls": one.calls,
            "time_us": values.microseconds(one.time_ns),
            "share": values.number(one.share),
            "saving_us": values.microseconds(one.saving_ns),
            "external_bytes": values.integer(one.external_bytes),
            "nothing_captures": _reply(one.nothing_captures),
            "owns_the_step": _reply(one.owns),
            "stable_shapes": _reply(one.stable),
            "instead": values.words(one.instead),
            "cost": COST,
            "where": values.place(one.where),
        }


def _reply(reply: Reply) -> dict[str, Any]:
    return {
        "answer": reply.answer.value,
        "number": values.number(reply.number),
        "evidence": values.words(reply.evidence),
        "instead": values.words(reply.instead),
    }

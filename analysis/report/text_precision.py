"""In which precision products ran, as text: only where there is something to change."""

from __future__ import annotations

from whichlayer.analysis.precision_share.shares import UNKNOWN, Precisions, precision_shares
from whichlayer.analysis.report.text_layout import wrap
from whichlayer.analysis.report.units import count_text, share_text, time_text
from whichlayer.analysis.results import Analysis

_LEAST = 0.05
_CASTS = 0.01
_PRODUCTS = 0.05
"""Products with less of the busy time are no reason to change a precision."""


def precision_lines(analysis: Analysis) -> list[str]:
    """Shares by precision, casts, and both halves of the fix; empty where all is well."""
    found = precision_shares(analysis)
    if not _worth_telling(found):
        return []
    told = [
        f"{_name(one.precision)} {share_text(one.share)}"
        for one in found.shares
        if one.share >= 0.001
    ]
    shares = f"{', '.join(told)} of {time_text(found.product_ns)} in products"
    lines = wrap(shares if told else "no products", "PRECISION  ")
    if found.cast_ns:
        casts = count_text(found.casts, "cast")
        lines += wrap(
            f"{casts} between float types: {share_text(found.cast_ns, found.busy_ns)} of busy time",
            "  ",
        )
    if found.advice is not None and found.share_of("fp32") >= _LEAST:
        lines += wrap(found.advice.above, "  above  ")
        lines += wrap(found.advice.below, "  below  ")
    if found.record and found.share_of(UNKNOWN) >= _LEAST:
        lines += wrap(found.record, "  ")
    return lines


def _worth_telling(found: Precisions) -> bool:
    if not found.busy_ns:
        return False
    casting = (found.cast_ns or 0) >= _CASTS * found.busy_ns
    if found.product_ns < _PRODUCTS * found.busy_ns:
        return casting
    several = sum(one.share >= _LEAST for one in found.shares) > 1
    return casting or several or found.share_of("fp32") >= _LEAST


def _name(precision: str) -> str:
    return precision if precision == UNKNOWN else precision.upper()

"""What ties a program to one vendor, as text: only where something does."""

from __future__ import annotations

from whichlayer.analysis.report.text_layout import wrap
from whichlayer.analysis.report.units import share_text
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.text import clean
from whichlayer.analysis.vendor.inventory import Inventory, LibraryUse, Tie, vendor_inventory

_SHOWN = 4
_LEAST = 0.01
"""Libraries with less of the busy time are told in JSON alone."""
_MUCH_UNKNOWN = 0.50


def vendor_lines(analysis: Analysis) -> list[str]:
    """The ties with the most time; empty where PyTorch's own operators reach everything."""
    found = vendor_inventory(analysis)
    ties = [use for use in found.uses if use.tie is Tie.TIED and use.share >= _LEAST]
    hidden = (found.unknown_share or 0.0) >= _MUCH_UNKNOWN
    if not ties and not hidden:
        return []
    lines = wrap(_headline(found), "VENDOR TIES  ")
    for use in ties[:_SHOWN]:
        lines += wrap(_told(use), f"  {share_text(use.share):>7}  ")
    if len(ties) > _SHOWN:
        rest = sum(use.share for use in ties[_SHOWN:])
        lines += wrap(f"{len(ties) - _SHOWN} more libraries", f"  {share_text(rest):>7}  ")
    if hidden and found.record:
        lines += wrap(found.record, "  ")
    return lines


def _headline(found: Inventory) -> str:
    parts = [
        (found.portable_share, "of busy time runs on any vendor's GPU"),
        (found.model_share, "would through PyTorch's operators"),
        (found.tied_share, "is tied"),
        (found.unknown_share, "is unknown"),
    ]
    told = [f"{share_text(share)} {words}" for share, words in parts if share]
    return ", ".join(told)


def _told(use: LibraryUse) -> str:
    by = f" by {clean(use.operators[0])}" if use.operators else ""
    vendors = " and ".join(one.upper() for one in use.library.vendors)
    instead = f"; instead: {use.library.alternative}" if use.library.alternative else ""
    return f"{clean(use.library.name)} ({vendors}), {use.reach.value}{by}{instead}"

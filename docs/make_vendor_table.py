"""Renew the tables of ``docs/vendors.md`` from the two recordings that they are about.

``WHICHLAYER_TRACES=folder python docs/make_vendor_table.py``: the folder holds
``tl_h100_timesformer.json.gz`` and ``tl_mi300_timesformer.json.gz``. Only kernels, shapes and
figures are read of them.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from whichlayer.analysis import analyse, load
from whichlayer.analysis.kernels.coverage import coverage_of
from whichlayer.analysis.kernels.names import family
from whichlayer.analysis.report.units import UNKNOWN, rate_text
from whichlayer.analysis.results import Analysis, KernelGroup

DOCUMENT = Path(__file__).with_name("vendors.md")
RECORDINGS = (
    ("H100 SXM5", "tl_h100_timesformer.json.gz"),
    ("MI300X", "tl_mi300_timesformer.json.gz"),
)
BEGIN, END = "<!-- tables: python docs/make_vendor_table.py -->", "<!-- end of tables -->"
LOSSES = 10
#: Families of less time than this on both cards are not listed.
LEAST_NS = 100_000

SCORES = "bf16[8,12,3137,3137]"

#: What is behind the largest losses, by operator and shapes; a loss without one is an error.
EXPLAINED = {
    ("aten::_softmax", SCORES): (
        "The softmax of the whole score matrix, which is read and written in every layer "
        "(3.8 GB a call). Its rows have 3137 elements of two bytes: seven of eight do not begin "
        "at a multiple of 16 bytes, so that loads cannot be wide, on either card. A fused "
        "attention (`F.scaled_dot_product_attention`) never writes this matrix."
    ),
    ("aten::bmm", "bf16[96,3137,64] bf16[96,64,3137]"): (
        "The product of queries and keys. It writes the score matrix, and because 3137 is odd the "
        "H100 falls back to a kernel for unaligned operands (`cutlass_75_tensorop…align1`, two "
        "generations old) and the MI300X to a general tile. The same fused attention replaces it."
    ),
    ("aten::bmm", "bf16[96,3137,3137] bf16[96,3137,64]"): (
        "The product of the scores and the values: reads the matrix once more, with the same "
        "unaligned rows."
    ),
    ("aten::mul", SCORES): (
        "The scores times one over the square root of 64. The kernel itself is near the bandwidth "
        "of either card; the pass over the matrix need not exist: the fused call scales as it goes."
    ),
    ("aten::bmm", "bf16[37632,8,64] bf16[37632,64,8]"): (
        "Attention over 8 frames: 37 632 products of 8 x 64 x 8. The MI300X library picks a tile of "
        "16 x 448 for results of 8 x 8, so that nearly all of it is padding, and takes many times "
        "as long as the H100 with its 16 x 16 tiles."
    ),
    ("aten::bmm", "bf16[37632,8,8] bf16[37632,8,64]"): (
        "The other product of the same attention, on the MI300X in tiles of 256 x 16. Batches of "
        "tiny products are one fused call or one elementwise product and sum."
    ),
    ("aten::copy_", "bf16[8,12,64,3137] bf16[8,12,64,3137]"): (
        "The keys made contiguous after a transposition, for the product: reads are strided. "
        "The fused call takes them as they are."
    ),
    ("aten::cat", "2 x [1,1,768]"): (
        "One token joined with all others: everything is copied for one row more."
    ),
    ("convolution", "bf16[128,3,224,224] bf16[768,3,16,16]"): (
        "The patch embedding. Three input channels are no multiple of 8, so that no fast kernel "
        "fits; its operands are also brought into another layout and back. Patches do not "
        "overlap: it is a reshape and one matrix product."
    ),
    ("aten::cat", "2 x [8,1,768]"): (
        "The same for the attention within frames: a copy of everything, in every layer."
    ),
}


@dataclass(slots=True)
class Sum:
    """Figures of several groups; shares are means over the time of those that have one."""

    time_ns: int = 0
    lost_ns: int = 0
    rules: list[str] = field(default_factory=list)
    shares: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    weights: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def add(self, group: KernelGroup) -> None:
        """Count one group."""
        self.time_ns += group.total_ns
        self.lost_ns += group.lost_ns
        if group.rule and group.lost_ns and group.rule not in self.rules:
            self.rules.append(group.rule)
        for name in ("bandwidth_fraction", "flops_fraction", "roof_fraction"):
            value = getattr(group, name)
            if value is not None:
                self.shares[name].append(value)
                self.weights[name].append(group.total_ns)

    def share(self, name: str) -> str:
        """A mean share in percent."""
        weight = sum(self.weights[name])
        if not weight:
            return UNKNOWN
        pairs = zip(self.shares[name], self.weights[name], strict=True)
        percent = 100 * sum(value * ns for value, ns in pairs) / weight
        return "<1 %" if percent < 0.5 else f"{percent:.0f} %"


def tables(analyses: Sequence[Analysis]) -> str:
    """Both tables and the explanations, in the order of :data:`RECORDINGS`.

    Raises:
        ValueError: one of the largest losses has no explanation.
    """
    families, losses = _gather(analyses, _family), _gather(analyses, _call)
    losses.sort(key=lambda row: -sum(one.lost_ns for one in row[1]))
    cards = [name for name, _ in RECORDINGS]
    parts = [f"{name} {part}" for name in cards for part in _FAMILY_PARTS]
    lines = [*_heading(["family", *parts]), *_family_rows(families)]
    lines += [
        "",
        *_summary(analyses),
        "",
        f"The {LOSSES} largest losses, of both cards together:",
        "",
    ]
    parts = [f"{name} {part}" for name in cards for part in ("time", "lost")]
    lines += _heading(["", "operator and inputs", *parts, "rules"])
    for place, (key, sums) in enumerate(losses[:LOSSES], start=1):
        figures = [_ms(ns) for one in sums for ns in (one.time_ns, one.lost_ns)]
        rules = dict.fromkeys(rule for one in sums for rule in one.rules)
        lines.append(_line([str(place), f"`{key[0]}` {key[1]}", *figures, ", ".join(rules)]))
    lines.append("")
    for place, (key, _) in enumerate(losses[:LOSSES], start=1):
        if key not in EXPLAINED:
            raise ValueError(f"explain this loss in docs/make_vendor_table.py: {key}")
        lines.append(f"{place}. {EXPLAINED[key]}")
    return "\n".join(lines)


_FAMILY_PARTS = ("time", "of bandwidth", "of dense rate", "of roof", "lost")


def _gather(
    analyses: Sequence[Analysis], key_of: Callable[[KernelGroup], tuple[str, str]]
) -> list[tuple[tuple[str, str], list[Sum]]]:
    found: dict[tuple[str, str], list[Sum]] = {}
    for place, analysis in enumerate(analyses):
        for group in analysis.kernels:
            key = key_of(group)
            found.setdefault(key, [Sum() for _ in analyses])[place].add(group)
    return list(found.items())


def _family(group: KernelGroup) -> tuple[str, str]:
    return family(group.name), ""


def _call(group: KernelGroup) -> tuple[str, str]:
    operator = "convolution" if group.operator.endswith("_convolution") else group.operator
    # MIOpen's operator has the bias as well.
    shapes = " ".join(group.shapes.split(" ")[:2]) if operator == "convolution" else group.shapes
    return operator, shapes


def _family_rows(families: list[tuple[tuple[str, str], list[Sum]]]) -> Iterable[str]:
    families.sort(key=lambda row: -sum(one.time_ns for one in row[1]))
    for (name, _), sums in families:
        if max(one.time_ns for one in sums) < LEAST_NS:
            continue
        cells = [name]
        for one in sums:
            shares = [one.share(f"{part}_fraction") for part in ("bandwidth", "flops", "roof")]
            cells += [_ms(one.time_ns), *shares, _ms(one.lost_ns)]
        yield _line(cells)


def _summary(analyses: Sequence[Analysis]) -> Iterable[str]:
    for (name, _), analysis in zip(RECORDINGS, analyses, strict=True):
        found = coverage_of(analysis)
        yield (
            f"{name}: {_ms(found.kernel_ns)} ms of kernels; bytes known for "
            f"{100 * (found.bytes_share or 0):.1f} % of it, flops for "
            f"{100 * (found.flops_share or 0):.1f} % of the time of those that have any.  "
        )


def _ms(ns: int) -> str:
    return rate_text(ns / 1e6) if ns else "0"


def _heading(cells: Sequence[str]) -> list[str]:
    words = ("", "family", "operator and inputs", "rules")
    return [_line(cells), _line(["---" if cell in words else "---:" for cell in cells])]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def with_tables(document: str, made: str) -> str:
    """The document with its tables renewed.

    Raises:
        ValueError: it has no place for them.
    """
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError("docs/vendors.md has no place for the tables")
    return f"{before}{begin}\n\n{made}\n\n{end}{after}"


def analyses_in(folder: Path) -> list[Analysis]:
    """The two recordings of a folder, analysed."""
    paths = [folder / name for _, name in RECORDINGS]
    return [analyse(load(str(path), cache=False, keep=False)) for path in paths]


if __name__ == "__main__":
    made = tables(analyses_in(Path(os.environ["WHICHLAYER_TRACES"])))
    DOCUMENT.write_text(with_tables(DOCUMENT.read_text(encoding="utf-8"), made), encoding="utf-8")

"""A finding in full, as a sheet: worth, fix, place with its source, evidence, threshold, regions."""

from __future__ import annotations

from pathlib import Path

from whichlayer.analysis.findings.near import setting_text
from whichlayer.analysis.layers import layer_name
from whichlayer.analysis.report.explanations import explain
from whichlayer.analysis.report.text_findings import lost_text, recoverable_text
from whichlayer.analysis.report.units import count_text, share_text, time_text
from whichlayer.analysis.results import Analysis, Finding, Where
from whichlayer.analysis.text import clean, gpu_text
from whichlayer.tui.sheet import Sheet, SheetLine, Target
from whichlayer.tui.source_lines import find_source, lines_around

#: Regions that are listed, the longest first.
_MOST_REGIONS = 100

KEYS = "# editor · Y copy"


def finding_sheet(analysis: Analysis, finding: Finding, trace_path: str) -> Sheet:
    """Everything about a finding."""
    vendor = analysis.devices[0].vendor if analysis.devices else ""
    worth = lost_text(finding, f" of the {analysis.options.whole}")
    if recoverable := recoverable_text(finding):
        worth += f"; {recoverable}"
    lines = [
        SheetLine(layer_name(finding.layer, vendor), "strong", finding.layer),
        SheetLine(f"{finding.rule}: {clean(finding.title)}", "strong"),
        SheetLine(f"{worth}; confidence {finding.confidence}"),
        *_setting(analysis, finding),
        *_headed("Fix", [SheetLine(f"  {clean(finding.fix)}")] if finding.fix else []),
        *_headed("Where", place_lines(finding.where, trace_path, analysis.options.source_roots)),
        *_headed("Evidence", [SheetLine(f"  {clean(one)}") for one in finding.evidence]),
        *_headed(f"Regions: {len(finding.regions)}", _regions(analysis, finding)),
        *_headed("What the rule says", _rule(finding.rule)),
    ]
    return Sheet(f"finding · {finding.rule}", tuple(lines), KEYS)


def place_lines(where: Where, trace_path: str, roots: tuple[str, ...]) -> list[SheetLine]:
    """A place in the code, with the lines around it where the file is here."""
    parts = [str(where)] if where.file is not None else []
    parts += [part for part in (where.module, where.operator) if part]
    lines = [SheetLine(f"  {clean(part)}") for part in parts] or [
        SheetLine("  not in the recording", "dim")
    ]
    path = None if where.file is None else find_source(where.file, trace_path, roots)
    if path is not None and where.line is not None:
        lines += _source(path, where.line)
    elif where.file is not None:
        lines.append(SheetLine("  the file is not on this machine", "dim"))
    if where.record:
        lines.append(SheetLine(f"  to know more: {clean(where.record)}", "dim"))
    return lines


def _source(path: Path, line: int) -> list[SheetLine]:
    shown = lines_around(path, line)
    if not shown:
        return [SheetLine(f"  {clean(str(path))} has no line {line}: another version?", "dim")]
    lines = [SheetLine(f"  {clean(str(path))}", "dim")]
    for number, text in shown:
        here = number == line
        mark = "→" if here else " "
        lines.append(SheetLine(f"  {number:>5} {mark} {text}", "accent" if here else "text"))
    return lines


def _setting(analysis: Analysis, finding: Finding) -> list[SheetLine]:
    """The threshold that let it through, its value, and where that comes from."""
    if not finding.threshold:
        return []
    rule, _, name = finding.threshold.removeprefix("rules.").partition(".")
    try:
        said = setting_text(analysis.options, rule, name)
    except (KeyError, ValueError):
        said = finding.threshold
    origin = analysis.options.origins.get(finding.threshold, "as shipped")
    return [SheetLine(f"let through by {clean(said)} ({clean(origin)})", "dim")]


def _regions(analysis: Analysis, finding: Finding) -> list[SheetLine]:
    regions = sorted(finding.regions, key=lambda one: one.start_ns - one.end_ns)
    lines = []
    for one in regions[:_MOST_REGIONS]:
        length = one.end_ns - one.start_ns
        gpu = gpu_text(analysis.devices[one.device].number)
        text = f"  {time_text(length):>9} on {gpu} at {time_text(one.start_ns)}"
        share = f" ({share_text(length, finding.time_ns)} of it)" if finding.time_ns else ""
        target = Target(one.start_ns, one.end_ns, device=one.device)
        lines.append(SheetLine(text + share, target=target))
    if len(regions) > _MOST_REGIONS:
        lines.append(SheetLine(f"  and {count_text(len(regions) - _MOST_REGIONS, 'shorter one')}"))
    return lines


def _rule(rule: str) -> list[SheetLine]:
    try:
        told = explain(rule)
    except KeyError:
        return []
    return [SheetLine(f"  {line.rstrip()}", "dim") for line in told.splitlines()]


def _headed(heading: str, lines: list[SheetLine]) -> list[SheetLine]:
    return [SheetLine(""), SheetLine(heading, "accent"), *lines] if lines else []

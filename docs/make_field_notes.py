"""Print what the product says of each recording of a folder: ``python docs/make_field_notes.py FOLDER``.

The table of docs/field-notes.md begins with these cells; what stands behind them was judged by eye.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from whichlayer.analysis import Analysis, TraceError, analyse, load

PAGE = Path(__file__).parent / "field-notes.md"
#: What lies beside the recordings.
_NO_RECORDINGS = ("README.md", "expected.json")
#: Findings that a row holds.
_FIRST = 3


def told(analysis: Analysis) -> tuple[str, str]:
    """The side of the verdict and the first findings, as the table has them."""
    rules = [f"{one.rule} {one.share:.0%}" if one.time_ns else one.rule
             for one in analysis.findings[:_FIRST]]  # fmt: skip
    side = analysis.verdict.side if analysis.devices else "no GPU verdict"
    return side, ", ".join(rules) or "none"


def recordings(folder: Path) -> Iterator[Path]:
    """The recordings of a folder, jobs of several ranks left out, by name."""
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.name not in _NO_RECORDINGS:
            yield path


def table() -> dict[str, tuple[str, str]]:
    """The rows that the page has: side and findings by the name of the recording."""
    rows = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `") and len(cells) == 4:
            rows[cells[0].strip("`")] = (cells[1], cells[2])
    return rows


if __name__ == "__main__":
    for found in recordings(Path(sys.argv[1])):
        try:
            cells = told(analyse(load(found, cache=False)))
        except TraceError as error:
            cells = "refused", str(error)
        print(f"| `{found.name}` | {cells[0]} | {cells[1]} | |")

"""Product names: as drivers print them, and as users type them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from whichlayer.analysis.kernels.device_table import DEVICE_ROWS, DeviceRow

_BRANDS: Final = re.compile(r"\b(?:nvidia|amd|intel(?:\(r\))?|\(r\)|\(tm\)|corporation)\b|\(r\)")
#: Words behind a name that make it another product with other peaks.
_OTHER_PRODUCT: Final = frozenset({"super", "ti", "laptop", "mobile", "max-q", "d", "with", "gre"})
#: A unit count further off than this is a slice, a partition or another product.
UNIT_SLACK: Final = 0.02
#: Memory of an unsliced card, for bandwidth of a slice or partition.
_FULL_MEMORY: Final[Mapping[str, float]] = {
    "A100 SXM4 40": 42.4e9,
    "A100 SXM4 80": 85e9,
    "A100 PCIe 40": 42.35e9,
    "A100 PCIe 80": 85e9,
    "A30": 25.2e9,
    "H100 SXM5 80": 85e9,
    "H100 PCIe": 85e9,
    "H100 NVL": 100e9,
    "H200 SXM": 150e9,
    "B200 HGX": 191.5e9,
    "MI300X": 206e9,
    "MI325X": 275e9,
}


def split_rows() -> Mapping[str, float]:
    """Bytes of the whole card, for the rows that are sold in slices."""
    return _FULL_MEMORY


def vendor_of(name: str, entry: Mapping[str, Any], header: Mapping[str, Any]) -> str:
    """``nvidia``, ``amd``, ``intel`` or empty.

    ``computeMajor`` 9 is Hopper or any CDNA, so the file's own keys and the warp size come
    before it.
    """
    low = name.lower()
    if re.search(r"\b(?:amd|radeon|instinct)\b|^gfx", low):
        return "amd"
    if re.search(r"\b(?:nvidia|tesla|quadro|geforce)\b", low):
        return "nvidia"
    if "intel" in low:
        return "intel"
    if any(str(key).startswith(("hip_", "roctracer", "rocprofiler")) for key in header):
        return "amd"
    if entry.get("warpSize") == 64:
        return "amd"
    if any(str(key).startswith(("cuda_", "cupti")) for key in header):
        return "nvidia"
    return "nvidia" if entry.get("warpSize") == 32 and "computeMajor" in entry else ""


def rows_by_name(
    name: str, memory: float | None, units: float | None = None
) -> tuple[list[DeviceRow], bool]:
    """Rows whose name is in a driver's name, and whether the fit is exact.

    Names match at word boundaries, so that A10 is neither A10G nor A100 and H200 is not
    GH200. Rows whose name other products share are told apart by memory and units: where
    these fit none or several, or are those of a slice, all rows of that name are returned.
    """
    clean = " ".join(_BRANDS.sub(" ", name.lower()).split())
    hits: list[tuple[str, DeviceRow, str]] = []
    for row in DEVICE_ROWS:
        for word in row.match:
            if word not in clean:
                continue
            found = re.search(rf"(?<![a-z0-9]){re.escape(word)}(?![a-z0-9])", clean)
            if found is not None:
                rest = clean[: found.start()] + clean[found.end() :]
                hits.append((word, row, rest))
    if not hits:
        return [], False
    longest = max(len(word) for word, _, _ in hits)
    best = [(word, row, rest) for word, row, rest in hits if len(word) == longest]
    word, row, rest = best[0]
    family = rows_called(word)
    fits = _fits(row, memory)
    if len(family) > 1 and any(one.memory for _, one, _ in best):
        whole = None if "mig" in clean.split() else memory
        sure = [one for _, one, _ in best if _is_surely(one, whole, units)]
        if len(sure) != 1:
            return list(family), False
        row, fits = sure[0], True
    other = bool(_OTHER_PRODUCT & set(rest.split()))
    return [row], fits and not other


@cache
def rows_called(word: str) -> tuple[DeviceRow, ...]:
    """Rows with a driver's name in which this one is, at word boundaries."""
    inside = re.compile(rf"(?<![a-z0-9]){re.escape(word)}(?![a-z0-9])")
    return tuple(row for row in DEVICE_ROWS if any(inside.search(one) for one in row.match))


def rows_by_size(
    units: float | None, memory: float | None, gfx: tuple[int, int] | None
) -> list[DeviceRow]:
    """AMD rows with these compute units, memory and gfx number; empty where several differ."""
    if units is None or memory is None or gfx is None:
        return []
    rows = [
        row
        for row in DEVICE_ROWS
        if row.gfx == gfx and row.units == int(units) and row.memory and _fits(row, memory)
    ]
    alike = {(row.bandwidth, tuple(sorted(row.rates.items()))) for row in rows}
    return rows if len(alike) == 1 else []


def rows_by_user(text: str, memory: float | None) -> DeviceRow:
    """The row that a user means.

    Raises:
        ValueError: none or several fit; the message names the nearest.
    """
    wanted = _tokens(text)
    if not wanted:
        raise ValueError(f"unknown device model {text!r}")
    named = [row for row in DEVICE_ROWS if _tokens(row.name) == wanted]
    family = [row for row in DEVICE_ROWS if any(wanted <= words for words in _words(row))]
    exact = [row for row in DEVICE_ROWS if wanted in _words(row)]
    for candidates in (named, exact if len(family) <= 2 or len(wanted) > 1 else [], family):
        fitting = [row for row in candidates if _fits(row, memory)] or candidates
        if len(fitting) == 1:
            return fitting[0]
    if family:
        names = ", ".join(row.name for row in family)
        raise ValueError(f"device model {text!r} fits several: {names}")
    raise ValueError(f"unknown device model {text!r}; near: {', '.join(_near(text))}")


def _fits(row: DeviceRow, memory: float | None) -> bool:
    return row.memory is None or memory is None or row.memory[0] <= memory <= row.memory[1]


def _is_surely(row: DeviceRow, memory: float | None, units: float | None) -> bool:
    """Whether memory and units are known and those of a row."""
    if memory is None or row.memory is None or not _fits(row, memory):
        return False
    return not units or not row.units or abs(units / row.units - 1) <= UNIT_SLACK


def _tokens(text: str) -> frozenset[str]:
    clean = _BRANDS.sub(" ", text.lower())
    words = (re.sub(r"^(\d+)gb$", r"\1", word) for word in re.findall(r"[a-z0-9]+", clean))
    return frozenset(word for word in words if word not in ("gb", "per", "gcd", "gpu", "instinct"))


@cache
def _words(row: DeviceRow) -> tuple[frozenset[str], ...]:
    return tuple(_tokens(text) for text in (row.name, *row.match))


def _near(text: str) -> list[str]:
    names = {row.name.lower(): row.name for row in DEVICE_ROWS}
    found = difflib.get_close_matches(text.lower(), names, n=4, cutoff=0.3)
    return [names[low] for low in found] or sorted(names.values())[:6]

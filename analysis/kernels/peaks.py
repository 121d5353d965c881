"""Which GPU a trace comes from, and what that GPU can do at best."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

from whichlayer.analysis.kernels.device_names import (
    UNIT_SLACK,
    rows_by_name,
    rows_by_size,
    rows_by_user,
    split_rows,
    vendor_of,
)
from whichlayer.analysis.kernels.device_table import (
    ASSUMED_EFF,
    DEVICE_ROWS,
    DeviceRow,
    capability_of,
)
from whichlayer.analysis.kernels.own_card import own_bandwidth
from whichlayer.analysis.kernels.sm_limits import SmLimits, limits_of
from whichlayer.analysis.options import Options, Peaks

#: Clock assumed for a card that the table does not have, GHz (devices of the last years
#: boost to between 1.4 and 2.5).
_ASSUMED_GHZ: Final = 1.7
#: What a recorded bandwidth may be, GB/s; anything else is in another unit, or wrong.
_BANDWIDTH_GBPS: Final = (5.0, 50_000.0)
#: No GPU has so many multiprocessors; larger figures are damaged input.
_MOST_UNITS: Final = 1 << 16
#: FMA per clock and SM, FP16/BF16 with FP32 accumulation, by (major, minor).
_HALF_FMA: Final = {
    (7, 0): 512, (7, 5): 512, (8, 0): 1024, (8, 6): 512, (8, 9): 512, (9, 0): 2048,
    (10, 0): 4096, (10, 3): 4096, (12, 0): 256,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class DeviceMatch:
    """A GPU of a trace and its peaks.

    Attributes:
        model: row of the device table, or None where none fits.
        note: how sure that is, or why there is none; one line for people.
        vendor: ``nvidia``, ``amd``, ``intel`` or empty.
        bandwidth_gbps: memory bandwidth of the data sheet, or None.
        tflops: dense rates by precision.
        eff: share of ``tflops`` that good large products reach.
        eff_assumed: no measurement of ``eff`` is known for this card.
        cache_bytes: last-level cache (L2 and, on AMD, what lies behind it), or None.
        resident_bytes: how much of it one kernel can count on.
        unconfirmed: figures (``bandwidth`` or a precision) that no verdict may rest on.
        consumer: a GeForce part: boost clocks exceed the data sheet's.
        units: SMs or compute units, 0 where unknown.
        sm: what one of NVIDIA's SMs holds, or None.
    """

    model: str | None
    note: str
    vendor: str
    bandwidth_gbps: float | None = None
    tflops: Mapping[str, float] = field(default_factory=dict)
    eff: float = ASSUMED_EFF
    eff_assumed: bool = True
    cache_bytes: int | None = None
    resident_bytes: int | None = None
    unconfirmed: frozenset[str] = frozenset()
    consumer: bool = False
    units: int = 0
    sm: SmLimits | None = None

    @property
    def confirmed(self) -> bool:
        """Whether there are peaks and every one of them may carry a verdict."""
        return self.bandwidth_gbps is not None and not self.unconfirmed

    def rate(self, precision: str, *, matrix: bool = True) -> float | None:
        """Dense TFLOP/s of a precision, of matrix units where the card has them for it."""
        if matrix and f"{precision}-matrix" in self.tflops:
            return self.tflops[f"{precision}-matrix"]
        return self.tflops.get(precision)


def match_device(
    properties: Mapping[str, Any] | None, header: Mapping[str, Any], options: Options
) -> DeviceMatch:
    """Find the row of a GPU and scale it to what the trace says of this one.

    Args:
        properties: the entry of ``deviceProperties`` (:func:`device_entry`), or None.
        header: the top-level keys of the file; they tell AMD from NVIDIA.
        options: ``device_model`` names the row, ``peak_*`` replace single figures.

    Raises:
        ValueError: ``device_model`` names no row or several (the message lists near ones), or
            a peak is not a positive number.
    """
    entry = properties if isinstance(properties, Mapping) else {}
    if options.device_model is not None:
        row = rows_by_user(options.device_model, _number(entry, "totalGlobalMem"))
        row, said = user_row(row, options)
        found = _from_row(row, f"{row.name}, as asked for{said}")
    else:
        found = _by_its_own_word(_recognise(entry, header, options), entry, header)
        found = with_peaks(found, *user_peaks(str(entry.get("name") or ""), options))
    found = _with_units(found, entry)
    if options.peak_bandwidth_gbps is None and not options.peak_tflops:
        return found
    given = Peaks(options.peak_bandwidth_gbps, options.peak_tflops)
    return with_peaks(found, given, "as given")


def _by_its_own_word(
    found: DeviceMatch, entry: Mapping[str, Any], header: Mapping[str, Any]
) -> DeviceMatch:
    """A match with the bandwidth of the very card, where the recording tells it."""
    bandwidth = own_bandwidth(entry, header, found.vendor, found.bandwidth_gbps)
    if bandwidth is None:
        return found
    return replace(
        found,
        note=f"{found.note}; {bandwidth:.0f} GB/s by this card's own memory clock and bus",
        bandwidth_gbps=bandwidth,
        unconfirmed=found.unconfirmed - {"bandwidth"},
    )


def _with_units(found: DeviceMatch, entry: Mapping[str, Any]) -> DeviceMatch:
    """A match with its multiprocessors, as the file tells them, else as the row does."""
    row = next((row for row in DEVICE_ROWS if row.name == found.model), None)
    told = _number(entry, "numSms") or _number(entry, "multiProcessorCount")
    units = told if told and told < _MOST_UNITS else (row.units if row is not None else 0)
    if found.vendor != "nvidia":
        return replace(found, units=int(units))
    capability = _capability(entry) or capability_of(found.model or "")
    return replace(found, units=int(units), sm=limits_of(capability, entry))


def device_entry(number: int, header: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The properties of the device that GPU events call ``number``; None where unknown.

    On ROCm that number is an agent's and need not be listed (rules Q13): where the entries
    are all alike, any of them serves.
    """
    listed = header.get("deviceProperties") or header.get("computeProperties")
    if not isinstance(listed, list | tuple):
        return None
    entries = [entry for entry in listed if isinstance(entry, Mapping)]
    for entry in entries:
        if entry.get("id") == number and not isinstance(entry.get("id"), bool):
            return entry
    if not entries:
        return None
    alike = all(_likeness(entry) == _likeness(entries[0]) for entry in entries)
    return entries[0] if alike else None


def _likeness(entry: Mapping[str, Any]) -> tuple[str, ...]:
    keys = ("name", "numSms", "computeMajor", "computeMinor", "warpSize")
    return tuple(repr(entry.get(key)) for key in keys)


def _recognise(
    entry: Mapping[str, Any], header: Mapping[str, Any], options: Options
) -> DeviceMatch:
    raw = entry.get("name")
    name = raw if isinstance(raw, str) else ""
    vendor = vendor_of(name, entry, header)
    if not entry:
        note = "the file does not describe this device; name it with --device-model"
        return DeviceMatch(None, note, vendor)
    memory = _number(entry, "totalGlobalMem")
    units = _number(entry, "numSms") or _number(entry, "multiProcessorCount")
    rows, exact = rows_by_name(name, memory, units)
    if len(rows) > 1:
        names = ", ".join(row.name for row in rows)
        return _unlisted(name, entry, vendor, units, f"is ambiguous ({names})")
    if not rows and vendor == "amd":
        rows = rows_by_size(units, memory, _capability(entry))
        exact = bool(rows)
    if not rows:
        return _unlisted(name, entry, vendor, units)
    return _scaled(rows[0], name, units, memory, exact, options)


def _scaled(
    row: DeviceRow,
    name: str,
    units: float | None,
    memory: float | None,
    exact: bool,
    options: Options,
) -> DeviceMatch:
    row, of_user = user_row(row, options)
    said = f"{row.name}, by its name" if name else f"{row.name}, by its units and memory"
    said += of_user
    if row.note:
        said += f" ({row.note})"
    if not units or not row.units or abs(units / row.units - 1) <= UNIT_SLACK:
        found = _from_row(row, said)
        return found if exact else _doubtful(found, f"{said}; another variant, figures only")
    compute = units / row.units
    full = split_rows().get(row.name)
    share = min(1.0, memory / full) if memory and full else min(1.0, compute)
    note = f"{row.name} with {units:.0f} of {row.units} units: peaks scaled{of_user}"
    scaled = _from_row(row, note, compute=compute, memory=share)
    if "mig" in name.lower().split():
        return scaled
    return _doubtful(scaled, f"{note}; a partition or another product, figures only")


def _from_row(
    row: DeviceRow, note: str, *, compute: float = 1.0, memory: float = 1.0
) -> DeviceMatch:
    cache = (row.l2_mb + row.far_cache_mb) * memory * 1e6
    resident = (row.l2_mb / 2 if row.split_l2 else row.l2_mb + row.far_cache_mb) * memory * 1e6
    figures = ("bandwidth", *row.rates)
    return DeviceMatch(
        model=row.name,
        note=note,
        vendor=row.vendor,
        bandwidth_gbps=row.bandwidth * memory,
        tflops=MappingProxyType({key: rate * compute for key, rate in row.rates.items()}),
        eff=ASSUMED_EFF if row.eff is None else row.eff,
        eff_assumed=row.eff is None,
        cache_bytes=round(cache),
        resident_bytes=round(resident),
        unconfirmed=frozenset(figure for figure in figures if not row.confirmed(figure)),
        consumer=row.consumer,
    )


def _doubtful(found: DeviceMatch, note: str) -> DeviceMatch:
    return replace(found, note=note, unconfirmed=frozenset(("bandwidth", *found.tflops)))


def _unlisted(
    name: str,
    entry: Mapping[str, Any],
    vendor: str,
    units: float | None,
    problem: str = "is not in the device table",
) -> DeviceMatch:
    """What the card's own entry says: clocks and bus where recorded, else units alone."""
    shown = name or "the device"
    clock = _number(entry, "clockRate")  # kHz
    ghz = clock / 1e6 if clock else _ASSUMED_GHZ
    half = _HALF_FMA.get(_capability(entry) or (0, 0)) if vendor == "nvidia" else None
    rates: dict[str, float] = {}
    if half and units:
        # 2 flops an FMA; TF32 is half of BF16 on every tensor-core part.
        rates = {"fp16": units * half * 2 * ghz / 1e3}
        if (_capability(entry) or (0, 0)) >= (8, 0):
            rates |= {"bf16": rates["fp16"], "tf32": rates["fp16"] / 2}
    bandwidth = _recorded_bandwidth(entry)
    cache = _number(entry, "l2CacheSize")
    note = f"{shown!r:.60} {problem}"
    if rates:
        how = "its clock" if clock else f"{_ASSUMED_GHZ} GHz assumed"
        note += f"; about {rates['fp16']:.0f} TFLOP/s by its units and {how}"
    if bandwidth:
        note += f"; {bandwidth:.0f} GB/s as recorded"
    note += "; name it with --device-model"
    return DeviceMatch(
        None, note, vendor, bandwidth, MappingProxyType(rates),
        cache_bytes=int(cache) if cache else None,
        resident_bytes=int(cache / 2) if cache else None,
        unconfirmed=frozenset(rates),
    )  # fmt: skip


def _recorded_bandwidth(entry: Mapping[str, Any]) -> float | None:
    """GB/s by the memory's clock and bus, else as Nsight Systems exports it (bytes/s)."""
    clock, bus = _number(entry, "memoryClockRate"), _number(entry, "memoryBusWidth")
    if clock and bus:
        return 2 * clock * 1e3 * bus / 8 / 1e9
    exported = (_number(entry, "memoryBandwidth") or 0.0) / 1e9
    low, high = _BANDWIDTH_GBPS
    return exported if low <= exported <= high else None


def user_peaks(name: str, options: Options) -> tuple[Peaks, str]:
    """What the user says of a device of this very name, and where it is said."""
    for known, peaks in options.peaks.items():
        if known.casefold() == name.casefold():
            figures = (*(["bandwidth"] if peaks.bandwidth_gbps else []), *peaks.tflops)
            places = [options.origins.get(f'peaks."{known}".{figure}') for figure in figures]
            told = ", ".join(dict.fromkeys(place for place in places if place))
            return peaks, f"as set ({told})" if told else "as set"
    return Peaks(), ""


def user_row(row: DeviceRow, options: Options) -> tuple[DeviceRow, str]:
    """A row with what the user says of that product, and a note of that.

    A part of such a card is still scaled by its units, and another variant still doubted.

    Raises:
        ValueError: a peak is not a positive number.
    """
    peaks, place = user_peaks(row.name, options)
    if peaks.bandwidth_gbps is None and not peaks.tflops:
        return row, ""
    changed = with_peaks(_from_row(row, ""), peaks, place)
    figures = dict.fromkeys(changed.tflops, "u") | {"bandwidth": "u"}
    kept = {figure: row.source(figure) for figure in _kept(row, peaks)}
    row = replace(
        row,
        bandwidth=changed.bandwidth_gbps or row.bandwidth,
        rates=changed.tflops,
        sources={**figures, **kept},
    )
    return row, changed.note


def _kept(row: DeviceRow, peaks: Peaks) -> list[str]:
    """The figures of a row of which a user says nothing."""
    said = {*peaks.tflops, *(f"{key}-matrix" for key in peaks.tflops)}
    if peaks.bandwidth_gbps is not None:
        said.add("bandwidth")
    return [figure for figure in ("bandwidth", *row.rates) if figure not in said]


def with_peaks(found: DeviceMatch, peaks: Peaks, place: str) -> DeviceMatch:
    """A match in which a user's figures replace others; they may carry a verdict.

    Raises:
        ValueError: a peak is not a positive number.
    """
    given = dict(peaks.tflops)
    bandwidth = peaks.bandwidth_gbps
    values = [*given.values(), *([] if bandwidth is None else [bandwidth])]
    for value in values:
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"a peak must be a positive number, not {value!r}")
    if not values:
        return found
    changed = {*given, *(() if bandwidth is None else ("bandwidth",))}
    return replace(
        found,
        note=f"{found.note}; {', '.join(sorted(changed))} {place}",
        bandwidth_gbps=found.bandwidth_gbps if bandwidth is None else float(bandwidth),
        tflops=MappingProxyType({**found.tflops, **_with_matrix(found, given)}),
        unconfirmed=found.unconfirmed - changed,
    )


def _with_matrix(found: DeviceMatch, given: Mapping[str, float]) -> dict[str, float]:
    # "fp32" typed by a user is the rate that their FP32 products are held to.
    result = dict(given)
    for key, value in given.items():
        if f"{key}-matrix" in found.tflops:
            result[f"{key}-matrix"] = value
    return result


def _capability(entry: Mapping[str, Any]) -> tuple[int, int] | None:
    major = _number(entry, "computeMajor") or _number(entry, "major")
    minor = _number(entry, "computeMinor") or _number(entry, "minor") or 0.0
    return None if major is None else (int(major), int(minor))


def _number(entry: Mapping[str, Any], key: str) -> float | None:
    value = entry.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    number = float(value) if abs(value) < 1e300 else math.inf
    return number if math.isfinite(number) and number > 0 else None

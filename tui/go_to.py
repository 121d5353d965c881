"""What is typed to go somewhere, and where that is."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Final

from whichlayer.analysis.trace.columns import Step, Trace

_UNIT_NS: Final = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9}
_NUMBER = r"(?P<number>[0-9]{1,20}(?:\.[0-9]{0,20})?|\.[0-9]{1,20})"
_UNITS = "ns|us|µs|μs|ms|s"
_TIME: Final = re.compile(rf"(?P<sign>[+-]?)\s*{_NUMBER}\s*(?P<unit>{_UNITS}|)")
#: Further parts of a time in several units.
_PARTS: Final = re.compile(rf"{_NUMBER}\s*(?P<unit>{_UNITS})\s*")
_STEP: Final = re.compile(
    r"(?:(?:profilerstep|step|s)\s*#?|#)\s*(?P<number>[0-9]{1,18})", re.IGNORECASE
)
#: What parts the digits of long numbers, as the ruler and people write them.
_GROUPS: Final = re.compile("(?<=[0-9])[ _\u00a0\u2009\u202f](?=[0-9]{3}(?![0-9]))")
#: A span as the region pane writes it: the unit, if any, stands behind its end only.
_DASHED: Final = re.compile(rf"(?P<low>.+?)\s*–\s*(?P<high>.+?(?P<unit>{_UNITS}|))")
_SPAN: Final = re.compile(r"(?P<low>.+?)\s*(?::|\.\.)\s*(?P<high>.+)")
_SHARE: Final = re.compile(rf"{_NUMBER}\s*%")
_CLOCK: Final = re.compile(
    r"(?:(?P<date>\d{4}-\d\d-\d\d)[T ])?(?P<h>\d{1,2}):(?P<m>\d\d)(?::(?P<s>\d\d)(?:\.(?P<f>\d{1,9}))?)?Z?"
)
_WORDS: Final = {"start": 0, "end": 1, "begin": 0}

Span = tuple[int, int]


class WrongPlace(Exception):
    """What was typed is no place here; the message is one line."""


def place_of(
    text: str,
    trace: Trace,
    steps: tuple[Step, ...],
    cursor_ns: int,
    limits: Span,
    plain_ns: int = 1000,
) -> int | Span:
    """The instant that was asked for, or the span of a step or between two instants.

    Args:
        text: such as ``12.5ms``, ``1s 20ms``, ``+100us``, ``step 3``, ``50%``, ``14:03:22.5``,
            ``10ms:25ms``.
        trace: what knows the wall clock, if it was recorded.
        steps: those that can be asked for.
        cursor_ns: what ``+`` and ``-`` count from.
        limits: first and last + 1 instant that can be gone to.
        plain_ns: the unit of a number without one.

    Raises:
        WrongPlace: it is no place, or outside the recording.
    """
    text = _GROUPS.sub("", text.strip())
    if (step := _STEP.fullmatch(text)) is not None:
        return _step(int(step["number"]), steps)
    if text.lower() in _WORDS:
        return limits[1] - 1 if _WORDS[text.lower()] else limits[0]
    if (share := _SHARE.fullmatch(text)) is not None:
        at = limits[0] + int((limits[1] - limits[0]) * Decimal(share["number"]) / 100)
        at -= at == limits[1]  # all of it: the last instant, as ``end`` is
    elif (clock := _CLOCK.fullmatch(text)) is not None:
        at = _wall_clock(clock, trace)
    elif (time := _time(text, plain_ns)) is not None:
        sign, ns = time
        at = cursor_ns + ns if sign == "+" else cursor_ns - ns if sign else ns
    elif (span := _DASHED.fullmatch(text)) is not None:
        plain = _UNIT_NS.get(span["unit"], plain_ns)
        return _span_of(span, trace, steps, cursor_ns, limits, plain)
    elif (span := _SPAN.fullmatch(text)) is not None:
        return _span_of(span, trace, steps, cursor_ns, limits, plain_ns)
    else:
        raise WrongPlace(f"{text!r} is no place: write 12.5ms, +100us, step 3, 50% or 14:03:22.5")
    if not limits[0] <= at < limits[1]:
        low, high = exact_text(limits[0]), exact_text(limits[1] - 1)
        raise WrongPlace(f"{text} is outside the recording: {low} to {high}")
    return at


def _time(text: str, plain_ns: int) -> tuple[str, int] | None:
    """(sign, nanoseconds) of ``12.5``, ``+100us``, ``1s 20ms``."""
    one = _TIME.fullmatch(text)
    if one is not None:
        unit_ns = _UNIT_NS[one["unit"]] if one["unit"] else plain_ns
        return one["sign"], int(Decimal(one["number"]) * unit_ns)
    sign, rest = (text[0], text[1:].lstrip()) if text[:1] in ("+", "-") else ("", text)
    found, end = Decimal(0), 0
    for part in _PARTS.finditer(rest):
        if part.start() != end:
            return None
        found, end = found + Decimal(part["number"]) * _UNIT_NS[part["unit"]], part.end()
    return (sign, int(found)) if 0 < end == len(rest) else None


def _span_of(
    span: re.Match[str],
    trace: Trace,
    steps: tuple[Step, ...],
    cursor_ns: int,
    limits: Span,
    plain_ns: int,
) -> Span:
    """The span between two places: from the begin of a first step, to the end of a last."""
    low, high = (
        place_of(span[side], trace, steps, cursor_ns, limits, plain_ns) for side in ("low", "high")
    )
    first = low if isinstance(low, int) else low[0]
    last = high if isinstance(high, int) else high[1]
    if first >= last:
        raise WrongPlace(f"{span[0]!r} is no span: write its begin and its end, such as 10ms:25ms")
    return first, last


def wall_clock_ns(trace: Trace) -> int | None:
    """Nanoseconds since 1970 (UTC) of the trace's time 0, None where it was not recorded."""
    if trace.base_ns is None:
        return None
    zero = trace.base_ns + trace.origin_ns
    return zero if 0 < zero < 2**63 - 1 else None


def wall_clock_text(trace: Trace, time_ns: int) -> str:
    """An instant on the wall clock, to the microsecond, or nothing where it is not known."""
    zero = wall_clock_ns(trace)
    if zero is None:
        return ""
    try:
        at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=(zero + time_ns) // 1000)
    except OverflowError:
        return ""
    return at.strftime("%Y-%m-%d %H:%M:%S.%f") + " UTC"


def exact_text(time_ns: int) -> str:
    """An instant in milliseconds, exact to the nanosecond.

    >>> exact_text(12_345_678_901), exact_text(-1500), exact_text(0)
    ('12 345.678901 ms', '-0.0015 ms', '0 ms')
    """
    whole, part = divmod(abs(time_ns), 10**6)
    text = f"{whole:,}".replace(",", " ") + (f".{part:06d}".rstrip("0") if part else "")
    return f"{'-' if time_ns < 0 else ''}{text} ms"


def _step(number: int, steps: tuple[Step, ...]) -> Span:
    for step in steps:
        if step.number == number:
            return step.start_ns, step.end_ns
    if not steps:
        raise WrongPlace("this recording has no steps")
    raise WrongPlace(f"no step {number} here: {steps[0].number} to {steps[-1].number}")


def _wall_clock(match: re.Match[str], trace: Trace) -> int:
    zero = wall_clock_ns(trace)
    if zero is None:
        raise WrongPlace("the recording does not tell its wall clock (baseTimeNanoseconds)")
    day = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=zero // 10**9)
    try:
        if match["date"]:
            day = datetime.fromisoformat(match["date"]).replace(tzinfo=UTC)
        midnight = int(day.replace(hour=0, minute=0, second=0, microsecond=0).timestamp())
        hour, minute, second = int(match["h"]), int(match["m"]), int(match["s"] or 0)
    except (ValueError, OverflowError) as error:
        raise WrongPlace(f"{match[0]!r} is no time of a day") from error
    if hour > 23 or minute > 59 or second > 59:
        raise WrongPlace(f"{match[0]!r} is no time of a day")
    part = int((match["f"] or "0").ljust(9, "0"))
    at = (midnight + hour * 3600 + minute * 60 + second) * 10**9 + part - zero
    # Without a date a recording over midnight is meant where only the next day holds the time.
    return at + 86_400 * 10**9 if at < 0 and not match["date"] else at

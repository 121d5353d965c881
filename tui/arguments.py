"""What may be typed after ``whichlayer``, and how it becomes typed values.

Nothing here imports the analysis: the help has to answer at once.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal
from typing import Any, NoReturn

_TIME = re.compile(r"([0-9]{1,20}(?:\.[0-9]{0,20})?|\.[0-9]{1,20})\s*(ns|us|µs|μs|ms|s)?")
_UNIT_NS = {"ns": 1, "us": 1_000, "µs": 1_000, "μs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_SIZE = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)\s*([kKmMgGtTpP]?)(?:i?[bB])?")
_INT64_MAX = 2**63 - 1

PRECISIONS = ("fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "int8", "fp4")


class UsageError(Exception):
    """The command line or a file of settings is wrong; the message is one line.

    Attributes:
        lines: everything that is wrong, in such lines; the message is the first of them.
    """

    def __init__(self, *lines: str) -> None:
        """Take what is wrong, one line at least."""
        super().__init__(lines[0])
        self.lines = lines


class Described(Exception):
    """What a command parses, in place of running it."""

    def __init__(self, parser: Parser) -> None:
        """Take the parser, complete."""
        super().__init__(parser.prog)
        self.parser = parser


_describing: ContextVar[bool] = ContextVar("describing", default=False)


@contextmanager
def describing() -> Iterator[None]:
    """Let parsers raise :class:`Described` where they would parse."""
    token = _describing.set(True)
    try:
        yield
    finally:
        _describing.reset(token)


class Parser(argparse.ArgumentParser):
    """An argument parser that says what is wrong in one line and leaves exiting to others."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, **settings)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, unless only the parser is asked for."""
        if _describing.get():
            raise Described(self)
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage and exiting.

        Raises:
            UsageError: always.
        """
        raise UsageError(f"{message} (see {self.prog} --help)")


class PrintVersion(argparse.Action):
    """Print the installed version and exit; looked up only when it is asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str, **settings: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, **settings)

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        """Print and exit."""
        from importlib.metadata import version

        print(f"whichlayer {version('whichlayer')}")
        parser.exit()


def parse_time(text: str) -> int:
    """A time in nanoseconds from ``12.5ms``; a plain number is microseconds, as in reports.

    >>> parse_time("12.5ms"), parse_time("3"), parse_time("7ns")
    (12500000, 3000, 7)

    Raises:
        ArgumentTypeError: the text is no time.
    """
    match = _TIME.fullmatch(text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a time; write microseconds, or a number with ns, us, ms or s"
        )
    ns = int((Decimal(match[1]) * _UNIT_NS[match[2] or "us"]).to_integral_value())
    if ns > _INT64_MAX:
        raise argparse.ArgumentTypeError(f"{text!r} is longer than any recording")
    return ns


def parse_span(text: str) -> tuple[int, int]:
    """``A:B`` as nanoseconds since the trace start.

    Raises:
        ArgumentTypeError: it is no span, or it holds no time.
    """
    start, colon, end = text.partition(":")
    if not colon:
        raise argparse.ArgumentTypeError(f"{text!r} is not a span; write A:B, such as 10ms:25ms")
    span = (parse_time(start), parse_time(end))
    if span[0] >= span[1]:
        wrong = "holds no time" if span[0] == span[1] else "ends before it begins"
        raise argparse.ArgumentTypeError(f"{text!r} {wrong}")
    return span


def parse_steps(text: str) -> tuple[int, int]:
    """``3:5`` (both ends in) or ``3`` as step numbers.

    Raises:
        ArgumentTypeError: it is no range of steps.
    """
    match = re.fullmatch(r"([0-9]{1,18})(?::([0-9]{1,18}))?", text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a range of steps; write 3:5")
    first, last = int(match[1]), int(match[2] or match[1])
    if first > last:
        raise argparse.ArgumentTypeError(f"{text!r} ends before it begins")
    return first, last


def parse_rate(text: str) -> float:
    """A rate above zero.

    Raises:
        ArgumentTypeError: it is none.
    """
    try:
        rate = float(text)
    except ValueError:
        rate = math.nan
    if not (math.isfinite(rate) and rate > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above zero")
    return rate


def parse_flops(text: str) -> tuple[str, float]:
    """``bf16=989`` as precision and TFLOP/s.

    Raises:
        ArgumentTypeError: no such precision, or no rate.
    """
    precision, _, rate = text.partition("=")
    precision = precision.strip().lower()
    if precision not in PRECISIONS:
        known = ", ".join(PRECISIONS)
        raise argparse.ArgumentTypeError(f"{text!r}: write PRECISION=TFLOP/s with one of {known}")
    return precision, parse_rate(rate)


def parse_count(text: str) -> int:
    """A whole number from zero.

    Raises:
        ArgumentTypeError: it is none.
    """
    if re.fullmatch(r"[0-9]{1,18}", text.strip()) is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def parse_size(text: str) -> int:
    """A number of bytes from ``8G``, ``512M`` or ``0``; units are powers of 1024.

    >>> parse_size("8G"), parse_size("1.5k")
    (8589934592, 1536)

    Raises:
        ArgumentTypeError: it is none.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a size; write 8G or 512M, 0 for no limit"
        )
    power = " kmgtp".index(match[2].lower() or " ")
    return int(Decimal(match[1]) * (1 << 10 * power))


def add_analysis_options(parser: Parser) -> None:
    """The options that choose what is analysed and against which peaks."""
    group = parser.add_argument_group("what is analysed")
    group.add_argument(
        "--span",
        type=parse_span,
        metavar="A:B",
        help="only this stretch, such as 10ms:25ms; plain numbers are microseconds",
    )
    group.add_argument(
        "--steps",
        type=parse_steps,
        metavar="A:B",
        help="only these ProfilerStep numbers, both ends in",
    )
    group.add_argument(
        "--device", type=parse_count, metavar="N", help="only this GPU, by its number in the trace"
    )
    group.add_argument(
        "--rank", type=parse_count, metavar="N", help="refuse a trace of another rank"
    )
    group.add_argument(
        "--max-size",
        type=parse_size,
        metavar="SIZE",
        help="read at most so much decompressed text, such as 8G; 0 reads even what looks "
        "like a decompression bomb",
    )
    group = parser.add_argument_group("what it is measured against")
    group.add_argument("--device-model", metavar="NAME", help="the GPU, such as 'H100 SXM5'")
    group.add_argument(
        "--peak-bandwidth", type=parse_rate, metavar="GB/s", help="memory bandwidth of the GPU"
    )
    group.add_argument(
        "--peak-flops",
        type=parse_flops,
        metavar="PRECISION=TFLOP/s",
        action="append",
        default=[],
        help="dense matrix rate of the GPU, such as bf16=989; may be repeated",
    )
    group.add_argument(
        "--link-bandwidth",
        type=parse_rate,
        metavar="GB/s",
        help="what one GPU can send to the others at a time, such as 450 on an H100 SXM; for "
        "folders of several ranks",
    )
    add_config_options(parser)
    parser.add_argument(
        "--no-cache",
        action="store_true",
        help="read the whole file, and keep nothing of it (see whichlayer cache)",
    )


def add_config_options(parser: argparse.ArgumentParser) -> None:
    """The options that say which files of settings apply."""
    parser.add_argument(
        "--config",
        metavar="FILE",
        help="settings to use in place of those in .whichlayer.toml up the tree "
        "(see whichlayer config)",
    )
    parser.add_argument(
        "--no-config",
        action="store_true",
        help="use no settings from files, but for those that --config names",
    )

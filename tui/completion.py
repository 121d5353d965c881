"""What can be typed, read from the parsers of the commands themselves.

Scripts for shells are made of this (``completion_scripts.py``): a command or an option that is
added completes without a line here, and whatever it names is baked in, so that completing
starts no Python.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from whichlayer.tui.arguments import PRECISIONS, Described, Parser, describing

Command = Callable[[Sequence[str]], int]


@dataclass(frozen=True, slots=True)
class Argument:
    """One option, or one place for words without a dash.

    Attributes:
        options: as typed, such as ``-o`` and ``--output``; empty for a place.
        takes: it is followed by a value.
        words: what the value may be, as far as that is known; those that end with ``=`` go on.
        files: the value is a file.
        does: what it is for, in one line.
        name: what the value is called.
    """

    options: tuple[str, ...]
    takes: bool
    words: tuple[str, ...]
    files: bool
    does: str
    name: str


@dataclass(frozen=True, slots=True)
class CommandShape:
    """A command: its word (empty for none) and what may follow it."""

    word: str
    does: str
    arguments: tuple[Argument, ...]

    @property
    def options(self) -> tuple[Argument, ...]:
        """What begins with a dash."""
        return tuple(one for one in self.arguments if one.options)

    @property
    def places(self) -> tuple[Argument, ...]:
        """What does not."""
        return tuple(one for one in self.arguments if not one.options)


def describe(commands: Mapping[str, Command]) -> tuple[CommandShape, ...]:
    """Every command, by its own parser; the one without a word under the empty name."""
    values = _values()
    return tuple(_described(word, command, values) for word, command in commands.items())


def _described(
    word: str, command: Command, values: Mapping[tuple[str, str], tuple[str, ...]]
) -> CommandShape:
    parser = _parser_of(command)
    arguments = tuple(
        _argument(word, action, values)
        for action in parser._actions
        if action.help != argparse.SUPPRESS
    )
    return CommandShape(word, _sentence(parser.description or ""), arguments)


def _parser_of(command: Command) -> Parser:
    with describing():
        try:
            command([])
        except Described as found:
            return found.parser
    raise AssertionError("a command that parses nothing")


def _argument(
    word: str, action: argparse.Action, values: Mapping[tuple[str, str], tuple[str, ...]]
) -> Argument:
    name = str(action.metavar or action.dest)
    words = tuple(str(one) for one in action.choices or ())
    words = words or values.get((word, name), ()) or values.get(("", name), ())
    if action.option_strings:
        words = values.get((word, action.option_strings[-1]), words)
        words = values.get(("", action.option_strings[-1]), words)
    return Argument(
        options=tuple(action.option_strings),
        takes=action.nargs != 0,
        words=words,
        files=name == "FILE",
        does=_sentence(action.help or ""),
        name=name,
    )


def _sentence(text: str) -> str:
    """The first part of a help text, on one line."""
    return " ".join(text.replace("%%", "%").split()).split("; ")[0]


def _values() -> dict[tuple[str, str], tuple[str, ...]]:
    """What values may be: by command and name of the value, or option."""
    from whichlayer.analysis.config.schema import ANY, LAYERS
    from whichlayer.analysis.kernels.device_table import DEVICE_ROWS
    from whichlayer.analysis.report import format_names, job_csv
    from whichlayer.analysis.report.csv_tables import TABLES
    from whichlayer.analysis.report.explanations import words
    from whichlayer.analysis.report.rule_list import every_rule, known_ids
    from whichlayer.tui.samples import sample_names

    devices = tuple(row.name for row in DEVICE_ROWS)
    return {
        ("demo", "NAME"): tuple(sample_names()),
        ("rules", "ID"): tuple(known_ids()),
        ("explain", "WORD"): tuple(words()),
        ("devices", "NAME"): devices,
        ("", "--device-model"): devices,
        ("", "--format"): tuple(format_names()),
        ("", "--table"): tuple(dict.fromkeys((*TABLES, *job_csv.TABLES))),
        ("", "--no-finding"): (*every_rule(), ANY),
        ("", "--max-layer"): tuple(f"{layer}=" for layer in LAYERS),
        ("", "--peak-flops"): tuple(f"{precision}=" for precision in PRECISIONS),
    }

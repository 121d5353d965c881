"""The ``whichlayer`` command: what was typed becomes a screen, a report or one line of error.

Exit status: 0 fine; 1 a limit given to ``check`` is broken; 2 the input or the command line is wrong, with one line on standard
error; 70 a defect of whichlayer itself, also in one line; 130 interrupted.

Everything but the command line itself is imported by the command that needs it: the help
answers at once, and a report loads neither Textual nor Rich.
"""

from __future__ import annotations

import atexit
import os
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from whichlayer.tui.arguments import (
    Parser,
    PrintVersion,
    UsageError,
    add_analysis_options,
)
from whichlayer.tui.open_command import imports_alone, need_terminal, show
from whichlayer.tui.typed_trace import analyse_typed, keep_typed, load_typed, options_of
from whichlayer.tui.view_options import add_view_options
from whichlayer.tui.written import refuse_overwriting, silence_output, write_report

if TYPE_CHECKING:
    from argparse import Namespace


FINE, BROKEN_LIMIT, WRONG_INPUT, DEFECT, INTERRUPTED = 0, 1, 2, 70, 130

_WORD = re.compile(r"[A-Za-z][\w-]*")
"""What could be a command: no option, no path, no name with a suffix."""

_FIRST_SAMPLE = "dataloader-bound"
_REPORT_HELP = "; a folder of several is a job: one recording of each rank"
_FILE_HELP = (
    "a PyTorch profiler or other Chrome trace (.json, also in .gz, .zst or .zip), an Nsight "
    "Systems .sqlite export, a folder of these, or - for standard input"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: what was typed after the command; that of this process if None.

    Returns:
        The exit status.
    """
    status = _run(sys.argv[1:] if arguments is None else list(arguments))
    if arguments is None and "whichlayer.tui.app" in sys.modules:
        _leave(status)
    return status


def _leave(status: int) -> NoReturn:
    """End the program now that the terminal is given back.

    Python would take a third of a second to clear away what the screen showed, object by object.
    """
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError, ValueError):
                stream.flush()
    atexit._run_exitfuncs()
    os._exit(status)


def _run(typed: list[str]) -> int:
    command = _COMMANDS.get(typed[0]) if typed else None
    try:
        status = _open(typed) if command is None else command(typed[1:])
        if sys.stdout is not None:
            sys.stdout.flush()
    except SystemExit as done:  # argparse has printed the help
        return int(done.code or 0)
    except BrokenPipeError:
        silence_output()
        return FINE
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001  the last resort: one line, never a traceback
        return _fail(error)
    return status


def _open(arguments: Sequence[str]) -> int:
    parser = Parser(
        prog="whichlayer",
        usage="whichlayer FILE [options]\n"
        "       whichlayer FOLDER [--rank N] [options]\n"
        "       whichlayer report FILE [--format NAME] [-o FILE] [options]\n"
        "       whichlayer check FILE ... [limits] [options]\n"
        "       whichlayer demo [NAME | --live] [options]\n"
        "       whichlayer run [options] -- COMMAND ...\n"
        "       whichlayer attach [PID] [options]\n"
        "       whichlayer rules [ID ...]\n"
        "       whichlayer explain [WORD ...]\n"
        "       whichlayer devices [NAME]\n"
        "       whichlayer cache [clear]\n"
        "       whichlayer config [--path | --init]\n"
        "       whichlayer completion bash|zsh|fish",
        description="Which layer keeps the GPU waiting, and where to fix it: "
        "opens a recorded trace on a screen.",
        epilog="Each command has its own --help.",
    )
    parser.add_argument("file", metavar="FILE", help=_FILE_HELP)
    parser.add_argument("--version", action=PrintVersion, help="print the version and exit")
    parser.add_argument(
        "--follow", action="store_true", help="read the file again as it grows; folders always are"
    )
    add_view_options(parser)
    add_analysis_options(parser)
    _refuse_mistyped_command(arguments)
    typed = parser.parse_args(arguments)
    return show(typed.file, typed)


def _refuse_mistyped_command(arguments: Sequence[str]) -> None:
    """A first word that is no path and no file is taken for a command, and named as such."""
    word = arguments[0] if arguments else ""
    if not _WORD.fullmatch(word) or os.path.exists(word):
        return
    from difflib import get_close_matches

    near = get_close_matches(word.lower(), _COMMANDS, n=1)
    hint = f"did you mean {near[0]}?" if near else f"commands are {', '.join(_COMMANDS)}"
    raise UsageError(f"no such file or command: {word}; {hint}")


def _demo(arguments: Sequence[str]) -> int:
    from whichlayer.tui.samples import sample_names, sample_path

    parser = Parser(prog="whichlayer demo", description="Open a trace that comes with whichlayer.")
    parser.add_argument("name", metavar="NAME", nargs="?", help=", ".join(sample_names()))
    parser.add_argument(
        "--live", action="store_true", help="watch a simulated training whose problem changes"
    )
    add_view_options(parser)
    add_analysis_options(parser)
    typed = parser.parse_args(arguments)
    if typed.live:
        return _demo_live(typed)
    name = _FIRST_SAMPLE if typed.name is None else typed.name
    try:
        path = sample_path(name)
    except KeyError:
        known = ", ".join(sample_names()) or "none"
        raise UsageError(f"there is no sample {name!r}; there are: {known}") from None
    return show(str(path), typed)


def _demo_live(typed: Namespace) -> int:
    if typed.name is not None:
        raise UsageError("demo --live has a program of its own: name no sample")
    need_terminal("record a program without a screen: whichlayer run --headless -o DIR -- …")
    from whichlayer.tui.configured import set_up_screen

    set_up_screen(typed)
    with imports_alone():
        from whichlayer.tui.live.demo_command import run_demo

    return run_demo(options_of(typed))


def _report(arguments: Sequence[str]) -> int:
    from whichlayer.analysis.report import format_names, render

    parser = Parser(
        prog="whichlayer report", description="Write down what a trace says, without a screen."
    )
    parser.add_argument("file", metavar="FILE", help=_FILE_HELP + _REPORT_HELP)
    parser.add_argument(
        "--format", default="text", metavar="NAME", help=f"{', '.join(format_names())} (text)"
    )
    parser.add_argument(
        "--table",
        metavar="NAME",
        help="with --format csv: kernels (default), gaps, findings or steps; of a folder of ranks: "
        "ranks (default), findings or collectives",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write there, as UTF-8")
    parser.add_argument(
        "--covered",
        action="store_true",
        help="tell what cost nothing too, because the GPU worked meanwhile",
    )
    parser.add_argument(
        "--near-misses", action="store_true", help="tell which rules almost fired, and why not"
    )
    add_analysis_options(parser)
    typed = parser.parse_args(arguments)
    if typed.format not in format_names():
        known = " or ".join(format_names())
        raise UsageError(f"there is no format {typed.format!r}; choose {known}")
    if typed.table is not None and typed.format != "csv":
        raise UsageError(f"--table {typed.table} is of --format csv, not of {typed.format}")
    refuse_overwriting(typed.file, typed.output)
    if os.path.isdir(typed.file):
        from whichlayer.tui.job_command import report_job

        if report_job(typed, load_typed, keep_typed, options_of, write_report):
            return FINE
    trace = load_typed(typed.file, typed)
    analysis = analyse_typed(typed.file, trace, typed)
    if typed.table is None:
        report = render(analysis, typed.format)
    else:
        from whichlayer.tui.job_command import render_table

        report = render_table(analysis, typed.table)
    write_report(report, typed.output)
    keep_typed(trace, typed)
    return FINE


def _check(arguments: Sequence[str]) -> int:
    from whichlayer.tui.check_command import add_limit_options, check, limits_of
    from whichlayer.tui.configured import limits_set

    parser = Parser(
        prog="whichlayer check",
        description="Hold recordings to limits: exit status 1 and one line for each that is broken.",
    )
    parser.add_argument("files", metavar="FILE", nargs="+", help=_FILE_HELP)
    add_limit_options(parser)
    add_analysis_options(parser)
    typed = parser.parse_args(arguments)
    limits = limits_of(typed, limits_set(typed))
    status = FINE
    for line, broken in check(typed, limits, load_typed, analyse_typed, keep_typed, options_of):
        write_report(f"{line}\n".encode(), None)
        status = BROKEN_LIMIT if broken else status
    return status


def _rules(arguments: Sequence[str]) -> int:
    parser = Parser(prog="whichlayer rules", description="What whichlayer can diagnose.")
    parser.add_argument("ids", metavar="ID", nargs="*", help="explain these rules or gates in full")
    typed = parser.parse_args(arguments)
    from whichlayer.analysis.report.rule_list import explain_rules, known_ids, list_rules

    unknown = [rule_id for rule_id in typed.ids if rule_id not in known_ids()]
    if unknown:
        raise UsageError(f"there is no rule {unknown[0]!r}; 'whichlayer rules' lists them")
    write_report((explain_rules(typed.ids) if typed.ids else list_rules()).encode(), None)
    return FINE


def _explain(arguments: Sequence[str]) -> int:
    from whichlayer.tui.explain_command import explain_text

    write_report(explain_text(arguments).encode(), None)
    return FINE


def _devices(arguments: Sequence[str]) -> int:
    from whichlayer.tui.explain_command import devices_text

    write_report(devices_text(arguments).encode(), None)
    return FINE


def _cache(arguments: Sequence[str]) -> int:
    parser = Parser(
        prog="whichlayer cache",
        description="What is kept of large traces, so that they open at once.",
    )
    parser.add_argument("action", metavar="clear", nargs="?", choices=["clear"], help="empty it")
    parser.add_argument("--clear", action="store_true", help="the same")
    typed = parser.parse_args(arguments)
    from whichlayer.tui.cache_command import cache_text, clear_cache

    write_report((clear_cache() if typed.action or typed.clear else cache_text()).encode(), None)
    return FINE


def _config(arguments: Sequence[str]) -> int:
    parser = Parser(
        prog="whichlayer config",
        description="What is set, and where: as a file that can be saved and loaded again.",
    )
    parser.add_argument("--path", action="store_true", help="which files are read, and from where")
    parser.add_argument(
        "--init",
        action="store_true",
        help="write .whichlayer.toml here with every default as a comment; never over another",
    )
    add_analysis_options(parser)
    typed = parser.parse_args(arguments)
    from whichlayer.tui.config_command import begin_config, config_paths, shown_config

    text = begin_config() if typed.init else config_paths(typed) if typed.path else ""
    write_report((text or shown_config(typed)).encode(), None)
    return FINE


def _completion(arguments: Sequence[str]) -> int:
    parser = Parser(
        prog="whichlayer completion",
        description="A script that completes commands, options and their values in a shell.",
    )
    shells = ("bash", "zsh", "fish")
    parser.add_argument("shell", metavar="SHELL", choices=shells, help=", ".join(shells))
    typed = parser.parse_args(arguments)
    from whichlayer.tui.completion import describe
    from whichlayer.tui.completion_scripts import script

    write_report(script(typed.shell, describe({**_COMMANDS, "": _open})).encode(), None)
    return FINE


def _run_program(arguments: Sequence[str]) -> int:
    from whichlayer.tui.run_command import run_program

    return run_program(arguments)


def _attach(arguments: Sequence[str]) -> int:
    from whichlayer.tui.attach_command import attach

    return attach(arguments)


_COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    "demo": _demo,
    "run": _run_program,
    "attach": _attach,
    "report": _report,
    "check": _check,
    "rules": _rules,
    "explain": _explain,
    "devices": _devices,
    "cache": _cache,
    "config": _config,
    "completion": _completion,
}


def _fail(error: Exception) -> int:
    """Say in one line what went wrong, and choose the exit status."""
    if isinstance(error, OSError):
        name = f"{error.filename}: " if error.filename is not None else ""
        _say(f"{name}{error.strerror or error}")
        return WRONG_INPUT
    from whichlayer.analysis.errors import TraceError

    if isinstance(error, (UsageError, TraceError)):
        for line in error.lines if isinstance(error, UsageError) else (str(error),):
            _say(line)
        return WRONG_INPUT
    from whichlayer.tui.defect import tell_defect

    tell_defect(error)
    return DEFECT


def _say(message: str) -> None:
    from whichlayer.analysis.text import clean

    if sys.stderr is not None:
        print(f"whichlayer: {clean(message)}", file=sys.stderr)

"""Scripts that complete ``whichlayer`` in a shell, made of the shapes of its commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence

from whichlayer.tui.completion import Argument, CommandShape

_NAME = "whichlayer"
_SPECIAL = re.compile(r"[^\w=.+-]", re.ASCII)


def script(shell: str, shapes: Sequence[CommandShape]) -> str:
    """The script for a shell.

    Args:
        shell: one of :data:`SHELLS`.
        shapes: of every command; that of the empty word is what follows a file.
    """
    return SHELLS[shell](shapes)


def _bash(shapes: Sequence[CommandShape]) -> str:
    cases = "\n".join(_bash_case(shape) for shape in shapes)
    words = _lines(shape.word for shape in shapes if shape.word)
    return f"""\
# Completion of whichlayer for bash; made by 'whichlayer completion bash'.
_{_NAME}_words() {{
    local IFS=$'\\n' word
    for word in $(compgen -W "$1" -- "$cur"); do
        case $word in
            *=) compopt -o nospace; COMPREPLY+=("$word") ;;
            *) COMPREPLY+=("$(printf %q "$word")") ;;
        esac
    done
}}
_{_NAME}_files() {{
    local IFS=$'\\n'
    compopt -o filenames
    COMPREPLY+=($(compgen -f -- "$cur"))
}}
_{_NAME}() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} command=
    COMPREPLY=()
    if [[ $cur == = ]]; then cur=
    elif [[ $prev == = && COMP_CWORD -gt 2 ]]; then prev=${{COMP_WORDS[COMP_CWORD-2]}}
    fi
    [[ $cur == [\\"\\']* ]] && cur=${{cur:1}}
    if (( COMP_CWORD > 1 )); then command=${{COMP_WORDS[1]}}
    elif [[ $cur != -* ]]; then _{_NAME}_words {words}
    fi
    case $command in
{cases}
    esac
}}
complete -F _{_NAME} {_NAME}
"""


def _bash_case(shape: CommandShape) -> str:
    pattern = shape.word or "*"
    values = [
        f"                {'|'.join(one.options)}) {_bash_value(one)}return ;;"
        for one in shape.options
        if one.takes
    ]
    options = _lines(option for one in shape.options for option in one.options)
    places = "".join(_bash_value(one) for one in shape.places[:1])
    return "\n".join(
        [
            f"        {pattern})",
            "            case $prev in",
            *values,
            "            esac",
            f"            if [[ $cur == -* ]]; then _{_NAME}_words {options}; return; fi",
            f"            {places}:",
            "            ;;",
        ]
    )


def _bash_value(argument: Argument) -> str:
    """What completes a value, ending in ``; `` where it is anything."""
    if argument.words:
        return f"_{_NAME}_words {_lines(argument.words)}; "
    return f"_{_NAME}_files; " if argument.files else ""


def _lines(words: Iterable[str]) -> str:
    """Words as one quoted text of lines; ``compgen -W`` expands it once more."""
    return shlex.quote("\n".join(shlex.quote(word) for word in words))


def _zsh(shapes: Sequence[CommandShape]) -> str:
    cases = "\n".join(
        f"        {shape.word or '*'})\n            _arguments -s -S \\\n"
        + " \\\n".join(f"                {spec}" for spec in _zsh_specs(shape))
        + "\n            ;;"
        for shape in shapes
    )
    commands = " ".join(
        shlex.quote(f"{shape.word}:{_plain(shape.does)}") for shape in shapes if shape.word
    )
    return f"""\
#compdef {_NAME}
# Completion of whichlayer for zsh; made by 'whichlayer completion zsh'.
_{_NAME}() {{
    local -a commands=({commands})
    if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
        _describe command commands
        _files
        return
    fi
    case $words[2] in
{cases}
    esac
}}
if [[ $funcstack[1] == _{_NAME} ]]; then _{_NAME} "$@"; else compdef _{_NAME} {_NAME}; fi
"""


def _zsh_specs(shape: CommandShape) -> list[str]:
    specs = ["'1:command:'"] if shape.word else []
    for one in shape.options:
        for option in one.options:
            value = f":{_plain(one.name)}:{_zsh_value(one)}" if one.takes else ""
            specs.append(shlex.quote(f"*{option}[{_plain(one.does)}]{value}"))
    specs += [shlex.quote(f"*:{_plain(one.name)}:{_zsh_value(one)}") for one in shape.places[:1]]
    return specs


def _zsh_value(argument: Argument) -> str:
    if argument.words:
        return "(" + " ".join(_escaped(word) for word in argument.words) + ")"
    return "_files" if argument.files else " "


def _fish(shapes: Sequence[CommandShape]) -> str:
    words = " ".join(shape.word for shape in shapes if shape.word)
    lines = ["# Completion of whichlayer for fish; made by 'whichlayer completion fish'."]
    for shape in shapes:
        if shape.word:
            lines.append(
                f"complete -c {_NAME} -n __fish_use_subcommand -a {shape.word} "
                f"-d {_fish_text(shape.does)}"
            )
        seen = f"__fish_seen_subcommand_from {shape.word or words}"
        when = _fish_text(seen if shape.word else f"not {seen}")
        start = f"complete -c {_NAME} -n {when}"
        lines += [f"{start} {_fish_option(one)}" for one in shape.options]
        lines += [
            f"{start} -f -a {_fish_words(one.words)}" for one in shape.places[:1] if one.words
        ]
    return "\n".join(lines) + "\n"


def _fish_option(one: Argument) -> str:
    names = " ".join(
        f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in one.options
    )
    value = ""
    if one.takes:
        value = f" -x -a {_fish_words(one.words)}" if one.words else " -r" if one.files else " -x"
    return f"{names}{value} -d {_fish_text(one.does)}"


def _fish_words(words: Sequence[str]) -> str:
    return _fish_text(" ".join(_escaped(word) for word in words))


def _escaped(word: str) -> str:
    """A word with a backslash before all that a shell could take for its own."""
    return _SPECIAL.sub(r"\\\g<0>", word)


def _fish_text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _plain(text: str) -> str:
    """Text without what zsh gives a meaning to in a specification."""
    return "".join(one if one not in "[]:`$\\" else " " for one in text)


SHELLS: Mapping[str, Callable[[Sequence[CommandShape]], str]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
}

"""The files of settings that apply here, laid over one another."""

from __future__ import annotations

from whichlayer.analysis.config.entries import Config, ConfigError, Problem
from whichlayer.analysis.config.locate import project_file, user_file
from whichlayer.analysis.config.schema import Names
from whichlayer.analysis.config.validate import read_settings


def load_config(
    file: str | None = None, *, names: Names | None = None, search: bool = True
) -> Config:
    """What is set: the project's file over the user's own.

    Args:
        file: read in place of the project's, which is else looked for up the tree.
        names: what the screen knows; without, names of themes, actions and keys are not checked.
        search: False reads no file but the one named.

    Raises:
        ConfigError: a file cannot be used.
    """
    found = read_files(file, names=names, search=search)
    if found.problems:
        raise ConfigError(*(problem.text for problem in found.problems))
    return found


def read_files(
    file: str | None = None, *, names: Names | None = None, search: bool = True
) -> Config:
    """As :func:`load_config`, but with everything that is wrong, in whichever file."""
    names = names or Names()
    found = Config()
    for one in (user_file() if search else None, file or (project_file() if search else None)):
        if one is not None:
            try:
                read = read_settings(one, names)
            except ConfigError as error:
                read = Config(problems=tuple(Problem((), line) for line in error.lines))
            found = read.over(found)
    return found

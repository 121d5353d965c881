"""The files of settings that apply here, laid over one another."""

from __future__ import annotations

from whichlayer.analysis.config.entries import Config
from whichlayer.analysis.config.locate import project_file, user_file
from whichlayer.analysis.config.schema import Names
from whichlayer.analysis.config.validate import read_config


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
    names = names or Names()
    found = Config()
    for one in (user_file() if search else None, file or (project_file() if search else None)):
        if one is not None:
            found = read_config(one, names).over(found)
    return found

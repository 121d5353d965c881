"""The sample traces that come with whichlayer, in a checkout and in an installed wheel."""

from __future__ import annotations

from pathlib import Path

_SUFFIX = ".json.gz"

#: Beside ``tui/`` in both: the wheel puts the folder's files at ``whichlayer/sample_traces``.
FOLDER = Path(__file__).resolve().parent.parent / "sample_traces"


def sample_names() -> tuple[str, ...]:
    """Names for ``whichlayer demo``, in alphabetical order; empty if the folder is missing."""
    return tuple(sorted(path.name.removesuffix(_SUFFIX) for path in FOLDER.glob(f"*{_SUFFIX}")))


def sample_path(name: str) -> Path:
    """The file of a sample; hyphens and underscores are the same.

    Raises:
        KeyError: there is no such sample.
    """
    for known in sample_names():
        if known.replace("-", "_") == name.replace("-", "_"):
            return FOLDER / f"{known}{_SUFFIX}"
    raise KeyError(name)

"""The one trace in a zip archive.

``zipfile`` is imported where there is an archive: few traces come in one, and the import takes
as long as opening a small trace does.
"""

from __future__ import annotations

import io
import sys
import zlib
from typing import IO

from whichlayer.analysis.errors import TraceError


def archive_errors(*others: type[Exception]) -> tuple[type[Exception], ...]:
    """The given errors, and what reading a damaged archive raises where one was opened."""
    zipfile = sys.modules.get("zipfile")
    return others if zipfile is None else (*others, zipfile.BadZipFile)


def zip_member(file: io.FileIO) -> IO[bytes]:
    """The one trace in a zip archive, opened.

    Raises:
        TraceError: there is none, there are several, or it cannot be read.
    """
    import zipfile

    try:
        archive = zipfile.ZipFile(file)
        names = [
            info.filename
            for info in archive.infolist()
            if not info.is_dir() and not info.filename.startswith("__MACOSX/")
        ]
        traces = [
            name for name in names if name.lower().endswith((".json", ".json.gz", ".json.zst"))
        ]
        found = traces or names
        if len(found) != 1:
            listed = ", ".join(sorted(found)[:5]) or "nothing"
            raise TraceError(f"the zip archive must hold one trace and holds {listed}")
        return archive.open(found[0])
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, zlib.error) as error:
        raise TraceError(f"the zip archive cannot be read ({error})") from error

"""Tells whether the reader is still the one that made the columns.

Nobody has to remember to raise a number: the version is a digest of the source of all modules
that take part in reading, and of the versions of the libraries that decode for them.
"""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Final

import isal
import msgspec
import numpy as np

#: Folders and modules of ``whichlayer.analysis`` that decide what a trace becomes.
_PARTS: Final = ("cache", "reader", "trace", "errors.py", "text.py")


@cache
def reader_version() -> str:
    """The version of the reader, empty where its source is not at hand."""
    analysis = Path(__file__).resolve().parent.parent
    digest = blake2b(digest_size=16)
    for library in (isal.__version__, msgspec.__version__, np.__version__):
        digest.update(f"{library}\n".encode())
    try:
        for part in _PARTS:
            path = analysis / part
            modules = sorted(path.glob("*.py")) if path.is_dir() else [path]
            if not modules:
                return ""
            for module in modules:
                source = module.read_bytes()
                digest.update(f"{part} {module.name} {len(source)}\n".encode())
                digest.update(source)
    except OSError:
        return ""
    return digest.hexdigest()

"""Begin to record as soon as the program has imported torch; imported by Python at its start.

It runs in every Python process below ``whichlayer run``, in whatever environment that is. So it
imports nothing until torch is there, runs the ``sitecustomize`` that it stands in front of, and keeps
everything that goes wrong to itself.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.machinery
import importlib.util
import os
import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_HERE = os.path.dirname(os.path.abspath(__file__))
_LIVE = os.path.dirname(_HERE)
_SOCKET, _OPTIONS = "WHICHLAYER_LIVE_SOCKET", "WHICHLAYER_LIVE_OPTIONS"


class _AfterTorch:
    """Finds torch as Python would, and lets the recorder begin when it has been imported."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        """The spec of torch with a loader that tells when it is done; None for all else."""
        if fullname != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec("torch")
        loader = spec.loader if spec is not None else None
        if loader is None or not hasattr(loader, "exec_module"):
            return spec

        def exec_module(module: ModuleType) -> None:
            del loader.exec_module  # the method of its class comes to light again
            loader.exec_module(module)
            _begin()

        loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _begin() -> None:
    try:
        _make_importable()
        options = importlib.import_module("whichlayer.analysis.live.recorder_options")
        session = importlib.import_module("whichlayer.analysis.live.session")
        asked = options.from_text(os.environ[_OPTIONS])
        session.begin(asked, os.environ.get(_SOCKET, ""))
    except Exception as error:  # noqa: BLE001  the program goes on without us
        if os.environ.get("WHICHLAYER_TRACEBACK") and sys.stderr is not None:
            with contextlib.suppress(OSError, ValueError):
                sys.stderr.write(f"whichlayer: cannot record: {error!r}\n")


def _make_importable() -> None:
    """Let ``whichlayer.analysis.live`` be imported where whichlayer is not installed."""
    try:
        if importlib.util.find_spec("whichlayer.analysis.live.session") is not None:
            return
    except ImportError:
        pass  # not installed, or a folder of that name lies in the way
    for name, folder in (("whichlayer", ""), ("whichlayer.analysis", os.path.dirname(_LIVE))):
        spec = importlib.util.spec_from_loader(name, None, is_package=True)
        if spec is None:
            continue
        module = importlib.util.module_from_spec(spec)
        module.__path__ = [folder] if folder else []
        sys.modules[name] = module


def _run_the_one_behind() -> None:
    """Import the ``sitecustomize`` that Python would have found without us."""
    # The folder has done what it is there for; child processes get it from the environment.
    sys.path[:] = [place for place in sys.path if os.path.abspath(place or ".") != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    ours = sys.modules.pop("sitecustomize", None)
    try:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)
    except Exception:
        if ours is not None:
            sys.modules["sitecustomize"] = ours
        raise


if os.environ.get(_OPTIONS):
    sys.meta_path.insert(0, _AfterTorch())
_run_the_one_behind()

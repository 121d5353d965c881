"""The place to fix something: the user's own line, else the module, else the operator.

A frame is the user's if it is neither PyTorch's, nor the standard library's, nor of a
package that others maintain. Profilers write paths relative to ``sys.path``, so a frame of an
installed package begins with the package's name. Source roots, where they are set, say it
themselves: what lies in them is the user's, and what lies elsewhere is a package.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from weakref import WeakKeyDictionary

import numpy as np

from whichlayer.analysis.findings.forward import forward_of
from whichlayer.analysis.findings.source_roots import below_root, is_absolute
from whichlayer.analysis.results import Where
from whichlayer.analysis.text import clean
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

_FRAME = re.compile(
    r"^(?P<file>.+?\.pyx?|<[^>]*>)\((?P<line>\d{1,9})\): (?P<function>.+)$", re.DOTALL
)
_MODULE = "nn.Module: "
_INSTALLED = re.compile(r"(^|/)(site-packages|dist-packages)/|/lib/python\d")
#: PyTorch itself and what is never the place to fix a model.
_FRAMEWORK = frozenset({"torch", "torchvision", "torchaudio", "functorch", "triton", "numpy",
    "apex", "transformer_engine", "pkg_resources", "IPython", "ipykernel", "tqdm", "pytest",
    "_pytest", "pluggy", "runpy"})  # fmt: skip
#: Packages that most users install rather than write.
_PACKAGES = frozenset({
    "accelerate", "aiohttp", "anyio", "av", "bitsandbytes", "colossalai", "cv2", "dali",
    "datasets", "deepspeed", "detectron2", "diffusers", "einops", "fairscale", "fairseq",
    "fastapi", "fbgemm_gpu", "flash_attn", "flashinfer", "grpc", "gunicorn", "huggingface_hub",
    "ignite", "jax", "joblib", "lightning", "lightning_fabric", "matplotlib", "megatron",
    "mmcv", "mmengine", "mosaicml", "numba", "nvidia", "optimum", "pandas", "peft", "PIL",
    "pydantic", "pytorch_lightning", "ray", "requests", "safetensors", "scipy",
    "sentence_transformers", "sglang", "skimage", "sklearn", "starlette", "tensorboard",
    "tensorflow", "timm", "tokenizers", "torchdata", "torchmetrics", "torchrec", "tornado",
    "transformers", "trl", "uvicorn", "uvloop", "vllm", "wandb", "webdataset", "xformers",
    "zmq"})  # fmt: skip

#: Files that torch.compile writes: nobody edits them.
_GENERATED = re.compile(r"(^|/)torchinductor_[^/]*/|(^|/)\w\w/c[a-z2-7]{51}\.py\b")
#: What to record where no Python stack was.
RECORD_STACKS = "record with torch.profiler.profile(with_stack=True) to see the line"
#: What to do where Python stacks are recorded, but none around this slice.
NO_FRAME = "no Python frame around it: its thread runs none; the operator is all that is recorded"
_HOLDS: WeakKeyDictionary[Trace, bool] = WeakKeyDictionary()
#: Plain numbers: comparing members of an enumeration is slow, and stacks are deep.
_PYTHON = int(SliceKind.PYTHON)
_OPERATORS = (int(SliceKind.CPU_OP), int(SliceKind.ANNOTATION))
#: At most so many modules or operators are told, the innermost.
_PARTS = 3
#: Longer names are not kept: they could be megabytes.
_KNOWN_LENGTH = 1_000


def where_of(trace: Trace, row: int, roots: Sequence[str] = ()) -> Where:
    """The place in the user's code around a slice; for backward, that of its forward.

    Args:
        trace: the recording.
        row: a slice on a CPU lane, such as the blocking call or the launch; -1 for none.
        roots: ``Options.source_roots``.
    """
    if row < 0:
        return Where(record=record_place(trace))
    chain = _Chain(trace, row)
    frames = list(_frames(trace, chain))
    stack = chain
    if not frames:
        forward = forward_of(trace, row)
        if forward >= 0:
            stack = _Chain(trace, forward)
            frames = list(_frames(trace, stack))
    file, line = _users(frames, roots) or (None, None)
    return Where(
        file,
        line,
        _module_path(stack),
        _operator(chain),
        "" if frames else record_place(trace),
    )


def holds_stacks(trace: Trace) -> bool:
    """Whether Python stacks are recorded: as frames, or with operators."""
    if trace not in _HOLDS:
        _HOLDS[trace] = bool((trace.kind == SliceKind.PYTHON).any()) or any(
            trace.detail_by_id(int(detail)).get("Call stack")
            for detail in np.unique(trace.detail_id[trace.kind == SliceKind.CPU_OP])
        )
    return _HOLDS[trace]


def record_place(trace: Trace) -> str:
    """What to record for a line of code that is not known."""
    return NO_FRAME if holds_stacks(trace) else RECORD_STACKS


class _Chain:
    """A slice and those around it, innermost first, with their names and kinds."""

    __slots__ = ("kinds", "names", "rows")

    def __init__(self, trace: Trace, row: int) -> None:
        self.rows = [row, *trace.enclosing(row)]
        self.kinds = trace.kind[self.rows].tolist()
        self.names = [trace.strings[name] for name in trace.name_id[self.rows].tolist()]


def _frames(trace: Trace, chain: _Chain) -> Iterator[tuple[str, int]]:
    """(file, line) of the Python stack, innermost first."""
    for row, kind, name in zip(chain.rows, chain.kinds, chain.names, strict=True):
        if kind == _PYTHON:
            frame = _frame(name)
            if frame is not None:
                yield frame
            continue
        stack = trace.detail(row).get("Call stack")
        if isinstance(stack, str) and stack:
            for text in stack.split(";"):
                frame = _frame(text.strip())
                if frame is not None:
                    yield frame
            return


def _frame(name: str) -> tuple[str, int] | None:
    """File and line of a Python frame. The same frames stand around slice after slice."""
    return _known_frame(name) if len(name) <= _KNOWN_LENGTH else _known_frame.__wrapped__(name)


@lru_cache(maxsize=4096)
def _known_frame(name: str) -> tuple[str, int] | None:
    match = _FRAME.match(name)
    return (match["file"].replace("\\", "/"), int(match["line"])) if match else None


def _users(frames: list[tuple[str, int]], roots: Sequence[str]) -> tuple[str, int] | None:
    """The innermost frame of the user's code, else of a package, never PyTorch's."""
    package: tuple[str, int] | None = None
    for file, line in frames:
        if file.startswith("<"):
            continue
        owner = _owner(file, roots)
        if owner == "user":
            return clean(file), line
        if owner == "package" and package is None:
            package = (clean(file), line)
    return package


def is_generated(name: str) -> bool:
    """Whether a file, or the file of a Python frame, was written by torch.compile."""
    return _GENERATED.search(name.replace("\\", "/")) is not None


def is_users_frame(name: str, roots: Sequence[str] = ()) -> bool:
    """Whether a slice's name is a Python frame of the user's own code.

    >>> is_users_frame("train.py(42): forward"), is_users_frame("torch/nn/modules/module.py(1): f")
    (True, False)
    """
    frame = _frame(name)
    if frame is None or frame[0].startswith("<"):
        return False
    return _owner(frame[0], roots) == "user"


def _owner(file: str, roots: Sequence[str] = ()) -> str:
    """``user``, ``package`` or ``framework``."""
    known = len(file) <= _KNOWN_LENGTH
    return (_known_owner if known else _known_owner.__wrapped__)(file, tuple(roots))


@lru_cache(maxsize=4096)
def _known_owner(file: str, roots: tuple[str, ...]) -> str:
    if is_generated(file):
        return "framework"
    if not roots:
        return _usual_owner(file)
    rest = below_root(file, roots)
    if rest is not None and not _INSTALLED.search(f"/{rest}"):
        return "user"
    usual = _usual_owner(file)
    return "package" if usual == "user" and is_absolute(file) else usual


def _usual_owner(file: str) -> str:
    """The same by the path alone."""
    installed = _INSTALLED.search(file)
    if installed:
        file = re.split(r"(?:site|dist)-packages/", file)[-1]
        if file.startswith("/"):
            return "framework"
    top = file.lstrip("./").split("/", 1)[0] if not file.startswith("/") else ""
    top = top.removesuffix(".py")
    if top in _FRAMEWORK or top in sys.stdlib_module_names:
        return "framework"
    if installed or top in _PACKAGES:
        return "package"
    return "user"


def _module_path(chain: _Chain) -> str | None:
    """Names of the nn.Modules around a slice, outermost first."""
    names = []
    for name, kind in zip(chain.names, chain.kinds, strict=True):
        if kind == _PYTHON and name.startswith(_MODULE) and len(name) > len(_MODULE):
            names.append(name.removeprefix(_MODULE))
            if len(names) == _PARTS:
                break
    return clean(".".join(reversed(names))) if names else None


def _operator(chain: _Chain) -> str | None:
    """The operators and annotations around a slice, outermost first, at most three."""
    names = []
    for name, kind in zip(chain.names, chain.kinds, strict=True):
        if kind in _OPERATORS and not name.startswith("ProfilerStep#"):
            names.append(name)
            if len(names) == _PARTS:
                break
    return clean(" > ".join(reversed(names))) if names else None


def main_frame(trace: Trace, lane: int, start_ns: int, end_ns: int) -> int:
    """The deepest Python frame or annotation that fills most of a stretch of a thread.

    Returns:
        A trace row, or -1 where nothing covers more than half of the stretch.
    """
    first, last = int(trace.lane_rows[lane]), int(trace.lane_rows[lane + 1])
    stop = first + int(trace.start_ns[first:last].searchsorted(end_ns, "left"))
    need = (end_ns - start_ns) / 2
    best = -1
    for row in _open_at(trace, first, stop, start_ns, end_ns):
        shared = min(int(trace.end_ns[row]), end_ns) - max(int(trace.start_ns[row]), start_ns)
        deeper = best < 0 or trace.depth[row] >= trace.depth[best]
        if shared > need and deeper:
            best = row
    return best


def _open_at(trace: Trace, first: int, stop: int, start_ns: int, end_ns: int) -> Iterator[int]:
    """Frames and annotations of a lane that overlap a stretch."""
    begin, finish = trace.start_ns[first:stop], trace.end_ns[first:stop]
    kinds = trace.kind[first:stop]
    inside = (finish > start_ns) & (begin < end_ns)
    inside &= (kinds == SliceKind.PYTHON) | (kinds == SliceKind.ANNOTATION)
    yield from (first + inside.nonzero()[0]).tolist()

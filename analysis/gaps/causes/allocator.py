"""The host was allocating or freeing memory instead of launching.

Device allocations reach the driver only when the caching allocator has nothing that fits;
``cudaFree`` and ``hipFree`` also wait for the device.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule
from whichlayer.analysis.trace.kinds import SliceKind

_PLAIN = "static shapes, no empty_cache() in the loop"
_DEVICE = f"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, {_PLAIN}"
RULE = Rule(
    id="allocator",
    layer=Layer.BOUNDARY,
    title="allocating or freeing memory in the loop",
    fix=f"{_DEVICE}; for convolution workspaces torch.backends.cudnn.benchmark; pinned memory: "
    "allocate once and reuse",
    thresholds={"note": 0.05},
    source="allocation calls of the CUDA, HIP and Level Zero APIs",
    example="ResNet-18 on an MI300X: hipFree lasts 31.99 ms on the backward thread, and the "
    "device is idle for 54.35 ms before its next kernel; 3.02 s in 941 pieces, 89 % "
    "of the window",
)

_ALLOCATION = re.compile(
    r"^(cuda|hip)(Malloc|Free|HostAlloc|HostMalloc|HostFree|HostRegister|HostUnregister"
    r"|ExtMalloc|MemPool|MemCreate|MemMap|MemUnmap|MemRelease|MemSetAccess|MemAddress)"
    r"|^cuMem(Alloc|Free|HostAlloc|HostRegister|HostUnregister|Create|Map|Unmap|Release"
    r"|SetAccess|Address|Pool)"
    r"|^(ur|pi)\w*USM\w*(Alloc|Free)|^zeMem(Alloc|Free)"
)

#: Calls about pinned memory of the host, which has an allocator of its own.
_PINNED = re.compile(
    r"Host(Alloc|Malloc|Free|Register|Unregister)|(Malloc|Free)Host|^(ur|pi)USMHost"
)
_POOL = re.compile(r"MemPool|Mem(Create|Map|Unmap|Release|SetAccess|Address)")
_CONVOLUTION = re.compile(r"^\w+::\w*(conv|cudnn)", re.IGNORECASE)
_MIOPEN = re.compile(r"^\w+::\w*miopen", re.IGNORECASE)
_HOST = (
    "allocate pinned buffers once and reuse them (copy into them with copy_), let the loader pin "
    "(pin_memory=True); no pin_memory() or cudaHostRegister in the loop"
)
_WORKSPACE = (
    "keep input shapes fixed, so that each convolution's algorithm and workspace are found once; "
)


def fix_for(culprit: str, around: Sequence[str]) -> str:
    """The fix, by what is allocated and for whom."""
    if _PINNED.search(culprit):
        return _HOST
    convolves = any(_CONVOLUTION.search(name) for name in around)
    if any(_MIOPEN.search(name) for name in around) or (convolves and culprit.startswith("hip")):
        return _WORKSPACE + (
            "MIOPEN_FIND_MODE=FAST, or a warm find database, saves the trial runs whose "
            "workspaces are freed here"
        )
    if convolves:
        return _WORKSPACE + (
            "torch.backends.cudnn.benchmark=True where shapes stay, False where they change"
        )
    if culprit.startswith("hip"):
        return _DEVICE.replace("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF")
    if _POOL.search(culprit):
        return "static shapes, no empty_cache() in the loop; allocate the most that is needed first"
    return _DEVICE if culprit.startswith("cu") else _PLAIN


def marks(name: str, kind: SliceKind, category: str) -> bool:
    """Whether a call of this name allocates or frees memory."""
    return kind == SliceKind.RUNTIME and _ALLOCATION.match(name) is not None

"""The host was allocating or freeing memory instead of launching.

Device allocations reach the driver only when the caching allocator has nothing that fits;
``cudaFree`` and ``hipFree`` also wait for the device.
"""

from __future__ import annotations

import re

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule
from whichlayer.analysis.trace.kinds import SliceKind

RULE = Rule(
    id="allocator",
    layer=Layer.BOUNDARY,
    title="allocating or freeing memory in the loop",
    fix="PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, static shapes, no empty_cache() "
    "in the loop; for convolution workspaces torch.backends.cudnn.benchmark",
    thresholds={"note": 0.05},
    source="allocation calls of the CUDA, HIP and Level Zero APIs",
)

_ALLOCATION = re.compile(
    r"^(cuda|hip)(Malloc|Free|HostAlloc|HostMalloc|HostFree|HostRegister|HostUnregister"
    r"|ExtMalloc|MemPool|MemCreate|MemMap|MemUnmap|MemRelease|MemSetAccess|MemAddress)"
    r"|^cuMem(Alloc|Free|HostAlloc|HostRegister|HostUnregister|Create|Map|Unmap|Release"
    r"|SetAccess|Address|Pool)"
    r"|^(ur|pi)\w*USM\w*(Alloc|Free)|^zeMem(Alloc|Free)"
)


def marks(name: str, kind: SliceKind, category: str) -> bool:
    """Whether a call of this name allocates or frees memory."""
    return kind == SliceKind.RUNTIME and _ALLOCATION.match(name) is not None

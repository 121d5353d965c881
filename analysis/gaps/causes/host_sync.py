"""The device ran dry because the program made the host wait for it.

A blocking call (``*Synchronize``, a copy to pageable host memory, ``.item()``, ``.cpu()``,
``nonzero``) kept the launching thread from queueing work; when it returned the queue was
empty. The launches that follow arrive late although the host only dispatches: that ramp
belongs to the call as well, up to the lead that the call cost. A sync that the queue
covered costs nothing and is never this.
"""

from __future__ import annotations

import re

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule
from whichlayer.analysis.trace.kinds import SliceKind

RULE = Rule(
    id="host-sync",
    layer=Layer.PYTORCH,
    title="the host waits for the device",
    fix="keep the value on the device: log every N steps, torch.where instead of if, "
    "no .item()/.cpu() in the loop",
    thresholds={"note": 0.05, "major": 0.25},
    source="blocking calls of the CUDA and HIP runtime and driver",
    example="sample host_sync: loss.item() waits in cudaMemcpyAsync for 12.29 ms; the queue "
    "is empty when it returns, and 645 pieces of idle time follow, up to 197.8 µs; 24 "
    "% of the window",
)

_BLOCKING = re.compile(
    r"Synchronize(_v\d+|_ptsz|_spt)*$"
    r"|^(cuda|hip)Memcpy(2D|3D|To\w+|From\w+|Peer|DtoH|HtoD|DtoD)?(_spt|_ptds)?$"
    r"|^hipMemcpyWithStream$|^cuMemcpy(HtoD|DtoH|DtoD|2D|3D)?(_v\d+)?(_ptds)?$"
    r"|^(ur|pi)(QueueFinish|EventsWait|EventWait)$|^ze\w*Synchronize$"
)


def marks(name: str, kind: SliceKind, category: str) -> bool:
    """Whether a call of this name blocks until the device has finished something."""
    return kind == SliceKind.RUNTIME and _BLOCKING.search(name) is not None

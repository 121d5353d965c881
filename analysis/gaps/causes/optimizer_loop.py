"""The optimizer updates tensor by tensor, and launching its small kernels takes the time.

Late dispatch inside ``Optimizer.step`` or ``zero_grad`` where each tensor has kernels of its
own. Proven by a ``_single_tensor_*`` frame; else by at least ``per_tensor`` kernels that
operators on single tensors launched, hardly any by ``_foreach_``/``_fused_`` ones; where
operators are not recorded by more than ``kernels`` elementwise kernels. Where the queue covers
it, it costs nothing and is never this.
"""

from __future__ import annotations

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE = Rule(
    id="optimizer-loop",
    layer=Layer.PYTORCH,
    title="the optimizer launches kernels tensor by tensor",
    fix="fused=True (or foreach=True) in the optimizer; zero_grad(set_to_none=True)",
    thresholds={"note": 0.05, "kernels": 1000, "per_tensor": 100, "share": 0.8},
    source="torch.optim: for-loop, foreach and fused implementations",
    example="ResNet-50, recorded in 2020: zero_grad fills each gradient by a kernel of its "
    "own; 74.90 ms in 1,305 pieces of up to 224 µs, 5.8 % of the window",
)

"""What the kernels that rearrange a convolution's tensors move.

MIOpen's NHWC kernels are wrapped in ``batched_transpose_HxW`` kernels, one for each tensor in
the other order, and in fills and casts of results that several workgroups add up. Which tensor
a transpose moves is told by its grid: a workgroup a tile of ``H x W`` of the matrix (channels x
pixels) of each image. Checked on MI300X recordings, where all grids fit exactly.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final

from whichlayer.analysis.kernels.calls import Launch, OpCall, Tensor, Unknown
from whichlayer.analysis.kernels.work import Work, work_of

_TRANSPOSE: Final = re.compile(r"batched_transpose_(\d{1,4})x(\d{1,4})_")
_FILL: Final = "SubTensorOpWithScalar"
_CAST: Final = "SubTensorOpWithCastTensor"
_NOT_TOLD: Final = "which tensor its layout kernels move is not told"
#: What MIOpen adds up a weight's gradient in.
_SUM_BYTES: Final = 4


@dataclass(frozen=True, slots=True)
class _Image:
    """A tensor as the transposes see it: so many matrices of channels x pixels."""

    count: int
    channels: int
    pixels: int
    item_bytes: int

    @property
    def bytes(self) -> int:
        return self.count * self.channels * self.pixels * self.item_bytes

    def workgroups(self, height: int, width: int) -> int:
        return self.count * -(-self.channels // height) * -(-self.pixels // width)


@dataclass(frozen=True, slots=True)
class _Tensors:
    """The tensors of a convolution, and those that it makes, in the order of its kernels."""

    all: tuple[_Image, ...]
    made: tuple[_Image, ...]


def layout_work(call: OpCall) -> Work:
    """Bytes of the layout kernels of one convolution call, all together.

    A fill and a cast count with the least they can move: the type of a sum is not recorded.
    """
    try:
        tensors = _tensors(call)
        moved = sum(_moved(launch, tensors) for launch in call.launches)
        fills = sum(launch.name.startswith(_FILL) for launch in call.launches)
        casts = sum(launch.name.startswith(_CAST) for launch in call.launches)
        if fills:
            moved += _filled(tensors, fills)
        weight = tensors.made[-1]
        moved += casts * (weight.bytes + weight.bytes // weight.item_bytes * _SUM_BYTES)
    except Unknown as why:
        return Work(category="layout", reason=str(why))
    if not moved:
        return Work(category="layout", reason=_NOT_TOLD)
    return Work(bytes=moved, category="layout", bound="lower" if fills or casts else "")


def _tensors(call: OpCall) -> _Tensors:
    if call.name == "aten::convolution_backward":
        grad, *inputs = (_image(call.need(index)) for index in range(3))
        mask = call.flags(10)
        if mask is None or len(mask) != 3:
            raise Unknown("which gradients are wanted is not recorded")
        made = tuple(one for one, wanted in zip(inputs, mask, strict=False) if wanted)
        if not made:
            raise Unknown(_NOT_TOLD)
        return _Tensors((grad, *inputs), made)
    if not call.name.endswith("_convolution"):
        raise Unknown(_NOT_TOLD)
    x, w = call.need(0), call.need(1)
    work = work_of(call)
    products = 2 * math.prod(w.shape[1:])
    if work.flops is None or not products or not w.shape[0] or not x.shape[0]:
        raise Unknown(work.reason or _NOT_TOLD)
    pixels = work.flops // products // (w.shape[0] * x.shape[0])
    out = _Image(x.shape[0], w.shape[0], pixels, x.item_bytes)
    return _Tensors((_image(x), _image(w), out), (out,))


def _image(tensor: Tensor) -> _Image:
    if len(tensor.shape) < 3:
        raise Unknown("the recorded shapes are no convolution")
    return _Image(tensor.shape[0], tensor.shape[1], math.prod(tensor.shape[2:]), tensor.item_bytes)


def _moved(launch: Launch, tensors: _Tensors) -> int:
    """What a transpose reads and writes; 0 for a fill or a cast."""
    if launch.name.startswith((_FILL, _CAST)):
        return 0
    tile = _TRANSPOSE.search(launch.name)
    if tile is None or not launch.grid or not launch.block or not launch.block[0]:
        raise Unknown(_NOT_TOLD)
    high, wide = max(1, int(tile[1])), max(1, int(tile[2]))
    # HIP counts a grid in threads, CUDA in blocks.
    grid = math.prod(launch.grid)
    fitting = {grid, grid // launch.block[0]}
    sizes = {
        image.bytes
        for image in tensors.all
        if {image.workgroups(high, wide), image.workgroups(wide, high)} & fitting
    }
    if len(sizes) != 1:
        raise Unknown(_NOT_TOLD)
    return 2 * sizes.pop()


def _filled(tensors: _Tensors, fills: int) -> int:
    """What is written by so many fills with zeros, at least."""
    if fills > len(tensors.made):
        raise Unknown(_NOT_TOLD)
    return sum(sorted(image.bytes for image in tensors.made)[:fills])

"""ResNet-18 in FP32 with TF32 convolutions, channels last."""

from __future__ import annotations

from sample_traces.generator.convolution import conv2d, global_average, max_pool
from sample_traces.generator.eager import Eager
from sample_traces.generator.losses import cross_entropy
from sample_traces.generator.matmul import linear
from sample_traces.generator.normalisation import batch_norm
from sample_traces.generator.pointwise import add_, relu_
from sample_traces.generator.tensors import FLOAT, LONG, Tensor, channels_last, tensor
from sample_traces.generator.views import reshape

STAGES = (64, 128, 256, 512)
CLASSES = 1000
_BLOCK = "torchvision/models/resnet.py(89): forward"
_BUILTIN_CONV = "<built-in method conv2d of type object at 0x7f2a60d5dfe0>"
_BUILTIN_NORM = "<built-in method batch_norm of type object at 0x7f2a60d5dfe0>"


def parameters() -> list[Tensor]:
    """All parameters of the model."""
    found = [_filter(64, 3, 7), *_norm(64)]
    width = 64
    for stage, filters in enumerate(STAGES):
        for block in range(2):
            first = block == 0
            found += [_filter(filters, width if first else filters, 3), *_norm(filters)]
            found += [_filter(filters, filters, 3), *_norm(filters)]
            if first and stage:
                found += [_filter(filters, width, 1), *_norm(filters)]
        width = filters
    return [*found, tensor((CLASSES, 512), FLOAT), tensor((CLASSES,), FLOAT)]


def _filter(out: int, into: int, size: int) -> Tensor:
    return channels_last(out, into, size, size, FLOAT)


def _norm(channels: int) -> list[Tensor]:
    return [tensor((channels,), FLOAT)] * 2


def forward(rt: Eager, x: Tensor) -> Tensor:
    """``model(x)``: the logits."""
    with rt.module("ResNet", "model", "torchvision/models/resnet.py(284): forward"):
        x = _conv_norm(rt, x, 64, 7, 2, "stem", needs_input=False)
        x = _relu(rt, x, "stem")
        with rt.module("MaxPool2d", "maxpool"):
            x = max_pool(rt, x)
        for stage, filters in enumerate(STAGES):
            with rt.module("Sequential", f"layer{stage}"):
                for block in range(2):
                    x = _block(rt, x, filters, 2 if stage and not block else 1, f"{stage}.{block}")
        with rt.module("AdaptiveAvgPool2d", "avgpool"):
            x = global_average(rt, x)
        with rt.op("aten::flatten", x, 1, -1, differentiable=True, pre=1.0):
            x = reshape(rt, x, (x.shape[0], 512))
        with rt.module("Linear", "fc", builtin="<built-in function linear>"):
            weight, bias = tensor((CLASSES, 512), FLOAT), tensor((CLASSES,), FLOAT)
            return linear(rt, x, weight, bias, allow_tf32=True)


def _conv_norm(
    rt: Eager, x: Tensor, filters: int, size: int, stride: int, key: str, needs_input: bool = True
) -> Tensor:
    with rt.module("Conv2d", key, builtin=_BUILTIN_CONV):
        x = conv2d(rt, x, _filter(filters, x.shape[1], size), stride, needs_input)
    with rt.module("BatchNorm2d", key, builtin=_BUILTIN_NORM):
        with rt.op("aten::add_", tensor((), LONG), 1, 1, pre=1.6):
            pass
        return batch_norm(rt, x, tensor((filters,), FLOAT))


def _relu(rt: Eager, x: Tensor, key: str) -> Tensor:
    with rt.module("ReLU", key):
        return relu_(rt, x)


def _block(rt: Eager, x: Tensor, filters: int, stride: int, key: str) -> Tensor:
    with rt.module("BasicBlock", key, _BLOCK):
        out = _conv_norm(rt, x, filters, 3, stride, f"{key}.1")
        out = _relu(rt, out, key)
        out = _conv_norm(rt, out, filters, 3, 1, f"{key}.2")
        if stride != 1:
            with rt.module("Sequential", f"{key}.downsample"):
                _conv_norm(rt, x, filters, 1, stride, f"{key}.down")
        out = add_(rt, out, out)
        return _relu(rt, out, key)


def loss_of(rt: Eager, logits: Tensor, target: Tensor) -> Tensor:
    """``criterion(logits, target)``."""
    with rt.module("CrossEntropyLoss", "criterion"):
        return cross_entropy(rt, logits, target)

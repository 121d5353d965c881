"""Elementwise operators: each distinct input element read once, each result written once.

In place (``add_``) the result *is* argument 0, which is read and written. A trailing tensor
behind the schema's arguments is the ``out`` tensor and never an input.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from whichlayer.analysis.kernels.calls import OpCall, Tensor, Unknown, broadcast
from whichlayer.analysis.kernels.dtypes import category, result_type
from whichlayer.analysis.kernels.work import Work, operator


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Arguments of the functional schema, by operator: what lies behind them is ``out``.
_ARITY: Final[Mapping[int, str]] = {
    1: "abs absolute acos acosh angle asin asinh atan atanh bitwise_not ceil conj_physical cos "
    "cosh deg2rad digamma erf erfc erfinv exp exp2 expm1 fix floor frac hardsigmoid hardswish "
    "i0 isfinite isinf isnan isneginf isposinf lgamma log log10 log1p log2 log_sigmoid "
    "logical_not mish neg negative positive rad2deg reciprocal relu relu6 rsqrt sgn sigmoid "
    "sign signbit silu sin sinc sinh sqrt square tan tanh trunc",
    2: "__and__ __lshift__ __or__ __rshift__ __xor__ atan2 bitwise_and bitwise_or bitwise_xor "
    "bitwise_left_shift bitwise_right_shift clamp_max clamp_min copysign eq float_power fmax "
    "fmin fmod floor_divide gcd ge gelu greater greater_equal gt hardsigmoid_backward "
    "hardswish_backward heaviside hypot ldexp le leaky_relu less less_equal logaddexp "
    "logaddexp2 logical_and logical_or logical_xor logit lt maximum minimum mish_backward mul "
    "multiply ne nextafter not_equal polar pow _prelu_kernel prelu remainder round "
    "sigmoid_backward silu_backward softshrink tanh_backward true_divide xlogy",
    3: "add clamp div divide elu gelu_backward glu_jvp hardtanh isclose lerp "
    "log_sigmoid_backward logit_backward masked_fill _masked_scale rsub softplus sub subtract "
    "threshold threshold_backward where _s_where",
    4: "addcdiv addcmul hardtanh_backward leaky_relu_backward mse_loss_backward nan_to_num "
    "softplus_backward",
    5: "huber_loss_backward smooth_l1_loss_backward",
    6: "elu_backward",
}
_BOOLEAN: Final = _words(
    "eq ne lt le gt ge greater greater_equal less less_equal not_equal isclose isfinite isinf "
    "isnan isneginf isposinf logical_and logical_not logical_or logical_xor signbit"
)
# Functions of real numbers: an integer operand gives the default float.
_REAL: Final = _words(
    "acos acosh asin asinh atan atanh atan2 cos cosh digamma div divide erf erfc erfinv exp exp2 "
    "expm1 lgamma log log10 log1p log2 logit reciprocal rsqrt sigmoid sin sinc sinh sqrt tan "
    "tanh true_divide"
)
_CONDITION_FIRST: Final = frozenset({"where", "_s_where"})


def pointwise_work(
    call: OpCall,
    inputs: list[Tensor],
    out: Tensor | None,
    *,
    dtype: str | None,
    in_place: bool = False,
) -> Work:
    """Traffic of an elementwise operator.

    Args:
        call: the call, for its numbers.
        inputs: the tensors it reads.
        out: the recorded result, or None to compute its shape.
        dtype: type of the result where ``out`` is None.
        in_place: the result is ``inputs[0]``.

    Raises:
        Unknown: no tensor is recorded, or the shapes do not go together.
    """
    if not inputs:
        raise Unknown("the operator does not list its tensors")
    read = sum(tensor.bytes for tensor in inputs)
    if in_place:
        written = inputs[0].bytes
    elif out is not None:
        written = out.bytes
    else:
        if dtype is None:
            raise Unknown("the result's type is not determined")
        result = Tensor(broadcast([tensor.shape for tensor in inputs]), dtype)
        written = result.bytes
    return Work(bytes=read + written, category="pointwise")


def scalar_types(call: OpCall, stop: int) -> list[str]:
    """Types of the Python numbers among the first arguments."""
    found = []
    for index in range(min(stop, call.arguments)):
        if call.tensor(index) is None and call.number(index) is not None:
            text = call.text(index).lower()
            whole = text.lstrip("+-").isdigit()
            found.append("int64" if whole else "fp32")
    return found


def _result_dtype(call: OpCall, name: str, inputs: list[Tensor], arity: int) -> str | None:
    if name in _BOOLEAN:
        return "bool"
    operands = inputs[1:] if name in _CONDITION_FIRST else inputs
    values = [tensor.dtype for tensor in operands if tensor.shape]
    loose = [tensor.dtype for tensor in operands if not tensor.shape]
    # alpha of add and sub is converted to the operands' type, not the other way round.
    stop = 2 if name in ("add", "sub", "subtract", "rsub") else arity
    found = result_type(values, [*loose, *scalar_types(call, stop)])
    if found is None or name not in _REAL or category(found) >= 2:
        return found
    rounding = call.text(2) if name in ("div", "divide") else ""
    return found if rounding in ("floor", "trunc") else "fp32"


def _model(name: str, arity: int) -> None:
    @operator(name)
    def functional(call: OpCall) -> Work:
        inputs = call.tensors(0, arity)
        dtype = _result_dtype(call, name, inputs, arity)
        return pointwise_work(call, inputs, call.out(arity), dtype=dtype)

    @operator(f"{name}_")
    def in_place(call: OpCall) -> Work:
        call.need(0)
        return pointwise_work(call, call.tensors(0, arity), None, dtype=None, in_place=True)


for _count, _names in _ARITY.items():
    for _name in _names.split():
        _model(_name, _count)


@operator("native_dropout", "_fused_dropout")
def dropout(call: OpCall) -> Work:
    """x, p, train: writes the result and a mask of one byte an element."""
    x = call.need(0)
    return Work(bytes=x.bytes + x.count * (x.item_bytes + 1), category="pointwise")


@operator("native_dropout_backward")
def dropout_backward(call: OpCall) -> Work:
    """grad, mask, scale."""
    grad, mask = call.need(0), call.need(1)
    return Work(bytes=grad.bytes + mask.bytes + grad.count * grad.item_bytes, category="pointwise")


@operator("_prelu_kernel_backward", "prelu_backward")
def prelu_backward(call: OpCall) -> Work:
    """grad, self, weight: writes the gradients of the input and, unreduced, of the weight."""
    grad, x, weight = call.need(0), call.need(1), call.need(2)
    read = grad.bytes + x.bytes + weight.bytes
    return Work(bytes=read + 2 * grad.count * grad.item_bytes, category="pointwise")


@operator("log_sigmoid_forward")
def log_sigmoid(call: OpCall) -> Work:
    """The buffer of the result stays empty on GPUs."""
    x = call.need(0)
    return Work(bytes=x.bytes + x.count * x.item_bytes, category="pointwise")


@operator("glu")
def glu(call: OpCall) -> Work:
    """Halves one dimension."""
    x = call.need(0)
    return Work(bytes=x.bytes + x.count // 2 * x.item_bytes, category="pointwise")


@operator("glu_backward")
def glu_backward(call: OpCall) -> Work:
    """Grad (half as large), self; writes as much as self."""
    grad, x = call.need(0), call.need(1)
    return Work(bytes=grad.bytes + 2 * x.count * x.item_bytes, category="pointwise")


@operator("masked_scatter_", "masked_scatter")
def masked_scatter(call: OpCall) -> Work:
    """self, mask, source: how much of the source is read depends on the mask."""
    x, mask = call.need(0), call.need(1)
    return Work(
        bytes=2 * x.bytes + mask.bytes,
        category="pointwise",
        bound="lower",
        reason="how much the mask selects is not recorded",
    )


@operator("tril", "triu", "tril_", "triu_")
def triangle(call: OpCall) -> Work:
    """The other triangle need not be read: counted as read."""
    x = call.need(0)
    return Work(bytes=2 * x.count * x.item_bytes, category="pointwise", bound="upper")

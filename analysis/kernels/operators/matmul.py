"""Matrix products. Flops count multiply and add; bytes are both operands and the result once.

Transposes are strides: the recorded sizes are logical. A batch of stride 0 is one matrix in
memory and read once.
"""

from __future__ import annotations

import math

from whichlayer.analysis.kernels.calls import OpCall, Tensor, Unknown
from whichlayer.analysis.kernels.dtypes import DTYPE_ENUM, FLOATS, ITEM_BYTES
from whichlayer.analysis.kernels.work import Work, operator

#: Products of these types run on integer units.
_INTEGERS = frozenset({"int8", "uint8"})


def operand_precision(first: Tensor, second: Tensor) -> str | None:
    """Precision of a product by its operands: the wider of the two floats."""
    types = {first.dtype, second.dtype}
    if types <= _INTEGERS:
        return "int8"
    if not types <= set(FLOATS):
        return None
    return max(types, key=lambda dtype: ITEM_BYTES[dtype])


def contiguous_sizes(a: Tensor, b: Tensor) -> tuple[int, ...]:
    """Sizes along which both operands and the (row-major) result lie in memory.

    Without strides the inner sizes K and N: both orders of the second operand have one.
    """
    sizes = [b.shape[-1]]
    for tensor in (a, b):
        if tensor.strides is not None and 1 in tensor.strides[-2:]:
            sizes.append(tensor.shape[-1] if tensor.strides[-1] == 1 else tensor.shape[-2])
        else:
            sizes.append(a.shape[-1])
    return tuple(dict.fromkeys(sizes))


def _sizes(a: Tensor, b: Tensor) -> tuple[int, int, int]:
    if len(a.shape) != 2 or len(b.shape) != 2 or a.shape[1] != b.shape[0]:
        raise Unknown("the recorded shapes are no matrix product")
    return a.shape[0], b.shape[1], a.shape[1]


def _product(a: Tensor, b: Tensor, *, extra: int = 0, out: int = 0) -> Work:
    m, n, k = _sizes(a, b)
    item = out or a.item_bytes
    return Work(
        bytes=a.bytes + b.bytes + m * n * item + extra,
        flops=2 * m * n * k,
        precision=operand_precision(a, b),
        category="matmul",
        dims=(m, n, k),
        contiguous=contiguous_sizes(a, b),
    )


@operator("mm")
def mm(call: OpCall) -> Work:
    """A[M,K], B[K,N]."""
    out = call.out(2)
    return _product(call.need(0), call.need(1), out=out.item_bytes if out else 0)


@operator("addmm", "_addmm_activation")
def addmm(call: OpCall) -> Work:
    """bias, A, B, beta, alpha: a bias of [M,N] is a residual and read whole."""
    bias, a, b = call.need(0), call.need(1), call.need(2)
    read = 0 if call.number(3) == 0 else bias.bytes
    return _product(a, b, extra=read)


def _batched(a: Tensor, b: Tensor) -> tuple[int, int, int, int]:
    if len(a.shape) != 3 or len(b.shape) != 3:
        raise Unknown("the recorded shapes are no batch of matrices")
    if a.shape[0] != b.shape[0] or a.shape[2] != b.shape[1]:
        raise Unknown("the recorded shapes are no batch of matrix products")
    return a.shape[0], a.shape[1], b.shape[2], a.shape[2]


@operator("bmm")
def bmm(call: OpCall) -> Work:
    """A[b,M,K], B[b,K,N]."""
    a, b = call.need(0), call.need(1)
    batch, m, n, k = _batched(a, b)
    return Work(
        bytes=a.bytes + b.bytes + batch * m * n * a.item_bytes,
        flops=2 * batch * m * n * k,
        precision=operand_precision(a, b),
        category="matmul",
        dims=(m, n, k),
        contiguous=contiguous_sizes(a, b),
    )


@operator("baddbmm")
def baddbmm(call: OpCall) -> Work:
    """C, A, B, beta, alpha: C is copied first, as an activity of its own, and then updated."""
    c, a, b = call.need(0), call.need(1), call.need(2)
    batch, m, n, k = _batched(a, b)
    result = batch * m * n * a.item_bytes
    return Work(
        bytes=a.bytes + b.bytes + result + (0 if call.number(3) == 0 else c.bytes),
        flops=2 * batch * m * n * k,
        precision=operand_precision(a, b),
        category="matmul",
        dims=(m, n, k),
        contiguous=contiguous_sizes(a, b),
    )


@operator("linear", "matmul")
def wrapped_product(call: OpCall) -> Work:
    """Wrappers: modelled only where nothing inside them recorded its shapes."""
    a, b = call.need(0), call.need(1)
    if not a.shape or len(b.shape) != 2:
        raise Unknown("a product of this rank is modelled inside its wrapper")
    n, k = b.shape if call.name == "aten::linear" else (b.shape[1], b.shape[0])
    if a.shape[-1] != k:
        raise Unknown("the recorded shapes are no matrix product")
    m = math.prod(a.shape[:-1])
    bias = call.tensor(2)
    return Work(
        bytes=a.bytes + b.bytes + m * n * a.item_bytes + (bias.bytes if bias else 0),
        flops=2 * m * n * k,
        precision=operand_precision(a, b),
        category="matmul",
        dims=(m, n, k),
        contiguous=(n, k),
    )


@operator("mv", "addmv", "addmv_")
def matrix_vector(call: OpCall) -> Work:
    """[bias,] A[M,K], x[K]: bound by memory whatever the precision."""
    at = 0 if call.name == "aten::mv" else 1
    a, x = call.need(at), call.need(at + 1)
    if len(a.shape) != 2 or x.shape != (a.shape[1],):
        raise Unknown("the recorded shapes are no matrix-vector product")
    bias = sum(tensor.bytes for tensor in call.tensors(0, at))
    return Work(
        bytes=a.bytes + x.bytes + a.shape[0] * a.item_bytes + bias,
        flops=2 * a.shape[0] * a.shape[1],
        precision=operand_precision(a, x),
        category="matmul",
        dims=(a.shape[0], 1, a.shape[1]),
    )


@operator("_scaled_mm")
def scaled_mm(call: OpCall) -> Work:
    """A, B, scale_a, scale_b, bias, scale_result, out_dtype, fast_accum."""
    a, b = call.need(0), call.need(1)
    asked = call.number(6)
    dtype = DTYPE_ENUM.get(int(asked)) if asked is not None else a.dtype
    if dtype is None:
        raise Unknown("the result's type is not known")
    extra = sum(tensor.bytes for tensor in call.tensors(2, 6))
    return _product(a, b, extra=extra, out=ITEM_BYTES[dtype])


@operator("_int_mm")
def int_mm(call: OpCall) -> Work:
    """int8 operands, an int32 result."""
    return _product(call.need(0), call.need(1), out=4)


@operator("_grouped_mm", "_scaled_grouped_mm")
def grouped_mm(call: OpCall) -> Work:
    """Tokens [T,K], experts [G,K,N], offsets: all experts are counted as read."""
    tokens, experts = call.need(0), call.need(1)
    if len(tokens.shape) != 2 or len(experts.shape) != 3:
        raise Unknown("this form of grouped product is not modelled")
    t, k = tokens.shape
    if experts.shape[1] != k:
        raise Unknown("the recorded shapes are no grouped product")
    n = experts.shape[2]
    item = 2 if tokens.item_bytes == 1 else tokens.item_bytes
    return Work(
        bytes=tokens.bytes + experts.bytes + t * n * item,
        flops=2 * t * k * n,
        precision=operand_precision(tokens, experts),
        category="matmul",
        bound="upper",
        dims=(t, n, k),
        reason="which experts are used is not recorded: all their weights are counted",
    )

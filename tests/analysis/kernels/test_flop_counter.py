"""Our flops against those of ``torch.utils.flop_counter``, for every operator that both know.

Skipped without torch. The one difference in meaning is causal attention, which that counter never
halves: calls are compared without a mask, and the halves by themselves. Where the counter reads an
argument of another operator, that is said beside the comparison.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whichlayer.analysis.kernels.calls import OpCall
from whichlayer.analysis.kernels.work import has_model, work_of

torch: Any = pytest.importorskip("torch")
counter: Any = pytest.importorskip("torch.utils.flop_counter")

Args = list[Any]
SIZE = st.integers(1, 33)
TYPES = {"torch.bfloat16": "c10::BFloat16", "torch.float32": "float", "torch.int32": "int",
         "torch.float8_e4m3fn": "c10::Float8_e4m3fn"}  # fmt: skip


def tensor(*shape: int, dtype: str = "bfloat16") -> Any:
    return torch.empty(shape, dtype=getattr(torch, dtype), device="meta")


def ours(name: str, args: Args) -> int | None:
    """What we say of a call with these arguments, recorded as the profiler would."""
    are = [isinstance(one, torch.Tensor) for one in args]
    detail = {
        "Input Dims": [list(a.shape) if t else [] for a, t in zip(args, are, strict=True)],
        "Input type": [
            TYPES[str(a.dtype)] if t else "" if a is None else
            "ScalarList" if isinstance(a, list) else "Scalar"
            for a, t in zip(args, are, strict=True)
        ],
        "Concrete Inputs": ["" if t or a is None else str(a) for a, t in zip(args, are, strict=True)],
    }  # fmt: skip
    return work_of(OpCall.from_detail(name, detail)).flops


def theirs(name: str, args: Args, out: Any = None) -> int:
    formula = counter.flop_registry[getattr(torch.ops.aten, name.removeprefix("aten::"))]
    return int(formula(*args, out_val=out))


def product(sizes: Callable[[], int], name: str) -> Args:
    b, m, n, k = (sizes() for _ in range(4))
    if name == "mm":
        return [tensor(m, k), tensor(k, n)]
    if name == "bmm":
        return [tensor(b, m, k), tensor(b, k, n)]
    if name == "baddbmm":
        return [tensor(b, m, n), tensor(b, m, k), tensor(b, k, n)]
    if name == "addmm":
        return [tensor(n), tensor(m, k), tensor(k, n)]
    one = tensor(1, dtype="float32")
    a, w = tensor(m, k, dtype="float8_e4m3fn"), tensor(k, n, dtype="float8_e4m3fn")
    return [a, w, one, one, None, None, 15, False]


PRODUCTS = ("mm", "addmm", "bmm", "baddbmm", "_scaled_mm")


@pytest.mark.parametrize("name", PRODUCTS)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_products(name: str, data: st.DataObject) -> None:
    args = product(lambda: data.draw(SIZE), name)
    assert ours(f"aten::{name}", args) == theirs(name, args)


def convolution(data: st.DataObject) -> Args:
    """x, w, bias, stride, padding, dilation, transposed, output padding, groups."""
    rank, groups = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    transposed = data.draw(st.booleans())
    per = st.integers(1, 4)
    kernel = [data.draw(st.integers(1, 3)) for _ in range(rank)]
    inputs, outputs = data.draw(per), data.draw(per)
    pair = (inputs * groups, outputs) if transposed else (outputs * groups, inputs)
    spatial = [data.draw(st.integers(5, 9)) for _ in range(rank)]
    return [
        tensor(data.draw(per), inputs * groups, *spatial), tensor(*pair, *kernel), None,
        [data.draw(st.integers(1, 3)) for _ in range(rank)],
        [data.draw(st.integers(0, 1)) for _ in range(rank)],
        [data.draw(st.integers(1, 2)) for _ in range(rank)],
        transposed, [0] * rank, groups,
    ]  # fmt: skip


def result(args: Args) -> Any:
    try:
        return torch.ops.aten.convolution(*args)
    except RuntimeError:
        return None  # the sizes are no convolution


CONVOLUTIONS = ("convolution", "_convolution", "convolution_overrideable")


@pytest.mark.parametrize("name", CONVOLUTIONS)
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_convolutions(name: str, data: st.DataObject) -> None:
    args = convolution(data)
    out = result(args)
    if out is not None:
        assert ours(f"aten::{name}", args) == theirs(name, args, out)


@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_convolutions_of_cudnn_and_of_aten_on_the_cpu(data: st.DataObject) -> None:
    x, w, _, stride, padding, dilation, _, _, groups = convolution(data)
    plain = [x, w, None, stride, padding, dilation, False, [0] * len(stride), groups]
    out = result(plain)
    if out is None:
        return
    # The counter reads "transposed" where this operator has "benchmark": it is off here.
    cudnn = [x, w, padding, stride, dilation, groups, False, False, True]
    wanted = theirs("convolution", plain, out)
    assert ours("aten::cudnn_convolution", cudnn) == theirs("cudnn_convolution", cudnn, out)
    assert ours("aten::cudnn_convolution", cudnn) == wanted
    if len(stride) == 2 and groups == 1 and dilation == [1, 1]:
        # The counter's formula takes seven arguments, this operator has six.
        slow = [x, w, list(w.shape[2:]), None, stride, padding]
        assert ours("aten::_slow_conv2d_forward", slow) == wanted


@given(data=st.data(), mask=st.tuples(st.booleans(), st.booleans(), st.booleans()))
@settings(max_examples=60, deadline=None)
def test_gradients_of_convolutions(data: st.DataObject, mask: tuple[bool, bool, bool]) -> None:
    args = convolution(data)
    out = result(args)
    if out is None:
        return
    x, w, _, *rest = args
    call = [out, x, w, None, *rest, list(mask)]
    found = ours("aten::convolution_backward", call)
    of_input = theirs("convolution_backward", [*call[:-1], [mask[0], False, False]], (x, w, None))
    of_weight = theirs("convolution_backward", [*call[:-1], [False, mask[1], False]], (x, w, None))
    # The counter leaves the groups out of the weight's gradient, which is as sparse as the weight.
    assert found == of_input + of_weight // args[-1]
    assert of_weight in (0, theirs("convolution", args, out) * args[-1])


def attention(data: st.DataObject, heads_first: bool) -> tuple[Any, Any, Any, Any]:
    """q, k, v and a result; keys have fewer heads where that divides."""
    b, heads, queries, keys = (data.draw(st.integers(1, 6)) for _ in range(4))
    width, values = data.draw(SIZE), data.draw(SIZE)

    def of(length: int, size: int) -> Any:
        return tensor(b, heads, length, size) if heads_first else tensor(b, length, heads, size)

    return of(queries, width), of(keys, width), of(keys, values), of(queries, values)


def calls(q: Any, k: Any, v: Any, out: Any, causal: bool = False) -> dict[str, Args]:
    """Arguments of every attention operator; masks of the efficient ones are numbers."""
    nothing, seed = tensor(0), tensor(2, dtype="int32")
    lse = tensor(*q.shape[:-1], dtype="float32")
    high = max(q.shape[1], k.shape[1])
    return {
        "_scaled_dot_product_flash_attention": [q, k, v, 0.0, causal, False],
        "_scaled_dot_product_efficient_attention": [q, k, v, None, True, 0.0, causal],
        "_scaled_dot_product_cudnn_attention": [q, k, v, None, True, 0.0, causal, False],
        "_flash_attention_forward": [q, k, v, None, None, high, high, 0.0, causal, False],
        "_efficient_attention_forward": [q, k, v, None, None, None, None, None, 0.0, int(causal)],
        "_scaled_dot_product_flash_attention_backward": [
            out, q, k, v, out, lse, None, None, high, high, 0.0, causal, seed, seed],
        "_scaled_dot_product_efficient_attention_backward": [
            out, q, k, v, nothing, out, lse, seed, seed, 0.0, [True] * 4, causal],
        "_scaled_dot_product_cudnn_attention_backward": [
            out, q, k, v, out, lse, seed, seed, nothing, None, None, high, high, 0.0, causal],
        "_flash_attention_backward": [
            out, q, k, v, out, lse, None, None, high, high, 0.0, causal, seed, seed],
        "_efficient_attention_backward": [
            out, q, k, v, None, out, None, None, high, high, lse, 0.0, seed, seed, int(causal),
            False],
    }  # fmt: skip


def heads_first_of(name: str, args: Args) -> Args:
    """The arguments as the counter takes them: it reads heads where these have the length."""
    if name.startswith("_scaled"):
        return args
    turned = [isinstance(one, torch.Tensor) and one.dim() == 4 for one in args]
    return [one.transpose(1, 2) if turn else one for one, turn in zip(args, turned, strict=True)]


ATTENTION = tuple(
    calls(*(torch.empty((1, 1, 1, 1), device="meta") for _ in range(4)))  # the names alone
)


@pytest.mark.parametrize("name", ATTENTION)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_attention_without_a_mask(name: str, data: st.DataObject) -> None:
    q, k, v, out = attention(data, heads_first=name.startswith("_scaled"))
    args = calls(q, k, v, out)[name]
    assert ours(f"aten::{name}", args) == theirs(name, heads_first_of(name, args), (out,))


@pytest.mark.parametrize("name", ATTENTION)
def test_causal_attention_is_the_stated_difference(name: str) -> None:
    heads_first = name.startswith("_scaled")
    shape = (2, 4, 64, 32) if heads_first else (2, 64, 4, 32)
    q, k, v, out = (tensor(*shape) for _ in range(4))
    args = calls(q, k, v, out, causal=True)[name]
    mine = ours(f"aten::{name}", args)
    # The triangle of 64 queries and keys: 64 x 65 / 2 of 64 x 64 pairs.
    assert mine is not None
    assert mine * 2 * 64 == theirs(name, heads_first_of(name, args), (out,)) * 65


def test_grouped_queries_count_the_heads_of_the_queries() -> None:
    q, k = tensor(1, 8, 16, 32), tensor(1, 2, 16, 32)
    args: Args = [q, k, k, 0.0, False, False]
    name = "_scaled_dot_product_flash_attention"
    assert ours(f"aten::{name}", args) == theirs(name, args) == 4 * 8 * 16 * 16 * 32


def test_every_operator_that_both_know_is_compared() -> None:
    compared = {*PRODUCTS, *CONVOLUTIONS, *ATTENTION, "cudnn_convolution", "_slow_conv2d_forward",
                "convolution_backward"}  # fmt: skip
    known = {str(target).removeprefix("aten.") for target in counter.flop_registry}
    both = {name for name in known if has_model(f"aten::{name}")}
    assert both <= compared
    assert math.isclose(len(both), len(compared), abs_tol=2)  # older versions know fewer

"""(a) Does an operator or compiler pass that exists capture a chain?

Only a chain that survives inside a compiled graph can pass, and only where shapes prove that a
product feeds a reduction, a gather or a scatter behind it, or is fed by one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from whichlayer.analysis.compiled.fused import family_of, fused_operators
from whichlayer.analysis.custom_kernel.answers import Answer, Reply
from whichlayer.analysis.custom_kernel.chains import ANCHORS, Origin, is_gather
from whichlayer.analysis.custom_kernel.parts import Part, reads_product
from whichlayer.analysis.vendor.reach import Reach, reach_of

_LOSS: Final = frozenset(
    {"_log_softmax", "_log_softmax_backward_data", "nll_loss_forward", "nll_loss_backward",
     "prepare_softmax_online", "logsumexp"}
)  # fmt: skip
_SOFTMAX: Final = frozenset({"_softmax", "_safe_softmax", "_softmax_backward_data"})
_FUSIBLE: Final = frozenset(
    {"pointwise", "norm", "softmax", "reduction", "copy", "fill", "index", "layout", "compiled",
     "pooling"}
)  # fmt: skip
_ATTENTION: Final = "F.scaled_dot_product_attention, or FlexAttention where scores are changed"
_OPERATORS: Final = "record with ProfilerActivity.CPU: operators tell what the chain does"
_LINEAR_LOSS: Final = "a chunked or fused linear cross-entropy"
_MAX_AUTOTUNE: Final = 'torch.compile(mode="max-autotune"): Triton products with fused epilogues'


def captured(
    origin: Origin, parts: tuple[Part, ...], before: tuple[Part, ...], rules: frozenset[str]
) -> Reply:
    """Answer (a): yes where nothing that exists captures the chain.

    Args:
        origin: who launched it.
        parts: the operator calls of a typical occurrence.
        before: those before it on its stream.
        rules: what explains the time of its kernels.
    """
    reply = _reply(origin, parts, before, rules)
    return replace(reply, number=float(sum(len(part.kernels) for part in parts)))


def _reply(
    origin: Origin, parts: tuple[Part, ...], before: tuple[Part, ...], rules: frozenset[str]
) -> Reply:
    families = {part.family for part in parts}
    if "unfused-attention" in rules or _is_attention(parts):
        return _no("attention in separate kernels", _ATTENTION)
    if "optimizer" in families and not families & ANCHORS:
        return _no("an optimizer's update", "fused=True or foreach=True of the optimizer")
    if origin is Origin.HIDDEN:
        return Reply(
            Answer.UNKNOWN, None,
            "launched by a graph of the runtime, or without a launch in the file: "
            "neither operators nor data flow are recorded",
            "record a few steps without CUDA graphs, record_shapes=True",
        )  # fmt: skip
    direct = sorted({p.operator for p in parts if reach_of(p.operator, p.kernels[0]) is _DIRECT})
    if direct:
        return Reply(
            Answer.UNKNOWN, None,
            f"it holds custom operators ({', '.join(direct[:2])}), which no compiler sees into",
            "what their library offers fused; torch.library Triton operators can be inlined",
        )  # fmt: skip
    if origin is Origin.EAGER:
        return _eager(parts, families)
    return _compiled(parts, before, families)


_DIRECT: Final = Reach.DIRECT


def _eager(parts: tuple[Part, ...], families: set[str]) -> Reply:
    if not any(part.operator for part in parts):
        return Reply(Answer.UNKNOWN, None, "no operators are recorded", _OPERATORS)
    said = "an eager chain that nothing has tried to compile"
    if "matmul" in families and any(is_gather(name) for part in parts for name in part.kernels):
        bet = (
            "torch.compile first; grouped products: torch._grouped_mm or the fused MoE of a library"
        )
        return _no(said, bet)
    if "matmul" in families and any("nll_loss" in part.operator for part in parts):
        return _no("an eager product with the loss over it", f"compile first; {_LINEAR_LOSS}")
    if "matmul" in families:
        return _no(said, f"compile first: {_MAX_AUTOTUNE}")
    if families & ANCHORS:
        return _no(said, "compile first: torch.compile fuses what is around it")
    if families <= _FUSIBLE:
        return _no(said, "compile first: torch.compile fuses it")
    return _no(said, "compile first, and look at what survives")


def _compiled(parts: tuple[Part, ...], before: tuple[Part, ...], families: set[str]) -> Reply:
    words = {word for part in parts for name in part.kernels for word in fused_operators(name)}
    anchors = [part for part in parts if part.family in ANCHORS or _is_template(part)]
    if not anchors:
        return Reply(
            Answer.UNKNOWN, None, "the compiler left these kernels apart; why is not recorded",
            'TORCH_LOGS="fusion" tells; split reductions, mode="max-autotune" first',
        )  # fmt: skip
    (anchor, *_) = anchors
    if anchor.family != "matmul":
        return Reply(
            Answer.UNKNOWN, None, f"a compiled chain around {anchor.family}",
            "FlexAttention fuses changes of scores" if anchor.family == "attention"
            else _MAX_AUTOTUNE,
        )  # fmt: skip
    if words & _LOSS:
        return _no("a product with the loss over it", _LINEAR_LOSS)
    if anchor.operator in ("aten::bmm", "aten::baddbmm"):
        return Reply(
            Answer.UNKNOWN, None, "a batch of products in a compiled chain",
            "torch._grouped_mm, or FlexAttention where it is attention",
        )  # fmt: skip
    return _around_product(parts, before, anchor)


def _around_product(parts: tuple[Part, ...], before: tuple[Part, ...], anchor: Part) -> Reply:
    """A compiled product with what follows it, or with the gather in front of it."""
    at = parts.index(anchor)
    beyond = [part for part in parts[at + 1 :] if _needs_all(part)]
    feeds = [part for part in parts[:at] if any(map(is_gather, part.kernels))]
    if not beyond and not feeds:
        return _no("a product and pointwise kernels behind it", _MAX_AUTOTUNE)
    if any(_same_result(part, anchor) for part in (*before, *parts[:at], *parts[at + 1 :])):
        return Reply(
            Answer.UNKNOWN, None,
            "several products near it have this very shape: which of them the kernel behind "
            "reads is not recorded",
            "the generated source (output_code) tells",
        )  # fmt: skip
    tied = [part for part in beyond if reads_product(part, anchor)]
    tied += [part for part in feeds if _feeds(part, anchor)]
    if not tied:
        return Reply(
            Answer.UNKNOWN, None, "no recorded shape ties the kernels to the product",
            "the generated source (output_code) tells; record_shapes=True",
        )  # fmt: skip
    named = tied[0].kernels[0][:60]
    return Reply(
        Answer.YES, None,
        f"survives in a compiled graph: a product and {named}, tied by a tensor of "
        f"{list(anchor.result[0]) if anchor.result else '?'}, which Inductor cannot fuse",
    )  # fmt: skip


def _no(evidence: str, instead: str) -> Reply:
    return Reply(Answer.NO, None, evidence, instead)


def _needs_all(part: Part) -> bool:
    """Whether it needs whole rows of its input, or picks among them: no epilogue does."""
    return any(
        family_of(name) in ("reduction", "persistent reduction") or is_gather(name)
        for name in part.kernels
    )


def _feeds(part: Part, anchor: Part) -> bool:
    """Whether a call has a tensor of exactly the shape and type of the product's operand."""
    operands = {(one.shape, one.item_bytes) for one in anchor.tensors}
    return any((one.shape, one.item_bytes) in operands for one in part.tensors)


def _same_result(part: Part, anchor: Part) -> bool:
    return part.work.category == "matmul" and part.result == anchor.result


def _is_template(part: Part) -> bool:
    return part.kernels[0].startswith("triton_tem_")


def _is_attention(parts: tuple[Part, ...]) -> bool:
    """A softmax behind a batched product, or a mix of both in one chain."""
    softmax = any(
        part.family == "softmax" or not _SOFTMAX.isdisjoint(fused_operators(part.kernels[0]))
        for part in parts
    )
    return softmax and any(part.operator in ("aten::bmm", "aten::baddbmm") for part in parts)

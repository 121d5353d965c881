"""Decoding one token with a Llama-like model in eager mode, the cache grown by ``cat``."""

from __future__ import annotations

from dataclasses import dataclass

from sample_traces.generator.attention import attention
from sample_traces.generator.eager import Eager
from sample_traces.generator.embeddings import embedding
from sample_traces.generator.functors import (
    functor_add_scalar,
    functor_negate,
    functor_pow,
    functor_rsqrt,
    functor_silu,
)
from sample_traces.generator.matmul import linear
from sample_traces.generator.pointwise import add, cast, cat, mul, unary
from sample_traces.generator.reductions import argmax_last, mean_last
from sample_traces.generator.tensors import BF16, FLOAT, LONG, Tensor, tensor
from sample_traces.generator.views import slice_, transpose, unsqueeze, view

_FILE = "transformers/models/llama/modeling_llama.py"
_LINEAR = "<built-in function linear>"


@dataclass(frozen=True, slots=True)
class Llama:
    """The sizes of a model."""

    layers: int
    width: int
    heads: int
    key_heads: int
    hidden: int
    vocabulary: int

    @property
    def head(self) -> int:
        """The size of a head."""
        return self.width // self.heads


def decode(rt: Eager, model: Llama, context: int) -> Tensor:
    """One forward pass for one new token after ``context`` cached ones: the next token."""
    with rt.module("LlamaForCausalLM", "lm", f"{_FILE}(795): forward"):
        with rt.module("LlamaModel", "model", f"{_FILE}(508): forward"):
            with rt.module("Embedding", "embed_tokens"):
                table = tensor((model.vocabulary, model.width), BF16)
                x = embedding(rt, table, tensor((1, 1), LONG))
            for layer in range(model.layers):
                x = _layer(rt, model, x, context, str(layer))
            x = _rms_norm(rt, x, "norm")
        with rt.module("Linear", "lm_head", builtin=_LINEAR):
            logits = linear(rt, x, tensor((model.vocabulary, model.width), BF16))
    last = slice_(rt, logits, 1, 0, 1)
    return argmax_last(rt, last, tensor((1, 1), LONG))


def _layer(rt: Eager, model: Llama, x: Tensor, context: int, key: str) -> Tensor:
    with rt.module("LlamaDecoderLayer", key, f"{_FILE}(304): forward"):
        normed = _rms_norm(rt, x, f"{key}.input")
        x = add(rt, x, _attention(rt, model, normed, context, key))
        normed = _rms_norm(rt, x, f"{key}.post")
        return add(rt, x, _mlp(rt, model, normed, key))


def _rms_norm(rt: Eager, x: Tensor, key: str) -> Tensor:
    with rt.module("LlamaRMSNorm", key, f"{_FILE}(70): forward"):
        wide = cast(rt, x, FLOAT)
        square = unary(rt, "aten::pow", functor_pow(), wide, 2)
        mean = mean_last(rt, square)
        mean = unary(rt, "aten::add", functor_add_scalar(), mean, 1e-5, 1)
        scale = unary(rt, "aten::rsqrt", functor_rsqrt(), mean)
        mul(rt, wide, scale)
        return mul(rt, cast(rt, wide, BF16), tensor((x.shape[-1],), BF16))


def _attention(rt: Eager, model: Llama, x: Tensor, context: int, key: str) -> Tensor:
    head = model.head
    with rt.module("LlamaAttention", key, f"{_FILE}(243): forward"):
        parts = []
        for name, heads in (("q", model.heads), ("k", model.key_heads), ("v", model.key_heads)):
            with rt.module("Linear", f"{key}.{name}_proj", builtin=_LINEAR):
                y = linear(rt, x, tensor((heads * head, model.width), BF16))
            parts.append(transpose(rt, view(rt, y, (1, 1, heads, head)), 1, 2))
        q, k, v = parts
        with rt.thread.frame(f"{_FILE}(158): apply_rotary_pos_emb", pre=1.5):
            for _ in range(2):
                unsqueeze(rt, tensor((1, 1, head), BF16), 1)
            q, k = _rotate(rt, q), _rotate(rt, k)
        with rt.thread.frame("transformers/cache_utils.py(405): update", pre=2.0):
            cache = tensor((1, model.key_heads, context, head), BF16)
            keys, values = cat(rt, [cache, k], 2), cat(rt, [cache, v], 2)
        with rt.thread.frame("transformers/integrations/sdpa_attention.py(16): forward", pre=2.0):
            y = attention(rt, q, keys, values, causal=False)
            y = transpose(rt, y, 1, 2)
        y = view(rt, y, x.shape)
        with rt.module("Linear", f"{key}.o_proj", builtin=_LINEAR):
            return linear(rt, y, tensor((model.width, model.width), BF16))


def _rotate(rt: Eager, x: Tensor) -> Tensor:
    half = x.shape[-1] // 2
    angles = tensor((1, 1, 1, x.shape[-1]), BF16)
    straight = mul(rt, x, angles)
    with rt.thread.frame(f"{_FILE}(151): rotate_half", pre=0.8):
        first = slice_(rt, x, 3, 0, half)
        second = slice_(rt, x, 3, half, 2 * half)
        unary(rt, "aten::neg", functor_negate(), second)
        rotated = cat(rt, [second, first], 3)
    return add(rt, straight, mul(rt, rotated, angles))


def _mlp(rt: Eager, model: Llama, x: Tensor, key: str) -> Tensor:
    with rt.module("LlamaMLP", key, f"{_FILE}(177): forward"):
        wide = tensor((model.hidden, model.width), BF16)
        with rt.module("Linear", f"{key}.gate_proj", builtin=_LINEAR):
            gate = linear(rt, x, wide)
        with rt.module("SiLU", key):
            gate = unary(rt, "aten::silu", functor_silu(BF16), gate)
        with rt.module("Linear", f"{key}.up_proj", builtin=_LINEAR):
            up = linear(rt, x, wide)
        product = mul(rt, gate, up)
        with rt.module("Linear", f"{key}.down_proj", builtin=_LINEAR):
            return linear(rt, product, tensor((model.width, model.hidden), BF16))

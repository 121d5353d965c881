"""A GPT: learned positions, pre-norm blocks, flash attention, GELU, and a language-model head."""

from __future__ import annotations

from dataclasses import dataclass

from sample_traces.generator.attention import attention
from sample_traces.generator.eager import Eager
from sample_traces.generator.embeddings import embedding
from sample_traces.generator.losses import cross_entropy
from sample_traces.generator.matmul import linear
from sample_traces.generator.normalisation import layer_norm
from sample_traces.generator.pointwise import add, gelu, split_heads
from sample_traces.generator.tensors import BF16, LONG, DType, Tensor, tensor
from sample_traces.generator.views import transpose, view

_LINEAR = "<built-in function linear>"


@dataclass(frozen=True, slots=True)
class Gpt:
    """The sizes of a model and the batch that it sees."""

    layers: int
    width: int
    heads: int
    vocabulary: int
    batch: int
    length: int
    dtype: DType = BF16
    file: str = "model.py"
    allow_tf32: bool = False

    def weight(self, out: int, into: int) -> Tensor:
        """A weight matrix."""
        return tensor((out, into), self.dtype)

    def norm(self) -> Tensor:
        """The weight or the bias of a layer norm."""
        return tensor((self.width,), self.dtype)

    def parameters(self) -> list[Tensor]:
        """All parameters; the head has a weight of its own."""
        d = self.width
        block = [
            self.norm(),
            self.norm(),
            self.weight(3 * d, d),
            self.weight(d, d),
            self.norm(),
            self.norm(),
            self.weight(4 * d, d),
            self.weight(d, 4 * d),
        ]
        return [
            self.weight(self.vocabulary, d),
            self.weight(self.length, d),
            *block * self.layers,
            self.norm(),
            self.norm(),
            self.weight(self.vocabulary, d),
        ]


def forward(rt: Eager, model: Gpt, tokens: Tensor, targets: Tensor) -> Tensor:
    """``model(tokens, targets)``: the loss."""
    with rt.module("GPT", "model", f"{model.file}(171): forward"):
        with rt.module("Embedding", "wte"):
            x = embedding(rt, model.weight(model.vocabulary, model.width), tokens)
        with rt.module("Embedding", "wpe"):
            positions = tensor((model.batch, model.length), LONG)
            p = embedding(rt, model.weight(model.length, model.width), positions)
        x = add(rt, x, p)
        for layer in range(model.layers):
            x = _block(rt, model, x, str(layer))
        x = _norm(rt, model, x, "ln_f")
        with rt.module("Linear", "lm_head", builtin=_LINEAR):
            head = model.weight(model.vocabulary, model.width)
            logits = linear(rt, x, head, allow_tf32=model.allow_tf32)
        flat = view(rt, logits, (model.batch * model.length, model.vocabulary))
        rows = view(rt, targets, (model.batch * model.length,))
        with rt.thread.frame("torch/nn/functional.py(3445): cross_entropy", pre=2.0):
            return cross_entropy(rt, flat, rows)


def _norm(rt: Eager, model: Gpt, x: Tensor, key: str) -> Tensor:
    with rt.module("LayerNorm", key):
        return layer_norm(rt, x, model.norm(), model.norm())


def _block(rt: Eager, model: Gpt, x: Tensor, key: str) -> Tensor:
    with rt.module("Block", key, f"{model.file}(103): forward"):
        normed = _norm(rt, model, x, f"{key}.ln_1")
        x = add(rt, x, _attention(rt, model, normed, key))
        normed = _norm(rt, model, x, f"{key}.ln_2")
        return add(rt, x, _mlp(rt, model, normed, key))


def _attention(rt: Eager, model: Gpt, x: Tensor, key: str) -> Tensor:
    d, heads = model.width, model.heads
    with rt.module("CausalSelfAttention", key, f"{model.file}(52): forward"):
        with rt.module("Linear", f"{key}.c_attn", builtin=_LINEAR):
            qkv = linear(rt, x, model.weight(3 * d, d), allow_tf32=model.allow_tf32)
        q, k, v = split_heads(rt, qkv, 3, heads)
        y = attention(rt, q, k, v, causal=True)
        transpose(rt, y, 1, 2)
        y = view(rt, tensor((model.batch, model.length, heads, d // heads), x.dtype), x.shape)
        with rt.module("Linear", f"{key}.c_proj", builtin=_LINEAR):
            return linear(rt, y, model.weight(d, d), allow_tf32=model.allow_tf32)


def _mlp(rt: Eager, model: Gpt, x: Tensor, key: str) -> Tensor:
    d = model.width
    with rt.module("MLP", key, f"{model.file}(87): forward"):
        with rt.module("Linear", f"{key}.c_fc", builtin=_LINEAR):
            x = linear(rt, x, model.weight(4 * d, d), allow_tf32=model.allow_tf32)
        with rt.module("GELU", key):
            x = gelu(rt, x)
        with rt.module("Linear", f"{key}.mlp_proj", builtin=_LINEAR):
            return linear(rt, x, model.weight(d, 4 * d), allow_tf32=model.allow_tf32)

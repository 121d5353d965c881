"""Kernel names made readable: what runs, not how the compiler spelled it.

Real names run to thousands of characters of templates. :func:`short_name` keeps what a
person looks for (the functor of an elementwise kernel, the tile of a product, the reduced
operation); :func:`family` groups kernels that do the same kind of work.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from whichlayer.analysis.kernels.data_types import data_type
from whichlayer.analysis.kernels.product_names import product_name

#: A short name never exceeds this many characters.
SHORT_LENGTH: Final = 72
#: What is read of a name; the rest of a name of many thousands says nothing new.
READ_LENGTH: Final = 4096

# What the functor of an ATen kernel calls itself; the first that fits wins.
_FUNCTORS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"(\w{1,48}?)_(?:backward_)?functor<",
        r"(\w{1,48}?)_kernel_(?:cuda|impl)",
        r"binary_internal::(\w{1,48}?)Functor",
        r"CUDAFunctor(?:OnSelf|OnOther)?_(\w+)<",
        r"::(\w{1,48}?)CUDAKernelImpl",
        r"::(\w{1,48}?)Ops(?:<|\b)",
        r"(?:^|[<:, ])([A-Z]\w*?)Functor\w*<",
        r"::(\w{1,48}?)_cuda(?:_kernel|_out)?\(",
        r"::(\w{1,48}?)_cuda_kernel",
        r"::(copy)_device_to_device\(",
        r"::launch_(\w{1,48}?)\(",
        r"::(\w{1,48}?)_and_transform<",
        r"::(\w{1,48}?)_kernel(?:<[\w: ]{1,48}>)?\(",
    )
)
_WORDS: Final = {
    "direct_copy": "copy", "bfloat16_copy": "copy", "float16_copy": "copy",
    "MulScalar": "mul", "NormTwo": "norm2",
}  # fmt: skip

#: Functors and functions that only wrap the one that says what is done.
_WRAPPERS: Final = frozenset({"AUnary", "BUnary", "Binary", "gpu", "Unary"})


@lru_cache(maxsize=65536)
def short_name(name: str) -> str:
    """A kernel's name for people, at most :data:`SHORT_LENGTH` characters, on one line.

    >>> short_name("void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_nn>(Params)")
    'cutlass_80_tensorop_s1688gemm_64x64_nn'
    """
    text = "".join(char if char.isprintable() else " " for char in name[:READ_LENGTH]).strip()
    text = text.removesuffix(".kd").removesuffix(" [clone .kd]")
    entry = _entry(text)
    recorded = text
    if text.startswith("_Z"):
        text = _demangled(text) + _template_words(text)
    short = entry or _library(text) or _aten(text, recorded) or _plain(text)
    return cut(" ".join(short.split()) or text or "?")


def cut(short: str) -> str:
    """A name cut to :data:`SHORT_LENGTH`; the number that a compiler ends it with stays."""
    if len(short) <= SHORT_LENGTH:
        return short
    number = re.search(r"_\d{1,6}$", short)
    tail = number[0] if number is not None and short.startswith("triton_") else ""
    return f"{short[: SHORT_LENGTH - 1 - len(tail)]}…{tail}"


def _entry(text: str) -> str:
    """What an entry that is the same for many kernels is given to run, else nothing."""
    if text.startswith("_ZN7ck_tile6kentryI"):
        word = re.search(r"NS_(\d{1,3})([A-Z]\w*)", text)
        if word is not None and len(word[2]) >= int(word[1]) > 0:
            return f"ck_tile {word[2][: int(word[1])]}"
    if "device_kernel<" in text:
        what = re.search(r"(\w*(?:GemmUniversal|Flash|Fmha|FMHA|Conv|Mla)\w*)<", text)
        how = re.search(r"Mainloop(Sm\d+\w*)<", text)
        return " ".join(found[1] for found in (what, how) if found) if what is not None else ""
    if "_kernel_agent<" in text:
        found = re.search(
            r"(?:ParallelForAgent<[\w:]*?|_agent<[\w:]*?)::__(\w{1,48}?)::(?!Par)", text
        )
        return f"thrust {found[1]}" if found is not None else ""
    if "trampoline_kernel<" in text:
        found = re.search(r"detail::(\w{1,48}?)_impl<", text)
        return f"rocprim {found[1]}" if found is not None else ""
    return ""


def _library(text: str) -> str:
    """Names of libraries that say all in one word."""
    if text.startswith("Cijk_"):
        return _tensile(text)
    if text.startswith(("nccl", "rccl")):
        return text.split("(", 1)[0]
    found = re.search(
        r"cutlass\w*::(?:Kernel2?|device_kernel)<\s*(?:at::cuda::detail::)?(\w+)", text
    )
    if found is not None and not found[1].startswith(("cutlass", "enable", "at", "flash")):
        return _tidy(found[1])
    if found is not None and found[1].startswith("cutlass_"):
        return found[1]
    if product := product_name(text):
        return product
    if re.search(r"flash_(?:fwd|bwd)\w*kernel|fmha", text):
        return _attention(text)
    return ""


def _tensile(text: str) -> str:
    parts = text.split("_")
    layout = "_".join(parts[1:3])
    kind = parts[3] if len(parts) > 3 else ""
    if len(parts) > 4 and re.fullmatch(r"[A-Z0-9]{1,4}", parts[4]) and len(kind) <= 2:
        kind = f"{kind}_{parts[4]}"
    tiles = [part for part in parts if re.match(r"(?:MT|MI)\d+x", part)]
    return " ".join(["Cijk", layout, kind, *tiles])


def _attention(text: str) -> str:
    base = _plain(text)
    width = re.search(r"kernel_traits<\s*(?:\(?int\)?)?(\d+)", text)
    return f"{base} d{width[1]}" if width is not None else base


#: Kernels that name their types as ATen does, some of them outside of its namespace.
_ATEN: Final = re.compile(
    r"at::native|at_cuda_detail|^void (?:multi_tensor_apply|\(anonymous namespace\)::softmax)"
)


def _aten(text: str, recorded: str) -> str:
    if not _ATEN.search(text):
        return ""
    base = _tidy(_function(text))
    functor = ""
    if re.search(r"elementwise|reduce_kernel|multi_tensor_apply|index_\w*kernel$", base):
        functor = _functor(text)
    kind = re.sub(
        r"^(?:vectorized|unrolled|templated|legacy)_|_kernel\b.*$|_kernel_manual_unroll$", "", base
    )
    kind = re.sub(r"^(?:vectorized|unrolled|templated)_", "", kind)
    return " ".join(part for part in (functor, kind, data_type(recorded)) if part)


def _functor(text: str) -> str:
    for pattern in _FUNCTORS:
        for found in pattern.finditer(text):
            word = _WORDS.get(found[1], found[1])
            if word in _WRAPPERS:
                continue
            word = re.sub(r"_?(?:scalar|impl)$", "", word) or word
            return word if "_" in word else word.lower()
    return ""


#: Scopes that tell nothing of what is in them.
_EMPTY_SCOPES: Final = frozenset({"impl", "detail", "internal", ""})


def _plain(text: str) -> str:
    """The function's own name, without namespaces, templates and parameters."""
    base = _function(text)
    scope = re.match(r"(cudnn|cublasLt|cublas|cub|rocprim|hipcub|fbgemm_gpu|vllm|ck)\b", base)
    last = base.rsplit("::", 1)[-1]
    if last == "kentry":  # the entry of every ck_tile kernel: its argument says which
        found = re.search(r"kentry\W.*?(?<=[:\s<,(])(\w*[A-Z]\w+)<", text)
        last = found[1] if found is not None else last
    if scope is not None and "::" in base and not last.startswith(scope[1]):
        return f"{scope[1]} {last}"
    scopes = [part for part in base.split("::")[:-1] if part not in _EMPTY_SCOPES]
    if last == "kernel" and scopes:
        return scopes[-1]
    tells = len(last) > 6 and last.lower() != "globalkernel"
    return last if tells or not scopes else f"{scopes[-1]}::{last}"


@lru_cache(maxsize=65536)
def function_name(name: str) -> str:
    """The function's own name without scopes, templates and parameters, as ``ncu`` knows it."""
    text = name[:READ_LENGTH].strip()
    text = _demangled(text) if text.startswith("_Z") else text
    return _tidy(_function(text)).split("<", 1)[0].split("(", 1)[0].strip()


def _tidy(base: str) -> str:
    return base.rsplit("::", 1)[-1]


def _function(text: str) -> str:
    """Qualified name of the function, before its templates and parameters."""
    text = re.sub(r"\(anonymous namespace\)::|<unnamed>::", "", text)
    text = re.sub(r"^std::enable_if<.*?>::type ", "", text)
    text = re.sub(r"^(?:static |__global__ )*(?:void|bool|int) ", "", text)
    depth, end, start = 0, len(text), 0
    for index, char in enumerate(text):
        if char == "<":
            if depth == 0:
                end = min(end, index)
            depth += 1
        elif char == ">":
            depth = max(0, depth - 1)
            if depth == 0 and text[index + 1 : index + 3] == "::":
                start, end = index + 3, len(text)
        elif char == "(" and depth == 0:
            end = min(end, index)
            break
    return text[start:end].strip() or text


def _demangled(text: str) -> str:
    """The scopes of an Itanium-mangled name, enough to read it; templates are dropped."""
    at = 2
    nested = text[at : at + 1] == "N"
    at += nested
    parts: list[str] = []
    while at < len(text):
        found = re.compile(r"(\d{1,4})").match(text, at)
        if found is None:
            if text.startswith("St", at):
                parts.append("std")
                at += 2
                continue
            break
        start = found.end()
        size = int(found[1])
        word = text[start : start + size]
        if len(word) < size:
            break
        parts.append("" if word.startswith("_GLOBAL__N") else word)
        at = start + size
        if not nested:
            break
    return "::".join(part for part in parts if part) or text


def _template_words(text: str) -> str:
    """The words in the templates of a mangled ATen kernel, as its functor is looked for."""
    if not text.startswith("_ZN2at6native"):
        return ""
    words, at = [], 0
    while (found := _SIZED.search(text, at)) is not None:
        start, size = found.end(), int(found[1])
        words.append(text[start : start + size])
        at = start + size
    inner = "".join(f"::{word}<" for word in words[3:])
    return "<" + inner.replace("::c10<::", "c10::").replace("BFloat16<", "BFloat16,")


#: A length and the word that is so long, in mangled names.
_SIZED: Final = re.compile(r"(?<![\dLTSi])([1-9]\d{0,2})(?=[A-Za-z_])")

# Family, then marks of it. The first that fits names the family: a cuDNN "implicit gemm" is a
# convolution.
_FAMILY_MARKS: Final = r"""
communication nccl rccl nvshmem multimem symm_mem cross_device_reduce one_shot_all two_shot_all
communication deep_?ep oneccl hccl
compiled ^triton_
copy reshape_and_cache concat_and_cache
attention flash fmha attn_fwd attn_bwd attention mha_
layout nchw2nhwc nhwc2nchw nchwtonhwc nhwctonchw batched_transpose transpose_readwrite
layout im2d?2?col col2im tensortransform transformtensor
optimizer multi_tensor_apply adam fusedoptimizer
norm batch_?norm layer_?norm group_?norm rms_?norm bn_(?:fw|bw) gammabeta rowwisemoments
softmax softmax
convolution conv winograd scudnn [0-9]{3,4}cudnn fft2d fprop dgrad wgrad igemm_(?:fwd|bwd|wrw)
convolution cask_cudnn
matmul (?<!fb)gemm \bbmm_ nvjet cijk gemv splitk cutlass magma matmul dot_kernel wmma
matmul epilogue::impl
pooling pool
index index gather scatter embedding
sort radix sort topk scan \bcub:: rocprim unique histogram
reduction reduce
copy copy catarray memcpy
fill fillfunctor memset distribution_elementwise
pointwise elementwise pointwise dropout where triu tril subtensorop
"""
_FAMILIES: Final = tuple(
    (words[0], re.compile("|".join(words[1:]), re.IGNORECASE))
    for words in (line.split() for line in _FAMILY_MARKS.strip().splitlines())
)


@lru_cache(maxsize=65536)
def family(name: str) -> str:
    """The kind of work that a kernel's name tells, ``other`` where it tells nothing."""
    text = name[:READ_LENGTH]
    for word, pattern in _FAMILIES:
        if pattern.search(text):
            return word
    return "other"

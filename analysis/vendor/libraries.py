"""Which library a kernel comes from, by its name, and what takes its place elsewhere."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

#: What is read of a name; the rest of a name of many thousands says nothing new.
_READ: Final = 4096


@dataclass(frozen=True, slots=True)
class Library:
    """Where kernels come from.

    Attributes:
        name: as people know it.
        vendors: whose GPUs it runs on; empty for all that PyTorch supports.
        alternative: what does the same work elsewhere.
        model_level: an ATen operator in front of it makes the model portable.
    """

    name: str
    vendors: tuple[str, ...]
    alternative: str
    model_level: bool = True

    @property
    def portable(self) -> bool:
        """Whether its kernels exist for every vendor."""
        return not self.vendors


NVIDIA: Final = ("nvidia",)
AMD: Final = ("amd",)
INTEL: Final = ("intel",)
BOTH: Final = ("nvidia", "amd")

_SERVING: Final = "the engine's Triton kernels, or ATen operators and torch.compile"
_ATTENTION: Final = "F.scaled_dot_product_attention or FlexAttention"
_COLLECTIVE: Final = "torch.distributed, whose backend is RCCL, oneCCL … on other devices"
_PRODUCT: Final = "aten::mm and its kin: hipBLASLt on AMD, oneDNN on Intel, chosen by PyTorch"

#: Scopes of a kernel's name that only restate a type.
_ENABLE: Final = re.compile(r"^std::enable_if<.*?>::type ")

#: Kernels of PyTorch itself, and copies by the runtime: nothing to replace.
ATEN: Final = Library("PyTorch (ATen)", (), "")
TRITON: Final = Library("Triton, by the compiler", (), "")
HAND_TRITON: Final = Library("Triton, by hand", (), "")
COPIES: Final = Library("copies and fills by the runtime", (), "")
UNKNOWN: Final = Library("unidentified", (), "")

_RCCL: Final = Library("RCCL", AMD, _COLLECTIVE)
_NCCL: Final = Library("NCCL", NVIDIA, _COLLECTIVE)

#: Library, then marks of its kernels; the first that fits wins.
_TABLE: Final = (
    (_NCCL, r"^ncclK|^ncclDev|\bnccl"),
    (_RCCL, r"\brccl"),
    (Library("symmetric memory (NVLink)", NVIDIA, "torch.distributed collectives", False),
     r"multimem_|symm_mem|one_shot_all|two_shot_all"),
    (Library("NVSHMEM", NVIDIA, "torch.distributed all-to-all", False), r"nvshmem"),
    (Library("DeepEP", NVIDIA, "torch.distributed all-to-all", False), r"deep_?ep\b"),
    (Library("oneCCL", INTEL, _COLLECTIVE), r"oneccl"),
    (Library("vLLM all-reduce", BOTH, "torch.distributed.all_reduce", False),
     r"cross_device_reduce"),
    (TRITON, r"^triton_(poi|red|per|tem|for|mm|unk|spl)\w*_"),
    (Library("TransformerEngine", NVIDIA, "torch.nn modules with torch.compile, torchao for FP8",
             False), r"transformer_engine|\bte_\w+_kernel"),
    (Library("apex or DeepSpeed", NVIDIA, "torch.nn and fused=True optimizers", False),
     (r"\bapex\b|cuApplyLayerNorm|cuComputeGradInput|cuComputePartGrad|cuda_layer_norm|LAMBStage|"
     r"^void multi_tensor_apply_kernel$")),
    (Library("bitsandbytes", NVIDIA, "torchao quantisation", False),
     r"kDequantizeBlockwise|kQuantizeBlockwise|kgemm_4bit|kOptimizerStatic|bitsandbytes"),
    (Library("FlashInfer", NVIDIA, _ATTENTION, False), r"\bflashinfer\b"),
    (Library("TensorRT-LLM kernels", NVIDIA, _SERVING, False),
     (r"\btensorrt_llm\b|\btrtllm|^fmhaSm\d+|\bmoe::dev::|"
     r"^bmm_(?:Mx|Bfloat|E4m3|E2m1|Fp|Fp16)\w*_t\d+x\d+x\d+")),
    (Library("TensorRT", NVIDIA, "torch.compile, ONNX Runtime, MIGraphX on AMD", False),
     r"\btrt_|myelin|generatedNativePointwise|cuInt8::|nvinfer"),
    (Library("Marlin and Machete", NVIDIA, "torchao, or the engine's Triton kernels", False),
     r"\bmarlin\b|\bMarlin|\bmachete"),
    (Library("DeepGEMM", NVIDIA, "torch._scaled_mm, torch._grouped_mm", False),
     r"deep_?gemm"),
    (Library("aiter", AMD, _SERVING, False), r"\baiter\b|5aiter"),
    (Library("Composable Kernel", AMD, "aten operators, hipBLASLt, Triton", True),
     r"\bck_tile\b|7ck_tile|\bck::|2ck\d|kernel_gemm_xdl|kernel_grouped_conv"),
    (Library("PyTorch's flash attention", NVIDIA, "the same operator: AOTriton on AMD"),
     r"pytorch_flash|fmha_cutlass|PyTorchMemEff"),
    (Library("AOTriton", AMD, "the same operator: flash attention on NVIDIA"), r"^attn_fwd|^bwd_kernel_dk_dv|^bwd_kernel_dq|^bwd_preprocess"),
    (Library("FlashAttention", BOTH, _ATTENTION, False),
     r"\bflash_fwd|\bflash_bwd|\bflash::|\bflash_attn|FlashAttnFwd|FlashAttnBwd"),
    (Library("vLLM kernels", BOTH, _SERVING, False), r"\bvllm::|\bN4vllm|_moe_C"),
    (Library("SGLang kernels", BOTH, _SERVING, False), r"sgl_hip|sgl_kernel|\bsgl::"),
    (Library("FBGEMM", BOTH, "torch.nn.EmbeddingBag, torchrec on ATen", False),
     (r"fbgemm|split_embedding|_embedding_\w*codegen|asynchronous_complete_cumsum|dense_to_jagged|"
     r"jagged_|permute_1D|permute_2D|linearize_index|bounds_check_indices")),
    (Library("MIOpen", AMD, "aten::convolution: cuDNN on NVIDIA, oneDNN on Intel"),
     (r"miopen|MIOpen|gridwise_convolution|igemm_(?:fwd|bwd|wrw)|naive_conv|batched_transpose_\d|"
     r"SubTensorOp|Im2d2Col|Col2Im2d|transpose_NCHW|gcnAsmConv|Winograd.*(?:_f\dx\d|Rage|Ultra)")),
    (Library("hipBLASLt and rocBLAS (Tensile)", AMD, _PRODUCT.replace(
        "hipBLASLt on AMD", "cuBLAS on NVIDIA")), r"^Cijk_|rocblas|hipblas"),
    (Library("cuDNN", NVIDIA, "aten operators: MIOpen on AMD, oneDNN on Intel"),
     (r"cudnn|(?:im|ex)plicit_convolve|implicit_gemm|\bxmma_\w*(?:fprop|dgrad|wgrad)|(?:fprop|dgrad|wgrad)_"
     r"|_wgrad_|_dgrad_|cask_|nchwToNhwc|nhwcToNchw|\bbn_[fb]w_|conv2d_grouped_direct|fft2d_"
     r"|winograd|nhwcAddPadding|conv_depthwise2d_\w+_engine")),
    (Library("cuBLAS, CUTLASS", NVIDIA, _PRODUCT),
     (r"nvjet|xmma_gemm|cutlass|cublas|splitKreduce|gemmSN|gemmk1|gemv2|gemvNSP|gemv_|dot_kernel|"
     r"reduce_1Block|(?:volta|maxwell|turing|ampere|hopper|sm\d\d)_\w*gemm")),
    (Library("oneDNN", INTEL, _PRODUCT), r"\bdnnl\b|\bonednn\b|\bgen_conv|\bgen_gemm"),
    (Library("CUB, rocPRIM", (), ""), r"\bcub::|\bat_cuda_detail::cub|rocprim|hipcub"),
    (ATEN, (r"\bat::|\bat_cuda_detail|\bc10::|softmax_warp_|\bcunn_|CatArrayBatched|\bnative::"
           r"|vectorized_elementwise|unrolled_elementwise")),
    (HAND_TRITON, (r"^_(?!Z)[a-z]\w*$|^kernel_unified_attention|^fused_moe_kernel|"
                  r"^kernel_paged_attention")),
)  # fmt: skip
_PATTERNS: Final = tuple((library, re.compile(pattern)) for library, pattern in _TABLE)


@lru_cache(maxsize=65536)
def library_of(name: str, vendor: str) -> Library:
    """The library that a kernel comes from, :data:`UNKNOWN` where its name does not tell.

    RCCL keeps NCCL's names: the device's vendor decides.

    >>> library_of("nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT", "nvidia").name
    'cuBLAS, CUTLASS'
    >>> library_of("ncclDevKernel_Generic_1(ncclDevKernelArgs)", "amd").name
    'RCCL'
    """
    text = _scoped(name[:_READ])
    for library, pattern in _PATTERNS:
        if pattern.search(text):
            return _RCCL if library is _NCCL and vendor == "amd" else library
    return UNKNOWN


def extension(operator: str, vendor: str) -> Library:
    """The extension behind an operator that the program calls directly, by its namespace."""
    found = re.match(r"(?:torch::autograd::CppNode<)?([A-Za-z_]\w*)::", operator)
    named = "" if found is None or found[1] == "torch" else f" {found[1]}"
    return Library(
        f"extension{named}", (vendor,) if vendor else BOTH, "its build for that vendor, or ATen",
        model_level=False,
    )  # fmt: skip


def _scoped(text: str) -> str:
    """A function's name with its scopes: what its templates and parameters hold says less.

    Of CUTLASS the template says whose kernel it is.
    """
    text = _ENABLE.sub("", text.replace("(anonymous namespace)::", ""))
    head = re.split("[<(]", text, maxsplit=1)[0]
    if "cutlass" in head and re.search(r"[<:]flash::|FlashAttn", text):
        return "flash::"
    return head.rstrip()

"""Names of products and convolutions of NVIDIA's libraries: what is done comes first.

``sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_warpgroupsize1x1x1_…`` is cut
before its tile on any screen; the operation, the type multiplied in, the tile and the layout
are what tells one from another.
"""

from __future__ import annotations

import re
from typing import Final

_TYPES: Final = {
    "bf16": "bf16", "f16": "fp16", "f32": "fp32", "tf32": "tf32", "f64": "fp64", "i8": "int8",
    "s8": "int8", "e4m3": "fp8_e4m3", "e5m2": "fp8_e5m2",
}  # fmt: skip
_TYPE: Final = "bf16|tf32|f16|f32|f64|i8|s8|e4m3|e5m2"

_XMMA: Final = re.compile(
    rf"(?:\w*?_)?(?P<sm>sm\d+)_xmma_(?P<what>[a-z]\w*?)_(?P<type>{_TYPE})(?:{_TYPE})?"
    rf"_(?:(?:{_TYPE}|i32|s32){{1,2}}_){{1,3}}(?P<layout>[a-z]+(?:_[a-z]+)?)_tilesize"
    r"(?P<tile>\d+x\d+x\d+)(?!x?\d)"
)
_CUTLASS_3: Final = re.compile(
    rf"cutlass3x_(?P<sm>sm\d+)_tensorop_[a-z]?\d+x\d+x\d+(?P<what>[a-z]\w*?)_(?P<type>{_TYPE})_"
    rf"(?:(?:{_TYPE}|void|i32|s32)_)+(?P<tile>\d+x\d+x\d+)_\d+x\d+x\d+_\d+_(?P<layout>[tn]{{2,3}})"
    r"(?=_|$)"
)


def product_name(name: str) -> str:
    """Operation, type, tile, layout and where it comes from; empty for names of other kinds.

    The type is that of the first operand.

    >>> product_name("sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize64x64x64_stage4_kernel")
    'gemm fp16 64x64x64 tn_n sm80_xmma'
    """
    for maker, pattern in (("xmma", _XMMA), ("cutlass3x", _CUTLASS_3)):
        found = pattern.match(name)
        if found is not None:
            what = found["what"].replace("_implicit_gemm", "")
            words = (what, _TYPES[found["type"]], found["tile"], found["layout"])
            return " ".join((*words, f"{found['sm']}_{maker}"))
    if "xmma" in name and " " not in name and "<" not in name:
        return re.sub(r"_execute_.*$|_kernel(?:__5x)?_cu\w+$", "", name)
    return ""

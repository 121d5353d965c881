"""The precision of a product's operands by its kernel's name, where no operator tells it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

#: Precision, then marks of it in lower case; the first that fits wins. Mixed operands count as
#: the wider one that the matrix unit multiplies: E4M3 by MXFP4 is FP8, BF16 by MXFP4 BF16.
_MARKS: Final = tuple(
    (precision, re.compile(pattern))
    for precision, pattern in (
        ("tf32", r"tf32|xf32|_s_mx_|s1688gemm_(?!f?16|bf16)\d|s1688(?:fprop|dgrad|wgrad)_(?!f?16)"),
        ("fp8", r"e4m3|e5m2|fp8|_f8|^cijk_\w+?_(?:f8|b8)|qgmma"),
        ("bf16", r"bf16|bfloat16|^cijk_[a-z]+_[a-z]+_b_?b?[sbh]"),
        ("fp16", r"(?<!b)f16|fp16|\bhalf\b|hgemm|h884|h1688|h16816|^cijk_[a-z]+_[a-z]+_h"),
        ("fp4", r"e2m1|fp4"),
        ("int8", r"i8i8|s8s8|int8|imma|^cijk_[a-z]+_[a-z]+_(?:i8|4xi8)"),
        ("fp64", r"dgemm|d884|f64|^cijk_[a-z]+_[a-z]+_d"),
        ("fp32", r"sgemm|f32f32_f32f32_f32|scudnn|ffma|<float\b|^cijk_[a-z]+_[a-z]+_sb?_"),
    )
)

#: How the cache of keys and values is stored, which is not how they are multiplied.
_STORED: Final = re.compile(r"\w*Fp8KVCache\w*")


@lru_cache(maxsize=65536)
def precision_by_name(name: str) -> str | None:
    """``bf16`` and the like, or None where the name does not tell.

    >>> precision_by_name("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT32x32x256")
    'bf16'
    >>> precision_by_name("nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT") is None
    True
    """
    low = _STORED.sub("", name[:4096]).lower()
    return next((precision for precision, mark in _MARKS if mark.search(low)), None)

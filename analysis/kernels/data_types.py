"""The data type that a kernel's name proves, in short words; nothing where it proves none.

Names hold more types than that of the data: index types, conditions, accumulators, the loop
over offsets. Only the type at a place that is known to be the data's is told.
"""

from __future__ import annotations

import re
from typing import Final

_TYPES: Final = {
    "float": "fp32", "double": "fp64", "c10::BFloat16": "bf16", "c10::Half": "fp16",
    "__half": "fp16", "__nv_bfloat16": "bf16", "half": "fp16", "long": "int64",
    "long long": "int64", "int": "int32", "bool": "bool", "unsigned char": "uint8",
    "signed char": "int8", "short": "int16", "hip_bfloat16": "bf16", "__hip_bfloat16": "bf16",
    "at::BFloat16": "bf16", "at::Half": "fp16", "unsigned short": "uint16",
    "unsigned int": "uint32", "unsigned long": "uint64", "c10::complex<float>": "complex64",
    "c10::complex<double>": "complex128", "c10::complex<c10::Half>": "complex32",
    "c10::Float8_e4m3fn": "fp8_e4m3", "c10::Float8_e4m3fnuz": "fp8_e4m3",
    "c10::Float8_e5m2": "fp8_e5m2", "c10::Float8_e5m2fnuz": "fp8_e5m2",
}  # fmt: skip
#: Types of one letter in mangled names.
_LETTERS: Final = {
    "f": "float", "d": "double", "i": "int", "l": "long", "b": "bool", "h": "unsigned char",
    "a": "signed char", "s": "short", "t": "unsigned short", "j": "unsigned int",
    "m": "unsigned long", "x": "long long",
}  # fmt: skip
#: Index types of ATen's kernels; data of these types is told where a lambda takes it.
_INDEX: Final = frozenset({"unsigned int", "unsigned long"})

_WORD: Final = (
    r"c10::complex<[\w:]+>|c10::Float8_\w+|c10::BFloat16|c10::Half|at::BFloat16|at::Half"
    r"|__nv_bfloat16|__half|__hip_bfloat16|hip_bfloat16|float|double|bool|unsigned char"
    r"|signed char|unsigned short|unsigned int|unsigned long|long long|long|short|int"
)
_TYPE: Final = re.compile(rf"(?<![\w:])(?:OpaqueType<(\d+)\w*>|({_WORD}))(?![\w:])")
_OPAQUE: Final = re.compile(r"OpaqueType<(\d{1,4})\w*>")
# What is read or written; the functions within take what is reckoned in.
_READ: Final = re.compile(
    r"(?:\bReduceOp|\b(?:Binary|[AB]Unary)Functor|_and_transform|distribution_nullary_kernel)<\s*"
    rf"({_WORD})(?![\w:])"
)
# An element's function is made where the types are told apart: within the call of a lambda.
_LAMBDA: Final = re.compile(r"(operator ?\(\)\(\) const::)?[\[{]lambda ?\(([^()]{1,200})\)")
#: Kernels whose only types are those of positions.
_POSITIONS_ONLY: Final = re.compile(
    r"elementwise_kernel_with_index|vectorized_gather_kernel|scatter_gather_elementwise_kernel"
    r"(?!.*(?:OpaqueType|internal_kernel<\w+, ))"
)


def data_type(name: str) -> str:
    """The type of the data of an ATen kernel: ``bf16``; ``16-bit`` where only the size is known.

    Args:
        name: as recorded, demangled or not.

    >>> data_type("void at::native::CatArrayBatchedCopy<at::native::OpaqueType<2u>, unsigned int>")
    '16-bit'
    """
    text = _unmangled(name) if name.startswith("_Z") else name
    text = re.sub(r"at::native::|\(anonymous namespace\)::|<unnamed>::", "", text)
    if _POSITIONS_ONLY.search(text):
        return ""
    read = _READ.search(text)
    if read is not None:
        return _TYPES.get(read[1], "")
    opaque = _OPAQUE.search(text)
    first = _TYPE.search(text, text.find("<") + 1) if "<" in text else None
    if opaque is not None and (first is None or first.start() >= opaque.start()):
        return _bits(opaque[1])
    for within, arguments in _LAMBDA.findall(text):
        taken = _taken([word.strip() for word in arguments.split(",")], within=bool(within))
        if taken is not None:
            return taken
    if opaque is not None and first is not None and first[0] in ("int", "bool"):
        return _bits(opaque[1])
    for found in _TYPE.finditer(text, text.find("<") + 1):
        if found[2] not in _INDEX and not _in_parameters_of_a_lambda(text, found.start()):
            return _TYPES.get(found[2], "")
    return ""


def _bits(size: str) -> str:
    return f"{8 * int(size)}-bit"


def _taken(arguments: list[str], *, within: bool) -> str | None:
    """The type of the data that a function takes; ``None``: it is no function of elements."""
    if any("*" in word or "&" in word for word in arguments):
        return None
    if arguments[0] == "void" or (arguments[0] == "int" and not within):
        return None
    # A condition chooses among data of another type.
    values = [word for word in arguments if word != "bool"] or arguments
    return _TYPES.get(values[0], "")


def _in_parameters_of_a_lambda(text: str, at: int) -> bool:
    return re.search(r"lambda ?\([^()]{0,200}$", text[max(0, at - 220) : at]) is not None


_TOKEN: Final = re.compile(
    r"(?P<call>clEvE)|Ul(?P<lambda>(?:[a-z]|N3c10\d+\w+?E)+?)E\d*_|(?P<c10>N3c10(?P<size>\d+))"
    r"|L[a-z]\w*?E|S[0-9A-Z]*_|St|T\d*_|(?P<length>[1-9]\d{0,2})(?=[A-Za-z_])|(?P<open>I)"
    r"|(?P<letter>[a-z])|."
)


def _unmangled(name: str) -> str:
    """The scopes, templates and functions of an Itanium-mangled name, types spelled out.

    No full demangler: substitutions and values are left out, as no data type is read from them.
    """
    told: list[str] = []
    at, depth = 2, 0
    while at < len(name) and (found := _TOKEN.match(name, at)) is not None:
        at = found.end()
        if found["call"]:
            told.append("operator()() const::")
        elif found["lambda"]:
            told.append(f"{{lambda({_arguments(found['lambda'])})#1}}, ")
        elif found["c10"]:
            word = name[at : at + int(found["size"])]
            at += len(word)
            told.append(f"c10::{word}, ")
        elif found["length"]:
            word = name[at : at + int(found["length"])]
            at += len(word)
            told.append(f"{word}<" if name[at : at + 1] == "I" else f"{word}, ")
            depth += name[at : at + 1] == "I"
        elif found["letter"] and depth:
            told.append(f"{_LETTERS.get(found['letter'], '')}, ")
    return re.sub(r"OpaqueType<[^<>]*$", "", "".join(told))


def _arguments(letters: str) -> str:
    words = re.findall(r"N3c10\d+(\w+?)E|([a-z])", letters)
    return ", ".join(f"c10::{word}" if word else _LETTERS.get(one, "void") for word, one in words)

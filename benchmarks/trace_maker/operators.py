"""What a step does on the host: trees of operators with the shapes of their inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator, what it calls, and the kernels it launches itself.

    Attributes:
        name: as the trace has it.
        dims: ``Input Dims`` with ``{b}`` batch, ``{s}`` sequence, ``{t}`` tokens of an expert;
            empty where the profiler records none.
        types: ``Input type``.
        concrete: ``Concrete Inputs``.
        children: called in turn before its own launches.
        kernels: keys of ``KERNELS``, one for every launch.
    """

    name: str
    dims: str = ""
    types: str = ""
    concrete: str = ""
    children: tuple[Operator, ...] = ()
    kernels: tuple[str, ...] = ()


_BF16 = "c10::BFloat16"


def _types(*names: str) -> str:
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"


_ONE, _TWO, _THREE = _types(_BF16), _types(_BF16, _BF16), _types(_BF16, _BF16, _BF16)
_STRIDED = Operator(
    "aten::as_strided",
    "[[{b}, {s}, 2048], [], [], []]",
    _types(_BF16, "ScalarList", "ScalarList", ""),
    '["", "[{b}, {s}, 2048]", "[2048, 1, 1]", ""]',
)
_TRANSPOSE = Operator(
    "aten::t",
    "[[2048, 2048]]",
    _ONE,
    '[""]',
    (
        Operator(
            "aten::transpose",
            "[[2048, 2048], [], []]",
            _types(_BF16, "Scalar", "Scalar"),
            '["", "0", "1"]',
            (_STRIDED,),
        ),
    ),
)
_EMPTY = Operator(
    "aten::empty",
    "[[], [], [], [], [], []]",
    _types("ScalarList", "Scalar", "Scalar", "Scalar", "Scalar", ""),
    '["[{b}, {s}, 2048]", "15", "0", "0", "False", ""]',
)
_EMPTY_STRIDED = Operator(
    "aten::empty_strided",
    "[[], [], [], [], [], []]",
    _types("ScalarList", "ScalarList", "Scalar", "Scalar", "", "Scalar"),
    '["[{b}, {s}]", "[{s}, 1]", "15", "0", "", "False"]',
)


def _view(dims: str, size: str) -> Operator:
    return Operator("aten::view", f"[{dims}, []]", _types(_BF16, "ScalarList"), f'["", "{size}"]')


def _binary(name: str, dims: str, kernel: str) -> Operator:
    return Operator(
        name,
        f"[{dims}, {dims}, []]",
        _types(_BF16, _BF16, "Scalar"),
        '["", "", "1"]',
        kernels=(kernel,),
    )


def _linear(rows: str, inner: int, outer: int) -> Operator:
    weight = f"[{outer}, {inner}]"
    return Operator(
        "aten::linear",
        f"[[{rows}, {inner}], {weight}, [{outer}]]",
        _THREE,
        '["", "", ""]',
        (
            _TRANSPOSE,
            Operator(
                "aten::addmm",
                f"[[{outer}], [{rows}, {inner}], [{inner}, {outer}], [], []]",
                _types(_BF16, _BF16, _BF16, "Scalar", "Scalar"),
                '["", "", "", "1", "1"]',
                kernels=("gemm",),
            ),
            _view(f"[{rows}, {outer}]", f"[{rows}, {outer}]"),
        ),
    )


_TOKENS = "{b}, {s}"
_HIDDEN = "[{b}, {s}, 2048]"
_HEADS = "[{b}, 16, {s}, 128]"

_CAST = Operator(
    "aten::to",
    f"[{_HIDDEN}, [], [], [], []]",
    _types("float", "Scalar", "Scalar", "Scalar", ""),
    '["", "15", "False", "False", ""]',
    (
        Operator(
            "aten::_to_copy",
            f"[{_HIDDEN}, [], [], [], [], [], []]",
            _types("float", "Scalar", "", "", "", "Scalar", ""),
            '["", "15", "", "", "", "False", ""]',
            (
                _EMPTY_STRIDED,
                Operator(
                    "aten::copy_",
                    f"[{_HIDDEN}, {_HIDDEN}, []]",
                    _types(_BF16, "float", "Scalar"),
                    '["", "", "False"]',
                    kernels=("cast",),
                ),
            ),
        ),
    ),
)
_NORM = Operator(
    "aten::layer_norm",
    f"[{_HIDDEN}, [], [2048], [2048], [], []]",
    _types(_BF16, "ScalarList", _BF16, _BF16, "Scalar", "Scalar"),
    '["", "[2048]", "", "", "1.0000000000000001e-05", "True"]',
    (
        Operator(
            "aten::native_layer_norm",
            f"[{_HIDDEN}, [], [2048], [2048], []]",
            _types(_BF16, "ScalarList", _BF16, _BF16, "Scalar"),
            '["", "[2048]", "", "", "1.0000000000000001e-05"]',
            (_EMPTY, _EMPTY),
            ("norm",),
        ),
    ),
)
_ATTENTION = Operator(
    "aten::scaled_dot_product_attention",
    f"[{_HEADS}, {_HEADS}, {_HEADS}, [], [], [], [], []]",
    _types(_BF16, _BF16, _BF16, "", "Scalar", "Scalar", "", "Scalar"),
    '["", "", "", "", "0.", "True", "", "False"]',
    (
        Operator(
            "aten::_scaled_dot_product_flash_attention",
            f"[{_HEADS}, {_HEADS}, {_HEADS}, [], [], [], []]",
            _types(_BF16, _BF16, _BF16, "Scalar", "Scalar", "Scalar", ""),
            '["", "", "", "0.", "True", "False", ""]',
            (_STRIDED, Operator("aten::_flash_attention_forward", kernels=("flash",))),
        ),
    ),
)
_GELU = Operator(
    "aten::gelu",
    "[[{b}, {s}, 8192], []]",
    _types(_BF16, ""),
    '["", "none"]',
    kernels=("gelu",),
)
_EXPERT = Operator(
    "aten::index_select",
    "[[{t}, 2048], [], [{t}]]",
    _types(_BF16, "Scalar", "long int"),
    '["", "0", ""]',
    kernels=("routing",),
)

#: One layer's forward pass: the module of each part and its operators.
FORWARD: Final[tuple[tuple[str, tuple[Operator, ...]], ...]] = (
    ("LayerNorm", (_CAST, _NORM)),
    ("Linear", (_linear(_TOKENS, 2048, 6144),)),
    (
        "Attention",
        (
            _view("[{b}, {s}, 6144]", "[{b}, {s}, 3, 16, 128]"),
            Operator(
                "aten::cat",
                "[[], []]",
                _types("TensorList", "Scalar"),
                '["", "-1"]',
                kernels=("cat",),
            ),
            _ATTENTION,
        ),
    ),
    ("Linear", (_linear(_TOKENS, 2048, 2048), _binary("aten::add", _HIDDEN, "add"))),
    ("LayerNorm", (_NORM,)),
    ("Router", (_EXPERT, _binary("aten::mul", "[{t}, 2048]", "mul"))),
    ("Linear", (_linear("{t}", 2048, 8192), _GELU)),
    ("Linear", (_linear("{t}", 8192, 2048),)),
    (
        "Dropout",
        (
            Operator(
                "aten::native_dropout",
                f"[{_HIDDEN}, [], []]",
                _types(_BF16, "Scalar", "Scalar"),
                '["", "0.10000000000000001", "True"]',
                (_EMPTY,),
                ("dropout",),
            ),
            _binary("aten::add_", _HIDDEN, "add"),
        ),
    ),
)


def _backward(name: str, *children: Operator, kernels: tuple[str, ...] = ()) -> Operator:
    call = Operator(name, f"[{_HIDDEN}]", _ONE, '[""]', children, kernels)
    return Operator(f"autograd::engine::evaluate_function: {name}", children=(call,))


def _matmul(rows: str, inner: int, outer: int) -> Operator:
    return Operator(
        "aten::mm",
        f"[[{rows}, {inner}], [{inner}, {outer}]]",
        _TWO,
        '["", ""]',
        kernels=("gemm",),
    )


_ACCUMULATE = Operator(
    "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad",
    children=(
        Operator(
            "torch::autograd::AccumulateGrad",
            "[[2048, 2048]]",
            _ONE,
            '[""]',
            (_binary("aten::add_", "[2048, 2048]", "add"),),
        ),
    ),
)

#: One layer's backward pass.
BACKWARD: Final[tuple[Operator, ...]] = (
    _backward("NativeDropoutBackward0", _binary("aten::mul", _HIDDEN, "mul")),
    _backward("AddmmBackward0", _TRANSPOSE, _matmul("{t}", 2048, 8192), _matmul("8192", 64, 2048)),
    _ACCUMULATE,
    _backward("GeluBackward0", kernels=("gelu",)),
    _backward("IndexSelectBackward0", _EMPTY, kernels=("routing", "fill")),
    _backward("AddmmBackward0", _TRANSPOSE, _matmul("{t}", 8192, 2048), _matmul("2048", 64, 8192)),
    _ACCUMULATE,
    _backward("NativeLayerNormBackward0", _EMPTY, _EMPTY, kernels=("norm_backward", "sum")),
    _backward(
        "ScaledDotProductFlashAttentionBackward0",
        _STRIDED,
        _EMPTY,
        kernels=("flash_backward", "cast"),
    ),
    _backward("AddmmBackward0", _TRANSPOSE, _matmul("2048", 64, 6144), kernels=("sum",)),
    _ACCUMULATE,
    _backward("ToCopyBackward0", _CAST),
)

#: Communication of a bucket of gradients, on a stream of its own.
ALL_REDUCE: Final = Operator(
    "c10d::allreduce_",
    "[[], [], [], [], [], []]",
    _types("TensorList", "", "", "", "Scalar", "Scalar"),
    '["", "", "", "", "False", "-1"]',
    (Operator("record_param_comms", "[[26214400]]", _ONE, '[""]'),),
    ("all_reduce",),
)

#: What the optimiser does for each group of parameters.
OPTIMISER: Final[tuple[Operator, ...]] = (
    Operator("aten::_foreach_add_", "[[], []]", _types("TensorList", "Scalar"), '["", "1"]'),
    Operator(
        "aten::_fused_adamw_",
        "[[], [], [], [], [], []]",
        _types("TensorList", "TensorList", "TensorList", "TensorList", "TensorList", "TensorList"),
        '["", "", "", "", "", ""]',
        kernels=("adam", "adam"),
    ),
)

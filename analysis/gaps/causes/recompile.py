"""The program was compiling in the middle of the run: Dynamo, Inductor or its autotuning.

Compiling belongs into the first steps. Later it means that a guard failed: a shape, a dtype,
a Python value that the compiled code was specialised to has changed. Everything inside the
compile is part of it: the code that it loads, its benchmarks and the waits for them. A
variant that was compiled before and is only looked up (``Torch-Compiled Region: 0/1``) is
no recompile, and what the first recorded step compiles is ``warm-up``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule
from whichlayer.analysis.trace.kinds import SliceKind

RULE = Rule(
    id="recompile",
    layer=Layer.RUNTIME,
    title="compiling again while the program runs",
    fix="TORCH_LOGS=recompiles names the guard that failed: torch._dynamo.mark_dynamic, "
    "dynamic=True, padded or bucketed shapes",
    thresholds={"note": 0.05, "later_share": 0.5},
    source="annotations and frames of torch._dynamo and torch._inductor",
    example="made: torch._dynamo compiles for 6 ms in the third of the recorded steps, a "
    "device synchronisation and a module load inside: 6 ms idle, all of it this",
)

#: Annotations around the phases of a compile; newer versions dropped the suffix.
_PHASE = re.compile(
    r"\(dynamo_timed\)$"
    r"|^(entire_(frame|backward)_compile|backend_compile|inductor_compile|bytecode_tracing"
    r"|build_guards|(torch\.)?_compile\b.*|compile_inner|compile_fx\w*|fx_codegen_and_compile"
    r"|aot_autograd\.\w+|create_aot_dispatcher_function|OutputGraph\.\w+|call_user_compiler"
    r"|GraphLowering\.\w+|Scheduler\.\w+|PyCodeCache\.\w+|async_compile\.\w+"
    r"|CachingAutotuner\.\w+|InductorBenchmarker\.\w+)$"
    r"|^(torch\.?_?)?(dynamo|inductor)\b.*\bcompil|\bautotun(e|ing)\b",
    re.IGNORECASE,
)
#: Modules that work at compile time alone, and functions of others that do.
_FRAME = re.compile(
    r"torch/_dynamo/(symbolic_convert|output_graph)\.py\(\d+\): "
    r"|torch/_inductor/(graph|scheduler|lowering|select_algorithm)\.py\(\d+\): "
    r"|torch/_dynamo/convert_frame\.py\(\d+\): (_?compile(_inner|_frame)?|transform)$"
    r"|torch/_inductor/compile_fx\.py\(\d+\): \w*(compile_fx|codegen_and_compile)\w*$"
    r"|torch/_inductor/async_compile\.py\(\d+\): (wait|_wait_futures)$"
    r"|torch/_functorch/aot_autograd\.py\(\d+\): (create_aot|_create_aot|aot_dispatch)\w+$"
    r"|torch/_inductor/runtime/triton_heuristics\.py\(\d+\): "
    r"(precompile|_precompile\w*|_make_launchers|autotune_to_one_config|benchmark_all_configs"
    r"|coordinate_descent_tuning)$"
)

#: Candidates of one kernel are timed against each other; nothing is traced or generated.
_TRIALS = re.compile(
    r"triton_heuristics\.py\(\d+\): "
    r"(autotune_to_one_config|benchmark_all_configs|coordinate_descent_tuning)$"
    r"|^(CachingAutotuner|InductorBenchmarker)\.\w*(bench|tun)\w*$|\bautotun(e|ing)\b",
    re.IGNORECASE,
)
_TUNE_ONCE = (
    "candidates of a kernel are timed here: tune before the loop (warm up with every shape, pad "
    "or bucket them), keep TORCHINDUCTOR_CACHE_DIR between runs, or turn off max-autotune and "
    "coordinate_descent_tuning"
)


def fix_for(culprit: str, around: Sequence[str]) -> str:
    """The fix, by whether code is generated or only candidates of a kernel are timed."""
    names = [name.replace("\\", "/") for name in (culprit, *around)]
    compiling = any(
        (_FRAME.search(name) or _PHASE.search(name)) and not _TRIALS.search(name) for name in names
    )
    return RULE.fix if compiling or not _TRIALS.search(names[0]) else _TUNE_ONCE


def marks(name: str, kind: SliceKind, category: str) -> bool:
    """Whether a slice of this name is a compile at work."""
    if kind == SliceKind.PYTHON:
        return _FRAME.search(name.replace("\\", "/")) is not None
    return kind in (SliceKind.ANNOTATION, SliceKind.CPU_OP) and _PHASE.search(name) is not None

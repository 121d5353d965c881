"""Random recordings: any streams, overlaps and orders, as hostile to accounting as files get.

One seed gives one recording. They are no plausible programs; those are in ``tests/simulator``.
"""

from __future__ import annotations

from random import Random

from tests.support.program import AUTOGRAD, MAIN, Program

KERNELS = (
    "ampere_sgemm_128x128_tn",
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>",
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
    "ncclDevKernel_SendRecv",
)
COPIES = (
    ("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", "cudaMemcpyAsync"),
    ("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", "cudaMemcpyAsync"),
    ("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", "cudaMemcpyAsync"),
    ("gpu_memcpy", "Memcpy DtoD (Device -> Device)", "cudaMemcpyAsync"),
    ("gpu_memcpy", "Memcpy PtoP (Device -> Device)", "cudaMemcpyPeerAsync"),
    ("gpu_memcpy", "CopyHostToDevice", "hipMemcpyWithStream"),
    ("gpu_memset", "Memset (Device)", "cudaMemsetAsync"),
)
CALLS = ("cudaLaunchKernel", "cuLaunchKernel", "hipExtModuleLaunchKernel", "cudaLaunchKernelExC")
HOST = (
    ("cpu_op", "aten::add"),
    ("cpu_op", "aten::item"),
    ("cpu_op", "autograd::engine::evaluate_function: MmBackward0"),
    ("cpu_op", "Optimizer.step#SGD.step"),
    ("python_function", "train.py(3): f"),
    ("python_function", "torch/utils/data/dataloader.py(629): __next__"),
    ("python_function", "threading.py(320): wait"),
    ("python_function", "torch/autograd/graph.py(768): _engine_run_backward"),
    ("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"),
    ("user_annotation", "Torch-Compiled Region: 0/1"),
    ("user_annotation", "Optimizer.zero_grad#SGD.zero_grad"),
    ("cpu_op", "CompiledFxGraph abc"),
    ("cuda_runtime", "cudaDeviceSynchronize"),
    ("cuda_runtime", "cudaStreamSynchronize"),
    ("cuda_runtime", "cudaStreamWaitEvent"),
    ("cuda_runtime", "cudaEventRecord"),
    ("cuda_runtime", "cudaFree"),
    ("cuda_runtime", "cudaMalloc"),
    ("cuda_runtime", "cudaStreamBeginCapture"),
    ("cuda_runtime", "cudaStreamEndCapture"),
    ("cuda_driver", "cuModuleLoadData"),
    ("overhead", "Buffer Flush"),
    ("overhead", "Lazy Function Loading"),
    ("cuda_sync", "Stream Wait Event"),
)
STREAMS = (7, 7, 7, 20, 24)


def random_program(seed: int) -> Program:
    """The recording of a seed: up to three devices, forty activities, thirty host slices."""
    random = Random(seed)
    program = Program()
    scale = random.choice((1.0, 20.0, 1_000.0))
    devices = random.choice(((0,), (0,), (0, 1), (2, 5, 9)))
    for _ in range(random.randint(1, 40)):
        _activity(program, random, random.choice(devices), scale)
    for _ in range(random.randint(0, 30)):
        category, name = random.choice(HOST)
        thread = random.choice((MAIN, MAIN, AUTOGRAD, 5000))
        program.slice(category, name, _time(random, scale), _length(random, scale), tid=thread)
    _steps(program, random, scale)
    random.shuffle(program.events)
    return program


def _time(random: Random, scale: float) -> float:
    """Often the same instants: edges that coincide are where accounting goes wrong."""
    at = random.choice((random.randint(0, 10) * 40.0, random.uniform(0, 400)))
    return round(at * scale, 3)


def _length(random: Random, scale: float) -> float:
    return random.choice((0.0, 0.001, 40.0 * scale, round(random.uniform(0, 90) * scale, 3)))


def _activity(program: Program, random: Random, device: int, scale: float) -> None:
    start, stream = _time(random, scale), random.choice(STREAMS)
    length = _length(random, scale)
    kind = random.random()
    # Late, early (queued), or before its own launch: the clocks are not the same.
    lead = random.choice((5.0, 30.0 * scale, -3.0, random.uniform(0, 200) * scale))
    called = (max(start - lead, 0.0), random.choice((0.0, 4.0, 50.0 * scale)))
    launch = called if random.random() < 0.85 else None
    thread = random.choice((MAIN, MAIN, AUTOGRAD))
    if kind < 0.15:  # a graph: many kernels of one call, on several streams
        number = program.call("cudaGraphLaunch", *called, thread=thread)
        for _ in range(random.randint(1, 6)):
            program.kernel(
                random.choice(KERNELS), start, length, stream=random.choice(STREAMS),
                device=device, correlation=number,
            )  # fmt: skip
            start += length + random.choice((0.0, 1.0, 10.0 * scale))
        return
    category, name, call = "kernel", random.choice(KERNELS), random.choice(CALLS)
    if kind < 0.4:
        category, name, call = random.choice(COPIES)
    program.kernel(
        name, start, length, launch, stream=stream, device=device, thread=thread, call=call,
        category=category, bytes=random.choice((0, 4096, 1 << 24)),
    )  # fmt: skip


def _steps(program: Program, random: Random, scale: float) -> None:
    kind = random.choice(("none", "profiler", "profiler", "gpu", "vllm", "sglang"))
    if kind == "none":
        return
    at = _time(random, scale) / 4
    for number in range(random.randint(1, 4)):
        length = round(random.uniform(1, 150) * scale, 3)
        if kind == "profiler":
            program.step(number, at, length)
        elif kind == "gpu":
            program.slice("gpu_user_annotation", f"ProfilerStep#{number}", at, length, pid=0, tid=7)
        elif kind == "vllm":
            program.annotation("execute_context_0(0)_generation_8(8)", at, length)
        else:
            program.annotation(f"step[DECODE bs={number + 1}]", at, length)
        at += length + random.choice((0.0, 5.0 * scale, -length / 2))  # or they overlap

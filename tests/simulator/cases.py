"""The seeded cases: each cause alone at several sizes, mixtures, red herrings, recordings."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tests.simulator.actions import Program
from tests.simulator.costs import MACHINES, MS, Draw, Machine
from tests.simulator.programs import Plant, Style, build
from tests.simulator.recording import Recording


@dataclass(frozen=True, slots=True)
class Case:
    """One program and how it is recorded."""

    name: str
    group: str
    machine: Machine
    style: Style
    plants: tuple[Plant, ...]
    recording: Recording
    seed: int
    healthy: bool = False

    @property
    def overhead_alone(self) -> bool:
        """Whether the profiler works outside of every slice that this recording holds."""
        return any(
            p.cause == "profiler-overhead" and (p.how == "between" or not self.recording.operators)
            for p in self.plants
        )

    def program(self) -> Program:
        """The program, the same at every call."""
        return build(Draw(self.seed, self.machine, self.recording.stacks), self.style, self.plants)


HOWS: dict[str, tuple[str, ...]] = {
    "dataloader-wait": ("single", "workers"),
    "host-sync": (
        "item:loss", "item:forward", "cpu:loss", "nonzero:forward", "synchronize:end", "pinned:loss",
        "item:layers", "nonzero:layers", "pinned:layers",
    ),
    "h2d-pageable": ("",),
    "h2d-exposed": ("", "side"),
    "launch-bound": ("",),
    "allocator": ("", "free"),
    "python-overhead": ("start", "forward", "noted-start", "noted-forward"),
    "cpu-operator": ("",),
    "exposed-comm": ("backward", "forward"),
    "module-load": ("", "overhead", "driver"),
    "profiler-overhead": ("call", "between"),
    "unattributed": ("",),
    "gc-pause": ("",),
    "recompile": ("",),
    "graph-break": ("ops", "python"),
    "optimizer-loop": ("",),
    "pipeline-bubble": ("",),
}  # fmt: skip

SIZES = {
    "dataloader-wait": (3 * MS, 12 * MS, 50 * MS),
    "host-sync": (0, 0),
    "h2d-pageable": (MS // 2, 2 * MS, 8 * MS),
    "h2d-exposed": (MS // 2, 2 * MS, 8 * MS),
    "launch-bound": (4 * MS, 10 * MS),
    "allocator": (2 * MS, 10 * MS),
    "python-overhead": (4 * MS, 15 * MS, 40 * MS),
    "cpu-operator": (4 * MS, 20 * MS),
    "exposed-comm": (MS, 4 * MS, 10 * MS),
    "module-load": (4 * MS, 20 * MS),
    "profiler-overhead": (6 * MS, 20 * MS),
    "unattributed": (6 * MS, 20 * MS),
    "gc-pause": (3 * MS, 15 * MS, 60 * MS),
    "recompile": (8 * MS, 60 * MS),
    "graph-break": (3 * MS, 10 * MS),
    "optimizer-loop": (8 * MS, 50 * MS),
    "pipeline-bubble": (2 * MS, 10 * MS),
}

RECORDINGS = (
    Recording(),
    Recording(stacks=True),
    Recording(stacks=True, loader=False),
    Recording(loader=False, notes=False, shapes=False, flows=False),
    Recording(steps=False),
    Recording(ticks=True),
    Recording(ticks=True, legacy=True),
    Recording(operators=False, notes=False, flows=False),
    Recording(stacks=True, gc=False),
    Recording(
        operators=False,
        notes=False,
        flows=False,
        steps=False,
        loader=False,
        shapes=False,
        calls=False,
    ),
)


def _recording(rng: random.Random, machine: Machine) -> Recording:
    chosen = rng.choice(RECORDINGS)
    if not machine.rocm:
        return chosen
    return replace(chosen, ticks=False, legacy=False, rocm=True)


def alone(seed: int) -> Iterator[Case]:
    """Each cause alone: every way, every size, in every step or every second."""
    rng = random.Random(seed)
    for cause, hows in HOWS.items():
        for how in hows:
            for ns in SIZES[cause]:
                for every in (1, 2):
                    machine = rng.choice(MACHINES)
                    style = Style(
                        kernel_us=rng.choice((60.0, 150.0, 400.0)), layers=rng.choice((10, 16))
                    )
                    plant = Plant(cause, ns, every, how)
                    yield Case(
                        f"{cause}/{how or '-'}/{ns // 1000}us/every{every}", "alone", machine, style,
                        (plant,), _recording(rng, machine), rng.randrange(1 << 30),
                    )  # fmt: skip


def mixed(seed: int, count: int) -> Iterator[Case]:
    """Two to four causes in one program."""
    rng = random.Random(seed)
    for i in range(count):
        machine = rng.choice(MACHINES)
        causes = rng.sample(sorted(HOWS), rng.choice((2, 2, 3, 4)))
        plants = tuple(
            Plant(c, rng.choice(SIZES[c]), rng.choice((1, 1, 2)), rng.choice(HOWS[c]))
            for c in causes
        )
        style = Style(
            kernel_us=rng.choice((6.0, 40.0, 150.0, 400.0)), layers=rng.choice((8, 14)),
            collectives=rng.choice((0, 0, 300)), slow_first=rng.choice((1, 1, 4)),
            drained=rng.random() < 0.8, train=rng.random() < 0.8,
        )  # fmt: skip
        yield Case(
            f"mixed{i}/" + "+".join(sorted(causes)), "mixed", machine, style, plants,
            _recording(rng, machine), rng.randrange(1 << 30),
        )  # fmt: skip


def herrings(seed: int, repeats: int) -> Iterator[Case]:
    """Nothing is wrong, or what looks wrong costs nothing."""
    rng = random.Random(seed)
    deep = Style(kernel_us=900.0, layers=16)
    kinds: tuple[tuple[str, Style, tuple[Plant, ...]], ...] = (
        ("plain", Style(kernel_us=200.0, collectives=150), ()),
        ("covered-loader", deep, (Plant("dataloader-wait", 4 * MS, 1, "single"),)),
        ("covered-workers", deep, (Plant("dataloader-wait", 5 * MS, 1, "workers"),)),
        ("covered-sync", deep, (Plant("covered-sync", 0),)),
        ("covered-allocation", deep, (Plant("allocator", 2 * MS, 1),)),
        ("covered-python", deep, (Plant("python-overhead", 4 * MS, 1, "forward"),)),
        ("slow-first", Style(kernel_us=300.0, slow_first=5), ()),
        ("not-drained", Style(kernel_us=300.0, drained=False), ()),
        ("back-pressure", Style(kernel_us=250.0, layers=170, steps=3), ()),
        ("graph", Style(kernel_us=400.0, graph=160, train=False), ()),
        ("inference", Style(kernel_us=500.0, layers=30, train=False), ()),
        ("covered-collection", deep, (Plant("gc-pause", 3 * MS, 1),)),
        ("covered-update", deep, (Plant("optimizer-loop", 4 * MS, 1),)),
        ("covered-break", deep, (Plant("graph-break", 2 * MS, 1, "ops"),)),
        ("compiled", Style(kernel_us=400.0, compiled="whole"), ()),
        ("regional", Style(kernel_us=400.0, compiled="regional"), ()),
        ("first-compile", Style(kernel_us=300.0, compiled="whole", first_compile=30 * MS), ()),
    )
    for repeat in range(repeats):
        for name, style, plants in kinds:
            machine = rng.choice(MACHINES)
            yield Case(
                f"{name}/{repeat}", "healthy", machine, style, plants, _recording(rng, machine),
                rng.randrange(1 << 30), healthy=True,
            )  # fmt: skip

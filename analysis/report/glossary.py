"""What the numbers and words of the screen and the reports mean, one text each.

The one place for these texts: ``whichlayer explain``, the help of the screen and the documents
show them. ``docs/accounting.md`` has the rules in full.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the product.

    Attributes:
        word: as users read it.
        means: what it is and how it is computed.
        also: other words by which it may be asked for.
    """

    word: str
    means: str
    also: tuple[str, ...] = ()


TERMS: tuple[Term, ...] = (
    Term(
        "window",
        "What is analysed: from the start of the first recorded step to the end of the last, its "
        "kernels included; without steps from first to last GPU activity; or what --steps or --span "
        "ask for. Shares are of the window times its GPUs.",
    ),
    Term(
        "verdict",
        "Two shares of the window: A, lost in gaps owned above CUDA (PyTorch, runtime, boundary), and "
        "B, lost in kernels, whoever owns that. above-cuda: A is 20 % or more and B less; "
        "below-pytorch: B is and A is not; both: both are; unclear: neither, but more than half of "
        "the window is unknown or unjudged; else healthy. A ? behind it: something makes it a hint, "
        "which the header's notes tell. Too short and idle stand for a span that has none: of "
        "launches less is known than a fifth of it, or nothing runs in it and nobody was late.",
        ("above-cuda", "below-pytorch", "both", "unclear", "healthy", "both sides", "too short"),
    ),
    Term(
        "layer budget",
        "At roof + loss by layer + gaps by layer + launch spacing + unjudged + edge = window times "
        "GPUs, to the nanosecond: every instant is accounted for once.",
        ("budget", "layers"),
    ),
    Term(
        "gap",
        "A stretch in which a GPU computes nothing, cut into pieces: idle (nothing runs), exposed "
        "communication (only collectives run) and exposed copies (only transfers run). The cause of "
        "an idle piece is read from the launch of the work that ends it, never from what happens to "
        "overlap it.",
        ("idle",),
    ),
    Term(
        "launch spacing",
        "Idle time so short that it lies between any two kernels, even under a deep queue. The limit "
        "is read from the recording itself; nobody owns it.",
        ("spacing", "launch floor", "floor"),
    ),
    Term(
        "edge",
        "Time of the window outside every step, or before the first and after the last GPU activity.",
    ),
    Term(
        "launch delay",
        "From the start of a launch call on the host to the start of its kernel. Whether it costs "
        "anything depends on what the GPU did meanwhile. It still ran earlier work: the kernel waited "
        "its turn, the host is ahead, nothing is lost. It was idle (the queue was empty): up to what "
        "such a launch usually takes it is launch overhead (launch-latency); beyond, while the call "
        "lasted, the call itself was slow, for its first use of a kernel loads code (module-load) or "
        "its thread was held; after it had returned, the kernel waited for an event, another stream, "
        "a copy or a peer (stream-wait). Of one in a graph the delay holds the graph before it. @ on "
        "a kernel or its launch tells which it was.",
        ("delay", "launch to kernel", "between launch and kernel"),
    ),
    Term(
        "queue depth",
        "Launches whose work has not ended yet, at the moment of a launch. At zero the GPU waits for "
        "the host (host late); from about 1024 on a launch call itself waits for room.",
        ("queue", "host late"),
    ),
    Term(
        "launch latency",
        "From launch to kernel into an empty queue, up to the 99th percentile of this recording; "
        "nobody owns it, and it counts as evidence of launch-bound.",
    ),
    Term(
        "time lost",
        "What a finding takes: its gaps, or what its kernels take above their ideal. It says where "
        "time went, not what a change gains.",
        ("lost", "loss"),
    ),
    Term(
        "recoverable",
        "By how much the window shrinks when the recorded schedule is replayed without the cause. "
        "'≤' marks an upper bound: hiding needs other work, and the profiler makes the host slower.",
        ("recoverable time", "replay"),
    ),
    Term(
        "ideal",
        "What a well-made kernel takes on this card: the time of trivial kernels, and the larger of "
        "bytes over 0.9 of the data sheet's bandwidth and flops over what good products reach of the "
        "dense rate.",
        ("well-made kernel",),
    ),
    Term(
        "roof",
        "The data sheet's bandwidth, or its dense rate at the precision that ran, whichever binds. "
        "Clocks are not recorded, so shares are of the data sheet. 'Of roof' is a well-made kernel's "
        "time over its own.",
        ("of roof", "roof fraction", "%roof", "=", "at roof", "at the roof"),
    ),
    Term(
        "unjudged",
        "Time of kernels whose bytes and flops are not known, or of a card whose peaks are not "
        "confirmed: neither loss nor gap. The report lists the reasons; most often shapes were not "
        "recorded.",
        ("unjudged kernels",),
    ),
    Term(
        "bytes",
        "The traffic that an operator cannot avoid: each input read once, each output written once. "
        "Real kernels move at least that, so GB/s is a lower bound.",
        ("GB/s", "bandwidth", "gbps"),
    ),
    Term(
        "arithmetic intensity",
        "Flops for each byte. Left of the ridge of the roofline a kernel is bound by memory, right of "
        "it by compute.",
        ("intensity", "ridge", "roofline"),
    ),
    Term(
        "occupancy",
        "Warps that fit an SM at once by the launch's registers, shared memory and threads, of those "
        "that it could hold. The limiter is what runs out first.",
        ("limiter",),
    ),
    Term(
        "waves",
        "Blocks of the grid over those that run at once on the whole card. Just above a whole number "
        "the last wave leaves most of the card idle.",
        ("wave", "tail"),
    ),
    Term(
        "coverage",
        "Of how much kernel time bytes are known, and of how much matrix work flops are.",
    ),
    Term(
        "MFU",
        "Model flops utilisation: flops of a step over its time, of the dense rate of the precision "
        "that most of them ran in; with the share of matrix work whose flops are known.",
        ("throughput", "tflops", "TFLOP/s"),
    ),
    Term(
        "exposed",
        "Communication or copies while nothing is computed. Hidden is what runs beside compute.",
        ("hidden", "exposed communication", "exposed copy", "overlap"),
    ),
    Term(
        "bus bandwidth",
        "As nccl-tests defines it: size over duration times a factor by collective, so that it can be "
        "compared with the links. Of one rank it is a lower bound: its time holds the wait for the "
        "others.",
        ("busbw", "algorithm bandwidth", "algbw"),
    ),
    Term(
        "heatmap",
        "Where a GPU was idle, a row for each step, or for each of its streams or each GPU (R), all "
        "on one scale. The shade of a cell is the share of it spent in gaps, of a stream while it "
        "ran nothing itself; the letter is the owner of most of that, a capital from half of the "
        "cell on.",
        ("heat map", "gap heatmap"),
    ),
    Term(
        "part",
        "Without steps the heatmap cuts the window into parts of equal length, part 1 to part 12. "
        "PART in place of a verdict: only a part of the file was read.",
    ),
    Term(
        "by",
        "The layer that owns what a kernel loses, as a letter: = at the roof, nothing is lost; · no "
        "owner; ? no rule explains the loss; – it was not judged.",
        ("owner", "letter"),
    ),
    Term(
        "not needed",
        "A kernel that a change of the program avoids altogether, a copy or a cast: ✗ in the place of "
        "its share of the roof. All of its time is lost, however fast it is.",
        ("✗",),
    ),
    Term(
        "not known",
        "– stands where the recording does not tell a figure; the region pane has the reason. It is "
        "never 0.",
        ("–",),
    ),
    Term(
        "note",
        "A row that says what the program wrote of itself (record_function, NVTX ranges, annotations "
        "on the GPU): no work, and counted nowhere. Notes in the header are reservations about the "
        "recording; a note in the region pane is one about the figures above it.",
        ("notes",),
    ),
    Term(
        "comm",
        "A stream that runs collectives and hardly anything else: 90 % of its activities and of "
        "their time. copy: the same of transfers.",
        ("copy",),
    ),
    Term(
        "covered",
        "A wait or a transfer that cost nothing, because the GPU worked meanwhile. Listed with "
        "--covered, never a finding.",
    ),
    Term(
        "confidence",
        "How sure a finding is: lowered where the recording is short or doubtful (the gates Q1 to "
        "Q13), where its cause is a hint, and where taking it away gains nothing.",
        ("sure", "high", "medium", "low"),
    ),
)


def find_term(word: str) -> Term | None:
    """The term that a word stands for, in any case; None if there is none."""
    wanted = word.casefold()
    for term in TERMS:
        if wanted in (term.word.casefold(), *(other.casefold() for other in term.also)):
            return term
    return None

"""A job of several ranks: each rank's recording analysed in turn, then compared with the others.

Only one rank's trace is held at a time; of the others stays what
:class:`~whichlayer.analysis.communication.rank_record.RankRecord` and :class:`RankSummary` hold.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whichlayer.analysis.budget import add_budgets
from whichlayer.analysis.communication.calls import Overlap, overlaps_of
from whichlayer.analysis.communication.job_findings import job_findings
from whichlayer.analysis.communication.lateness import Lateness, find_lateness
from whichlayer.analysis.communication.matching import Matching, match
from whichlayer.analysis.communication.rank_record import RankRecord, record_ranks
from whichlayer.analysis.communication.transfers import Transfer, find_transfers
from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.findings.lacking import Missing, withheld
from whichlayer.analysis.findings.verdict import verdict_of
from whichlayer.analysis.options import Options
from whichlayer.analysis.pipeline import analyse
from whichlayer.analysis.ranks import find_rank, find_world_size
from whichlayer.analysis.results import Analysis, Budget, Device, Finding, Verdict, Window
from whichlayer.analysis.text import clean
from whichlayer.analysis.trace.columns import Trace

_RANK_IN_NAME = re.compile(r"(?:rank|worker)[-_ ]?(\d{1,7})(?!\d)", re.IGNORECASE)
_ONE_EACH = "put one recording of each rank of one job into the folder"


@dataclass(frozen=True, slots=True)
class RankSummary:
    """What is kept of the analysis of one rank.

    Attributes:
        path: its recording.
        rank: its number in the job, or None where neither file nor file name tells.
        error: why it could not be analysed, else empty; then all that follows is empty.
        name: what it is called.
        world_size: how many ranks the job has as it recorded it, or None.
        window: what was analysed.
        verdict, budget: of the window.
        devices: its GPUs.
        communication: how much of each GPU's communication in the window was hidden.
        findings: its problems, without their regions.
        records: positions of its records in the job's.
        cut: its recording is cut off.
    """

    path: str
    rank: int | None
    error: str = ""
    name: str = ""
    world_size: int | None = None
    window: Window | None = None
    verdict: Verdict | None = None
    budget: Budget | None = None
    devices: tuple[Device, ...] = ()
    communication: tuple[Overlap, ...] = ()
    findings: tuple[Finding, ...] = ()
    records: tuple[int, ...] = ()
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the ranks tell together.

    Attributes:
        records: their collectives.
        matching: which of them are the same.
        lateness: who was late.
        transfers: how fast collectives are once all are there.
    """

    records: tuple[RankRecord, ...]
    matching: Matching
    lateness: Lateness
    transfers: tuple[Transfer, ...]


@dataclass(frozen=True, slots=True)
class Job:
    """Several ranks of one job.

    Attributes:
        path: the folder.
        ranks: one per recording, by rank, then path.
        world_size: how many ranks the job has, or None.
        budget: of all ranks together; None where the recordings are not those of one job.
        verdict: of that.
        comparison: None where the recordings cannot be compared.
        why: why they cannot, and what to record; or what limits the comparison; else empty.
        findings: problems that only several ranks show.
        link_gbps: the speed of the links as given, or None.
    """

    path: str
    ranks: tuple[RankSummary, ...]
    world_size: int | None
    budget: Budget | None
    verdict: Verdict | None
    comparison: Comparison | None
    why: str
    findings: tuple[Finding, ...]
    link_gbps: float | None


def analyse_job(
    path: str,
    files: Sequence[str],
    read: Callable[[str], Trace],
    options: Options | None = None,
    done: Callable[[Trace], None] | None = None,
) -> Job:
    """Analyse every recording of a folder and compare them.

    Args:
        path: the folder, for people.
        files: its recordings.
        read: reads one; called once for each, after the one before has been let go.
        options: for each of them.
        done: called with each trace once it has been analysed.

    Raises:
        TraceError: none of the files could be analysed.
    """
    options = options or Options()
    records: list[RankRecord] = []
    ranks = [_summary(file, read, options, records, done) for file in files]
    fine = [rank for rank in ranks if not rank.error]
    if not fine:
        raise TraceError(
            f"{path}: none of its {len(ranks)} traces can be analysed: {ranks[0].error}"
        )
    ranks.sort(key=lambda one: (one.rank is None, one.rank or 0, one.path))
    world_size = _world_size(fine)
    mixed = _mixed(fine)
    why = mixed or _nothing_to_compare(fine, records)
    comparison = None if why else _compare(records, world_size, options)
    budget = None if mixed else add_budgets([one.budget for one in fine if one.budget])
    return Job(
        path=path,
        ranks=tuple(ranks),
        world_size=world_size,
        budget=budget,
        verdict=None if budget is None else _verdict(fine, budget),
        comparison=comparison,
        why=why or _limits(fine, world_size),
        findings=() if comparison is None else job_findings(comparison, options),
        link_gbps=options.link_gbps,
    )


def _verdict(ranks: Sequence[RankSummary], budget: Budget) -> Verdict:
    """On all ranks together; no side that what is cut off of some could change."""
    verdict = verdict_of(budget, any(rank.devices for rank in ranks), _caveat(ranks))
    cut = any(rank.cut for rank in ranks)
    return withheld(verdict, budget, Missing(cut=cut)) if cut else verdict


def _caveat(ranks: Sequence[RankSummary]) -> str:
    """What is to be said beside the verdict on all ranks: what is said beside that of each."""
    said = Counter(rank.verdict.caveat for rank in ranks if rank.verdict and rank.verdict.caveat)
    return " ".join(
        text if count == len(ranks) else f"Of {count} of {len(ranks)} ranks: {text}"
        for text, count in said.items()
    )


def compare_devices(analysis: Analysis) -> Comparison | None:
    """What several GPUs of one recording tell together; None where fewer than two communicate."""
    records = record_ranks(analysis, None, "")
    return _compare(records, None, analysis.options) if len(records) > 1 else None


def _compare(records: Sequence[RankRecord], world_size: int | None, options: Options) -> Comparison:
    matching = match(records)
    return Comparison(
        records=tuple(records),
        matching=matching,
        lateness=find_lateness(records, matching, options),
        transfers=find_transfers(records, matching, world_size, options),
    )


def _summary(
    path: str,
    read: Callable[[str], Trace],
    options: Options,
    records: list[RankRecord],
    done: Callable[[Trace], None] | None,
) -> RankSummary:
    """One rank; its records are added to those of the ranks before."""
    rank = _rank_of({}, path)
    try:
        trace = read(path)
        analysis = analyse(trace, options)
    except (TraceError, OSError) as error:
        return RankSummary(path, rank, clean(str(error)))
    except ValueError as error:  # what was asked for is not in this recording
        if options == Options():
            raise
        return RankSummary(path, rank, clean(f"{path}: {error}"))
    rank = _rank_of(trace.header, path)
    name = os.path.basename(path) if rank is None else f"rank {rank}"
    found = record_ranks(analysis, rank, clean(name))
    first = len(records)
    records += found
    if done is not None:
        done(trace)
    return RankSummary(
        path=path,
        rank=rank,
        name=clean(name),
        world_size=_credible(find_world_size(trace.header)),
        window=analysis.window,
        verdict=analysis.verdict,
        budget=analysis.budget,
        devices=analysis.devices,
        communication=tuple(one.communication for one in overlaps_of(analysis)),
        findings=analysis.findings,
        records=tuple(range(first, first + len(found))),
        cut=trace.cut_off,
    )


def _rank_of(header: Mapping[str, Any], path: str) -> int | None:
    """The rank that a recording tells, else that of its file's name."""
    told = _credible(find_rank(header))
    return rank_of_file(path) if told is None else told


def rank_of_file(path: str) -> int | None:
    """The rank that a file's name tells, such as ``rank3.json`` or ``worker-3.pt.trace.json.gz``."""
    found = _RANK_IN_NAME.search(os.path.basename(path))
    return int(found[1]) if found else None


def _credible(number: int | None) -> int | None:
    """A number of ranks as recorded, None where no job has so many."""
    return number if number is not None and number < 1 << 31 else None


def _world_size(ranks: Sequence[RankSummary]) -> int | None:
    sizes = {rank.world_size for rank in ranks if rank.world_size is not None}
    return sizes.pop() if len(sizes) == 1 else None


def _mixed(ranks: Sequence[RankSummary]) -> str:
    """Why recordings are not those of the ranks of one job, or empty."""
    unknown = [rank for rank in ranks if rank.rank is None]
    if unknown:
        return f"{unknown[0].path} does not tell its rank: {_ONE_EACH}, with the rank in its name"
    counts = Counter(rank.rank for rank in ranks)
    number, times = counts.most_common(1)[0]
    if times > 1:
        return f"rank {number} has {times} recordings: {_ONE_EACH}"
    if len({rank.world_size for rank in ranks if rank.world_size is not None}) > 1:
        return f"the recordings are of jobs of different sizes: {_ONE_EACH}"
    return ""


def _nothing_to_compare(ranks: Sequence[RankSummary], records: Sequence[RankRecord]) -> str:
    if len(ranks) < 2:
        return f"only one rank could be analysed: {_ONE_EACH}"
    return "" if len(records) > 1 else "fewer than two ranks have collectives in the window"


def _limits(ranks: Sequence[RankSummary], world_size: int | None) -> str:
    if world_size is not None and len(ranks) < world_size:
        return (
            f"{len(ranks)} of {world_size} ranks are here: a rank that is not here may be the "
            "late one"
        )
    return ""

"""Runs and files as lists and the header show them: what the files say, what the store holds, what lineage declares."""

from __future__ import annotations

from collections import Counter
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from mstui.ingest.ingestor import DiscoveredRun
from mstui.model.runs import FileState, FileStatus, RankInfo, RunInfo, RunStatus
from mstui.monitor.facts import RunFacts
from mstui.monitor.liveness import STALE_AFTER_S, run_status
from mstui.monitor.rank_infos import RankInfos
from mstui.store.run_store import Store

LOADED, LISTED_ONLY = True, False

_STATE_ORDER = {
    state: place
    for place, state in enumerate(
        (
            FileState.UNREADABLE,
            FileState.DENIED,
            FileState.NOT_EVENTS,
            FileState.VANISHED,
            FileState.SUSPECT,
            FileState.TORN,
            FileState.READING,
            FileState.WAITING,
            FileState.EMPTY,
            FileState.CURRENT,
            FileState.CLOSED,
            FileState.QUEUED,
        )
    )
}
"""Worst first: what a person must act on, then what is in motion, then what is well."""


class Wishes(NamedTuple):
    """What a person has set that changes how a run is described."""

    total_steps: Optional[int] = None
    stale_after_s: Optional[float] = None


def describe_unloaded(run: DiscoveredRun, now: float) -> RunInfo:
    """A run that is only listed: no file of it has been opened."""
    ranks: Counter[int] = Counter(file.key.rank_id for file in run.files)
    sizes: Counter[int] = Counter()
    newest: Dict[int, float] = {}
    for file in run.files:
        sizes[file.key.rank_id] += file.size
        newest[file.key.rank_id] = max(newest.get(file.key.rank_id, 0.0), file.modified)

    def status(size: int, modified: float) -> RunStatus:
        if not size:
            return RunStatus.PENDING
        return RunStatus.LIVE if now - modified <= STALE_AFTER_S else RunStatus.STALE

    return RunInfo(
        run.key,
        run.path,
        LISTED_ONLY,
        status(run.size, run.modified),
        tuple(
            RankInfo(rank, None, newest[rank], status(sizes[rank], newest[rank]), ranks[rank], sizes[rank], 0)
            for rank in sorted(ranks)
        ),
        None,
        run.modified,
        None,
        None,
        len(run.files),
        run.size,
        0,
        0,
    )


def describe_loaded(
    run: DiscoveredRun,
    files: Sequence[FileStatus],
    store: Store,
    known_ranks: RankInfos,
    facts: RunFacts,
    wishes: Wishes,
    now: float,
) -> RunInfo:
    """A run whose files are read."""
    by_rank: Dict[int, List[FileStatus]] = {}
    for file in files:
        by_rank.setdefault(file.rank_id, []).append(file)
    ranks = [
        known_ranks.describe(run.key, rank_id, own, ended_at=facts.ended_at, quiet_s=wishes.stale_after_s, now=now)
        for rank_id, own in sorted(by_rank.items())
    ]
    last_data = max((file.modified for file in files), default=run.modified)
    known = dict(facts.merged)
    if wishes.total_steps is not None:
        known["planned_steps"] = wishes.total_steps
    return RunInfo(
        run.key,
        run.path,
        LOADED,
        run_status(
            files,
            ended_at=facts.ended_at,
            last_record=max((rank.last_record for rank in ranks), default=0.0),
            last_data=last_data,
            quiet_s=max((rank.quiet_s for rank in ranks), default=0.0),
            now=now,
        ),
        tuple(rank.info for rank in ranks),
        max((rank.info.last_step for rank in ranks if rank.info.last_step is not None), default=None),
        last_data,
        store.step_gap(run.key),
        store.record_interval(run.key),
        len(files),
        sum(file.size for file in files),
        sum(file.consumed for file in files),
        sum(file.fault_count for file in files) + facts.undecodable,
        known,
        known_ranks.pace(run.key, sorted(by_rank)),
        max((rank.quiet_s for rank in ranks), default=None),
    )


def urgency(file: FileStatus) -> Tuple[int, int, str]:
    """Sort key of files: worst state first, then most faults."""
    return _STATE_ORDER[file.state], -file.fault_count, file.path

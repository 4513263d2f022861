"""Runs and files as lists and the header show them: what the files say, what the store holds, what lineage declares."""

from __future__ import annotations

from collections import Counter
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from mstui.ingest.ingestor import DiscoveredRun
from mstui.model.records import FloatArray, IntArray
from mstui.model.runs import FileState, FileStatus, RankInfo, RunInfo, RunStatus
from mstui.monitor.facts import RunFacts
from mstui.monitor.liveness import STALE_AFTER_S, longest_pause, run_status, seconds_per_step, stale_after
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
    run: DiscoveredRun, files: Sequence[FileStatus], store: Store, facts: RunFacts, wishes: Wishes, now: float
) -> RunInfo:
    """A run whose files are read."""

    def status(own: Sequence[FileStatus], newest: float, last_data: float, quiet_s: float) -> RunStatus:
        return run_status(
            own, ended_at=facts.ended_at, last_record=newest, last_data=last_data, quiet_s=quiet_s, now=now
        )

    by_rank: Dict[int, List[FileStatus]] = {}
    for file in files:
        by_rank.setdefault(file.rank_id, []).append(file)
    quiet: List[float] = []
    last_record = 0.0
    pace: Optional[float] = None
    ranks = []
    for rank_id, own in sorted(by_rank.items()):
        records = _recent(store, run.key, rank_id)
        quiet_s = wishes.stale_after_s
        if quiet_s is None:
            quiet_s = stale_after(longest_pause(records[1]) if records is not None else 0.0)
        quiet.append(quiet_s)
        newest = float(records[1][-1]) if records is not None else 0.0
        last_record = max(last_record, newest)
        if pace is None and records is not None:
            pace = seconds_per_step(*records)
        last_data = max(file.modified for file in own)
        ranks.append(
            RankInfo(
                rank_id,
                store.last_step(run.key, rank_id),
                last_data,
                status(own, newest, last_data, quiet_s),
                len(own),
                sum(file.size for file in own),
                sum(file.consumed for file in own),
            )
        )
    last_data = max((file.modified for file in files), default=run.modified)
    known = dict(facts.merged)
    if wishes.total_steps is not None:
        known["planned_steps"] = wishes.total_steps
    return RunInfo(
        run.key,
        run.path,
        LOADED,
        status(files, last_record, last_data, max(quiet, default=0.0)),
        tuple(ranks),
        store.last_step(run.key),
        last_data,
        store.step_gap(run.key),
        store.record_interval(run.key),
        len(files),
        sum(file.size for file in files),
        sum(file.consumed for file in files),
        sum(file.fault_count for file in files) + facts.undecodable,
        known,
        pace,
        max(quiet, default=None),
    )


def _recent(store: Store, run_key: str, rank_id: int) -> Optional[Tuple[IntArray, FloatArray]]:
    """Steps and wall times of the newest stretch of the scalar that this rank records most often."""
    series = store.busiest_series(run_key, rank_id)
    return None if series is None else (series.current[-1].steps, series.current[-1].wall_times)


def urgency(file: FileStatus) -> Tuple[int, int, str]:
    """Sort key of files: worst state first, then most faults."""
    return _STATE_ORDER[file.state], -file.fault_count, file.path

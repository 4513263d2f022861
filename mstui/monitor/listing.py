"""Runs and files as lists and the header show them: what the files say, what the store holds, what lineage declares."""

from __future__ import annotations

from collections import Counter
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from mstui.i18n import _
from mstui.ingest.ingestor import DiscoveredRun
from mstui.model.runs import FileState, FileStatus, RankInfo, RunInfo, RunStatus
from mstui.model.sources import SourceKind
from mstui.monitor.facts import RunFacts
from mstui.monitor.liveness import STALE_AFTER_S, run_status
from mstui.monitor.log_life import LogRank, of_ranks
from mstui.monitor.rank_infos import Described, RankInfos
from mstui.monitor.run_logs import LogLife
from mstui.store.run_store import Store

LOADED, LISTED_ONLY = True, False

_STATE_ORDER = {
    state: place
    for place, state in enumerate(
        (
            FileState.UNREADABLE,
            FileState.DENIED,
            FileState.NOT_EVENTS,
            FileState.NOT_RECOGNISED,
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
    life: Optional[LogLife] = None,
) -> RunInfo:
    """A run whose files are read. life: what its text logs say; None where it has none."""
    by_rank: Dict[int, List[FileStatus]] = {}
    for file in files:
        by_rank.setdefault(file.rank_id, []).append(file)
    for rank_id in store.ranks(run.key):
        if rank_id not in by_rank:
            by_rank[rank_id] = _files_that_name(store, run.key, rank_id, files)
    known = dict(facts.merged)
    if wishes.total_steps is not None:
        known["planned_steps"] = wishes.total_steps
    plan = known.get("planned_steps")
    gap = store.step_gap(run.key)
    ranks: List[Described] = []
    for rank_id, own in sorted(by_rank.items()):
        by_logs: Optional[LogRank] = None
        if life is not None and any(file.source.kind is SourceKind.LOG for file in own):
            last = store.last_step(run.key, rank_id)
            by_logs = _log_rank(life, rank_id, last, plan if isinstance(plan, int) else None, gap or 1)
            if not by_logs.own and last is None and len(by_rank) > 1:
                continue  # a scheduler's or a launcher's log makes no rank
        ranks.append(
            known_ranks.describe(
                *(run.key, rank_id, own),
                ended_at=facts.ended_at,
                quiet_s=wishes.stale_after_s,
                now=now,
                by_logs=by_logs,
            )
        )
    last_data = max((file.modified for file in files), default=run.modified)
    quiet_s = max((rank.quiet_s for rank in ranks), default=0.0)
    if life is None:
        last_record = max((rank.last_record for rank in ranks), default=0.0)
        status = run_status(
            files, ended_at=facts.ended_at, last_record=last_record, last_data=last_data, quiet_s=quiet_s, now=now
        )
    else:
        last_data = max((rank.info.last_data for rank in ranks), default=last_data)
        status = of_ranks([rank.info.status for rank in ranks], over=life.over is not None)
        phase = _phase(status, files, life)
        if phase:
            known["phase"] = phase
    return RunInfo(
        run.key,
        run.path,
        LOADED,
        status,
        tuple(rank.info for rank in ranks),
        max((rank.info.last_step for rank in ranks if rank.info.last_step is not None), default=None),
        last_data,
        gap,
        store.record_interval(run.key),
        len(files),
        sum(file.size for file in files),
        sum(file.consumed for file in files),
        sum(file.fault_count for file in files) + facts.undecodable,
        known,
        known_ranks.pace(run.key, sorted(by_rank)),
        quiet_s if ranks else None,
    )


def _files_that_name(store: Store, run_key: str, rank_id: int, files: Sequence[FileStatus]) -> List[FileStatus]:
    """The logs whose own lines tell of a rank that no file is called after; all of them when they have been moved."""
    rank = store.rank(run_key, rank_id)
    paths = {file.key.path for file in rank.files} if rank is not None else frozenset()
    logs = [file for file in files if file.source.kind is SourceKind.LOG]
    return [file for file in logs if file.path in paths] or logs


def _log_rank(life: LogLife, rank_id: int, last: Optional[int], plan: Optional[int], gap: int) -> LogRank:
    """What the logs say of one rank."""
    return LogRank(
        newest_step=life.new_steps.get(rank_id, 0.0),
        failed=rank_id in life.failed,
        over=life.over is not None,
        compiling=life.compiling,
        finished=last is not None and plan is not None and last + gap > plan,
        at_end=last is not None and plan is not None and last >= plan,
        own=rank_id in life.owners,
    )


def _phase(status: RunStatus, files: Sequence[FileStatus], life: LogLife) -> str:
    """What a run that shows no steps is doing, in words; empty for one that does."""
    if status is RunStatus.PENDING:
        return life.phase or _("no step told yet")
    if status is RunStatus.UNREADABLE and any(file.state is FileState.NOT_RECOGNISED for file in files):
        return _("no line of its logs is understood; a pattern of your own can be given")
    return ""


def urgency(file: FileStatus) -> Tuple[int, int, str]:
    """Sort key of files: worst state first, then most faults."""
    return _STATE_ORDER[file.state], -file.fault_count, file.path

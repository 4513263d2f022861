"""What is listed of each rank of a loaded run, kept until its files or its records change.

A run may have a thousand ranks and is listed at every redraw; what did not change must not be worked out again.
"""

from __future__ import annotations

import math
from typing import Dict, Iterable, NamedTuple, Optional, Sequence, Tuple

from mstui.model.runs import FileStatus, RankInfo, RunStatus
from mstui.model.sources import SourceKind
from mstui.monitor.liveness import STALE_AFTER_S, longest_pause, pace, run_status, stale_after
from mstui.monitor.log_life import (
    COMPILING_S,
    FEW_RECORDS,
    FEW_STEPS_QUIET_S,
    START_S,
    LogRank,
    log_status,
    logs_of,
    together,
)
from mstui.store.run_store import Store


class Described(NamedTuple):
    """A rank, and what the run needs of it."""

    info: RankInfo
    quiet_s: float
    """seconds of silence that its rhythm allows"""
    last_record: float
    """wall time of its newest scalar, 0.0 without one"""


class _Kept(NamedTuple):
    revision: int
    """of the rank in the store; -1 when it holds nothing of it"""
    files: Tuple[FileStatus, ...]
    ended_at: float
    quiet_s: Optional[float]
    """what a person has set"""
    by_logs: Optional[LogRank]
    since: float
    until: float
    """Unix seconds between which the status cannot change by time alone"""
    described: Described


class RankInfos:
    """Ranks of every loaded run. Belongs to one thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: Dict[str, Dict[int, _Kept]] = {}

    def forget(self, run_key: str) -> None:
        """The run is not loaded any more. Any thread."""
        self._kept.pop(run_key, None)

    def describe(
        self,
        run_key: str,
        rank_id: int,
        files: Sequence[FileStatus],
        *,
        ended_at: float,
        quiet_s: Optional[float],
        now: float,
        by_logs: Optional[LogRank] = None,
    ) -> Described:
        """One rank. files: its own; ended_at: wall time of the run's newest train_lineage; quiet_s: a person's word.

        by_logs: what the run's text logs say of the rank; None where it has none.
        """
        rank = self._store.rank(run_key, rank_id)
        revision = -1 if rank is None else rank.revision
        known = self._kept.setdefault(run_key, {})
        kept = known.get(rank_id)
        if (
            kept is not None
            and kept.revision == revision
            and kept.since <= now < kept.until
            and (kept.ended_at, kept.quiet_s, kept.by_logs) == (ended_at, quiet_s, by_logs)
            and len(kept.files) == len(files)
            and all(a is b for a, b in zip(kept.files, files))
        ):
            return kept.described
        described = self._describe(run_key, rank_id, files, ended_at, quiet_s, now, by_logs)
        until = _until(described, now) if by_logs is None else _until_by_logs(described, by_logs, now)
        known[rank_id] = _Kept(revision, tuple(files), ended_at, quiet_s, by_logs, now, until, described)
        return described

    def _describe(
        self,
        run_key: str,
        rank_id: int,
        files: Sequence[FileStatus],
        ended_at: float,
        asked_quiet_s: Optional[float],
        now: float,
        by_logs: Optional[LogRank],
    ) -> Described:
        recent = self._store.recent(run_key, rank_id)
        newest, pause = (float(recent[1][-1]), longest_pause(recent[1])) if recent is not None else (0.0, 0.0)
        quiet_s = stale_after(pause)
        if by_logs is not None and (recent is None or len(recent[1]) < FEW_RECORDS):
            quiet_s = max(quiet_s, FEW_STEPS_QUIET_S)
        if asked_quiet_s is not None:
            quiet_s = asked_quiet_s
        others = [file for file in files if file.source.kind is not SourceKind.LOG]
        measured = others if by_logs is not None else files
        last_data = max((file.modified for file in measured), default=0.0)
        status: Optional[RunStatus] = None
        if measured:
            status = run_status(
                measured, ended_at=ended_at, last_record=newest, last_data=last_data, quiet_s=quiet_s, now=now
            )
        if by_logs is not None:
            status = together(status, log_status(logs_of(files), by_logs, quiet_s=quiet_s, now=now))
            last_data = max(last_data, by_logs.newest_step) or max(file.modified for file in files)
        status = status if status is not None else RunStatus.PENDING
        info = RankInfo(
            rank_id,
            self._store.last_step(run_key, rank_id),
            last_data,
            status,
            len(files),
            sum(file.size for file in files),
            sum(file.consumed for file in files),
        )
        return Described(info, quiet_s, newest)

    def pace(self, run_key: str, rank_ids: Iterable[int]) -> Optional[float]:
        """Seconds a step of the first rank of which it can be told."""
        for rank_id in rank_ids:
            found = pace(self._store.recent_by_source(run_key, rank_id))
            if found is not None:
                return found
        return None


def _until_by_logs(described: Described, by_logs: LogRank, now: float) -> float:
    """The same for a rank with text logs. Nothing tells of a second record: what may change is looked at again soon."""
    status = described.info.status
    if status is RunStatus.LIVE:
        return max(by_logs.newest_step + described.quiet_s, now)
    if status is RunStatus.PENDING:
        patience = COMPILING_S if by_logs.compiling else START_S
        return max(described.info.last_data + patience, now)
    return math.inf


def _until(described: Described, now: float) -> float:
    """When time alone may change the status: a live rank goes stale, one without data is waited for in vain."""
    status, last_data = described.info.status, described.info.last_data
    if status is RunStatus.LIVE:
        return max(last_data + described.quiet_s, now)
    if status is RunStatus.PENDING:
        return max(last_data + STALE_AFTER_S, now)
    return math.inf

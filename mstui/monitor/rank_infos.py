"""What is listed of each rank of a loaded run, kept until its files or its records change.

A run may have a thousand ranks and is listed at every redraw; what did not change must not be worked out again.
"""

from __future__ import annotations

import math
from typing import Dict, Iterable, NamedTuple, Optional, Sequence, Tuple

from mstui.model.runs import FileStatus, RankInfo, RunStatus
from mstui.monitor.liveness import STALE_AFTER_S, longest_pause, run_status, seconds_per_step, stale_after
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
    ) -> Described:
        """One rank. files: its own; ended_at: wall time of the run's newest train_lineage; quiet_s: a person's word."""
        rank = self._store.rank(run_key, rank_id)
        revision = -1 if rank is None else rank.revision
        known = self._kept.setdefault(run_key, {})
        kept = known.get(rank_id)
        if (
            kept is not None
            and kept.revision == revision
            and kept.since <= now < kept.until
            and (kept.ended_at, kept.quiet_s) == (ended_at, quiet_s)
            and len(kept.files) == len(files)
            and all(a is b for a, b in zip(kept.files, files))
        ):
            return kept.described
        described = self._describe(run_key, rank_id, files, ended_at, quiet_s, now)
        until = _until(described, now)
        known[rank_id] = _Kept(revision, tuple(files), ended_at, quiet_s, now, until, described)
        return described

    def _describe(
        self,
        run_key: str,
        rank_id: int,
        files: Sequence[FileStatus],
        ended_at: float,
        asked_quiet_s: Optional[float],
        now: float,
    ) -> Described:
        recent = self._store.recent(run_key, rank_id)
        newest, pause = (float(recent[1][-1]), longest_pause(recent[1])) if recent is not None else (0.0, 0.0)
        quiet_s = asked_quiet_s if asked_quiet_s is not None else stale_after(pause)
        last_data = max(file.modified for file in files)
        status = run_status(files, ended_at=ended_at, last_record=newest, last_data=last_data, quiet_s=quiet_s, now=now)
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
            recent = self._store.recent(run_key, rank_id)
            pace = None if recent is None else seconds_per_step(*recent)
            if pace is not None:
                return pace
        return None


def _until(described: Described, now: float) -> float:
    """When time alone may change the status: a live rank goes stale, one without data is waited for in vain."""
    status, last_data = described.info.status, described.info.last_data
    if status is RunStatus.LIVE:
        return max(last_data + described.quiet_s, now)
    if status is RunStatus.PENDING:
        return max(last_data + STALE_AFTER_S, now)
    return math.inf

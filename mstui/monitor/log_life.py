"""Is a training alive, as far as its text logs tell: by steps, never by bytes. Pure functions; `now` is an argument.

A scheduler's log grows every five seconds whether its workers train, hang or are dead.
"""

from __future__ import annotations

from typing import Collection, NamedTuple, Optional, Sequence

from mstui.model.runs import FileState, FileStatus, RunStatus
from mstui.model.sources import SourceKind

START_S = 600.0
"""Silence before the first step after which a start is called stale: loading data and weights takes minutes."""
COMPILING_S = 7200.0
"""The same while a graph is compiled: large models take more than an hour, and say nothing meanwhile."""
FEW_STEPS_QUIET_S = 600.0
"""Silence allowed while a rank has made too few records for a rhythm of its own: the second epoch of a training that
tells only of epochs takes as long as the first."""
FEW_RECORDS = 3

_CANNOT_READ = frozenset({FileState.DENIED, FileState.UNREADABLE, FileState.NOT_EVENTS, FileState.VANISHED})


class LogRank(NamedTuple):
    """What the logs of a run say of one of its ranks."""

    newest_step: float
    """when its newest step arrived, Unix seconds; 0.0 before the first"""
    failed: bool
    """its process has ended with an error"""
    over: bool
    """the whole run has ended with an error"""
    compiling: bool
    finished: bool
    """it has come to the planned end, or so near that the rest may not be told"""
    at_end: bool
    """it has come to the planned end"""
    own: bool
    """one of its files is written by the rank itself, not by a launcher or a scheduler"""


def logs_of(files: Sequence[FileStatus]) -> Sequence[FileStatus]:
    """Those that are text logs."""
    return [file for file in files if file.source.kind is SourceKind.LOG]


def log_status(logs: Sequence[FileStatus], rank: LogRank, *, quiet_s: float, now: float) -> RunStatus:
    """Status of a rank by its text logs alone. quiet_s: seconds without a step after which it is stale."""
    if rank.failed:
        return RunStatus.FAILED
    readable = [file for file in logs if file.state not in _CANNOT_READ]
    if not readable:
        return RunStatus.UNREADABLE
    if rank.newest_step:
        silent = now - rank.newest_step > quiet_s
        if rank.at_end or (rank.finished and silent):
            return RunStatus.ENDED
        if rank.over:
            return RunStatus.STOPPED
        return RunStatus.STALE if silent else RunStatus.LIVE
    if rank.over:
        return RunStatus.STOPPED
    told = [file for file in readable if file.size]
    if told and all(file.state is FileState.NOT_RECOGNISED for file in told):
        return RunStatus.UNREADABLE
    patience = COMPILING_S if rank.compiling else START_S
    last_word = max(file.modified for file in readable)
    return RunStatus.PENDING if now - last_word <= patience else RunStatus.STALE


def together(by_summary: Optional[RunStatus], by_log: RunStatus) -> RunStatus:
    """Status of a rank that has both, or only logs."""
    if by_summary is None or by_log is RunStatus.FAILED:
        return by_log
    for decisive in (RunStatus.ENDED, RunStatus.LIVE):
        if decisive in (by_summary, by_log):
            return decisive
    if by_summary in (RunStatus.PENDING, RunStatus.UNREADABLE):
        return by_log
    return RunStatus.STOPPED if by_log is RunStatus.STOPPED else by_summary


def of_ranks(ranks: Collection[RunStatus], *, over: bool) -> RunStatus:
    """Status of a run by those of its ranks. Some ranks of a pipeline record nothing that could be a step."""
    if over or RunStatus.FAILED in ranks:
        return RunStatus.FAILED
    if not ranks:
        return RunStatus.PENDING
    silent = (RunStatus.STALE, RunStatus.STOPPED, RunStatus.ENDED)
    if RunStatus.LIVE in ranks:
        return RunStatus.LIVE
    if RunStatus.PENDING in ranks and not any(status in ranks for status in silent):
        return RunStatus.PENDING
    if RunStatus.ENDED in ranks:
        return RunStatus.ENDED
    return next((status for status in silent if status in ranks), RunStatus.UNREADABLE)

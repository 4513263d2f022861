"""Runs, ranks and files, as the screens and reports see them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Mapping, Optional, Tuple, Union

from mstui.i18n import commas
from mstui.model.faults import ReadFault
from mstui.model.sources import SUMMARY, Source

Fact = Union[str, int, float, bool]


def positive(fact: Optional[Fact]) -> Optional[float]:
    """The fact as a finite number above zero; a text that is a number counts."""
    if fact is None or isinstance(fact, bool):
        return None
    try:
        number = float(fact)
    except ValueError:
        return None
    return number if 0.0 < number < float("inf") else None


class FileState(Enum):
    """The named states of one watched file; each has a word on the screen."""

    QUEUED = "queued"
    """known, not opened yet"""
    READING = "reading"
    """history is being filled in"""
    CURRENT = "current"
    """everything up to the end is read"""
    WAITING = "waiting"
    """the file ends inside a record: the rest is not written yet"""
    SUSPECT = "suspect"
    """the last record's checksum is wrong; it is read again before it is called damaged"""
    EMPTY = "empty"
    CLOSED = "closed"
    """everything is read and the writer has closed the file (mode 0400)"""
    TORN = "torn"
    """the writer is gone and the file ends inside a record"""
    DENIED = "denied"
    VANISHED = "vanished"
    NOT_EVENTS = "not-events"
    NOT_RECOGNISED = "not-recognised"
    """a text of which no line is understood; its lines are counted, and a pattern of one's own can be given"""
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class FileStatus:
    """One file as it stands."""

    path: str
    run_key: str
    rank_id: int
    format_name: str
    """name of the format that claims it; empty when none does"""
    state: FileState
    size: int
    """bytes on disk at the last look"""
    consumed: int
    """bytes decoded; history and tail together"""
    records: int
    skipped_bytes: int
    """bytes lost to damage"""
    skipped_values: Mapping[str, int] = field(default_factory=dict)
    """values counted but not kept, by kind (image, audio, ...)"""
    faults: Tuple[ReadFault, ...] = ()
    """newest last, capped; fault_count says how many there were"""
    fault_count: int = 0
    modified: float = 0.0
    """mtime, Unix seconds"""
    detail: str = ""
    """what to do about the state: owner and mode of a denied file, for example"""
    source: Source = SUMMARY
    understood: int = 0
    """of a text log's records: those that gave a metric or an event or had a known header"""
    measured: int = 0
    """of a text log: values of metrics"""


class RunStatus(Enum):
    """Is the training alive, as far as the files tell."""

    PENDING = "pending"
    """no data yet"""
    LIVE = "live"
    STALE = "stale"
    """open, but nothing new for longer than this run's own rhythm allows"""
    ENDED = "ended"
    """closed with train_lineage: a normal end"""
    STOPPED = "stopped"
    """closed without train_lineage (or torn): aborted, or recording reached its limit"""
    FAILED = "failed"
    """the log says that a process ended with an error or was killed"""
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class RankInfo:
    """One rank of a run."""

    rank_id: int
    last_step: Optional[int]
    last_data: float
    """Unix seconds of the newest record's arrival on disk; 0.0 if none"""
    status: RunStatus
    file_count: int
    bytes_total: int
    bytes_read: int


@dataclass(frozen=True)
class RunInfo:
    """One run, listed. Figures are those of the loaded part; an unloaded run knows only its files."""

    key: str
    """path relative to the watched root, "." for the root itself"""
    path: str
    loaded: bool
    status: RunStatus
    ranks: Tuple[RankInfo, ...]
    last_step: Optional[int]
    last_data: float
    """Unix seconds of the newest byte (mtime) of any of its files"""
    step_gap: Optional[int]
    """steps between records, the most frequent difference; 10 for SummaryCollector's default"""
    record_interval_s: Optional[float]
    """median seconds between records"""
    file_count: int
    bytes_total: int
    bytes_read: int
    fault_count: int
    facts: Mapping[str, Fact] = field(default_factory=dict)
    """lineage and declared facts, by MindSpore's field names plus `planned_steps`"""
    seconds_per_step: Optional[float] = None
    """mean over the recent records, from their wall times"""
    stale_after_s: Optional[float] = None
    """seconds of silence that this run's own rhythm allows before it is called stale"""


RANKS_NAMED = 8
"""of a run, where its ranks are told in a sentence"""


def ranks_text(run: RunInfo) -> str:
    """The ranks of a run, rising; of many the first ones and the last."""
    ranks = [str(rank_id) for rank_id in sorted(rank.rank_id for rank in run.ranks)]
    if len(ranks) <= RANKS_NAMED:
        return commas(ranks)
    return commas([*ranks[: RANKS_NAMED - 1], "...", ranks[-1]])


@dataclass(frozen=True)
class WatchState:
    """How the disk is followed, and how fresh the picture is."""

    mode: str
    """"events" or "poll" """
    reason: str
    """why polling was chosen ("nfs", "inotify limit", "--poll"); empty for events"""
    last_read: float
    """Unix seconds of the last look at the files"""
    alive: bool
    """the monitor thread runs"""
    bytes_total: int
    bytes_read: int
    """bytes_total less the history that is still to come, over all loaded runs: equal when everything is whole"""
    detail: str = ""
    """the exception that stopped the monitor thread, when alive is False"""
    note: str = ""
    """a cap that listing the files has reached, in words"""
    scan_every_s: float = 0.0
    """seconds between two looks for new files where no event tells of them; 0.0 until the whole tree has been seen"""

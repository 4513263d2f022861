"""Logs as the screens see them: rows, places, hits; and what processes have told in them.

Texts are safe to show: control characters are made visible, lengths are bounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Optional, Tuple

from mstui.model.batch import FileKey
from mstui.model.logs import EventKind, LogLevel

NO_RANK = -1
"""Stands for the rank of a record that belongs to no rank: a launcher's, a scheduler's, a shared console's."""


class LogPlace(NamedTuple):
    """One record: in which content, and where there. Stays valid when the file is rotated."""

    file: FileKey
    offset: int
    """byte offset of the record's first byte"""


@dataclass(frozen=True)
class LogFile:
    """One text log of a run."""

    key: FileKey
    path: str
    """where it lies now"""
    records: int
    understood: int
    measured: int
    complete: bool
    """its history is read"""


@dataclass(frozen=True)
class LogQuery:
    """Which records: those of one file, of one rank, or of all ranks of a run."""

    run_key: str
    rank_id: Optional[int] = None
    """None: every rank"""
    file: Optional[FileKey] = None
    """one file only; rank_id counts for nothing then"""
    least_level: LogLevel = LogLevel.UNKNOWN
    """records below it are left out; a record without a level (a print) is kept up to INFO"""


@dataclass(frozen=True)
class LogRow:
    """One record as a row."""

    place: LogPlace
    rank_id: int
    """NO_RANK where it belongs to none"""
    level: LogLevel
    wall_time: Optional[float]
    """from its own stamp, or that of the record before it; None when there is none"""
    origin: str
    """what its header says besides level and time (module, source file and line, process); may be empty"""
    text: str
    """its first line without the header"""
    lines: int
    """lines of the whole record"""
    step: Optional[int] = None
    """where it is a record of a step"""
    event: Optional[EventKind] = None


@dataclass(frozen=True)
class LogPage:
    """Rows in order, with what lies around them."""

    rows: Tuple[LogRow, ...]
    at_start: bool
    """nothing older is selected"""
    at_end: bool
    """nothing newer is selected, as far as it has been read"""
    total: int
    """records that the query selects, as far as they have been read"""
    behind: int = 0
    """of them, how many come before the first row; with all ranks: as far as it can be told"""
    note: str = ""
    """what is left out (files beyond a cap, a file that changed), in words"""


@dataclass(frozen=True)
class LogHits:
    """What a search has found so far, in the order of the rows."""

    places: Tuple[LogPlace, ...]
    """capped; `count` goes on"""
    count: int
    searched: int
    """bytes searched"""
    size: int
    """bytes to be searched"""

    @property
    def complete(self) -> bool:
        """Everything has been searched."""
        return self.searched >= self.size


class Weight(Enum):
    """How much a fact matters to somebody who watches."""

    FATAL = "fatal"
    """this process has ended, or cannot go on"""
    TROUBLE = "trouble"
    """something is wrong; the training may go on"""
    NEWS = "news"
    """ordinary life: a checkpoint, a compilation"""


@dataclass(frozen=True)
class ProcessFact:
    """One thing that processes have told in their logs; repetitions and echoes are one fact."""

    kind: EventKind
    weight: Weight
    rank_id: Optional[int]
    """the process it is about, which need not be the one that told it; None when nobody can tell"""
    place: LogPlace
    """the first record that says it, a whole traceback included"""
    wall_time: Optional[float]
    step: Optional[int]
    text: str
    """the record's own words, the line that matters"""
    meaning: str
    """what that means, in the person's language; empty when the words speak for themselves"""
    code: str = ""
    count: int = 1
    """records that say it"""
    last_wall_time: Optional[float] = None
    consequence: bool = False
    """follows from an earlier fact of another process (a peer that lost its connection, a scheduler that counts)"""
    ranks: Tuple[int, ...] = ()
    """every rank that told it"""

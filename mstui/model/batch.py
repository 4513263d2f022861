"""What one turn of reading hands to the store."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Mapping, Optional, Tuple

from mstui.model.records import BlobRefs, ScalarColumns
from mstui.model.sources import SUMMARY, Source

if TYPE_CHECKING:
    from mstui.model.logs import LogEvent, LogRecords, LogSteps
    from mstui.model.runs import Fact


@dataclass(frozen=True, order=True)
class FileKey:
    """One file's place among the files of its run and rank.

    Ordered as the training wrote them: by the second in the name, then by name. A restart makes a new file with a later
    second, so a later file holds the newer generation.
    """

    run_key: str
    rank_id: int
    started: int
    """Unix seconds from the file's name; its mtime where the name has none"""
    path: str
    """where the content lay when it was seen first; a log that is rotated keeps this key under its new name"""
    source: Source = SUMMARY


class Part(Enum):
    """A large file is read from two places: its tail first, so that the present is shown, its history behind."""

    HISTORY = 0
    TAIL = 1


@dataclass(frozen=True)
class Batch:
    """Records of one file, in file order within each part. All of HISTORY comes before all of TAIL in the file."""

    file: FileKey
    part: Part
    columns: Tuple[ScalarColumns, ...] = ()
    blobs: Tuple[BlobRefs, ...] = ()
    log_records: Optional[LogRecords] = None
    log_events: Tuple[LogEvent, ...] = ()
    log_steps: Optional[LogSteps] = None
    facts: Mapping[str, Fact] = field(default_factory=dict)
    """what the text of a log declares of the training, by the names that lineage uses or `custom/<name>`"""
    rank_columns: Mapping[int, Tuple[ScalarColumns, ...]] = field(default_factory=dict)
    """values of lines in which a launcher's prefix names a rank, by that rank; `columns` are the file's own"""
    reset: bool = False
    """forget what was known of this file before adding (it was replaced or truncated)"""
    drop_tail: bool = False
    """forget the TAIL part before adding: the tail began inside damage and is read again as history"""
    joined: bool = False
    """after adding: history has reached the tail, from now on they are one part and batches come as HISTORY"""

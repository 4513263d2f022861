"""Which of several runs somebody wants to see first: the newest, but no framework's chatter before a training.

Told from names, before any file is opened.
"""

from __future__ import annotations

from typing import NamedTuple, Optional, Sequence

from mstui.ingest.ingestor import DiscoveredRun
from mstui.ingest.log_names import SYSTEM
from mstui.model.sources import SourceKind

EVENTS_AHEAD_S = 60.0
"""Seconds by which a run with a summary counts as newer than it is: of two that are written now, it shows more."""


class Promise(NamedTuple):
    """What the names of a run's files promise. Sorts: the greater, the better."""

    training: bool
    """there is a summary or a log that is more than what a framework says of itself"""
    modified: float
    """of its newest file, Unix seconds; a little later with a summary"""
    events: bool
    """there is a summary, or a table"""


def promise(run: DiscoveredRun) -> Promise:
    """Judge a run by its names."""
    filled = [file for file in run.files if file.size]
    events = any(file.key.source.kind is not SourceKind.LOG for file in filled)
    training = events or any(file.log is not None and file.log.exactness < SYSTEM for file in filled)
    return Promise(training, run.modified + (EVENTS_AHEAD_S if events else 0.0), events)


def to_load(runs: Sequence[DiscoveredRun], wanted: Optional[str], *, complete: bool) -> Optional[str]:
    """The run to load without waiting to be asked: the one that is wanted, else the best of all once they are known.

    `complete`: nothing is left to be found. None: not yet.
    """
    if wanted is not None:
        return wanted if any(run.key == wanted for run in runs) else None
    return max(runs, key=promise).key if runs and complete else None

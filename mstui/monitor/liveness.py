"""Is a training alive, as far as its files tell. Pure functions of facts; `now` is an argument.

What the files can say (formats_summary, section 6): MindSpore sets a file to mode 0400 when it closes it, writes
train_lineage only at a normal end, and writes in blocks, so that silence between two blocks is normal.
"""

from __future__ import annotations

from typing import Dict, Iterable, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from mstui.model.records import FloatArray, IntArray
from mstui.model.runs import FileState, FileStatus, RunStatus
from mstui.store.rhythm import CLOCK_SET_S, LATEST_TIME

STALE_AFTER_S = 60.0
"""Least silence, in seconds, before an open run is called stale: below it a slow step is as likely as trouble."""
STALE_RHYTHMS = 3.0
"""Times the longest recent pause between records. SummaryCollector flushes at epoch ends only, so a pause of an epoch
is this run's own rhythm; three of them are not."""
LINEAGE_SLACK_S = 5.0
"""Seconds by which the last record may be stamped later than train_lineage: both get the time at which the writer
process takes them off its queue. A record later than that belongs to a training that was started again."""
RECENT_RECORDS = 256
"""Records looked at for the rhythm and the seconds a step."""

_NO_DATA_YET = frozenset({FileState.QUEUED, FileState.EMPTY})
_CANNOT_READ = frozenset({FileState.DENIED, FileState.UNREADABLE, FileState.NOT_EVENTS, FileState.VANISHED})
_WRITER_GONE = frozenset({FileState.CLOSED, FileState.TORN})


def longest_pause(wall_times: FloatArray) -> float:
    """Longest pause in seconds between neighbouring recent records; 0.0 below two."""
    recent = wall_times[-RECENT_RECORDS:]
    if len(recent) < 2:
        return 0.0
    pauses = _differences(recent)
    return float(pauses[_is_pause(pauses)].max(initial=0.0))


def stale_after(pause: float) -> float:
    """Seconds of silence after which a run with this rhythm is stale."""
    return max(STALE_AFTER_S, STALE_RHYTHMS * pause)


def seconds_per_step(steps: IntArray, wall_times: FloatArray) -> Optional[float]:
    """Mean seconds a step over the recent records of one generation; None when it cannot be told.

    A mean over many records, since records that were flushed together carry nearly the same wall_time. Of those that
    share the first time nothing tells how long they took: it begins with the last one of them.
    """
    s, w = steps[-RECENT_RECORDS:], wall_times[-RECENT_RECORDS:]
    timed = _is_time(w)
    s, w = s[timed], w[timed]
    together = int(np.argmax(w != w[0])) if len(w) else 0
    s, w = s[max(together - 1, 0) :], w[max(together - 1, 0) :]
    if len(s) < 2:
        return None
    pauses = _differences(w)
    told = _is_pause(pauses)
    rise, spent = float(np.diff(s.astype(np.float64))[told].sum()), float(pauses[told].sum())
    return spent / rise if rise > 0 and spent > 0 else None


def pace(records: Sequence[Tuple[IntArray, FloatArray]]) -> Optional[float]:
    """Seconds a step as the most exact record tells that still goes on; None when none can.

    records: steps and wall times of the newest stretch of each source, the most exact first. A summary stamps its
    records itself; a line of a log is known to have come by the time at which it was read, if that.
    """
    last = [float(walls[-1]) if len(walls) and _is_time(walls[-1:])[0] else 0.0 for _steps, walls in records]
    newest = max(last, default=0.0)
    for (steps, walls), at in zip(records, last):
        found = seconds_per_step(steps, walls)
        if found is not None and newest - at <= stale_after(longest_pause(walls)):
            return found
    return None


def _is_time(wall_times: FloatArray) -> npt.NDArray[np.bool_]:
    """Which of these are times: zero is what stands for one that is not known."""
    return (wall_times > 0.0) & (wall_times < LATEST_TIME)


def _differences(wall_times: FloatArray) -> FloatArray:
    """Seconds between neighbours, whatever a writer has stamped: between infinities they are NaN."""
    with np.errstate(invalid="ignore", over="ignore"):
        return wall_times[1:] - wall_times[:-1]


def _is_pause(pauses: FloatArray) -> npt.NDArray[np.bool_]:
    """Which differences are waiting, and not a clock that was set; not NaN either."""
    return (pauses >= 0.0) & (pauses < CLOCK_SET_S)


def run_status(
    files: Sequence[FileStatus], *, ended_at: float, last_record: float, last_data: float, quiet_s: float, now: float
) -> RunStatus:
    """Status of a run, or of one rank of it.

    files: those of the run; ended_at: wall_time of its newest train_lineage, 0.0 without one; last_record: wall_time of
    its newest scalar, 0.0 without one; last_data: mtime of the newest byte; quiet_s: seconds of silence after which it
    is stale (see stale_after).
    """
    data = [file for file in files if file.state not in _CANNOT_READ]
    if files and not data:
        return RunStatus.UNREADABLE
    if all(file.size == 0 or file.state in _NO_DATA_YET for file in data):
        return RunStatus.PENDING if not data or now - last_data < STALE_AFTER_S else RunStatus.STALE
    if ended_at and last_record <= ended_at + LINEAGE_SLACK_S:
        return RunStatus.ENDED
    if all(file.state in _WRITER_GONE for file in _newest_session(data)):
        return RunStatus.STOPPED
    return RunStatus.STALE if now - last_data > quiet_s else RunStatus.LIVE


def _newest_session(files: Iterable[FileStatus]) -> Sequence[FileStatus]:
    """The newest file of each rank and format, those with records of training if there are any.

    An older closed file does not make a restarted run look closed.
    """
    newest: Dict[Tuple[int, str], FileStatus] = {}
    for file in sorted(files, key=lambda each: each.modified):
        newest[file.rank_id, file.format_name] = file
    found = list(newest.values())
    events = [file for file in found if "lineage" not in file.format_name]
    return events or found

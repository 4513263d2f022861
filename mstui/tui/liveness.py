"""Is the training alive: one word, its look and its age, the same in the header, the runs and the tiny layouts."""

from __future__ import annotations

from typing import List, Mapping, NamedTuple, Optional, Tuple

from mstui.i18n import _, mark
from mstui.model.runs import RankInfo, RunInfo, RunStatus, WatchState
from mstui.tui.lines import Row
from mstui.tui.numbers import age
from mstui.tui.wrapping import wrap

_WORDS: Mapping[RunStatus, Tuple[str, str, str]] = {
    RunStatus.LIVE: (mark("LIVE"), "*", "ok"),
    RunStatus.STALE: (mark("STALE"), "~", "warning"),
    RunStatus.ENDED: (mark("ENDED"), "=", "info"),
    RunStatus.STOPPED: (mark("STOPPED"), "!", "warning"),
    RunStatus.FAILED: (mark("FAILED"), "F", "critical"),
    RunStatus.PENDING: (mark("NO DATA"), "?", "dim"),
    RunStatus.UNREADABLE: (mark("UNREADABLE"), "!!", "critical"),
}


class Liveness(NamedTuple):
    """What to show of a run's state."""

    word: str
    """translated"""
    glyph: str
    """ASCII, so that every terminal gives it one cell"""
    look: str
    age: str
    """how long ago the newest data came, coarse; empty where it says nothing"""

    @property
    def text(self) -> str:
        """Glyph, word and age."""
        return " ".join(part for part in (self.glyph, self.word, self.age) if part)


def of_status(status: RunStatus, last_data: float, now: float) -> Liveness:
    """Liveness of a run or a rank."""
    word, glyph, look = _WORDS[status]
    tells_age = status in (RunStatus.LIVE, RunStatus.STALE) and last_data > 0
    return Liveness(_(word), glyph, look, age(now - last_data) if tells_age else "")


def of_listed(run: RunInfo, now: float, rank: Optional[RankInfo] = None) -> Liveness:
    """Liveness in a list of runs: of a run, or of one of its ranks. Of a run that is not read only the age is known."""
    status, last_data = (run.status, run.last_data) if rank is None else (rank.status, rank.last_data)
    if run.loaded or status is RunStatus.PENDING:
        return of_status(status, last_data, now)
    return Liveness(_("NOT READ"), ".", "dim", age(now - last_data) if last_data > 0 else "")


def of_run(run: Optional[RunInfo], watch: WatchState, now: float) -> Liveness:
    """Liveness of the selected run; a monitor that is dead comes before everything a run could say.

    The selected run is read as soon as it is selected: until it is, it is being read.
    """
    if not watch.alive:
        return Liveness(_("NOT LIVE"), "!!", "critical", age(now - watch.last_read) if watch.last_read else "")
    if run is None:
        return of_status(RunStatus.PENDING, 0.0, now)
    if not run.loaded and run.status is not RunStatus.PENDING:
        return Liveness(_("READING"), ".", "info", age(now - run.last_data) if run.last_data > 0 else "")
    return of_status(run.status, run.last_data, now)


def dead_rows(reason: str, cells: int) -> List[Row]:
    """What to say when the monitor's thread has ended; `reason` is safe to show."""
    text = (
        _("What is on the screen no longer changes: the part of mstui that reads the files has stopped."),
        reason,
        _("The training is not touched. Please report this text; start mstui again to go on."),
    )
    rows: List[Row] = []
    for paragraph in text:
        rows += [*(((line, "text"),) for line in wrap(paragraph, cells)), ()]
    return rows

"""Judges every loaded run and keeps its alerts: the rules, the incidents, the journal.

The monitor's thread alone works here; what others ask for was published by replacing it, and what persons say waits in
a queue.
"""

from __future__ import annotations

from collections import deque
from typing import Callable, Deque, Dict, Iterable, Mapping, Optional, Tuple

from mstui.detect.naming import Objective
from mstui.journal import Journal
from mstui.model.alert_view import Alert, JournalHealth
from mstui.model.alerts import Verdict
from mstui.model.batch import Batch, FileKey
from mstui.model.journal import Entry
from mstui.model.logs import EventKind, LogEvent
from mstui.monitor.alert_book import AlertBook, Run
from mstui.monitor.fact_sequel import steps_went_back
from mstui.monitor.judge import Judge, Moment, Told
from mstui.monitor.rulebook import Rulebook
from mstui.monitor.supply import ReadHistograms
from mstui.store.run_store import Store

TELL_AGAIN_S = 1.0
"""Acknowledgements end by time, and other processes write: alerts are brought up to date at least this often."""

STATUS_KNOWN_S = 1.0
"""Seconds after a batch until what follows from it for the run's status is known: it is told by the list of runs, which
is made when the turn has been judged. A run is looked at then, for what only an end can show."""

RankOf = Callable[[FileKey, LogEvent], Optional[int]]


class Alerts:
    """Alerts and verdicts of every loaded run."""

    def __init__(self, store: Store, read_histograms: ReadHistograms, journal: Journal, rulebook: Rulebook) -> None:
        self._store = store
        self._read_histograms = read_histograms
        self._rulebook = rulebook
        self._book = AlertBook(journal)
        self._judges: Dict[str, Judge] = {}
        self._noted: Deque[Tuple[str, Entry]] = deque()
        self._told_at = float("-inf")
        self._again_at: Dict[str, float] = {}
        """by run key, Unix seconds at which a run is to be looked at though nothing more has come"""
        self.verdicts: Mapping[str, Verdict] = {}
        """by run key, of runs that have been judged; replaced, never changed"""
        self.objectives: Mapping[str, Mapping[str, Objective]] = {}
        """by run key and tag; replaced, never changed"""

    # ---- the monitor's thread ----

    def take(self, batch: Batch, rank_of: RankOf, now: float) -> None:
        """A batch has been stored."""
        run_key = batch.file.run_key
        judge = self._judges.get(run_key)
        if judge is None:
            judge = self._judges[run_key] = Judge(
                run_key, self._store, self._rulebook, self._read_histograms, self._step_of, self._is_history
            )
        elif batch.reset:
            judge.start_again(batch.file)
        judge.stir(now)
        self._again_at[run_key] = now + STATUS_KNOWN_S
        if batch.log_events:
            placed = ((rank_of(batch.file, event), event) for event in batch.log_events)
            judge.tell(Told(batch.file, batch.file.rank_id if rank is None else rank, event) for rank, event in placed)

    def _step_of(self, file: FileKey, offset: int) -> Optional[int]:
        log = self._store.log(file)
        return None if log is None else log.view().step_at(offset)

    def _is_history(self, file: FileKey, event: LogEvent) -> bool:
        if event.kind is not EventKind.NAN_STOP:
            return False
        views = {log.key: log.view() for log in self._store.logs(file.run_key) if log.key.path == file.path}
        return file in views and steps_went_back(file, event, views)

    def judge(
        self,
        moment_of: Callable[[str], Moment],
        run_of: Callable[[str], Run],
        now: float,
        over: Callable[[], bool],
        *,
        at_once: bool = False,
    ) -> bool:
        """Go on with every run, until `over`. True when an alert or a verdict is another than before.

        at_once: look at all of them, however short ago the last look was. A moment is asked for only for a look.
        """
        changed = self._take_notes(run_of)
        self._book.look(now)
        again = not 0.0 <= now - self._told_at < TELL_AGAIN_S
        for run_key, judge in list(self._judges.items()):
            self._put_off(run_key, judge, now)
            moved = (at_once or judge.asks(now)) and judge.judge(moment_of(run_key), over)
            if moved and judge.verdict is not None:
                self.verdicts = {**self.verdicts, run_key: judge.verdict}
                self.objectives = {**self.objectives, run_key: judge.objectives}
            if moved or again or changed:
                changed |= self._book.update(run_of(run_key), judge.incidents, now) or moved
        if again:
            self._told_at = now
        return changed

    def _put_off(self, run_key: str, judge: Judge, now: float) -> None:
        """A run that was to be looked at now is, unless its last look is not over or too short ago."""
        if now >= self._again_at.get(run_key, float("inf")):
            del self._again_at[run_key]
            if judge.working or not judge.asks(now):
                self._again_at[run_key] = now + STATUS_KNOWN_S

    @property
    def working(self) -> bool:
        """There is more to judge right now."""
        return any(judge.working for judge in self._judges.values())

    def due(self, now: float) -> float:
        """Unix seconds at which it wants to be asked again, though nothing comes."""
        dues = (judge.due(now) for judge in self._judges.values())
        return min((*dues, *self._again_at.values()), default=float("inf"))

    def forget(self, run_key: str) -> None:
        """The run is not loaded any more."""
        self._judges.pop(run_key, None)
        self._again_at.pop(run_key, None)
        self._book.forget(run_key)
        self.verdicts = {key: verdict for key, verdict in self.verdicts.items() if key != run_key}
        self.objectives = {key: found for key, found in self.objectives.items() if key != run_key}

    def finish(self, run_of: Callable[[str], Run]) -> None:
        """Note what persons have said since the last turn."""
        self._take_notes(run_of)

    def close(self) -> None:
        """Store what is left, and let go of the journal."""
        self._book.close()

    def _take_notes(self, run_of: Callable[[str], Run]) -> bool:
        noted = False
        while self._noted:
            run_key, entry = self._noted.popleft()
            self._book.note(run_of(run_key), entry)
            noted = True
        return noted

    # ---- anyone ----

    def alerts(self, run_key: str) -> Tuple[Alert, ...]:
        """In the order in which they were raised."""
        return self._book.alerts.get(run_key, ())

    def note(self, run_key: str, entries: Iterable[Entry]) -> None:
        """What a person says. Returns at once; it shows with the next turn."""
        self._noted.extend((run_key, entry) for entry in entries)

    @property
    def health(self) -> JournalHealth:
        """Can the journal be kept."""
        return self._book.health

    def entries(self, run_key: str, alert_id: str) -> Tuple[Entry, ...]:
        """What was noted about an incident, oldest first, as of the last turn."""
        return self._book.entries.get(run_key, {}).get(alert_id, ())

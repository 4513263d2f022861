"""The list of runs and the tables of their ranks, made anew only when something may have changed.

A redraw asks for them several times, and there may be thousands of runs, or a thousand ranks in one. With a thousand
ranks both take 60 ms together, in which no key would be answered: while the monitor's thread runs it makes them ahead,
as long as somebody asks, and a redraw takes what there is.
"""

from __future__ import annotations

import threading
from typing import Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from mstui.ingest.ingestor import DiscoveredRun
from mstui.model.ranks import RankTable
from mstui.model.runs import Fact, FileState, FileStatus, RunInfo, RunStatus
from mstui.monitor.facts import RunFacts
from mstui.monitor.first_look import EVENTS_AHEAD_S, Promise, promise
from mstui.monitor.listing import Wishes, describe_loaded, describe_unloaded
from mstui.monitor.liveness import STALE_AFTER_S
from mstui.monitor.rank_infos import RankInfos
from mstui.monitor.run_logs import LogLife
from mstui.store.rank_table import RankTables
from mstui.store.run_store import Store

RUNS_KEPT_S = 0.2
"""Seconds for which a list is good while the revision is the same: what time alone changes is coarser."""
AHEAD_EVERY_S = 0.4
"""While there is more to read a list is made ahead no more often: a redraw comes twice a second."""
LATE_S = 2.0
"""A list that was made ahead is good for so long, whatever has come since: the next one is on its way."""
ASKED_LATELY_S = 5.0
"""After so many seconds without a question nothing is made ahead: a screen asks every other second at least."""


class Known(NamedTuple):
    """What the monitor knows at one moment."""

    revision: int
    discovered: Tuple[DiscoveredRun, ...]
    loaded: frozenset[str]
    facts: Mapping[str, RunFacts]
    files: Callable[[str], Sequence[FileStatus]]
    """those of a run"""
    lives: Mapping[str, LogLife] = {}
    """what the text logs of a run say, for runs that have any"""


class _Made(NamedTuple):
    """A list as last answered."""

    revision: int
    at: float
    """Unix seconds"""
    runs: Tuple[RunInfo, ...]
    tables: Dict[str, RankTable]
    """as made from it, by run key"""


class RunList:
    """For any thread: one at a time makes something, and everybody else takes what was made."""

    def __init__(self, store: Store, wishes: Wishes) -> None:
        self._store = store
        self._wishes = wishes
        self._ranks = RankInfos(store)
        self._rank_tables = RankTables(store)
        self._unloaded: Dict[str, Tuple[DiscoveredRun, bool, RunInfo]] = {}
        self._promises: Dict[str, Tuple[DiscoveredRun, Promise]] = {}
        self._made: Optional[_Made] = None
        self._making = threading.Lock()
        self._asked_at = float("-inf")
        self._tables_asked: Dict[str, float] = {}
        """by run key, Unix seconds of the last question"""
        self._owed = False
        """something has changed for which no list was made yet"""

    @property
    def latest(self) -> Tuple[RunInfo, ...]:
        """The list as last answered. Any thread."""
        made = self._made
        return () if made is None else made.runs

    def runs(self, known: Known, now: float, *, made_ahead: bool = False) -> Tuple[RunInfo, ...]:
        """Every run found, newest data first; those that are unreadable or only a framework's chatter come last.

        made_ahead: `make_ahead` is called on another thread whenever something changes.
        """
        lately = 0 <= now - self._asked_at < ASKED_LATELY_S
        self._asked_at = now
        made = self._made
        if made_ahead and lately and made is not None and 0 <= now - made.at < LATE_S:
            return made.runs
        return self._of(known, now).runs

    def make_ahead(self, known: Callable[[], Known], now: float, *, changed: bool, at_once: bool) -> bool:
        """Make the list, and the tables that were asked for, before somebody asks again. True where it was made.

        now: Unix seconds at which the turn of reading began; somebody may have asked since. changed: something is not
        as it was at the last call. at_once: do not wait until a redraw is near.
        """
        self._owed |= changed
        made = self._made
        early = made is not None and 0 <= now - made.at < AHEAD_EVERY_S and not at_once
        if not self._owed or early or now - self._asked_at >= ASKED_LATELY_S:
            return False
        self._owed = False
        asked = {key for key, at in self._tables_asked.copy().items() if now - at < ASKED_LATELY_S}
        with self._making:
            of = known()
            runs = self._make(of, now)
            tables = {run.key: self._rank_tables.table(run) for run in runs if run.key in asked and run.loaded}
            self._made = _Made(of.revision, now, runs, tables)
        return True

    def outdate(self) -> None:
        """Something has changed that no turn of reading tells of: who asks next gets a list and tables made anew."""
        self._owed = True
        if self._made is not None:
            self._made = self._made._replace(at=float("-inf"))

    def _of(self, known: Known, now: float) -> _Made:
        """A list of this very revision."""
        with self._making:
            made = self._made
            if made is None or made.revision != known.revision or not 0 <= now - made.at < RUNS_KEPT_S:
                made = self._made = _Made(known.revision, now, self._make(known, now), {})
            return made

    def _make(self, known: Known, now: float) -> Tuple[RunInfo, ...]:
        infos: List[RunInfo] = []
        for run in known.discovered:
            files = known.files(run.key) if run.key in known.loaded else ()
            # Files that may not be opened, or hold no record, give no facts: the run is read all the same.
            if run.key in known.facts or (files and all(file.state is not FileState.QUEUED for file in files)):
                facts = known.facts.get(run.key) or RunFacts()
                life = known.lives.get(run.key)
                infos.append(describe_loaded(run, files, self._store, self._ranks, facts, self._wishes, now, life))
            else:
                infos.append(self._describe_unloaded(run, now))
        places = {run.key: self._promise(run) for run in known.discovered}
        infos.sort(
            key=lambda info: (
                info.status is not RunStatus.UNREADABLE,
                places[info.key].training,
                _newness(info, places),
            ),
            reverse=True,
        )
        return tuple(infos)

    def _promise(self, run: DiscoveredRun) -> Promise:
        """From the cache while the run has not changed: its ranks may have thousands of files."""
        cached = self._promises.get(run.key)
        if cached is None or cached[0] is not run:
            cached = self._promises[run.key] = (run, promise(run))
        return cached[1]

    @property
    def wished(self) -> Optional[int]:
        """Steps that a person has said the training will take."""
        return self._wishes.total_steps

    def planned(self, facts: Mapping[str, Fact]) -> Optional[int]:
        """Steps that a run with these facts is to have; a person's word comes first."""
        planned = self._wishes.total_steps if self._wishes.total_steps is not None else facts.get("planned_steps")
        return planned if isinstance(planned, int) else None

    def rank_table(self, runs: Sequence[RunInfo], run_key: str) -> Optional[RankTable]:
        """The ranks of one run of the list that `runs` has just given; None for one that is not loaded."""
        self._tables_asked[run_key] = self._asked_at
        made = self._made
        table = None if made is None else made.tables.get(run_key)
        if table is not None:
            return table
        run = next((run for run in runs if run.key == run_key), None)
        if run is None or not run.loaded:
            return None
        with self._making:
            table = self._rank_tables.table(run)
            if made is not None and made.runs is runs:
                made.tables[run_key] = table
        return table

    def forget(self, run_key: str) -> None:
        """The run is not loaded any more. Any thread."""
        self._ranks.forget(run_key)
        self._rank_tables.forget(run_key)
        self._tables_asked.pop(run_key, None)

    def _describe_unloaded(self, run: DiscoveredRun, now: float) -> RunInfo:
        """From the cache while neither the files nor their freshness have changed: there may be thousands."""
        fresh = now - run.modified <= STALE_AFTER_S
        cached = self._unloaded.get(run.key)
        if cached is not None and cached[0] is run and cached[1] == fresh:
            return cached[2]
        info = describe_unloaded(run, now)
        self._unloaded[run.key] = (run, fresh, info)
        return info


def _newness(info: RunInfo, places: Mapping[str, Promise]) -> float:
    """When its newest data came, a little later for a run with a summary."""
    return info.last_data + (EVENTS_AHEAD_S if places[info.key].events else 0.0)

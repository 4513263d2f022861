"""The list of runs and the tables of their ranks, made anew only when something may have changed.

A redraw asks for them several times, and there may be thousands of runs, or a thousand ranks in one.
"""

from __future__ import annotations

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


class RunList:
    """Belongs to one thread, but for `forget`."""

    def __init__(self, store: Store, wishes: Wishes) -> None:
        self._store = store
        self._wishes = wishes
        self._ranks = RankInfos(store)
        self._rank_tables = RankTables(store)
        self._unloaded: Dict[str, Tuple[DiscoveredRun, bool, RunInfo]] = {}
        self._promises: Dict[str, Tuple[DiscoveredRun, Promise]] = {}
        self._made: Optional[Tuple[int, float, Tuple[RunInfo, ...]]] = None
        """(revision, when, list) as last answered"""
        self._tables: Dict[str, RankTable] = {}
        """as made from that list"""

    @property
    def latest(self) -> Tuple[RunInfo, ...]:
        """The list as last answered. Any thread."""
        made = self._made
        return () if made is None else made[2]

    def runs(self, known: Known, now: float) -> Tuple[RunInfo, ...]:
        """Every run found, newest data first; those that are unreadable or only a framework's chatter come last."""
        made = self._made
        if made is not None and made[0] == known.revision and 0 <= now - made[1] < RUNS_KEPT_S:
            return made[2]
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
        self._made = (known.revision, now, tuple(infos))
        self._tables = {}
        return self._made[2]

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
        run = next((run for run in runs if run.key == run_key), None)
        if run is None or not run.loaded:
            return None
        table = self._tables.get(run_key)
        if table is None:
            table = self._tables[run_key] = self._rank_tables.table(run)
        return table

    def forget(self, run_key: str) -> None:
        """The run is not loaded any more. Any thread."""
        self._ranks.forget(run_key)
        self._rank_tables.forget(run_key)

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

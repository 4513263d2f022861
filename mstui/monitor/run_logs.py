"""What the logs of one run say of its life: facts, the ranks that failed, the phase before the first step.

Written by the monitor's thread; what is published is frozen. It judges again only when events or steps have come.
"""

from __future__ import annotations

import time
from typing import Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Set, Tuple

import numpy as np

from mstui.i18n import _
from mstui.model.batch import Batch, FileKey
from mstui.model.log_view import ProcessFact, Weight
from mstui.model.logs import EventKind, LogEvent
from mstui.monitor.fact_causes import Setting, find_causes
from mstui.monitor.fact_sequel import Life, Sequels
from mstui.monitor.fact_words import RETRY
from mstui.monitor.log_ranks import RankMap, rank_map
from mstui.monitor.log_times import LogTimes
from mstui.monitor.process_facts import Draft, Events, by_importance, drafts
from mstui.store.log_index import LogIndex

JUDGE_EVERY_S = 1.0
"""While files are read for the first time, and for steps after a failure, the logs are judged at most this often: it
takes some 40 ms with a thousand ranks."""
_JOB_IS_OVER = frozenset((EventKind.WORKER_EXIT, EventKind.JOB_FAILED, EventKind.NODE_TIMEOUT, EventKind.PEER_CLOSED))
"""Told by a launcher, a scheduler or a peer: the other processes do not outlive it"""
_PHASES = frozenset((EventKind.STARTUP, EventKind.RANK_MAP, EventKind.GRAPH_COMPILATION, EventKind.NODE_TIMEOUT))


class LogLife(NamedTuple):
    """What the logs of a run say of its life."""

    facts: Tuple[ProcessFact, ...] = ()
    failed: Mapping[int, ProcessFact] = {}
    """ranks whose process has ended with an error and has made no step since"""
    over: Optional[ProcessFact] = None
    """why the whole run ended with an error, if it did and no step was made since"""
    phase: str = ""
    """what the processes do before the first step, in words"""
    phase_at: float = 0.0
    """Unix seconds of the last word of it; 0.0 without any"""
    compiling: bool = False
    ranks: RankMap = RankMap({}, {}, {}, frozenset())
    owners: frozenset[int] = frozenset()
    """ranks, as the files are placed, of which a log is written by the rank itself"""
    new_steps: Mapping[int, float] = {}
    """when the newest step of each rank, as the files are placed, arrived, Unix seconds"""


class Outlook(NamedTuple):
    """What the monitor knows of the run besides its logs."""

    modified: Callable[[FileKey], float]
    finished: Callable[[], frozenset[int]]
    """ranks that have come to the planned end"""
    step_gap: Callable[[], Optional[int]]


class RunLogs:
    """The logs of one loaded run."""

    def __init__(self, times: LogTimes) -> None:
        self._times = times
        self._events = Events()
        self._sequels = Sequels(times)
        self._arrived: Dict[int, float] = {}
        self._seen_arriving: Dict[int, float] = {}
        self._met: Set[FileKey] = set()
        """logs of which steps have been read: what is read of one first was there before"""
        self._stirred = False
        self._again = False
        """events have come"""
        self._judged_at = float("-inf")
        self.life = LogLife()

    def take(self, batch: Batch, index: Optional[LogIndex], modified: float, now: float, *, caught_up: bool) -> None:
        """A batch has been stored. caught_up: everything that was there had been read before."""
        if index is not None:
            self._stirred = True
            self._again |= self._events.look(index.view())
        arriving = caught_up and batch.file in self._met
        for placed, columns in ((batch.file.rank_id, batch.columns), *batch.rank_columns.items()):
            walls = [each.wall_times for each in columns if len(each.steps)]
            if not walls:
                continue
            self._met.add(batch.file)
            told_at = max(float(np.nanmax(each, initial=0.0)) for each in walls)
            when = now if arriving or not (modified or told_at) else min(told_at or modified, modified or told_at)
            self._arrived[placed] = max(self._arrived.get(placed, 0.0), when)
            if arriving:
                told = self.life.ranks.of_file(batch.file) if placed == batch.file.rank_id else None
                self._seen_arriving[placed if told is None else told] = now

    @property
    def waits(self) -> bool:
        """Something has come that is still to be judged."""
        return self._stirred and (self._again or bool(self.life.failed) or self.life.over is not None)

    def judge(self, outlook: Outlook, now: float, *, caught_up: bool) -> bool:
        """Publish what is known now; True when that is something else than before.

        caught_up: everything that was there has been read.
        """
        pending = bool(self.life.failed) or self.life.over is not None
        early = 0.0 <= now - self._judged_at < JUDGE_EVERY_S
        if not self._stirred or not ((self._again and (caught_up or not early)) or (pending and not early)):
            if self._stirred:
                self.life = self.life._replace(new_steps=dict(self._arrived))
            return False
        self._stirred = self._again = False
        self._judged_at = now
        ranks = rank_map(self._events.by_file())
        found = drafts(self._events, ranks, self._times)
        own = sorted({rank for rank in map(ranks.of_file, self._events.views) if rank is not None})
        find_causes(found, ranks, Setting(own, outlook.finished(), outlook.step_gap() or 1))
        life = Life(now, outlook.modified, lambda rank: self._seen_arriving.get(rank, 0.0))
        for draft in found:
            if draft.weight is Weight.FATAL:
                draft.overcome = self._sequels.went_on(draft, self._events.views, ranks, life)
                if draft.overcome and draft.kind not in _JOB_IS_OVER:
                    draft.weight = Weight.TROUBLE
            told_by_others = draft.weight is Weight.TROUBLE and draft.kind in _JOB_IS_OVER
            if (draft.overcome or told_by_others) and self._sequels.begun_anew(draft, self._events.views, ranks):
                draft.weight = Weight.NEWS
        ordered = by_importance(found)
        before = self.life
        self.life = self._life(ordered, ranks)
        return self.life != before

    def _life(self, ordered: List[Draft], ranks: RankMap) -> LogLife:
        facts = tuple(draft.fact() for draft in ordered)
        failed: Dict[int, ProcessFact] = {}
        over: Optional[ProcessFact] = None
        for draft, fact in zip(ordered, facts):
            if draft.weight is not Weight.FATAL or draft.overcome:
                continue
            if over is None and (draft.kind in _JOB_IS_OVER or draft.rank is None):
                over = fact
            if draft.rank is not None and (not draft.consequence or draft.kind is EventKind.WORKER_EXIT):
                failed.setdefault(draft.rank, fact)
            if not draft.consequence and draft.kind not in _JOB_IS_OVER:
                for rank in draft.ranks:
                    failed.setdefault(rank, fact)
        words, when, compiling = _phase(event for _file, events in self._events.by_file() for event in events)
        owners = {file.rank_id: rank for file, rank in sorted(ranks.files.items()) if rank is not None}
        placed = {placed: failed[rank] for placed, rank in owners.items() if rank in failed}
        left = {rank: fact for rank, fact in failed.items() if rank not in owners.values()}
        return LogLife(
            *(facts, {**left, **placed}, over, words, when, compiling, ranks),
            owners=frozenset(owners),
            new_steps=dict(self._arrived),
        )


def _phase(events: Iterable[LogEvent]) -> Tuple[str, float, bool]:
    """What the newest word on a start says, when it was said, and whether a compilation is not over."""
    newest: Optional[LogEvent] = None
    for event in events:
        retry = event.kind is EventKind.NODE_TIMEOUT and RETRY not in event.fields
        if event.kind not in _PHASES or event.wall_time is None or retry:
            continue
        if newest is None or event.wall_time >= (newest.wall_time or 0.0):
            newest = event
    if newest is None:
        return "", 0.0, False
    when = newest.wall_time or 0.0
    clock = time.strftime("%H:%M:%S", time.localtime(when))
    if newest.kind is EventKind.GRAPH_COMPILATION:
        begun = newest.fields.get("phase", "").lower() in ("start", "begin")
        words = _("compiling the graph since {clock}") if begun else _("graph compiled at {clock}, first step to come")
        return words.format(clock=clock), when, begun
    if newest.kind is EventKind.NODE_TIMEOUT:
        return _("waiting for workers to join the cluster, last told at {clock}").format(clock=clock), when, False
    return _("starting, last told at {clock}").format(clock=clock), when, False

"""The logs of every loaded run, for the monitor: what they say of its life, and pages, texts and hits for the screen.

`take`, `judge` and `forget` belong to the monitor's thread; everything else to anyone.
"""

from __future__ import annotations

from typing import Callable, Dict, List, Mapping, Optional, Set, Tuple

from mstui.model.batch import Batch, FileKey
from mstui.model.log_view import LogFile, LogHits, LogPage, LogPlace, LogQuery, ProcessFact
from mstui.model.logs import LogEvent
from mstui.model.runs import FileStatus
from mstui.model.series import SeriesKey
from mstui.monitor.fact_sequel import last_step_place
from mstui.monitor.log_pages import LogShelf, page
from mstui.monitor.log_ranks import RankMap
from mstui.monitor.log_rows import text
from mstui.monitor.log_search import search
from mstui.monitor.log_times import LogTimes, ReadLog
from mstui.monitor.run_logs import LogLife, Outlook, RunLogs
from mstui.store.log_index import LogIndexView
from mstui.store.run_store import Store

NO_LIFE = LogLife()


class Logs:
    """Reads and judges text logs."""

    def __init__(
        self,
        store: Store,
        read: ReadLog,
        path_of: Callable[[FileKey], str],
        files: Callable[[], Mapping[str, FileStatus]],
    ) -> None:
        """`read`: exactly so many bytes of a log by content. `path_of`: where it lies now. `files`: all, by path."""
        self._store = store
        self._read_exactly = read
        self._path_of = path_of
        self._files = files
        self._times = LogTimes(self._read)
        self._runs: Dict[str, RunLogs] = {}
        self._stirred: Set[str] = set()
        self.lives: Mapping[str, LogLife] = {}
        """what the logs of each run say, for runs that have logs; replaced, never changed"""

    # ---- the monitor's thread ----

    def take(self, batch: Batch, now: float, *, caught_up: bool) -> None:
        """A batch of a log has been stored. caught_up: everything that was there had been read before."""
        key = batch.file
        run = self._runs.get(key.run_key)
        if run is None:
            run = self._runs[key.run_key] = RunLogs(self._times)
        run.take(batch, self._store.log(key), self._modified(key), now, caught_up=caught_up)
        self._stirred.add(key.run_key)

    def judge(self, plan: Callable[[str], Optional[int]], now: float, *, caught_up: bool) -> bool:
        """Publish what the logs say now; True when that is something new. plan: steps that a run is to have.

        caught_up: everything that was there has been read.
        """
        changed = False
        for run_key in self._stirred:
            changed |= self._runs[run_key].judge(self._outlook(run_key, plan), now, caught_up=caught_up)
        if self._stirred:
            self.lives = {run_key: run.life for run_key, run in self._runs.items()}
        self._stirred = {run_key for run_key in self._stirred if self._runs[run_key].waits}
        return changed

    def rank_of(self, file: FileKey, event: LogEvent) -> Optional[int]:
        """The rank that told an event, as far as the run's logs have told by now."""
        return self.lives.get(file.run_key, NO_LIFE).ranks.of_event(file, event)

    def forget(self, run_key: str) -> None:
        """The run is not loaded any more."""
        self._runs.pop(run_key, None)
        self._stirred.discard(run_key)
        self.lives = {key: run.life for key, run in self._runs.items()}

    def _outlook(self, run_key: str, plan: Callable[[str], Optional[int]]) -> Outlook:
        def finished() -> frozenset[int]:
            planned = plan(run_key)
            lasts = {rank: self._store.last_step(run_key, rank) for rank in self._store.ranks(run_key)}
            return frozenset(
                rank for rank, last in lasts.items() if planned is not None and last is not None and last >= planned
            )

        return Outlook(self._modified, finished, lambda: self._store.step_gap(run_key))

    def _modified(self, file: FileKey) -> float:
        status = self._files().get(self._path_of(file))
        return status.modified if status is not None else 0.0

    def _size(self, file: FileKey) -> int:
        status = self._files().get(self._path_of(file))
        return status.size if status is not None else 0

    def _read(self, file: FileKey, offset: int, length: int) -> Optional[bytes]:
        """Bytes of a log, fewer at its end. Any thread."""
        length = min(length, self._size(file) - offset)
        return self._read_exactly(file, offset, length) if length > 0 else None

    # ---- anyone, in memory ----

    def files(self, run_key: str) -> Tuple[LogFile, ...]:
        """Text logs of a loaded run, by rank and name."""
        known = self._files()
        out: List[LogFile] = []
        for index in self._store.logs(run_key):
            path = self._path_of(index.key)
            status = known.get(path)
            understood, measured = (status.understood, status.measured) if status is not None else (0, 0)
            view = index.view()
            out.append(LogFile(index.key, path, view.records, understood, measured, view.complete))
        return tuple(out)

    def facts(self, run_key: str) -> Tuple[ProcessFact, ...]:
        """What explains most first, then by time."""
        return self.lives.get(run_key, NO_LIFE).facts

    def place(self, key: SeriesKey, step: int) -> Optional[LogPlace]:
        """The record that told of a step of this rank, or the last one before it."""
        best: Optional[Tuple[int, LogPlace]] = None
        for index in sorted(self._store.logs(key.run_key), key=lambda each: each.key.source):
            if index.key.rank_id != key.rank_id:
                continue
            view = index.view()
            offset = view.place_of_step(step)
            told = None if offset is None else view.step_at(offset)
            if offset is not None and told is not None and (best is None or told > best[0]):
                best = (told, LogPlace(index.key, offset))
        return None if best is None else best[1]

    def step(self, place: LogPlace) -> Optional[int]:
        """The step that a record tells of, or the last one told before it in the same file."""
        index = self._store.log(place.file)
        return None if index is None else index.view().step_at(place.offset)

    # ---- a worker thread: these read the disk ----

    def page(self, query: LogQuery, around: Optional[LogPlace], before: int, after: int) -> LogPage:
        """Rows around a place."""
        return page(self._shelf(query), int(query.least_level), around, before, after)

    def text(self, place: LogPlace, most: int) -> str:
        """A whole record."""
        index = self._store.log(place.file)
        return "" if index is None else text(index.view(), place.offset, most, self._read)

    def hits(self, query: LogQuery, words: str, tell: Callable[[LogHits], bool]) -> LogHits:
        """Search, newest first."""
        return search(self._shelf(query), self._size, int(query.least_level), words, tell)

    def _shelf(self, query: LogQuery) -> LogShelf:
        ranks = self.lives.get(query.run_key, NO_LIFE).ranks
        views = [index.view() for index in self._store.logs(query.run_key)]
        if query.file is not None:
            views = [view for view in views if view.key == query.file]
        elif query.rank_id is not None:
            views = _of_rank(views, query.rank_id, ranks)
        return LogShelf(views, ranks, self._read, self._times, self._modified)


def _of_rank(views: List[LogIndexView], rank_id: int, ranks: RankMap) -> List[LogIndexView]:
    """A rank's own logs; where only a shared console tells of it, that one."""
    placed = [view for view in views if view.key.rank_id == rank_id]
    own = [view for view in placed if ranks.of_file(view.key) is not None]
    return own or [view for view in placed if last_step_place(view) is not None] or placed

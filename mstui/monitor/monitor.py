"""Reads, stores and answers. `run_once` is one synchronous turn; the thread is a loop around it.

What crosses to the caller is frozen or read-only. Nothing here draws, and nothing here decides whether a training is
healthy.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections import deque
from functools import partial
from typing import AbstractSet, Callable, Deque, Dict, Mapping, NamedTuple, Optional, Sequence, Tuple

from mstui.detect.base import Process
from mstui.formats.base import Format
from mstui.ingest.ingestor import DiscoveredRun, Ingestor, Progress
from mstui.ingest.watch import Watcher, WatchMode
from mstui.journal import Journal
from mstui.model.batch import Batch
from mstui.model.ranks import RankTable
from mstui.model.roles import Role
from mstui.model.runs import FileStatus, RunInfo, WatchState
from mstui.model.sources import SourceKind
from mstui.monitor.alert_answers import AlertAnswers
from mstui.monitor.alert_book import Run
from mstui.monitor.alerts import Alerts
from mstui.monitor.facts import RunFacts, steps_per_epoch, take_lineage
from mstui.monitor.first_look import to_load
from mstui.monitor.guidance_answers import GuidanceAnswers, Standpoint
from mstui.monitor.identities import Identities
from mstui.monitor.judge import UNKNOWN, Moment, process_of
from mstui.monitor.listing import Wishes, urgency
from mstui.monitor.log_answers import LogAnswers
from mstui.monitor.logs import Logs
from mstui.monitor.rulebook import Rulebook, all_rules
from mstui.monitor.run_list import Known, RunList
from mstui.monitor.series_answers import SeriesAnswers
from mstui.monitor_api import Listener
from mstui.registry import collect
from mstui.store.roles import Roles
from mstui.store.run_store import Store

TURN_BUDGET_S = 0.1
"""Longest turn of reading: what has come in is published at least this often while history fills in."""
SCAN_BUDGET_S = 0.05
"""Part of a turn that looking for new files may take."""
LEAST_TURN_GAP_S = 0.1
"""Pause between two turns that follow file events: a writer of a thousand records a second causes ten turns."""
JUDGE_BUDGET_S = 0.05
"""Part of a turn that the rules may take."""
LIST_EVERY_S = 1.0
"""The rules ask for the runs' statuses several times in a look; with a thousand ranks a list takes 50 ms."""
LookForProcess = Callable[[str, Callable[[], Sequence[str]], float], Process]
"""(run key, paths of its files, now) -> what can be seen of the process that writes them. On the monitor's thread."""
NO_FACTS = RunFacts()
BREATH_S = 0.002
"""Pause between turns while history fills in: the UI thread takes the interpreter for a key in it."""
LONGEST_WAIT_S = 5.0
"""The thread looks at least this often whether it should stop or scan for new files."""


class Tick(NamedTuple):
    """What one turn did."""

    changed: bool
    more: bool
    """there is more to read right now"""


class Monitor(SeriesAnswers, LogAnswers, AlertAnswers, GuidanceAnswers):
    """Follows everything under one path. Keeps mstui.monitor_api.MonitorApi.

    One thread reads and writes the store. Everything that a caller on another thread gets was published by replacing
    one reference, so no call waits for a turn of reading.
    """

    def __init__(
        self,
        root: str,
        *,
        watch: WatchMode = WatchMode.AUTO,
        roles: Optional[Roles] = None,
        first_run: Optional[str] = None,
        wishes: Optional[Wishes] = None,
        clock: Callable[[], float] = time.time,
        formats: Optional[Sequence[Format]] = None,
        paths: Sequence[str] = (),
        journal: Optional[Journal] = None,
        rulebook: Optional[Rulebook] = None,
        process: Process = UNKNOWN,
        look_for_process: Optional[LookForProcess] = None,
    ) -> None:
        """`first_run`: key of the run to load by itself; None: the one with the newest data.

        `paths`: what to watch, when it is not all of `root`, which is what they share then. `journal`: None keeps what
        persons say in memory. `rulebook`: the rules at work; None is all of them with their defaults. `process`: what
        is known of the training's process from elsewhere; `look_for_process` is asked where neither that nor the run's
        status tells.
        """
        known = tuple(formats) if formats is not None else collect("mstui.formats.decoders", "FORMAT", Format)
        self._clock = clock
        self._ingestor = Ingestor(root, known, paths=paths)
        self._watcher = Watcher(root, mode=watch)
        self._roles = roles if roles is not None else Roles()
        self._store = Store(self._roles)
        self._run_list = RunList(self._store, wishes if wishes is not None else Wishes())
        self._first_run = first_run
        self._process = process
        self._look_for_process = look_for_process
        self._requests: Deque[Tuple[str, str]] = deque()
        """("load" or "unload", run key), done by the thread that reads"""
        self._facts: Dict[str, RunFacts] = {}
        self._files: Mapping[str, FileStatus] = {}
        SeriesAnswers.__init__(
            self, self._store, self._ingestor.read_range, self._format_name, self._steps_per_epoch, self._watcher.wake
        )
        LogAnswers.__init__(
            self, Logs(self._store, self._ingestor.read_log, self._ingestor.log_path, lambda: self._files)
        )
        AlertAnswers.__init__(
            self,
            Alerts(
                self._store,
                self._payloads.histograms,
                journal if journal is not None else Journal(""),
                rulebook if rulebook is not None else all_rules(),
            ),
            self._watcher.wake,
        )
        GuidanceAnswers.__init__(self, self._alerts, self._stand)
        self._identities = Identities()
        self._listed_at = float("-inf")
        self._at_once = False
        """nothing more is waited for: what is there is judged to its last record"""
        self._caught_up = False
        """everything that was there had been read when the last turn was over"""
        self._discovered: Tuple[DiscoveredRun, ...] = ()
        self._progress = Progress(0, 0, 0)
        self._scan_note = ""
        self._stop = threading.Event()
        self._read_all = threading.Event()
        self._thread: Optional[threading.Thread] = None
        self._lists_ahead = False  # while the thread runs it makes lists of runs for those who draw
        self._revision = 0
        self._last_read = 0.0
        self._failure = ""

    # ---- the turn and the thread

    def run_once(self, now: float, dirty: AbstractSet[str] = frozenset(), everything: bool = True) -> Tick:
        """Look at what changed (at every file with `everything`), read for one budget, publish."""
        asked = changed = self._do_requests()
        if self._bands.unfinished:
            self._bands.unfinished, changed = False, True  # whoever hears of the new revision asks for the rest
        scan = self._ingestor.scan(now, SCAN_BUDGET_S)
        listed = self._list()
        if scan.note != self._scan_note:
            self._scan_note = scan.note
            changed = True
        first = None if self._ingestor.loaded else to_load(self._discovered, self._first_run, complete=scan.complete)
        if first is not None:
            self._ingestor.load(first)
        self._watcher.follow(self._ingestor.folders(), whole_tree=self._ingestor.watchable)
        turn = self._ingestor.turn(now, TURN_BUDGET_S, dirty, everything)
        if turn.changed_files:
            self._files = {**self._files, **{file.path: file for file in turn.changed_files}}
        for batch in turn.batches:
            self._take(batch, now)
        self._caught_up = turn.done and not self._ingestor.progress.history_left
        changed |= self._logs.judge(self._planned, now, caught_up=self._caught_up)
        listed |= self._list()  # a hint in this turn may have led to a new run
        changed |= self._judge(now, complete=scan.complete)
        self._progress = self._ingestor.progress
        self._last_read = now
        changed = changed or listed or bool(turn.batches) or bool(turn.changed_files)
        more = not turn.done or not scan.complete or self._alerts.working
        if self._lists_ahead:
            known = partial(self._known, self._revision + 1)
            changed |= self._run_list.make_ahead(known, now, changed=changed, at_once=asked or listed or not more)
        if changed:
            self._revision += 1
        return Tick(changed, more)

    def _list(self) -> bool:
        """Publish the runs that are known now; False when they are the same as before."""
        listed = self._ingestor.runs()
        if listed is self._discovered:
            return False
        self._discovered = listed
        self._files = {file.path: file for file in self._ingestor.files()}
        return True

    def _do_requests(self) -> bool:
        done = False
        while self._requests:
            what, run_key = self._requests.popleft()
            done = True
            if what == "load":
                self._ingestor.load(run_key)
                continue
            self._ingestor.unload(run_key)
            self._store.drop(run_key)
            self._run_list.forget(run_key)
            self._logs.forget(run_key)
            self._alerts.forget(run_key)
            self._forget_guidance(run_key)
            self._facts.pop(run_key, None)
            self._files = {file.path: file for file in self._ingestor.files()}
        return done

    def _planned(self, run_key: str) -> Optional[int]:
        """Steps that a run is to have, where it is known."""
        return self._run_list.planned(self._facts.get(run_key, NO_FACTS).merged)

    def _take(self, batch: Batch, now: float) -> None:
        if batch.reset or batch.drop_tail:
            self._payloads.forget()
        self._store.apply(batch)
        facts = self._facts.get(batch.file.run_key)
        if facts is None:
            facts = self._facts[batch.file.run_key] = RunFacts()
        take_lineage(facts, batch, self._ingestor.read_range)
        if batch.facts:
            facts.declare(batch.facts)
        if batch.file.source.kind is SourceKind.LOG:
            self._logs.take(batch, now, caught_up=self._caught_up)
        self._alerts.take(batch, self._logs.rank_of, now)

    def _judge(self, now: float, *, complete: bool) -> bool:
        """Lead what has come past the rules, for a budget. complete: nothing is left to be found on the disk."""
        deadline = time.monotonic() + JUDGE_BUDGET_S
        caught_up = self._caught_up and (complete or not self._at_once)

        def moment(run_key: str) -> Moment:
            process = self._process_of(run_key, self._listed(now))
            if process == UNKNOWN and self._look_for_process is not None:
                process = self._look_for_process(
                    run_key, lambda: [path for path, file in self._files.items() if file.run_key == run_key], now
                )
            facts, planned = self._facts.get(run_key, NO_FACTS).while_running, self._run_list.wished
            if planned is not None:
                facts = {**facts, "planned_steps": planned}
            return Moment(now, facts, process, process.running is False, caught_up, self._at_once)

        return self._alerts.judge(
            moment, self._alert_run, now, lambda: time.monotonic() >= deadline, at_once=self._at_once
        )

    def _listed(self, now: float) -> Sequence[RunInfo]:
        """The list of runs. It belongs to the thread that draws; without one there is nobody to make it but us."""
        if self._thread is None and (self._at_once or not 0.0 <= now - self._listed_at < LIST_EVERY_S):
            self._listed_at = now
            return self.runs()
        return self._run_list.latest

    def _alert_run(self, run_key: str) -> Run:
        names = self._identities.of(run_key, self._discovered, self._ingestor.run_path(run_key), self.root)
        step, restarts = self._store.last_step(run_key), self._store.restarts(run_key)
        return Run(run_key, names.identity, step, restarts, names.answers)

    def look_once(self, now: float) -> None:
        """Read everything that is there, and judge it as it stands at `now`. For a caller that runs no thread."""
        self._at_once = True
        while self.run_once(now).more:
            pass

    def close(self) -> None:
        """Let go of the journal. For a caller that runs no thread; `stop` does it where one runs."""
        self._alerts.close()

    def _loop(self, listener: Listener) -> None:
        dirty: AbstractSet[str] = frozenset()
        last_turn = float("-inf")
        self._lists_ahead = True
        try:
            self._watcher.start()
            while not self._stop.is_set():
                everything = self._watcher.beat() or self._read_all.is_set()
                self._read_all.clear()
                now = self._clock()
                tick = self.run_once(now, dirty, everything)
                last_turn = time.monotonic()
                if tick.changed:
                    listener(self._revision)
                if tick.more:
                    dirty = self._watcher.wait(BREATH_S)
                    continue
                due = max(min(self._ingestor.next_due(), self._alerts.due(now)) - now, 0.0)
                dirty = self._watcher.wait(min(due, LONGEST_WAIT_S))
                early = last_turn + LEAST_TURN_GAP_S - time.monotonic()
                if dirty and early > 0:
                    self._stop.wait(early)
        except Exception:  # noqa: BLE001  # the border to foreign files and libraries: said on the screen, not lost
            self._failure = traceback.format_exc()
            self._revision += 1
            listener(self._revision)
        finally:
            self._lists_ahead = False
            self._watcher.stop()
            self._alerts.finish(self._alert_run)
            self._alerts.close()

    def _stand(self, run_key: str) -> Standpoint:
        facts, process = self._facts.get(run_key, NO_FACTS).merged, self._process_of(run_key, self._run_list.latest)
        return Standpoint(facts, self.verdict(run_key), process, self._clock())

    def _process_of(self, run_key: str, listed: Sequence[RunInfo]) -> Process:
        status = next((run.status for run in listed if run.key == run_key), None)
        return self._process if self._process != UNKNOWN else process_of(status)

    def _steps_per_epoch(self, run_key: str) -> Optional[float]:
        return steps_per_epoch(self._facts.get(run_key, NO_FACTS).merged)

    def _format_name(self, path: str) -> str:
        file = self._files.get(path)
        return "" if file is None else file.format_name

    # ---- MonitorApi: life

    @property
    def root(self) -> str:
        """The path being watched, absolute."""
        return self._ingestor.root

    @property
    def revision(self) -> int:
        """Rises whenever something that a screen shows has changed."""
        return self._revision

    def start(self, listener: Listener) -> None:
        """Start the monitor thread; `listener` is called from it."""
        self._thread = threading.Thread(target=self._loop, args=(listener,), name="mstui-monitor", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread and wait for the turn in hand; safe to call twice."""
        self._stop.set()
        self._watcher.wake()
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()

    def read_now(self) -> None:
        """Look at every file at once."""
        self._read_all.set()
        self._watcher.wake()

    def load(self, run_key: str) -> None:
        """Read this run's files and follow them. Returns at once."""
        self._request("load", run_key)

    def unload(self, run_key: str) -> None:
        """Forget this run's points and stop following it. It stays listed."""
        self._request("unload", run_key)

    def _request(self, what: str, run_key: str) -> None:
        self._requests.append((what, run_key))
        self._watcher.wake()

    # ---- MonitorApi: lists

    def watch_state(self) -> WatchState:
        """How the disk is followed, and how fresh the picture is."""
        progress = self._progress
        return WatchState(
            self._watcher.mode,
            self._watcher.reason,
            self._last_read,
            not self._failure,
            progress.bytes_total,
            progress.bytes_total - progress.history_left,
            self._failure,
            self._scan_note,
            self._ingestor.scan_every_s,
        )

    def runs(self) -> Sequence[RunInfo]:
        """Every run found, newest data first."""
        return self._run_list.runs(self._known(self._revision), self._clock(), made_ahead=self._lists_ahead)

    def _known(self, revision: int) -> Known:
        return Known(revision, self._discovered, self._ingestor.loaded, self._facts, self.files, self._logs.lives)

    def rank_table(self, run_key: str) -> Optional[RankTable]:
        """The ranks of a loaded run side by side; made anew when the list of runs is."""
        return self._run_list.rank_table(self.runs(), run_key)

    def files(self, run_key: Optional[str] = None) -> Sequence[FileStatus]:
        """Every file of a run, or of the root when None, worst state first."""
        files = [file for file in self._files.values() if run_key is None or file.run_key == run_key]
        files.sort(key=urgency)
        return files

    def set_role(self, tag: str, role: Role) -> None:
        """A person's word on a tag's role, for every run of this root."""
        self._roles.set(tag, role)
        self._run_list.outdate()
        self._revision += 1

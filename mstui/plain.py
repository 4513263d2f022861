"""One line per event, without any screen control: for screen readers, nohup and logs.

It tells what changed: new steps, liveness, restarts, the first NaN or infinity of each figure, what processes said in
their logs, what the rules found, bytes that could not be read. Status lines come at most once in a given time. It
refuses to colour, to move the cursor, and to repeat itself.
"""

from __future__ import annotations

import time
from typing import Callable, Dict, List, Optional, Protocol, Sequence, Set, Tuple

from mstui.i18n import _, aside, headed, mark, ngettext
from mstui.model.faults import ReadFault
from mstui.model.filters import Lookup, parse
from mstui.model.log_view import LogPlace
from mstui.model.logs import EventKind
from mstui.model.roles import Role
from mstui.model.runs import Fact, FileState, FileStatus, RunInfo, RunStatus, ranks_text
from mstui.model.series import SeriesKey, XAxis
from mstui.monitor.alert_news import AlertNews
from mstui.monitor.fact_words import fact_line
from mstui.monitor_api import MonitorApi, TagInfo
from mstui.safe_text import safe

EVERY_S = 10.0
"""Seconds between two status lines: a screen reader needs about five to speak one"""
TURN_S = 0.5
"""Seconds between two looks at the monitor"""
FAULTS_A_TURN = 5
"""Faults told one by one; the rest of a turn is told as a number"""
FACTS_A_TURN = 10
"""Facts told one by one in a turn; the rest is told as a number"""
LINE_LIMIT = 1000
"""Characters of a line"""

_TOLD_ROLES = (
    Role.LOSS,
    Role.EVAL_METRIC,
    Role.EVAL_LOSS,
    Role.GRAD_NORM,
    Role.UPDATE_RATIO,
    Role.LOSS_SCALE,
    Role.OVERFLOW,
    Role.LEARNING_RATE,
    Role.STEP_TIME,
    Role.THROUGHPUT,
    Role.EPOCH,
)

_STATUS_WORDS = {
    RunStatus.PENDING: mark("no data yet"),
    RunStatus.LIVE: mark("live"),
    RunStatus.STALE: mark("stale: nothing new for longer than usual"),
    RunStatus.ENDED: mark("ended normally"),
    RunStatus.STOPPED: mark("stopped without a normal end"),
    RunStatus.FAILED: mark("failed: a process ended with an error or was killed"),
    RunStatus.UNREADABLE: mark("unreadable"),
}

_BAD_STATES = {
    FileState.TORN: mark("ends inside a record, and its writer is gone"),
    FileState.DENIED: mark("cannot be opened"),
    FileState.VANISHED: mark("vanished"),
    FileState.NOT_EVENTS: mark("is not an event file"),
    FileState.UNREADABLE: mark("cannot be read"),
    FileState.NOT_RECOGNISED: mark("is a text of which no line is understood; a pattern of your own can be given"),
}


class TextSink(Protocol):
    """Where lines go."""

    def write(self, text: str) -> object:
        """Take text."""
        ...

    def flush(self) -> object:
        """Pass on everything that was written."""
        ...


class PlainReporter:
    """Turns what the monitor knows into lines. Has no clock: `turn(now)` says what happened until now."""

    def __init__(
        self,
        monitor: MonitorApi,
        *,
        run: Optional[str] = None,
        rank: Optional[int] = None,
        tag_filter: str = "",
        every_s: float = EVERY_S,
    ) -> None:
        """`run` and `rank`: what to follow; None is the run with the newest data and its lowest rank.

        `tag_filter`: the figures to tell, of any role; empty: those whose role every training has.
        """
        self._monitor = monitor
        self._filter = parse(tag_filter) if tag_filter.strip() else None
        self._wanted_run = run
        self._wanted_rank = rank
        self._every_s = every_s
        self._greeted = False
        self._followed = ""
        self._missing_told = False
        self._mode = ("", "")
        self._alive = True
        self._journal_trouble = ""
        self._forget()

    def _forget(self) -> None:
        self._status: Optional[RunStatus] = None
        self._told_step: Optional[int] = None
        self._told_at = float("-inf")
        self._restarts = 0
        self._bad: Dict[str, int] = {}
        self._states: Dict[str, FileState] = {}
        self._fault_counts: Dict[str, int] = {}
        self._finished_history = False
        self._rank_told = False
        self._facts: Set[Tuple[EventKind, str, Optional[int], LogPlace]] = set()
        self._phase: Fact = ""
        self._alerts = AlertNews()

    def turn(self, now: float) -> List[str]:
        """Lines for everything that happened since the last turn; `now` in Unix seconds."""
        lines = self._watching()
        runs = self._monitor.runs()
        run = self._choose(runs)
        if run is None:
            if not self._missing_told and self._monitor.watch_state().last_read:
                self._missing_told = True
                if self._wanted_run is None:
                    lines.append(_("no runs yet"))
                else:
                    lines.append(_("no run {run} yet; runs found: {n}").format(run=self._wanted_run, n=len(runs)))
            return self._stamped(lines, now)
        if run.key != self._followed:
            self._forget()
            self._followed = run.key
            self._monitor.load(run.key)
            lines.append(
                _("run {run}; ranks: {ranks}, files: {files}, other runs: {others}").format(
                    run=run.key, ranks=len(run.ranks), files=run.file_count, others=len(runs) - 1
                )
            )
        lines += self._status_line(run)
        lines += self._files(self._monitor.files(run.key))
        if run.loaded:
            lines += self._process_facts(run.key)
            lines += self._alerts.lines(self._monitor.alerts(run.key), self._monitor.verdict(run.key), now)
            rank = self._rank(run)
            told = [tag for tag in self._monitor.tags(run.key) if tag.kind is None and self._is_told(tag)]
            lines += self._non_finite(run.key, rank, told)
            lines += self._restarted(run.key, rank, told)
            lines += self._missing_rank(run)
            lines += self._progress(run, rank, told, now)
        return self._stamped(lines, now)

    def _is_told(self, tag: TagInfo) -> bool:
        return tag.role in _TOLD_ROLES if self._filter is None else self._filter.matches(tag.tag, _figures(tag))

    def _stamped(self, lines: Sequence[str], now: float) -> List[str]:
        clock = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(now))
        return [safe(f"{clock} {line}", LINE_LIMIT) for line in lines]

    def _watching(self) -> List[str]:
        state = self._monitor.watch_state()
        lines = []
        if not self._greeted:
            self._greeted = True
            lines.append(_("watching {path}").format(path=self._monitor.root))
            if self._filter is not None and self._filter.problem:
                lines.append(_("left out of the filter: {problem}").format(problem=self._filter.problem))
        if state.last_read and (state.mode, state.reason) != self._mode:
            self._mode = (state.mode, state.reason)
            if state.mode == "poll":
                lines.append(_("files are looked at in turns ({reason})").format(reason=state.reason))
            elif state.mode:
                lines.append(_("files are followed by file system events"))
        trouble = self._monitor.journal_health().detail
        if trouble != self._journal_trouble:
            self._journal_trouble = trouble
            if trouble:
                lines.append(_("the journal cannot be kept: {detail}").format(detail=trouble))
        if state.alive != self._alive:
            self._alive = state.alive
            if not state.alive:
                lines.append(_("NOT LIVE: the monitor stopped: {detail}").format(detail=state.detail))
        return lines

    @property
    def alive(self) -> bool:
        """False once the monitor has stopped by itself."""
        return self._alive

    def _choose(self, runs: Sequence[RunInfo]) -> Optional[RunInfo]:
        if self._wanted_run is None:
            return runs[0] if runs else None
        return next((run for run in runs if run.key == self._wanted_run), None)

    def _rank(self, run: RunInfo) -> int:
        if self._wanted_rank is not None:
            return self._wanted_rank
        return min((rank.rank_id for rank in run.ranks), default=0)

    def _missing_rank(self, run: RunInfo) -> List[str]:
        """That the rank asked for is not there: once, when everything has been read that could tell of it."""
        state = self._monitor.watch_state()
        asked = self._wanted_rank
        if asked is None or self._rank_told or not run.ranks or state.bytes_read < state.bytes_total:
            return []
        self._rank_told = True
        if any(rank.rank_id == asked for rank in run.ranks):
            return []
        return [_("no rank {rank}; ranks: {ranks}").format(rank=asked, ranks=ranks_text(run))]

    def _status_line(self, run: RunInfo) -> List[str]:
        phase = run.facts.get("phase", "")
        if run.status is self._status and phase == self._phase:
            return []
        self._status, self._phase = run.status, phase
        line = _("run {run} is {status}").format(run=run.key, status=_(_STATUS_WORDS[run.status]))
        return [aside(line, str(phase)) if phase else line]

    def _process_facts(self, run_key: str) -> List[str]:
        """What processes have told, each once; of checkpoints and compilations each one."""
        new = []
        for fact in self._monitor.process_facts(run_key):
            key = (fact.kind, fact.code, fact.rank_id, fact.place)
            if key not in self._facts:
                self._facts.add(key)
                new.append(fact)
        lines = [fact_line(fact) for fact in new[:FACTS_A_TURN]]
        more = len(new) - len(lines)
        if more:
            lines.append(ngettext("{n} more fact in the logs", "{n} more facts in the logs", more).format(n=more))
        return lines

    def _files(self, files: Sequence[FileStatus]) -> List[str]:
        lines: List[str] = []
        faults: List[ReadFault] = []
        hidden = 0
        for file in files:
            if self._states.get(file.path) is not file.state:
                self._states[file.path] = file.state
                if file.state in _BAD_STATES:
                    lines.append(_about(file))
            new = file.fault_count - self._fault_counts.get(file.path, 0)
            self._fault_counts[file.path] = file.fault_count
            if new > 0:
                kept = file.faults[-new:]
                faults += [fault for fault in kept if not _is_said_by_state(fault, file)]
                hidden += new - len(kept)
        for fault in faults[:FAULTS_A_TURN]:
            text = headed(fault.path, fault.detail)
            if fault.length:
                text = _("{path} at byte {offset}: {detail}; {length} bytes skipped").format(
                    path=fault.path, offset=fault.offset, detail=fault.detail, length=fault.length
                )
            lines.append(text)
        more = hidden + max(len(faults) - FAULTS_A_TURN, 0)
        if more:
            lines.append(ngettext("{n} more fault", "{n} more faults", more).format(n=more))
        return lines

    def _non_finite(self, run_key: str, rank: int, tags: Sequence[TagInfo]) -> List[str]:
        """The first point of each figure that is not finite; told again when history brings an earlier one."""
        lines = []
        for tag in tags:
            key = SeriesKey(run_key, rank, tag.tag)
            index = self._monitor.next_non_finite(key, -1)
            reading = None if index is None else self._monitor.reading_at(key, XAxis.STEP, index, 0.0)
            if reading is None:
                continue
            told = self._bad.get(tag.tag)
            if told is None or reading.step < told:
                self._bad[tag.tag] = reading.step
                lines.append(
                    _("WARNING {tag} is {value} at step {step}").format(
                        tag=tag.tag, value=_figure(reading.value), step=reading.step
                    )
                )
        return lines

    def _restarted(self, run_key: str, rank: int, tags: Sequence[TagInfo]) -> List[str]:
        if not tags:
            return []
        series = self._monitor.series(SeriesKey(run_key, rank, tags[0].tag))
        if series is None or len(series.restarts) <= self._restarts:
            return []
        new = series.restarts[self._restarts :]
        self._restarts = len(series.restarts)
        return [_("training went back to step {step} and goes on from there").format(step=step) for step in new]

    def _progress(self, run: RunInfo, rank: int, tags: Sequence[TagInfo], now: float) -> List[str]:
        state = self._monitor.watch_state()
        if now - self._told_at < self._every_s:
            return []
        reading = state.bytes_read < state.bytes_total
        if run.last_step == self._told_step and not (reading and not self._finished_history):
            return []
        parts = [_("step {step}").format(step="-" if run.last_step is None else run.last_step)]
        for tag in tags:
            latest = self._monitor.reading_at(SeriesKey(run.key, rank, tag.tag), XAxis.STEP, -1, 0.0)
            if latest is not None:
                parts.append(f"{tag.tag} {_figure(latest.value)}")
        if reading and not self._finished_history:
            share = state.bytes_read / state.bytes_total
            parts.append(_("history {percent:.0f} % read").format(percent=100 * share))
        else:
            self._finished_history = True
        self._told_at = now
        self._told_step = run.last_step
        return [", ".join(parts)]


def _about(file: FileStatus) -> str:
    """A file in trouble, named once: many a detail names it too."""
    if file.detail.startswith(file.path):
        return file.detail
    return f"{file.path} {_(_BAD_STATES[file.state])}" + (f": {file.detail}" if file.detail else "")


def _is_said_by_state(fault: ReadFault, file: FileStatus) -> bool:
    return not fault.length and file.state in _BAD_STATES and fault.detail == file.detail


def _figures(tag: TagInfo) -> Lookup:
    """What a filter's comparisons may ask of a tag."""
    known: Dict[str, Optional[float]] = {"last": tag.last_value, "step": tag.last_step, "points": tag.points}
    return known.get


def _figure(value: float) -> str:
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "+Inf" if value > 0 else "-Inf"
    return f"{value:.4g}"


def report(
    reporter: PlainReporter, out: TextSink, *, clock: Callable[[], float], wait: Callable[[float], bool]
) -> bool:
    """Print turns until `wait(seconds)` returns True. False when the monitor stopped by itself."""
    while reporter.alive:
        lines = reporter.turn(clock())
        if lines:
            out.write("".join(f"{line}\n" for line in lines))
            out.flush()
        if wait(TURN_S):
            return True
    return False

"""One run before the rules: hands over what has come, and keeps the incidents that follow.

Belongs to the monitor's thread and works in pieces, so that reading goes on. Judging waits until the history is read:
a verdict on the tail alone would have to be taken back.
"""

from __future__ import annotations

import math
import os
import time
import traceback
from dataclasses import replace
from typing import Callable, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Tuple

from mstui.detect.base import Process
from mstui.detect.engine import Engine
from mstui.detect.incidents import Incidents
from mstui.detect.naming import Objective
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Incident, NotJudged, Verdict
from mstui.model.batch import FileKey
from mstui.model.logs import LogEvent
from mstui.model.runs import Fact, RunStatus
from mstui.monitor.pieces import Window
from mstui.monitor.rulebook import Rulebook
from mstui.monitor.supply import ReadHistograms, Supply
from mstui.store.run_store import Store

SETTLE_S = 1.0
"""After a second without records the newest step is judged as well: whatever belongs to it has come."""
LOOK_EVERY_S = 1.0
"""Records of one second are judged together."""
SHARE_OF_TIME = 0.2
"""Of the time that passes looks take no more than this, unless the training ends: where one takes longer, because there
are thousands of parameters, the next one comes later,"""
LATEST_LOOK_S = 10.0
"""but not later than that."""
SILENT_LOOK_S = 5.0
"""Where nothing comes, the silence is looked at as often: a stall is a matter of minutes."""
AGAIN_EVERY_S = 10.0
"""Points that come late (a summary behind its log, a rank behind the others) are judged by judging the run anew, no
more often than this,"""
AGAIN_EVERY_POINTS = 5_000
"""and than after a second for so many points: judging them takes a thousandth of that."""
OTHERS_S = 0.05
"""CPU seconds that one look gives to ranks that take turns: while records come, a thousand have had theirs in about ten
looks."""
NEW_OTHERS_S = 0.2
"""The same while there are ranks that have had none, of which each takes some 6 ms."""
SERIES_AT_ONCE = 32
"""Series that are handed over without a rest: where each is new, some 5 ms."""
MOST_EVENTS = 10_000
"""Log events kept: half of them those that came first, half the newest, which tell of the end."""

LONGEST_ERROR = 200
"""Characters of an error that are shown"""

UNKNOWN = Process()
OTHER_RANKS = "other-ranks"
"""Stands among the rules that could not judge as long as there are ranks that have not had a turn."""
NOT_ALL_RANKS = NotJudged(
    OTHER_RANKS,
    Evidence(mark("not every rank has been looked at yet")),
    Evidence(mark("some more seconds: the ranks take turns")),
)

_DONE = object()
_OVER = {RunStatus.ENDED: 0, RunStatus.STOPPED: None, RunStatus.FAILED: None}
"""Statuses of runs whose processes are gone, with the exit code where it can be told"""


def process_of(status: Optional[RunStatus]) -> Process:
    """What a run's status tells of its process."""
    return Process(running=False, exit_code=_OVER[status]) if status in _OVER else UNKNOWN


class Moment(NamedTuple):
    """What is known besides the records when a run is judged."""

    now: float
    """Unix seconds"""
    facts: Mapping[str, Fact]
    process: Process
    ended: bool
    """nothing more is to be expected"""
    caught_up: bool
    """everything that is there has been read"""
    quiet: bool = False
    """nothing more is coming for now: the newest step is whole, and this is worth a look"""


class Told(NamedTuple):
    """One event of a log."""

    file: FileKey
    rank_id: int
    """of the rank that told it"""
    event: LogEvent


StepOf = Callable[[FileKey, int], Optional[int]]
"""(log, offset of a record) -> the step that it tells of, or the last one told before it"""
IsHistory = Callable[[FileKey, LogEvent], bool]
"""Was this the end of a training, behind which the log tells of another one?"""


class Judge:
    """The rules of one run at work."""

    def __init__(
        self,
        run_key: str,
        store: Store,
        rulebook: Rulebook,
        read_histograms: ReadHistograms,
        step_of: StepOf,
        is_history: IsHistory,
    ) -> None:
        self._run_key = run_key
        self._store = store
        self._rulebook = rulebook
        self._read_histograms = read_histograms
        self._step_of, self._is_history = step_of, is_history
        self._events: List[Told] = []
        """every event, for the case that the run has to be judged anew"""
        self._new_events: List[Told] = []
        self._failed = False
        self._came_at = -math.inf
        self._began_at = -math.inf
        self.incidents: Tuple[Incident, ...] = ()
        """as of now, by number; replaced, never changed"""
        self.verdict: Optional[Verdict] = None
        """None until everything that was there at first has been judged"""
        self._start()

    def _start(self) -> None:
        """Nothing is judged yet."""
        book = self._rulebook
        self._engine = Engine(book.rules, book.thresholds, objectives=book.objectives)
        self._incidents = Incidents()
        rules = book.rules  # not `self`: who is referred to by what is its own ends later than it could
        self._supply = Supply(
            self._run_key,
            self._store,
            self._read_histograms,
            lambda subject, tag: any(rule.watches(subject, tag) for rule in rules),
            lambda subject, tag: any(rule.histograms(subject, tag) for rule in rules),
        )
        self._used = 0.0
        """CPU seconds spent on ranks that take turns in this look"""
        self._cost = 0.0
        """CPU seconds of this look"""
        self._pause_s = LOOK_EVERY_S
        """seconds from the last look to the next one"""
        self._first = True
        """this look is at everything that was there before: it tells nothing of what the next ones cost"""
        self._work: Optional[Iterator[None]] = None
        """what is left to hand over in this look, with a rest every few milliseconds"""
        self._ending: Optional[Iterator[None]] = None
        """what is left to do after that"""
        self._facts: Mapping[str, Fact] = {}
        self._fresh = True
        """records have come that were not handed over"""
        self._looked_at = -math.inf
        self._unsettled = False
        self._ended = False
        self._outdated = False
        """a fact has become known that might have changed what was judged before"""
        self._new_events = list(self._events)

    def stir(self, now: float) -> None:
        """Records of this run have been stored."""
        self._fresh = True
        self._came_at = now
        self._ended = False

    def tell(self, events: Iterable[Told]) -> None:
        """Events of its logs."""
        told = list(events)
        for kept in (self._events, self._new_events):
            kept += told
            if len(kept) > MOST_EVENTS:
                del kept[MOST_EVENTS // 2 : len(kept) - MOST_EVENTS // 2]

    def start_again(self, file: FileKey) -> None:
        """A file was replaced: what was judged by its records is judged by the new ones."""
        self._events = [told for told in self._events if told.file != file]
        self._failed = False
        self._start()

    def judge(self, moment: Moment, over: Callable[[], bool]) -> bool:
        """Go on until done or until `over`. True when incidents or the verdict are others than before.

        A rule that fails ends the judging of this run, and the verdict says so; reading goes on.
        """
        if not moment.caught_up or self._failed:
            return False
        try:
            return self._judge(moment, over)
        except Exception as error:  # noqa: BLE001  # rules are dropped in, and meet every training there is
            self._failed, self._work, self._ending = True, None, None
            self.verdict = Verdict((), tuple(self._not_judged_after(error)))
            return True

    def _not_judged_after(self, error: Exception) -> Iterator[NotJudged]:
        """Why nothing is judged any more, with the place in the rules where it happened."""
        frames = traceback.extract_tb(error.__traceback__)
        place = f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
        because = Evidence(
            mark("the rules failed: {error} at {place}"),
            {"error": f"{type(error).__name__}: {error}"[:LONGEST_ERROR], "place": place},
        )
        for rule in self._rulebook.rules:
            yield NotJudged(rule.name, because, Evidence(mark("a report of this error to mstui's authors")))
        yield from self._rulebook.off

    def _judge(self, moment: Moment, over: Callable[[], bool]) -> bool:
        if not self.working and not self._begin(moment):
            return False
        while self._work is not None:
            if self._go_on(self._work):
                self._work = None
                if (moment.quiet or moment.ended) and self._may_begin_anew(moment):
                    return self._judge(moment, over)  # the last word is the one that who comes now would get
                self._ending = self._finish(moment)
            if over():
                return False
        while self._ending is not None:
            if next(self._ending, _DONE) is _DONE:
                self._ending = None
            elif over():
                return False
        self._pause_s = (
            LOOK_EVERY_S if self._first else min(max(LOOK_EVERY_S, self._cost / SHARE_OF_TIME), LATEST_LOOK_S)
        )
        self._first = self._first and not self._supply.points
        return self._publish()

    def _go_on(self, work: Iterator[None]) -> bool:
        """Hand over until the next rest. True when that was all."""
        begun = time.thread_time()
        if next(work, _DONE) is _DONE:
            return True
        spent = time.thread_time() - begun
        self._used += spent
        self._cost += spent
        return False

    @property
    def objectives(self) -> Mapping[str, Objective]:
        """What each loss is taken to be supposed to do, by tag."""
        return self._engine.objectives()

    @property
    def working(self) -> bool:
        """There is more to judge right now."""
        return self._work is not None or self._ending is not None

    def due(self, now: float) -> float:
        """Unix seconds at which it wants to be asked again, though nothing comes."""
        if self.working:
            return now
        if self._failed:
            return math.inf
        if self._supply.behind:
            return self._looked_at + self._pause_s
        if self._fresh or self._unsettled or self._supply.late:
            return max(self._looked_at + self._pause_s, self._came_at + SETTLE_S)
        return self._looked_at + SILENT_LOOK_S

    def asks(self, now: float) -> bool:
        """Is there anything that a look could do now, short of the end of the training?"""
        return self.working or not 0.0 <= now - self._looked_at < self._pause_s

    def _begin(self, moment: Moment) -> bool:
        """Look for work. False when it is too early for a look."""
        early = 0.0 <= moment.now - self._looked_at < self._pause_s
        unfinished = self._fresh or self._unsettled or self._supply.late or self._supply.uneven or self._supply.behind
        urgent = (moment.quiet and unfinished) or (moment.ended and not self._ended)
        if early and not urgent:
            return False
        self._looked_at = moment.now
        self._cost = 0.0
        self._outdated |= moment.facts != self._facts and self._supply.points > 0
        if self._may_begin_anew(moment):
            self._start()
            self._began_at = self._looked_at = moment.now
        if moment.facts != self._facts:
            self._facts = moment.facts
            self._engine.declare(moment.facts)
        self._work = self._look(self._fresh, everything=moment.quiet or moment.ended)
        self._fresh = False
        return True

    def _look(self, fresh: bool, *, everything: bool) -> Iterator[None]:
        """Hand over what has come, of the ranks that take turns as far as one look goes."""
        for window in self._supply.windows() if fresh else ():
            yield from self._hand_over(window)
        self._used = 0.0
        for window in self._supply.others():
            yield from self._hand_over(window)
            if self._used > (NEW_OTHERS_S if self._supply.new_ranks else OTHERS_S) and not everything:
                return

    def _may_begin_anew(self, moment: Moment) -> bool:
        wrong = self._supply.late or self._outdated
        if moment.quiet or moment.ended:
            return wrong or self._supply.uneven
        pause = max(AGAIN_EVERY_S, self._supply.points / AGAIN_EVERY_POINTS)
        return wrong and not 0.0 <= moment.now - self._began_at < pause

    def _hand_over(self, window: Window) -> Iterator[None]:
        engine = self._engine
        for rank_id, tag, subject, histogram in window.histograms:
            engine.feed_histogram(rank_id, tag, subject, histogram)
        for number, piece in enumerate(window.pieces, 1):
            for part in piece.parts:
                engine.feed(piece.rank_id, piece.tag, piece.subject, part.steps, part.wall_times, part.values)
            if number % SERIES_AT_ONCE == 0:
                yield
        self._unsettled = True
        self._incidents.take((yield from engine.advancing()))

    def _finish(self, moment: Moment) -> Iterator[None]:
        """Everything that had come is handed over: events, the newest step, the silence."""
        engine = self._engine
        events, self._new_events = self._new_events, []
        for told in sorted(events, key=lambda each: (each.file, each.event.offset)):
            if not self._is_history(told.file, told.event):
                engine.tell(told.rank_id, self._placed(told))
        settled = moment.quiet or not 0.0 <= moment.now - self._came_at < SETTLE_S
        if moment.ended and not self._ended:
            self._ended = True
            self._incidents.take((yield from engine.advancing(all_come=True)))
            self._incidents.take(engine.end())
        elif events or (settled and self._unsettled):
            self._unsettled = False
            self._incidents.take((yield from engine.advancing(all_come=settled or moment.ended)))
        self._incidents.take(engine.clock(moment.now, moment.process))

    def _placed(self, told: Told) -> LogEvent:
        """The event with the step that its own log had come to: what other files held by then is chance."""
        event = told.event
        step = self._step_of(told.file, event.offset) if event.step is None else None
        return event if step is None else replace(event, step=step)

    def _publish(self) -> bool:
        found, verdict = self._incidents.all, self._engine.verdict()
        waiting = (NOT_ALL_RANKS,) if self._supply.new_ranks else ()
        verdict = replace(verdict, not_judged=(*waiting, *verdict.not_judged, *self._rulebook.off))
        changed = found != self.incidents or verdict != self.verdict
        self.incidents, self.verdict = found, verdict
        return changed

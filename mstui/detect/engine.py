"""Leads every point, histogram and log event of one run past the rules, in the order of the training's steps.

It knows no file, store or clock: points and the time come in as arguments. A step is judged once every rank's record
of it must be there: when a later step has come, when the caller says that nothing more is coming for now, or at the
end. The same points give the same detections, however they are cut into pieces.
"""

from __future__ import annotations

from typing import Callable, Dict, Generator, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from mstui.detect.base import Breadth, Chunk, Context, Detector, Process, Rule, Subject
from mstui.detect.naming import Objective
from mstui.detect.scene import Scene, Series
from mstui.detect.track import Track
from mstui.i18n import mark
from mstui.model.alerts import Detection, Evidence, NotJudged, Scope, Verdict
from mstui.model.histogram import Histogram
from mstui.model.logs import LogEvent
from mstui.model.records import FloatArray, IntArray, ValueArray
from mstui.model.runs import Fact, positive
from mstui.registry import collect

RULES = "mstui.detect.rules"
SERIES_AT_ONCE = 32
"""Series of one rank that are judged without a rest: up to 5 ms with a long history, 1 ms while records come."""
Thresholds = Callable[[str, str], Mapping[str, float]]
"""(rule name, tag) -> thresholds that a person has set for it"""


def load_rules() -> Tuple[Rule, ...]:
    """All rules, by name."""
    return tuple(sorted(collect(RULES, "RULE", Rule), key=lambda rule: rule.name))


def _no_thresholds(_rule: str, _tag: str) -> Mapping[str, float]:
    return {}


class _Feed:
    """One series on its way: what has come and is not judged, and who wants to see it."""

    def __init__(self, series: Series) -> None:
        self.series = series
        self.waiting: List[Tuple[IntArray, FloatArray, FloatArray]] = []
        self.fed: Optional[int] = None
        """last step that has come"""
        self.seen: Optional[int] = None
        """last step that was judged"""
        self.track: Optional[Track] = None
        self.detectors: List[Detector] = []
        self.tickers: List[Detector] = []
        self.watchers: List[Detector] = []

    def all(self) -> Iterable[Detector]:
        """Every detector of this series alone."""
        return (*self.detectors, *self.tickers)


class _Rank:
    def __init__(self) -> None:
        self.front: Optional[int] = None
        """highest step of the generation at hand"""
        self.fresh = False
        """something has come since it was last settled"""
        self.open = False
        """something waits for a later step, or for the word that all has come"""
        self.feeds: Dict[str, _Feed] = {}
        self.histograms: List[Tuple[int, _Feed, Histogram]] = []
        self.events: List[Tuple[int, LogEvent]] = []


class Engine:
    """The rules of one run at work."""

    def __init__(
        self,
        rules: Sequence[Rule],
        thresholds: Thresholds = _no_thresholds,
        objectives: Optional[Mapping[str, Objective]] = None,
    ) -> None:
        """`objectives`: a person's word, by tag, on what a curve is supposed to do; else the name decides."""
        self.scene = Scene(objectives)
        self.dropped = 0
        """points that came for a step after it had been judged"""
        self._rules = tuple(rules)
        self._thresholds = thresholds
        self._out: List[Detection] = []
        self._ordered = 0
        """of these, those that are in their order for good"""
        self._ranks: Dict[int, _Rank] = {}
        self._made: Dict[str, List[Detector]] = {rule.name: [] for rule in self._rules}
        self._wide: Dict[str, Detector] = {}
        self._ended = False
        for rule in self._rules:
            if rule.breadth is Breadth.RUN:
                self._wide[rule.name] = self._make(rule, Scope(), None)

    # what comes in

    def declare(self, facts: Mapping[str, Fact]) -> None:
        """What is known of the run; later facts win."""
        merged = {**self.scene.facts, **facts}
        self.scene.facts = merged
        self.scene.planned_steps = _whole(merged.get("planned_steps")) or self.scene.planned_steps
        self.scene.steps_per_epoch = positive(merged.get("custom/steps_per_epoch")) or self.scene.steps_per_epoch
        for name in ("frozen_params", "custom/frozen_params", "frozen", "custom/frozen"):
            said = merged.get(name)
            if isinstance(said, str):
                self.scene.frozen = tuple(part for part in said.replace(";", ",").replace(" ", ",").split(",") if part)
        for name in ("gradient_accumulation_steps", "gradient_accumulation", "accumulate_step"):
            said = _whole(merged.get(name)) or _whole(merged.get(f"custom/{name}"))
            if said:
                self.scene.accumulation = said

    def feed(
        self, rank_id: int, tag: str, subject: Subject, steps: IntArray, walls: FloatArray, values: ValueArray
    ) -> None:
        """Points of one series, in the order in which they were written. A step that goes back is a restart."""
        if not len(steps):
            return
        self._ended = False
        rank = self._ranks.setdefault(rank_id, _Rank())
        rank.fresh = rank.open = True
        feed = self._feed(rank, rank_id, tag, subject)
        numbers = np.asarray(values, dtype=np.float64)
        if len(steps) == 1:
            self._feed_rising(rank, rank_id, feed, steps, walls, numbers)
            return
        distances = steps[1:] - steps[:-1]
        if distances.min() > 0:
            self._feed_rising(rank, rank_id, feed, steps, walls, numbers)
            return
        begin = 0
        for end in (*(np.flatnonzero(distances < 0) + 1).tolist(), len(steps)):
            piece = slice(begin, end)
            newest = np.append(distances[begin : end - 1] != 0, True)  # of values at one step the last one holds
            self._feed_rising(rank, rank_id, feed, steps[piece][newest], walls[piece][newest], numbers[piece][newest])
            begin = end

    def _feed_rising(
        self, rank: _Rank, rank_id: int, feed: _Feed, steps: IntArray, walls: FloatArray, values: FloatArray
    ) -> None:
        first, last = int(steps[0]), int(steps[-1])
        if feed.fed is not None and first < feed.fed:
            for _ in _quietly(self._settle(rank_id, rank, None)):
                pass
            rank.front = None
            feed.fed, feed.seen = None, None
            self._restart(feed, first)
        if feed.waiting and first == feed.fed:  # written again
            before = feed.waiting[-1]
            feed.waiting[-1] = (before[0][:-1], before[1][:-1], before[2][:-1])
        feed.fed = last
        feed.waiting.append((steps, walls, values))
        rank.front = last if rank.front is None else max(rank.front, last)

    def feed_histogram(self, rank_id: int, tag: str, subject: Subject, histogram: Histogram) -> None:
        """One histogram; they come in the order of their steps."""
        rank = self._ranks.setdefault(rank_id, _Rank())
        rank.fresh = rank.open = True
        feed = self._feed(rank, rank_id, f"{tag} [histogram]", subject, tag)
        step = histogram.stats.step
        rank.histograms.append((step, feed, histogram))
        rank.front = step if rank.front is None else max(rank.front, step)

    def tell(self, rank_id: int, event: LogEvent) -> None:
        """A fact from a log. Without a step of its own it belongs to the last step that has come."""
        rank = self._ranks.setdefault(rank_id, _Rank())
        rank.fresh = rank.open = True
        step = event.step if event.step is not None else (rank.front or 0)
        rank.events.append((step, event))

    # what comes out

    def advance(self, *, all_come: bool = False) -> Tuple[Detection, ...]:
        """Judge what can be judged. `all_come`: of the last step, too, nothing more is coming (a pause, or the end)."""
        for _ in self._advance(all_come):
            pass
        return self._take()

    def advancing(self, *, all_come: bool = False) -> Generator[None, None, Tuple[Detection, ...]]:
        """The same with rests in between, in which nothing else may be asked of the engine."""
        yield from self._advance(all_come)
        return self._take()

    def _advance(self, all_come: bool) -> Iterator[None]:
        for rank_id in sorted(self._ranks):
            rank = self._ranks[rank_id]
            if (rank.fresh or (all_come and rank.open)) and (rank.front is not None or rank.events):
                rank.fresh, rank.open = False, not all_come and rank.front is not None
                upto = None if all_come or rank.front is None else rank.front - 1
                yield from _quietly(self._settle(rank_id, rank, upto))

    def clock(self, now: float, process: Process) -> Tuple[Detection, ...]:
        """Judge the silence."""
        for detector in self._wide.values():
            detector.clock(now, process)
        return self._take()

    def end(self) -> Tuple[Detection, ...]:
        """The training is over: judge the rest, then what only an end can show. Once a run."""
        found = self.advance(all_come=True)
        self._out.extend(found)
        if self._ended:
            return self._take()
        self._ended = True
        with np.errstate(all="ignore"):
            self._end()
        return self._take()

    def _end(self) -> None:
        fronts = [rank.front for rank in self._ranks.values() if rank.front is not None]
        step = max(fronts) if fronts else 0
        wall = max((each.last_wall for each in self.scene.series.values()), default=0.0)
        for rank_id in sorted(self._ranks):
            for tag in sorted(self._ranks[rank_id].feeds):
                for detector in self._ranks[rank_id].feeds[tag].all():
                    detector.end(step, wall)
        for detector in self._wide.values():
            detector.end(step, wall)

    def objectives(self) -> Mapping[str, Objective]:
        """What each training loss is taken to be supposed to do: by word, by name, or by having passed zero."""
        found: Dict[str, Objective] = {}
        for rank in self._ranks.values():
            for tag, feed in rank.feeds.items():
                if feed.track is not None:
                    named = self.scene.objective(tag)
                    passed = named is Objective.DESCENDING and feed.track.count > 0 and feed.track.lowest <= 0.0
                    found[tag] = Objective.SIGNED if passed else named
        return found

    def verdict(self) -> Verdict:
        """Which rules could judge."""
        judged: List[str] = []
        missing: List[NotJudged] = []
        for rule in self._rules:
            made = self._made[rule.name]
            if any(each.judged for each in made):
                judged.append(rule.name)
                continue
            waits = next((each.waits for each in made if each.waits is not None), None)
            if waits is None:
                waits = _TOO_FEW if rule.breadth is Breadth.SERIES and made else _NOT_RECORDED
            missing.append(NotJudged(rule.name, waits, Evidence(rule.needs)))
        return Verdict(tuple(judged), tuple(missing))

    def _take(self) -> Tuple[Detection, ...]:
        self._order()
        out, self._ordered = tuple(self._out), 0
        self._out.clear()
        return out

    def _order(self) -> None:
        """By steps, but nothing of what comes behind a restart before what came ahead of it."""
        self._out[self._ordered :] = sorted(self._out[self._ordered :], key=lambda found: found.detected_step)
        self._ordered = len(self._out)

    def _make(self, rule: Rule, scope: Scope, series: Optional[Series]) -> Detector:
        parameters = {**rule.defaults(), **self._thresholds(rule.name, scope.tag)}
        detector = rule.make(Context(rule, scope, parameters, self.scene, self._out, series))
        self._made[rule.name].append(detector)
        return detector

    def _feed(self, rank: _Rank, rank_id: int, key: str, subject: Subject, histogram_tag: str = "") -> _Feed:
        feed = rank.feeds.get(key)
        if feed is not None:
            return feed
        tag = histogram_tag or key
        feed = rank.feeds[key] = _Feed(Series(rank_id, tag, subject))
        if not histogram_tag:
            self.scene.add(feed.series)
        for rule in self._rules:
            wanted = rule.histograms(subject, tag) if histogram_tag else rule.watches(subject, tag)
            if not wanted:
                continue
            if rule.breadth is Breadth.RUN:
                feed.watchers.append(self._wide[rule.name])
                continue
            detector = self._make(rule, Scope(rank_id, tag, subject.parameter), feed.series)
            if rule.ticks:
                feed.tickers.append(detector)
                feed.track = feed.track or Track()
            else:
                feed.detectors.append(detector)
        return feed

    def _settle(self, rank_id: int, rank: _Rank, upto: Optional[int]) -> Iterator[None]:
        """Judge every waiting point that is not after `upto`; all of them where it is None. Rests now and then."""
        ready: List[Tuple[_Feed, Chunk]] = []
        for tag in sorted(rank.feeds):
            feed = rank.feeds[tag]
            chunk = self._ready(feed, upto)
            if chunk is not None:
                feed.series.begin(chunk)
                ready.append((feed, chunk))
        for number, (feed, chunk) in enumerate(ready, 1):
            self._judge(feed, chunk)
            if number % SERIES_AT_ONCE == 0:
                yield
        for feed, _chunk in ready:
            feed.series.trim()
        if rank.histograms:
            now = [each for each in rank.histograms if upto is None or each[0] <= upto]
            rank.histograms = rank.histograms[len(now) :]
            for _step, feed, histogram in now:
                for detector in (*feed.detectors, *feed.watchers):
                    detector.histogram(feed.series, histogram)
        if rank.events:
            told = [each for each in rank.events if upto is None or each[0] <= upto]
            rank.events = [each for each in rank.events if not (upto is None or each[0] <= upto)]
            for step, event in told:
                for detector in self._wide.values():
                    detector.event(rank_id, event, step)
        yield

    def _ready(self, feed: _Feed, upto: Optional[int]) -> Optional[Chunk]:
        if not feed.waiting:
            return None
        if len(feed.waiting) == 1:
            steps, walls, values = feed.waiting[0]
        else:
            steps, walls, values = (np.concatenate(part) for part in zip(*feed.waiting))
        count = len(steps)
        if upto is not None and count and steps[-1] > upto:
            count = int(np.searchsorted(steps, upto, side="right"))
        feed.waiting = [(steps[count:], walls[count:], values[count:])] if count < len(steps) else []
        begin = 0
        if feed.seen is not None and count and steps[0] <= feed.seen:
            begin = int(np.searchsorted(steps[:count], feed.seen, side="right"))
        self.dropped += begin
        steps, walls, values = steps[begin:count], walls[begin:count], values[begin:count]
        if not len(steps):
            return None
        feed.seen = int(steps[-1])
        return Chunk.of(steps, walls, values)

    def _judge(self, feed: _Feed, chunk: Chunk) -> None:
        for detector in feed.detectors:
            detector.points(chunk)
        for detector in feed.watchers:
            detector.points_of(feed.series, chunk)
        track = feed.track
        if track is not None:
            good = chunk.good()
            if len(good):

                def tick() -> None:
                    for detector in feed.tickers:
                        detector.tick(track)

                track.feed(good, tick)

    def _restart(self, feed: _Feed, step: int) -> None:
        self._order()
        feed.series.restart(step)
        if feed.track is not None:
            feed.track = Track()
        for detector in (*feed.all(), *feed.watchers):
            detector.segment(step)


def _quietly(work: Iterator[None]) -> Iterator[None]:
    """The same without numpy's warnings: what overflows is infinite, and judged as such.

    They are back during each rest, in which the thread does other things.
    """
    going_on = True
    while going_on:
        with np.errstate(all="ignore"):
            going_on = next(work, _DONE) is not _DONE
        if going_on:
            yield


_DONE = object()
_TOO_FEW = Evidence(mark("not enough data yet"))
_NOT_RECORDED = Evidence(mark("what it needs is not recorded"))


def _whole(fact: Optional[Fact]) -> Optional[int]:
    number = positive(fact)
    return None if number is None else int(number)

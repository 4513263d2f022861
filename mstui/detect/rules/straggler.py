"""straggler: one rank takes longer for its steps than another does for the same ones.

Step times come from a step-time tag where a rank records one, else from the wall times of its losses. Ranks that wait
for each other have the same wall times, and nothing can be told from those: silence here is no proof. The rank that
came first is held against each other one, window by window, so that it does not matter in which order their records
are read.
"""

from __future__ import annotations

from typing import Dict, List, Optional, Tuple

import numpy as np

from mstui.detect.base import Breadth, Case, Chunk, Context, Detector, Parameter, Rule, Subject
from mstui.detect.robust import medians_of_rows
from mstui.detect.scene import Series
from mstui.detect.sources import CHECKED, MEASURED
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Scope, Severity, Symptom
from mstui.model.records import FloatArray, IntArray
from mstui.model.roles import Role

MOST_WAITING = 512
"""Windows of one rank that wait for another's."""

Window = Tuple[int, int, float, float]
"""(first step, last step, wall time of it, median step time)"""
_NO_TIMES: FloatArray = np.empty(0)
_NO_STEPS: IntArray = np.empty(0, np.int64)


class _Clock:
    """The step times of one series of one rank, cut into windows of so many records."""

    def __init__(self, width: int, skip: int) -> None:
        self.taken = 0
        """windows that were let go of"""
        self._firsts, self._lasts = _NO_STEPS, _NO_STEPS
        self._ends, self._medians = _NO_TIMES, _NO_TIMES
        """of the windows that are kept"""
        self._width = width
        self._skip = skip
        self._last: Optional[Tuple[int, float]] = None
        self._times, self._walls = _NO_TIMES, _NO_TIMES
        self._steps = _NO_STEPS

    def take(self, chunk: Chunk, *, measured: bool) -> None:
        """More records; `measured`: their values are step times, else their wall times tell."""
        steps, walls = chunk.steps, chunk.walls
        if measured:
            times = chunk.values
        else:
            if self._last is None:
                self._last = (int(steps[0]), float(walls[0]))
                steps, walls = steps[1:], walls[1:]
            times = np.diff(walls, prepend=self._last[1]) / np.maximum(np.diff(steps, prepend=self._last[0]), 1)
            if len(steps):
                self._last = (int(steps[-1]), float(walls[-1]))
        skipped = min(self._skip, len(times))
        self._skip -= skipped
        times = np.concatenate((self._times, times[skipped:]))
        steps = np.concatenate((self._steps, steps[skipped:]))
        walls = np.concatenate((self._walls, walls[skipped:]))
        whole = len(times) // self._width * self._width
        self._times, self._steps, self._walls = times[whole:], steps[whole:], walls[whole:]
        count = whole // self._width
        if not count:
            return
        over = max(0, len(self._medians) + count - MOST_WAITING)
        begin = max(0, count - MOST_WAITING) * self._width
        self.taken += over
        table = times[begin:whole].reshape(-1, self._width)
        ends = slice(begin + self._width - 1, whole, self._width)
        self._medians = np.concatenate((self._medians, medians_of_rows(table)))[-MOST_WAITING:]
        self._firsts = np.concatenate((self._firsts, steps[begin : whole : self._width]))[-MOST_WAITING:]
        self._lasts = np.concatenate((self._lasts, steps[ends]))[-MOST_WAITING:]
        self._ends = np.concatenate((self._ends, walls[ends]))[-MOST_WAITING:]

    def window(self, number: int) -> Optional[Window]:
        """The window of that number, while it is kept."""
        at = number - self.taken
        if not 0 <= at < len(self._medians):
            return None
        return int(self._firsts[at]), int(self._lasts[at]), float(self._ends[at]), float(self._medians[at])


class Straggler(Detector):
    """All ranks of a run."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._clocks: Dict[Tuple[bool, str], Dict[int, _Clock]] = {}
        self._judged: Dict[Tuple[bool, str, int], int] = {}
        """by kind of clock, tag and other rank: windows that were compared"""
        self._streaks: Dict[Tuple[bool, str, int, int], List[Window]] = {}
        self._cases: Dict[int, Case] = {}
        self.waits = Evidence(mark("one rank only"))

    def points_of(self, series: Series, chunk: Chunk) -> None:
        """Records of one rank."""
        measured = series.subject.role is Role.STEP_TIME
        timed = chunk.walls > 0
        if not timed.all():
            chunk = Chunk.of(chunk.steps[timed], chunk.walls[timed], chunk.values[timed])
        if not len(chunk):
            return
        clocks = self._clocks.setdefault((measured, series.tag), {})
        clock = clocks.get(series.rank_id)
        if clock is None:
            clock = clocks[series.rank_id] = _Clock(int(self.context["window"]), int(self.context["skip"]))
        clock.take(chunk, measured=measured)
        first = next(iter(clocks))
        for other in sorted(clocks) if series.rank_id == first else (series.rank_id,):
            if other != first:
                self._compare((measured, series.tag), first, other, clocks)

    def _compare(self, kind: Tuple[bool, str], first: int, other: int, clocks: Dict[int, _Clock]) -> None:
        number = max(self._judged.get((kind[0], kind[1], other), 0), clocks[first].taken, clocks[other].taken)
        while True:
            one, two = clocks[first].window(number), clocks[other].window(number)
            if one is None or two is None:
                break
            number += 1
            self.judged = True
            self._pair(kind, (first, one), (other, two))
            self._pair(kind, (other, two), (first, one))
        self._judged[kind[0], kind[1], other] = number

    def _pair(self, kind: Tuple[bool, str], suspect: Tuple[int, Window], against: Tuple[int, Window]) -> None:
        """Is the first of both slower, and has it been for some windows?"""
        rank, mine = suspect
        key = (kind[0], kind[1], rank, against[0])
        bar = self.context["slow"] * against[1][3]
        if not mine[3] > bar > 0.0:
            self._streaks.pop(key, None)
            if rank in self._cases and mine[3] * self.context["slow"] < 2.0 * against[1][3]:
                self._cases[rank].clear(mine[1], mine[2])
            return
        need = int(self.context["windows"])
        streak = self._streaks[key] = [*self._streaks.get(key, []), mine][-need:]
        if len(streak) < need:
            return
        case = self._cases.setdefault(rank, Case(self.context, Symptom.SLOW_DOWN, Scope(rank, kind[1])))
        shown = Evidence(
            mark("a step takes {now:.3g} on rank {rank} and {usual:.3g} on rank {other}"),
            {"now": mine[3], "rank": rank, "usual": against[1][3], "other": against[0]},
        )
        case.hit(Severity.WARN, streak[0][0], mine[1], mine[2], shown)

    def segment(self, step: int) -> None:
        """Begin anew."""
        for case in self._cases.values():
            case.clear(step, 0.0)
        self._clocks, self._judged, self._streaks = {}, {}, {}


def _watches(subject: Subject, _tag: str) -> bool:
    return subject.role in (Role.LOSS, Role.STEP_TIME)


RULE = Rule(
    name="straggler",
    title=mark("One rank is slower"),
    symptoms=(Symptom.SLOW_DOWN,),
    make=Straggler,
    needs=mark("step times, or wall times of at least 50 records, of two ranks or more"),
    watches=_watches,
    breadth=Breadth.RUN,
    parameters=(
        Parameter("window", 10.0, mark("records"), mark("their median is not moved by single pauses"), MEASURED),
        Parameter("windows", 4.0, mark("windows in a row"), mark("a disturbance of the host passes"), MEASURED),
        Parameter("skip", 10.0, mark("records"), mark("first steps compile and warm up"), CHECKED),
        Parameter(
            "slow",
            1.5,
            mark("times the step time of another rank"),
            mark("less is the host's noise"),
            CHECKED,
        ),
    ),
    false_alarms=(mark("stages of a pipeline, whose steps differ by design"),),
)

"""slow-down: steps take longer than they did, for good.

Step times come from the wall times of the records (over their steps), or from a step-time tag. The median of the last
windows, all of them, is held against nearly the slowest window before: pauses and a busy host do not count.
"""

from __future__ import annotations

from typing import List, Tuple

import numpy as np

from mstui.detect.base import Case, Chunk, Context, Detector, Parameter, Rule, Subject
from mstui.detect.sources import CHECKED, MEASURED
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Severity, Symptom
from mstui.model.records import FloatArray, IntArray
from mstui.model.roles import Role

RETRY = 16
"""Windows after which it is looked again whether the rest may be taken at once."""
EARLY = 64
"""Windows before the last ones that tell what is usual."""


class SlowDown(Detector):
    """The records of one loss."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._case = Case(context, Symptom.SLOW_DOWN)
        self._width = int(context["window"])
        self._begin()

    def _begin(self) -> None:
        self._last_step = 0
        self._last_wall = 0.0
        self._started = False
        self._skip = int(self.context["skip"])
        self._times: FloatArray = np.empty(0)
        self._steps: IntArray = np.empty(0, np.int64)
        self._early: List[float] = []
        self._late: List[Tuple[float, int]] = []

    def points(self, chunk: Chunk) -> None:
        """Cut step times into windows and judge each window once."""
        timed = chunk.walls > 0
        if not timed.all():
            chunk = Chunk.of(chunk.steps[timed], chunk.walls[timed], chunk.values[timed])
            if not len(chunk):
                return
        if self._started:
            steps = np.concatenate(([self._last_step], chunk.steps))
            walls = np.concatenate(([self._last_wall], chunk.walls))
        else:
            steps, walls = chunk.steps, chunk.walls
            self._started = True
        self._last_step, self._last_wall = int(steps[-1]), float(walls[-1])
        if len(steps) < 2:
            return
        times = np.diff(walls) / np.diff(steps)
        ends, at = steps[1:], walls[1:]
        skip = min(self._skip, len(times))
        self._skip -= skip
        times = np.concatenate((self._times, times[skip:]))
        ends = np.concatenate((self._steps, ends[skip:]))
        whole = len(times) // self._width * self._width
        self._times, self._steps = times[whole:], ends[whole:]
        if not whole:
            return
        medians = np.median(times[:whole].reshape(-1, self._width), axis=1)
        last_steps = ends[:whole].reshape(-1, self._width)
        wall = float(at[-1])
        for index, median in enumerate(medians.tolist()):
            if (
                index % RETRY == 0
                and len(medians) - index > RETRY
                and self._steady(medians[index:], last_steps[index:, 0])
            ):
                return
            self._window(median, int(last_steps[index, 0]), int(last_steps[index, -1]), wall)

    def _steady(self, medians: FloatArray, firsts: IntArray) -> bool:
        """Is none of them slow, whatever of them is held against which? Then they are only remembered."""
        need = int(self.context["windows"])
        late = np.array([each for each, _step in self._late])
        if self._case.open or len(self._early) < need or len(late) < need or not np.isfinite(medians).all():
            return False
        lowest = min(float(medians.min()), *self._early, float(late.min()))
        if lowest <= 0 or max(float(medians.max()), float(late.max())) > self.context["slow"] * lowest:
            return False
        both = np.concatenate((late, medians))
        steps = [*(step for _each, step in self._late), *firsts.tolist()]
        self._early = [*self._early, *both[:-need].tolist()][-EARLY:]
        self._late = list(zip(both[-need:].tolist(), steps[-need:]))
        self.judged = True
        return True

    def _window(self, median: float, first: int, last: int, wall: float) -> None:
        if median <= 0 or not np.isfinite(median):
            return
        need = int(self.context["windows"])
        self._late = [*self._late, (median, first)]
        if len(self._late) <= need:
            return
        self._early = [*self._early[1 - EARLY :], self._late.pop(0)[0]]
        if len(self._early) < need - 1:
            return
        self.judged = True
        # Nearly the slowest of all that was usual: a host under load swings by a factor of 2 to 4.
        usual = float(np.quantile(self._early, 0.95))
        now = min(each for each, _step in self._late)
        if now > self.context["slow"] * usual:
            shown = Evidence(
                mark("a step takes {now:.3g} s, it took up to {usual:.3g} s"), {"now": now, "usual": usual}
            )
            self._case.hit(Severity.WARN, self._late[0][1], last, wall, shown)
        elif self._case.open and median < usual * (1.0 + self.context["slow"]) / 2:
            self._case.clear(last, wall)

    def segment(self, step: int) -> None:
        """Begin anew."""
        self._case.clear(step, 0.0)
        self._begin()


def _watches(subject: Subject, _tag: str) -> bool:
    return subject.role is Role.LOSS


RULE = Rule(
    name="slow-down",
    title=mark("Throughput dropped"),
    symptoms=(Symptom.SLOW_DOWN,),
    make=SlowDown,
    needs=mark("wall times of at least 30 records"),
    watches=_watches,
    parameters=(
        Parameter("window", 10.0, mark("records"), mark("their median is not moved by single pauses"), MEASURED),
        Parameter("windows", 4.0, mark("windows in a row"), mark("a disturbance of the host passes"), MEASURED),
        Parameter("skip", 10.0, mark("records"), mark("first steps compile and warm up"), CHECKED),
        Parameter(
            "slow",
            1.8,
            mark("times the usual"),
            mark("less is the host's noise"),
            MEASURED,
        ),
    ),
    false_alarms=(mark("sequence lengths or batch sizes that grow by plan"), mark("a host that others use as well")),
)

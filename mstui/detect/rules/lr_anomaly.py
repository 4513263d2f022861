"""lr-anomaly: a learning rate of 0, a leap, or one that is used up long before the end.

A learning rate is a decision of whoever trains. It is shown, and its harm is judged where it shows: in losses and
weights.
"""

from __future__ import annotations

import numpy as np

from mstui.detect.base import Case, Chunk, Context, Detector, Parameter, Rule, Subject
from mstui.detect.sources import CHECKED
from mstui.detect.streaks import Streak
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Severity, Symptom
from mstui.model.roles import Role

ZEROS = 5
"""Points in a row: a warm-up begins at 0, a schedule ends there."""
NEAR_END = 0.9
"""Of the plan: from here on a rate of 0 is the end of the schedule."""
WARM_POINTS = 20
"""First points in which leaps are part of a warm-up."""


class LrAnomaly(Detector):
    """One learning rate."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._zero = Case(context, Symptom.LR_ANOMALY)
        self._leap = Case(context, Symptom.LR_ANOMALY)
        self._streak = Streak(ZEROS, 1)
        self._last = float("nan")
        self._peak = 0.0
        self._count = 0

    def points(self, chunk: Chunk) -> None:
        """Zeros in a row and leaps between neighbours."""
        good = chunk.good()
        if not len(good):
            return
        self.judged = True
        values = good.values
        previous = np.concatenate(([self._last], values[:-1]))
        with np.errstate(divide="ignore", invalid="ignore"):
            leaps = (values / previous > self.context["leap"]) & (previous > 0.0)
        if leaps.any():
            for index in np.flatnonzero(leaps).tolist():
                past_peak = max(self._peak, float(values[:index].max()) if index else 0.0)
                if self._count + index >= WARM_POINTS and values[index] > self.context["leap"] * past_peak:
                    self._say(
                        self._leap,
                        good,
                        index,
                        mark("the learning rate leapt from {before:.3g} to {now:.3g} at step {step}"),
                        float(previous[index]),
                        float(values[index]),
                    )
        zero = values == 0.0
        if zero.any() or self._streak.length or self._streak.open:
            for turn in self._streak.feed(zero, good.steps):
                progress = self.context.scene.progress(turn.onset)
                if not turn.bad:
                    self._zero.clear(int(good.steps[turn.at]), float(good.walls[turn.at]))
                elif progress is None or progress < NEAR_END:
                    self._say(
                        self._zero,
                        good,
                        turn.at,
                        mark("the learning rate is {now:.3g} since step {step}"),
                        self._peak,
                        0.0,
                    )
        self._peak = max(self._peak, float(values.max()))
        self._last = float(values[-1])
        self._count += len(values)

    def _say(self, case: Case, chunk: Chunk, index: int, message: str, before: float, now: float) -> None:
        step = int(chunk.steps[index])
        shown = Evidence(message, {"before": before, "now": now, "step": step})
        case.clear(step, float(chunk.walls[index]))
        case.hit(Severity.WATCH, step, step, float(chunk.walls[index]), shown)

    def segment(self, step: int) -> None:
        """Begin anew."""
        for case in (self._zero, self._leap):
            case.clear(step, 0.0)
        self._streak.reset()
        self._last, self._peak, self._count = float("nan"), 0.0, 0


def _watches(subject: Subject, _tag: str) -> bool:
    return subject.role is Role.LEARNING_RATE


RULE = Rule(
    name="lr-anomaly",
    title=mark("Learning-rate anomaly"),
    symptoms=(Symptom.LR_ANOMALY,),
    make=LrAnomaly,
    needs=mark("the learning rate of each step"),
    watches=_watches,
    parameters=(
        Parameter(
            "leap",
            3.0,
            mark("times the highest before"),
            mark("restarts of cycles go back to a height that was there before"),
            CHECKED,
        ),
    ),
    false_alarms=(mark("a schedule that is meant to leap"),),
)

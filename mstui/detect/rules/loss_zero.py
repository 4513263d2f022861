"""loss-zero: a loss of exactly 0, again and again.

A loss that was well above zero and then is exactly zero is not a learnt one: masks that cover everything, constant
labels, a saturating device that turns NaN into 0. A log of few digits rounds a small loss to 0: what it came down to
by itself is no zero.
"""

from __future__ import annotations

import numpy as np

from mstui.detect.base import Case, Chunk, Context, Detector, Parameter, Rule, Subject
from mstui.detect.sources import CHECKED, NETS
from mstui.detect.streaks import Streak
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Severity, Symptom
from mstui.model.roles import Role

GRID, GRID_ERROR = 1e-3, 1e-4
"""Logs of MindFormers print three decimals; float32 adds its own error."""
GRID_POINTS = 8
"""Points on that grid that are no chance."""
LATELY = 4


class LossZero(Detector):
    """One training loss."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._case = Case(context, Symptom.LOSS_ZERO)
        self._streak = Streak(int(context["points"]), int(context["points"]))

    def points(self, chunk: Chunk) -> None:
        """Count exact zeros in a row."""
        self.judged = True
        zero = chunk.values == 0.0
        for turn in self._streak.feed(zero, chunk.steps):
            step, wall = int(chunk.steps[turn.at]), float(chunk.walls[turn.at])
            shown = Evidence(
                mark("exactly 0 in {n} points from step {step}"), {"n": self._streak.needed, "step": turn.onset}
            )
            if turn.bad:
                learnt = self.context.scene.is_perfect(self.context.scope.rank_id, step) or self._rounded(turn.onset)
                self._case.hit(Severity.INFO if learnt else Severity.ERROR, turn.onset, step, wall, shown)
            else:
                self._case.clear(step, wall, Evidence(mark("not 0 any more")))

    def _rounded(self, onset: int) -> bool:
        """Were the values before few digits of something that had become small?"""
        if self.context.series is None:
            return False
        _steps, values = self.context.series.upto(onset - 1, GRID_POINTS)
        values = np.abs(values[np.isfinite(values)])
        thousands = values / GRID
        if len(values) < GRID_POINTS or np.abs(thousands - np.rint(thousands)).max() > GRID_ERROR:
            return False
        return float(np.median(values[-LATELY:])) < self.context["small"]

    def segment(self, step: int) -> None:
        """Begin anew."""
        self._case.clear(step, 0.0)
        self._streak.reset()


def _watches(subject: Subject, _tag: str) -> bool:
    return subject.role is Role.LOSS


RULE = Rule(
    name="loss-zero",
    title=mark("Loss is exactly 0"),
    symptoms=(Symptom.LOSS_ZERO,),
    make=LossZero,
    needs=mark("a training loss"),
    watches=_watches,
    parameters=(
        Parameter(
            "points",
            5.0,
            mark("points in a row"),
            mark("one batch may be all padding; five in a row are no chance"),
            CHECKED,
        ),
        Parameter(
            "small",
            0.1,
            mark("loss"),
            mark("where a log prints three decimals, a loss that was smaller than that may be rounded to 0"),
            NETS,
        ),
    ),
    false_alarms=(mark("a log that prints fewer than three decimals"),),
)

"""overfit: the loss on held-out data rises from its best while the training loss goes on falling."""

from __future__ import annotations

import math
from typing import List, Optional, Tuple

import numpy as np

from mstui.detect.base import Case, Chunk, Context, Detector, Parameter, Rule, Subject
from mstui.detect.evaluations import worth_a_look
from mstui.detect.robust import MEDIAN_COST, median, scatter
from mstui.detect.sources import CHECKED, MEASURED, NETS
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Severity, Symptom
from mstui.model.roles import Role


class Overfit(Detector):
    """One loss on held-out data."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._looked = 0
        self._case = Case(context, Symptom.OVERFIT)
        self._best: Optional[Tuple[int, float]] = None
        self._above: List[Tuple[int, float]] = []
        self._seen = 0
        self._first = 0
        """step of the first evaluation"""

    def points(self, chunk: Chunk) -> None:
        """Evaluations are few: one by one."""
        good = chunk.good()
        some = worth_a_look(self._looked, len(good))
        self._looked += len(good)
        for step, wall, value in zip(good.steps[some].tolist(), good.walls[some].tolist(), good.values[some].tolist()):
            self._one(step, wall, value)

    def _one(self, step: int, wall: float, value: float) -> None:
        if not self._seen:
            self._first = step
        self._seen += 1
        self.judged = self._seen >= 3
        if self._best is None or value <= self._best[1]:
            self._best, self._above = (step, value), []
            self._case.clear(step, wall, Evidence(mark("a new best: {value:.4g}"), {"value": value}))
            return
        best_step, best = self._best
        self._above = [*self._above[-7:], (step, value)]
        if best <= 0.0:
            return
        rises = [each / best - 1.0 for _step, each in self._above]
        sharp = len(rises) >= 2 and min(rises[-2:]) > self.context["sharp"]
        steady = len(rises) >= 3 and min(rises[-3:]) > self.context["steady"] and rises[-1] > rises[-3]
        if not (sharp or steady) or self._above[-1][1] - best < self.context["material"] * self._began(step):
            return
        fall = self._training_fell(best_step, step)
        if fall is None or fall[0] < max(self.context["fall"], 3.0 * fall[1]):
            return
        # Label smoothing and dropout keep the training loss up; without a gap nothing is over-fitted.
        if value < fall[2]:
            return
        shown = Evidence(
            mark(
                "validation loss {value:.4g}: {rise:.0f} % above that of step {best}, while training fell {fall:.0f} %"
            ),
            {"value": value, "rise": 100.0 * rises[-1], "best": best_step, "fall": 100.0 * fall[0]},
        )
        self._case.hit(Severity.WARN, self._above[0][0], step, wall, shown)

    def _began(self, step: int) -> float:
        """What the training loss began with."""
        losses = self.context.scene.one(self.context.scope.rank_id, Role.LOSS)
        return (losses.start(step) if losses is not None else None) or 0.0

    def _training_fell(self, best_step: int, step: int) -> Optional[Tuple[float, float, float]]:
        """Share by which the training loss fell from the best evaluation to now, its standard error, its level now."""
        rank = self.context.scope.rank_id
        losses = self.context.scene.one(rank, Role.LOSS)
        if losses is None:
            return None
        width = max(1, step - self._above[-2][0]) if len(self._above) > 1 else max(1, (step - best_step) // 2)
        then, now = losses.between(best_step - width, best_step), losses.between(step - width, step)
        then, now = then[np.isfinite(then)], now[np.isfinite(now)]
        if not len(then) or not len(now) or np.median(then) <= 0:
            return None
        level = median(then)
        errors = [scatter(x, median(x)) / math.sqrt(len(x) / MEDIAN_COST) for x in (then, now)]
        return 1.0 - median(now) / level, math.hypot(*errors) / level, median(now)

    def segment(self, step: int) -> None:
        """Begin anew, but for the best where it goes on from a checkpoint: another fold is another net."""
        self._above = []
        if step <= self._first:
            self._best, self._seen = None, 0
            self._case.clear(step, 0.0)


def _watches(subject: Subject, _tag: str) -> bool:
    return subject.role is Role.EVAL_LOSS


RULE = Rule(
    name="overfit",
    title=mark("Over-fitting"),
    symptoms=(Symptom.OVERFIT,),
    make=Overfit,
    needs=mark("a loss on held-out data, three evaluations or more, and a training loss"),
    watches=_watches,
    parameters=(
        Parameter(
            "sharp",
            0.1,
            mark("above the best, twice in a row"),
            mark("two evaluations far above are no noise"),
            MEASURED,
        ),
        Parameter(
            "steady",
            0.03,
            mark("above the best, three times in a row"),
            mark("evaluation noise is about 1 %"),
            CHECKED,
        ),
        Parameter(
            "material",
            0.05,
            mark("of the first training loss"),
            mark("near zero every rise is large"),
            NETS,
        ),
        Parameter(
            "fall",
            0.1,
            mark("of the training loss"),
            mark("otherwise both got worse: another trouble"),
            CHECKED,
        ),
    ),
    false_alarms=(mark("a training loss with dropout or label smoothing on a small validation set"),),
)

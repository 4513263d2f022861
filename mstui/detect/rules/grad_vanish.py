"""grad-vanish: gradients of a layer are next to nothing, while those of others are not; or all of them are.

The ratio to the largest layer at the same step needs no scale of the loss. Exact zeros are another symptom.
"""

from __future__ import annotations

from typing import Optional

import numpy as np

from mstui.detect.base import Case, Chunk, Context, Detector, Parameter, Rule, Subject
from mstui.detect.scene import GRADIENT_NORMS
from mstui.detect.shares import CERTAIN_SPAN
from mstui.detect.streaks import Streak
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Severity, Symptom
from mstui.model.roles import Role

GRAVE = 1e-9


class GradVanish(Detector):
    """The gradient of one parameter, or of all together."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._case = Case(context, Symptom.GRAD_VANISH)
        self._streak = Streak(int(context["records"]), int(context["records"]), CERTAIN_SPAN)

    def points(self, chunk: Chunk) -> None:
        """Whatever is above the absolute bar is fine without a look at others."""
        good = chunk.good()
        if not len(good):
            return
        self.judged = True
        suspect = (good.values < self.context["size"]) & (good.values != 0.0)
        if not suspect.any() and not self._streak.length and not self._streak.open:
            return
        bad = suspect.copy()
        if self.context.scope.layer:
            for index in np.flatnonzero(suspect).tolist():
                largest = self._largest(int(good.steps[index]))
                bad[index] = largest is not None and good.values[index] < self.context["ratio"] * largest
        bad |= (good.values < self.context["nothing"]) & (good.values != 0.0)
        if not self.context.scope.layer:
            bad &= good.values < self.context["nothing"]
        for index in np.flatnonzero(bad).tolist():
            bad[index] = not self._is_idle(int(good.steps[index]))
        for turn in self._streak.feed(bad, good.steps):
            step, wall, value = (
                int(good.steps[turn.at]),
                float(good.walls[turn.at]),
                float(good.values[turn.at]),
            )
            if not turn.bad:
                self._case.clear(step, wall)
                continue
            shown = Evidence(
                mark("norm {value:.2g} for {layer} at step {step}; the largest of all layers is {largest:.2g}"),
                {
                    "value": value,
                    "layer": self.context.scope.layer or self.context.scope.tag,
                    "step": step,
                    "largest": self._largest(step) or value,
                },
            )
            severity = Severity.ERROR if value < GRAVE else Severity.WARN
            if self.context.scene.is_frozen(self.context.scope.layer):
                severity = Severity.INFO
            if self.context.scene.has_converged(self.context.scope.rank_id, step):
                severity = Severity.INFO
            self._case.hit(severity, turn.onset, step, wall, shown)

    def _is_idle(self, step: int) -> bool:
        scope = self.context.scope
        return bool(scope.layer) and self.context.scene.is_idle(scope.rank_id, scope.layer, step)

    def _largest(self, step: int) -> Optional[float]:
        context = self.context
        found = [
            each.at(step)
            for each in context.scene.of_statistic(context.scope.rank_id, context.series.subject.statistic)  # type: ignore[union-attr]
        ]
        finite = [each for each in found if each is not None and np.isfinite(each)]
        return max(finite) if finite else None

    def segment(self, step: int) -> None:
        """Begin anew."""
        self._case.clear(step, 0.0)
        self._streak.reset()


def _watches(subject: Subject, _tag: str) -> bool:
    if subject.role is Role.GRAD_NORM:
        return True
    return subject.role is Role.PARAMETER and subject.statistic in GRADIENT_NORMS


RULE = Rule(
    name="grad-vanish",
    title=mark("Gradients vanish"),
    symptoms=(Symptom.GRAD_VANISH,),
    make=GradVanish,
    needs=mark("norms of gradients, best of single parameters"),
    watches=_watches,
    parameters=(
        Parameter(
            "size",
            1e-4,
            mark("norm"),
            mark("above it a layer learns, whatever the others do"),
            mark("AUTOTRAINER (ICSE 2021): first layer below 1e-4"),
        ),
        Parameter(
            "ratio",
            1e-3,
            mark("of the largest layer"),
            mark("healthy nets keep their layers within a factor of 100"),
            mark("AUTOTRAINER (ICSE 2021): first layer below 1e-3 of the last"),
        ),
        Parameter(
            "nothing",
            1e-7,
            mark("norm"),
            mark("no update by it is left in float32"),
            mark("Amazon SageMaker Debugger, built-in rules: mean size below 1e-7"),
        ),
        Parameter(
            "records",
            2.0,
            mark("records in a row"),
            mark("one batch may be learnt already"),
            mark("mstui's own, checked on its labelled trainings; both bars are far from healthy runs"),
        ),
    ),
    false_alarms=(mark("a net that has converged to nearly no loss"),),
)

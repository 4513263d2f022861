"""weight-change-large, weight-change-small: the size of a step against the size of the weight that it changes."""

from __future__ import annotations

from typing import Iterable

import numpy as np

from mstui.detect.base import Case, Chunk, Context, Detector, Parameter, Rule, Subject
from mstui.detect.shares import CERTAIN_SPAN, SPAN
from mstui.detect.sources import MEASURED, NETS
from mstui.detect.streaks import Streak, Turn
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Severity, Symptom
from mstui.model.records import FloatArray
from mstui.model.roles import Role
from mstui.model.series import BoolArray

BLOW = 1000.0
"""From one record to the next a ratio that falls by this factor was that of a single blow."""


class WeightChange(Detector):
    """One parameter."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._large = Case(context, Symptom.WEIGHT_CHANGE_LARGE)
        self._small = Case(context, Symptom.WEIGHT_CHANGE_SMALL)
        self._before = 0.0
        """ratio of the record before"""
        self._up = Streak(int(context["large_records"]), 3, CERTAIN_SPAN)
        self._down = Streak(int(context["small_records"]), 3, SPAN)

    def points(self, chunk: Chunk) -> None:
        """Compare ratios with both limits."""
        good = chunk.good()
        if not len(good):
            return
        self.judged = True
        values = good.values
        idle = not (self._up.length or self._up.open or self._down.length or self._down.open)
        idle = idle and self._before < self.context["large"]
        if idle and values.max() < self.context["large"] and values.min() > self.context["small"]:
            self._before = float(values[-1])
            return
        steps = good.steps
        peaks = np.maximum(values, np.concatenate(([self._before], values[:-1])))

        def sure(at: int, length: int) -> bool:
            return length > self._up.needed or bool(peaks[at] >= self.context["wholly"])

        self._turns(
            self._up.feed(
                self._leaps(values), steps, lambda at, n: not (sure(at, n) and self._finite_weight(int(steps[at])))
            ),
            self._large,
            good,
        )
        self._turns(
            self._down.feed(self._tiny(good), steps, lambda at, _n: self._rightly(int(steps[at]))), self._small, good
        )

    def _leaps(self, values: FloatArray) -> BoolArray:
        """Beyond the limit; what is left of one blow, in a momentum that dies away, is no second one."""
        before = np.concatenate(([self._before], values[:-1]))
        self._before = float(values[-1])
        large: BoolArray = (values >= self.context["large"]) & (values * BLOW > before)
        return large

    def _turns(self, turns: Iterable[Turn], case: Case, chunk: Chunk) -> None:
        for turn in turns:
            step, wall = int(chunk.steps[turn.at]), float(chunk.walls[turn.at])
            if not turn.bad:
                case.clear(step, wall)
                continue
            shown = Evidence(
                mark("{layer} changed by {share:.2g} of its size in one step, at step {step}"),
                {
                    "layer": self.context.scope.layer or self.context.scope.tag,
                    "share": float(chunk.values[turn.at]),
                    "step": step,
                },
            )
            case.hit(Severity.WARN, turn.onset, step, wall, shown)

    def _rightly(self, step: int) -> bool:
        """Are small steps what was planned, or all that is left to do?"""
        scene, rank = self.context.scene, self.context.scope.rank_id
        return scene.rate_faded(rank, step) or scene.has_converged(rank, step)

    def _tiny(self, chunk: Chunk) -> BoolArray:
        """Next to nothing for this weight alone, or little for most of them."""
        values = chunk.values
        small = (values < self.context["small"]) & (values > 0.0)
        for index in np.flatnonzero(small & (values >= self.context["tiny"])).tolist():
            ratios = self.context.scene.of_statistic(self.context.scope.rank_id, "update_ratio")
            others = [each.at(int(chunk.steps[index])) for each in ratios]
            known = [each for each in others if each is not None and np.isfinite(each)]
            small[index] = not known or float(np.median(known)) < self.context["small"]
        scope = self.context.scope
        for index in np.flatnonzero(small).tolist():
            small[index] = not self.context.scene.is_idle(scope.rank_id, scope.layer, int(chunk.steps[index]))
        return small

    def _finite_weight(self, step: int) -> bool:
        """A weight that is NaN has no ratio, whatever was recorded."""
        scope = self.context.scope
        norms = self.context.scene.of_parameter(scope.rank_id, "weight_norm", scope.layer)
        norm = norms.at(step) if norms is not None else None
        return norm is None or bool(np.isfinite(norm))

    def segment(self, step: int) -> None:
        """Begin anew."""
        for case in (self._large, self._small):
            case.clear(step, 0.0)
        self._before = 0.0
        self._up.reset()
        self._down.reset()


def _watches(subject: Subject, _tag: str) -> bool:
    return subject.role is Role.UPDATE_RATIO or (subject.role is Role.PARAMETER and subject.statistic == "update_ratio")


RULE = Rule(
    name="weight-change",
    title=mark("Size of weight updates"),
    symptoms=(Symptom.WEIGHT_CHANGE_LARGE, Symptom.WEIGHT_CHANGE_SMALL),
    make=WeightChange,
    needs=mark("ratios of update to weight"),
    watches=_watches,
    parameters=(
        Parameter(
            "large",
            0.5,
            mark("of the weight's norm a step"),
            mark("healthy runs here reach 0.26 in their first steps"),
            mark("mstui's own, between MindInsight's rule (0.1) and its recommended watchpoint (1)"),
        ),
        Parameter(
            "wholly",
            0.9,
            mark("of the weight's norm a step"),
            mark("one of two records reaches it, else a third one must agree: noisy last layers reach 0.6 at times"),
            NETS,
        ),
        Parameter(
            "large_records",
            2.0,
            mark("records in a row"),
            mark("first steps of adaptive optimisers are long"),
            MEASURED,
        ),
        Parameter(
            "small",
            1e-6,
            mark("of the weight's norm a step"),
            mark("near float32's resolution; a million steps for one size"),
            mark("mstui's own; MindInsight's 1e-4 calls fine-tuning ill"),
        ),
        Parameter(
            "tiny",
            1e-8,
            mark("of the weight's norm a step"),
            mark("below float32's resolution"),
            mark("Amazon SageMaker Debugger, built-in rules: 1e-8"),
        ),
        Parameter("small_records", 3.0, mark("records in a row"), mark("a batch may be learnt already"), MEASURED),
    ),
    false_alarms=(mark("weights that begin at nearly 0"), mark("the end of a decay that nobody recorded")),
)

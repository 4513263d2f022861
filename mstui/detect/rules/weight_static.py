"""weight-static: a parameter that is bit for bit the same from record to record.

Two witnesses: an update ratio of exactly 0 with a norm that does not move, or histograms that are equal in every
figure. A ratio of 0 alone is none: with gradient accumulation most steps change nothing, but the norm moves between
records.
"""

from __future__ import annotations

from typing import Optional, Tuple

import numpy as np

from mstui.detect.base import Case, Chunk, Context, Detector, Parameter, Rule, Subject
from mstui.detect.scene import Series
from mstui.detect.streaks import Streak
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Severity, Symptom
from mstui.model.histogram import Histogram
from mstui.model.roles import Role
from mstui.model.series import BoolArray

RESOLUTION = 1e-8
"""A gradient smaller than this share of the weight: times a usual learning rate it is below float32's resolution."""


class WeightStatic(Detector):
    """One parameter."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._case = Case(context, Symptom.WEIGHT_STATIC)
        self._small = Case(context, Symptom.WEIGHT_CHANGE_SMALL)
        self._streak = Streak(int(context["records"]), 2)
        self._sure = Streak(1, 2)
        """while other weights moved: updates were made, but not here"""
        self._last: Optional[float] = None
        self._last_step = 0
        self._has_moved = False
        """in this segment: then one record that is equal may be the rounding of a small step"""
        self._signature: Optional[Tuple[object, ...]] = None

    def points(self, chunk: Chunk) -> None:
        """Norms that are equal to the last bit."""
        values = chunk.values
        before = np.nan if self._last is None else self._last
        same = np.empty(len(values), bool)
        same[0] = values[0] == before
        same[1:] = values[1:] == values[:-1]
        moved = ~same
        moved[0] &= self._last is not None
        moved = np.logical_or.accumulate(moved) | self._has_moved
        self._has_moved = bool(moved[-1])
        self._last = float(values[-1])
        self.judged = self.judged or len(chunk) + self._streak.length >= self._streak.needed
        if not (self._case.open or self._small.open or self._streak.length) and not same.any():
            return
        ratios = self._partner("update_ratio")
        if ratios is not None and same.any():
            # Tiny updates may leave a norm as it is; then the ratio tells that there was one.
            updated = np.array([bool(ratios.at(int(step))) for step in chunk.steps[same]])
            same[np.flatnonzero(same)[updated]] = False
        self._turns(same, moved, chunk)

    def _partner(self, statistic: str) -> Optional[Series]:
        """Another statistic of the same parameter."""
        scope = self.context.scope
        return self.context.scene.of_parameter(scope.rank_id, statistic, scope.layer)

    def _turns(self, same: BoolArray, moved: BoolArray, chunk: Chunk) -> None:
        steps, rank_id = chunk.steps, self.context.scope.rank_id
        restarts = self.context.series.restarts if self.context.series is not None else 0
        scene = self.context.scene
        least = 2 * scene.accumulation if scene.accumulation > 1 else 0
        self._streak.span = least
        turns = [(turn, False) for turn in self._streak.feed(same, steps)]
        turns += [
            (turn, True)
            for turn in self._sure.feed(
                same,
                steps,
                lambda at, n: (
                    bool(moved[at])
                    or n > self._streak.needed
                    or not scene.weights_moved(rank_id, int(steps[at]), restarts)
                ),
            )
        ]
        for turn, sure in sorted(turns, key=lambda each: each[0].at):
            step, wall = int(steps[turn.at]), float(chunk.walls[turn.at])
            if turn.bad:
                self._found(turn.onset, step, wall, float(chunk.values[turn.at]), sure=sure)
            else:
                for case in (self._case, self._small):
                    case.clear(step, wall, Evidence(mark("it moves again")))

    def _found(self, onset: int, step: int, wall: float, norm: float, *, sure: bool) -> None:
        context = self.context
        layer = context.scope.layer
        if context.scene.is_idle(context.scope.rank_id, layer, step):
            return
        if context.scene.is_frozen(layer):
            self._case.hit(Severity.INFO, onset, step, wall, Evidence(mark("declared as frozen")))
            return
        shown = Evidence(
            mark("{layer} is bit for bit the same in {n} records up to step {step}"),
            {"layer": layer, "n": 2 if sure else self._streak.needed + 1, "step": step},
        )
        gradients = self._partner("grad_norm")
        gradient = gradients.at(step) if gradients is not None else None
        if gradient and norm and gradient < RESOLUTION * norm:
            # There is a gradient, and no float32 can hold what it would change.
            self._small.hit(Severity.WARN, onset, step, wall, shown)
            return
        self._case.hit(Severity.INFO if self._too_small_to_see(step) else Severity.WARN, onset, step, wall, shown)

    def _too_small_to_see(self, step: int) -> bool:
        """It moved before, and at the end of a decay no float32 norm shows a step any more. A rate of 0 makes none."""
        scene, rank = self.context.scene, self.context.scope.rank_id
        rates = scene.one(rank, Role.LEARNING_RATE)
        return self._has_moved and rates is not None and rates.at(step) != 0.0 and scene.rate_faded(rank, step)

    def histogram(self, series: Series, histogram: Histogram) -> None:  # noqa: ARG002
        """Histograms that are equal in every figure."""
        stats = histogram.stats
        signature = (
            stats.count,
            stats.minimum,
            stats.maximum,
            stats.mean,
            histogram.lefts.tobytes(),
            histogram.counts.tobytes(),
        )
        same = self._signature == signature
        self._has_moved = self._has_moved or (self._signature is not None and not same)
        self._signature = signature
        chunk = Chunk.of(np.array([stats.step]), np.array([stats.wall_time]), np.array([stats.mean]))
        self.judged = True
        self._turns(np.array([same]), np.array([self._has_moved]), chunk)

    def segment(self, step: int) -> None:
        """Begin anew."""
        self._case.clear(step, 0.0)
        self._streak.reset()
        self._sure.reset()
        self._last, self._signature = None, None
        self._has_moved = False


def _watches(subject: Subject, _tag: str) -> bool:
    return subject.role is Role.PARAMETER and subject.statistic == "weight_norm"


def _histograms(subject: Subject, _tag: str) -> bool:
    return subject.role is Role.PARAMETER and subject.statistic == "weight"


RULE = Rule(
    name="weight-static",
    title=mark("Weights do not change"),
    symptoms=(Symptom.WEIGHT_STATIC, Symptom.WEIGHT_CHANGE_SMALL),
    make=WeightStatic,
    needs=mark("norms or histograms of weights, three records or more"),
    watches=_watches,
    histograms=_histograms,
    parameters=(
        Parameter(
            "records",
            2.0,
            mark("records equal to the one before"),
            mark("three records that agree to the last bit"),
            mark("Amazon SageMaker Debugger, built-in rules: unchanged over 3 saves"),
        ),
    ),
    false_alarms=(
        mark("a frozen backbone that nobody declared"),
        mark("gradient accumulation longer than the records' distance"),
    ),
)

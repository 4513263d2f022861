"""loss-oscillate: swings that come back and that no noise of batches makes.

Noise of batches knows nothing of the point before; a step that is too long overshoots and makes neighbours alike
(waves) or opposite (zigzag). So the residuals of the last points around their trend, on a log scale, are judged by
their correlation from point to point, by their size, and by how often they cross over: one hump is no oscillation.
"""

from __future__ import annotations

import math
from typing import Optional

import numpy as np

from mstui.detect.base import Case, Context, Detector, Parameter, Rule, Subject
from mstui.detect.evaluations import MOST_UNINFORMED, shares
from mstui.detect.naming import Objective
from mstui.detect.robust import median, scatter
from mstui.detect.sources import AUTOTRAINER_LOSS, MEASURED, SIMULATED
from mstui.detect.track import Track
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Severity, Symptom
from mstui.model.records import FloatArray
from mstui.model.roles import Role

SHORT, LONG = 32, 128
"""Points looked at: at least, and at most where there are so many."""
PERSIST = 3
"""Ticks in a row."""
FRESH = 8
"""Points that must have come since the first of them: windows that share nearly all their points say the same."""
SWINGS = 5
"""Crossings from above the trend to below it or back."""
STEEP = 1.0
"""Fall over the window, as a log: more is progress, and its bend looks like a wave."""
WRONG = 4.7
"""The loss of a guess among a hundred classes: what began beyond all guesses and is still above it is wrong."""
IN_PHASE = 0.6
"""Correlation with the learning rate from which on a wave is its own doing."""


def swings(residuals: FloatArray, height: float) -> int:
    """Crossings from above +height to below -height or back."""
    signs = np.where(residuals > height, 1, np.where(residuals < -height, -1, 0))
    signs = signs[signs != 0]
    return int((np.diff(signs) != 0).sum())


class LossOscillate(Detector):
    """One training loss."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._case = Case(context, Symptom.LOSS_OSCILLATE)
        self._ticks = 0
        self._calm = 0
        self._since = 0
        """points there were at the first of these ticks"""
        self.waits = Evidence(mark("not enough data yet"))

    def tick(self, track: Track) -> None:
        """Judge the last points."""
        if track.count < SHORT:
            return
        if self.context.scene.objective(self.context.scope.tag) is not Objective.DESCENDING or track.lowest <= 0.0:
            self.waits = Evidence(mark("the curve is not one that must fall from a positive level"))
            return
        self.judged = True
        values = track.recent(min(LONG, max(SHORT, track.count // 3)))
        found = self._wave(values, track)
        if found is None:
            self._ticks = 0
            self._calm += 1
            if self._calm >= 5 * PERSIST:
                self._case.clear(track.step, track.wall)
            return
        if not self._ticks:
            self._since = track.count
        self._ticks += 1
        self._calm = 0
        if self._ticks < PERSIST or track.count - self._since < FRESH:
            return
        severity = Severity.INFO if self._follows_rate(values, track) else Severity.WARN
        onset = int(track.recent_steps(len(values))[0])
        self._case.hit(severity, onset, track.step, track.wall, found)

    def _wave(self, values: FloatArray, track: Track) -> Optional[Evidence]:
        count = len(values)
        logs = np.log(values)
        x = np.arange(count) - (count - 1) / 2
        slope = float((x * logs).sum() / (x * x).sum())
        bend = (
            x * x - (x * x).mean()
        )  # a fast first fall bends; what is left of a line through it would look like a wave
        residuals = logs - logs.mean() - slope * x
        residuals = residuals - float((bend * residuals).sum() / (bend * bend).sum()) * bend
        spread = float(residuals.std())
        lost = self._lost(track, values)
        if spread < self.context["zigzag"] / 2 or (abs(slope) * count > STEEP and not lost):
            return None
        size = scatter(residuals, median(residuals))
        if size <= min(self.context["wave"], self.context["zigzag"]):
            return None
        alike = float((residuals[1:] * residuals[:-1]).mean()) / spread**2
        crossings = swings(residuals, 0.5 * spread)
        doubt = 1.0 / math.sqrt(count)
        level = median(values) / track.first
        stands, half = level > self.context["level"], level > self.context["level"] / 2
        wave = alike > 0.25 + doubt and crossings >= SWINGS and size > self.context["wave"] and stands
        strong = alike > 0.35 + doubt and crossings >= SWINGS and size > 2 * self.context["wave"] and half
        zigzag = alike < -(0.45 + doubt) and size > self.context["zigzag"] and crossings > count // 2
        # Above where it began it has nothing to be noisy about: there any large swings are those of too long steps.
        bounces = (
            crossings >= SWINGS
            and size > self.context["wave"]
            and track.certainly_above_first(self.context["above"] * median(values))
        )
        bounces = bounces or (lost and crossings >= SWINGS and size > self.context["wave"])
        if not (wave or strong or zigzag or bounces):
            return None
        return Evidence(
            mark("swings of about ±{size:.0f} % around {level:.4g}, {crossings} crossings in {n} points"),
            {"size": 100.0 * size, "level": median(values), "crossings": crossings, "n": count},
        )

    def _lost(self, track: Track, values: FloatArray) -> bool:
        """Is the level beyond any of a net that knows nothing, since the beginning?"""
        level = median(values)
        if min(track.first, level) > self.context["huge"]:
            return True
        scene, rank = self.context.scene, self.context.scope.rank_id
        return track.first > MOST_UNINFORMED and level > WRONG and bool(shares(scene, rank))

    def _follows_rate(self, values: FloatArray, track: Track) -> bool:
        rates = self.context.scene.one(self.context.scope.rank_id, Role.LEARNING_RATE)
        if rates is None:
            return False
        _steps, lately = rates.upto(track.step, len(values))
        if len(lately) != len(values) or not np.isfinite(lately).all() or lately.std() == 0.0:
            return False
        return abs(float(np.corrcoef(lately, values)[0, 1])) >= IN_PHASE

    def segment(self, step: int) -> None:
        """Begin anew."""
        self._case.clear(step, 0.0)
        self._ticks = self._calm = 0


def _watches(subject: Subject, _tag: str) -> bool:
    return subject.role is Role.LOSS


RULE = Rule(
    name="loss-oscillate",
    title=mark("Loss oscillates"),
    symptoms=(Symptom.LOSS_OSCILLATE,),
    make=LossOscillate,
    needs=mark("a positive training loss with at least 32 points"),
    watches=_watches,
    ticks=True,
    parameters=(
        Parameter(
            "wave",
            0.15,
            mark("log of the loss"),
            mark("smaller waves are those of epochs and schedules"),
            MEASURED,
        ),
        Parameter("zigzag", 0.12, mark("log of the loss"), mark("smaller ones cost nothing"), SIMULATED),
        Parameter(
            "above",
            0.67,
            mark("of the level, which must still be above the first value"),
            mark("half as much again as knowing nothing"),
            MEASURED,
        ),
        Parameter(
            "huge",
            1000.0,
            mark("loss"),
            mark("beyond what targets of unit scale give: its swings are no noise of batches"),
            AUTOTRAINER_LOSS,
        ),
        Parameter(
            "level",
            0.6,
            mark("of the first value"),
            mark("below it the training gets somewhere in spite of them"),
            MEASURED,
        ),
    ),
    false_alarms=(mark("a slow random walk of the loss, as of few and uneven batches"),),
)

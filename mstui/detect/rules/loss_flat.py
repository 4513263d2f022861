"""loss-flat, loss-slow, underfit, plateau: what the whole course of a loss says of its progress.

The course is kept as at most 64 block means. The first fifth is held against the last; the scatter of neighbouring
blocks says how far the difference can be trusted (power guard): without power the rule waits. How small a drop must
be depends on how much of the training has passed: early on only no drop at all, at the end any that leaves the loss
near what it began with. A net that was trained before may stay where it is: it shows by evaluations far above chance.
"""

from __future__ import annotations

import math
from typing import Optional

import numpy as np

from mstui.detect.base import Case, Context, Detector, Parameter, Rule, Subject
from mstui.detect.course import Course, course_of
from mstui.detect.evaluations import MOST_BEGUN, chance, guesses, knows_something, lift, shares
from mstui.detect.naming import Objective
from mstui.detect.robust import median, scatter_of_neighbours
from mstui.detect.sources import AUTOTRAINER_LOSS, CHECKED, MEASURED, NETS, SIMULATED
from mstui.detect.track import Track
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Severity, Symptom
from mstui.model.roles import Role

LEAST_AT_END = 20
"""Points of a training that is judged as a whole: what is shorter was a try-out."""
GATHERS = 5.0
"""Standard errors of the fall over the last half: a slow start, as long as it falls faster and faster."""
MOST = 0.6
"""An accuracy that few nets have that know nothing."""
RISEN = 1.2
"""Of the very first point: levels above it come from steps that were too long."""
CONFIDENT = 0.04
"""Scatter of the first points over their level; with usual batches it is 0.03 and less for nets that only guess."""
MANY = 3.2
"""The loss of a guess among 25 classes."""
MANY_SCALE = 0.7
"""Of the bars for what is lost at the end: letters in their own frequencies have 70 % of the loss of a guess."""
PERSIST = 3
"""ticks in a row"""


AT_GUESS = Evidence(mark("evaluations are no better than guessing"))
GUESS, STILL = 1.5, 0.94
"""As the rule for metrics has them: times the chance level, and share of the loss of a guess."""
LEARNING = 2.5
"""times chance: then it learns, though the loss does not show it yet"""


class LossFlat(Detector):
    """One training loss."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._flat = Case(context, Symptom.LOSS_FLAT)
        self._slow = Case(context, Symptom.LOSS_SLOW)
        self._underfit = Case(context, Symptom.UNDERFIT)
        self._plateau = Case(context, Symptom.PLATEAU)
        self._ticks = 0
        self._track: Optional[Track] = None
        self.waits = Evidence(mark("not enough data yet"))

    def _off(self, track: Track) -> bool:
        return self.context.scene.objective(self.context.scope.tag) is not Objective.DESCENDING or track.lowest <= 0.0

    def tick(self, track: Track) -> None:
        """Judge the course so far."""
        self._track = track
        if track.count < self.context["points"]:
            return
        if self._off(track):
            self.waits = Evidence(mark("the curve is not one that must fall from a positive level"))
            return
        course = course_of(track)
        if course is None:
            return
        allowed = self._allowed(track)
        if allowed is None:
            return
        drop_allowed, most_doubt = allowed
        if track.count >= self.context["guessing"] and self._guessing(track, course, at_least=2):
            self.judged = True
            self._flat.hit(
                Severity.WARN, self._onset(track), track.step, track.wall, AT_GUESS, self._shown(course, track)
            )
            return
        if self._still_huge(track, course):
            self.judged = True
            self._flat.hit(Severity.WARN, track.step, track.step, track.wall, self._shown(course, track))
            return
        if course.doubt > most_doubt:
            self.waits = Evidence(mark("too noisy to tell yet"))
            return
        self.judged = True
        flat = course.drop < drop_allowed and course.drop + course.doubt < max(3.0 * drop_allowed, 0.03)
        if drop_allowed == self.context["none"] and course.slope_t < -GATHERS and course.gathers:
            flat = False
        if flat and course.drop > -0.05 - course.doubt and not self._warming(track):
            self._ticks += 1
            if self._ticks >= PERSIST:
                self._flat.hit(
                    self._gravity(track, course), self._onset(track), track.step, track.wall, self._shown(course, track)
                )
        else:
            self._ticks = 0
            if self._flat.open and course.drop > max(0.1, 3.0 * drop_allowed):
                self._flat.clear(track.step, track.wall, self._shown(course, track))
        self._judge_plateau(track, course)

    def _still_huge(self, track: Track, course: Course) -> bool:
        """Is the level still one that no net of any use has, after a good part of the training?"""
        return course.now > self.context["huge"] and track.count >= self.context["points"]

    def _allowed(self, track: Track) -> Optional[tuple[float, float]]:
        """(largest drop that is still none, largest doubt) at this point of the training; None: too early."""
        progress = self.context.scene.progress(track.step)
        epochs = self._epochs(track.step)
        if progress is not None and progress < self.context["early"]:
            return None
        if track.count >= self.context["late"] or (progress or 0.0) >= 0.6:
            return self.context["drop"], 0.05
        if track.count >= self.context["enough"] or (progress or 0.0) >= self.context["early"] or epochs >= 1:
            learnt = lift(self.context.scene, self.context.scope.rank_id, track.step)
            if learnt is not None and learnt > LEARNING:
                return None
            return self.context["none"], 0.02
        return None

    def _guessing(self, track: Track, course: Course, at_least: int) -> bool:
        """Do evaluations say that it guesses, and does the loss rest at the level of a guess?"""
        scene, rank = self.context.scene, self.context.scope.rank_id
        if course.slope_t < -3.0 or guesses(scene, rank, track.step, GUESS, STILL) < at_least:
            return False
        level = chance(scene, rank, track.step)
        return level is not None and course.now > -STILL * math.log(level)

    def _epochs(self, step: int) -> int:
        """Whole epochs behind it, as far as evaluations or a counter tell."""
        scene, rank = self.context.scene, self.context.scope.rank_id
        held = (*scene.of_role(rank, Role.EVAL_LOSS), *scene.of_role(rank, Role.EVAL_METRIC))
        if any(series.at(step) is not None for series in held):
            return 1
        counter = scene.one(rank, Role.EPOCH)
        value = counter.at(step) if counter is not None else None
        return max(0, int(value) - 1) if value is not None and math.isfinite(value) else 0

    def _warming(self, track: Track) -> bool:
        """Is the learning rate still on its way up?"""
        series = self.context.scene.one(self.context.scope.rank_id, Role.LEARNING_RATE)
        if series is None:
            return False
        _steps, rates = series.upto(track.step, 32)
        return len(rates) > 4 and bool((np.diff(rates) > 0).mean() > 0.9)

    def _gravity(self, track: Track, course: Course) -> Severity:
        return Severity.INFO if self._trained_before(track, course) else Severity.WARN

    def _trained_before(self, track: Track, course: Course) -> bool:
        scene, rank = self.context.scene, self.context.scope.rank_id
        if self._confident(track):
            return True
        # As far as its noise lets one say.
        return (
            course.began * (1.0 - course.doubt) < self.context["small"]
            or knows_something(scene, rank, track.step) is True
        )

    def _confident(self, track: Track) -> bool:
        """Do batches differ, then and now, as for a net that knows some of them well? If evaluations allow that.

        A net that was thrown into a guess gives all of them the same loss, and one that is thrown about rises.
        """
        scene, rank = self.context.scene, self.context.scope.rank_id
        firsts = [float(each.first_values[0]) for each in shares(scene, rank) if len(each.first_values)]
        told = bool(firsts) or bool(scene.of_role(rank, Role.EVAL_LOSS))
        if told and not any(MOST <= first <= 1.0 or first >= 100.0 * MOST for first in firsts):
            return False
        series = self.context.series
        begun = series.first_values[:MOST_BEGUN] if series is not None else track.recent(0)
        if len(begun) < MOST_BEGUN or median(begun) > RISEN * float(begun[0]):
            return False
        return all(
            scatter_of_neighbours(each) > CONFIDENT * median(each) for each in (begun, track.recent(2 * MOST_BEGUN))
        )

    def _onset(self, track: Track) -> int:
        return track.block_steps[0] if track.block_steps else track.step

    def _judge_plateau(self, track: Track, course: Course) -> None:
        """It fell, and now it does not: usually the normal end of things."""
        resting = course.drop >= 0.3 and abs(course.slope_t) < 2.0
        if resting and track.count >= 4 * self.context["points"]:
            self._plateau.hit(Severity.INFO, track.step, track.step, track.wall, self._shown(course, track))
        elif abs(course.slope_t) > 4.0:
            self._plateau.clear(track.step, track.wall)

    def end(self, step: int, wall: float) -> None:  # noqa: ARG002
        """At the end it is known how much came of it."""
        track = self._track
        if track is None or track.count < LEAST_AT_END or self._off(track):
            return
        course = course_of(track)
        if course is None:
            return
        self.judged = True
        target = self.context.scene.target("loss")
        if target is not None and course.now - 2.0 * course.error > target:
            shown = Evidence(
                mark("{tag} is {now:.4g} at the end; {target:.4g} was aimed at"),
                {"tag": self.context.scope.tag, "now": course.now, "target": target},
            )
            self._slow.hit(Severity.WARN, track.step, track.step, wall, shown)
        if self._trained_before(track, course) or course.now > 1.05 * course.began + 2 * course.error:
            return
        shown = self._shown(course, track)
        if not self._flat.open and self._guessing(track, course, at_least=1):
            self._flat.hit(Severity.WARN, self._onset(track), track.step, wall, AT_GUESS, shown)
            return
        # A fast first fall is over within the first fifth: what was achieved is told from the first points.
        began = max(course.began, track.start(5)) if not track.certainly_above_first(track.start(5)) else course.began
        course = course._replace(began=began)
        # Of many classes (letters, words) some are so common that a fine training leaves most of the loss.
        scale = MANY_SCALE if course.began > MANY else 1.0
        if course.drop < self.context["end_flat"] and course.drop + course.doubt < self.context["end_slow"]:
            if not self._flat.open:
                self._flat.hit(Severity.WARN, self._onset(track), track.step, wall, shown)
        elif (
            course.drop < scale * self.context["end_slow"]
            and course.drop + course.doubt < scale * 1.5 * self.context["end_slow"]
            and track.count >= self.context["points"]
        ):
            self._slow.hit(Severity.WARN, self._onset(track), track.step, wall, shown)
        late = self._flat.open and course.drop > 1.5 * course.doubt and course.slope_t < -2.0
        if late:  # it did not fall for long, and falls now
            self._slow.hit(Severity.WARN, self._onset(track), track.step, wall, shown)
        falls = course.slope_t < -2.0 or course.whole_t < -4.0
        if course.drop < scale * self.context["end_half"] and falls and course.drop > course.doubt:
            self._underfit.hit(Severity.WARN, track.step, track.step, wall, shown)

    def _shown(self, course: Course, track: Track) -> Evidence:
        return Evidence(
            mark("{tag} went from {began:.4g} to {now:.4g} in {n} points ({drop:+.1f} % ± {doubt:.1f})"),
            {
                "tag": self.context.scope.tag,
                "began": course.began,
                "now": course.now,
                "n": track.count,
                "drop": -100.0 * course.drop,
                "doubt": 100.0 * course.doubt,
            },
        )

    def segment(self, step: int) -> None:
        """Begin anew."""
        self._ticks = 0
        self._track = None
        for case in (self._flat, self._slow, self._underfit, self._plateau):
            case.clear(step, 0.0)


def _watches(subject: Subject, _tag: str) -> bool:
    return subject.role is Role.LOSS


RULE = Rule(
    name="loss-progress",
    title=mark("Progress of the loss"),
    symptoms=(Symptom.LOSS_FLAT, Symptom.LOSS_SLOW, Symptom.UNDERFIT, Symptom.PLATEAU),
    make=LossFlat,
    needs=mark("a training loss that is supposed to fall, and enough points to tell its fall from its noise"),
    watches=_watches,
    ticks=True,
    parameters=(
        Parameter("points", 40.0, mark("points"), mark("fewer have no power against usual batch noise"), MEASURED),
        Parameter(
            "guessing",
            50.0,
            mark("points"),
            mark("two evaluations may come early"),
            NETS,
        ),
        Parameter(
            "enough",
            200.0,
            mark("points"),
            mark("without a plan or an epoch's end, this is no beginning any more"),
            SIMULATED,
        ),
        Parameter(
            "early",
            0.3,
            mark("of the plan"),
            mark("slow starters of deep nets begin to fall by then"),
            MEASURED,
        ),
        Parameter("late", 100.0, mark("points"), mark("from here on a small drop is none"), MEASURED),
        Parameter(
            "none",
            0.01,
            mark("of the first level"),
            mark("a drop that only long averages could show"),
            MEASURED,
        ),
        Parameter("drop", 0.02, mark("of the first level"), mark("a drop that is not worth the training"), SIMULATED),
        Parameter(
            "end_flat",
            0.15,
            mark("of the first level"),
            mark("all that a whole training achieved"),
            MEASURED,
        ),
        Parameter(
            "end_slow",
            0.3,
            mark("of the first level"),
            mark("all that a whole training achieved"),
            MEASURED,
        ),
        Parameter(
            "end_half",
            0.3,
            mark("of the first level"),
            mark("healthy trainings that end here have lost half and more"),
            MEASURED,
        ),
        Parameter(
            "huge",
            1000.0,
            mark("loss"),
            mark("data and targets of unit scale give losses far below it"),
            AUTOTRAINER_LOSS,
        ),
        Parameter(
            "small",
            0.6,
            mark("loss"),
            mark("below ln 2 even two classes are told apart: trained before"),
            CHECKED,
        ),
    ),
    false_alarms=(
        mark("continued training of a finished net in large batches, without any evaluation recorded"),
        mark("a warm-up longer than an epoch, without the learning rate recorded"),
    ),
)

"""metric-chance, metric-low: evaluations that are no better than guessing, far behind training, or lost again.

An accuracy is held against the chance level that the losses imply (exp(-loss) of a net that knows nothing is 1/C),
against the accuracy on the training data, against its own best, and at the end against what was declared to be aimed at
(`target_accuracy`).
"""

from __future__ import annotations

from typing import List, Optional, Tuple

import numpy as np

from mstui.detect.base import Case, Chunk, Context, Detector, Parameter, Rule, Subject
from mstui.detect.evaluations import GOOD, chance, knows_something, worth_a_look
from mstui.detect.evaluations import guesses as guesses_of
from mstui.detect.naming import is_held_out
from mstui.detect.robust import median
from mstui.detect.sources import MEASURED
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Severity, Symptom
from mstui.model.roles import Role

LASTING = 2
"""Evaluations in a row that are far behind training, unless training is good already."""
LEVEL = 8
"""Points whose median is the level of the training loss now."""
EARLY = 50
"""Points of the training loss: before them slow starters are at chance."""


class Metric(Detector):
    """One accuracy on held-out data."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._looked = 0
        self._chance = Case(context, Symptom.METRIC_CHANCE)
        self._low = Case(context, Symptom.METRIC_LOW)
        self._values: List[float] = []
        self._steps: List[int] = []
        self._best = 0.0
        self._first = 0
        """step of the first evaluation"""
        self._last_wall = 0.0
        self._behind_for = 0
        """evaluations in a row, up to now, that were far behind training"""
        self._gap: Optional[Evidence] = None

    def points(self, chunk: Chunk) -> None:
        """Evaluations are few: one by one."""
        good = chunk.good()
        some = worth_a_look(self._looked, len(good))
        self._looked += len(good)
        for step, wall, value in zip(good.steps[some].tolist(), good.walls[some].tolist(), good.values[some].tolist()):
            if 0.0 <= value <= 100.0:
                self._one(step, wall, value if value <= 1.0 and self._best <= 1.0 else value / 100.0)

    def _one(self, step: int, wall: float, value: float) -> None:
        self.judged = True
        if not self._steps:
            self._first = step
        self._values = [*self._values[-63:], value]
        self._steps = [*self._steps[-63:], step]
        self._last_wall = wall
        guesses, level = self._guessing(step)
        if level is not None and guesses >= self._enough(step):
            self._chance.hit(
                Severity.WARN, self._steps[-min(guesses, len(self._steps))], step, wall, self._at_chance(value, level)
            )
        elif not guesses:
            self._chance.clear(step, wall)
        self._behind(step, wall, value)
        if self._best >= self.context["had"] and value < (1.0 - self.context["lost"]) * self._best:
            shown = Evidence(
                mark("{tag} was {best:.3g} and is {value:.3g}"),
                {"tag": self.context.scope.tag, "best": self._best, "value": value},
            )
            self._low.hit(Severity.ERROR, step, step, wall, shown)
        self._best = max(self._best, value)

    def _enough(self, step: int) -> float:
        """Evaluations in a row that tell: one more where they come early."""
        return self.context["evaluations"] + (1 if self._early(step) else 0)

    def _early(self, step: int) -> bool:
        losses = self.context.scene.one(self.context.scope.rank_id, Role.LOSS)
        return losses is not None and len(losses.upto(step, EARLY)[0]) < EARLY

    def _guessing(self, step: int) -> Tuple[int, Optional[float]]:
        scene, rank = self.context.scene, self.context.scope.rank_id
        return guesses_of(scene, rank, step, self.context["guess"], self.context["still"]), chance(scene, rank, step)

    def _behind(self, step: int, wall: float, value: float) -> None:
        """Is training far ahead?"""
        context = self.context
        for series in context.scene.of_role(context.scope.rank_id, Role.EVAL_METRIC, held_out=False):
            trained = series.at(step) if "acc" in series.tag.lower() else None
            if trained is None or not np.isfinite(trained):
                continue
            trained = trained / 100.0 if trained > 1.0 else trained
            behind = trained - value > context["gap"]
            self._behind_for = self._behind_for + 1 if behind else 0
            if not behind:
                continue
            self._gap = Evidence(
                mark("{tag} is {value:.3g}, on training data {trained:.3g}"),
                {"tag": context.scope.tag, "value": value, "trained": trained},
            )
            # In the midst of its first learning a net may be ahead on what it has just seen.
            if self._behind_for >= LASTING or (trained >= GOOD and not self._early(step)):
                self._low.hit(Severity.WARN, step, step, wall, self._gap)

    def _at_chance(self, value: float, level: float) -> Evidence:
        return Evidence(
            mark("{tag} is {value:.3g}; guessing gives about {level:.3g}"),
            {"tag": self.context.scope.tag, "value": value, "level": level},
        )

    def _hardly_fell(self, step: int) -> bool:
        """Is most of the first training loss still there, of a net that began with nothing?"""
        scene, rank = self.context.scene, self.context.scope.rank_id
        if knows_something(scene, rank, step) is not False:
            return False
        for series in scene.of_role(rank, Role.LOSS):
            began = series.start(step)
            _steps, values = series.upto(step, LEVEL)
            if began is None or not len(values) or not median(values) > self.context["left"] * began:
                return False
        return True

    def _against_target(self) -> None:
        scene = self.context.scene
        target = scene.target("accuracy") or scene.target("metric")
        if target is None:
            return
        target = target / 100.0 if target > 1.0 else target
        if self._best < target:
            shown = Evidence(
                mark("{tag} was {best:.3g} at its best; {target:.3g} was aimed at"),
                {"tag": self.context.scope.tag, "best": self._best, "target": target},
            )
            self._low.hit(Severity.WARN, self._steps[-1], self._steps[-1], self._last_wall, shown)

    def segment(self, step: int) -> None:
        """Another fold is another net; what goes on from a checkpoint is held against its best."""
        if self._steps and step > self._first:
            return
        for case in (self._chance, self._low):
            case.clear(step, 0.0)
        self._values, self._steps, self._best = [], [], 0.0
        self._behind_for, self._gap = 0, None

    def end(self, step: int, wall: float) -> None:  # noqa: ARG002
        """One evaluation at chance is enough when there will be no other."""
        if not self._values or self._chance.open:
            return
        self._against_target()
        if self._behind_for and self._gap is not None:
            self._low.hit(Severity.WARN, self._steps[-1], self._steps[-1], self._last_wall, self._gap)
        scene, rank = self.context.scene, self.context.scope.rank_id
        guesses, level = self._guessing(self._steps[-1])
        value = self._values[-1]
        if level is not None and guesses:
            self._chance.hit(
                Severity.WARN, self._steps[-1], self._steps[-1], self._last_wall, self._at_chance(value, level)
            )
        elif self._best < self.context["half_way"] and not self._low.open and self._hardly_fell(step):
            shown = Evidence(
                mark("{tag} came to {best:.3g} only, and the training loss had hardly begun to fall"),
                {"tag": self.context.scope.tag, "best": self._best},
            )
            self._low.hit(Severity.WARN, self._steps[-1], self._steps[-1], self._last_wall, shown)
        elif len(self._values) >= 2 and not self._low.open and knows_something(scene, rank, step) is False:
            rise = max(self._values[1:]) - self._values[0]
            if rise < self.context["stuck"] and self._best < 0.5:
                shown = Evidence(
                    mark("{tag} stayed at {value:.3g} over {n} evaluations"),
                    {"tag": self.context.scope.tag, "value": value, "n": len(self._values)},
                )
                self._low.hit(Severity.WARN, self._steps[1], self._steps[-1], self._last_wall, shown)


def _watches(subject: Subject, tag: str) -> bool:
    return subject.role is Role.EVAL_METRIC and "acc" in tag.lower() and is_held_out(tag)


RULE = Rule(
    name="metric",
    title=mark("Accuracy of evaluations"),
    symptoms=(Symptom.METRIC_CHANCE, Symptom.METRIC_LOW),
    make=Metric,
    needs=mark("an accuracy on held-out data"),
    watches=_watches,
    parameters=(
        Parameter(
            "guess",
            1.5,
            mark("times the chance level"),
            mark("about two binomial errors at some hundred samples"),
            MEASURED,
        ),
        Parameter(
            "still",
            0.94,
            mark("of the loss of a guess"),
            mark("below it something was learnt, whatever the accuracy"),
            MEASURED,
        ),
        Parameter(
            "evaluations",
            2.0,
            mark("evaluations in a row"),
            mark("slow starters are at chance at their first"),
            MEASURED,
        ),
        Parameter(
            "gap",
            0.2,
            mark("of accuracy behind training"),
            mark("healthy runs here reach 0.15"),
            mark("mstui's own, measured on its labelled trainings; AUTOTRAINER's 0.1 calls some of them ill"),
        ),
        Parameter("had", 0.2, mark("of accuracy"), mark("less is not worth losing"), MEASURED),
        Parameter(
            "lost",
            0.4,
            mark("of its best"),
            mark("evaluations of healthy runs swing by a tenth"),
            MEASURED,
        ),
        Parameter(
            "half_way",
            0.5,
            mark("of accuracy"),
            mark("where the loss has hardly fallen, an accuracy below it is that of a net that was stopped early"),
            MEASURED,
        ),
        Parameter(
            "left",
            0.7,
            mark("of the first training loss"),
            mark("as the rule for the loss has it: all that a whole training achieved"),
            MEASURED,
        ),
        Parameter(
            "stuck",
            0.02,
            mark("of accuracy over the whole training"),
            mark("two samples in a hundred"),
            MEASURED,
        ),
    ),
    false_alarms=(mark("classes so uneven that the commonest one is most of the data"),),
)

"""metric-low from losses on held-out data alone: no better, or worse, than those of a net that knows nothing."""

from __future__ import annotations

from typing import Optional

from mstui.detect.base import Case, Chunk, Context, Detector, Parameter, Rule, Subject
from mstui.detect.evaluations import LEAST_UNINFORMED, shares, worth_a_look
from mstui.detect.sources import CHECKED, MEASURED
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Severity, Symptom
from mstui.model.roles import Role

FAR_WORSE = 4.0
"""times the first training loss: told at once"""
EVALUATIONS = 3
"""Evaluations that must agree that nothing was learnt."""


class EvalLoss(Detector):
    """One loss on held-out data."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._looked = 0
        self._case = Case(context, Symptom.METRIC_LOW)
        self._same = 0
        self._worse = 0
        self._last = (0, 0.0, 0.0)

    def points(self, chunk: Chunk) -> None:
        """Evaluations are few: one by one."""
        good = chunk.good()
        some = worth_a_look(self._looked, len(good))
        self._looked += len(good)
        for step, wall, value in zip(good.steps[some].tolist(), good.walls[some].tolist(), good.values[some].tolist()):
            began = self._began(step)
            if began is None or began <= 0.0:
                continue
            self.judged = True
            self._last = (step, wall, value)
            self._worse = self._worse + 1 if value > self.context["worse"] * began else 0
            if self._worse >= 2 or value > FAR_WORSE * began:
                self._case.hit(Severity.WARN, step, step, wall, self._shown(value, began))
            elif value < began:
                self._case.clear(step, wall, self._shown(value, began))
            self._same = self._same + 1 if value > self.context["same"] * began else 0

    def _began(self, step: int) -> Optional[float]:
        """What the training loss began with; at least what tells two classes apart."""
        for series in self.context.scene.of_role(self.context.scope.rank_id, Role.LOSS):
            began = series.uninformed(step)
            if began is not None:
                return max(began, LEAST_UNINFORMED)
        return None

    def _shown(self, value: float, began: float) -> Evidence:
        return Evidence(
            mark("{tag} is {value:.4g}; training began at {began:.4g}"),
            {"tag": self.context.scope.tag, "value": value, "began": began},
        )

    def segment(self, step: int) -> None:
        """Begin anew."""
        self._case.clear(step, 0.0)
        self._same = self._worse = 0

    def end(self, step: int, wall: float) -> None:  # noqa: ARG002
        """No better than at the start, to the end, and nothing else tells of it."""
        scene, rank = self.context.scene, self.context.scope.rank_id
        if self._case.open or self._same < EVALUATIONS or shares(scene, rank):
            return
        at, when, value = self._last
        began = self._began(at)
        if began is not None and began > LEAST_UNINFORMED:
            self._case.hit(Severity.WARN, at, at, when, self._shown(value, began))


def _watches(subject: Subject, _tag: str) -> bool:
    return subject.role is Role.EVAL_LOSS


RULE = Rule(
    name="eval-loss",
    title=mark("Loss of evaluations"),
    symptoms=(Symptom.METRIC_LOW,),
    make=EvalLoss,
    needs=mark("losses on training and on held-out data"),
    watches=_watches,
    parameters=(
        Parameter(
            "worse",
            1.5,
            mark("times the first training loss"),
            mark("worse than knowing nothing"),
            MEASURED,
        ),
        Parameter(
            "same",
            0.95,
            mark("of the first training loss"),
            mark("no better than knowing nothing"),
            CHECKED,
        ),
    ),
    false_alarms=(mark("a held-out loss of another kind or scale than the training loss"), mark("continued training")),
)
